/* SPDX-License-Identifier: MIT */
/*
 * Drills: known failures on purpose, to learn what they look like. A drill is an entry of one table: its name, what
 * people should know of it, what it asks of the run, and what it does wrong. The verdict is not told which drill it
 * was: it has to find that out from the evidence.
 */
#ifndef RDMADIAG_PROBE_DRILL_H
#define RDMADIAG_PROBE_DRILL_H

#include "probe/deviation.h"
#include "probe/settings.h"

struct drill {
	const char *name;
	const char *line;        /* what happens, in a line */
	const char *ineffective; /* why it may show nothing on some device; NULL: it always shows */
	/* What the run needs, unless the operator asked for something else; zeroed: nothing. */
	struct {
		int op;
		int64_t size, count, batch, depth, timeout_ms;
		const char *wait;
	} wish;
	struct deviation deviation;
};

/* NULL: there is none of this name. */
const struct drill *drill_find(const char *name);
/* In the order of the manual; NULL behind the last. */
const struct drill *drill_at(size_t index);

/* What the drill asks for and does wrong, into settings that all options have gone into. 0 or -ENOMEM. */
int drill_apply(const struct drill *drill, struct probe_settings *settings, struct arena *arena);
/* What it does wrong; nothing for NULL and for names that are not known here. */
struct deviation drill_deviation(const char *name);

#endif
