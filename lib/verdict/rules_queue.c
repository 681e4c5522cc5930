/* SPDX-License-Identifier: MIT */
/* What a queue did not take: requests that post refused, and completions for which there was no room. */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- refused by post ---- */

bool is_longer(const struct operation *operation, struct num limit)
{
	return operation->bytes.known && limit.known && operation->bytes.value > limit.value;
}

bool tell_too_long(struct judge *judge, const struct operation *operation, struct num limit, const char *whose)
{
	if (!is_longer(operation, limit))
		return false;
	because(judge, "the request has %" PRId64 " bytes, %s %" PRId64, operation->bytes.value, whose, limit.value);
	return true;
}

layer_set layers_of_refusal(int64_t error)
{
	/* A device may have been taken away on purpose. */
	if (error == ENODEV || error == EIO)
		return L(DEVICE) | L(KERNEL) | L(PLATFORM) | (error == ENODEV ? L(CONFIGURATION) : 0);
	const struct errno_explanation *known = explain_errno("ibv_post_send", error);
	return known ? known->text.layers : L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(DEVICE);
}

/* Most libraries leave the state to the device; those of bnxt_re and hns look (rdma-core, bnxt_re_post_send()). */
static bool judge_refused_early(struct judge *judge)
{
	because(judge, "the local queue pair is in %s and was never moved to RTS: it cannot send",
	        judge->evidence->local.qp_state);
	summarize(judge, "the request was posted to a queue pair that is not in RTS, and refused");
	next_step(judge, "move the queue pair to RTS before posting");
	return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, L(PROVIDER));
}

/* The same libraries refuse what comes after an error; then the refusal is a consequence. */
static bool is_in_error(struct judge *judge, const struct operation *refused)
{
	const char *state = judge->evidence->local.qp_state;
	bool error = is_of_first(judge, refused) && (text_is(state, "ERR") || text_is(state, "SQE"));
	if (error)
		because(judge, "the local queue pair is in %s", state);
	return error;
}

bool rule_refused(struct judge *judge)
{
	const struct operation *refused = judge->refused;
	if (!refused || judge->failed)
		return false;
	int64_t error = refused->post_errno.value;
	const struct errno_explanation *known = explain_errno("ibv_post_send", error);
	because(judge, "posting the request failed: %s (errno %" PRId64 ")", strerror((int)error), error);
	if (known)
		because(judge, "%s", known->text.meaning);
	struct num counted = judge->evidence->operations_posted;
	int64_t before = counted.known && counted.value > judge->posted ? counted.value : judge->posted;
	if (before)
		because(judge, "%" PRId64 " request%s before it %s posted", before, plural(before),
		        before == 1 ? "was" : "were");
	summarize(judge, "the request was refused when it was posted: %s", strerror((int)error));
	tell_events(judge);
	if (error == EINVAL && never_moved_to_rts(judge, refused))
		return judge_refused_early(judge);
	next_step(judge, "%s", known && known->text.next ? known->text.next : "look at the request that bad_wr names");
	bool too_long = tell_too_long(judge, refused, judge->evidence->local.max_message_bytes, "the port's limit is");
	bool in_error = error == EINVAL && is_in_error(judge, refused);
	if (too_long && (error == EINVAL || error == EMSGSIZE || error == E2BIG))
		return in_error ? likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, WHOLE_PATH)
		                : confirmed(judge, OUTCOME_FAILED, LAYER_APPLICATION);
	if (refused->is_inline == FLAG_YES &&
	        tell_too_long(judge, refused, judge->evidence->local.inline_bytes, "the queue pair takes inline"))
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, L(PROVIDER));
	/* The connection ended before; by whom is not known (siw: kernel, siw_post_send()). */
	bool unconnected = error == ENOTCONN && is_iwarp(&judge->evidence->local);
	layer_set broken = in_error ? WHOLE_PATH : unconnected ? WHOLE_PATH | L(KERNEL) : 0;
	if (broken)
		not_observed(judge, "what broke the queue pair before this request came");
	bool gone = error == ENODEV || error == EIO;
	if (own_event(judge, SIDE_LOCAL, "DEVICE_FATAL")) {
		summarize(judge,
		        "the request was refused when it was posted, and the adapter stopped working or was removed");
		next_step(judge, "%s", explain_event("DEVICE_FATAL")->text.next);
		broken |= L(DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION);
	}
	return undetermined(
	        judge, OUTCOME_FAILED, broken | layers_of_refusal(error) | (gone && too_long ? L(APPLICATION) : 0));
}

/* ---- completion queue overrun ---- */

static bool is_before(struct num a, struct num b)
{
	return !a.known || !b.known || a.value <= b.value;
}

/*
 * Signaled requests whose completion was not taken when the queue was known to be broken, against its size. Those that
 * were posted to a queue that had broken before say nothing.
 */
static int64_t outstanding_signaled(const struct judge *judge, const struct async_event *broke)
{
	int64_t count = 0;
	list_each(operation, &judge->evidence->operations) {
		bool before = broke->t_ns.known && operation->post_call_ns.known &&
		              operation->post_call_ns.value <= broke->t_ns.value;
		/* Nothing of it is at the target: it has not succeeded. */
		bool missing = operation->landed == FLAG_NO && operation->opcode != OP_READ;
		bool ended = operation->cqe_consumed_ns.known || status_of(operation).known || missing;
		count += is_posted(operation) && before && !ended && asks_for_completion(judge, operation) == FLAG_YES;
	}
	return count;
}

