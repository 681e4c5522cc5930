/* SPDX-License-Identifier: MIT */
/* The end that requests arrive at: what it gets ready before, and what it sees in its memory. */
#ifndef RDMADIAG_PROBE_TARGET_H
#define RDMADIAG_PROBE_TARGET_H

#include "probe/endpoint.h"
#include "probe/layout.h"

/* What became of one request in the target's memory. */
struct landing {
	struct num serial;
	struct num landed_ns; /* first seen whole; of the target's run */
	struct num not_before_ns;
	int payload; /* enum payload, when the target was asked last */
};

/* A list with a name, which messages carry as it is; see LIST() of base/arena.h. */
struct landings {
	struct landing **items;
	uint32_t count, capacity;
};

struct target {
	struct endpoint *endpoint;
	const struct layout *layout;
	struct landings landings;
	uint32_t watched;     /* serial of the request that is looked for now */
	int64_t last_look_ns; /* when it was not yet there */
	/* Of each lane: receives posted and not yet consumed, and the request that the next one is for. */
	uint32_t receives[PROBE_QPS_LIMIT], next[PROBE_QPS_LIMIT];
};

/* Receive requests, or the payload to be read. 0 or negative errno with `error`. */
int target_prepare(struct target *target, struct endpoint *endpoint, const struct layout *layout, struct error *error);
/* One look into the memory, and into the CQ where requests consume receives. Cheap enough to be called in a loop. */
void target_look(struct target *target);
/* The first `posted` requests are over: compares what is in the memory now. */
void target_verify(struct target *target, uint32_t posted);
/*
 * Writes what is known of each request into the operation of its wr_id, and counts them all by size, since not every
 * request is listed. Times stay the target's own.
 */
void landings_apply(const struct landings *landings, const struct layout *layout, struct probe_run *run);

/* Requests carry their serial, counted from 1. */
static inline uint64_t wr_id_of(uint32_t serial)
{
	return (uint64_t)serial + 1;
}

#endif
