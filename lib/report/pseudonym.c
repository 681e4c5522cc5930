/* SPDX-License-Identifier: MIT */
#include "report/pseudonym.h"

#include "report/siphash.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { WORD_LIMIT = 256, TABLE_START = 256, TRIES = 16, PSEUDONYM_SIZE = 32 };

struct original {
	enum original_kind kind;
	uint8_t length; /* 0: an empty slot of the table */
	uint8_t bytes[16];
};

struct word {
	char text[WORD_LIMIT];
	char prefix[16];
	char pseudonym[PSEUDONYM_SIZE];
	bool distinct;
};

struct pseudonyms {
	uint8_t key[SIPHASH_KEY_SIZE];
	struct original *table; /* open addressing; its size is a power of two */
	size_t table_size, count;
	struct word *words;
	size_t word_count;
	bool failed;
};

static bool take_key(struct pseudonyms *pseudonyms)
{
	return getrandom(pseudonyms->key, sizeof(pseudonyms->key), 0) == (ssize_t)sizeof(pseudonyms->key);
}

struct pseudonyms *pseudonyms_new(void)
{
	struct pseudonyms *pseudonyms = calloc(1, sizeof(*pseudonyms));
	if (!pseudonyms)
		return NULL;
	pseudonyms->table_size = TABLE_START;
	pseudonyms->table = calloc(TABLE_START, sizeof(struct original));
	if (!pseudonyms->table || !take_key(pseudonyms)) {
		pseudonyms_free(pseudonyms);
		return NULL;
	}
	return pseudonyms;
}

void pseudonyms_free(struct pseudonyms *pseudonyms)
{
	if (!pseudonyms)
		return;
	explicit_bzero(pseudonyms->key, sizeof(pseudonyms->key));
	free(pseudonyms->table);
	free(pseudonyms->words);
	free(pseudonyms);
}

bool pseudonyms_failed(const struct pseudonyms *pseudonyms)
{
	return pseudonyms->failed;
}

/* ---- the originals ---- */

static struct original *slot_of(const struct original *table, size_t size, const struct original *original)
{
	static const uint8_t no_secret[SIPHASH_KEY_SIZE];
	size_t at = (size_t)siphash(no_secret, original->bytes, original->length);
	for (;; at++) {
		const struct original *slot = &table[at & (size - 1)];
		if (!slot->length || (slot->kind == original->kind && slot->length == original->length &&
		                             !memcmp(slot->bytes, original->bytes, slot->length)))
			return (struct original *)slot;
	}
}

static bool grow(struct pseudonyms *pseudonyms)
{
	size_t size = pseudonyms->table_size * 2;
	struct original *larger = calloc(size, sizeof(*larger));
	if (!larger)
		return false;
	for (size_t i = 0; i < pseudonyms->table_size; i++)
		if (pseudonyms->table[i].length)
			*slot_of(larger, size, &pseudonyms->table[i]) = pseudonyms->table[i];
	free(pseudonyms->table);
	pseudonyms->table = larger;
	pseudonyms->table_size = size;
	return true;
}

static struct original original_of(enum original_kind kind, const uint8_t *bytes, size_t length)
{
	struct original original = { .kind = kind, .length = (uint8_t)length };
	memcpy(original.bytes, bytes, length);
	return original;
}

static void note(struct pseudonyms *pseudonyms, enum original_kind kind, const uint8_t *bytes, size_t length)
{
	struct original original = original_of(kind, bytes, length);
	if (pseudonyms->count * 2 >= pseudonyms->table_size && !grow(pseudonyms)) {
		pseudonyms->failed = true;
		return;
	}
	struct original *slot = slot_of(pseudonyms->table, pseudonyms->table_size, &original);
	pseudonyms->count += !slot->length;
	*slot = original;
}

bool pseudonyms_know(const struct pseudonyms *pseudonyms, enum original_kind kind, const uint8_t *bytes, size_t length)
{
	struct original original = original_of(kind, bytes, length);
	return slot_of(pseudonyms->table, pseudonyms->table_size, &original)->length;
}

/* ---- prefixes stay prefixes ---- */

/* One more secret for each use of the key. */
enum domain { DOMAIN_MAC = 1, DOMAIN_GUID, DOMAIN_IPV4, DOMAIN_IPV6, DOMAIN_BYTES, DOMAIN_WORD };

