/* SPDX-License-Identifier: MIT */
/* Facts that follow from the evidence without any opinion: who came first, what never ended, what contradicts what. */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

enum { WC_FLUSH = 5 }; /* IBV_WC_WR_FLUSH_ERR */

bool text_is(const char *text, const char *wanted)
{
	return text && !strcmp(text, wanted);
}

bool text_has(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

const struct endpoint_facts *endpoint(const struct judge *judge, int side)
{
	return side == SIDE_REMOTE ? &judge->evidence->remote : &judge->evidence->local;
}

bool is_driver(const struct endpoint_facts *end, const char *prefix)
{
	return end->driver && !strncasecmp(end->driver, prefix, strlen(prefix));
}

bool is_software(const struct endpoint_facts *end)
{
	return is_driver(end, "rdma_rxe") || is_driver(end, "rxe") || is_driver(end, "siw");
}

bool is_ready(const struct endpoint_facts *end)
{
	return text_is(end->qp_state, "RTR") || text_is(end->qp_state, "RTS");
}

bool is_not_ready(const struct endpoint_facts *end)
{
	/* SQD and SQE stop the send queue only; the responder goes on. */
	return text_is(end->qp_state, "RESET") || text_is(end->qp_state, "INIT") || text_is(end->qp_state, "ERR");
}

bool is_port_down(const struct endpoint_facts *end)
{
	const char *state = end->port_state_after ? end->port_state_after : end->port_state;
	return text_is(state, "DOWN") || text_is(state, "INIT") || text_is(state, "ARMED");
}

struct num status_of(const struct operation *operation)
{
	if (operation->wc_status.known || !operation->wc_status_text)
		return operation->wc_status;
	const struct wc_explanation *named = explain_wc_name(operation->wc_status_text);
	return named ? num(named->status) : operation->wc_status;
}

enum flag asks_for_completion(const struct judge *judge, const struct operation *operation)
{
	return judge->request->sq_sig_all == FLAG_YES ? FLAG_YES : operation->is_signaled;
}

bool needs_receive(const struct operation *operation)
{
	return operation->opcode == OP_SEND || operation->opcode == OP_WRITE_IMM;
}

bool is_of_first(const struct judge *judge, const struct operation *operation)
{
	struct num first = judge->evidence->local.qpn, several = judge->request->qps;
	if (!first.known || !operation->qpn.known)
		return !several.known || several.value <= 1;
	return first.value == operation->qpn.value;
}

/* The state that is recorded is of the first queue pair; of the others only their way there is. */
static bool is_peer_ready_for(const struct judge *judge, const struct operation *operation)
{
	if (!is_ready(&judge->evidence->remote))
		return false;
	if (is_of_first(judge, operation))
		return true;
	int64_t ready = 0;
	list_each(transition, &judge->evidence->transitions)
		ready += transition->side == SIDE_REMOTE && text_is(explain_step(transition->to), "RTR") &&
		         num_is(transition->error, 0);
	struct num wanted = judge->request->qps;
	return wanted.known && wanted.value > 1 && ready >= wanted.value;
}

int opcode_of(const struct judge *judge, const struct operation *operation)
{
	return operation->opcode == OP_UNKNOWN ? judge->request->op : operation->opcode;
}

/* Where nobody says which kind it is, it may. */
static bool may_need_receive(const struct judge *judge, const struct operation *operation)
{
	int opcode = opcode_of(judge, operation);
	return opcode != OP_WRITE && opcode != OP_READ;
}

bool excludes_peer_program(const struct judge *judge, const struct operation *operation)
{
	return is_peer_ready_for(judge, operation) && judge->evidence->remote.alive == FLAG_YES &&
	       (!may_need_receive(judge, operation) || status_of(operation).known);
}

/* Without its transitions nobody knows whether it was tried. */
bool never_moved_to_rts(const struct judge *judge, const struct operation *operation)
{
	const char *state = judge->evidence->local.qp_state;
	bool early = text_is(state, "RESET") || text_is(state, "INIT") || text_is(state, "RTR");
	return early && is_of_first(judge, operation) && reached(judge, SIDE_LOCAL, "INIT") &&
	       !tried(judge, SIDE_LOCAL, "RTS") &&
	       (!tried(judge, SIDE_LOCAL, "RTR") || reached(judge, SIDE_LOCAL, "RTR"));
}

bool is_posted(const struct operation *operation)
{
	/* What completed was posted, whatever else the record says. */
	if (status_of(operation).known)
		return true;
	if (operation->post_errno.known)
		return !operation->post_errno.value;
	return operation->post_return_ns.known || operation->post_call_ns.known;
}

/* The call is recorded and its return is not: it may hang in the library, or below it. */
bool is_in_post(const struct operation *operation)
{
	return operation->post_call_ns.known && !operation->post_return_ns.known && !operation->post_errno.known &&
	       !operation->wqe_posted_ns.known;
}

bool is_success(const struct operation *operation)
{
	return num_is(status_of(operation), 0);
}

bool payload_is_right(const struct operation *operation)
{
	return operation->payload_verified == FLAG_YES ||
	       (operation->payload_verified == FLAG_UNKNOWN && operation->remote_landed_ns.known);
}

int64_t end_time(const struct operation *operation)
{
	return operation->cqe_consumed_ns.known  ? operation->cqe_consumed_ns.value
	       : operation->cqe_arrived_ns.known ? operation->cqe_arrived_ns.value
	                                         : INT64_MAX;
}

/* Keeps the earlier of two; on equal times, or where one is unknown, the one that stands first in the list. */
static void keep_first(const struct operation **first, const struct operation *operation)
{
	if (!*first || (end_time(*first) != INT64_MAX && end_time(operation) < end_time(*first)))
		*first = operation;
}

/* An unsignaled request is done when a later one of the same queue pair succeeded. */
static bool is_covered(const struct judge *judge, uint32_t index)
{
	const struct operation *operation = judge->evidence->operations.items[index];
	for (uint32_t i = index + 1; i < judge->successes_end; i++) {
		const struct operation *later = judge->evidence->operations.items[i];
		bool same = !later->qpn.known || !operation->qpn.known || later->qpn.value == operation->qpn.value;
		if (same && is_success(later))
			return true;
	}
	return false;
}

bool is_iwarp(const struct endpoint_facts *end)
{
	return text_is(end->transport, "iwarp") || is_driver(end, "siw");
}

bool has_not_arrived(const struct judge *judge, const struct operation *operation)
{
	return is_iwarp(&judge->evidence->local) && is_success(operation) && operation->landed == FLAG_NO;
}

static void count_success(struct judge *judge, const struct operation *operation)
{
	judge->succeeded++;
	judge->verified += payload_is_right(operation);
	bool missing = operation->landed == FLAG_NO && !payload_is_right(operation);
	if ((operation->payload_verified == FLAG_NO || missing) && !has_not_arrived(judge, operation) && !judge->wrong)
		judge->wrong = operation;
}

static void sort_operation(struct judge *judge, uint32_t index)
{
	const struct operation *operation = judge->evidence->operations.items[index];
	if (operation->post_errno.known && operation->post_errno.value && !judge->refused)
		judge->refused = operation;
	if (!is_posted(operation))
		return;
	judge->posted++;
	/* An unsignaled request has no completion of its own: a later one tells. */
	bool told = !status_of(operation).known && asks_for_completion(judge, operation) == FLAG_NO &&
	            (operation->reclaimed_ns.known || is_covered(judge, index));
	if (is_success(operation) || told) {
		count_success(judge, operation);
	} else if (num_is(status_of(operation), WC_FLUSH)) {
		keep_first(&judge->flushed, operation);
	} else if (status_of(operation).known) {
		keep_first(&judge->failed, operation);
	} else if (!judge->pending) {
		judge->pending = operation;
	}
}

/* ---- set-up steps ---- */

bool is_teardown(const char *name)
{
	static const char *const words[] = { "destroy", "dereg", "dealloc", "close", "disconnect", "free" };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (text_has(name, words[i]))
			return true;
	return false;
}

/* Steps that the run did well without: something of the same side went well later. */
static bool went_on(const struct judge *judge, int side, int64_t start_ns)
{
	list_each(step, &judge->evidence->resources)
		if (step->side == side && num_is(step->error, 0) && step->start_ns.known &&
		        step->start_ns.value > start_ns && !is_teardown(step->step))
			return true;
	list_each(transition, &judge->evidence->transitions)
		if (transition->side == side && num_is(transition->error, 0) && transition->start_ns.known &&
		        transition->start_ns.value > start_ns)
			return true;
	return false;
}

/* Of each end. */
static void keep_first_step(const struct judge *judge, struct failed_step first[2], struct failed_step step)
{
	if (is_teardown(step.name) || (step.start_ns != INT64_MAX && went_on(judge, step.side, step.start_ns)))
		return;
	struct failed_step *of_side = &first[step.side == SIDE_REMOTE];
	if (!of_side->name || step.start_ns < of_side->start_ns)
		*of_side = step;
}

/* Two hosts have two clocks, and where their difference is not known, no order of what happened on both. */
static bool is_order_known(const struct judge *judge, const struct failed_step steps[2])
{
	const struct clock_offset *clock = judge->evidence->clock;
	if (steps[0].start_ns == INT64_MAX || steps[1].start_ns == INT64_MAX)
		return false;
	if (judge->request->mode == MODE_LOOPBACK || is_one_host(judge))
		return true;
	int64_t apart = difference(steps[0].start_ns, steps[1].start_ns);
	return clock && clock->error_ns.known && (apart > clock->error_ns.value || apart < -clock->error_ns.value);
}

static void choose_step(struct judge *judge, const struct failed_step first[2])
{
	bool both = first[0].name && first[1].name;
	bool far = !first[0].name || (both && first[1].start_ns < first[0].start_ns);
	judge->step = first[far];
	if (both && !is_order_known(judge, first))
		judge->other_step = first[!far];
}

static void find_failed_step(struct judge *judge)
{
	struct failed_step first[2] = { 0 };
	list_each(step, &judge->evidence->resources)
		if (step->step && step->error.known && step->error.value)
			keep_first_step(judge, first,
			        (struct failed_step){ .name = step->step,
			                .detail = step->detail,
			                .side = step->side,
			                .error = step->error.value,
			                .duration_ns = step->duration_ns.known ? step->duration_ns.value : -1,
			                .start_ns = step->start_ns.known ? step->start_ns.value : INT64_MAX,
			                .resource = step });
	list_each(transition, &judge->evidence->transitions)
		if (transition->to && transition->error.known && transition->error.value)
			keep_first_step(judge, first,
			        (struct failed_step){ .name = transition->to,
			                .side = transition->side,
			                .error = transition->error.value,
			                .duration_ns =
			                        transition->duration_ns.known ? transition->duration_ns.value : -1,
			                .start_ns =
			                        transition->start_ns.known ? transition->start_ns.value : INT64_MAX });
	choose_step(judge, first);
}

/*
 * Queue pairs of one program do not break each other, and one completes in order: what was flushed first had another
 * reason, which was not seen. Without times the list has the order.
 */
static void find_earlier_flush(struct judge *judge)
{
	const struct operation *flushed = judge->flushed, *failed = judge->failed;
	bool same =
	        flushed && failed && flushed->qpn.known && failed->qpn.known && flushed->qpn.value == failed->qpn.value;
	if (!flushed || !failed || same)
		return;
	int64_t flush = end_time(flushed), failure = end_time(failed);
	bool untimed = flush == INT64_MAX || failure == INT64_MAX;
	bool known = flushed->qpn.known && failed->qpn.known;
	list_each(operation, &judge->evidence->operations) {
		if (operation != flushed && operation != failed)
			continue;
		if (untimed ? known && operation == flushed : flush < failure)
			judge->earlier = flushed;
		return;
	}
}

void judge_facts(struct judge *judge, const struct completed *whole)
{
	for (uint32_t i = 0; i < judge->evidence->operations.count; i++)
		if (is_success(judge->evidence->operations.items[i]))
			judge->successes_end = i + 1;
	for (uint32_t i = 0; i < judge->evidence->operations.count; i++)
		sort_operation(judge, i);
	find_earlier_flush(judge);
	find_failed_step(judge);
	list_each(step, &judge->evidence->control)
		if (step->step && step->error.known && step->error.value && !judge->control)
			judge->control = step;
	if (!judge->control && whole->unended.step)
		judge->control = &whole->unended;
	if (!judge->wrong && whole->unlisted.bytes.known)
		judge->wrong = &whole->unlisted;
}
