/* SPDX-License-Identifier: MIT */
/*
 * Mistakes of the programs at both ends that the record itself proves: how requests were made and completions waited
 * for, against what the queues and the other end were told. They are looked for before anybody else is suspected.
 */
#include "verdict/judge.h"

#include "base/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool both_differ(struct num a, struct num b)
{
	return a.known && b.known && a.value != b.value;
}

bool is_program_known(const struct judge *judge, int side)
{
	enum probe_mode mode = (enum probe_mode)judge->request->mode;
	return mode == MODE_LOOPBACK || mode == MODE_TWO_DEVICES || side == SIDE_LOCAL ||
	       (side == SIDE_REMOTE && mode != MODE_UNKNOWN);
}

enum layer program_of(const struct judge *judge, int side)
{
	bool two = judge->request->mode == MODE_PEER || judge->request->mode == MODE_LISTENER;
	return side == SIDE_REMOTE && two ? LAYER_REMOTE_APPLICATION : LAYER_APPLICATION;
}

/* ---- set-up ---- */

static bool judge_on_demand(struct judge *judge)
{
	const struct failed_step *step = &judge->step;
	const struct endpoint_facts *end = endpoint(judge, step->side);
	/* Where nobody told, EOPNOTSUPP does: the plain registration is one that every device has. */
	bool lacks = end->odp == FLAG_NO || (end->odp == FLAG_UNKNOWN && step->error == EOPNOTSUPP);
	if (!lacks || !text_has(end->mr_access, "on-demand"))
		return false;
	because(judge, "%s%s failed: %s (errno %" PRId64 ")", step->name,
	        step->side == SIDE_REMOTE ? " on the peer" : "", strerror((int)step->error), step->error);
	because(judge, "on-demand paging was asked for, and the device does not offer it for reliable connections");
	summarize(judge, "the device does not offer on-demand paging, which the buffer was to be registered with");
	next_step(judge, "register pinned memory, or take a device that offers on-demand paging (ibv_devinfo -v)");
	return likely(judge, OUTCOME_NOT_RUN, program_of(judge, step->side), 0);
}

/* What a peer may write to, the program itself must be allowed to write to (IBTA 10.6.3.1; kernel,
 * ib_check_mr_access()). */
bool rule_region(struct judge *judge)
{
	const struct failed_step *step = &judge->step;
	if (!step->name || judge->posted || !text_has(step->name, "reg_mr"))
		return false;
	if (judge_on_demand(judge))
		return true;
	if (step->error != EINVAL)
		return false;
	const char *access = endpoint(judge, step->side)->mr_access;
	bool written_to = text_has(access, "remote-write") || text_has(access, "remote-atomic");
	if (!written_to || text_has(access, "local-write"))
		return false;
	because(judge, "%s%s failed: Invalid argument (errno %d)", step->name,
	        step->side == SIDE_REMOTE ? " on the peer" : "", EINVAL);
	because(judge, "the rights asked for are \"%s\": remote write needs local write as well", access);
	summarize(judge, "the buffer was to be registered with remote write and without local write");
	next_step(judge, "add IBV_ACCESS_LOCAL_WRITE to the rights of the memory region");
	if (!is_program_known(judge, step->side))
		return likely(judge, OUTCOME_NOT_RUN, LAYER_APPLICATION, L(REMOTE_APPLICATION));
	return confirmed(judge, OUTCOME_NOT_RUN, program_of(judge, step->side));
}

/* ---- post ---- */

/* By a time that is recorded; one that ended and nobody knows when may have ended before. */
static bool is_done_before(const struct operation *operation, struct num when)
{
	if (operation->cqe_consumed_ns.known)
		return operation->cqe_consumed_ns.value < when.value;
	if (operation->reclaimed_ns.known)
		return operation->reclaimed_ns.value < when.value;
	return status_of(operation).known;
}

/* Unsignaled ones are done with the next signaled one of their queue pair. */
static bool is_covered_before(const struct judge *judge, uint32_t index, struct num when)
{
	const struct operation *operation = judge->evidence->operations.items[index];
	for (uint32_t i = index + 1; i < judge->successes_end; i++) {
		const struct operation *later = judge->evidence->operations.items[i];
		if (!both_differ(later->qpn, operation->qpn) && is_success(later) && is_done_before(later, when))
			return true;
	}
	return false;
}

