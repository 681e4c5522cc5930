/* SPDX-License-Identifier: MIT */
/* Everything completed: were the bytes right, and is there anything left to say. */
#include "verdict/judge.h"

#include <inttypes.h>

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

/* Nothing arrived at all, where somebody looked; else something did, and it is not what was sent. */
static bool is_missing(const struct judge *judge)
{
	list_each(of_size, &judge->evidence->payloads)
		if (of_size->wrong.known && of_size->wrong.value > 0)
			return false;
	list_each(operation, &judge->evidence->operations)
		if (is_success(operation) && operation->payload_verified == FLAG_NO && operation->landed != FLAG_NO)
			return false;
	return judge->wrong->landed == FLAG_NO;
}

bool rule_corrupt(struct judge *judge)
{
	const struct lag_member *member = judge->wrong ? NULL : corrupting_member(judge);
	if (!judge->wrong && !member)
		return false;
	if (member)
		because(judge, "wrong bytes arrived over %s", member_words(judge, member));
	bool is_read = judge->wrong && judge->wrong->opcode == OP_READ;
	bool missing = !member && !is_read && is_missing(judge);
	because(judge, "an operation succeeded, and %s",
	        missing   ? "the target looked into its memory, and nothing of the payload is there"
	        : is_read ? "the bytes in this host's memory are not those that the peer has"
	                  : "the bytes in the target's memory are not those that were sent");
	tell_payloads(judge);
	if (judge->failed)
		because(judge, "another operation failed as well; wrong data outweighs it");
	tell_events(judge);
	tell_counters(judge);
	tell_gaps(judge, judge->wrong);
	summarize(judge, missing ? "the operation succeeded, and its payload is not in the target's memory"
	                         : "the operation succeeded, and the payload is wrong");
	not_observed(judge, "%s",
	        missing ? "where the bytes went: the target looked at the place that it gave out"
	                : "where the bytes changed: between the source's memory and adapter, or between the target's");
	bool software = is_software(&judge->evidence->local) && is_software(&judge->evidence->remote);
	if (software)
		next_step(judge, "repeat it with another kernel, and read the kernel log: software copies the bytes");
	else
		next_step(judge,
		        "repeat with buffers on the adapters' own nodes, then look at IOMMU, ACS and relaxed ordering "
		        "on %s",
		        both_hosts(judge));
	layer_set set = L(PLATFORM) | L(DEVICE) | L(REMOTE_DEVICE);
	/* siw asks for no checksum of its own (kernel, mpa_crc_required in siw_main.c); that of TCP is weak. */
	if (is_iwarp(&judge->evidence->local) && is_software(&judge->evidence->local))
		set |= L(NETWORK);
	/* The library copied them into the request. */
	if (judge->wrong && judge->wrong->is_inline == FLAG_YES)
		set |= L(PROVIDER);
	return undetermined(judge, OUTCOME_CORRUPT, set);
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
	tell_slow_steps(judge);
	because(judge, "%" PRId64 " operation%s completed successfully", success_count(judge),
	        plural(success_count(judge)));
	tell_network(judge);
	tell_lost_gid(judge, SIDE_LOCAL);
	tell_lost_gid(judge, SIDE_REMOTE);
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
