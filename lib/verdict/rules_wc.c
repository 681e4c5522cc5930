/* SPDX-License-Identifier: MIT */
/* Requests that were refused, and completions with an error: whose doing, as far as the status and the facts go. */
#include "verdict/judge.h"

#include "base/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* enum ibv_wc_status. */
enum {
	WC_LOC_LEN = 1,
	WC_LOC_QP_OP = 2,
	WC_LOC_PROT = 4,
	WC_REM_INV_REQ = 9,
	WC_REM_ACCESS = 10,
	WC_RETRY_EXC = 12,
	WC_RNR_RETRY_EXC = 13,
	WC_RESP_TIMEOUT = 20,
};

/* ---- refused by post ---- */

static bool is_longer(const struct operation *operation, struct num limit)
{
	return operation->bytes.known && limit.known && operation->bytes.value > limit.value;
}

static bool tell_too_long(struct judge *judge, const struct operation *operation, struct num limit, const char *whose)
{
	if (!is_longer(operation, limit))
		return false;
	because(judge, "the request has %" PRId64 " bytes, %s %" PRId64, operation->bytes.value, whose, limit.value);
	return true;
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
	if (judge->posted)
		because(judge, "%u requests before it were posted", judge->posted);
	summarize(judge, "the request was refused when it was posted: %s", strerror((int)error));
	next_step(judge, "%s", known && known->text.next ? known->text.next : "look at the request that bad_wr names");
	if (tell_too_long(judge, refused, judge->evidence->local.max_message_bytes, "the port's limit is"))
		return confirmed(judge, OUTCOME_FAILED, LAYER_APPLICATION);
	if (error == ENODEV || error == EIO)
		return undetermined(judge, OUTCOME_FAILED, L(DEVICE) | L(KERNEL) | L(PLATFORM));
	layer_set base = known ? known->text.layers : L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(DEVICE);
	return undetermined(judge, OUTCOME_FAILED, base);
}

/* ---- completion queue overrun ---- */

static bool is_before(struct num a, struct num b)
{
	return !a.known || !b.known || a.value <= b.value;
}

/* Signaled requests whose completion was not taken, against the size of the queue. */
static int64_t outstanding_signaled(const struct judge *judge)
{
	int64_t count = 0;
	list_each(operation, &judge->evidence->operations)
		count +=
		        is_posted(operation) && operation->is_signaled == FLAG_YES && !operation->cqe_consumed_ns.known;
	return count;
}

bool rule_overrun(struct judge *judge)
{
	const struct async_event *event = own_event(judge, SIDE_LOCAL, "CQ_ERR");
	if (!event || (judge->failed && !is_before(event->t_ns, judge->failed->cqe_consumed_ns)))
		return false;
	struct num entries = judge->evidence->local.cqe;
	int64_t outstanding = outstanding_signaled(judge);
	tell_events(judge);
	summarize(judge, "the completion queue broke");
	next_step(judge,
	        "make the completion queue at least as deep as the signaled requests that may be outstanding, and take "
	        "completions sooner");
	if (entries.known && outstanding > entries.value) {
		because(judge, "%" PRId64 " signaled requests were outstanding, and the queue has %" PRId64 " entries",
		        outstanding, entries.value);
		summarize(judge, "the completion queue overran: completions were not taken fast enough");
		return confirmed(judge, OUTCOME_FAILED, LAYER_APPLICATION);
	}
	not_observed(judge, "how many completions were outstanding when it broke");
	tell_gaps(judge, NULL);
	return undetermined(judge, OUTCOME_FAILED, L(APPLICATION) | L(PROVIDER) | L(DEVICE) | L(PLATFORM));
}

/* ---- keys, lengths and rights ---- */

static bool differ(struct num posted, struct num exchanged)
{
	return posted.known && exchanged.known && posted.value != exchanged.value;
}

static bool is_outside(const struct operation *operation, const struct endpoint_facts *target)
{
	if (!operation->remote_address.known || !target->buffer_address.known)
		return false;
	int64_t offset = difference(operation->remote_address.value, target->buffer_address.value);
	if (offset < 0 || !operation->bytes.known || !target->buffer_bytes.known)
		return offset < 0;
	return offset > difference(target->buffer_bytes.value, operation->bytes.value);
}

