/* SPDX-License-Identifier: MIT */
#include "probe/layout.h"

#include <errno.h>
#include <string.h>

const char *const payload_names[PAYLOAD_COUNT] = {
	[PAYLOAD_RIGHT] = "right",
	[PAYLOAD_UNTOUCHED] = "untouched",
	[PAYLOAD_WRONG] = "wrong",
};

enum {
	LINE = 64,       /* slots start on cache lines */
	LARGE = 1 << 20, /* from here on one slot has to do */
};

/* Of a request that says nothing about it: one. */
static uint32_t at_least_one(struct num value)
{
	return value.known && value.value > 0 ? (uint32_t)value.value : 1;
}

/* A slot for each request that may be outstanding, so that none is written to while it is in use. */
static uint32_t slots_needed(const struct layout *layout, size_t bytes)
{
	uint32_t slots = bytes >= LARGE ? 1 : LAYOUT_SLOTS, outstanding = layout_outstanding(layout) * layout->lanes;
	slots = slots > outstanding ? slots : outstanding;
	return slots < layout->count ? slots : layout->count;
}

int layout_make(struct layout *layout, const struct probe_request *request, uint64_t seed, size_t limit)
{
	*layout = (struct layout){
		.count = (uint32_t)request->count.value,
		.batch = at_least_one(request->batch),
		.lanes = at_least_one(request->qps),
		.signal_every = at_least_one(request->signal_every),
		.seed = seed,
	};
	list_each(size, &request->sizes) {
		if (layout->series_count == LAYOUT_SERIES_LIMIT)
			return -E2BIG;
		struct series *series = &layout->series[layout->series_count++];
		series->bytes = (size_t)size->value;
		series->stride = (series->bytes + LINE - 1) / LINE * LINE;
		series->slots = slots_needed(layout, series->bytes);
		series->offset = layout->bytes;
		layout->bytes += series->stride * series->slots;
		if (layout->bytes > limit)
			return -E2BIG;
	}
	return layout->series_count && layout->count ? 0 : -EINVAL;
}

/* ---- chains ---- */

uint32_t layout_lane(const struct layout *layout, uint32_t serial)
{
	return serial % layout->count / layout->batch % layout->lanes;
}

uint32_t layout_chain(const struct layout *layout, uint32_t serial)
{
	uint32_t index = serial % layout->count;
	uint32_t chain = layout->batch - index % layout->batch, rest = layout->count - index;
	return chain < rest ? chain : rest;
}

uint32_t layout_next_on_lane(const struct layout *layout, uint32_t serial)
{
	uint32_t lane = layout_lane(layout, serial), total = layout_total(layout), next = serial + 1;
	while (next < total && layout_lane(layout, next) != lane)
		next += layout_chain(layout, next);
	return next;
}

bool layout_ends_lane(const struct layout *layout, uint32_t serial)
{
	uint32_t chains = (layout->count + layout->batch - 1) / layout->batch;
	return serial % layout->count / layout->batch + layout->lanes >= chains;
}

uint32_t layout_outstanding(const struct layout *layout)
{
	uint32_t chains =
	        layout->signal_every == 1 ? 1 : (layout->signal_every + layout->batch - 1) / layout->batch + 1;
	uint32_t outstanding = chains * layout->batch;
	return outstanding < layout->count ? outstanding : layout->count;
}

size_t layout_largest(const struct layout *layout)
{
	size_t largest = 0;
	for (uint32_t i = 0; i < layout->series_count; i++)
		if (layout->series[i].bytes > largest)
			largest = layout->series[i].bytes;
	return largest;
}

/* The word at `index` of a payload: never zero, different for each run, request and place. */
static uint64_t word_at(uint64_t seed, uint32_t serial, uint64_t index)
{
	uint64_t word = (seed ^ ((uint64_t)serial << 40)) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
	word ^= word >> 29;
	word *= UINT64_C(0xbf58476d1ce4e5b9);
	return word | UINT64_C(0x0101010101010101); /* no byte is zero, so that untouched memory is told from it */
}

void payload_fill(unsigned char *memory, size_t bytes, uint64_t seed, uint32_t serial)
{
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		uint64_t word = word_at(seed, serial, at);
		memcpy(memory + at, &word, bytes - at < sizeof(word) ? bytes - at : sizeof(word));
	}
}

static bool word_is(const unsigned char *memory, size_t bytes, uint64_t seed, uint32_t serial, size_t at)
{
	uint64_t word = word_at(seed, serial, at);
	return !memcmp(memory + at, &word, bytes - at < sizeof(word) ? bytes - at : sizeof(word));
}

int payload_hint(const unsigned char *memory, size_t bytes, uint64_t seed, uint32_t serial)
{
	/* The adapter writes behind the compiler's back. */
	__asm__ volatile("" ::: "memory");
	return word_is(memory, bytes, seed, serial, (bytes - 1) / sizeof(uint64_t) * sizeof(uint64_t));
}

static bool is_untouched(const unsigned char *memory, size_t bytes)
{
	return !memory[0] && !memcmp(memory, memory + 1, bytes - 1);
}

enum payload payload_check(const unsigned char *memory, size_t bytes, uint64_t seed, uint32_t serial)
{
	__asm__ volatile("" ::: "memory");
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t))
		if (!word_is(memory, bytes, seed, serial, at))
			return is_untouched(memory, bytes) ? PAYLOAD_UNTOUCHED : PAYLOAD_WRONG;
	return PAYLOAD_RIGHT;
}