/* Posted and not known to be done; those not listed are posted ones that have succeeded, or nothing can be said. */
static int64_t outstanding(const struct judge *judge, const struct operation *until)
{
	int64_t count = 0;
	for (uint32_t i = 0; i < judge->evidence->operations.count; i++) {
		const struct operation *operation = judge->evidence->operations.items[i];
		bool done = is_done_before(operation, until->post_call_ns) ||
		            is_covered_before(judge, i, until->post_call_ns);
		count +=
		        operation != until && !both_differ(operation->qpn, until->qpn) && is_posted(operation) && !done;
	}
	return count;
}

/*
 * A queue that is full because nothing in it ends: signaled requests that had a tenth of a second to complete before
 * the refusal or the last poll, or the rest of the run, and did not.
 */
static bool is_blocked(const struct judge *judge, const struct operation *refused)
{
	const int64_t long_ns = 100000000;
	struct num looked = judge->evidence->last_poll_ns, refusal = refused->post_call_ns;
	int64_t until = looked.known && looked.value > refusal.value ? looked.value : refusal.value;
	list_each(operation, &judge->evidence->operations) {
		bool open = is_posted(operation) && !status_of(operation).known && !operation->reclaimed_ns.known &&
		            !operation->cqe_arrived_ns.known && operation->post_call_ns.known &&
		            asks_for_completion(judge, operation) == FLAG_YES;
		if (open && (judge->evidence->deadline_ns.known ||
		                    difference(until, operation->post_call_ns.value) >= long_ns))
			return true;
	}
	return false;
}

static bool judge_blocked(struct judge *judge)
{
	summarize(judge, "the send queue is full, and what is in it does not complete");
	not_observed(judge, "why the requests before it did not complete: that filled the queue");
	next_step(judge,
	        "look at the oldest request that is outstanding: run the probe with fewer than fit in the queue");
	return undetermined(judge, OUTCOME_FAILED, WHOLE_PATH | L(APPLICATION));
}

bool rule_queue_full(struct judge *judge)
{
	const struct operation *refused = judge->refused;
	struct num room = judge->evidence->local.send_wr;
	bool full = refused && (num_is(refused->post_errno, ENOMEM) || num_is(refused->post_errno, ENOSPC));
	if (!full || judge->failed || !room.known || !refused->post_call_ns.known)
		return false;
	int64_t count = outstanding(judge, refused);
	if (count < room.value)
		return false;
	because(judge, "the send queue holds %" PRId64 " request%s, and %" PRId64 " %s outstanding when this one came",
	        room.value, plural(room.value), count, count == 1 ? "was" : "were");
	because(judge,
	        "bad_wr names the request with wr_id %" PRId64 "; those before it were submitted, it and those "
	        "behind it were not",
	        refused->wr_id.value);
	if (is_blocked(judge, refused))
		return judge_blocked(judge);
	summarize(judge, "the send queue is full: more was posted than it holds");
	next_step(judge,
	        "make the queue as deep as what may be outstanding, signal often enough, take completions, and "
	        "post the rest from bad_wr on");
	return confirmed(judge, OUTCOME_FAILED, LAYER_APPLICATION);
}

/* ---- what a queue pair was told of the other one ---- */

/* The end was told another number than that; 0 is the queue pair of subnet management, and what nobody set. */
static bool sends_elsewhere(struct num destination, struct num number)
{
	return both_differ(destination, number) && destination.value > 0 && number.value > 0;
}

/* In peer mode the numbers of the other end come from its evidence, in loopback from the same process. */
static const char *wrong_number(struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	if (sends_elsewhere(local->dest_qpn, remote->qpn)) {
		because(judge, "the queue pair sends to number %" PRId64 ", the peer's has number %" PRId64,
		        local->dest_qpn.value, remote->qpn.value);
		return "the queue pair was given a number that is not the peer's";
	}
	because(judge, "the first packet has sequence number %" PRId64 ", and the peer's queue pair waits for %" PRId64,
	        local->first_psn.value, remote->expected_psn.value);
	return "the two queue pairs do not begin with the same packet sequence number";
}

