/* SPDX-License-Identifier: MIT */
/* The completion is there, or one that may be it: nobody took it, nobody was told, or it came too late. */
#include "verdict/judge.h"

#include <inttypes.h>

/* An event of an earlier arming says nothing about the completion that is waited for. */
static bool is_delivered(const struct notification_facts *notification)
{
	if (!notification || notification->delivered != FLAG_YES)
		return false;
	return !notification->delivered_ns.known || !notification->armed_ns.known ||
	       notification->armed_ns.value <= notification->delivered_ns.value;
}

/* What the device itself says of the arming; nowhere confirmed on hardware, so it excludes nobody. */
static void tell_arming(struct judge *judge)
{
	const char *state = NULL;
	list_each(sample, &judge->evidence->device_samples)
		if (!text_is(sample->moment, "idle"))
			state = sample->cq_notification;
	if (text_is(state, "fired"))
		because(judge,
		        "by the device's own state it raised the event: then it was lost on the way to the kernel, "
		        "or there");
	else if (state)
		because(judge, "by the device's own state the completion queue is still %s: it raised no event", state);
}

bool judge_unnotified(struct judge *judge, enum outcome outcome)
{
	const struct notification_facts *notification = judge->evidence->notification;
	summarize(judge, "the completion is there, and the waiting program was not woken");
	if (notification && notification->armed == FLAG_NO) {
		because(judge, "the completion queue was not armed, or not polled once more after arming");
		next_step(judge, "arm first, then poll until the queue is empty, and only then wait");
		return likely(judge, outcome, LAYER_APPLICATION, L(PROVIDER));
	}
	if (is_delivered(notification)) {
		because(judge, "the completion channel is readable, and the completion was not taken");
		next_step(judge, "see what the waiting thread does after ibv_get_cq_event(): it has to poll the queue");
		return likely(judge, outcome, LAYER_APPLICATION, L(PROVIDER));
	}
	next_step(judge, "look at the interrupts of the adapter's completion vectors (/proc/interrupts)");
	not_observed(judge, "whether the adapter raised the event: event queue and interrupt are the kernel's");
	if (!notification || notification->armed != FLAG_YES)
		return undetermined(judge, outcome, L(APPLICATION) | L(PROVIDER) | L(PLATFORM) | L(DEVICE) | L(KERNEL));
	because(judge, "the completion queue was armed, and the completion channel did not become readable");
	tell_arming(judge);
	return undetermined(judge, outcome, L(PLATFORM) | L(DEVICE) | L(KERNEL));
}

