/* SPDX-License-Identifier: MIT */
/* Everything completed: were the bytes right, was it in time, and is there anything left to say. */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What the target counted, of requests that are not listed one by one, or not verified so. */
static void tell_payloads(struct judge *judge)
{
	list_each(of_size, &judge->evidence->payloads) {
		const struct num *wrong = &of_size->wrong, *untouched = &of_size->untouched;
		if (!of_size->bytes.known)
			continue;
		if (wrong->known && wrong->value > 0)
			because(judge, "of the payloads of %" PRId64 " bytes %" PRId64 " %s wrong",
			        of_size->bytes.value, wrong->value, wrong->value == 1 ? "is" : "are");
		if (untouched->known && untouched->value > 0)
			because(judge, "in %" PRId64 " place%s for payloads of %" PRId64 " bytes nothing arrived",
			        untouched->value, plural(untouched->value), of_size->bytes.value);
	}
}

bool rule_corrupt(struct judge *judge)
{
	const struct lag_member *member = judge->wrong ? NULL : corrupting_member(judge);
	if (!judge->wrong && !member)
		return false;
	if (member)
		because(judge, "wrong bytes arrived over %s", member_words(judge, member));
	because(judge, "an operation succeeded, and the bytes in the target's memory are not those that were sent");
	tell_payloads(judge);
	if (judge->failed)
		because(judge, "another operation failed as well; wrong data outweighs it");
	tell_counters(judge);
	tell_gaps(judge, judge->wrong);
	summarize(judge, "the operation succeeded, and the payload is wrong");
	not_observed(
	        judge, "where the bytes changed: between the source's memory and adapter, or between the target's");
	next_step(judge, "repeat with buffers on the adapters' own nodes, then look at IOMMU, ACS and relaxed ordering "
	                 "on both hosts");
	layer_set set = L(PLATFORM) | L(DEVICE) | L(REMOTE_DEVICE);
	/* The library copied them into the request. */
	if (judge->wrong && judge->wrong->is_inline == FLAG_YES)
		set |= L(PROVIDER);
	return undetermined(judge, OUTCOME_CORRUPT, set);
}

/* ---- late or with retries ---- */

/* The peer's timer counts. What nobody set is code 0, the longest (rdma_cm leaves it so). */
static int64_t rnr_timer_of_peer(const struct judge *judge)
{
	struct num code = judge->evidence->remote.min_rnr_timer;
	return rnr_timer_ns(code.known ? code.value : 0);
}

/* Waits of whole RNR timers. */
static int64_t rnr_waits(const struct judge *judge, const struct operation *operation)
{
	int64_t timer = rnr_timer_of_peer(judge), latency = latency_ns(operation);
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
	return undetermined(judge, OUTCOME_DEGRADED,
	        L(REMOTE_APPLICATION) | L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(DEVICE));
}

static const char take_netem_away[] = "take netem away where it is not meant (tc qdisc show dev NETDEV)";

/* What netem holds each packet back on its way out of that host, as the record words it ("delay 60.0 ms"); 0: nothing.
 */
static int64_t held_back_ns(const struct endpoint_facts *end)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	const char *netem = is_software(end) && end->filter ? strstr(end->filter, "netem") : NULL;
	const char *delay = netem ? strstr(netem, "delay ") : NULL;
	double value;
	char unit[4];
	if (!delay || sscanf(delay, "delay %lf %3[a-z]", &value, unit) != 2 || !(value > 0) || value > 1e6)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].name))
			return (int64_t)(value * units[i].ns);
	return 0;
}

/* There and back: netem of both hosts. True when that is most of what was waited. */
static bool tell_held_back(struct judge *judge, int64_t waited_ns)
{
	const struct endpoint_facts *ends[] = { &judge->evidence->local, &judge->evidence->remote };
	int64_t sum = 0;
	for (int i = 0; i < 2; i++) {
		int64_t delay = held_back_ns(ends[i]);
		char text[DURATION_TEXT_SIZE];
		sum += delay;
		if (delay)
			because(judge, "netem of %s holds each packet back for %s", i ? "the peer's host" : "this host",
			        format_duration(delay, text));
	}
	return sum && sum >= waited_ns / 2;
}

