/* SPDX-License-Identifier: MIT */
/* Initiator and target in one process: two queue pairs of one device, or of two devices of this host. */
#include "base/cleanup.h"
#include "probe/cm.h"
#include "probe/contrast.h"
#include "probe/counters.h"
#include "probe/endpoint.h"
#include "probe/lag.h"
#include "probe/layout.h"
#include "probe/session.h"
#include "probe/target.h"
#include "probe/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_LIMIT ((size_t)1 << 32)

struct pair {
	struct probe_run *run;
	struct endpoint initiator, target_end;
	struct counters counters[2];
	struct layout layout;
	struct target target;
	struct transfer transfer;
	uint32_t lag_member; /* to bind both queue pairs to, from 1; 0: as the driver chose */
};

static int open_ends(struct pair *pair, struct error *error)
{
	struct probe_run *run = pair->run;
	const struct probe_settings *settings = run->settings;
	struct endpoint_wish wish = { .device = &settings->device, .gid_index = settings->request.gid_index };
	run_facts(run, SIDE_LOCAL)->role = ROLE_INITIATOR;
	run_facts(run, SIDE_REMOTE)->role = ROLE_TARGET;
	int result = endpoint_open(&pair->initiator, run, SIDE_LOCAL, &wish, error);
	if (result)
		return result;
	bool two = settings->request.mode == MODE_TWO_DEVICES;
	struct device_choice same = { .port = num(pair->initiator.port) };
	strncpy(same.name, run_facts(run, SIDE_LOCAL)->device, sizeof(same.name) - 1);
	struct endpoint_wish other = {
		.device = two ? &settings->target : &same,
		.gid_index =
		        two || run->deviation.empty_gid ? (struct num){ 0 } : run_facts(run, SIDE_LOCAL)->gid_index,
		.gid_type = run_facts(run, SIDE_LOCAL)->gid_type,
	};
	result = endpoint_open(&pair->target_end, run, SIDE_REMOTE, &other, error);
	if (result)
		return result;
	struct evidence *evidence = run_evidence(run);
	const char *device = run_facts(run, SIDE_LOCAL)->device;
	evidence->same_port_loopback = flag(
	        !strcmp(device, run_facts(run, SIDE_REMOTE)->device) && pair->initiator.port == pair->target_end.port);
	if (evidence->same_port_loopback == FLAG_YES)
		survey_other_ports(run->survey, run->arena, device, pair->initiator.port, &evidence->other_ports);
	return 0;
}

static void look_at_counters(struct pair *pair,
        void (*look)(struct counters *counters, struct origin *origin, struct probe_run *run, int side))
{
	look(&pair->counters[0], pair->initiator.origin, pair->run, SIDE_LOCAL);
	/* In loopback on one port the counters are the same. */
	if (run_evidence(pair->run)->same_port_loopback != FLAG_YES)
		look(&pair->counters[1], pair->target_end.origin, pair->run, SIDE_REMOTE);
}

/* The target's acknowledgements take the same member, where it has one of that number. */
static int bind_ends(struct pair *pair, struct error *error)
{
	if (lag_members(pair->target_end.context) >= pair->lag_member)
		lag_bind(pair->target_end.qps[0], pair->lag_member);
	int result = lag_bind(pair->initiator.qps[0], pair->lag_member);
	return result ? error_set(error, result, "binding the queue pair to member %u of the LAG", pair->lag_member)
	              : 0;
}

static int connect_ends(struct pair *pair, struct error *error)
{
	if (cm_is_needed(&pair->initiator) && cm_is_needed(&pair->target_end))
		return cm_connect_pair(&pair->initiator, &pair->target_end, error);
	int result = endpoint_connect(&pair->target_end, pair->initiator.facts, error);
	return result ? result : endpoint_connect(&pair->initiator, pair->target_end.facts, error);
}

static int make_ends(struct pair *pair, struct error *error)
{
	struct probe_run *run = pair->run;
	int result = session_default_sizes(run, run_facts(run, SIDE_LOCAL)->active_mtu.value);
	uint64_t seed = run->epoch_ns ^ (uint64_t)getpid() << 48;
	result = result ? result : layout_make(&pair->layout, &run->document.request, seed, BUFFER_LIMIT);
	if (result)
		return error_set(error, result, "the buffer for these sizes");
	result = endpoint_create(&pair->initiator, &pair->layout, error);
	result = result ? result : endpoint_create(&pair->target_end, &pair->layout, error);
	result = result ? result : connect_ends(pair, error);
	result = result || !pair->lag_member ? result : bind_ends(pair, error);
	return result ? result : target_prepare(&pair->target, &pair->target_end, &pair->layout, error);
}