static bool judge_not_taken(struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	const struct operation *pending = judge->pending;
	int64_t arrived = pending->cqe_arrived_ns.value;
	because(judge, "no network and no device is involved any more: the result lies in this host's memory");
	if (text_is(judge->evidence->local.qp_state, "ERR") && is_of_first(judge, pending))
		not_observed(
		        judge, "the status of that completion: the queue pair is in ERR, so that it may be an error");
	bool asked = evidence->last_poll_ns.known && evidence->last_poll_ns.value >= arrived;
	if (!asked && (text_is(judge->request->wait, "event") || evidence->notification))
		return judge_unnotified(judge, OUTCOME_STALLED);
	summarize(judge, "the completion is in the completion queue, and nobody took it");
	next_step(judge, "%s",
	        asked ? "run it with another version of the provider library, and see whether anything else "
	                "polls this queue"
	              : "see what the polling thread does; a completion is taken only by ibv_poll_cq()");
	if (evidence->stuck && text_has(evidence->stuck->step, "poll_cq")) {
		because(judge, "%s was called, and had not returned when the deadline came", evidence->stuck->step);
		summarize(judge, "the completion is in the completion queue, and poll does not return");
		return undetermined(judge, OUTCOME_STALLED, L(PROVIDER) | L(APPLICATION) | L(KERNEL));
	}
	bool known = evidence->polls.known || evidence->last_poll_ns.known;
	if (asked) {
		because(judge, "the queue was polled after the completion had arrived, and poll did not return it");
		summarize(judge, "the completion is in the completion queue, and poll does not return it");
		return undetermined(judge, OUTCOME_STALLED, L(PROVIDER) | L(DEVICE) | L(PLATFORM));
	}
	const int64_t long_ns = 100000000;
	int64_t rest = difference(waiting_end_ns(judge), arrived);
	bool waited = waiting_end_ns(judge) >= 0 && (rest >= long_ns || (rest > 0 && pending->post_call_ns.known));
	waited = waited && !evidence->stuck && (evidence->interrupted != FLAG_YES || evidence->deadline_ns.known);
	if (known && !waited)
		not_observed(judge, "how long the completion lay there: the record does not say when it ends");
	if (known && waited && (evidence->last_poll_ns.known || num_is(evidence->polls, 0))) {
		because(judge, "the queue was not polled after the completion had arrived");
		int64_t since = evidence->last_poll_ns.known ? evidence->last_poll_ns.value : arrived;
		/* With a time slice it would have polled. */
		const int64_t slice_ns = 5000000;
		enum starvation starvation = starvation_for(judge, difference(waiting_end_ns(judge), since), slice_ns);
		tell_starvation(judge, starvation);
		if (starvation == THROTTLED)
			return likely(judge, OUTCOME_STALLED, LAYER_CONFIGURATION, L(KERNEL) | L(APPLICATION));
		if (starvation != NOT_STARVED)
			return undetermined(judge, OUTCOME_STALLED, L(CONFIGURATION) | L(KERNEL) | L(APPLICATION));
		bool scheduled = evidence->cpu && evidence->cpu->waited_ns.known;
		if (!evidence->last_poll_ns.known && scheduled)
			return confirmed(judge, OUTCOME_STALLED, LAYER_APPLICATION);
		/* The begin of the last call is recorded; that it returned, and that its thread had a CPU, is not. */
		not_observed(judge, "%s",
		        evidence->last_poll_ns.known
		                ? "whether the last poll returned, and whether its thread got a CPU after it"
		                : "whether the polling thread got a CPU");
		next_step(judge, "see whether that thread runs: /proc/PID/task/TID/stat, its cgroup's cpu.stat, and "
		                 "who shares its CPU");
		return likely(judge, OUTCOME_STALLED, LAYER_APPLICATION, L(PROVIDER) | L(KERNEL) | L(CONFIGURATION));
	}
	not_observed(judge, "whether the queue was polled after the completion had arrived");
	/* The next poll may have been the one that did not come any more. */
	if (evidence->interrupted == FLAG_YES && !evidence->deadline_ns.known && rest < long_ns)
		return undetermined(
		        judge, OUTCOME_STALLED, L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(CONFIGURATION));
	return likely(judge, OUTCOME_STALLED, LAYER_APPLICATION, L(PROVIDER));
}

/* It ended, and nobody knows how: neither that it hangs nor that it failed is in the record. */
bool judge_taken(struct judge *judge)
{
	const struct operation *pending = judge->pending;
	if (!pending->cqe_consumed_ns.known)
		return false;
	because(judge, "its completion was taken, and the record does not have its status");
	not_observed(judge, "the status of the completion: whether the request succeeded");
	summarize(judge, "the request completed, and the record does not say with which status");
	next_step(judge, "look up the status that ibv_poll_cq() returned for it, or run the probe again");
	return undetermined(judge, OUTCOME_STALLED, WHOLE_PATH | L(APPLICATION) | L(KERNEL));
}

/* It arrived at the very end of the wait, or after it: late, not untaken. */
static bool is_late(const struct judge *judge)
{
	const struct operation *pending = judge->pending;
	int64_t end = waiting_end_ns(judge), arrived = pending->cqe_arrived_ns.value;
	if (end < 0 || !pending->post_call_ns.known)
		return false;
	int64_t rest = difference(end, arrived), wait = difference(end, pending->post_call_ns.value);
	return rest <= 0 || (wait > 0 && rest < wait / 10);
}

