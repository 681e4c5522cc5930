/* SPDX-License-Identifier: MIT */
#include "probe/statistics.h"

#include "base/cleanup.h"

#include <stdlib.h>

enum stage { STAGE_POST, STAGE_WQE, STAGE_CQE, STAGE_CONSUME, STAGE_TOTAL, STAGE_COUNT, STAGE_SPAN = STAGE_COUNT };

static const char *const stage_names[] = {
	[STAGE_POST] = "post",       /* call to return of ibv_post_send() */
	[STAGE_WQE] = "wqe",         /* call to request seen in the queue */
	[STAGE_CQE] = "cqe",         /* call to completion seen in the queue */
	[STAGE_CONSUME] = "consume", /* completion seen to taken */
	[STAGE_TOTAL] = "total",     /* call to completion taken */
	[STAGE_SPAN] = "span",       /* of all requests of a size together */
};

struct stage_times {
	int64_t more_than[STAGE_COUNT]; /* one nanosecond more than it took; 0: not seen */
};

struct stage_times *stage_times_new(size_t count)
{
	return calloc(count, sizeof(struct stage_times));
}

static int64_t between(struct num start, struct num end)
{
	return start.known && end.known && end.value >= start.value ? end.value - start.value + 1 : 0;
}

void stage_times_keep(struct stage_times *times, size_t index, const struct operation *operation)
{
	int64_t *stages = times[index].more_than;
	stages[STAGE_POST] = between(operation->post_call_ns, operation->post_return_ns);
	stages[STAGE_WQE] = between(operation->post_call_ns, operation->wqe_posted_ns);
	stages[STAGE_CQE] = between(operation->post_call_ns, operation->cqe_arrived_ns);
	stages[STAGE_CONSUME] = between(operation->cqe_arrived_ns, operation->cqe_consumed_ns);
	stages[STAGE_TOTAL] = between(operation->post_call_ns, operation->cqe_consumed_ns);
}

static int by_value(const void *a, const void *b)
{
	int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
	return (one > other) - (one < other);
}

int64_t percentile(const int64_t *sorted, size_t count, unsigned int percent)
{
	size_t rank = (count * percent + 99) / 100;
	return sorted[rank ? rank - 1 : 0];
}

static size_t collect(const struct stage_times *times, size_t count, enum stage stage, int64_t *values)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		if (times[i].more_than[stage])
			values[found++] = times[i].more_than[stage] - 1;
	qsort(values, found, sizeof(*values), by_value);
	return found;
}

static void add_statistic(struct probe_run *run, enum stage stage, size_t bytes, const int64_t *sorted, size_t samples)
{
	struct statistic *statistic = samples ? list_add(run->arena, &run_evidence(run)->statistics.stages) : NULL;
	if (!statistic)
		return;
	*statistic = (struct statistic){
		.stage = stage_names[stage],
		.bytes = num((int64_t)bytes),
		.samples = num((int64_t)samples),
		.min_ns = num(sorted[0]),
		.median_ns = num(percentile(sorted, samples, 50)),
		.p99_ns = num(percentile(sorted, samples, 99)),
		.max_ns = num(sorted[samples - 1]),
	};
}

static void add_bucket(struct arena *arena, struct histogram *histogram, int64_t from, int64_t to, const int64_t *end,
        const int64_t **at)
{
	const int64_t *first = *at;
	while (*at < end && **at < to)
		++*at;
	struct histogram_bucket *bucket = list_add(arena, &histogram->buckets);
	if (bucket)
		*bucket = (struct histogram_bucket){ num(from), num(to), num(*at - first) };
}

/* The long tail would make all other ranges one: what lies above the 99th percentile is counted apart. */
void histogram_fill(struct arena *arena, struct histogram *histogram, const int64_t *sorted, size_t count)
{
	enum { RANGES = 16 };
	const int64_t *at = sorted, *end = sorted + count;
	int64_t least = sorted[0], most = sorted[count - 1], top = percentile(sorted, count, 99) + 1;
	int64_t width = (top - least + RANGES - 1) / RANGES;
	for (int64_t from = least; from < top; from += width)
		add_bucket(arena, histogram, from, from + width < top ? from + width : top, end, &at);
	if (at < end)
		add_bucket(arena, histogram, top, most + 1, end, &at);
}

static void add_histogram(struct probe_run *run, size_t bytes, const int64_t *sorted, size_t samples)
{
	enum { ENOUGH = 20 };
	struct histogram *histogram = samples >= ENOUGH ? list_add(run->arena, &run_evidence(run)->histograms) : NULL;
	if (!histogram)
		return;
	histogram->bytes = num((int64_t)bytes);
	histogram_fill(run->arena, histogram, sorted, samples);
}

void statistics_fill(struct probe_run *run, const struct layout *layout, const struct stage_times *times)
{
	autofree int64_t *values = calloc(layout->count, sizeof(*values));
	for (uint32_t i = 0; values && i < layout->series_count; i++) {
		for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
			size_t samples = collect(times + (size_t)i * layout->count, layout->count, stage, values);
			add_statistic(run, stage, layout->series[i].bytes, values, samples);
			if (stage == STAGE_TOTAL)
				add_histogram(run, layout->series[i].bytes, values, samples);
		}
	}
}

void statistics_add_span(struct probe_run *run, size_t bytes, struct num begin, struct num end)
{
	if (begin.known && end.known)
		add_statistic(run, STAGE_SPAN, bytes, &(int64_t){ end.value - begin.value }, 1);
}
