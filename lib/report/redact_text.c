/* SPDX-License-Identifier: MIT */
#include "report/redact_text.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_LIMIT = 72 }; /* longer than every notation: IPoIB has 59 */

/* What is written so far. */
struct output {
	struct pseudonyms *pseudonyms;
	enum redact_words words;
	FILE *stream;
};

static bool is_word(int character)
{
	return isalnum(character) || character == '_';
}

static int digit(int character)
{
	return isdigit(character) ? character - '0' : tolower(character) - 'a' + 10;
}

static bool has_capitals(const char *token, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (isupper((unsigned char)token[i]))
			return true;
	return false;
}

static void put(const struct output *output, const char *text, bool capitals)
{
	for (; *text; text++)
		fputc(capitals ? toupper((unsigned char)*text) : *text, output->stream);
}

/* The pseudonym of a noted word, where words are replaced. */
static const char *word_for(const struct output *output, const char *word, size_t length)
{
	if (output->words == WORDS_NONE)
		return NULL;
	return pseudonym_word(output->pseudonyms, word, length, output->words == WORDS_DISTINCT);
}

/* ---- groups of digits ---- */

/*
 * Reads groups of `width` digits with `separator` between them (0: none) that fill the token. Their number of bytes, 0
 * when it is of another form.
 */
static size_t read_groups(const char *token, size_t length, size_t width, char separator, uint8_t *bytes)
{
	size_t count = 0, at = 0;
	for (;; at++) {
		for (size_t i = 0; i < width; i += 2, at += 2) {
			if (at + 2 > length || !isxdigit((unsigned char)token[at]) ||
			        !isxdigit((unsigned char)token[at + 1]) || count == 20)
				return 0;
			bytes[count++] = (uint8_t)(digit(token[at]) << 4 | digit(token[at + 1]));
		}
		if (at == length)
			return count;
		if (separator && token[at] != separator)
			return 0;
		at -= !separator;
	}
}

/* Writes bytes in the notation that they were read in. */
static void put_groups(
        const struct output *output, const uint8_t *bytes, size_t count, size_t width, char separator, bool capitals)
{
	for (size_t i = 0; i < count; i++) {
		char text[4];
		if (separator && i && !(i * 2 % width))
			fputc(separator, output->stream);
		snprintf(text, sizeof(text), "%02x", bytes[i]);
		put(output, text, capitals);
	}
}

/* MACs with ":" or "-", GUIDs, and GIDs in eight full groups. */
static bool replace_groups(const struct output *output, const char *token, size_t length)
{
	static const struct {
		size_t width, bytes;
		char separator;
	} notations[] = {
		{ 2, 6, ':' },
		{ 2, 6, '-' },
		{ 2, 8, ':' },
		{ 2, 20, ':' },
		{ 4, 8, ':' },
		{ 4, 16, ':' },
		{ 4, 6, '.' },
	};
	uint8_t bytes[20];
	for (size_t i = 0; i < ARRAY_SIZE(notations); i++) {
		size_t width = notations[i].width, count = notations[i].bytes;
		char separator = notations[i].separator;
		if (read_groups(token, length, width, separator, bytes) != count)
			continue;
		pseudonym_link_address(output->pseudonyms, bytes, count);
		put_groups(output, bytes, count, width, separator, has_capitals(token, length));
		return true;
	}
	return false;
}

/* ---- addresses ---- */

static bool replace_address(const struct output *output, const char *token, size_t length)
{
	char text[INET6_ADDRSTRLEN], written[INET6_ADDRSTRLEN];
	uint8_t ip[16];
	if (length >= sizeof(text))
		return false;
	memcpy(text, token, length);
	text[length] = '\0';
	if (inet_pton(AF_INET, text, ip) == 1) {
		pseudonym_ipv4(output->pseudonyms, ip);
		put(output, inet_ntop(AF_INET, ip, written, sizeof(written)), false);
		return true;
	}
	if (!memchr(token, ':', length) || inet_pton(AF_INET6, text, ip) != 1)
		return false;
	pseudonym_ipv6(output->pseudonyms, ip);
	put(output, inet_ntop(AF_INET6, ip, written, sizeof(written)), has_capitals(token, length));
	return true;
}

