/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the well-formed sequence at `text` (Unicode 15, table 3-7), 0 if it is none. */
static size_t utf8_length(const unsigned char *text)
{
	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	size_t length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	unsigned char low = text[0] == 0xe0 ? 0xa0 : text[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char high = text[0] == 0xed ? 0x9f : text[0] == 0xf4 ? 0x8f : 0xbf;
	if (text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

bool is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return !*text;
}

char *utf8_clean(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	if (text && is_ascii(text))
		return strdup(text);
	char *clean = text ? malloc(strlen(text) * 3 + 1) : NULL, *to = clean;
	if (!clean)
		return NULL;
	while (*text) {
		if ((unsigned char)*text < 0x80) {
			*to++ = *text++;
			continue;
		}
		size_t length = utf8_length((const unsigned char *)text);
		if (length)
			to = mempcpy(to, text, length);
		else
			to = mempcpy(to, replacement, 3);
		text += length ? length : 1;
	}
	*to = '\0';
	return clean;
}

/* What changes the order of the characters behind it: U+202A to U+202E, U+2066 to U+2069. */
static bool is_reordering(const unsigned char *at)
{
	return at[0] == 0xe2 &&
	       ((at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) || (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
}

char *text_for_terminal(const char *text)
{
	if (text && is_plain(text))
		return strdup(text);
	char *clean = utf8_clean(text);
	for (unsigned char *at = (unsigned char *)clean; at && *at; at++) {
		if (*at < ' ' || *at == 0x7f)
			*at = '?';
		if (*at == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) /* C1: U+0080 to U+009F */
			at[0] = at[1] = '?';
		if (is_reordering(at))
			at[0] = at[1] = at[2] = '?';
	}
	return clean;
}