/* Known to have been noisy before, a counter says nothing; a record without any baseline has nothing against it. */
static bool retried_by_counters(const struct judge *judge)
{
	list_each(counter, &judge->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		if (meaning && meaning->kind == COUNTER_RETRY && has_grown(counter) && counter->quiet != FLAG_NO)
			return true;
	}
	return false;
}

/* An operation that took at least one ACK timeout, while retry counters moved; or moved after a quiet baseline. */
static bool judge_retried(struct judge *judge)
{
	int64_t timeout = ack_timeout_ns(&judge->evidence->local);
	bool slow = false;
	list_each(operation, &judge->evidence->operations)
		slow |= is_success(operation) && timeout && latency_ns(operation) >= timeout;
	bool moved = counter_moved(judge, SIDE_LOCAL, COUNTER_RETRY, false) ||
	             counter_moved(judge, SIDE_REMOTE, COUNTER_RETRY, false);
	bool quiet = retried_by_counters(judge);
	if (!quiet && !(slow && moved))
		return false;
	if (slow)
		because(judge, "an operation took longer than the ACK timeout of the queue pair");
	if (timeout && tell_held_back(judge, timeout)) {
		summarize(judge,
		        "it worked, but packets had to be sent again: netem holds them back for as long as the "
		        "queue pair waits");
		next_step(judge, "%s", take_netem_away);
		return likely(judge, OUTCOME_DEGRADED, LAYER_CONFIGURATION, L(NETWORK) | L(REMOTE_DEVICE) | L(DEVICE));
	}
	if (judge_filter(judge, OUTCOME_DEGRADED, L(NETWORK) | L(REMOTE_DEVICE) | L(DEVICE))) {
		summarize(judge,
		        "it worked, but packets had to be sent again, and a filter or queueing discipline dropped "
		        "some");
		return true;
	}
	summarize(judge, "it worked, but packets had to be sent again");
	next_step(judge, "%s",
	        judge->evidence->same_port_loopback == FLAG_YES
	                ? inside_the_adapter
	                : "look at drops, pause and ECN on the way; packets out of order may come from adaptive "
	                  "routing");
	return undetermined(judge, OUTCOME_DEGRADED, L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(DEVICE));
}

/* When the wait for it ended: the deadline of the run, else what was asked for. INT64_MAX: nobody knows. */
static int64_t wait_end(const struct judge *judge, const struct operation *operation)
{
	struct num deadline = judge->evidence->deadline_ns, asked = judge->request->timeout_ms;
	if (deadline.known)
		return deadline.value;
	bool sane =
	        asked.known && asked.value > 0 && asked.value < INT64_MAX / 1000000 && operation->post_call_ns.known;
	int64_t end;
	if (!sane || __builtin_add_overflow(operation->post_call_ns.value, asked.value * 1000000, &end))
		return INT64_MAX;
	return end;
}

enum landing { LANDING_UNKNOWN, LANDED_AT_ONCE, LANDED_AT_LAST };

/*
 * When the payload was in the peer's memory, as a part of the time until the completion: in the first tenth of it, or
 * not before the last. Times of the peer count with the error of its clock.
 */
static enum landing landing_of(const struct judge *judge, const struct operation *operation)
{
	const struct clock_offset *clock = judge->evidence->clock;
	bool one_clock = !clock && judge->evidence->same_port_loopback == FLAG_YES;
	bool comparable = one_clock || (clock && clock->offset_ns.known && clock->error_ns.known);
	int64_t latency = latency_ns(operation);
	if (!comparable || !operation->post_call_ns.known || latency < 0)
		return LANDING_UNKNOWN;
	int64_t offset = one_clock ? 0 : clock->offset_ns.value, error = one_clock ? 0 : clock->error_ns.value;
	int64_t start = operation->post_call_ns.value;
	struct num seen = operation->remote_landed_ns, not_before = operation->remote_landed_not_before_ns;
	if (seen.known && difference(difference(seen.value, offset), start) < difference(latency / 10, error))
		return LANDED_AT_ONCE;
	if (not_before.known && difference(difference(not_before.value, offset), start) >
	                                difference(latency - latency / 10, difference(0, error)))
		return LANDED_AT_LAST;
	return LANDING_UNKNOWN;
}

