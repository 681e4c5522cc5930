/* SPDX-License-Identifier: MIT */
/* Pseudonyms in text of any kind: files of sysfs and /proc, JSON, kernel messages, names of files. */
#ifndef RDMADIAG_REPORT_REDACT_TEXT_H
#define RDMADIAG_REPORT_REDACT_TEXT_H

#include "report/pseudonym.h"

#include <stddef.h>

/*
 * Which noted words are replaced. A node may be called node1, and so is a directory of sysfs: names of files hold no
 * words, and files of the kernel only such as nothing else is called by.
 */
enum redact_words { WORDS_NONE, WORDS_DISTINCT, WORDS_ALL };

/*
 * `length` bytes of text (NULs are text too) as malloc'ed text with a NUL behind it; NULL without memory. Replaced are,
 * between other letters: MACs (6, 8 or 20 bytes with ":" or "-"), GUIDs, IPv4 and IPv6 addresses and GIDs in every
 * notation, UUIDs, bare digits of values that were noted elsewhere (0x…, or behind the prefix of a name such as enx…),
 * and noted words. Full forms keep their length.
 */
char *redact_text(
        struct pseudonyms *pseudonyms, enum redact_words words, const char *text, size_t length, size_t *new_length);

/* Every run of 6, 8 or 16 bytes in hexadecimal digits is a link-layer address here: phys_switch_id and the like. */
char *redact_digits(struct pseudonyms *pseudonyms, const char *text, size_t length, size_t *new_length);

#endif
