/* SPDX-License-Identifier: MIT */
/* Lines of logs and messages of other programs: which codes they may be about. */
#ifndef RDMADIAG_VERDICT_EXPLAIN_LOG_H
#define RDMADIAG_VERDICT_EXPLAIN_LOG_H

#include "base/arena.h"
#include "base/text.h"

/*
 * Adds the queries of `explain` that `text` may mean: the status of a work completion whose number stands behind the
 * word "status", else the statuses and events whose names it spells, as "remote access error" does with REM_ACCESS_ERR.
 * These are guesses, to be asked about.
 */
void explain_log(struct arena *arena, const char *text, struct strings *queries);

#endif
