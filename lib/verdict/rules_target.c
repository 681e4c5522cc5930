/* SPDX-License-Identifier: MIT */
/*
 * The side that listens has no operations of its own. What its peer told of them is a fact about the peer; this side
 * adds what it saw itself. The peer's layers have other names from here.
 */
#include "verdict/judge.h"

#include <inttypes.h>
#include <string.h>

/* What the peer's own document may leave open beside what the status alone does (rules_request.c), in its own names. */
static layer_set seen_by_peer(int64_t status)
{
	switch (status) {
	case WC_LOC_LEN:
		return L(DEVICE);
	case WC_REM_INV_REQ:
		return L(REMOTE_DEVICE) | L(CONFIGURATION);
	case WC_REM_ACCESS:
		return L(REMOTE_DEVICE);
	case WC_RETRY_EXC:
	case WC_RESP_TIMEOUT:
		/* The answers may have reached its adapter and been lost there. */
		return L(DEVICE);
	default:
		return 0;
	}
}

/* What the peer's provider means by this status besides (rules_request.c, rules_wc.c), in the peer's names. */
static layer_set peculiar_to(struct judge *judge, int64_t status)
{
	const struct endpoint_facts *peer = &judge->evidence->remote;
	if (status == WC_RNR_RETRY_EXC && is_driver(peer, "efa")) {
		because(judge, "efa gives this status to a peer that does not answer");
		return L(NETWORK) | L(CONFIGURATION);
	}
	/* Its device is kernel code, which has this status for a packet without a way, too. */
	if (status == WC_LOC_QP_OP && is_software(peer) && is_iwarp(peer))
		return layers_of_unsent();
	if (status == WC_LOC_QP_OP && is_software(peer))
		return L(KERNEL) | L(CONFIGURATION);
	return 0;
}

/*
 * This process runs, and its queue pair is seen to be ready: it is not what keeps a plain write or read from being
 * answered. Receives that it did not post and rights that it did not give are not seen by that.
 */
static layer_set without_us(const struct judge *judge, const struct peer_report *report, layer_set set)
{
	bool unanswered = !report->wc_status.known || report->wc_status.value == WC_RETRY_EXC;
	bool waits = !report->wc_status.known && report->opcode != OP_WRITE && report->opcode != OP_READ;
	return unanswered && !waits && is_ready(&judge->evidence->local) ? set & ~L(APPLICATION) : set;
}

/* What broke on this side may be what the peer waited for. */
static layer_set broken_here(const struct judge *judge)
{
	static const char *const events[] = { "DEVICE_FATAL", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "CQ_ERR",
		"SRQ_ERR", "WQ_FATAL", "PORT_ERR", "LID_CHANGE", "PKEY_CHANGE" };
	layer_set set = 0;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (own_event(judge, SIDE_LOCAL, events[i]))
			set |= explain_event(events[i])->text.layers;
	return set;
}

static void tell_arrivals(struct judge *judge)
{
	struct num received = counter_growth(judge, SIDE_LOCAL, "rcvd_pkts", NULL);
	if (judge->evidence->local.qp_state)
		because(judge, "this side's queue pair is in %s", judge->evidence->local.qp_state);
	if (num_is(received, 0))
		because(judge, "no packet for soft RoCE came in on this port meanwhile");
	tell_events(judge);
	tell_counters(judge);
}

