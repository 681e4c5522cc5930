/* SPDX-License-Identifier: MIT */
/* Something was posted and no end of it was seen: how far it came, as far as somebody looked. */
#include "verdict/judge.h"

#include "base/duration.h"

#include <inttypes.h>

/* The completion may be there, and no event tell of it: nobody watched the queue, nor polled it when waiting had ended.
 */
static bool may_wait_for_event(const struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	bool events = text_is(judge->request->wait, "event") || evidence->notification;
	int64_t end = waiting_end_ns(judge);
	bool looked = evidence->last_poll_ns.known && end >= 0 && evidence->last_poll_ns.value >= end;
	return events && !evidence->observers.cqe && !looked;
}

/* On demand a kernel brings each page when an adapter asks for it. */
static bool is_paged(const struct judge *judge)
{
	return text_is(judge->request->registration, "odp") ||
	       text_has(judge->evidence->local.mr_access, "on-demand") ||
	       text_has(judge->evidence->remote.mr_access, "on-demand");
}

/* Layers that may keep a completion from arriving; the caller's polling is judged apart. */
static layer_set open_layers(const struct judge *judge)
{
	layer_set set = WHOLE_PATH | L(APPLICATION);
	if (excludes_peer_program(judge, judge->pending))
		set &= ~L(REMOTE_APPLICATION);
	/* Somebody watched completion queue memory and found nothing there: not for want of polling. */
	if (judge->evidence->observers.cqe && asks_for_completion(judge, judge->pending) == FLAG_YES)
		set &= ~L(APPLICATION);
	if (may_wait_for_event(judge) || is_paged(judge))
		set |= L(KERNEL);
	return set;
}

/* ---- the queue pair's own state ---- */

static bool judge_state(struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	const char *state = local->qp_state;
	bool early = text_is(state, "RESET") || text_is(state, "INIT") || text_is(state, "RTR");
	if (judge->step.name && judge->step.side == SIDE_LOCAL)
		return judge_failed_step(judge, OUTCOME_STALLED);
	if (!is_of_first(judge, judge->pending))
		return false;
	if (never_moved_to_rts(judge, judge->pending)) {
		because(judge,
		        "the local queue pair is in %s and was never moved to RTS: it accepts requests and does not "
		        "send",
		        state);
		summarize(judge, "the request was posted to a queue pair that is not in RTS");
		next_step(judge, "move the queue pair to RTS before posting");
		return confirmed(judge, OUTCOME_STALLED, LAYER_APPLICATION);
	}
	if (text_is(state, "SQD") || early) {
		because(judge, "the local queue pair is in %s: it does not send", state);
		summarize(judge, "the local queue pair does not send: it is in %s", state);
		return undetermined(judge, OUTCOME_STALLED, L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(DEVICE));
	}
	/* It follows the adapter that stopped. */
	if ((!text_is(state, "ERR") && !text_is(state, "SQE")) || own_event(judge, SIDE_LOCAL, "DEVICE_FATAL"))
		return false;
	because(judge, "the local queue pair is in %s, and no completion says why", state);
	summarize(judge, "the queue pair is in error, and neither an error nor a flush was delivered");
	next_step(judge, "look at the asynchronous events and at the kernel log");
	return undetermined(judge, OUTCOME_STALLED, open_layers(judge) | L(PLATFORM) | L(DEVICE) | L(PROVIDER));
}

/* ---- completions that nobody asked for, or nobody took ---- */

/* Until a deadline, or by polls long after the post. */
static bool has_waited(const struct judge *judge)
{
	const int64_t long_ns = 100000000;
	const struct evidence *evidence = judge->evidence;
	struct num posted = judge->pending->post_call_ns;
	return evidence->deadline_ns.known ||
	       (evidence->last_poll_ns.known && posted.known &&
	               difference(evidence->last_poll_ns.value, posted.value) >= long_ns);
}

/* Only when nothing signaled is outstanding either: otherwise that is what is waited for. */
static bool asked_for_none(const struct judge *judge)
{
	list_each(operation, &judge->evidence->operations)
		if (is_posted(operation) && !status_of(operation).known &&
		        asks_for_completion(judge, operation) != FLAG_NO)
			return false;
	return asks_for_completion(judge, judge->pending) == FLAG_NO;
}

static bool judge_unsignaled(struct judge *judge)
{
	if (!asked_for_none(judge) || !has_waited(judge) ||
	        (own_event(judge, SIDE_LOCAL, "DEVICE_FATAL") && !payload_is_right(judge->pending)))
		return false;
	because(judge, "no outstanding request asked for a completion, so none comes when they succeed");
	summarize(judge, "a completion is waited for that no request asked for");
	next_step(judge, "signal at least the last request of each batch");
	/* What breaks a queue pair has a completion, asked for or not. */
	const struct async_event *broke = error_event(judge, SIDE_LOCAL);
	if (payload_is_right(judge->pending))
		return broke ? likely(judge, OUTCOME_STALLED, LAYER_APPLICATION,
		                       explain_event(broke->event)->text.layers)
		             : confirmed(judge, OUTCOME_STALLED, LAYER_APPLICATION);
	return likely(judge, OUTCOME_STALLED, LAYER_APPLICATION, WHOLE_PATH);
}

