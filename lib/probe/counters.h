/* SPDX-License-Identifier: MIT */
/* Port and hardware counters of one end, before and after: rdma netlink, else sysfs. They are of the whole port. */
#ifndef RDMADIAG_PROBE_COUNTERS_H
#define RDMADIAG_PROBE_COUNTERS_H

#include "origin/origin.h"
#include "probe/run.h"

enum { COUNTERS_LIMIT = 256, COUNTER_NAME_SIZE = 64 };

struct counter_value {
	char name[COUNTER_NAME_SIZE];
	int64_t value;
};

struct counter_set {
	struct counter_value values[COUNTERS_LIMIT];
	size_t count;
};

/* Three looks: the first two tell which counters stand still without us. */
struct counters {
	struct counter_set *quiet, *before, *after; /* malloc'ed, NULL: not taken */
	int64_t taken_ns;                           /* time of the last look */
	int64_t lifespan_ns;                        /* the driver gives the same values for so long */
};

/* Parses the answer to RDMA_NLDEV_CMD_STAT_GET: what a counter set holds of it. 0 or negative errno. */
int counters_parse(const void *reply, size_t length, struct counter_set *set);

/* One look each; the end's facts name device and port. A look waits until the one before it is out of date. */
void counters_baseline(struct counters *counters, struct origin *origin, struct probe_run *run, int side);
void counters_before(struct counters *counters, struct origin *origin, struct probe_run *run, int side);
/* The last look, and what changed into the evidence; traffic counters that stood still are kept as well. */
void counters_after(struct counters *counters, struct origin *origin, struct probe_run *run, int side);
void counters_free(struct counters *counters);

#endif