static bool judge_peer_setup(struct judge *judge, const struct peer_report *report)
{
	const struct errno_explanation *known = report->step ? explain_errno(report->step, report->error.value) : NULL;
	because(judge, "the peer says that %s%s failed: %s (errno %" PRId64 ")",
	        report->step ? "its step " : "its set-up", report->step ? report->step : "",
	        report->text ? report->text : strerror((int)report->error.value), report->error.value);
	if (known)
		because(judge, "%s", known->text.meaning);
	if (known && known->text.next)
		next_step(judge, "on the peer: %s", known->text.next);
	next_step(judge, "read the peer's own document: it has all of its steps");
	summarize(judge, "the peer could not begin%s%s", report->step ? ": it stopped at " : "",
	        report->step ? report->step : "");
	if (text_is(explain_step(report->step), "RTR") && has_empty_gid(&judge->evidence->remote) &&
	        !text_is(judge->evidence->remote.link_layer, "InfiniBand")) {
		because(judge, "the peer's GID is empty: nothing is at the index in use");
		next_step(judge, "run `rdmadiag gid` on the peer and take an index that is in use (-g)");
		return likely(judge, OUTCOME_NOT_RUN, LAYER_CONFIGURATION, 0);
	}
	layer_set set = known ? mirrored(known->text.layers)
	                      : L(CONFIGURATION) | L(REMOTE_APPLICATION) | L(REMOTE_DEVICE) | L(NETWORK) | L(KERNEL);
	return set == L(CONFIGURATION) ? likely(judge, OUTCOME_NOT_RUN, LAYER_CONFIGURATION, 0)
	                               : undetermined(judge, OUTCOME_NOT_RUN, set);
}

/* What is in its queue may wait for this side; then the queue is full for that reason. */
static bool judge_peer_refusal(struct judge *judge, const struct peer_report *report)
{
	const char *request = request_words(judge, report->opcode, report->bytes),
	           *reason = strerror((int)report->error.value);
	const struct errno_explanation *known = explain_errno("ibv_post_send", report->error.value);
	because(judge, "the peer says that posting its %s failed: %s (errno %" PRId64 ")", request, reason,
	        report->error.value);
	if (known)
		because(judge, "%s", known->text.meaning);
	next_step(judge, "read the peer's own document: it has the operation with all of its stages");
	summarize(judge, "the peer's request was refused when it was posted: %s", reason);
	layer_set set = layers_of_refusal(report->error.value);
	bool waits = report->posted.known && report->completed.known && report->completed.value < report->posted.value;
	if (waits) {
		because(judge, "%" PRId64 " of the %" PRId64 " requests before it had succeeded",
		        report->completed.value, report->posted.value);
		tell_arrivals(judge);
		set |= WHOLE_PATH | L(APPLICATION);
	}
	return undetermined(
	        judge, OUTCOME_FAILED, without_us(judge, report, mirrored(set)) | (waits ? broken_here(judge) : 0));
}

/* The peer was refused, and this side did not give what its request needs. */
static bool judge_own_right(struct judge *judge, const struct peer_report *report)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	const char *right = needed_right(report->opcode);
	bool refused = num_is(report->wc_status, WC_REM_ACCESS) || num_is(report->wc_status, WC_REM_INV_REQ);
	bool buffer = right && local->mr_access && !text_has(local->mr_access, right);
	bool queue = right && local->qp_access && !text_has(local->qp_access, right);
	if (!refused || num_is(report->bytes, 0))
		return false;
	if (num_is(report->wc_status, WC_REM_ACCESS) && right && local->one_pd == FLAG_NO && has_one_domain(judge)) {
		because(judge, "this side's buffer and queue pair belong to different protection domains");
		summarize(judge, "this side's buffer is not in the protection domain of its queue pair");
		next_step(judge, "register the buffer of this side in the domain of the queue pair");
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, L(DEVICE) | L(REMOTE_APPLICATION));
	}
	if (!buffer && !queue)
		return false;
	because(judge, "this side's %s without %s", buffer ? "buffer was registered" : "queue pair was set up", right);
	summarize(judge, "this side did not give the right that the peer's request needs");
	next_step(judge, "give %s to buffer and queue pair of this side", right);
	return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, L(DEVICE) | L(REMOTE_APPLICATION));
}

/* It answers nobody from then on; whether that was before the peer gave up only the two documents together tell. */
static void tell_stopped_here(struct judge *judge, const struct peer_report *report)
{
	bool unanswered = !report->wc_status.known || report->wc_status.value == WC_RETRY_EXC;
	if (!unanswered || !own_event(judge, SIDE_LOCAL, "DEVICE_FATAL"))
		return;
	summarize(judge, "the peer's operation got no answer, and this side's adapter stopped working or was removed");
	next_step(judge, "%s", explain_event("DEVICE_FATAL")->text.next);
}