/* "192.0.2.1:4791": an address and a port. */
static bool replace_with_port(const struct output *output, const char *token, size_t length)
{
	const char *colon = memrchr(token, ':', length);
	if (!colon || colon == token)
		return false;
	for (const char *at = colon + 1; at < token + length; at++)
		if (!isdigit((unsigned char)*at))
			return false;
	if (memchr(token, ':', (size_t)(colon - token)) || !replace_address(output, token, (size_t)(colon - token)))
		return false;
	fwrite(colon, 1, length - (size_t)(colon - token), output->stream);
	return true;
}

/* ---- bare digits ---- */

/* Digits alone may be anything; they are replaced when they are of a value that was seen as what it is. */
static bool replace_known_digits(const struct output *output, const char *token, size_t length)
{
	static const struct {
		size_t bytes;
		enum original_kind kind;
	} sizes[] = { { 6, ORIGINAL_MAC }, { 8, ORIGINAL_GUID }, { 16, ORIGINAL_IPV6 } };
	uint8_t bytes[20];
	size_t count = length >= 12 && !(length % 2) ? read_groups(token, length, 2, 0, bytes) : 0;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (sizes[i].bytes != count || !pseudonyms_know(output->pseudonyms, sizes[i].kind, bytes, count))
			continue;
		pseudonym_link_address(output->pseudonyms, bytes, count);
		put_groups(output, bytes, count, length, 0, has_capitals(token, length));
		return true;
	}
	return false;
}

/* Names that udev makes of a MAC or GUID: enx…, wlx…, ibx… and rocex… (rdma-core, udev/rdma_rename.c). */
static size_t name_prefix(const char *word, size_t length)
{
	static const char *const prefixes[] = { "enx", "wlx", "ibx", "rocex", "iwx", "opax", "usnicx" };
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t prefix = strlen(prefixes[i]);
		if (length > prefix && !strncmp(word, prefixes[i], prefix))
			return prefix;
	}
	return 0;
}

static bool replace_name(const struct output *output, const char *word, size_t length)
{
	size_t prefix = name_prefix(word, length);
	uint8_t bytes[20];
	size_t count =
	        prefix && !((length - prefix) % 2) ? read_groups(word + prefix, length - prefix, 2, 0, bytes) : 0;
	if (count != 6 && count != 8)
		return false;
	fwrite(word, 1, prefix, output->stream);
	pseudonym_link_address(output->pseudonyms, bytes, count);
	put_groups(output, bytes, count, length, 0, false);
	return true;
}

/* 0x…, a name made of a MAC, a value known from elsewhere, or a noted word. */
static bool replace_word(const struct output *output, const char *word, size_t length)
{
	size_t prefix = length > 2 && word[0] == '0' && word[1] == 'x' ? 2 : 0;
	if (replace_name(output, word, length))
		return true;
	const char *pseudonym = word_for(output, word, length);
	if (pseudonym) {
		put(output, pseudonym, false);
		return true;
	}
	uint8_t bytes[20];
	if (!prefix || read_groups(word + prefix, length - prefix, 2, 0, bytes) < 6)
		return replace_known_digits(output, word, length);
	fwrite(word, 1, prefix, output->stream);
	if (!replace_known_digits(output, word + prefix, length - prefix))
		fwrite(word + prefix, 1, length - prefix, output->stream);
	return true;
}

/* ---- tokens ---- */

static size_t span(const char *text, size_t length, bool (*is_part)(int character))
{
	size_t at = 0;
	while (at < length && is_part((unsigned char)text[at]))
		at++;
	return at;
}

static bool is_address_part(int character)
{
	return isxdigit(character) || character == ':' || character == '.' || character == '-';
}