static void meanwhile(void *data)
{
	struct pair *pair = data;
	target_look(&pair->target);
	endpoint_events(&pair->target_end);
}

/* Everything that can be learnt after the last request, whatever became of it. */
static void gather(struct pair *pair, bool ended_badly)
{
	struct probe_run *run = pair->run;
	struct endpoint *ends[] = { &pair->initiator, &pair->target_end };
	for (size_t i = 0; ended_badly && i < ARRAY_SIZE(ends); i++)
		endpoint_sample(ends[i], true);
	if (ended_badly) {
		transfer_inspect(&pair->transfer, true);
		session_sleep(run, endpoint_retry_ns(pair->initiator.facts, 0) * 3 / 2);
		transfer_inspect(&pair->transfer, false);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		endpoint_sample(ends[i], false);
		endpoint_events(ends[i]);
	}
	look_at_counters(pair, counters_after);
	if (pair->transfer.endpoint)
		transfer_look_again(&pair->transfer);
	if (!pair->target.layout)
		return;
	target_verify(&pair->target, pair->transfer.posted);
	landings_apply(&pair->target.landings, pair->target.layout, run);
}

static void try_members(struct pair *pair);

static int run_pair(struct pair *pair, struct error *error)
{
	struct probe_run *run = pair->run;
	int result = open_ends(pair, error);
	if (result)
		return result;
	look_at_counters(pair, counters_baseline);
	result = make_ends(pair, error);
	look_at_counters(pair, counters_before);
	pair->transfer.meanwhile = meanwhile;
	pair->transfer.data = pair;
	if (!result && run->deviation.target_vanishes)
		endpoint_vanish(&pair->target_end);
	if (!result)
		result = transfer_run(&pair->transfer, &pair->initiator, pair->target_end.facts, &pair->layout);
	session_observers(run, &pair->initiator, "peer");
	gather(pair, result != 0);
	session_device(run, &pair->initiator);
	transfer_finish(&pair->transfer);
	if (!result && run->document.request.tcp == FLAG_YES && !run->outer)
		contrast_run(run, &pair->layout, NULL);
	if (!pair->lag_member && pair->transfer.posted)
		try_members(pair);
	return result;
}

static void close_pair(struct pair *pair)
{
	endpoint_close(&pair->initiator);
	endpoint_close(&pair->target_end);
	counters_free(&pair->counters[0]);
	counters_free(&pair->counters[1]);
}

/* ---- RoCE LAG ---- */

/* A whole run of its own over one member, one request of each size. */
static void try_member(struct probe_run *run, struct lag_member *member)
{
	autofree struct pair *pair = calloc(1, sizeof(*pair));
	struct probe_run *part = run_part(run);
	if (!pair || !part)
		return;
	struct error error = { 0 };
	part->document.request = run->document.request;
	part->document.request.count = num(1);
	pair->run = part;
	pair->lag_member = (uint32_t)member->port.value;
	run_enter(run, "trying a member of the LAG", run->document.request.timeout_ms.value * 4 + STEP_LIMIT_MS);
	run_failed(part, run_pair(pair, &error), &error);
	lag_conclude(part, member);
	close_pair(pair);
	run_leave(run);
}

static void try_members(struct pair *pair)
{
	struct probe_run *run = pair->run;
	uint32_t count = lag_members(pair->initiator.context);
	for (uint32_t port = 1; port <= count && !run_stopped(run); port++) {
		struct lag_member *member = list_add(run->arena, &run_evidence(run)->lag_members);
		if (!member)
			return;
		*member = (struct lag_member){ .port = num(port) };
		try_member(run, member);
	}
}

/* ---- */

int session_local(struct probe_run *run)
{
	autofree struct pair *pair = calloc(1, sizeof(*pair));
	if (!pair)
		return -ENOMEM;
	pair->run = run;
	struct error error = { 0 };
	int result = run_failed(run, run_pair(pair, &error), &error);
	close_pair(pair);
	return result;
}