/* A failed request may have come first: then flushes may have filled the queue, and its status is the first error. */
static bool judge_overrun_or_failure(struct judge *judge)
{
	const struct wc_explanation *known = explain_wc(judge->failed->wc_status.value);
	tell_failed(judge, judge->failed);
	summarize(judge, "a request failed and the completion queue broke; which came first is not known");
	not_observed(judge, "which came first: the failed completion or the error of the completion queue");
	layer_set set = known ? known->text.layers : WHOLE_PATH | L(KERNEL);
	return undetermined(judge, OUTCOME_FAILED, set | L(APPLICATION) | L(PROVIDER) | L(DEVICE) | L(PLATFORM));
}

/* The device gives its completion queue another status than that of an overflow (mlx5: CQC, status 9); 0: it does not.
 */
static int64_t other_trouble(const struct judge *judge)
{
	list_each(sample, &judge->evidence->device_samples)
		if (sample->cq_status.known && sample->cq_status.value && sample->cq_status.value != CQ_OVERFLOW)
			return sample->cq_status.value;
	return 0;
}

/* Broken before the completion queue was, as far as it is known; what an adapter leaves behind that stops is no
 * overrun.
 */
static const struct async_event *broke_first(const struct judge *judge, const struct async_event *queue)
{
	static const char *const events[] = { "DEVICE_FATAL", "QP_FATAL" };
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		const struct async_event *event = own_event(judge, SIDE_LOCAL, events[i]);
		if (event && is_before(event->t_ns, queue->t_ns))
			return event;
	}
	return NULL;
}

/* Nobody who watched the queue's memory saw a completion, and nothing says that a request was carried out: a queue that
 * overran is full. */
static bool is_seen_empty(const struct judge *judge)
{
	bool arrived = judge->evidence->unclaimed_completions.count > 0;
	list_each(operation, &judge->evidence->operations)
		arrived |= operation->cqe_arrived_ns.known || operation->cqe_consumed_ns.known ||
		           payload_is_right(operation);
	return judge->evidence->observers.cqe && !arrived;
}

static bool judge_broken_before(struct judge *judge, enum outcome outcome, const struct async_event *first)
{
	bool fatal = !strcmp(explain_event(first->event)->name, "DEVICE_FATAL");
	summarize(judge, "%s before the completion queue broke",
	        fatal ? "the adapter stopped working or was removed" : "the queue pair broke");
	next_step(judge, "%s", explain_event(first->event)->text.next);
	not_observed(judge, "whether the completion queue broke for a reason of its own");
	return undetermined(judge, outcome,
	        L(APPLICATION) | L(PROVIDER) | L(DEVICE) | L(PLATFORM) | (fatal ? L(KERNEL) | L(CONFIGURATION) : 0));
}

bool rule_overrun(struct judge *judge)
{
	const struct async_event *event = own_event(judge, SIDE_LOCAL, "CQ_ERR");
	if (!event || (judge->failed && !is_before(event->t_ns, judge->failed->cqe_consumed_ns)))
		return false;
	if (judge->failed && !(event->t_ns.known && judge->failed->cqe_consumed_ns.known))
		return judge_overrun_or_failure(judge);
	bool done = judge->posted && judge->succeeded == judge->posted;
	enum outcome outcome = done ? OUTCOME_DEGRADED : OUTCOME_FAILED;
	struct num entries = judge->evidence->local.cqe;
	int64_t outstanding = outstanding_signaled(judge, event);
	tell_events(judge);
	const struct async_event *first = broke_first(judge, event);
	if (first)
		return judge_broken_before(judge, outcome, first);
	summarize(judge, "the completion queue broke");
	next_step(judge,
	        "make the completion queue at least as deep as the signaled requests that may be outstanding, and take "
	        "completions sooner");
	/* Of several queues nobody knows which took how many. */
	struct num queues = judge->request->cqs.known ? judge->request->cqs : judge->request->qps;
	bool one_queue = !queues.known || queues.value == 1;
	int64_t trouble = other_trouble(judge);
	if (trouble)
		because(judge,
		        "by the device's own account its status is %" PRId64 ", which is not that of an overflow",
		        trouble);
	bool empty = is_seen_empty(judge);
	if (empty)
		because(judge, "its memory was watched, and no completion was seen there");
	if (!trouble && !empty && one_queue && entries.known && outstanding > entries.value) {
		because(judge, "%" PRId64 " signaled requests were outstanding, and the queue has %" PRId64 " entr%s",
		        outstanding, entries.value, entries.value == 1 ? "y" : "ies");
		summarize(judge, "the completion queue overran: completions were not taken fast enough");
		/* Then some of them may not have completed. */
		if (counter_moved(judge, SIDE_LOCAL, COUNTER_RETRY, false))
			return likely(judge, outcome, LAYER_APPLICATION, L(PROVIDER) | L(DEVICE) | L(PLATFORM));
		return confirmed(judge, outcome, LAYER_APPLICATION);
	}
	not_observed(judge, "how many completions were outstanding when it broke");
	tell_gaps(judge, NULL);
	return undetermined(judge, outcome, L(APPLICATION) | L(PROVIDER) | L(DEVICE) | L(PLATFORM));
}