/* ---- receives that are missing ---- */

/* The peer answers each try with "not ready": as long as the RNR retries last, for ever with seven. */
static bool judge_no_receive(struct judge *judge)
{
	if (!needs_receive(judge->pending) || payload_is_right(judge->pending) || !counted_not_ready(judge, false))
		return false;
	const layer_set peer = L(REMOTE_APPLICATION) | L(REMOTE_DEVICE);
	bool quiet = counted_not_ready(judge, true);
	if (num_is(judge->evidence->local.rnr_retry, 7))
		because(judge, "rnr_retry is 7: the queue pair tries for ever while the peer has no receive");
	summarize(judge, "the request waits for a receive of the peer");
	next_step(judge, "see whether the peer posts receives, and as many as messages come");
	not_observed(judge, "whether the peer's program had posted a receive that its adapter did not see");
	return quiet ? likely(judge, OUTCOME_STALLED, LAYER_REMOTE_APPLICATION, peer)
	             : undetermined(judge, OUTCOME_STALLED, open_layers(judge) | peer);
}

/* ---- what the host's memory says ---- */

static bool judge_not_published(struct judge *judge)
{
	const struct operation *pending = judge->pending;
	if (!judge->evidence->observers.wqe || pending->doorbell_recorded != FLAG_NO)
		return false;
	/* The peer's memory is the better witness. */
	if (payload_is_right(pending) || pending->device_saw_doorbell == FLAG_YES ||
	        pending->device_executed == FLAG_YES || pending->acknowledged == FLAG_YES || is_in_post(pending))
		return false;
	because(judge, "post returned without an error, and the queue's doorbell record does not count the request");
	summarize(judge, "the request was accepted and not published to the device");
	next_step(judge,
	        "look for another user of the queue pair, a batch that was not completed, and the provider's version");
	return undetermined(judge, OUTCOME_STALLED, L(PROVIDER) | L(APPLICATION));
}

static bool judge_send_queue(struct judge *judge)
{
	return judge_refused_packets(judge, OUTCOME_STALLED);
}

/* With its process the peer's queue pair goes, before it has answered; and "not ready" is an answer of the program. */
static layer_set silent_program(const struct judge *judge)
{
	bool gone = judge->evidence->remote.alive == FLAG_NO || peer_closed(judge);
	bool refuses = needs_receive(judge->pending) && counted_not_ready(judge, false);
	return gone || refuses ? L(REMOTE_APPLICATION) : 0;
}

/* The payload is there, so the request was executed; the way back or the completion is missing. */
static bool judge_landed(struct judge *judge)
{
	if (!payload_is_right(judge->pending))
		return false;
	summarize(judge, "the payload is in %s memory, and the completion did not come",
	        judge->pending->opcode == OP_READ ? "this host's" : "the peer's");
	layer_set set = L(DEVICE) | L(PLATFORM);
	if (!needs_no_acknowledgement(judge))
		set |= L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | silent_program(judge);
	if (!judge->evidence->observers.cqe)
		set |= L(PROVIDER) | L(APPLICATION);
	return undetermined(judge, OUTCOME_STALLED, set);
}

static bool judge_fatal(struct judge *judge)
{
	if (own_event(judge, SIDE_LOCAL, "DEVICE_FATAL")) {
		summarize(judge, "the adapter stopped working or was removed");
		next_step(judge, "read the kernel log for health, AER or hot-plug messages of the adapter");
		/* Answers may have been missing before. */
		layer_set unanswered =
		        counter_moved(judge, SIDE_LOCAL, COUNTER_RETRY, true)
		                ? open_layers(judge) & (L(NETWORK) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION))
		                : 0;
		return undetermined(
		        judge, OUTCOME_STALLED, L(DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION) | unanswered);
	}
	if (judge_port_down(judge, OUTCOME_STALLED))
		return true;
	if (!payload_is_right(judge->pending) && judge_peer_stopped(judge, OUTCOME_STALLED))
		return true;
	bool here = own_event(judge, SIDE_LOCAL, "PORT_ERR");
	if (!here && (payload_is_right(judge->pending) || !own_event(judge, SIDE_REMOTE, "PORT_ERR")))
		return false;
	layer_set devices = devices_of_link(judge, here ? SIDE_LOCAL : SIDE_REMOTE);
	/* Many adapters take the link down to change the MTU. */
	if (is_beyond_frame(judge, judge->pending)) {
		tell_beyond_frame(judge);
		return likely(judge, OUTCOME_STALLED, LAYER_CONFIGURATION, L(NETWORK) | devices);
	}
	summarize(judge, "%s port went down while the request was outstanding", here ? "the local" : "the peer's");
	advise_link(judge);
	return undetermined_link(judge, OUTCOME_STALLED, L(CONFIGURATION) | devices);
}

