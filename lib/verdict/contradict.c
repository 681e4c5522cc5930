/* SPDX-License-Identifier: MIT */
/*
 * Facts of one record that cannot both be true. Whichever of them is wrong, a record that has such a pair proves
 * nothing: its verdict may be likely, and is never confirmed.
 */
#include "verdict/judge.h"

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

static const char *contradiction_of(const struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	if (is_named_otherwise(operation))
		return "number and name of its status are of two different ones";
	if (is_backwards(operation))
		return "it completed before it was posted";
	if (operation->wc_status.known && operation->post_errno.known && operation->post_errno.value)
		return "post refused it, and it has a completion";
	if (operation->landed == FLAG_NO && payload_is_right(operation))
		return "nothing of its payload is there, and all of it was verified";
	if (is_unsent_success(judge, operation))
		return "it succeeded, and the queues say that it was not sent or not acknowledged";
	if (is_success(operation) && text_is(local->qp_state, "INIT"))
		return "it succeeded on a queue pair that is still in INIT";
	return NULL;
}

void judge_contradictions(struct judge *judge)
{
	list_each(operation, &judge->evidence->operations) {
		const char *contradiction = contradiction_of(judge, operation);
		if (!contradiction)
			continue;
		judge->contradiction = contradiction;
		judge->contradictory = operation;
		return;
	}
}
