/* SPDX-License-Identifier: MIT */
#include "verdict/explain_log.h"

#include "verdict/explain.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { WORD_SIZE = 32 };

/* The next word of letters and digits at `text`, cut where it is too long; NULL: there is none. */
static const char *next_word(const char *text, char word[static WORD_SIZE])
{
	size_t used = 0;
	while (*text && !isalnum((unsigned char)*text))
		text++;
	if (!*text)
		return NULL;
	for (; isalnum((unsigned char)*text); text++)
		if (used < WORD_SIZE - 1)
			word[used++] = *text;
	word[used] = '\0';
	return text;
}

static bool begins(const char *word, const char *part)
{
	return !strncasecmp(word, part, strlen(part));
}

/* Where `text` goes on behind the word that begins with `part`: its next one, or with `gap` the one after it. */
static const char *behind_part(const char *text, const char *part, bool gap)
{
	char word[WORD_SIZE];
	text = next_word(text, word);
	if (text && !begins(word, part) && gap)
		text = next_word(text, word);
	return text && begins(word, part) ? text : NULL;
}

/*
 * How many parts of `name`, as RETRY_EXC_ERR, the words at `text` begin with, one other word between two of them
 * allowed: "retry counter exceeded". 0: not all of them. ERR may be missing where two others are there.
 */
static int parts_at(const char *text, const char *name)
{
	char part[WORD_SIZE];
	int found = 0;
	while ((name = next_word(name, part))) {
		const char *behind = behind_part(text, part, found > 0);
		if (!behind)
			return !strcmp(part, "ERR") && found > 1 ? found : 0;
		text = behind;
		found++;
	}
	return found > 1 ? found : 0;
}

static int parts_in(const char *text, const char *name)
{
	char word[WORD_SIZE];
	int most = 0;
	for (const char *at = text; at; at = next_word(at, word)) {
		int parts = parts_at(at, name);
		if (parts > most)
			most = parts;
	}
	return most;
}

struct spelled {
	struct arena *arena;
	struct strings *queries;
	int parts; /* of the names in `queries` */
};

/* Names that more words speak for take the place of those before. */
static void try_name(struct spelled *spelled, const char *text, const char *name, const char *kind, const char *prefix)
{
	int parts = parts_in(text, name);
	if (!parts || parts < spelled->parts)
		return;
	if (parts > spelled->parts)
		spelled->queries->count = 0;
	spelled->parts = parts;
	const char *query = arena_printf(spelled->arena, "%s:%s%s", kind, prefix, name);
	if (query)
		strings_add(spelled->arena, spelled->queries, query);
}

/* The number behind the word "status", as in "status=12" and "status 0xc"; -1: there is none. */
static int64_t status_in(const char *text)
{
	char word[WORD_SIZE], number[WORD_SIZE];
	int64_t status;
	while ((text = next_word(text, word)))
		if (!strcasecmp(word, "status") && next_word(text, number) && !parse_number(number, 0, &status))
			return status;
	return -1;
}

void explain_log(struct arena *arena, const char *text, struct strings *queries)
{
	struct spelled spelled = { arena, queries, 0 };
	size_t count;
	const struct wc_explanation *status = explain_wc(status_in(text));
	const char *query = status && status->status ? arena_printf(arena, "wc:%s", status->name) : NULL;
	if (query) {
		strings_add(arena, queries, query);
		return;
	}
	const struct wc_explanation *wc = explain_wc_table(&count);
	for (size_t i = 0; i < count; i++)
		try_name(&spelled, text, wc[i].name + strlen("IBV_WC_"), "wc", "IBV_WC_");
	const struct event_explanation *event = explain_event_table(&count);
	for (size_t i = 0; i < count; i++)
		try_name(&spelled, text, event[i].name, "event", "");
}
