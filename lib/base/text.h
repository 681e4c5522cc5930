/* SPDX-License-Identifier: MIT */
/* Formats shared by sources and renderers: numbers, GUIDs and GIDs, natural order, the kernel's list format. */
#ifndef RDMADIAG_BASE_TEXT_H
#define RDMADIAG_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A number that may be unknown. Zeroed is unknown. The unit is in the name of whatever holds it. */
struct num {
	int64_t value;
	bool known;
};

static inline struct num num(int64_t value)
{
	return (struct num){ value, true };
}

static inline bool num_is(struct num number, int64_t value)
{
	return number.known && number.value == value;
}

/* A yes-or-no that may be unknown. */
enum flag { FLAG_UNKNOWN, FLAG_NO, FLAG_YES };

static inline enum flag flag(bool value)
{
	return value ? FLAG_YES : FLAG_NO;
}

/* Two that are NULL are the same. */
static inline bool text_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* What a noun that was counted ends with: "1 packet", "2 packets". */
static inline const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* The same of a list such as "0-3,8": "node 0", "nodes 0,1". */
static inline const char *plural_list(const char *list)
{
	return strpbrk(list, ",-") ? "s" : "";
}

/*
 * Parses a whole number that fills `text` up to blanks at its end: digits, and a minus in front of them. `base` as in
 * strtoll. 0, -EINVAL (not a number, or something follows it) or -ERANGE; `value` is written on success only.
 */
int parse_number(const char *text, int base, int64_t *value);
/* The same, unknown when it does not parse. */
struct num parse_num(const char *text, int base);

/* Compares names so that mlx5_2 sorts before mlx5_10 (digits by value, no limit on their length). */
int natural_compare(const char *a, const char *b);
/* For qsort over an array of const char *. */
int natural_compare_pointers(const void *a, const void *b);

/* Compares PCI addresses as sysfs writes them, by their numbers: domains have 4 to 8 digits. */
int pci_address_compare(const char *a, const char *b);

/*
 * Puts the texts in front of a NULL one after the other into `out`; 0, or -ENAMETOOLONG when they were cut off. For
 * what is put together for every device: printf(3) takes ten times as long, which was a tenth of what 256 devices took.
 */
#define text_join(out, size, ...) text_join_until((out), (size), __VA_ARGS__, (const char *)NULL)
__attribute__((sentinel)) int text_join_until(char *out, size_t size, ...); /* up to a NULL */
/* Appends to the text that is in `text` already, as much as fits into `size` bytes; 0, or -ENAMETOOLONG when cut off.
 */
__attribute__((format(printf, 3, 4))) int text_append(char *text, size_t size, const char *format, ...);
__attribute__((format(printf, 3, 0))) int text_vappend(char *text, size_t size, const char *format, va_list args);
/* Decimal digits, for text_join(); returns `out`. */
enum { NUMBER_TEXT_SIZE = 21 };
const char *text_number(uint64_t number, char out[static NUMBER_TEXT_SIZE]);

/* Has a list with commas this word? Each ends before the first character of `ends`, which has the comma too. */
bool text_lists(const char *list, const char *word, const char *ends);

/* qsort(3) of an array of pointers that are mostly in order as they come. */
void sort_pointers(void *pointers, size_t count, int (*compare)(const void *a, const void *b));

/* Removes blanks and line ends at the end of `text`, in place; returns text. */
char *trim_end(char *text);

/* GUID in host order → "xxxx:xxxx:xxxx:xxxx". `out` has room for GUID_TEXT_SIZE. */
enum { GUID_TEXT_SIZE = 20, GID_TEXT_SIZE = 40, IP_TEXT_SIZE = 46 };
/* Bytes as hex digits, `separator` (0: none) between groups of `group` bytes; `out` has room for 3 · length + 1. */
void format_hex(const void *bytes, size_t length, size_t group, char separator, char *out);
void format_guid(uint64_t guid, char out[static GUID_TEXT_SIZE]);
int parse_guid(const char *text, uint64_t *guid);
/* 16 bytes in network order ↔ eight full groups. Parsing accepts any IPv6 text form as well. */
void format_gid(const uint8_t gid[static 16], char out[static GID_TEXT_SIZE]);
int parse_gid(const char *text, uint8_t gid[static 16]);
bool gid_is_zero(const uint8_t gid[static 16]);

/* The kernel's list format ("0-3,8"; empty is an empty list). Sets of CPUs or nodes as bits. */
struct cpuset {
	uint64_t *words; /* malloc'ed */
	size_t count;    /* of words */
};

int cpuset_parse(const char *list, struct cpuset *set);
void cpuset_free(struct cpuset *set);
bool cpuset_has(const struct cpuset *set, unsigned int cpu);
bool cpuset_intersects(const struct cpuset *a, const struct cpuset *b);
bool cpuset_is_subset(const struct cpuset *inner, const struct cpuset *outer);

#endif
