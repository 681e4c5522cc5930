/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int parse_number(const char *text, int base, int64_t *value)
{
	char *end;
	/* strtoll(3) takes blanks and a plus in front, which no file of the kernel has and nobody types on purpose. */
	if (!isalnum((unsigned char)*text) && *text != '-')
		return -EINVAL;
	errno = 0;
	long long parsed = strtoll(text, &end, base);
	if (errno == ERANGE)
		return -ERANGE;
	if (end == text)
		return -EINVAL;
	while (isspace((unsigned char)*end))
		end++;
	if (*end)
		return -EINVAL;
	*value = parsed;
	return 0;
}

struct num parse_num(const char *text, int base)
{
	int64_t value;
	return text && !parse_number(text, base, &value) ? num(value) : (struct num){ 0 };
}

int text_join_until(char *out, size_t size, ...)
{
	va_list texts;
	size_t used = 0;
	int result = 0;
	va_start(texts, size);
	for (const char *text; !result && (text = va_arg(texts, const char *));) {
		size_t room = size - 1 - used, length = strnlen(text, room + 1);
		if (length > room) {
			length = room;
			result = -ENAMETOOLONG;
		}
		memcpy(out + used, text, length);
		used += length;
	}
	va_end(texts);
	out[used] = '\0';
	return result;
}

int text_vappend(char *text, size_t size, const char *format, va_list args)
{
	size_t used = strlen(text), room = size - used;
	int length = vsnprintf(text + used, room, format, args);
	return length < 0 || (size_t)length >= room ? -ENAMETOOLONG : 0;
}

int text_append(char *text, size_t size, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int result = text_vappend(text, size, format, args);
	va_end(args);
	return result;
}

const char *text_number(uint64_t number, char out[static NUMBER_TEXT_SIZE])
{
	char digits[NUMBER_TEXT_SIZE], *at = digits + sizeof(digits) - 1;
	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	return memcpy(out, at, (size_t)(digits + sizeof(digits) - at));
}

void sort_pointers(void *pointers, size_t count, int (*compare)(const void *a, const void *b))
{
	void **items = pointers;
	for (size_t i = 1; i < count; i++)
		if (compare(&items[i - 1], &items[i]) > 0) {
			qsort(items, count, sizeof(*items), compare);
			return;
		}
}

/* Length of the run of digits at `text` without its leading zeros; `start` is set to where they begin. */
static size_t digits(const char *text, const char **start)
{
	while (*text == '0' && isdigit((unsigned char)text[1]))
		text++;
	*start = text;
	size_t length = 0;
	while (isdigit((unsigned char)text[length]))
		length++;
	return length;
}

int natural_compare(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			const char *number_a, *number_b;
			size_t length_a = digits(a, &number_a), length_b = digits(b, &number_b);
			if (length_a != length_b)
				return length_a < length_b ? -1 : 1;
			int order = memcmp(number_a, number_b, length_a);
			if (order)
				return order;
			a = number_a + length_a;
			b = number_b + length_b;
		} else if (*a != *b) {
			return (unsigned char)*a - (unsigned char)*b;
		} else {
			a++;
			b++;
		}
	}
	return (unsigned char)*a - (unsigned char)*b;
}

int natural_compare_pointers(const void *a, const void *b)
{
	return natural_compare(*(const char *const *)a, *(const char *const *)b);
}

int pci_address_compare(const char *a, const char *b)
{
	size_t length_a = strlen(a), length_b = strlen(b);
	return length_a == length_b ? strcmp(a, b) : length_a < length_b ? -1 : 1;
}

