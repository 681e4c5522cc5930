/* SPDX-License-Identifier: MIT */
#include "check_look.h"
#include "check_expected.h"

#include "base/cleanup.h"
#include "check/agreement.h"
#include "check/gid.h"
#include "check/gpudirect.h"
#include "check/topo.h"
#include "gid/elsewhere.h"
#include "gid/judge.h"
#include "gid/read.h"
#include "gid/settings.h"
#include "run_command.h"
#include "source/verbs.h"

#include <errno.h>
#include <time.h>

/* What is read besides the host, in its arena. */
struct look {
	struct gid_document gids;
	struct gid_settings settings;
	struct counter_readings counters;
	bool watched; /* counters are wanted */
};

/* What consumers of GIDs are told here, or were where the snapshot was made; most snapshots do not say. */
static void read_settings(struct origin *origin, struct host *host, struct gid_settings *settings)
{
	struct error error = { 0 };
	*settings = (struct gid_settings){ 0 };
	int result = origin_settings(origin, host->arena, settings, &error);
	if (result && result != -ENOENT)
		report_missing(&host->report, "settings", "host", result, "%s", error.text);
}

/* In the worker, anew after each restart. */
static int read_more(struct origin *origin, struct host *host, void *data)
{
	struct look *look = data;
	look->gids = (struct gid_document){ 0 };
	look->counters = (struct counter_readings){ 0 };
	read_settings(origin, host, &look->settings);
	int result = look->watched ? counters_read(origin, host, &look->counters) : 0;
	return result ? result : gid_read(origin, host, &(struct gid_read_options){ 0 }, &look->gids);
}

/* 0 or a negative errno, as collect_host(); `look` is valid unless it is NULL. */
static int look_at(struct origin *origin, struct host *host, bool watched, struct look **look, struct error *error)
{
	*look = arena_new_object(host->arena, struct look);
	if (!*look)
		return error_set(error, -ENOMEM, "this host");
	(*look)->watched = watched;
	struct collect_options wanted = {
		.verbs = VERBS_PORTS,
		.cross_check = true,
		.neighbours = true,
		.health = true,
		.more = read_more,
		.data = *look,
	};
	return collect_host(origin, host, &wanted, error);
}

/* The first look of two, and the time until the second. */
static int wait_interval(
        struct origin *origin, struct host *host, double seconds, struct look **look, struct error *error)
{
	int result = look_at(origin, host, true, look, error);
	struct timespec time = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
	return result || !nanosleep(&time, NULL) ? result : -errno;
}

static int judge_settings(struct host *host, struct look *look)
{
	struct gid_environment environment;
	int result = gid_settings_environment(host->arena, &look->settings, &environment);
	result = result ? result : gid_explain(host, &environment, &look->gids);
	if (result)
		return result;
	check_gid_settings(host, &look->gids);
	check_gid_devices(host, &look->gids, &environment);
	check_gid_hca_list(host, &look->gids, &environment);
	check_gid_defaults(host, &look->gids);
	return 0;
}

static int judge(struct host *host, struct look *look)
{
	int judged = gid_judge(host, &look->gids);
	if (!judged)
		gid_elsewhere_join(host, &look->gids);
	check_topo(host, &host->report);
	check_agreement(host, &host->report);
	check_gpudirect(host, &host->report);
	if (!judged) {
		check_gid(host, &look->gids);
		check_gid_lids(host, &look->gids);
		judged = judge_settings(host, look);
	}
	return judged;
}

/* Counters of ports that are not looked at are not told of either. */
static uint32_t count_watched(const struct host *host, const struct counter_readings *readings)
{
	uint32_t count = 0;
	list_each(reading, &readings->items)
		count += check_port_called(host, reading->subject) != NULL;
	return count;
}

int check_collect(struct check_request *request, const struct common_options *common, struct origin *origin,
        struct host *host, struct check_watched *seen, struct error *error)
{
	struct look *first = NULL, *look = NULL;
	bool watched = request->interval > 0;
	autocall(host_freep) struct host *before = watched ? host_new() : NULL;
	if (watched && !before)
		return error_set(error, -ENOMEM, "this host");
	int result = watched ? wait_interval(origin, before, request->interval, &first, error) : 0;
	if (result && result != -EINTR)
		return result;
	result = look_at(origin, host, watched, &look, error);
	if (result && result != -EINTR)
		return result;
	int judged = judge(host, look);
	if (first && !judged)
		check_rising(before, &first->counters, host, &look->counters, request->interval, &host->report);
	/* Before that all of the host: a bond or an equal adapter beside it tells what is wrong with a device. */
	if (!judged && !result)
		judged = check_expected(&request->filter, host, error);
	if (!judged)
		judged = collect_select(host, &request->wanted, error);
	seen->counters = count_watched(host, &look->counters);
	if (request->probe && !result && !judged)
		result = check_probe_ports(host, &seen->probed);
	if (common->probes || common->from)
		check_recorded_probes(
		        host, origin, common->probes, common->probes ? "REPORT" : common->from, &seen->probed);
	if (!judged)
		judged = collect_select(host, &request->wanted, error);
	report_exhaustion(&host->report);
	return result ? result : judged;
}
