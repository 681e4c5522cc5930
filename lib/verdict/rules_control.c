/* SPDX-License-Identifier: MIT */
/* The control connection, before and after the data path. */
#include "verdict/judge.h"

#include "base/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool judge_closed(struct judge *judge, enum outcome outcome)
{
	because(judge, "the control connection was closed by the other end");
	next_step(judge, "see why the peer's process ended");
	/* Who answers late is hung up on: a peer waits ten seconds for an answer. */
	const int64_t patience_ns = INT64_C(10000000000);
	struct num took = judge->control->duration_ns;
	bool answers = judge->evidence->local.role == ROLE_TARGET || judge->request->mode == MODE_LISTENER;
	if (answers && took.known && took.value >= patience_ns) {
		char text[DURATION_TEXT_SIZE];
		because(judge, "step %s had taken %s by then, which is longer than a peer waits for an answer",
		        judge->control->step, format_duration(took.value, text));
		next_step(
		        judge, "see what took that long on this host: the kernel log, and the steps of this document");
		return undetermined(judge, outcome,
		        L(KERNEL) | L(DEVICE) | L(PLATFORM) | L(NETWORK) | L(CONFIGURATION) | L(REMOTE_APPLICATION));
	}
	/* A listener closes on who does not get through to it as well. */
	const struct tcp_facts *tcp = judge->evidence->tcp;
	const char *cut = cutting_filter(judge);
	if (cut)
		because(judge, "a filter of a host may have reset it: %s", cut);
	if (cut || (tcp && tcp->retransmits.known && tcp->retransmits.value > 0))
		return undetermined(judge, outcome, L(REMOTE_APPLICATION) | L(NETWORK) | L(CONFIGURATION));
	return likely(judge, outcome, LAYER_REMOTE_APPLICATION, L(NETWORK) | L(CONFIGURATION));
}

bool judge_control(struct judge *judge, enum outcome outcome)
{
	const struct control_step *step = judge->control;
	int64_t error = step->error.value;
	const struct errno_explanation *known = explain_errno(step->step, error);
	because(judge, "step %s of the control connection failed: %s (errno %" PRId64 ")%s%s", step->step,
	        strerror((int)error), error, step->detail ? ", " : "", step->detail ? step->detail : "");
	if (error == EINTR && judge->evidence->interrupted == FLAG_YES) {
		summarize(judge, "interrupted at step %s of the control connection: nothing can be concluded",
		        step->step);
		next_step(judge, "run it again and let it come to its end");
		return undetermined(judge, outcome, 0);
	}
	if (known && known->text.next)
		advise_address(judge, known->text.next, peer_address(judge));
	if (text_is(step->step, "connect") && error == ECONNREFUSED) {
		summarize(judge, "the connection to the peer was refused: nobody listens at its address and port, or a "
		                 "filter rejects it");
		return likely(judge, outcome, LAYER_REMOTE_APPLICATION, L(CONFIGURATION));
	}
	if (text_is(step->step, "connect")) {
		summarize(judge, "the peer was not reached: %s", strerror((int)error));
		return undetermined(judge, outcome,
		        known ? known->text.layers : L(CONFIGURATION) | L(NETWORK) | L(REMOTE_APPLICATION));
	}
	if (error == EPROTO)
		summarize(judge,
		        "the other end of the control connection does not speak this program's protocol: something "
		        "else, or another version");
	else if (error == EPROTONOSUPPORT)
		summarize(judge, "the other end of the control connection speaks another version of the protocol");
	else
		summarize(judge, "the peer was lost at step %s of the control connection: %s", step->step,
		        strerror((int)error));
	tell_routes(judge);
	if (judge->evidence->local.route_errno.known && judge->evidence->local.route_errno.value)
		advise_address(judge, "look at `ip route get` for the peer's address", gid_address(judge, SIDE_REMOTE));
	if (peer_closed(judge))
		return judge_closed(judge, outcome);
	return undetermined(
	        judge, outcome, known ? known->text.layers : L(CONFIGURATION) | L(NETWORK) | L(REMOTE_APPLICATION));
}

bool rule_control(struct judge *judge)
{
	if (!judge->control)
		return false;
	bool worked = judge->succeeded && !judge->pending && !judge->failed;
	if (worked)
		because(judge, "%s had completed successfully before", all_operations(judge, success_count(judge)));
	if (judge->verified < judge->succeeded && worked)
		not_observed(judge, "whether the peer has the right bytes: it did not say so any more");
	return judge_control(judge, OUTCOME_FAILED);
}