bool judge_arrived(struct judge *judge)
{
	if (!judge->pending->cqe_arrived_ns.known || judge->pending->cqe_consumed_ns.known)
		return false;
	if (!is_late(judge))
		return judge_not_taken(judge);
	because(judge, "the completion arrived when waiting was over or nearly so");
	summarize(judge, "the completion came too late to be waited for");
	next_step(judge, "wait longer (--timeout), and compare the counters then");
	return undetermined(judge, OUTCOME_STALLED, WHOLE_PATH);
}

/*
 * A program may let other queue pairs use the completion queue, and the completion be theirs. It is not where all its
 * queue pairs are listed, or where the entry names this one, or makes no sense.
 */
static bool may_share_queue(const struct judge *judge)
{
	if (judge->evidence->local.queue_pairs.count)
		return false;
	list_each(entry, &judge->evidence->unclaimed_completions) {
		bool own = entry->qpn.known && num_is(judge->evidence->local.qpn, entry->qpn.value);
		if (entry->is_known == FLAG_NO || own)
			return false;
	}
	return true;
}

/*
 * The one request that is outstanding got no completion, and one came that nobody knows: an entry in the queue that the
 * library could not make sense of, or that names another request.
 */
bool judge_foreign(struct judge *judge)
{
	if (!tell_foreign(judge))
		return false;
	summarize(judge, "a completion came that belongs to no request, and that of the request did not");
	layer_set caller = may_share_queue(judge) ? L(APPLICATION) : 0;
	return undetermined(judge, OUTCOME_STALLED, L(PROVIDER) | L(PLATFORM) | L(DEVICE) | caller);
}

/* Of the queue pair that waits, in memory and not taken by poll; with or without an error. NULL: none. */
static const struct completion_entry *untaken(const struct judge *judge, bool failed)
{
	struct num own = judge->pending->qpn.known ? judge->pending->qpn : judge->evidence->local.qpn;
	list_each(entry, &judge->evidence->unclaimed_completions) {
		bool other = entry->qpn.known && own.known && entry->qpn.value != own.value;
		bool error = entry->syndrome.known && entry->syndrome.value;
		if (entry->taken == FLAG_NO && error == failed && !other && entry->is_known != FLAG_NO)
			return entry;
	}
	return NULL;
}

/* Which request it is of is not in the record; that it lies there is. */
bool judge_untaken(struct judge *judge)
{
	const struct completion_entry *entry = untaken(judge, false);
	if (!entry)
		return false;
	bool polled = judge->evidence->last_poll_ns.known && entry->t_ns.known &&
	              judge->evidence->last_poll_ns.value >= entry->t_ns.value;
	because(judge, "a completion of this queue pair lies in the completion queue, and nobody took it%s",
	        polled ? ", though the queue was polled after it was seen there" : "");
	summarize(judge, "a completion is in the completion queue, and nobody took it");
	not_observed(judge, "whether that completion is of the request that is waited for");
	next_step(judge, "poll the completion queue, and compare what comes with wr_id and queue pair of the request");
	return undetermined(
	        judge, OUTCOME_STALLED, L(PROVIDER) | L(PLATFORM) | L(DEVICE) | (polled ? 0 : L(APPLICATION)));
}

/* An error that the device reported and nobody took: it tells more than its absence among the completions. */
bool judge_untaken_error(struct judge *judge)
{
	const struct completion_entry *error = untaken(judge, true);
	if (!error)
		return false;
	because(judge,
	        "a completion with an error (syndrome 0x%" PRIx64 ") lies in the completion queue, and nobody took it",
	        (uint64_t)error->syndrome.value);
	summarize(judge, "the request failed, and its completion was not taken");
	next_step(judge, "poll the completion queue: the status of that completion says how the request failed");
	not_observed(judge, "the status of the completion that was not taken");
	return undetermined(judge, OUTCOME_STALLED, WHOLE_PATH | L(APPLICATION));
}
