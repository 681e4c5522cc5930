/* SPDX-License-Identifier: MIT */
/* Everything completed with right bytes, and something else in the record speaks against calling it well. */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <inttypes.h>

/* The peer's timer counts. What nobody set is code 0, the longest (rdma_cm leaves it so). */
static int64_t rnr_timer_of_peer(const struct judge *judge)
{
	struct num code = judge->evidence->remote.min_rnr_timer;
	return rnr_timer_ns(code.known ? code.value : 0);
}

/* Waits of whole RNR timers. */
static int64_t rnr_waits(const struct judge *judge, const struct operation *operation)
{
	int64_t timer = rnr_timer_of_peer(judge), latency = arrival_latency_ns(operation);
	/* Short timers drown in scheduling. */
	const int64_t visible_ns = 10000000;
	if (!needs_receive(operation) || timer < visible_ns || latency < timer)
		return 0;
	int64_t waits = latency / timer;
	return latency % timer <= timer / 10 ? waits : 0;
}

static bool judge_counted_not_ready(struct judge *judge)
{
	bool needed = false;
	list_each(operation, &judge->evidence->operations)
		needed |= is_success(operation) && needs_receive(operation);
	if (!needed || !counted_not_ready(judge, false))
		return false;
	summarize(judge, "it worked, but receives of the peer were missing meanwhile");
	next_step(judge, "post receives earlier; how long each refusal costs is the peer's min_rnr_timer");
	layer_set set = L(REMOTE_APPLICATION) | L(REMOTE_DEVICE);
	return counted_not_ready(judge, true) ? likely(judge, OUTCOME_DEGRADED, LAYER_REMOTE_APPLICATION, set)
	                                      : undetermined(judge, OUTCOME_DEGRADED, set);
}

static bool judge_not_ready(struct judge *judge)
{
	const struct operation *slow = NULL;
	list_each(operation, &judge->evidence->operations)
		if (is_success(operation) && rnr_waits(judge, operation) && !slow)
			slow = operation;
	bool counted = counter_moved(judge, SIDE_LOCAL, COUNTER_NOT_READY, false) ||
	               counter_moved(judge, SIDE_REMOTE, COUNTER_NOT_READY, false);
	if (!slow)
		return judge_counted_not_ready(judge);
	char took[DURATION_TEXT_SIZE], timer[DURATION_TEXT_SIZE];
	because(judge, "an operation took %s, about %" PRId64 " time%s the RNR timer of the peer (%s)",
	        format_duration(latency_ns(slow), took), rnr_waits(judge, slow), plural(rnr_waits(judge, slow)),
	        format_duration(rnr_timer_of_peer(judge), timer));
	if (!judge->evidence->remote.min_rnr_timer.known)
		not_observed(
		        judge, "the peer's min_rnr_timer: that is the time of code 0, which nobody has to have set");
	summarize(judge, "it worked, but waited for a receive of the peer");
	next_step(judge, "post receives earlier, and set min_rnr_timer to a small value: code 0 means 655.36 ms");
	if (counted)
		return likely(judge, OUTCOME_DEGRADED, LAYER_REMOTE_APPLICATION, L(NETWORK) | L(CONFIGURATION));
	not_observed(judge, "counters of missing receives that rose on either side");
	/* By the time alone: whatever delays a completion may happen to take as long. */
	return undetermined(judge, OUTCOME_DEGRADED,
	        L(REMOTE_APPLICATION) | L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(DEVICE) |
	                delaying_layers(judge, slow));
}

static bool judge_flap(struct judge *judge)
{
	if (!own_event(judge, SIDE_LOCAL, "PORT_ERR") && !own_event(judge, SIDE_REMOTE, "PORT_ERR"))
		return false;
	summarize(judge, "it worked, but the port went down in between");
	next_step(judge, "look at cable, module and switch port");
	return undetermined_link(judge, OUTCOME_DEGRADED, L(CONFIGURATION) | L(DEVICE) | L(REMOTE_DEVICE));
}