/* The caller's own mistake, seen by comparing what was posted with what the peer gave out. */
static bool tell_wrong_request(struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *target = &judge->evidence->remote;
	bool wrong = false;
	/* A send goes where the peer's receive says: key and address do not matter. */
	if (operation->opcode != OP_SEND && differ(operation->rkey, target->rkey)) {
		because(judge, "the remote key in the request is 0x%" PRIx64 ", the peer gave out 0x%" PRIx64,
		        (uint64_t)operation->rkey.value, (uint64_t)target->rkey.value);
		wrong = true;
	}
	if (operation->opcode != OP_SEND && is_outside(operation, target)) {
		because(judge, "the range in the request is not inside the buffer that the peer gave out");
		wrong = true;
	}
	return wrong;
}

static bool compared(const struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *target = &judge->evidence->remote;
	return operation->rkey.known && target->rkey.known && operation->remote_address.known &&
	       target->buffer_address.known && target->buffer_bytes.known && operation->bytes.known;
}

/* Status 9 and 10: the peer's adapter answered, so posting and the way there work. */
static bool judge_rejected(struct judge *judge, const struct operation *operation, layer_set base)
{
	bool is_access = num_is(operation->wc_status, WC_REM_ACCESS);
	because(judge, "the refusal came from the peer's adapter, so the request was posted, sent and received");
	next_step(judge, "compare key, address, length and rights with what the peer gave out");
	if (is_access && tell_wrong_request(judge, operation)) {
		summarize(judge, "the peer's adapter refused the request: it is not what the peer allowed");
		return confirmed(judge, OUTCOME_FAILED, LAYER_APPLICATION);
	}
	const char *right = missing_right(judge, operation);
	if (right) {
		because(judge, "%s", right);
		summarize(judge, "the peer did not give the right that the request needs");
		return confirmed(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION);
	}
	if (!is_access &&
	        tell_too_long(judge, operation, judge->evidence->remote.buffer_bytes, "the peer's buffer has")) {
		summarize(judge, "the request is longer than the peer's buffer");
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, base);
	}
	if (!compared(judge, operation)) {
		not_observed(judge, "whether key and range in the request are those that the peer gave out");
		return undetermined(judge, OUTCOME_FAILED, base);
	}
	because(judge, "key and range in the request are those that the peer gave out");
	const struct endpoint_facts *target = &judge->evidence->remote;
	if (!is_access || (target->mr_access && target->qp_access))
		return undetermined(judge, OUTCOME_FAILED, L(REMOTE_APPLICATION) | L(REMOTE_DEVICE));
	not_observed(judge, "the rights of the peer's buffer and queue pair");
	return likely(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION, L(REMOTE_DEVICE));
}

static bool judge_length(struct judge *judge, const struct operation *operation, layer_set base)
{
	next_step(judge, "compare the length with max_msg_sz, and the MTU of both ends");
	if (tell_too_long(judge, operation, judge->evidence->local.max_message_bytes, "the port's limit is")) {
		summarize(judge, "the message is longer than the port's limit");
		return confirmed(judge, OUTCOME_FAILED, LAYER_APPLICATION);
	}
	const char *conflict = mtu_conflict(judge);
	if (conflict) {
		because(judge, "%s", conflict);
		summarize(judge, "the path MTU does not fit both ports");
		return likely(judge, OUTCOME_FAILED, LAYER_CONFIGURATION, base);
	}
	return undetermined(judge, OUTCOME_FAILED, base | L(DEVICE));
}

/* Status 4: the adapter could not use the local buffer. Nothing went out to the network for it. */
static bool judge_protection(struct judge *judge, const struct operation *operation, layer_set base)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	because(judge, "the error is of the local buffer: the network is not involved");
	next_step(judge, "look at IOMMU and ACS settings and at the kernel log of this host");
	if (tell_too_long(judge, operation, local->buffer_bytes, "the local buffer has"))
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, base);
	if (is_software(local))
		return undetermined(judge, OUTCOME_FAILED, L(APPLICATION) | L(KERNEL));
	if (judge->request->drill && !operation->lkey.known)
		return undetermined(judge, OUTCOME_FAILED, base & ~L(KERNEL));
	because(judge, operation->lkey.known ? "the local key in the request is that of the buffer"
	                                     : "the probe posts its own registered buffer");
	summarize(judge, "the adapter could not read or write the probe's own registered buffer");
	return likely(judge, OUTCOME_FAILED, LAYER_PLATFORM, L(DEVICE) | L(APPLICATION));
}