/* Before the completion was in its queue. The peer's program has no part in it where no receive is needed. */
static layer_set layers_on_the_way(const struct judge *judge, const struct operation *operation)
{
	layer_set way = WHOLE_PATH | L(KERNEL);
	if (!needs_receive(operation) && operation->opcode != OP_UNKNOWN)
		way &= ~L(REMOTE_APPLICATION);
	if (landing_of(judge, operation) != LANDED_AT_ONCE)
		return way;
	/* What is left is the way of the acknowledgement and of the completion. */
	way &= ~(L(PROVIDER) | L(REMOTE_APPLICATION));
	return is_software(&judge->evidence->local) || is_software(&judge->evidence->remote) ? way : way & ~L(KERNEL);
}

/*
 * Who may have kept a completion that came in the end: everything on the way, and the poller too. Where it is known to
 * have arrived, the larger part of the wait says on which side of the completion queue to look.
 */
static layer_set delaying_layers(const struct judge *judge, const struct operation *operation)
{
	const layer_set way = layers_on_the_way(judge, operation),
	                taking = L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(PLATFORM);
	const struct notification_facts *notification = judge->evidence->notification;
	int64_t latency = latency_ns(operation);
	/* Found by the last look of all, which is not when it arrived. */
	bool found = notification && notification->found_at_end == FLAG_YES && operation->found_unnotified == FLAG_YES;
	if (!operation->cqe_arrived_ns.known || !operation->post_call_ns.known || latency < 0)
		return way | taking;
	int64_t arrival = difference(operation->cqe_arrived_ns.value, operation->post_call_ns.value);
	if (arrival < latency / 10)
		return taking;
	return arrival > latency - latency / 10 && !found ? way : way | taking;
}

/* The slowest that took this long, and more than a slow link takes for all that was posted with it; NULL: none did. */
static const struct operation *slowest_from(const struct judge *judge, int64_t least_ns)
{
	const int64_t ns_a_byte = 100;
	const struct operation *slow = NULL;
	int64_t bytes = 0;
	list_each(operation, &judge->evidence->operations)
		if (operation->bytes.known && operation->bytes.value > 0 && bytes < INT64_MAX / 2 / ns_a_byte)
			bytes += operation->bytes.value < INT32_MAX ? operation->bytes.value : INT32_MAX;
	int64_t limit = least_ns + bytes * ns_a_byte;
	list_each(operation, &judge->evidence->operations)
		if (is_success(operation) && latency_ns(operation) >= limit &&
		        (!slow || latency_ns(operation) > latency_ns(slow)))
			slow = operation;
	return slow;
}

/* The part of the way that took most of the time, as far as there are times of its stages. */
static void tell_longest_part(struct judge *judge, const struct operation *operation)
{
	const struct {
		struct num from, to;
		const char *words;
	} parts[] = {
		{ operation->post_call_ns, operation->post_return_ns, "in the call that posts it" },
		{ operation->post_return_ns, operation->cqe_arrived_ns,
		        "after it was posted and before its completion was in the completion queue" },
		{ operation->cqe_arrived_ns, operation->cqe_consumed_ns,
		        "with its completion in the completion queue, before it was polled" },
		/* Where nobody watched the queue. */
		{ operation->cqe_arrived_ns.known ? (struct num){ 0 } : operation->post_return_ns,
		        operation->cqe_consumed_ns,
		        "after it was posted; nobody saw whether before its completion was there, or before it was "
		        "polled" },
	};
	int64_t longest = 0;
	const char *words = NULL;
	bool on_the_way = false;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!parts[i].from.known || !parts[i].to.known ||
		        difference(parts[i].to.value, parts[i].from.value) <= longest)
			continue;
		longest = difference(parts[i].to.value, parts[i].from.value);
		words = parts[i].words;
		on_the_way = i == 1;
	}
	char took[DURATION_TEXT_SIZE];
	if (words)
		because(judge, "%s of that time passed %s", format_duration(longest, took), words);
	enum landing landing = on_the_way ? landing_of(judge, operation) : LANDING_UNKNOWN;
	if (landing == LANDED_AT_ONCE)
		because(judge, "its payload was in the peer's memory in the first tenth of that: late is the "
		               "acknowledgement or the completion");
	else if (landing == LANDED_AT_LAST)
		because(judge, "its payload came to the peer's memory in the last tenth of that: late is the request");
}

