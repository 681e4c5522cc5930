/* SPDX-License-Identifier: MIT */
/* Rings, mappings, payloads and statistics on bytes, without any device. */
#include "unit.h"

#include "probe/counters.h"
#include "probe/layout.h"
#include "probe/mappings.h"
#include "probe/rxe_ring.h"
#include "probe/statistics.h"

#include <errno.h>
#include <rdma/rdma_user_rxe.h>

/* ---- rings of soft RoCE ---- */

enum { ELEMENT = 256, ENTRIES = 16 };

static struct rxe_queue *new_ring(void)
{
	struct rxe_queue *ring = calloc(1, sizeof(*ring) + ELEMENT * ENTRIES);
	assert_non_null(ring);
	ring->element_shift = 8;
	ring->index_mask = ENTRIES - 1;
	return ring;
}

static size_t ring_size(void)
{
	return sizeof(struct rxe_queue) + ELEMENT * ENTRIES;
}

static void a_ring_is_read(void **state)
{
	(void)state;
	struct rxe_queue *memory = new_ring();
	struct rxe_ring ring;
	const char *reason;
	assert_int_equal(rxe_ring_open(&ring, memory, ring_size(), sizeof(struct rxe_send_wqe), 15, &reason), 0);
	memory->producer = 3;
	memory->consumer = 2;
	((struct rxe_send_wqe *)(void *)(memory->data + (size_t)2 * ELEMENT))->wr.wr_id = 0x77;
	assert_int_equal(rxe_ring_producer(&ring), 3);
	assert_int_equal(rxe_ring_consumer(&ring), 2);
	assert_int_equal(rxe_ring_wr_id(&ring, 2), 0x77);
	assert_int_equal(rxe_ring_wr_id(&ring, 2 + ENTRIES), 0x77); /* never outside, whatever the index */
	free(memory);
}

static void what_cannot_be_a_ring_is_refused(void **state)
{
	(void)state;
	struct rxe_ring ring;
	const char *reason;
	for (int fault = 0; fault < 8; fault++) {
		struct rxe_queue *memory = new_ring();
		size_t length = ring_size(), element = ELEMENT;
		uint32_t entries = 1;
		switch (fault) {
		case 0:
			memory->element_shift = 3;
			break;
		case 1:
			memory->element_shift = 31;
			break;
		case 2:
			memory->index_mask = ENTRIES;
			break;
		case 3:
			length--;
			break;
		case 4:
			element = ELEMENT + 1;
			break;
		case 5:
			entries = ENTRIES;
			break;
		case 6:
			memory->producer = ENTRIES;
			break;
		default:
			length = 100;
			break;
		}
		reason = NULL;
		assert_int_equal(rxe_ring_open(&ring, memory, length, element, entries, &reason), -EPROTO);
		assert_non_null(reason);
		assert_null(ring.memory);
		free(memory);
	}
}

/* ---- mappings ---- */

static const char before_text[] =
        "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]\n"
        "7f0000000000-7f0000002000 rw-s 00001000 00:06 311                        /dev/infiniband/uverbs0\n";
static const char after_text[] =
        "7f0000000000-7f0000002000 rw-s 00001000 00:06 311                        /dev/infiniband/uverbs0\n"
        "7f0000010000-7f0000012000 rw-s 00009000 00:06 311                        /dev/infiniband/uverbs0\n"
        "7f0000020000-7f0000022000 rw-s 00005000 00:06 311                        /dev/infiniband/uverbs0 (deleted)\n"
        "garbage /dev/infiniband/uverbs0\n"
        "7f0000040000-7f0000042000 r-xp 00005000 00:06 312                        /dev/infiniband/rdma_cm";

static void new_mappings_come_by_offset(void **state)
{
	(void)state;
	static struct mappings before, after;
	struct mapping found[4];
	assert_int_equal(mappings_parse(before_text, &before), 0);
	assert_int_equal(mappings_parse(after_text, &after), 0);
	assert_int_equal(before.count, 1);
	assert_int_equal(after.count, 3);
	assert_int_equal(mappings_new(&before, &after, found, 4), 2);
	assert_int_equal(found[0].offset, 0x5000);
	assert_int_equal(found[1].offset, 0x9000);
	assert_int_equal(found[1].start, UINT64_C(0x7f0000010000));
	found[1].offset = 0;
	assert_int_equal(mappings_new(&before, &after, found, 1), 2);
	assert_int_equal(found[1].offset, 0); /* beyond the limit nothing is written */
}

/* ---- payloads ---- */

static struct probe_request request_of(struct arena *arena, const int64_t *sizes, size_t count, int64_t each)
{
	struct probe_request request = { .count = num(each) };
	for (size_t i = 0; i < count; i++)
		*list_add(arena, &request.sizes) = num(sizes[i]);
	return request;
}