static bool judge_no_receive(struct judge *judge, const struct operation *operation, layer_set base)
{
	enum flag quiet_mlx5 = FLAG_UNKNOWN, quiet_rxe = FLAG_UNKNOWN;
	bool needs = operation->opcode == OP_SEND || operation->opcode == OP_WRITE_IMM;
	next_step(judge, "see whether the peer posts receives early enough");
	if (is_driver(&judge->evidence->local, "efa")) {
		because(judge, "efa gives this status to a peer that does not answer");
		return undetermined(judge, OUTCOME_FAILED, base | L(NETWORK) | L(CONFIGURATION));
	}
	if (!needs) {
		because(judge, "this operation needs no receive of the peer; its adapter may ask for time while it "
		               "resolves pages");
		return undetermined(judge, OUTCOME_FAILED, base);
	}
	summarize(judge, "the peer had no receive posted until the retries were used up");
	struct num mlx5 = counter_growth(judge, SIDE_REMOTE, "out_of_buffer", &quiet_mlx5);
	struct num rxe = counter_growth(judge, SIDE_REMOTE, "send_rnr_err", &quiet_rxe);
	if ((mlx5.known && mlx5.value > 0 && quiet_mlx5 == FLAG_YES) ||
	        (rxe.known && rxe.value > 0 && quiet_rxe == FLAG_YES))
		return confirmed(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION);
	return likely(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION, base);
}

/* ---- lost packets ---- */

/* Filters of the host are in the path of software RDMA only. */
static bool filter_matters(const struct endpoint_facts *end)
{
	return is_software(end);
}

static void tell_filters(struct judge *judge)
{
	const struct endpoint_facts *ends[] = { &judge->evidence->local, &judge->evidence->remote };
	for (int i = 0; i < 2; i++) {
		const char *whose = i ? "the peer's host" : "this host";
		if (!filter_matters(ends[i]))
			continue;
		if (!ends[i]->filter)
			not_observed(judge, "packet filters and queueing disciplines of %s", whose);
		else if (*ends[i]->filter)
			because(judge, "%s has packet filters or queueing disciplines that may drop: %s", whose,
			        ends[i]->filter);
		else
			because(judge, "%s has no packet filter or queueing discipline that drops", whose);
		next_step(judge, is_iwarp(ends[i])
		                         ? "see whether a host firewall drops the TCP connection of iWARP (nft "
		                           "list ruleset, tc -s qdisc)"
		                         : "see whether a host firewall drops UDP port 4791 (nft list ruleset, "
		                           "tc -s qdisc)");
	}
	if (counter_moved(judge, SIDE_LOCAL, COUNTER_CONGESTION, true) ||
	        counter_moved(judge, SIDE_REMOTE, COUNTER_CONGESTION, true))
		next_step(judge, "follow the pause frames along the way: who throttles whom");
	bool leaves = judge->evidence->same_port_loopback != FLAG_YES;
	if (leaves && judge->evidence->local.driver && !filter_matters(ends[0]))
		next_step(judge, "look at ACLs and drop counters of the switches; the host's packet filter is not in "
		                 "the path of "
		                 "this adapter");
}

/* Both ends are software, and neither host has anything that drops. */
static bool filters_excluded(const struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	return filter_matters(local) && filter_matters(remote) && local->filter && !*local->filter && remote->filter &&
	       !*remote->filter;
}

/* Sent here, not arrived there. `wire`: counted at the wire, not in the host. */
static bool counted_out_only(struct judge *judge, const char *out, const char *in)
{
	enum flag quiet = FLAG_UNKNOWN;
	struct num sent = counter_growth(judge, SIDE_LOCAL, out, &quiet);
	struct num received = counter_growth(judge, SIDE_REMOTE, in, NULL);
	if (!sent.known || sent.value <= 0 || quiet != FLAG_YES || !num_is(received, 0))
		return false;
	because(judge, "local %s rose by %" PRId64 ", %s of the peer did not move", out, sent.value, in);
	return true;
}

static bool both_ports_up(const struct judge *judge)
{
	return text_is(judge->evidence->local.port_state_after, "ACTIVE") &&
	       text_is(judge->evidence->remote.port_state_after, "ACTIVE");
}