static bool is_name_part(int character)
{
	return is_word(character) || character == '-' || character == '.';
}

/* 8-4-4-4-12 digits. */
static bool replace_uuid(const struct output *output, const char *token, size_t length)
{
	static const size_t groups[] = { 8, 4, 4, 4, 12 };
	uint8_t bytes[20];
	size_t at = 0, count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (at + groups[i] > length || !read_groups(token + at, groups[i], 2, 0, bytes + count))
			return false;
		at += groups[i];
		count += groups[i] / 2;
		if (i + 1 < ARRAY_SIZE(groups) && (at == length || token[at++] != '-'))
			return false;
	}
	if (at != length)
		return false;
	pseudonym_bytes(output->pseudonyms, bytes, count);
	for (size_t i = 0; i < count; i++)
		fprintf(output->stream, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
	return true;
}

/* The token as a whole, or without what punctuation of a sentence there is at its end. Bytes that were replaced. */
static size_t replace_token(const struct output *output, const char *token, size_t length)
{
	for (size_t end = length; end >= 2 && length <= TOKEN_LIMIT; end--) {
		if (replace_groups(output, token, end) || replace_uuid(output, token, end) ||
		        replace_address(output, token, end) || replace_with_port(output, token, end))
			return end;
		if (!strchr(":.-", token[end - 1]))
			break;
	}
	return 0;
}

/* A word of letters and digits; a host name may have "-" and "." in it, so the longest that is noted is taken. */
static size_t replace_words(const struct output *output, const char *text, size_t length)
{
	size_t word = span(text, length, is_word);
	for (size_t end = span(text, length, is_name_part); end > word; end--) {
		const char *pseudonym =
		        end < length && is_word((unsigned char)text[end]) ? NULL : word_for(output, text, end);
		if (pseudonym) {
			put(output, pseudonym, false);
			return end;
		}
	}
	if (!replace_word(output, text, word))
		fwrite(text, 1, word, output->stream);
	return word;
}

/* From a place where a word may begin: how far the text is dealt with. */
static size_t step(const struct output *output, const char *text, size_t length)
{
	size_t token = span(text, length, is_address_part);
	bool bounded = token == length || !is_word((unsigned char)text[token]);
	size_t done = bounded && token ? replace_token(output, text, token) : 0;
	if (done)
		return done;
	if (is_word((unsigned char)*text))
		return replace_words(output, text, length);
	fputc(*text, output->stream);
	return 1;
}

/* A run of digits, or the next other character. */
static size_t step_digits(const struct output *output, const char *text, size_t length)
{
	uint8_t bytes[20];
	size_t word = span(text, length, is_word);
	size_t count = word ? read_groups(text, word, 2, 0, bytes) : 0;
	if (count) {
		pseudonym_link_address(output->pseudonyms, bytes, count);
		put_groups(output, bytes, count, word, 0, has_capitals(text, word));
		return word;
	}
	word += !word;
	fwrite(text, 1, word, output->stream);
	return word;
}

static char *rewrite(struct pseudonyms *pseudonyms, enum redact_words words, const char *text, size_t length,
        size_t *new_length, size_t (*next)(const struct output *output, const char *text, size_t length))
{
	char *result = NULL;
	struct output output = { pseudonyms, words, open_memstream(&result, new_length) };
	if (!output.stream)
		return NULL;
	for (size_t at = 0; at < length;)
		at += next(&output, text + at, length - at);
	bool failed = ferror(output.stream);
	if (fclose(output.stream) || failed) {
		free(result);
		return NULL;
	}
	return result;
}

char *redact_text(
        struct pseudonyms *pseudonyms, enum redact_words words, const char *text, size_t length, size_t *new_length)
{
	return rewrite(pseudonyms, words, text, length, new_length, step);
}

char *redact_digits(struct pseudonyms *pseudonyms, const char *text, size_t length, size_t *new_length)
{
	return rewrite(pseudonyms, WORDS_NONE, text, length, new_length, step_digits);
}
