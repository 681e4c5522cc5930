/* SPDX-License-Identifier: MIT */
#include "probe/counters.h"

#include "base/cleanup.h"
#include "probe/nldev.h"
#include "source/nl_attr.h"
#include "verdict/explain.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	LIFESPAN_DEFAULT_MS = 10, /* kernel, rdma_alloc_hw_stats_struct() */
	LIFESPAN_LIMIT_MS = 1000,
	MARGIN_NS = 2000000,
};

static void add(struct counter_set *set, const char *name, int64_t value)
{
	size_t length = strnlen(name, COUNTER_NAME_SIZE);
	if (set->count == COUNTERS_LIMIT || !length || length == COUNTER_NAME_SIZE)
		return;
	for (size_t i = 0; i < set->count; i++)
		if (!strcmp(set->values[i].name, name))
			return;
	memcpy(set->values[set->count].name, name, length + 1);
	set->values[set->count++].value = value;
}

/* ---- rdma netlink ---- */

static void parse_entry(const struct nlattr *entry, struct counter_set *set)
{
	const struct nlattr *table[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE + 1];
	nl_nested(entry, table, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
	const struct nlattr *name = table[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME];
	uint64_t value;
	if (name && !mnl_attr_validate(name, MNL_TYPE_NUL_STRING) &&
	        !nl_u64(table[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE], &value) && value <= INT64_MAX)
		add(set, mnl_attr_get_str(name), (int64_t)value);
}

static int take_nested_entry(const struct nlattr *entry, void *set)
{
	if (mnl_attr_get_type(entry) == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY)
		parse_entry(entry, set);
	return MNL_CB_OK;
}

static int parse_message(const struct nlmsghdr *message, void *set)
{
	const struct nlattr *table[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS + 1];
	nl_attributes(message, 0, table, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (table[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
		mnl_attr_parse_nested(table[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], take_nested_entry, set);
	return 0;
}

int counters_parse(const void *reply, size_t length, struct counter_set *set)
{
	return nl_each_message(reply, length, parse_message, set);
}

static int read_netlink(struct origin *origin, const char *device, uint32_t port, struct counter_set *set)
{
	uint32_t index;
	int result = nldev_index(origin, device, &index);
	if (result)
		return result;
	char buffer[NLDEV_REQUEST_BYTES], name[64];
	struct nlmsghdr *message = nldev_request(buffer, RDMA_NLDEV_CMD_STAT_GET, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	snprintf(name, sizeof(name), "rdma/stat.%u.%u", index, port);
	result = nldev_ask(origin, name, message, parse_message, set);
	return result ? result : set->count ? 0 : -ENODATA;
}

/* ---- sysfs ---- */

static int read_directory(struct origin *origin, struct arena *arena, const struct endpoint_facts *facts,
        const char *directory, struct counter_set *set)
{
	char path[PATH_MAX];
	struct strings names = { 0 };
	snprintf(path, sizeof(path), "sys/class/infiniband/%s/ports/%d/%s", facts->device, (int)facts->port.value,
	        directory);
	int result = origin_list(origin, arena, path, &names);
	for (uint32_t i = 0; !result && i < names.count; i++) {
		char file[PATH_MAX + NAME_MAX + 2];
		snprintf(file, sizeof(file), "%s/%s", path, names.items[i]);
		struct num value = origin_number(origin, file, 10);
		if (value.known && strcmp(names.items[i], "lifespan") != 0)
			add(set, names.items[i], value.value);
	}
	return result;
}

static void read_lifespan(struct counters *counters, struct origin *origin, const struct endpoint_facts *facts)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "sys/class/infiniband/%s/ports/%d/hw_counters/lifespan", facts->device,
	        (int)facts->port.value);
	struct num lifespan = origin_number(origin, path, 10);
	int64_t ms = lifespan.known && lifespan.value >= 0 ? lifespan.value : LIFESPAN_DEFAULT_MS;
	counters->lifespan_ns = (ms < LIFESPAN_LIMIT_MS ? ms : LIFESPAN_LIMIT_MS) * 1000000;
}

/* ---- looks ---- */

static void wait_until_fresh(const struct counters *counters, const struct probe_run *run)
{
	int64_t wait = counters->taken_ns + counters->lifespan_ns + MARGIN_NS - run_now(run);
	if (counters->taken_ns && wait > 0)
		nanosleep(&(struct timespec){ .tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000 }, NULL);
}

static struct counter_set *look(struct counters *counters, struct origin *origin, struct probe_run *run, int side)
{
	struct endpoint_facts *facts = run_facts(run, side);
	struct counter_set *set = calloc(1, sizeof(*set));
	if (!set || !facts->device || !facts->port.known) {
		free(set);
		return NULL;
	}
	wait_until_fresh(counters, run);
	run_enter(run, "reading counters", STEP_LIMIT_MS);
	int result = read_netlink(origin, facts->device, (uint32_t)facts->port.value, set);
	if (result)
		result = read_directory(origin, run->arena, facts, "hw_counters", set);
	int other = read_directory(origin, run->arena, facts, "counters", set);
	run_leave(run);
	counters->taken_ns = run_now(run);
	if (set->count)
		return set;
	report_missing(&run->report, "counters", facts->device, result ? result : other, NULL);
	free(set);
	return NULL;
}

void counters_baseline(struct counters *counters, struct origin *origin, struct probe_run *run, int side)
{
	*counters = (struct counters){ 0 };
	if (run_facts(run, side)->device)
		read_lifespan(counters, origin, run_facts(run, side));
	counters->quiet = look(counters, origin, run, side);
}

void counters_before(struct counters *counters, struct origin *origin, struct probe_run *run, int side)
{
	counters->before = look(counters, origin, run, side);
}

static const struct counter_value *find(const struct counter_set *set, const char *name)
{
	for (size_t i = 0; set && i < set->count; i++)
		if (!strcmp(set->values[i].name, name))
			return &set->values[i];
	return NULL;
}

/* Traffic that there was none of, and a timer of mlx5 that never expired, are facts too. */
static bool tells_by_standing_still(const char *name)
{
	const struct counter_explanation *known = explain_counter(name);
	static const char *const timers[] = { "local_ack_timeout_err", "roce_adp_retrans", "roce_adp_retrans_to" };
	for (size_t i = 0; i < ARRAY_SIZE(timers); i++)
		if (!strcmp(name, timers[i]))
			return true;
	return known && known->kind == COUNTER_TRAFFIC;
}

static void keep_change(
        const struct counters *counters, struct probe_run *run, int side, const struct counter_value *after)
{
	const struct counter_value *before = find(counters->before, after->name);
	if (!before || (before->value == after->value && !tells_by_standing_still(after->name)))
		return;
	const struct counter_value *quiet = find(counters->quiet, after->name);
	struct counter_change *change = list_add(run->arena, &run_evidence(run)->counters);
	if (change)
		*change = (struct counter_change){
			.side = side,
			.name = arena_strdup(run->arena, after->name),
			.before = num(before->value),
			.after = num(after->value),
			.quiet = quiet ? flag(quiet->value == before->value) : FLAG_UNKNOWN,
		};
}

void counters_after(struct counters *counters, struct origin *origin, struct probe_run *run, int side)
{
	if (!counters->before)
		return;
	counters->after = look(counters, origin, run, side);
	for (size_t i = 0; counters->after && i < counters->after->count; i++)
		keep_change(counters, run, side, &counters->after->values[i]);
}

void counters_free(struct counters *counters)
{
	free(counters->quiet);
	free(counters->before);
	free(counters->after);
	*counters = (struct counters){ 0 };
}