static bool judge_wire(struct judge *judge, enum outcome outcome)
{
	if (judge->evidence->same_port_loopback == FLAG_YES)
		return false;
	bool infiniband = text_is(judge->evidence->local.link_layer, "InfiniBand");
	bool wire = counted_out_only(judge, "tx_packets_phy", "rx_packets_phy") ||
	            (infiniband && counted_out_only(judge, "port_xmit_packets", "port_rcv_packets"));
	if (wire) {
		summarize(judge, "packets left this adapter and did not arrive at the peer's");
		next_step(judge, "follow the path between the two ports: link, switch, ACL, priority flow control");
		/* A peer's adapter that hangs counts nothing either: likely, and only while its port is known to be up.
		 */
		return both_ports_up(judge)
		               ? likely(judge, outcome, LAYER_NETWORK, L(REMOTE_DEVICE))
		               : undetermined(judge, outcome, L(NETWORK) | L(REMOTE_DEVICE) | L(CONFIGURATION));
	}
	if (!counted_out_only(judge, "sent_pkts", "rcvd_pkts") &&
	        !counted_out_only(judge, "port_xmit_packets", "port_rcv_packets"))
		return false;
	summarize(judge, "packets were sent by this host and not received by the peer");
	not_observed(judge, "the wire: these counters are of the hosts, with their filters behind them");
	tell_filters(judge);
	return undetermined(judge, outcome, L(NETWORK) | L(CONFIGURATION));
}

/* The peer cannot answer: its queue pair is not ready, or its process is gone. */
static bool judge_peer(struct judge *judge, enum outcome outcome, layer_set base)
{
	const struct endpoint_facts *remote = &judge->evidence->remote;
	if (is_not_ready(remote)) {
		because(judge, "the peer's queue pair is in %s", remote->qp_state);
		summarize(judge, "the peer's queue pair is not ready to receive");
		next_step(judge, "see why the peer's queue pair left RTR/RTS, or never reached it");
		/* Without its transitions nobody knows whether it was tried and failed. */
		bool never = !text_is(remote->qp_state, "ERR") && reached(judge, SIDE_REMOTE, "INIT") &&
		             !reached(judge, SIDE_REMOTE, "RTR");
		if (never && remote->alive == FLAG_YES && !judge->succeeded)
			return confirmed(judge, outcome, LAYER_REMOTE_APPLICATION);
		if (own_event(judge, SIDE_REMOTE, "DEVICE_FATAL") || own_event(judge, SIDE_REMOTE, "QP_FATAL"))
			return undetermined(judge, outcome, L(REMOTE_APPLICATION) | L(REMOTE_DEVICE));
		return likely(judge, outcome, LAYER_REMOTE_APPLICATION, base);
	}
	if (remote->alive != FLAG_NO && !peer_closed(judge))
		return false;
	if (peer_silent(judge)) {
		not_observed(judge, "whether the peer's process runs: nobody answers on the control connection either");
		return undetermined(judge, outcome, base | L(REMOTE_APPLICATION));
	}
	because(judge, "the peer's process is gone");
	summarize(judge, "the peer's process is gone, and its queue pair with it");
	next_step(judge, "see why the peer's process ended");
	return likely(judge, outcome, LAYER_REMOTE_APPLICATION, base);
}

static bool judge_conflicts(
        struct judge *judge, enum outcome outcome, const struct operation *operation, layer_set base)
{
	bool large = only_large_fails(judge, operation);
	const char *conflict = large ? mtu_conflict(judge) : judge->succeeded ? NULL : gid_conflict(judge);
	if (conflict) {
		because(judge, "%s", conflict);
		summarize(judge, large ? "small messages pass, large ones fail: the MTU does not fit both ends"
		                       : "the two addresses cannot be expected to reach each other");
		bool infiniband = text_is(judge->evidence->local.link_layer, "InfiniBand");
		next_step(judge,
		        infiniband ? "look at the subnet manager: state, LID and MTU of both ports"
		        : large    ? "set the same MTU on both netdevs and on the switches between them"
		                   : "take GIDs of the same type and scope on both ends (rdmadiag gid --to ADDRESS)");
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	}
	if (large) {
		summarize(judge, "small messages pass, large ones fail: look at the MTU along the path");
		next_step(
		        judge, "ping with the full packet size and without fragmentation; compare MTUs along the path");
	}
	return false;
}