char *trim_end(char *text)
{
	size_t length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

void format_hex(const void *bytes, size_t length, size_t group, char separator, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = bytes;
	for (size_t i = 0; i < length; i++) {
		if (i && separator && i % group == 0)
			*out++ = separator;
		*out++ = digits[from[i] >> 4];
		*out++ = digits[from[i] & 15];
	}
	*out = '\0';
}

void format_guid(uint64_t guid, char out[static GUID_TEXT_SIZE])
{
	guid = htobe64(guid);
	format_hex(&guid, sizeof(guid), 2, ':', out);
}

int parse_guid(const char *text, uint64_t *guid)
{
	unsigned int part[4];
	int end = 0;
	if (sscanf(text, "%4x:%4x:%4x:%4x%n", &part[0], &part[1], &part[2], &part[3], &end) != 4)
		return -EINVAL;
	if (text[end] && !isspace((unsigned char)text[end]))
		return -EINVAL;
	*guid = (uint64_t)part[0] << 48 | (uint64_t)part[1] << 32 | (uint64_t)part[2] << 16 | part[3];
	return 0;
}

void format_gid(const uint8_t gid[static 16], char out[static GID_TEXT_SIZE])
{
	format_hex(gid, 16, 2, ':', out);
}

int parse_gid(const char *text, uint8_t gid[static 16])
{
	char copy[IP_TEXT_SIZE];
	size_t length = strcspn(text, " \t\r\n");
	if (length >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return inet_pton(AF_INET6, copy, gid) == 1 ? 0 : -EINVAL;
}

bool gid_is_zero(const uint8_t gid[static 16])
{
	static const uint8_t zero[16];
	return !memcmp(gid, zero, sizeof(zero));
}

/* More than any kernel can be built for (CONFIG_NR_CPUS), so that a hostile list cannot ask for gigabytes. */
enum { CPU_LIMIT = 1 << 16, BITS = 64 };

static int cpuset_add_range(struct cpuset *set, unsigned long first, unsigned long last)
{
	if (first > last || last >= CPU_LIMIT)
		return -EINVAL;
	size_t needed = last / BITS + 1;
	if (needed > set->count) {
		uint64_t *words = reallocarray(set->words, needed, sizeof(*words));
		if (!words)
			return -ENOMEM;
		memset(words + set->count, 0, (needed - set->count) * sizeof(*words));
		set->words = words;
		set->count = needed;
	}
	for (unsigned long cpu = first; cpu <= last; cpu++)
		set->words[cpu / BITS] |= UINT64_C(1) << cpu % BITS;
	return 0;
}

int cpuset_parse(const char *list, struct cpuset *set)
{
	*set = (struct cpuset){ 0 };
	while (*list && !isspace((unsigned char)*list)) {
		char *end;
		int result = isdigit((unsigned char)*list) ? 0 : -EINVAL;
		unsigned long first = strtoul(list, &end, 10), last = first;
		if (!result && *end == '-')
			last = strtoul(end + 1, &end, 10);
		result = result ? result : cpuset_add_range(set, first, last);
		if (!result && *end && *end != ',' && !isspace((unsigned char)*end))
			result = -EINVAL;
		if (result) {
			cpuset_free(set);
			return result;
		}
		list = *end == ',' ? end + 1 : end;
	}
	return 0;
}

void cpuset_free(struct cpuset *set)
{
	free(set->words);
	*set = (struct cpuset){ 0 };
}

bool cpuset_has(const struct cpuset *set, unsigned int cpu)
{
	return cpu / BITS < set->count && set->words[cpu / BITS] >> cpu % BITS & 1;
}

bool cpuset_intersects(const struct cpuset *a, const struct cpuset *b)
{
	for (size_t i = 0; i < a->count && i < b->count; i++)
		if (a->words[i] & b->words[i])
			return true;
	return false;
}

bool cpuset_is_subset(const struct cpuset *inner, const struct cpuset *outer)
{
	for (size_t i = 0; i < inner->count; i++)
		if (inner->words[i] & ~(i < outer->count ? outer->words[i] : 0))
			return false;
	return true;
}

bool text_lists(const char *list, const char *word, const char *ends)
{
	size_t length = strlen(word);
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ends) == length && !strncmp(at, word, length))
			return true;
	return false;
}
