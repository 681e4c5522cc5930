/* SPDX-License-Identifier: MIT */
/* Everything completed and something took long: retries, late completions, slow stages. */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What netem holds each packet back on its way out of that host, as the record words it ("delay 60.0 ms"); 0: nothing.
 */
static int64_t held_back_ns(const struct endpoint_facts *end)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	const char *netem = netem_of(end);
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
			because(judge, "netem of %s holds each packet back for %s",
			        host_words(judge, i ? SIDE_REMOTE : SIDE_LOCAL), format_duration(delay, text));
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
bool judge_retried(struct judge *judge)
{
	int64_t timeout = ack_timeout_ns(&judge->evidence->local);
	const struct operation *slow = NULL;
	list_each(operation, &judge->evidence->operations)
		if (is_success(operation) && timeout && arrival_latency_ns(operation) >= timeout && !slow)
			slow = operation;
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
	if (judge_netem(judge, OUTCOME_DEGRADED, L(NETWORK) | L(REMOTE_DEVICE) | L(DEVICE)))
		return true;
	/* The peer counts what came twice, whoever made it two. */
	bool twice = !slow && !counter_moved(judge, SIDE_LOCAL, COUNTER_RETRY, false);
	summarize(judge, twice ? "it worked, but packets were lost, or came late or twice"
	                       : "it worked, but packets had to be sent again");
	advise_counters(judge);
	if (is_software(&judge->evidence->local) || is_software(&judge->evidence->remote))
		tell_filters(judge);
	next_step(judge, "%s",
	        judge->evidence->same_port_loopback == FLAG_YES
	                ? inside_advice(judge)
	                : "look at drops, pause and ECN on the way; packets out of order may come from adaptive "
	                  "routing");
	layer_set set = L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(DEVICE);
	if (quiet)
		return undetermined(judge, OUTCOME_DEGRADED, set);
	/* Others may have been sent again, and this one have been late for another reason. */
	summarize(judge, "it worked, but took longer than an ACK timeout, and packets may have been sent again");
	not_observed(judge, "whether packets of this run were sent again: the counters moved before it, too");
	return undetermined(judge, OUTCOME_DEGRADED, set | delaying_layers(judge, slow));
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

/* Nearly all of the time: the call writes to memory and to the device's registers, and waits for nobody else. */
static bool passed_in_post(const struct operation *operation)
{
	int64_t latency = latency_ns(operation);
	if (latency < 0 || !operation->post_return_ns.known)
		return false;
	return difference(operation->post_return_ns.value, operation->post_call_ns.value) > latency - latency / 10;
}

/*
 * Who may have kept a completion that came in the end: everything on the way, and the poller too. Where it is known to
 * have arrived, the larger part of the wait says on which side of the completion queue to look.
 */
layer_set delaying_layers(const struct judge *judge, const struct operation *operation)
{
	const struct notification_facts *notification = judge->evidence->notification;
	/* Who waits for an event waits for the adapter to raise it. */
	bool events = notification || text_is(judge->request->wait, "event");
	const layer_set way = layers_on_the_way(judge, operation), taking = L(APPLICATION) | L(PROVIDER) | L(KERNEL) |
	                                                                    L(PLATFORM) | L(CONFIGURATION) |
	                                                                    (events ? L(DEVICE) : 0);
	int64_t latency = latency_ns(operation);
	/* Found by the last look of all, which is not when it arrived. */
	bool found = notification && notification->found_at_end == FLAG_YES && operation->found_unnotified == FLAG_YES;
	if (passed_in_post(operation))
		return L(PROVIDER) | L(KERNEL) | L(PLATFORM) | L(DEVICE) | L(CONFIGURATION);
	if (!operation->cqe_arrived_ns.known || !operation->post_call_ns.known || latency < 0)
		return way | taking;
	int64_t arrival = difference(operation->cqe_arrived_ns.value, operation->post_call_ns.value);
	if (arrival < latency / 10)
		return taking;
	struct num before = operation->cqe_arrived_not_before_ns;
	int64_t unseen = before.known ? difference(operation->cqe_arrived_ns.value, before.value) : 0;
	/* Nobody looked for most of the time: the one who looks stood still, and the program with it. */
	bool blind = unseen >= latency / 2;
	return arrival > latency - latency / 10 && !found && !blind ? way : way | taking;
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

/* Where it was seen of each request. */
static struct num longest_stage(const struct judge *judge, const char *stage, const struct statistic *whole)
{
	list_each(statistic, &judge->evidence->statistics.stages)
		if (text_is(statistic->stage, stage) && statistic->bytes.known &&
		        statistic->bytes.value == whole->bytes.value && statistic->samples.known &&
		        num_is(whole->samples, statistic->samples.value))
			return statistic->max_ns;
	return (struct num){ 0 };
}

/* So much shorter than the whole that it is no part of what took long. */
static bool is_short(struct num stage, struct num whole)
{
	return stage.known && stage.value >= 0 && stage.value < whole.value / 10;
}

/*
 * The slowest of all by the statistics, which know those that are not listed too: a request with as many of its times
 * as follow from the longest of each stage, counted from its post, in memory of the caller; NULL: none took this long.
 */
static const struct operation *slowest_of_all(const struct judge *judge, int64_t least_ns, struct operation *to)
{
	const int64_t ns_a_byte = 100;
	struct num batch = judge->request->batch, qps = judge->request->qps;
	const struct statistic *slowest = NULL;
	list_each(statistic, &judge->evidence->statistics.stages) {
		struct num bytes = statistic->bytes, took = statistic->max_ns;
		int64_t at_once = batch.known && batch.value > 1 ? batch.value : 1;
		int64_t limit;
		at_once = qps.known && qps.value > at_once ? qps.value : at_once;
		bool counts = text_is(statistic->stage, "total") && bytes.known && took.known &&
		              !__builtin_mul_overflow(at_once * ns_a_byte, bytes.value, &limit) &&
		              !__builtin_add_overflow(limit, least_ns, &limit) && took.value >= limit;
		if (counts && (!slowest || took.value > slowest->max_ns.value))
			slowest = statistic;
	}
	if (!slowest)
		return NULL;
	struct num whole = slowest->max_ns, post = longest_stage(judge, "post", slowest),
	           arrival = longest_stage(judge, "cqe", slowest);
	*to = (struct operation){
		.opcode = judge->request->op, .bytes = slowest->bytes, .post_call_ns = num(0), .cqe_consumed_ns = whole
	};
	if (is_short(post, whole))
		to->post_return_ns = post;
	/* A long one says nothing: who looks for completions may have stood still as well. */
	if (is_short(arrival, whole))
		to->cqe_arrived_ns = arrival;
	return to;
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

/* The longest time of this request for which the program did nothing: in the call that posts, between looks, or before
 * it took the completion. */
static int64_t idle_ns(const struct operation *operation)
{
	const struct num parts[][2] = { { operation->post_call_ns, operation->post_return_ns },
		{ operation->cqe_arrived_not_before_ns, operation->cqe_arrived_ns },
		{ operation->cqe_arrived_ns, operation->cqe_consumed_ns } };
	int64_t longest = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		bool known = parts[i][0].known && parts[i][1].known;
		int64_t part = known ? difference(parts[i][1].value, parts[i][0].value) : 0;
		longest = part > longest ? part : longest;
	}
	return longest;
}

/* It was late because the program was. */
static bool judge_starved(struct judge *judge, const struct operation *operation, const char *what)
{
	int64_t idle = idle_ns(operation);
	enum starvation starvation =
	        idle >= latency_ns(operation) / 2 ? starvation_for(judge, idle, idle / 5) : NOT_STARVED;
	tell_starvation(judge, starvation);
	if (starvation == NOT_STARVED)
		return false;
	summarize(judge, "%s: the program waited for a CPU%s", what,
	        starvation == THROTTLED ? ", which the quota of its cgroup kept from it" : "");
	if (starvation == THROTTLED)
		return likely(judge, OUTCOME_DEGRADED, LAYER_CONFIGURATION, L(KERNEL) | L(APPLICATION));
	return undetermined(judge, OUTCOME_DEGRADED, L(CONFIGURATION) | L(KERNEL) | L(APPLICATION));
}

bool judge_late(struct judge *judge)
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
	if (judge_starved(judge, late, "it succeeded, but only after the deadline"))
		return true;
	next_step(judge, "run it again with a longer --timeout and watch the counters");
	/* The completion came, so it was published and executed at last; nothing says what it waited for. */
	return undetermined(judge, OUTCOME_DEGRADED, delaying_layers(judge, late));
}

static void tell_slow_step(struct judge *judge, const char *name, int side, struct num duration)
{
	/* A neighbour that has to be asked twice takes a second (arp(7), retrans_time). */
	const int64_t noticeable_ns = 1500000000;
	char took[DURATION_TEXT_SIZE];
	if (name && duration.known && duration.value >= noticeable_ns && !is_teardown(name))
		because(judge, "%s%s took %s: far longer than usual", name, side == SIDE_REMOTE ? " on the peer" : "",
		        format_duration(duration.value, took));
}

void tell_slow_steps(struct judge *judge)
{
	list_each(step, &judge->evidence->resources)
		if (num_is(step->error, 0))
			tell_slow_step(judge, step->step, step->side, step->duration_ns);
	list_each(transition, &judge->evidence->transitions)
		if (num_is(transition->error, 0))
			tell_slow_step(judge, transition->to, transition->side, transition->duration_ns);
}

/* Not long enough to call it degraded, and too long to be silent about. */
void tell_slowest(struct judge *judge)
{
	/* Software devices wait for their turn on a CPU as any program does. */
	bool software = is_software(&judge->evidence->local) || is_software(&judge->evidence->remote);
	const int64_t noticeable_ns = software ? 100000000 : 10000000;
	struct operation of_all;
	const struct operation *slow = slowest_from(judge, noticeable_ns);
	slow = slow ? slow : slowest_of_all(judge, noticeable_ns, &of_all);
	if (!slow)
		return;
	char took[DURATION_TEXT_SIZE];
	because(judge, "the slowest request, a %s, took %s: far longer than usual, which is less than a millisecond",
	        request_words(judge, slow->opcode, slow->bytes), format_duration(latency_ns(slow), took));
	tell_longest_part(judge, slow);
	(void)tell_held_back(judge, latency_ns(slow));
	if (idle_ns(slow) >= latency_ns(slow) / 2)
		tell_starvation(judge, starvation_for(judge, idle_ns(slow), idle_ns(slow) / 5));
}

/* Longer than a second for a message. */
bool judge_slow(struct judge *judge)
{
	const int64_t long_ns = 1000000000;
	struct operation of_all;
	const struct operation *slow = slowest_from(judge, long_ns);
	slow = slow ? slow : slowest_of_all(judge, long_ns, &of_all);
	if (!slow)
		return false;
	char took[DURATION_TEXT_SIZE];
	because(judge, "the %s took %s, far longer than its size explains",
	        request_words(judge, slow->opcode, slow->bytes), format_duration(latency_ns(slow), took));
	if (slow == &of_all)
		not_observed(judge, "when that was: the request is not among those that are listed");
	tell_longest_part(judge, slow);
	summarize(judge, "it worked, but took very long");
	if (tell_held_back(judge, latency_ns(slow))) {
		summarize(judge, "it worked, but took very long: netem holds packets back");
		next_step(judge, "%s", take_netem_away);
		return likely(judge, OUTCOME_DEGRADED, LAYER_CONFIGURATION, delaying_layers(judge, slow));
	}
	if (judge_starved(judge, slow, "it worked, but took very long"))
		return true;
	advise_counters(judge);
	next_step(judge, "run it again and compare the times: a stage that is always long is the one to look at");
	return undetermined(judge, OUTCOME_DEGRADED, delaying_layers(judge, slow));
}
