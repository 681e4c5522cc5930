/* SPDX-License-Identifier: MIT */
#include "probe/placement.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHANCE 0.05

uint32_t placement_runs(uint32_t comparisons)
{
	/* Six against six can give 2 of 924 at best, eight against eight 2 of 12870. */
	enum { FEW = 6, FEW_COMPARISONS = 12 };
	return comparisons <= FEW_COMPARISONS ? FEW : PLACEMENT_RUNS_LIMIT;
}

static bool same_kind(const struct placement *a, const struct placement *b)
{
	return text_same(a->metric, b->metric) && a->bytes.value == b->bytes.value;
}

static bool same_place(const struct placement *a, const struct placement *b)
{
	return same_kind(a, b) && a->node.value == b->node.value && text_same(a->registration, b->registration);
}

int placement_add(struct arena *arena, struct evidence *evidence, const struct placement *place, struct num value)
{
	struct placement *found = NULL;
	list_each(candidate, &evidence->placements)
		if (same_place(candidate, place))
			found = candidate;
	if (!found) {
		found = list_add(arena, &evidence->placements);
		if (!found)
			return -ENOMEM;
		*found = *place;
	}
	struct num *added = list_add(arena, &found->runs);
	if (!added)
		return -ENOMEM;
	*added = value;
	return 0;
}

/* ---- statistics ---- */

static int by_value(const void *a, const void *b)
{
	int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
	return (one > other) - (one < other);
}

struct row {
	int64_t values[PLACEMENT_RUNS_LIMIT]; /* sorted */
	uint32_t count;
};

static struct row row_of(const struct placement *place)
{
	struct row row = { 0 };
	list_each(value, &place->runs)
		if (value->known && row.count < PLACEMENT_RUNS_LIMIT)
			row.values[row.count++] = value->value;
	qsort(row.values, row.count, sizeof(*row.values), by_value);
	return row;
}

static int64_t median_of(const struct row *row)
{
	uint32_t half = row->count / 2;
	return row->count % 2 ? row->values[half] : (row->values[half - 1] + row->values[half]) / 2;
}

static int64_t spread_of(const struct row *row)
{
	return row->values[row->count - 1] - row->values[0];
}

/* Twice the number of pairs in which the value of the first group is the larger one; a tie counts one. */
static int wins(const int64_t *values, uint32_t count, uint32_t members)
{
	int sum = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			if (members >> i & 1 && !(members >> j & 1))
				sum += values[i] > values[j] ? 2 : values[i] == values[j];
	return sum;
}

double rank_test(const int64_t *a, uint32_t a_count, const int64_t *b, uint32_t b_count)
{
	int64_t values[2 * PLACEMENT_RUNS_LIMIT];
	uint32_t count = a_count + b_count, extreme = 0, all = 0;
	memcpy(values, a, a_count * sizeof(*a));
	memcpy(values + a_count, b, b_count * sizeof(*b));
	int middle = (int)(a_count * b_count), seen = abs(wins(values, count, (1U << a_count) - 1) - middle);
	for (uint32_t members = 0; members < 1U << count; members++) {
		if ((uint32_t)__builtin_popcount(members) != a_count)
			continue;
		all++;
		extreme += abs(wins(values, count, members) - middle) >= seen;
	}
	return (double)extreme / (double)all;
}

/* ---- comparing ---- */

static const struct placement *first_of_kind(const struct evidence *evidence, const struct placement *place)
{
	list_each(candidate, &evidence->placements)
		if (same_kind(candidate, place))
			return candidate;
	return place;
}

static int64_t parts_per_million(int64_t part, int64_t whole)
{
	return whole ? (int64_t)((double)part / (double)whole * 1e6) : 0;
}

static void compare(struct placement_comparison *comparison, const struct placement *base,
        const struct placement *place, uint32_t comparisons)
{
	struct row one = row_of(base), other = row_of(place);
	*comparison = (struct placement_comparison){ .metric = place->metric,
		.bytes = place->bytes,
		.node = place->node,
		.base_node = base->node,
		.registration = place->registration };
	if (!one.count || !other.count)
		return;
	int64_t difference = median_of(&other) - median_of(&one);
	int64_t noise = spread_of(&one) > spread_of(&other) ? spread_of(&one) : spread_of(&other);
	double chance = rank_test(one.values, one.count, other.values, other.count) * comparisons;
	comparison->difference_ppm = num(parts_per_million(difference, median_of(&one)));
	comparison->noise_ppm = num(parts_per_million(noise, median_of(&one)));
	comparison->chance_ppm = num(chance < 1 ? (int64_t)(chance * 1e6) : 1000000);
	comparison->differs = flag(llabs(difference) > noise && chance < CHANCE);
}

int placement_compare(struct arena *arena, struct evidence *evidence)
{
	uint32_t comparisons = 0;
	list_each(place, &evidence->placements)
		comparisons += first_of_kind(evidence, place) != place;
	list_each(other, &evidence->placements) {
		const struct placement *base = first_of_kind(evidence, other);
		if (base == other)
			continue;
		struct placement_comparison *comparison = list_add(arena, &evidence->placement_comparisons);
		if (!comparison)
			return -ENOMEM;
		compare(comparison, base, other, comparisons);
	}
	return 0;
}