/* Requests or answers went missing, and this host knows of something on its way that loses them. */
static bool judge_own_losses(struct judge *judge, enum outcome outcome, layer_set set)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	tell_routes(judge);
	if (judge_refused_packets(judge, outcome) || judge_filter(judge, outcome, set) ||
	        judge_netem(judge, outcome, set) || judge_gid_gone(judge, outcome, set))
		return true;
	if (!is_software(local) || !local->route_errno.known || !local->route_errno.value)
		return false;
	summarize(judge, "this host has no route to the peer's GID: its answers do not leave it");
	advise_address(judge, "look at `ip route get` for the peer's address", gid_address(judge, SIDE_REMOTE));
	return likely(judge, outcome, LAYER_CONFIGURATION, set);
}

static bool judge_peer_operation(struct judge *judge, const struct peer_report *report)
{
	const char *request = request_words(judge, report->opcode, report->bytes);
	next_step(judge, "read the peer's own document: it has the operation with all of its stages");
	if (!report->wc_status.known) {
		because(judge, "the peer says that its %s got no completion", request);
		summarize(judge, "the peer's operation stalled");
		tell_arrivals(judge);
		tell_stopped_here(judge, report);
		layer_set set = without_us(judge, report, mirrored(WHOLE_PATH | L(APPLICATION))) | broken_here(judge) |
		                counted_layers(judge);
		advise_counters(judge);
		return judge_own_losses(judge, OUTCOME_STALLED, set) || undetermined(judge, OUTCOME_STALLED, set);
	}
	const struct wc_explanation *known = explain_wc(report->wc_status.value);
	because(judge, "the peer says that its %s completed with status %" PRId64 " (%s)", request,
	        report->wc_status.value, known ? known->name : "unknown to this program");
	if (known)
		because(judge, "%s", known->text.meaning);
	summarize(judge, "the peer's operation failed: status %" PRId64 " (%s)", report->wc_status.value,
	        known ? known->name : "unknown");
	tell_arrivals(judge);
	tell_stopped_here(judge, report);
	if (judge_port_down(judge, OUTCOME_FAILED) || judge_own_right(judge, report))
		return true;
	layer_set set = known && known->text.layers ? known->text.layers : WHOLE_PATH | L(APPLICATION) | L(KERNEL);
	if (is_untranslated(&judge->evidence->remote, report->wc_status))
		set |= WHOLE_PATH | L(APPLICATION);
	if (known)
		set |= seen_by_peer(report->wc_status.value) | peculiar_to(judge, report->wc_status.value);
	set = without_us(judge, report, mirrored(set)) | broken_here(judge);
	if (report->wc_status.value == WC_RETRY_EXC || report->wc_status.value == WC_RESP_TIMEOUT) {
		set |= counted_layers(judge);
		advise_counters(judge);
		if (judge_own_losses(judge, OUTCOME_FAILED, set))
			return true;
	}
	return undetermined(judge, OUTCOME_FAILED, set);
}

bool rule_reported(struct judge *judge)
{
	const struct peer_report *report = judge->evidence->peer_report;
	/* Its own steps come first: the peer's trouble may be the consequence. */
	if (!report || judge->evidence->local.role != ROLE_TARGET || judge->step.name || judge->posted)
		return false;
	if (report->error.known && report->error.value)
		return report->opcode ? judge_peer_refusal(judge, report) : judge_peer_setup(judge, report);
	bool failed = report->wc_status.known && report->wc_status.value;
	/* The last request of a run asks for a completion, so one of them at least has one. */
	bool none = num_is(report->completed, 0);
	bool stalled = (report->opcode || none) && !report->wc_status.known && report->posted.known &&
	               report->posted.value > 0;
	return (failed || stalled) && judge_peer_operation(judge, report);
}
