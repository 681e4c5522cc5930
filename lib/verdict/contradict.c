/* SPDX-License-Identifier: MIT */
/*
 * Facts of one record that cannot both be true, and such that could not be read. Whichever of them is wrong, a record
 * that has such a pair proves nothing: its verdict may be likely, and is never confirmed.
 */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <string.h>

static bool is_backwards(const struct operation *operation)
{
	struct num end = operation->cqe_arrived_ns.known ? operation->cqe_arrived_ns : operation->cqe_consumed_ns;
	return operation->post_call_ns.known && end.known && end.value < operation->post_call_ns.value;
}

static bool is_named_otherwise(const struct operation *operation)
{
	const struct wc_explanation *named =
	        operation->wc_status_text ? explain_wc_name(operation->wc_status_text) : NULL;
	return named && operation->wc_status.known && named->status != operation->wc_status.value;
}

/* A device's counters may have been read before the completion came, where waiting had ended. */
static bool is_unsent_success(const struct judge *judge, const struct operation *operation)
{
	return is_success(operation) && !judge->evidence->deadline_ns.known &&
	       (operation->doorbell_recorded == FLAG_NO || operation->device_saw_doorbell == FLAG_NO ||
	               operation->device_executed == FLAG_NO ||
	               (operation->acknowledged == FLAG_NO && !is_iwarp(&judge->evidence->local)));
}

static bool has_returned_early(const struct operation *operation)
{
	return operation->post_call_ns.known && operation->post_return_ns.known &&
	       operation->post_return_ns.value < operation->post_call_ns.value;
}

/* By the offset of the clocks, whose error grows with the run: crystals differ by up to a thousandth at most. */
static bool has_landed_early(const struct judge *judge, const struct operation *operation)
{
	const struct clock_offset *clock = judge->evidence->clock;
	struct num landed = operation->remote_landed_ns, posted = operation->post_call_ns;
	if (!clock || !clock->offset_ns.known || !clock->error_ns.known || !landed.known || !posted.known ||
	        operation->opcode == OP_READ)
		return false;
	int64_t drift = posted.value > 0 ? posted.value / 1000 : 0;
	int64_t early = difference(posted.value, difference(landed.value, clock->offset_ns.value));
	return difference(difference(early, clock->error_ns.value), drift) > 0;
}

static bool is_seen_early(struct num seen, struct num not_before)
{
	return seen.known && not_before.known && seen.value < not_before.value;
}

static bool is_found_before_missed(const struct operation *operation)
{
	return is_seen_early(operation->wqe_posted_ns, operation->wqe_posted_not_before_ns) ||
	       is_seen_early(operation->cqe_arrived_ns, operation->cqe_arrived_not_before_ns) ||
	       is_seen_early(operation->remote_landed_ns, operation->remote_landed_not_before_ns);
}

/* A transition that failed and was not tried again with success. */
static bool never_got_ready(const struct judge *judge)
{
	list_each(transition, &judge->evidence->transitions) {
		const char *to = transition->to;
		bool failed = transition->side == SIDE_LOCAL && transition->error.known && transition->error.value;
		bool needed = text_is(to, "INIT") || text_is(to, "RTR") || text_is(to, "RTS");
		if (failed && needed && !reached(judge, SIDE_LOCAL, to))
			return true;
	}
	return false;
}

/* What a device refuses of one request it does not let pass of another. */
static const char *refutation_of(const struct judge *judge, const struct operation *operation)
{
	if (!is_success(operation) || is_empty(operation))
		return NULL;
	if (differs_in_key(judge, operation) || is_outside(judge, operation))
		return "it succeeded, and its remote key or range is not what the peer gave out";
	if (missing_right(judge, operation))
		return "it succeeded, and the peer did not give the right that it needs";
	if (differs_in_local_key(judge, operation))
		return "it succeeded, and its local key is not the buffer's";
	if (uses_local_key(operation) && has_one_domain(judge) && judge->evidence->local.one_pd == FLAG_NO)
		return "it succeeded, and buffer and queue pair belong to different protection domains";
	if (is_longer(operation, judge->evidence->local.max_message_bytes))
		return "it succeeded, and is longer than the port's limit";
	return NULL;
}

/* By either adapter, before anything of it was carried out. */
static bool is_refused(const struct operation *operation)
{
	enum { LOC_LEN = 1, LOC_QP_OP = 2, LOC_PROT = 4, REM_INV_REQ = 9, REM_ACCESS = 10 };
	struct num status = status_of(operation);
	return num_is(status, LOC_LEN) || num_is(status, LOC_QP_OP) || num_is(status, LOC_PROT) ||
	       num_is(status, REM_INV_REQ) || num_is(status, REM_ACCESS);
}

