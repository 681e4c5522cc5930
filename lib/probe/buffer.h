/* SPDX-License-Identifier: MIT */
/* Memory of one end: placed on a NUMA node before its first touch, checked after it. */
#ifndef RDMADIAG_PROBE_BUFFER_H
#define RDMADIAG_PROBE_BUFFER_H

#include "base/text.h"
#include "probe/run.h"

#include <stddef.h>

struct buffer {
	unsigned char *memory; /* whole pages, NULL: none */
	size_t size;
};

/*
 * Moves the calling thread to the CPUs of `node` and lets its memory come from there, before anything is allocated.
 * What the kernel refuses (a cpuset, a node without CPUs) goes to the report: the probe runs anywhere.
 */
void buffer_affinity(struct probe_run *run, int side, struct num node);

/*
 * Maps at least `size` bytes, with pages from `node` (`strict`: from nowhere else) where it is known, and touches them.
 * Each part is a recorded step. 0 or negative errno.
 */
int buffer_allocate(struct probe_run *run, int side, struct buffer *buffer, size_t size, struct num node, bool strict);
void buffer_free(struct buffer *buffer);

/* Where the pages are, by move_pages(2), into the evidence. */
void buffer_locate(struct probe_run *run, const struct buffer *buffer, struct num node);

#endif