static bool judge_late(struct judge *judge)
{
	const struct operation *late = NULL;
	list_each(operation, &judge->evidence->operations) {
		struct num end =
		        operation->cqe_consumed_ns.known ? operation->cqe_consumed_ns : operation->cqe_arrived_ns;
		if (end.known && end.value >= wait_end(judge, operation) && is_success(operation) && !late)
			late = operation;
	}
	if (!late)
		return false;
	char took[DURATION_TEXT_SIZE];
	int64_t latency = latency_ns(late);
	because(judge, "an operation succeeded after the deadline%s%s", latency >= 0 ? ", after " : "",
	        latency >= 0 ? format_duration(latency, took) : "");
	tell_longest_part(judge, late);
	summarize(judge, "it succeeded, but only after the deadline");
	if (late->cqe_arrived_ns.known && late->cqe_arrived_ns.value < wait_end(judge, late)) {
		because(judge, "its completion had arrived before the deadline, and was taken after it");
		summarize(judge, "its completion was there in time, and was taken too late");
		if (late->found_unnotified == FLAG_YES)
			return judge_unnotified(judge, OUTCOME_DEGRADED);
	}
	next_step(judge, "run it again with a longer --timeout and watch the counters");
	/* The completion came, so it was published and executed at last; nothing says what it waited for. */
	return undetermined(judge, OUTCOME_DEGRADED, delaying_layers(judge, late));
}

/* Not long enough to call it degraded, and too long to be silent about. */
static void tell_slowest(struct judge *judge)
{
	/* Software devices wait for their turn on a CPU as any program does. */
	bool software = is_software(&judge->evidence->local) || is_software(&judge->evidence->remote);
	const int64_t noticeable_ns = software ? 100000000 : 10000000;
	const struct operation *slow = slowest_from(judge, noticeable_ns);
	if (!slow)
		return;
	char took[DURATION_TEXT_SIZE];
	because(judge, "the slowest request, a %s, took %s: far longer than usual, which is less than a millisecond",
	        request_words(judge, slow->opcode, slow->bytes), format_duration(latency_ns(slow), took));
	tell_longest_part(judge, slow);
	(void)tell_held_back(judge, latency_ns(slow));
}

/* Longer than a second for a message. */
static bool judge_slow(struct judge *judge)
{
	const struct operation *slow = slowest_from(judge, 1000000000);
	if (!slow)
		return false;
	char took[DURATION_TEXT_SIZE];
	because(judge, "the %s took %s, far longer than its size explains",
	        request_words(judge, slow->opcode, slow->bytes), format_duration(latency_ns(slow), took));
	tell_longest_part(judge, slow);
	summarize(judge, "it worked, but took very long");
	if (tell_held_back(judge, latency_ns(slow))) {
		summarize(judge, "it worked, but took very long: netem holds packets back");
		next_step(judge, "%s", take_netem_away);
		return likely(judge, OUTCOME_DEGRADED, LAYER_CONFIGURATION, delaying_layers(judge, slow));
	}
	next_step(judge, "run it again and compare the times: a stage that is always long is the one to look at");
	return undetermined(judge, OUTCOME_DEGRADED, delaying_layers(judge, slow));
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
static const struct async_event *error_event(const struct judge *judge, int side)
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
	because(judge, "%s had completed successfully", all_operations(judge, judge->succeeded));
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

static bool all_succeeded(const struct judge *judge)
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
	next_step(judge, "look at the iWARP connection on both hosts (ss -ti), and at packet filters for TCP");
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
	                judge_retried(judge) || judge_late(judge) || judge_flap(judge) || judge_surplus(judge) ||
	                judge_slow(judge) || judge_port_is_down(judge);
	if (degraded)
		tell_gaps(judge, judge->evidence->operations.items[0]);
	return degraded;
}

/* ---- right ---- */

/* The side that only listens has no operations of its own: the peer's word is all it knows. */
static bool judge_target(struct judge *judge)
{
	bool served = false;
	list_each(step, &judge->evidence->control)
		served |= text_is(step->step, "ok") && num_is(step->error, 0);
	if (judge->evidence->local.role != ROLE_TARGET || !served || judge->evidence->operations.count)
		return false;
	because(judge, "the peer ran its operations, and what it announced was found in this side's buffer");
	summarize(judge, "a peer was served");
	not_observed(judge, "the operations themselves: they are in the peer's document");
	tell_network(judge);
	return likely(judge, OUTCOME_OK, LAYER_NONE, 0);
}