/* What is on one port, or on one host, works without a wire. Nothing that is to cross it will. */
static bool judge_port_is_down(struct judge *judge)
{
	int side = is_port_down(&judge->evidence->local) ? SIDE_LOCAL : SIDE_REMOTE;
	const struct endpoint_facts *end = endpoint(judge, side);
	if (!is_port_down(end))
		return false;
	because(judge, "%s completed successfully", all_operations(judge, success_count(judge)));
	judge_port_down(judge, OUTCOME_DEGRADED);
	summarize(judge, "it worked although %s port is %s: over the wire nothing will pass",
	        side == SIDE_REMOTE ? "the peer's" : "the",
	        end->port_state_after ? end->port_state_after : end->port_state);
	return true;
}

/* Events after which a queue pair, or the adapter, is not in order any more. */
const struct async_event *error_event(const struct judge *judge, int side)
{
	static const char *const errors[] = { "DEVICE_FATAL", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "CQ_ERR",
		"SRQ_ERR", "WQ_FATAL", "PATH_MIG_ERR" };
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		const struct async_event *event = own_event(judge, side, errors[i]);
		if (event)
			return event;
	}
	return NULL;
}

static bool judge_error_event(struct judge *judge)
{
	const struct async_event *event = error_event(judge, SIDE_LOCAL);
	event = event ? event : error_event(judge, SIDE_REMOTE);
	if (!event)
		return false;
	const struct explanation *text = &explain_event(event->event)->text;
	because(judge, "%s had completed successfully", all_operations(judge, success_count(judge)));
	because(judge, "%s: %s", event->event, text->meaning);
	summarize(judge, "every request succeeded, and %s of %s says that something broke", event->event,
	        event->side == SIDE_REMOTE ? "the peer" : "this side");
	if (text->next)
		next_step(judge, "%s", text->next);
	return undetermined(judge, OUTCOME_DEGRADED, layers_of_side(judge, event->side, text->layers));
}

/* Every request has its completion, and there was one too many: whoever counts completions is misled by it. */
static bool judge_surplus(struct judge *judge)
{
	if (!tell_foreign(judge))
		return false;
	summarize(judge, "every request succeeded, and a completion came that belongs to none");
	return undetermined(judge, OUTCOME_DEGRADED, L(PROVIDER) | L(PLATFORM) | L(DEVICE));
}

bool all_succeeded(const struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	bool failures = evidence->operations_failed.known && evidence->operations_failed.value > 0;
	failures |= evidence->flushes.known && evidence->flushes.value > 0;
	return judge->succeeded && judge->succeeded == judge->posted && !failures;
}

static bool judge_not_arrived(struct judge *judge)
{
	const struct operation *lost = NULL;
	list_each(operation, &judge->evidence->operations)
		if (has_not_arrived(judge, operation) && !lost)
			lost = operation;
	if (!lost)
		return false;
	because(judge, "the %s succeeded, which on iWARP says that TCP has taken it, and the target has nothing of it",
	        request_words(judge, lost->opcode, lost->bytes));
	tell_counters(judge);
	summarize(judge, "it was sent, and has not arrived");
	next_step(
	        judge, "look at the iWARP connection on %s (ss -ti), and at packet filters for TCP", both_hosts(judge));
	return undetermined(judge, OUTCOME_FAILED,
	        L(NETWORK) | L(CONFIGURATION) | L(DEVICE) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION));
}

bool rule_degraded(struct judge *judge)
{
	if (!all_succeeded(judge))
		return false;
	if (judge_not_arrived(judge))
		return true;
	tell_events(judge);
	tell_counters(judge);
	bool degraded = judge_error_event(judge) || judge_member(judge) || judge_not_ready(judge) ||
	                judge_flap(judge) || judge_retried(judge) || judge_late(judge) || judge_surplus(judge) ||
	                judge_slow(judge) || judge_port_is_down(judge);
	if (degraded)
		tell_gaps(judge, judge->evidence->operations.items[0]);
	return degraded;
}