static bool judge_wrong_number(struct judge *judge, enum outcome outcome)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	if (judge->succeeded || (!sends_elsewhere(local->dest_qpn, remote->qpn) &&
	                                !both_differ(local->first_psn, remote->expected_psn)))
		return false;
	if (outcome == OUTCOME_FAILED)
		tell_failed(judge, judge->failed);
	const char *mistake = wrong_number(judge);
	summarize(judge, "%s", mistake);
	next_step(judge, "compare queue pair number and PSN at RTR and RTS with what was exchanged");
	/* It was told by the other end. */
	return likely(judge, outcome, LAYER_APPLICATION,
	        L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | LAYER_BIT(program_of(judge, SIDE_REMOTE)));
}

/* The peer's answers go to the number that it was told. */
static bool judge_wrong_number_there(struct judge *judge, enum outcome outcome)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	if (judge->succeeded || !sends_elsewhere(remote->dest_qpn, local->qpn))
		return false;
	if (outcome == OUTCOME_FAILED)
		tell_failed(judge, judge->failed);
	because(judge, "the peer's queue pair sends to number %" PRId64 ", the local one has number %" PRId64,
	        remote->dest_qpn.value, local->qpn.value);
	summarize(judge, "the peer's queue pair was given a number that is not this one's: its answers go elsewhere");
	next_step(judge, "compare queue pair number and PSN at RTR and RTS with what was exchanged");
	return likely(judge, outcome, program_of(judge, SIDE_REMOTE),
	        L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(APPLICATION));
}

static bool judge_path_mtu(struct judge *judge, const struct operation *operation)
{
	struct num here = judge->evidence->local.path_mtu, there = judge->evidence->remote.path_mtu;
	if (!both_differ(here, there) || !operation->bytes.known)
		return false;
	int64_t smaller = here.value < there.value ? here.value : there.value;
	if (operation->bytes.value <= smaller)
		return false;
	tell_failed(judge, operation);
	because(judge,
	        "the path MTU of the queue pair is %" PRId64 " here and %" PRId64
	        " there: packets of a longer message do not have the length that the peer expects",
	        here.value, there.value);
	summarize(judge, "the two queue pairs were given different path MTUs");
	next_step(judge, "agree on the smaller active MTU of both ports when the queue pairs go to RTR");
	return likely(judge, OUTCOME_FAILED, LAYER_CONFIGURATION, L(APPLICATION) | L(REMOTE_APPLICATION));
}

/* ---- keys and domains of the own buffer ---- */

static bool judge_own_buffer(struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	bool other_domain = local->one_pd == FLAG_NO && uses_local_key(operation);
	bool other_key = differs_in_local_key(judge, operation);
	if (!other_domain && !other_key)
		return false;
	if (operation == judge->flushed && is_iwarp(local))
		because(judge, "only flushed requests were seen");
	else if (operation == judge->flushed)
		because(judge, "only flushed requests were seen; that is all that soft RoCE of newer kernels tells of "
		               "a request that it could not send");
	else
		tell_failed(judge, operation);
	if (other_key)
		because(judge, "the local key in the request is 0x%" PRIx64 ", the buffer's is 0x%" PRIx64,
		        (uint64_t)operation->lkey.value, (uint64_t)local->lkey.value);
	else
		because(judge, "buffer and queue pair belong to different protection domains");
	summarize(judge, other_key ? "the request has a wrong local key"
	                           : "buffer and queue pair belong to different protection domains");
	next_step(judge, "register the buffer in the domain of the queue pair, and post with that region's key");
	if (operation->is_inline == FLAG_UNKNOWN && is_unreadable(judge, ".inline:")) {
		not_observed(judge, "whether the bytes were inline: then the adapter needs no key for them");
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, L(PROVIDER) | L(PLATFORM) | L(DEVICE));
	}
	if (operation == judge->flushed)
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, L(KERNEL));
	return confirmed(judge, OUTCOME_FAILED, LAYER_APPLICATION);
}