/* Is bit `bit` turned over, behind these bits before it? */
static unsigned int flip(const struct pseudonyms *pseudonyms, enum domain domain, const uint8_t *bytes, size_t bit)
{
	uint8_t message[18] = { (uint8_t)domain, (uint8_t)bit };
	memcpy(message + 2, bytes, bit / 8);
	if (bit % 8)
		message[2 + bit / 8] = (uint8_t)(bytes[bit / 8] & (0xff00u >> bit % 8));
	return siphash(pseudonyms->key, message, sizeof(message)) & 1u;
}

/* Bits from `kept` to `end` depend on all before them (the construction of Crypto-PAn, Xu et al. 2002). */
static void keep_prefixes(
        const struct pseudonyms *pseudonyms, enum domain domain, uint8_t *bytes, size_t kept, size_t end)
{
	uint8_t before[16];
	memcpy(before, bytes, (end + 7) / 8);
	for (size_t bit = kept; bit < end; bit++)
		if (flip(pseudonyms, domain, before, bit))
			bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
}

static bool all_are(const uint8_t *bytes, size_t length, uint8_t value)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

/* ---- MAC and GUID ---- */

/* The multicast bit and the local bit, of IEEE 802; multicast addresses name protocols. */
enum { MAC_MULTICAST = 1, MAC_LOCAL = 2 };

static void map_mac(const struct pseudonyms *pseudonyms, uint8_t mac[static 6])
{
	if (all_are(mac, 6, 0) || mac[0] & MAC_MULTICAST)
		return;
	uint8_t bits = mac[0] & (MAC_MULTICAST | MAC_LOCAL);
	keep_prefixes(pseudonyms, DOMAIN_MAC, mac, 0, 48);
	mac[0] = (uint8_t)((mac[0] & ~(MAC_MULTICAST | MAC_LOCAL)) | bits);
}

enum guid_form { GUID_OTHER, GUID_EUI64, GUID_MELLANOX };

/* RFC 4291, appendix A: ff:fe in the middle of a MAC. ConnectX-4 and later have 03:00 there. */
static enum guid_form guid_form(const uint8_t guid[static 8])
{
	if (guid[0] & MAC_MULTICAST)
		return GUID_OTHER; /* no adapter has such a MAC */
	if (guid[3] == 0xff && guid[4] == 0xfe)
		return GUID_EUI64;
	return guid[3] == 0x03 && !guid[4] ? GUID_MELLANOX : GUID_OTHER;
}

/*
 * A modified EUI-64 has the local bit of its MAC turned over; map_mac() keeps that bit in either sense, but it takes
 * part in what the others become, so it is put right before and after.
 */
static void map_guid_of_mac(const struct pseudonyms *pseudonyms, uint8_t guid[static 8], uint8_t turned)
{
	uint8_t mac[6] = { (uint8_t)(guid[0] ^ turned), guid[1], guid[2], guid[5], guid[6], guid[7] };
	map_mac(pseudonyms, mac);
	guid[0] = mac[0] ^ turned;
	guid[1] = mac[1];
	guid[2] = mac[2];
	memcpy(guid + 5, mac + 3, 3);
}

static void map_guid(const struct pseudonyms *pseudonyms, uint8_t guid[static 8])
{
	enum guid_form form = guid_form(guid);
	if (all_are(guid, 8, 0) || all_are(guid, 8, 0xff))
		return;
	if (form != GUID_OTHER) {
		map_guid_of_mac(pseudonyms, guid, form == GUID_EUI64 ? MAC_LOCAL : 0);
		return;
	}
	/* One that came to look as if made of a MAC would collide: on until it does not. */
	do
		keep_prefixes(pseudonyms, DOMAIN_GUID, guid, 0, 64);
	while (guid_form(guid) != GUID_OTHER);
}

static void note_mac(struct pseudonyms *pseudonyms, const uint8_t mac[static 6])
{
	if (!all_are(mac, 6, 0) && !(mac[0] & MAC_MULTICAST))
		note(pseudonyms, ORIGINAL_MAC, mac, 6);
}

void pseudonym_mac(struct pseudonyms *pseudonyms, uint8_t mac[static 6])
{
	note_mac(pseudonyms, mac);
	map_mac(pseudonyms, mac);
}

void pseudonym_guid(struct pseudonyms *pseudonyms, uint8_t guid[static 8])
{
	if (!all_are(guid, 8, 0) && !all_are(guid, 8, 0xff))
		note(pseudonyms, ORIGINAL_GUID, guid, 8);
	map_guid(pseudonyms, guid);
}