static bool is_of_one_queue_pair(const struct judge *judge, const struct operation *one, const struct operation *other)
{
	if (one->qpn.known && other->qpn.known)
		return one->qpn.value == other->qpn.value;
	return num_is(judge->request->qps, 1);
}

/* A queue pair completes in order, and after a failure it only flushes (IBTA, 10.3.1.5). */
static bool outlived(const struct judge *judge, const struct operation *operation, const struct operation *failure)
{
	return failure && is_success(operation) && end_time(operation) != INT64_MAX &&
	       end_time(failure) < end_time(operation) && is_of_one_queue_pair(judge, operation, failure);
}

static bool outlived_failure(const struct judge *judge, const struct operation *operation)
{
	return outlived(judge, operation, judge->failed) || outlived(judge, operation, judge->flushed);
}

static const char *contradiction_of(const struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	if (is_named_otherwise(operation))
		return "number and name of its status are of two different ones";
	if (is_backwards(operation))
		return "it completed before it was posted";
	if (status_of(operation).known && operation->post_errno.known && operation->post_errno.value)
		return "post refused it, and it has a completion";
	if (operation->bad_wr == FLAG_YES && (num_is(operation->post_errno, 0) || status_of(operation).known))
		return "post took it, and names it as the request that it refused";
	if (has_returned_early(operation))
		return "its post returned before it was called";
	if (is_found_before_missed(operation))
		return "it was found before a look that did not find it";
	if (has_landed_early(judge, operation))
		return "it landed before it was posted, by more than the clocks may differ";
	if (operation->landed == FLAG_NO && payload_is_right(operation))
		return "nothing of its payload is there, and all of it was verified";
	if (is_unsent_success(judge, operation))
		return "it succeeded, and the queues say that it was not sent or not acknowledged";
	if (is_success(operation) && never_got_ready(judge))
		return "it succeeded, and its queue pair could not be made ready to send";
	if (is_success(operation) && text_is(local->qp_state, "INIT"))
		return "it succeeded on a queue pair that is still in INIT";
	if (is_success(operation) && text_is(local->qp_state, "RESET"))
		return "it succeeded on a queue pair that is in RESET";
	if (is_success(operation) && (text_is(remote->qp_state, "INIT") || text_is(remote->qp_state, "RESET")))
		return "it succeeded, and the peer's queue pair is in a state in which none answers";
	if (outlived_failure(judge, operation))
		return "it succeeded after another request of its queue pair had failed, and then a queue pair only "
		       "flushes";
	if (is_refused(operation) && payload_is_right(operation) && !num_is(operation->bytes, 0))
		return "it was refused, and all of its payload is there";
	return refutation_of(judge, operation);
}

/* ---- counts ---- */

/* What of the list the counts speak of as well. */
struct listed {
	int64_t posted, succeeded, failed, pending;
};

static struct listed count_listed(const struct evidence *evidence)
{
	struct listed listed = { 0 };
	list_each(operation, &evidence->operations) {
		enum { FLUSHED = 5 }; /* IBV_WC_WR_FLUSH_ERR */
		struct num status = status_of(operation);
		bool done = status.known || operation->reclaimed_ns.known || operation->is_signaled == FLAG_NO;
		listed.posted += is_posted(operation);
		listed.succeeded += is_success(operation);
		listed.failed += status.known && status.value && status.value != FLUSHED;
		listed.pending += is_posted(operation) && !done;
	}
	return listed;
}

static bool is_below(struct num count, int64_t least)
{
	return count.known && count.value < least;
}

static bool has_negative_count(const struct evidence *evidence)
{
	bool negative = is_below(evidence->operations_posted, 0) || is_below(evidence->operations_completed, 0) ||
	                is_below(evidence->operations_failed, 0) || is_below(evidence->operations_reclaimed, 0) ||
	                is_below(evidence->operations_omitted, 0) || is_below(evidence->flushes, 0) ||
	                is_below(evidence->completions_undelivered, 0);
	list_each(of_size, &evidence->payloads)
		negative |=
		        is_below(of_size->right, 0) || is_below(of_size->wrong, 0) || is_below(of_size->untouched, 0);
	return negative;
}

static int64_t add(int64_t sum, struct num count)
{
	return count.known ? difference(sum, difference(0, count.value)) : sum;
}