/*
 * Soft RoCE says 2 where adapters say 4 (kernel, rxe_requester()). Newer kernels go on to flush the request before its
 * status is reported, and it says 5 (seen with Linux 6.12).
 */
bool rule_caller_failed(struct judge *judge)
{
	enum { LOC_QP_OP = 2, LOC_PROT = 4, REM_INV_REQ = 9, RETRY_EXC = 12 };
	const struct operation *operation = judge->failed;
	if (!operation && judge->flushed)
		return is_software(&judge->evidence->local) && judge_own_buffer(judge, judge->flushed);
	if (!operation)
		return false;
	switch (status_of(operation).value) {
	case LOC_QP_OP:
		return is_software(&judge->evidence->local) && judge_own_buffer(judge, operation);
	case LOC_PROT:
		return judge_own_buffer(judge, operation);
	case REM_INV_REQ:
		return judge_path_mtu(judge, operation);
	case RETRY_EXC:
		return judge_wrong_number(judge, OUTCOME_FAILED) || judge_wrong_number_there(judge, OUTCOME_FAILED);
	default:
		return false;
	}
}

/* ---- waiting ---- */

/* Requests that are to have a completion, and of which the record has none. */
static int64_t waiting_count(const struct judge *judge)
{
	int64_t count = 0;
	list_each(operation, &judge->evidence->operations)
		count += is_posted(operation) && !status_of(operation).known && !operation->reclaimed_ns.known &&
		         asks_for_completion(judge, operation) != FLAG_NO;
	return count;
}

static bool judge_undelivered(struct judge *judge)
{
	struct num lost = judge->evidence->completions_undelivered;
	if (!lost.known || lost.value <= 0)
		return false;
	because(judge,
	        "%" PRId64
	        " completion%s with wr_id and queue pair of outstanding requests %s taken from the queue and "
	        "not handed to whom waits for them",
	        lost.value, plural(lost.value), lost.value == 1 ? "was" : "were");
	summarize(judge, "the completion was taken, and the program lost it");
	next_step(judge, "look at the dispatcher: each completion belongs to the request of its wr_id and queue pair, "
	                 "whoever polled it");
	int64_t missing = difference(waiting_count(judge), lost.value);
	if (missing <= 0)
		return confirmed(judge, OUTCOME_STALLED, LAYER_APPLICATION);
	not_observed(judge, "why %" PRId64 " more request%s no completion", missing, missing == 1 ? " has" : "s have");
	return likely(judge, OUTCOME_STALLED, LAYER_APPLICATION, WHOLE_PATH);
}

/* An error raises the event whatever the queue was armed for. */
static bool has_error_in_queue(const struct judge *judge)
{
	list_each(entry, &judge->evidence->unclaimed_completions)
		if (entry->syndrome.known && entry->syndrome.value)
			return true;
	return false;
}

static bool is_solicited_only(struct judge *judge)
{
	const struct notification_facts *notification = judge->evidence->notification;
	if (!notification || notification->solicited_only != FLAG_YES || notification->delivered == FLAG_YES ||
	        has_error_in_queue(judge))
		return false;
	because(judge, "the completion queue was armed for completions of solicited requests and for errors only, and "
	               "completions of sent requests are never solicited");
	summarize(judge, "the completion is there, and the event asked for is another one");
	next_step(judge, "arm with ibv_req_notify_cq(cq, 0), or let the sender set IBV_SEND_SOLICITED and wait on the "
	                 "receiver's queue");
	return true;
}

static bool is_armed_late(struct judge *judge)
{
	const struct notification_facts *notification = judge->evidence->notification;
	struct num arrived = judge->pending->cqe_arrived_ns;
	bool late = notification && notification->armed == FLAG_NO && notification->delivered != FLAG_YES &&
	            notification->armed_ns.known && arrived.known && arrived.value <= notification->armed_ns.value;
	if (!late)
		return false;
	char gap[DURATION_TEXT_SIZE];
	because(judge,
	        "the completion had arrived %s before the queue was armed, and the queue was not polled once more",
	        format_duration(difference(notification->armed_ns.value, arrived.value), gap));
	summarize(judge, "the completion came before the queue was armed, and no event tells of it");
	next_step(judge, "arm first, then poll until the queue is empty, and only then wait");
	return true;
}