/* Nothing else in the record says that something went wrong, listed or not. */
static bool is_quiet(const struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	bool failed = evidence->operations_failed.known && evidence->operations_failed.value > 0;
	bool omitted = evidence->operations_omitted.known && evidence->operations_omitted.value > 0;
	bool event = false;
	list_each(entry, &evidence->async_events)
		event |= event_is_own(judge, entry);
	return !failed && !omitted && !judge->control && !evidence->stuck && !event &&
	       evidence->interrupted != FLAG_YES;
}

/* The run ended with requests that were to have no completion, and nobody is known to have waited for one. */
static bool judge_unwatched(struct judge *judge)
{
	if (!asked_for_none(judge) || has_waited(judge))
		return false;
	bool right = true;
	list_each(operation, &judge->evidence->operations)
		if (is_posted(operation) && !is_success(operation) && !operation->reclaimed_ns.known)
			right &= payload_is_right(operation);
	because(judge, "no outstanding request asked for a completion, and nobody is known to have waited for one");
	not_observed(judge, "the end of the last requests: only the completion of a later one would tell");
	next_step(judge, "signal at least the last request of each batch");
	if (right)
		because(judge, "their payload is all there");
	if (right && is_quiet(judge)) {
		summarize(judge, "everything arrived; the last requests asked for no completion");
		return likely(judge, OUTCOME_OK, LAYER_NONE, 0);
	}
	summarize(judge, "the last requests asked for no completion: nothing tells how they ended");
	return undetermined(judge, OUTCOME_STALLED, open_layers(judge));
}

/* A counter that stood still before and moved now shows that requests do go out. */
static bool judge_retries(struct judge *judge)
{
	if (!counter_moved(judge, SIDE_LOCAL, COUNTER_RETRY, true))
		return false;
	summarize(judge, "requests are sent again and again, and no acknowledgement comes");
	advise_unanswered(judge);
	return judge_lost_packets(judge, OUTCOME_STALLED, judge->pending,
	        L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION) | L(DEVICE));
}

static bool judge_early_end(struct judge *judge)
{
	if (judge->evidence->interrupted != FLAG_YES || judge->evidence->deadline_ns.known)
		return false;
	summarize(judge, "interrupted while an operation was outstanding: nothing can be concluded");
	return undetermined(judge, OUTCOME_STALLED, open_layers(judge));
}

static bool judge_in_post(struct judge *judge)
{
	if (!is_in_post(judge->pending))
		return false;
	summarize(judge, "post was called, and neither its return nor a completion is recorded");
	not_observed(judge, "whether post returned");
	next_step(judge, "see where the posting thread is: its stack and its system call (/proc/PID/stack, gdb)");
	return undetermined(judge, OUTCOME_STALLED, open_layers(judge) | L(KERNEL));
}

static bool judge_unknown_place(struct judge *judge)
{
	summarize(judge, "the request was posted, and no completion came");
	if (needs_receive(judge->pending) && !payload_is_right(judge->pending) &&
	        num_is(judge->evidence->local.rnr_retry, 7)) {
		because(judge, "rnr_retry is 7: the queue pair tries for ever while the peer has no receive");
		next_step(judge, "see whether the peer posts receives, and as many as messages come");
	}
	/* Of other adapters nobody can ask the queues, with or without privilege. */
	bool asks = is_driver(&judge->evidence->local, "mlx5") && !judge->evidence->observers.device;
	bool inside = judge->evidence->same_port_loopback == FLAG_YES;
	next_step(judge, "%s",
	        asks && inside ? "run it with the privilege to ask the device (root, or firmware that "
	                         "allows DEVX)"
	        : inside       ? inside_advice(judge)
	        : asks ? "run it with the privilege to ask the device (root, or firmware that allows DEVX), and "
	                 "look at the peer's counters"
	               : "look at the counters and the queue pair state of both ends, and at the kernel log");
	return judge_lost_packets(judge, OUTCOME_STALLED, judge->pending, open_layers(judge));
}

static void tell_wait(struct judge *judge)
{
	char waited[DURATION_TEXT_SIZE];
	int64_t end = waiting_end_ns(judge);
	if (end >= 0 && judge->pending->post_call_ns.known && end > judge->pending->post_call_ns.value &&
	        !judge->pending->cqe_consumed_ns.known)
		because(judge, "no completion was taken within %s",
		        format_duration(difference(end, judge->pending->post_call_ns.value), waited));
}

bool rule_stalled(struct judge *judge)
{
	static bool (*const steps[])(struct judge *) = {
		judge_taken,
		judge_arrived,
		judge_state,
		judge_unsignaled,
		judge_fatal,
		judge_unwatched,
		judge_send_queue,
		judge_untaken_error,
		judge_no_receive,
		judge_foreign,
		judge_untaken,
		judge_not_published,
		judge_device,
		judge_landed,
		judge_early_end,
		judge_retries,
		judge_in_post,
		judge_unknown_place,
	};
	if (!judge->pending)
		return false;
	tell_progress(judge, judge->pending);
	tell_wait(judge);
	tell_events(judge);
	tell_counters(judge);
	tell_gaps(judge, judge->pending);
	bool decided = false;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !decided; i++)
		decided = steps[i](judge);
	return decided;
}