/* How long the queue pair tries, so that a reader can compare it with what was waited. */
static void tell_patience(struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	int64_t timeout = ack_timeout_ns(local);
	char each[DURATION_TEXT_SIZE], all[DURATION_TEXT_SIZE];
	if (!timeout || !local->retry_count.known || local->retry_count.value < 0 || local->retry_count.value > 7)
		return;
	because(judge,
	        "by its attributes the queue pair gives up after about %s (%" PRId64
	        " times %s); adaptive retransmission "
	        "makes it shorter, some adapters wait longer",
	        format_duration(timeout * (local->retry_count.value + 1), all), local->retry_count.value + 1,
	        format_duration(timeout, each));
}

/* A filter that counted: what it dropped was on its way to or from this port. */
static bool judge_filter(struct judge *judge, enum outcome outcome, layer_set base)
{
	int side = filter_hit(judge, SIDE_LOCAL) ? SIDE_LOCAL : SIDE_REMOTE;
	const struct counter_change *hit = filter_hit(judge, side);
	if (!hit || !filter_matters(endpoint(judge, side)))
		return false;
	tell_filters(judge);
	because(judge, "%s: %s dropped %" PRId64 " packets during the run",
	        side == SIDE_REMOTE ? "the peer's host" : "this host", hit->name,
	        difference(hit->after.value, hit->before.value));
	summarize(judge, "packets are lost, and a filter of %s drops such packets",
	        side == SIDE_REMOTE ? "the peer's host" : "this host");
	next_step(judge, "look at that rule or queueing discipline, and take it away where it is not meant");
	return likely(judge, outcome, LAYER_CONFIGURATION, base);
}

bool judge_lost_packets(struct judge *judge, enum outcome outcome, const struct operation *operation, layer_set base)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	bool landed = operation->payload_verified == FLAG_YES || operation->remote_landed_ns.known;
	tell_patience(judge);
	if (landed)
		because(judge, "the payload is in the peer's memory: the way there works, the acknowledgement did not "
		               "come back");
	else if (operation->landed == FLAG_NO)
		because(judge, "the target looked into its memory, and nothing of the payload is there");
	if (!landed && judge_port_down(judge, outcome))
		return true;
	tell_routes(judge);
	if (only_large_fails(judge, operation))
		because(judge,
		        "smaller operations succeeded, this one of %" PRId64
		        " bytes did not: consistent with an MTU that is too large for the path",
		        operation->bytes.value);
	/* Who is seen to be ready is not the one who does not answer. */
	bool answers = (is_ready(remote) && remote->alive == FLAG_YES) || (landed && remote->alive != FLAG_NO);
	if (judge_filter(judge, outcome, answers ? base & ~L(REMOTE_APPLICATION) : base))
		return true;
	if (judge->step.name && judge->step.side == SIDE_REMOTE && !landed)
		return judge_failed_step(judge, outcome);
	if (!landed && (judge_peer(judge, outcome, base) || judge_conflicts(judge, outcome, operation, base) ||
	                       judge_wire(judge, outcome)))
		return true;
	if (answers)
		base &= ~L(REMOTE_APPLICATION);
	if (landed)
		base |= L(DEVICE);
	tell_filters(judge);
	/* Soft RoCE looks for the way with each packet. */
	if (!landed && filter_matters(local) && local->route_errno.known && local->route_errno.value) {
		summarize(judge, "this host has no route to the peer's GID any more");
		next_step(judge, "look at `ip route get` for the peer's address");
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	}
	if (filters_excluded(judge) && !gid_conflict(judge) && !mtu_conflict(judge))
		base &= ~L(CONFIGURATION);
	if (judge->evidence->same_port_loopback != FLAG_YES)
		not_observed(judge, "the wire counters of both adapters together, which would tell loss on the way "
		                    "from a peer that "
		                    "does not answer");
	return undetermined(judge, outcome, base);
}

/* ---- one completion ---- */

