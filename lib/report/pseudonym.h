/* SPDX-License-Identifier: MIT */
/*
 * Pseudonyms for what identifies a node: MACs, GUIDs, addresses, names and serials. A pseudonym depends on a random key
 * that nobody keeps, so it is the same everywhere in one report and cannot be turned back by trying all values.
 *
 * Structure stays. Two values that share their first N bits have pseudonyms that share exactly their first N bits, so
 * what lies in one subnet still does, and ports of one adapter still have neighbouring MACs. Kept as they are: which
 * kind of address it is (private, link-local, loopback, multicast), the multicast and local bits of a MAC, all zeros
 * and all ones. What is made of another value is made of its pseudonym: a GUID of a MAC (modified EUI-64, or the form
 * that Mellanox adapters use), a link-local address, a GID of an IPv4 address.
 */
#ifndef RDMADIAG_REPORT_PSEUDONYM_H
#define RDMADIAG_REPORT_PSEUDONYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an original is; the set keeps them apart. */
enum original_kind { ORIGINAL_MAC, ORIGINAL_GUID, ORIGINAL_IPV4, ORIGINAL_IPV6, ORIGINAL_WORD, ORIGINAL_KIND_COUNT };

struct pseudonyms;

/* With a random key. NULL without memory or randomness. */
struct pseudonyms *pseudonyms_new(void);
void pseudonyms_free(struct pseudonyms *pseudonyms);
/*
 * Takes another key until no pseudonym is itself one of the originals noted so far: then whoever finds an original in
 * a report knows that it was missed. -EAGAIN when some tries were not enough.
 */
int pseudonyms_settle(struct pseudonyms *pseudonyms);
/* Was memory short for what had to be noted? Then nothing may be given away. */
bool pseudonyms_failed(const struct pseudonyms *pseudonyms);

/* All in network order and in place; each original is noted. */
void pseudonym_mac(struct pseudonyms *pseudonyms, uint8_t mac[static 6]);
void pseudonym_guid(struct pseudonyms *pseudonyms, uint8_t guid[static 8]);
void pseudonym_ipv4(struct pseudonyms *pseudonyms, uint8_t ip[static 4]);
/* An IPv6 address or a GID. */
void pseudonym_ipv6(struct pseudonyms *pseudonyms, uint8_t ip[static 16]);
/* Any bytes without a structure that is known: a serial, an identifier of a switch. */
void pseudonym_bytes(struct pseudonyms *pseudonyms, uint8_t *bytes, size_t length);

/*
 * A link-layer address: 6 bytes are a MAC, 8 a GUID, 20 that of IPoIB (queue pair, then a GID); of IP tunnels 4 and 16
 * bytes are addresses.
 */
void pseudonym_link_address(struct pseudonyms *pseudonyms, uint8_t *address, size_t length);

/*
 * Words, such as host names. pseudonym_word_note() makes `word` one that is replaced wherever text has it; words are
 * compared without regard to case. `prefix` begins its pseudonym ("host-").
 */
int pseudonym_word_note(struct pseudonyms *pseudonyms, const char *word, const char *prefix);
/*
 * The pseudonym of a noted word, NULL: it is none. Lives until pseudonyms_settle() or the end. `distinct`: not of a
 * word that a device or a file could be called by too (node1, rdma).
 */
const char *pseudonym_word(const struct pseudonyms *pseudonyms, const char *word, size_t length, bool distinct);

/* Is this value one that was noted? For forms of text that other things have as well. */
bool pseudonyms_know(const struct pseudonyms *pseudonyms, enum original_kind kind, const uint8_t *bytes, size_t length);

#endif