/* Completions of every kind, and those of the unsignaled ones that later completions speak for. */
static int64_t ended_count(const struct evidence *evidence)
{
	return add(add(done_count(evidence), evidence->operations_failed), evidence->flushes);
}

/* Requests that the target looked for: as many as were posted, or fewer. Untouched may be what was never posted. */
static bool has_surplus_payloads(const struct evidence *evidence, const struct listed *listed)
{
	int64_t there = 0;
	list_each(of_size, &evidence->payloads)
		there = add(add(there, of_size->right), of_size->wrong);
	if (evidence->operations_posted.known)
		return there > evidence->operations_posted.value;
	return evidence->operations_completed.known && num_is(evidence->operations_failed, 0) && !listed->pending &&
	       there > done_count(evidence);
}

/* A refused request may be listed too: whoever wrote the record may have counted it, or not. */
static bool is_list_of_other_length(const struct evidence *evidence, const struct listed *listed)
{
	struct num posted = evidence->operations_posted, omitted = evidence->operations_omitted;
	int64_t all = evidence->operations.count;
	return posted.known && omitted.known && add(listed->posted, omitted) != posted.value &&
	       add(all, omitted) != posted.value;
}

static const char *wrong_count(const struct evidence *evidence)
{
	struct listed listed = count_listed(evidence);
	struct num posted = evidence->operations_posted;
	if (has_negative_count(evidence))
		return "a count is negative";
	if (is_below(posted, listed.posted))
		return "more requests are listed than were posted";
	if (is_below(evidence->operations_completed, listed.succeeded))
		return "more successful requests are listed than completed successfully";
	if (is_below(evidence->operations_failed, listed.failed))
		return "more failed requests are listed than failed";
	if (is_below(posted, ended_count(evidence)))
		return "more requests ended than were posted";
	if (listed.pending && posted.known && ended_count(evidence) == posted.value)
		return "by the counts all requests ended, and one is listed that did not";
	if (evidence->completions_undelivered.known && evidence->completions_undelivered.value > 0 && !listed.pending &&
	        posted.known && ended_count(evidence) == posted.value)
		return "by the counts all requests ended, and a completion was not handed to whom waits for it";
	if (has_surplus_payloads(evidence, &listed))
		return "more payloads were found than requests were posted";
	if (is_list_of_other_length(evidence, &listed))
		return "those listed and those omitted together are not as many as were posted";
	return NULL;
}

/* Who dies or is given up writes no more, and may have been between two counts. */
static bool has_counts(const struct evidence *evidence)
{
	return evidence->local.role != ROLE_TARGET && !ended_early(evidence);
}

void judge_contradictions(struct judge *judge)
{
	list_each(operation, &judge->evidence->operations) {
		const char *contradiction = contradiction_of(judge, operation);
		if (!contradiction)
			continue;
		judge->contradiction = contradiction;
		judge->contradictory = operation;
		judge->is_mixed_up = outlived_failure(judge, operation);
		return;
	}
	if (has_counts(judge->evidence))
		judge->contradiction = wrong_count(judge->evidence);
}

/* ---- what could not be read ---- */

static bool has_any(const char *text, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_has(text, parts[i]))
			return true;
	return false;
}

/* `reason` begins with the field's path. Names, numbers of objects and times are missed by nobody. */
static bool may_decide(const char *reason)
{
	static const char *const ends[] = { "qp_state:", "alive:", "port_state" };
	static const char *const items[] = { "payloads[", "wc_status", "post_errno:", "payload_verified:", "landed:" };
	static const char *const whole[] = { ": an array expected", ": an object expected" };
	if (!text_has(reason, "evidence."))
		return false;
	if (has_any(reason, whole, ARRAY_SIZE(whole)))
		return true;
	if (text_has(reason, "evidence.local.") || text_has(reason, "evidence.remote."))
		return has_any(reason, ends, ARRAY_SIZE(ends));
	return !strchr(reason, '[') || has_any(reason, items, ARRAY_SIZE(items));
}

bool lacks_what_may_decide(const struct judge *judge)
{
	const struct strings *fields = &judge->evidence->unreadable;
	for (uint32_t i = 0; i < fields->count; i++)
		if (may_decide(fields->items[i]))
			return true;
	return false;
}

bool is_unreadable(const struct judge *judge, const char *field)
{
	const struct strings *fields = &judge->evidence->unreadable;
	for (uint32_t i = 0; i < fields->count; i++)
		if (text_has(fields->items[i], field))
			return true;
	return false;
}
