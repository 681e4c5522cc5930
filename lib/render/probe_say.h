/* SPDX-License-Identifier: MIT */
/* What the parts of the probe's text share (probe_text.c, probe_ladder.c, probe_tables.c): pieces of text, and the
 * parts. */
#ifndef RDMADIAG_RENDER_PROBE_SAY_H
#define RDMADIAG_RENDER_PROBE_SAY_H

#include "model/evidence.h"
#include "render/probe_text.h"

struct out {
	FILE *stream;
	const struct probe_print_options *options;
	const struct evidence *evidence;
	const struct verdict *verdict;
};

enum style { STYLE_NONE, STYLE_BOLD, STYLE_GOOD, STYLE_BAD, STYLE_DOUBT, STYLE_DIM };
const char *style_code(const struct out *out, enum style style);
const char *style_end(const struct out *out, enum style style);

__attribute__((format(printf, 2, 3))) void say(const struct out *out, const char *format, ...);
/*
 * Texts come from a peer or from a file: control characters would reach the terminal, and bytes above ASCII do not
 * belong into a locale that has none.
 */
void say_text(const struct out *out, const char *text);
/* The same in a column, with blanks up to `width` bytes. */
void say_padded(const struct out *out, int width, const char *text);
void say_styled(const struct out *out, enum style style, const char *text);
void say_num(const struct out *out, struct num number);
/* "unknown" where the value has no name. */
const char *name_of(const char *const *names, int count, int value);

/* 0 where the difference is none: times of a foreign record may be anything. */
static inline int64_t minus(int64_t a, int64_t b)
{
	int64_t result;
	return __builtin_sub_overflow(a, b, &result) ? 0 : result;
}

/* The way of one request, or with --verbose of each, as a ladder of stages. */
void say_operations(const struct out *out);
/* What the members of a LAG did with a probe each. */
void say_members(const struct out *out);
/* Statistics, counters, events, the buffer, TCP beside it, placements, the clocks. */
void say_tables(const struct out *out);

#endif