/* What was verified of a small message says nothing of a larger one, which goes in several packets. */
static bool has_unverified_size(const struct judge *judge)
{
	int64_t verified = -1, largest = -1;
	list_each(operation, &judge->evidence->operations) {
		int64_t bytes = operation->bytes.known ? operation->bytes.value : -1;
		largest = bytes > largest ? bytes : largest;
		if (payload_is_right(operation) && bytes > verified)
			verified = bytes;
	}
	list_each(of_size, &judge->evidence->payloads) {
		int64_t bytes = of_size->bytes.known ? of_size->bytes.value : -1;
		largest = bytes > largest ? bytes : largest;
		if (of_size->right.known && of_size->right.value > 0 && bytes > verified)
			verified = bytes;
	}
	return verified < largest;
}

/* What speaks of requests that are not listed, and does not say that all of them went well. */
static bool has_doubtful_rest(const struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	list_each(of_size, &evidence->payloads)
		if ((of_size->wrong.known && of_size->wrong.value > 0) ||
		        (of_size->untouched.known && of_size->untouched.value > 0))
			return true;
	struct num posted = posted_count(evidence);
	return omitted_count(evidence) > 0 && posted.known &&
	       (!evidence->operations_completed.known || posted.value > done_count(evidence));
}

/* A connection of iWARP that the other end closes takes the queue pair to ERR: there it is how a run ends. */
static bool ended_in_error(struct judge *judge)
{
	bool in_error = false;
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++) {
		const struct endpoint_facts *end = endpoint(judge, side);
		if (is_iwarp(end) || (!text_is(end->qp_state, "ERR") && !text_is(end->qp_state, "SQE")))
			continue;
		not_observed(judge, "what brought %s queue pair to %s after the operations had succeeded",
		        side == SIDE_REMOTE ? "the peer's" : "the local", end->qp_state);
		in_error = true;
	}
	return in_error;
}

bool rule_ok(struct judge *judge)
{
	if (judge_target(judge) || judge_counted(judge))
		return true;
	if (!all_succeeded(judge))
		return false;
	tell_slowest(judge);
	because(judge, "%" PRId64 " operation%s completed successfully", success_count(judge),
	        plural(success_count(judge)));
	tell_network(judge);
	bool whole = judge->evidence->interrupted != FLAG_YES;
	if (has_doubtful_rest(judge)) {
		not_observed(judge,
		        "what became of all requests that are not listed: the counts do not say that all went well");
		summarize(judge, "all operations that are listed succeeded; of the others that is not known");
		return likely(judge, OUTCOME_OK, LAYER_NONE, 0);
	}
	if (error_event(judge, SIDE_UNKNOWN)) {
		not_observed(judge, "on which side the event %s came, and whether it is of this run",
		        error_event(judge, SIDE_UNKNOWN)->event);
		summarize(judge, "all operations succeeded, and an event of an unknown side tells of an error");
		return likely(judge, OUTCOME_OK, LAYER_NONE, 0);
	}
	if (ended_in_error(judge)) {
		summarize(judge, "all operations succeeded, and a queue pair is in error now");
		return likely(judge, OUTCOME_OK, LAYER_NONE, 0);
	}
	if (judge->verified && !has_unverified_size(judge)) {
		because(judge, judge->request->op == OP_READ ? "the right bytes are in this host's memory"
		                                             : "the target has the right bytes in its memory");
		summarize(judge, whole ? "everything worked" : "everything worked until the run was interrupted");
		return whole ? confirmed(judge, OUTCOME_OK, LAYER_NONE) : likely(judge, OUTCOME_OK, LAYER_NONE, 0);
	}
	not_observed(judge, "whether the payload is right: nobody verified %s",
	        judge->verified ? "that of the larger operations" : "it");
	summarize(judge, "all operations succeeded; %s",
	        judge->verified ? "not every payload was verified" : "the payload was not verified");
	return likely(judge, OUTCOME_OK, LAYER_NONE, 0);
}
