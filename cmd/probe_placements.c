/* SPDX-License-Identifier: MIT */
#include "probe_placements.h"

#include "model/host.h"
#include "probe/placement.h"
#include "probe/probe.h"
#include "probe/watcher.h"
#include "probe_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ARENA_BYTES ((size_t)256 << 20)

enum { PLACES_LIMIT = 32, LATENCY_COUNT = 100, THROUGHPUT_COUNT = 320, CHAIN = 16 };

struct place {
	int64_t node;
	const char *registration;
	bool is_left_out;
};

struct comparison {
	struct probe_run *first;
	struct place places[PLACES_LIMIT];
	uint32_t count;
};

static void add_place(struct comparison *comparison, int64_t node, const char *registration)
{
	if (comparison->count < PLACES_LIMIT)
		comparison->places[comparison->count++] = (struct place){ .node = node, .registration = registration };
}

/* The adapter's own node is what the others are compared with. */
static void find_places(struct comparison *comparison)
{
	struct probe_run *first = comparison->first;
	const struct host *host = first->survey->host;
	const struct endpoint_facts *local = run_facts(first, SIDE_LOCAL);
	const char *device = local->device ? local->device : "host";
	struct num near = local->numa_node;
	if (near.known && near.value >= 0)
		add_place(comparison, near.value, "pinned");
	if (host)
		list_each(node, &host->numa_nodes)
			if (node->memory_bytes.known && node->memory_bytes.value > 0 &&
			        !(comparison->count && num_is(node->id, near.value)))
				add_place(comparison, node->id.value, "pinned");
	if (comparison->count && local->odp == FLAG_YES)
		add_place(comparison, comparison->places[0].node, "odp");
	else
		report_missing(&first->report, "placements.odp", device, 0,
		        local->odp == FLAG_NO ? "the device does not offer on-demand paging for reliable connections"
		                              : "whether the device offers on-demand paging is not known");
	if (comparison->count < 2)
		report_missing(&first->report, "placements", "host", 0,
		        "there is one place for the buffer only, and nothing to compare it with");
}

/* ---- one run ---- */

static struct num statistic_of(const struct evidence *evidence, const char *stage, int64_t bytes, struct num *samples)
{
	list_each(statistic, &evidence->statistics.stages) {
		if (strcmp(statistic->stage, stage) != 0 || statistic->bytes.value != bytes)
			continue;
		*samples = statistic->samples;
		return statistic->median_ns;
	}
	return (struct num){ 0 };
}

static bool went_well(const struct evidence *evidence)
{
	return evidence->operations_posted.known && evidence->operations_posted.value > 0 &&
	       evidence->operations_completed.value + evidence->operations_reclaimed.value ==
	               evidence->operations_posted.value;
}

static int keep_value(const struct comparison *comparison, const struct place *place, const char *metric, int64_t bytes,
        struct num value)
{
	struct placement placement = {
		.node = num(place->node), .registration = place->registration, .metric = metric, .bytes = num(bytes)
	};
	return placement_add(comparison->first->arena, run_evidence(comparison->first), &placement, value);
}

static int keep_run(
        const struct comparison *comparison, const struct place *place, const struct probe_run *run, bool throughput)
{
	int result = 0;
	list_each(size, &run->document.request.sizes) {
		struct num samples = { 0 };
		struct num time =
		        statistic_of(&run->document.evidence, throughput ? "span" : "total", size->value, &samples);
		int64_t moved = size->value * run->document.request.count.value;
		if (throughput && time.known && time.value > 0)
			time = num((int64_t)((double)moved * 1e6 / (double)time.value));
		result = keep_value(comparison, place, throughput ? "throughput" : "latency", size->value, time);
		if (result)
			return result;
	}
	return result;
}

/* Only the place differs from run to run of a metric. 0, or -1 when the comparison cannot go on with this place. */
static int measure(const struct comparison *comparison, const struct place *place, bool throughput)
{
	struct arena *arena __attribute__((cleanup(arena_freep))) = arena_new(ARENA_BYTES);
	struct probe_run *first = comparison->first;
	struct probe_settings settings = *first->settings;
	char node[24];
	snprintf(node, sizeof(node), "%" PRId64, place->node);
	settings.request = first->document.request;
	settings.request.buffer_node = node;
	settings.request.registration = place->registration;
	if (settings.request.count.value == 1)
		settings.request.count = num(throughput ? THROUGHPUT_COUNT : LATENCY_COUNT);
	if (throughput)
		settings.request.batch = num(CHAIN);
	if (throughput && settings.request.sq_sig_all != FLAG_YES)
		settings.request.signal_every = num(CHAIN);
	struct probe_run *run = arena ? run_new(arena, &settings, first->survey) : NULL;
	if (run)
		run->progress = probe_progress;
	bool well = run && !probe_run(run) && went_well(&run->document.evidence) && !watcher_signal();
	if (well && !keep_run(comparison, place, run, throughput))
		return 0;
	char subject[40];
	snprintf(subject, sizeof(subject), "node:%s", node);
	report_missing(&first->report, "placements", subject, 0, "a run with the buffer on node %s (%s) %s%s%s", node,
	        place->registration, watcher_signal() ? "was interrupted" : "did not go well, so it is left out",
	        run && run->error.text[0] ? ": " : "", run ? run->error.text : "");
	return -1;
}

/*
 * Each round begins with another place, so that none is always the first. A place where a run does not go well, as on a
 * node without free memory, is left out from then on; without the first one there is nothing to compare with.
 */
static int measure_round(struct comparison *comparison, uint32_t round)
{
	for (uint32_t i = 0; i < comparison->count; i++) {
		struct place *place = &comparison->places[(i + round) % comparison->count];
		if (!place->is_left_out && (measure(comparison, place, false) || measure(comparison, place, true)))
			place->is_left_out = true;
		if (watcher_signal())
			return -1;
	}
	uint32_t left = 0;
	for (uint32_t i = 0; i < comparison->count; i++)
		left += !comparison->places[i].is_left_out;
	return left < 2 || comparison->places[0].is_left_out ? -1 : 0;
}

/* The first placement of each kind is what the others are compared with: the first place, though round one began with
 * it. */
void placements_measure(struct probe_run *first)
{
	struct comparison comparison = { .first = first };
	find_places(&comparison);
	if (comparison.count < 2)
		return;
	uint32_t comparisons = (comparison.count - 1) * first->document.request.sizes.count * 2;
	uint32_t rounds = placement_runs(comparisons);
	for (uint32_t round = 0; round < rounds; round++)
		if (measure_round(&comparison, round))
			break;
	probe_progress_end();
	placement_compare(first->arena, run_evidence(first));
}
