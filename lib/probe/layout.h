/* SPDX-License-Identifier: MIT */
/*
 * What lies where in the buffers of both ends, and which bytes belong there. Both ends have the same layout: for each
 * size a row of slots, used in turn, so that a request does not overwrite the one before it at once and the target can
 * see both. The bytes depend on the run, the request and the place, so nothing old or misplaced passes for right.
 */
#ifndef RDMADIAG_PROBE_LAYOUT_H
#define RDMADIAG_PROBE_LAYOUT_H

#include "model/evidence.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAYOUT_SERIES_LIMIT = 16, LAYOUT_SLOTS = 8 };

#define GRANT_LIMIT ((size_t)64 << 20) /* bytes of a buffer that a listener grants to a peer */

/* All requests of one size. */
struct series {
	size_t bytes;  /* of a request */
	size_t offset; /* of the first slot */
	size_t stride; /* from slot to slot */
	uint32_t slots;
};

struct layout {
	struct series series[LAYOUT_SERIES_LIMIT];
	uint32_t series_count;
	uint32_t count; /* requests of each size */
	uint32_t batch; /* requests of one chain; the last chain of a size may be shorter */
	uint32_t lanes; /* queue pairs, which take the chains by turns */
	uint32_t signal_every;
	uint64_t seed;
	size_t bytes; /* of the whole buffer */
};

/* `sizes` of a request, each within 1 … 2^31. 0, or -E2BIG when the buffer would be larger than `limit`. */
int layout_make(struct layout *layout, const struct probe_request *request, uint64_t seed, size_t limit);

/*
 * Chains: requests that are posted with one call, all of one size and to one queue pair (lane). The first of a size
 * goes to lane 0. Both ends know from the serial which lane a request takes.
 */
uint32_t layout_lane(const struct layout *layout, uint32_t serial);
/* Requests from `serial` to the end of its chain. */
uint32_t layout_chain(const struct layout *layout, uint32_t serial);
/* The next request behind `serial` on the same lane; layout_total(): none. */
uint32_t layout_next_on_lane(const struct layout *layout, uint32_t serial);
/* No lane has a chain of this size behind the one of `serial`. */
bool layout_ends_lane(const struct layout *layout, uint32_t serial);
/* Requests that a lane has outstanding at most: unsignaled ones are, until one behind them completes. */
uint32_t layout_outstanding(const struct layout *layout);

/* The largest message. */
size_t layout_largest(const struct layout *layout);

/* Requests are numbered through all sizes, from 0. */
static inline uint32_t layout_total(const struct layout *layout)
{
	return layout->series_count * layout->count;
}
static inline const struct series *layout_series(const struct layout *layout, uint32_t serial)
{
	return &layout->series[serial / layout->count];
}
/* Where its bytes lie. */
static inline size_t layout_offset(const struct layout *layout, uint32_t serial)
{
	const struct series *series = layout_series(layout, serial);
	return series->offset + serial % layout->count % series->slots * series->stride;
}

enum payload { PAYLOAD_UNKNOWN, PAYLOAD_RIGHT, PAYLOAD_UNTOUCHED, PAYLOAD_WRONG, PAYLOAD_COUNT };
extern const char *const payload_names[PAYLOAD_COUNT];

/* The bytes of a request. */
void payload_fill(unsigned char *memory, size_t bytes, uint64_t seed, uint32_t serial);
/* A look at the last word only: a hint that it is worth to compare the rest. */
int payload_hint(const unsigned char *memory, size_t bytes, uint64_t seed, uint32_t serial);
/* Compares all of it. Untouched: nothing but zeros. */
enum payload payload_check(const unsigned char *memory, size_t bytes, uint64_t seed, uint32_t serial);

#endif
