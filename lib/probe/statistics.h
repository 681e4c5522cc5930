/* SPDX-License-Identifier: MIT */
/* Times of the stages over all requests that succeeded. */
#ifndef RDMADIAG_PROBE_STATISTICS_H
#define RDMADIAG_PROBE_STATISTICS_H

#include "probe/layout.h"
#include "probe/run.h"

struct stage_times;

/* Room for `count` requests, none of them timed; NULL without memory; free(3) gives it back. */
struct stage_times *stage_times_new(size_t count);
void stage_times_keep(struct stage_times *times, size_t index, const struct operation *operation);
/* Minimum, median, 99th percentile and maximum of each stage and size into the evidence. Sorts what it needs. */
void statistics_fill(struct probe_run *run, const struct layout *layout, const struct stage_times *times);
/* All requests of a size together, from the first post to the last completion: stage "span", of one sample. */
void statistics_add_span(struct probe_run *run, size_t bytes, struct num begin, struct num end);
/* Sorted times of one size, `count` > 0, into ranges. */
void histogram_fill(struct arena *arena, struct histogram *histogram, const int64_t *sorted, size_t count);
/* The value at `percent` of `count` sorted values, count > 0 (nearest rank). */
int64_t percentile(const int64_t *sorted, size_t count, unsigned int percent);

#endif
