/* SPDX-License-Identifier: MIT */
#include "options_wrong.h"

#include "cmd.h"

#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

const char *long_option_name(const struct option *options, int value)
{
	for (; options->name; options++)
		if (options->val == value)
			return options->name;
	return NULL;
}

static bool begins_option(const struct option *options, const char *word, size_t length)
{
	for (; options->name; options++)
		if (!strncmp(options->name, word, length))
			return true;
	return false;
}

/* "; is it --json?" or "", in `nearest`. */
static const char *meant_option(const struct option *options, struct nearest *nearest)
{
	char shown[64];
	for (; options->name; options++) {
		snprintf(shown, sizeof(shown), "--%s", options->name);
		nearest_try(nearest, options->name, shown);
	}
	return nearest_text(nearest);
}

/* getopt_long(3) leaves a long option that it did not take behind it, and `optopt` 0. */
static void tell_long(const char *who, const struct option *options, const char *word)
{
	size_t length = strncmp(word, "--", 2) ? 0 : strcspn(word + 2, "=");
	char typed[64];
	snprintf(typed, sizeof(typed), "%.*s", (int)length, length ? word + 2 : "");
	struct nearest nearest = { .typed = typed };
	if (length && begins_option(options, word + 2, length))
		complain_of(who, "'%s' is the beginning of several options", word);
	else
		complain_of(who, "'%s' is no option%s", word, length ? meant_option(options, &nearest) : "");
}

/* getopt_long(3) goes behind a word of letters only when all of them are looked at. */
static const char *word_of_letter(char **argv)
{
	const char *before = argv[optind - 1], *at = argv[optind];
	size_t length = strlen(before);
	bool looked_at = before[0] == '-' && before[1] != '-' && length > 1 && before[length - 1] == optopt;
	return looked_at || !at ? before : at;
}

/* A long option after one dash, or the device of `probe -d`, which other commands take as it is. */
static void tell_letter(const char *who, const struct option *options, const char *operands, const char *word)
{
	struct nearest nearest = { .typed = word + 1 };
	const char *meant = strlen(word) > 2 ? meant_option(options, &nearest) : "";
	bool device = optopt == 'd' && !strncmp(operands, "[DEV", 4);
	if (*meant)
		complain_of(who, "'%s' is no option%s", word, meant);
	else
		complain_of(who, "'-%c' is no option%s", optopt, device ? "; a device stands alone: DEV[/PORT]" : "");
}

void tell_wrong_option(const char *who, const struct option *options, int value, const char *operands, char **argv)
{
	const char *name = optopt ? long_option_name(options, optopt) : NULL;
	if (value == ':' && name)
		complain_of(who, "--%s needs an argument", name);
	else if (name)
		complain_of(who, "--%s takes no argument", name);
	else if (optopt)
		tell_letter(who, options, operands, word_of_letter(argv));
	else
		tell_long(who, options, argv[optind - 1]);
}
