/* SPDX-License-Identifier: MIT */
#include "probe/statistics.h"

#include "base/cleanup.h"

#include <stdlib.h>

enum stage { STAGE_POST, STAGE_WQE, STAGE_CQE, STAGE_CONSUME, STAGE_TOTAL, STAGE_COUNT };

static const char *const stage_names[STAGE_COUNT] = {
	[STAGE_POST] = "post",       /* call to return of ibv_post_send() */
	[STAGE_WQE] = "wqe",         /* call to request seen in the queue */
	[STAGE_CQE] = "cqe",         /* call to completion seen in the queue */
	[STAGE_CONSUME] = "consume", /* completion seen to taken */
	[STAGE_TOTAL] = "total",     /* call to completion taken */
};

struct stage_times {
	int64_t ns[STAGE_COUNT]; /* -1: not seen */
};

struct stage_times *stage_times_new(size_t count)
{
	return calloc(count, sizeof(struct stage_times));
}

static int64_t between(struct num start, struct num end)
{
	return start.known && end.known ? end.value - start.value : -1;
}

void stage_times_keep(struct stage_times *times, size_t index, const struct operation *operation)
{
	int64_t *ns = times[index].ns;
	ns[STAGE_POST] = between(operation->post_call_ns, operation->post_return_ns);
	ns[STAGE_WQE] = between(operation->post_call_ns, operation->wqe_posted_ns);
	ns[STAGE_CQE] = between(operation->post_call_ns, operation->cqe_arrived_ns);
	ns[STAGE_CONSUME] = between(operation->cqe_arrived_ns, operation->cqe_consumed_ns);
	ns[STAGE_TOTAL] = between(operation->post_call_ns, operation->cqe_consumed_ns);
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
		if (times[i].ns[stage] >= 0)
			values[found++] = times[i].ns[stage];
	qsort(values, found, sizeof(*values), by_value);
	return found;
}

void statistics_fill(struct probe_run *run, const struct layout *layout, const struct stage_times *times, size_t count)
{
	autofree int64_t *values = calloc(layout->count, sizeof(*values));
	for (size_t first = 0; values && first < count; first += layout->count) {
		size_t length = count - first < layout->count ? count - first : layout->count;
		for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
			size_t samples = collect(times + first, length, stage, values);
			struct statistic *statistic =
			        samples ? list_add(run->arena, &run_evidence(run)->statistics) : NULL;
			if (!statistic)
				continue;
			*statistic = (struct statistic){
				.stage = stage_names[stage],
				.bytes = num((int64_t)layout_series(layout, (uint32_t)first)->bytes),
				.samples = num((int64_t)samples),
				.min_ns = num(values[0]),
				.median_ns = num(percentile(values, samples, 50)),
				.p99_ns = num(percentile(values, samples, 99)),
				.max_ns = num(values[samples - 1]),
			};
		}
	}
}
