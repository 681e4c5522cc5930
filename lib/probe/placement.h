/* SPDX-License-Identifier: MIT */
/*
 * The same run with the buffer in different places. Each place is measured by several runs, which are interleaved, so
 * that what changes on the machine meanwhile strikes all places alike.
 *
 * A difference is claimed only where two things hold: it is larger than the spread of the runs of either place, and the
 * exact rank test of Mann and Whitney, corrected for the number of comparisons (Bonferroni), gives it less than 5 % by
 * chance. Everything else is noise, and is said to be.
 */
#ifndef RDMADIAG_PROBE_PLACEMENT_H
#define RDMADIAG_PROBE_PLACEMENT_H

#include "model/evidence.h"

enum { PLACEMENT_RUNS_LIMIT = 8 };

/* Runs that each place needs so that the test can find anything among so many comparisons. */
uint32_t placement_runs(uint32_t comparisons);

/* A value of one more run, of the place that is the first or a further one. 0 or -ENOMEM. */
int placement_add(struct arena *arena, struct evidence *evidence, const struct placement *place, struct num value);

/* Compares each place with the first one of its size and metric. 0 or -ENOMEM. */
int placement_compare(struct arena *arena, struct evidence *evidence);

/* How likely it is that two rows of one distribution differ so much: exact, both directions, 1 … 8 values each. */
double rank_test(const int64_t *a, uint32_t a_count, const int64_t *b, uint32_t b_count);

#endif
