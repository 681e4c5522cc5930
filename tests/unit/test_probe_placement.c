/* SPDX-License-Identifier: MIT */
/* Places of a buffer are told apart where they differ by more than chance and noise, and never otherwise. */
#include "unit.h"

#include "probe/layout.h"
#include "probe/placement.h"

#include <stdlib.h>

static void ranks_are_exact(void **state)
{
	(void)state;
	const int64_t low[] = { 1, 2, 3, 4, 5, 6 }, high[] = { 7, 8, 9, 10, 11, 12 }, mixed[] = { 1, 8, 3, 10, 5, 12 };
	/* 2 of C(12, 6) = 924 arrangements are as extreme. */
	assert_true(rank_test(low, 6, high, 6) * 924 > 1.99 && rank_test(low, 6, high, 6) * 924 < 2.01);
	assert_true(rank_test(high, 6, low, 6) == rank_test(low, 6, high, 6));
	assert_true(rank_test(low, 6, mixed, 6) > 0.1);
	const int64_t same[] = { 5, 5, 5, 5 };
	assert_true(rank_test(same, 4, same, 4) == 1.0);
	/* Three against three: the two extreme ones of 20. */
	assert_true(rank_test(low, 3, high, 3) * 20 > 1.99 && rank_test(low, 3, high, 3) * 20 < 2.01);
}

static void fill(struct arena *arena, struct evidence *evidence, int64_t node, const int64_t *values, uint32_t count)
{
	struct placement place = { .node = num(node), .registration = "pinned", .metric = "latency", .bytes = num(64) };
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(placement_add(arena, evidence, &place, num(values[i])), 0);
}

static enum flag differs(const int64_t *near, const int64_t *far, uint32_t count)
{
	struct arena *arena = test_arena();
	struct evidence *evidence = arena_new_object(arena, struct evidence);
	fill(arena, evidence, 0, near, count);
	fill(arena, evidence, 1, far, count);
	assert_int_equal(placement_compare(arena, evidence), 0);
	assert_int_equal(evidence->placement_comparisons.count, 1);
	assert_int_equal(evidence->placement_comparisons.items[0]->base_node.value, 0);
	enum flag result = evidence->placement_comparisons.items[0]->differs;
	arena_free(arena);
	return result;
}

static void a_clear_difference_is_claimed(void **state)
{
	(void)state;
	const int64_t near[] = { 1000, 1010, 1005, 1020, 1015, 1008 }, far[] = { 1300, 1310, 1290, 1305, 1320, 1302 };
	assert_int_equal(differs(near, far, 6), FLAG_YES);
	assert_int_equal(differs(far, near, 6), FLAG_YES);
}

static void a_difference_below_the_noise_is_not(void **state)
{
	(void)state;
	/* All of one above all of the other, but by less than either spreads. */
	const int64_t near[] = { 1000, 1100, 1050, 1020, 1080, 1040 }, far[] = { 1101, 1190, 1150, 1120, 1180, 1104 };
	assert_int_equal(differs(near, far, 6), FLAG_NO);
	/* Nor by just as much: the medians are 100 apart, and one of them spreads over 100. */
	const int64_t low[] = { 900, 1000, 1000, 1000, 1000, 1000 }, high[] = { 1100, 1100, 1100, 1100, 1100, 1100 };
	assert_int_equal(differs(low, high, 6), FLAG_NO);
	const int64_t higher[] = { 1101, 1101, 1101, 1101, 1101, 1101 };
	assert_int_equal(differs(low, higher, 6), FLAG_YES);
	/* A large one of two runs each can be chance. */
	const int64_t few[] = { 1000, 1001 }, other[] = { 2000, 2001 };
	assert_int_equal(differs(few, other, 2), FLAG_NO);
	assert_int_equal(differs(near, near, 6), FLAG_NO);
}

static void one_run_that_was_disturbed_decides_nothing(void **state)
{
	(void)state;
	const int64_t near[] = { 1000, 1001, 1002, 1003, 1004, 1005 }, far[] = { 1000, 1001, 1002, 1003, 1004, 9000 };
	assert_int_equal(differs(near, far, 6), FLAG_NO);
}

/* Runs of one distribution, long tails included: next to none of many comparisons may claim anything. */
static void noise_claims_nothing(void **state)
{
	(void)state;
	unsigned int seed = 1;
	int claims = 0;
	for (int trial = 0; trial < 1000; trial++) {
		int64_t rows[2][6];
		for (int i = 0; i < 12; i++) {
			int64_t value = 1000 + rand_r(&seed) % 100;
			rows[i / 6][i % 6] = rand_r(&seed) % 10 ? value : value * 3;
		}
		claims += differs(rows[0], rows[1], 6) == FLAG_YES;
	}
	assert_true(claims <= 2);
}

static void more_comparisons_need_more_runs(void **state)
{
	(void)state;
	assert_int_equal(placement_runs(2), 6);
	assert_int_equal(placement_runs(13), 8);
}

static void chains_take_the_lanes_by_turns(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct probe_request request = { .count = num(10), .batch = num(3), .qps = num(2), .signal_every = num(4) };
	*(struct num *)list_add(arena, &request.sizes) = num(64);
	*(struct num *)list_add(arena, &request.sizes) = num(128);
	struct layout layout;
	assert_int_equal(layout_make(&layout, &request, 1, 1 << 20), 0);
	static const uint32_t lanes[] = { 0, 0, 0, 1, 1, 1, 0, 0, 0, 1 };
	uint32_t seen[20] = { 0 };
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(layout_lane(&layout, i), lanes[i % 10]);
	assert_int_equal(layout_chain(&layout, 0), 3);
	assert_int_equal(layout_chain(&layout, 4), 2);
	assert_int_equal(layout_chain(&layout, 9), 1);
	/* Every request is on one lane, and a walk over the lanes finds all of them. */
	for (uint32_t first = 0; first <= 3; first += 3)
		for (uint32_t at = first; at < 20; at = layout_next_on_lane(&layout, at))
			seen[at]++;
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(seen[i], 1);
	assert_false(layout_ends_lane(&layout, 0));
	assert_true(layout_ends_lane(&layout, 6));
	assert_true(layout_ends_lane(&layout, 9));
	/* A slot for all that may be outstanding, not more than there are requests. */
	assert_int_equal(layout_outstanding(&layout), 9);
	assert_int_equal(layout.series[0].slots, 10);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_exact),
		cmocka_unit_test(a_clear_difference_is_claimed),
		cmocka_unit_test(a_difference_below_the_noise_is_not),
		cmocka_unit_test(one_run_that_was_disturbed_decides_nothing),
		cmocka_unit_test(noise_claims_nothing),
		cmocka_unit_test(more_comparisons_need_more_runs),
		cmocka_unit_test(chains_take_the_lanes_by_turns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