bool rule_caller_stalled(struct judge *judge)
{
	if (!judge->pending)
		return false;
	bool decided = judge_undelivered(judge);
	/* Before waiting ended: what came afterwards no event could have told of. */
	struct num arrived = judge->pending->cqe_arrived_ns;
	int64_t end = waiting_end_ns(judge);
	bool in_time = arrived.known && (end < 0 || arrived.value < end);
	/* Who polls needs no event. */
	struct num polled = judge->evidence->last_poll_ns;
	in_time = in_time && !(polled.known && polled.value >= arrived.value);
	if (!decided && in_time && !judge->pending->cqe_consumed_ns.known &&
	        (is_solicited_only(judge) || is_armed_late(judge)))
		decided = confirmed(judge, OUTCOME_STALLED, LAYER_APPLICATION);
	return decided || judge_wrong_number(judge, OUTCOME_STALLED) ||
	       judge_wrong_number_there(judge, OUTCOME_STALLED);
}

/* The wait for acknowledgements is one of user space, in a futex. */
static bool is_in_kernel(const struct stuck_step *stuck)
{
	const char *call = stuck->system_call, *channel = stuck->wait_channel;
	if (text_has(call, "futex") || text_has(channel, "futex"))
		return false;
	return (call && !text_is(call, "none") && !text_is(call, "running")) || (channel && strcmp(channel, "0") != 0);
}

/* ibv_destroy_cq(3) waits until each event that was taken has been acknowledged. */
bool rule_unacknowledged(struct judge *judge)
{
	const struct stuck_step *stuck = judge->evidence->stuck;
	const struct notification_facts *notification = judge->evidence->notification;
	if (!stuck || !text_has(stuck->step, "destroy_cq") || is_in_kernel(stuck) || !notification ||
	        !notification->events.known || !notification->acked.known ||
	        notification->events.value <= notification->acked.value)
		return false;
	because(judge, "%s had not returned when the deadline came", stuck->step);
	because(judge, "%" PRId64 " completion events were taken and %" PRId64 " acknowledged: it waits for the others",
	        notification->events.value, notification->acked.value);
	bool done = all_ended_well(judge);
	if (done)
		because(judge, "%s had completed successfully before", all_operations(judge, success_count(judge)));
	summarize(judge, "destroying the completion queue waits for events that were not acknowledged");
	next_step(judge, "call ibv_ack_cq_events() for each event that ibv_get_cq_event() returned");
	/* The queue is destroyed in the kernel first (rdma-core, ibv_cmd_destroy_cq()). */
	if (!stuck->system_call && !stuck->wait_channel) {
		not_observed(judge, "where it hangs: system call and wait channel were not readable");
		return likely(judge, done ? OUTCOME_DEGRADED : OUTCOME_STALLED, LAYER_APPLICATION,
		        L(KERNEL) | L(DEVICE) | L(PLATFORM));
	}
	return confirmed(judge, done ? OUTCOME_DEGRADED : OUTCOME_STALLED, LAYER_APPLICATION);
}

/* ---- the source ---- */

/* What was changed before the device was done with it may have been sent changed. */
bool rule_early_reuse(struct judge *judge)
{
	const struct operation *wrong = judge->wrong;
	if (!wrong || !wrong->source_changed_ns.known || wrong->is_inline == FLAG_YES)
		return false;
	struct num free_at = wrong->source_reusable_ns.known ? wrong->source_reusable_ns : wrong->cqe_consumed_ns;
	if (!free_at.known || wrong->source_changed_ns.value >= free_at.value)
		return false;
	char early[DURATION_TEXT_SIZE];
	because(judge, "the bytes in the target's memory are not those that were posted");
	because(judge, "the program wrote to the source %s before the completion gave it back",
	        format_duration(difference(free_at.value, wrong->source_changed_ns.value), early));
	summarize(judge, "the source was written to again before the operation had completed");
	next_step(judge,
	        "leave the source alone until its completion, or post inline: then it is free when post returns");
	return likely(judge, OUTCOME_CORRUPT, LAYER_APPLICATION, L(PLATFORM) | L(DEVICE) | L(REMOTE_DEVICE));
}