/* ---- addresses ---- */

/* How many bits say which kind of address it is (RFC 6890, and gid_scope_of()); 32: nothing else does. */
static size_t kind_bits_ipv4(const uint8_t ip[static 4])
{
	if (ip[0] == 0 || ip[0] == 127 || ip[0] >= 224)
		return 32;
	if (ip[0] == 10)
		return 8;
	if (ip[0] == 172 && (ip[1] & 0xf0) == 16)
		return 12;
	if (ip[0] == 100 && (ip[1] & 0xc0) == 64)
		return 10;
	return (ip[0] == 192 && ip[1] == 168) || (ip[0] == 169 && ip[1] == 254) ? 16 : 0;
}

static void map_ipv4(const struct pseudonyms *pseudonyms, uint8_t ip[static 4])
{
	size_t kept = kind_bits_ipv4(ip);
	if (kept) {
		keep_prefixes(pseudonyms, DOMAIN_IPV4, ip, kept, 32);
		return;
	}
	uint8_t whole[4];
	memcpy(whole, ip, sizeof(whole));
	keep_prefixes(pseudonyms, DOMAIN_IPV4, whole, 0, 32);
	/* A public address stays one. All kinds are told by the first half, so what shares that is moved together. */
	do
		keep_prefixes(pseudonyms, DOMAIN_IPV4, ip, 0, 16);
	while (kind_bits_ipv4(ip));
	memcpy(ip + 2, whole + 2, 2);
}

static bool is_mapped_ipv4(const uint8_t ip[static 16])
{
	return all_are(ip, 10, 0) && all_are(ip + 10, 2, 0xff);
}

/* fe80::/10 and fec0::/10 are prefixes of links and of InfiniBand subnets: no more is told by them. */
static bool is_link_prefix(const uint8_t ip[static 16])
{
	return ip[0] == 0xfe && ip[1] & 0x80;
}

static bool is_fixed_ipv6(const uint8_t ip[static 16])
{
	return all_are(ip, 15, 0); /* :: and ::1 */
}

static void map_ipv6(const struct pseudonyms *pseudonyms, uint8_t ip[static 16])
{
	enum { SOLICITED = 13 };
	static const uint8_t solicited[SOLICITED] = { 0xff, 0x02, [11] = 0x01, [12] = 0xff };
	if (is_fixed_ipv6(ip))
		return;
	if (is_mapped_ipv4(ip)) {
		map_ipv4(pseudonyms, ip + 12);
		return;
	}
	if (ip[0] == 0xff) { /* multicast; the solicited-node group has 24 bits of an address */
		if (!memcmp(ip, solicited, sizeof(solicited)))
			keep_prefixes(pseudonyms, DOMAIN_IPV6, ip, SOLICITED * 8, 128);
		return;
	}
	map_guid(pseudonyms, ip + 8);
	if (is_link_prefix(ip))
		keep_prefixes(pseudonyms, DOMAIN_IPV6, ip, all_are(ip + 2, 6, 0) ? 64 : 16, 64);
	else
		keep_prefixes(pseudonyms, DOMAIN_IPV6, ip, (ip[0] & 0xfe) == 0xfc ? 8 : 16, 64);
}

void pseudonym_ipv4(struct pseudonyms *pseudonyms, uint8_t ip[static 4])
{
	if (kind_bits_ipv4(ip) < 32)
		note(pseudonyms, ORIGINAL_IPV4, ip, 4);
	map_ipv4(pseudonyms, ip);
}

void pseudonym_ipv6(struct pseudonyms *pseudonyms, uint8_t ip[static 16])
{
	if (is_mapped_ipv4(ip)) {
		pseudonym_ipv4(pseudonyms, ip + 12);
		return;
	}
	uint8_t before[16];
	memcpy(before, ip, sizeof(before));
	map_ipv6(pseudonyms, ip);
	if (memcmp(before, ip, sizeof(before)) != 0)
		note(pseudonyms, ORIGINAL_IPV6, before, sizeof(before));
}