static void slots_do_not_overlap(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	static const int64_t sizes[] = { 1, 64, 65, 4096, 1 << 20 };
	struct probe_request request = request_of(arena, sizes, 5, 20);
	struct layout layout;
	assert_int_equal(layout_make(&layout, &request, 1, 1 << 26), 0);
	assert_int_equal(layout_total(&layout), 100);
	size_t end = 0;
	for (uint32_t serial = 0; serial < layout_total(&layout); serial++) {
		size_t offset = layout_offset(&layout, serial), bytes = layout_series(&layout, serial)->bytes;
		assert_true(offset + bytes <= layout.bytes);
		if (serial % 20 < layout_series(&layout, serial)->slots) {
			assert_true(offset >= end);
			end = offset + bytes;
		}
	}
	assert_int_equal(layout_offset(&layout, 8), layout_offset(&layout, 0)); /* slots are used in turn */
	assert_int_equal(layout_make(&layout, &request, 1, 1 << 20), -E2BIG);
	arena_free(arena);
}

static void every_byte_of_a_payload_counts(void **state)
{
	(void)state;
	unsigned char memory[200];
	for (size_t bytes = 1; bytes <= 131; bytes++) {
		memset(memory, 0, sizeof(memory));
		assert_int_equal(payload_check(memory, bytes, 5, 2), PAYLOAD_UNTOUCHED);
		assert_false(payload_hint(memory, bytes, 5, 2));
		payload_fill(memory, bytes, 5, 2);
		assert_int_equal(memory[bytes], 0);
		assert_true(payload_hint(memory, bytes, 5, 2));
		assert_int_equal(payload_check(memory, bytes, 5, 2), PAYLOAD_RIGHT);
		assert_int_equal(bytes > 7 ? payload_check(memory, bytes, 5, 3) : PAYLOAD_WRONG, PAYLOAD_WRONG);
		assert_int_equal(bytes > 7 ? payload_check(memory, bytes, 6, 2) : PAYLOAD_WRONG, PAYLOAD_WRONG);
		for (size_t i = 0; i < bytes; i++) {
			memory[i] ^= 0x10;
			assert_int_equal(payload_check(memory, bytes, 5, 2), PAYLOAD_WRONG);
			memory[i] ^= 0x10;
		}
	}
}

/* ---- statistics ---- */

static void percentiles_by_nearest_rank(void **state)
{
	(void)state;
	int64_t values[100];
	for (int i = 0; i < 100; i++)
		values[i] = i + 1;
	assert_int_equal(percentile(values, 100, 50), 50);
	assert_int_equal(percentile(values, 100, 99), 99);
	assert_int_equal(percentile(values, 1, 99), 1);
	assert_int_equal(percentile(values, 2, 50), 1);
	assert_int_equal(percentile(values, 3, 50), 2);
}

static void statistics_leave_out_what_was_not_seen(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	static const int64_t sizes[] = { 64 };
	struct probe_settings settings;
	struct survey survey = { 0 };
	settings_init(&settings);
	struct probe_run *run = run_new(arena, &settings, &survey);
	struct probe_request request = request_of(arena, sizes, 1, 2);
	struct layout layout;
	layout_make(&layout, &request, 1, 4096);
	struct stage_times *times = stage_times_new(2);
	struct operation seen = { .post_call_ns = num(10),
		.post_return_ns = num(20),
		.cqe_arrived_ns = num(50),
		.cqe_consumed_ns = num(60) };
	struct operation unseen = { .post_call_ns = num(10), .post_return_ns = num(40), .cqe_consumed_ns = num(90) };
	stage_times_keep(times, 0, &seen);
	stage_times_keep(times, 1, &unseen);
	statistics_fill(run, &layout, times);
	const struct evidence *evidence = run_evidence(run);
	assert_int_equal(evidence->statistics.stages.count, 4); /* nothing of "wqe" */
	assert_string_equal(evidence->statistics.stages.items[0]->stage, "post");
	assert_int_equal(evidence->statistics.stages.items[0]->samples.value, 2);
	assert_int_equal(evidence->statistics.stages.items[0]->max_ns.value, 30);
	assert_string_equal(evidence->statistics.stages.items[1]->stage, "cqe");
	assert_int_equal(evidence->statistics.stages.items[1]->samples.value, 1);
	assert_int_equal(evidence->statistics.stages.items[1]->median_ns.value, 40);
	free(times);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_is_read),
		cmocka_unit_test(what_cannot_be_a_ring_is_refused),
		cmocka_unit_test(new_mappings_come_by_offset),
		cmocka_unit_test(slots_do_not_overlap),
		cmocka_unit_test(every_byte_of_a_payload_counts),
		cmocka_unit_test(percentiles_by_nearest_rank),
		cmocka_unit_test(statistics_leave_out_what_was_not_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