static void tell_completion(struct judge *judge, const struct operation *operation)
{
	const struct wc_explanation *known = explain_wc(operation->wc_status.value);
	because(judge, "the %s completed with status %" PRId64 " (%s)",
	        request_words(judge, operation->opcode, operation->bytes), operation->wc_status.value,
	        known ? known->name : "unknown to this program");
	if (known)
		because(judge, "%s", known->text.meaning);
	summarize(judge, "the operation failed: status %" PRId64 " (%s)", operation->wc_status.value,
	        known ? known->name : "unknown");
	if (known && known->text.next)
		next_step(judge, "%s", known->text.next);
	if (judge->flushed)
		because(judge, "the flushed requests are a consequence of it");
}

static void tell_vendor(struct judge *judge, const struct operation *operation)
{
	if (!operation->vendor_err.known || !operation->vendor_err.value)
		return;
	const struct vendor_explanation *known =
	        explain_vendor(judge->evidence->local.driver, operation->vendor_err.value);
	because(judge, "vendor_err is 0x%" PRIx64 "%s%s", (uint64_t)operation->vendor_err.value, known ? ": " : "",
	        known ? known->text.meaning : "");
	if (!known)
		not_observed(judge, "what vendor_err 0x%" PRIx64 " means: this provider's codes are not published",
		        (uint64_t)operation->vendor_err.value);
}

/*
 * Soft RoCE has this status also for a packet that it finds no way for: a port that went down, a route that is gone
 * (kernel, rxe_requester() in drivers/infiniband/sw/rxe/rxe_req.c).
 */
static bool judge_local_operation(struct judge *judge, layer_set base)
{
	const struct endpoint_facts *local = endpoint(judge, SIDE_LOCAL);
	if (!is_software(local))
		return undetermined(judge, OUTCOME_FAILED, base);
	if (is_port_down(local) && judge_port_down(judge, OUTCOME_FAILED))
		return true;
	return undetermined(judge, OUTCOME_FAILED, base | L(CONFIGURATION));
}

static bool judge_status(struct judge *judge, const struct operation *operation, layer_set base)
{
	switch (operation->wc_status.value) {
	case WC_LOC_LEN:
		return judge_length(judge, operation, base);
	case WC_LOC_QP_OP:
		return judge_local_operation(judge, base);
	case WC_LOC_PROT:
		return judge_protection(judge, operation, base);
	case WC_REM_INV_REQ:
	case WC_REM_ACCESS:
		return judge_rejected(judge, operation, base);
	case WC_RNR_RETRY_EXC:
		return judge_no_receive(judge, operation, base);
	case WC_RETRY_EXC:
	case WC_RESP_TIMEOUT:
		return judge_lost_packets(judge, OUTCOME_FAILED, operation, base);
	default:
		return undetermined(judge, OUTCOME_FAILED, base);
	}
}

void tell_failed(struct judge *judge, const struct operation *operation)
{
	tell_completion(judge, operation);
	tell_vendor(judge, operation);
	tell_events(judge);
	tell_counters(judge);
}

bool rule_failed(struct judge *judge)
{
	const struct operation *operation = judge->failed;
	if (!operation)
		return false;
	const struct wc_explanation *known = explain_wc(operation->wc_status.value);
	tell_failed(judge, operation);
	if (num_is(operation->wc_status, WC_RETRY_EXC))
		tell_gaps(judge, operation);
	/* A status that is not of this list may come from anywhere on the path. */
	layer_set base = known ? known->text.layers : WHOLE_PATH | L(APPLICATION) | L(KERNEL);
	return judge_status(judge, operation, base);
}

bool rule_flushed(struct judge *judge)
{
	if (!judge->flushed)
		return false;
	because(judge,
	        "only flushed requests were seen: the queue pair was in error already, for a reason that came before");
	tell_events(judge);
	tell_counters(judge);
	tell_gaps(judge, NULL);
	summarize(judge, "requests were flushed, and what broke the queue pair was not seen");
	not_observed(
	        judge, "the first error: it may have gone to another completion queue, or to the asynchronous events");
	next_step(judge, "look at the asynchronous events, the peer's completions and the kernel log");
	if (judge_port_down(judge, OUTCOME_FAILED))
		return true;
	if (own_event(judge, SIDE_LOCAL, "DEVICE_FATAL"))
		return undetermined(judge, OUTCOME_FAILED, L(DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION));
	return undetermined(judge, OUTCOME_FAILED, WHOLE_PATH | L(APPLICATION));
}