void pseudonym_bytes(struct pseudonyms *pseudonyms, uint8_t *bytes, size_t length)
{
	uint64_t stream = siphash(pseudonyms->key, bytes, length);
	uint8_t message[] = { DOMAIN_BYTES, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	memcpy(message + 2, &stream, sizeof(stream));
	for (size_t i = 0; i < length; i++) {
		message[1] = (uint8_t)i;
		bytes[i] = (uint8_t)siphash(pseudonyms->key, message, sizeof(message));
	}
}

void pseudonym_link_address(struct pseudonyms *pseudonyms, uint8_t *address, size_t length)
{
	switch (length) {
	case 0:
		break;
	case 4:
		pseudonym_ipv4(pseudonyms, address);
		break;
	case 6:
		pseudonym_mac(pseudonyms, address);
		break;
	case 8:
		pseudonym_guid(pseudonyms, address);
		break;
	case 16:
		pseudonym_ipv6(pseudonyms, address);
		break;
	case 20:
		pseudonym_ipv6(pseudonyms, address + 4);
		break;
	default:
		pseudonym_bytes(pseudonyms, address, length);
	}
}

/* ---- words ---- */

/* Eight digits of a hash of the word in small letters. */
static void name_word(const struct pseudonyms *pseudonyms, struct word *word)
{
	uint8_t message[WORD_LIMIT + 1] = { DOMAIN_WORD };
	size_t length = strlen(word->text);
	for (size_t i = 0; i < length; i++)
		message[1 + i] = (uint8_t)tolower((unsigned char)word->text[i]);
	snprintf(word->pseudonym, sizeof(word->pseudonym), "%s%08x", word->prefix,
	        (unsigned int)siphash(pseudonyms->key, message, length + 1));
}

/* Some letters and a short number is what devices, nodes and files are called too. */
static bool is_distinct(const char *word)
{
	enum { LETTERS = 9, DIGITS = 3 };
	size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	size_t digits = strspn(word + letters, "0123456789");
	return word[letters + digits] || letters > LETTERS || digits > DIGITS;
}

int pseudonym_word_note(struct pseudonyms *pseudonyms, const char *word, const char *prefix)
{
	size_t length = strlen(word);
	if (!length || length >= WORD_LIMIT || pseudonym_word(pseudonyms, word, length, false))
		return 0;
	struct word *words = reallocarray(pseudonyms->words, pseudonyms->word_count + 1, sizeof(*words));
	if (!words) {
		pseudonyms->failed = true;
		return -ENOMEM;
	}
	pseudonyms->words = words;
	struct word *added = &words[pseudonyms->word_count++];
	*added = (struct word){ 0 };
	memcpy(added->text, word, length);
	snprintf(added->prefix, sizeof(added->prefix), "%s", prefix);
	added->distinct = is_distinct(word);
	name_word(pseudonyms, added);
	return 0;
}

const char *pseudonym_word(const struct pseudonyms *pseudonyms, const char *word, size_t length, bool distinct)
{
	for (size_t i = 0; i < pseudonyms->word_count; i++) {
		const struct word *known = &pseudonyms->words[i];
		if (strlen(known->text) == length && !strncasecmp(known->text, word, length))
			return known->distinct || !distinct ? known->pseudonym : NULL;
	}
	return NULL;
}

/* ---- the key ---- */

static void map_original(const struct pseudonyms *pseudonyms, struct original *original)
{
	switch (original->kind) {
	case ORIGINAL_MAC:
		map_mac(pseudonyms, original->bytes);
		break;
	case ORIGINAL_GUID:
		map_guid(pseudonyms, original->bytes);
		break;
	case ORIGINAL_IPV4:
		map_ipv4(pseudonyms, original->bytes);
		break;
	case ORIGINAL_IPV6:
		map_ipv6(pseudonyms, original->bytes);
		break;
	default:
		break;
	}
}

static bool is_settled(const struct pseudonyms *pseudonyms)
{
	for (size_t i = 0; i < pseudonyms->table_size; i++) {
		struct original original = pseudonyms->table[i];
		if (!original.length)
			continue;
		map_original(pseudonyms, &original);
		if (slot_of(pseudonyms->table, pseudonyms->table_size, &original)->length)
			return false;
	}
	return true;
}

int pseudonyms_settle(struct pseudonyms *pseudonyms)
{
	bool settled = is_settled(pseudonyms);
	for (int i = 0; i < TRIES && !settled; i++)
		settled = take_key(pseudonyms) && is_settled(pseudonyms);
	for (size_t i = 0; i < pseudonyms->word_count; i++)
		name_word(pseudonyms, &pseudonyms->words[i]);
	return settled ? 0 : -EAGAIN;
}
