/* SPDX-License-Identifier: MIT */
/* Completions with an error: whose doing, as far as the status and the facts go. */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <string.h>

/* ---- keys, lengths and rights ---- */

/* The caller's own mistake, seen by comparing what was posted with what the peer gave out. */
static bool tell_wrong_request(struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *target = &judge->evidence->remote;
	bool wrong = false;
	if (differs_in_key(judge, operation)) {
		because(judge, "the remote key in the request is 0x%" PRIx64 ", the peer gave out 0x%" PRIx64,
		        (uint64_t)operation->rkey.value, (uint64_t)target->rkey.value);
		wrong = true;
	}
	if (is_outside(judge, operation)) {
		because(judge, "the range in the request is not inside the buffer that the peer gave out");
		wrong = true;
	}
	return wrong;
}

static bool compared(const struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *target = &judge->evidence->remote;
	return has_one_domain(judge) && operation->rkey.known && target->rkey.known &&
	       operation->remote_address.known && target->buffer_address.known && target->buffer_bytes.known &&
	       operation->bytes.known;
}

/* Packets longer than the peer's queue pair expects are refused like a wrong length. */
static bool judge_packet_length(struct judge *judge, const struct operation *operation, layer_set base)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	const char *conflict = mtu_conflict(judge);
	bool large = only_large_fails(judge, operation);
	if (large && conflict) {
		because(judge, "%s", conflict);
		summarize(judge, "small messages pass, large ones are refused: the MTU does not fit both ends");
		next_step(judge, "agree on the smaller active MTU of both ports when the queue pairs go to RTR");
		return likely(judge, OUTCOME_FAILED, LAYER_CONFIGURATION, base);
	}
	bool differ = local->active_mtu.known && remote->active_mtu.known &&
	              local->active_mtu.value != remote->active_mtu.value;
	if (!large || (local->path_mtu.known && remote->path_mtu.known))
		return false;
	if (differ)
		because(judge,
		        "the active MTU is %" PRId64 " here and %" PRId64 " there, and only a long message failed",
		        local->active_mtu.value, remote->active_mtu.value);
	not_observed(judge, "the path MTU that both queue pairs were given");
	return undetermined(judge, OUTCOME_FAILED, base | L(CONFIGURATION));
}

/* A key is good for the queue pairs of its own domain only (ibv_alloc_pd(3); soft RoCE: kernel, lookup_mr()). */
static bool is_of_other_domain(const struct judge *judge, const struct operation *operation)
{
	return judge->evidence->remote.one_pd == FLAG_NO && has_one_domain(judge) && !is_empty(operation);
}

/* Another request passed with a key or range that is not what the peer gave out either. */
static bool is_passed_elsewhere(const struct judge *judge)
{
	list_each(other, &judge->evidence->operations)
		if (is_success(other) && (differs_in_key(judge, other) || is_outside(judge, other)))
			return true;
	return false;
}

/* Of one without bytes the adapter looks at neither key nor range: where that is not known, nothing is certain. */
static bool has_bytes(struct judge *judge, const struct operation *operation)
{
	if (!operation->bytes.known)
		not_observed(judge, "whether the request has any bytes");
	return operation->bytes.known;
}

static bool judge_wrong_request(struct judge *judge, const struct operation *operation, layer_set base)
{
	const char *right = missing_right(judge, operation);
	summarize(judge, "the peer's adapter refused the request: it is not what the peer allowed");
	if (is_passed_elsewhere(judge)) {
		not_observed(judge, "which buffer of the peer the request was for: the record knows one only");
		return undetermined(judge, OUTCOME_FAILED, base);
	}
	bool other_domain = is_of_other_domain(judge, operation);
	if (right || other_domain) {
		if (right)
			because(judge, "%s", right);
		if (other_domain)
			because(judge, "the peer's buffer and queue pair belong to different protection domains");
		not_observed(judge, "which of them the peer's adapter refused: each would do");
		return undetermined(judge, OUTCOME_FAILED, L(APPLICATION) | L(REMOTE_APPLICATION));
	}
	if (operation->opcode == OP_UNKNOWN && is_unreadable(judge, ".opcode:")) {
		not_observed(judge, "which operation it is, and so whether it has a remote key");
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, base);
	}
	return has_bytes(judge, operation) ? confirmed(judge, OUTCOME_FAILED, LAYER_APPLICATION)
	                                   : likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, base);
}

static bool judge_target_domain(struct judge *judge, const struct operation *operation)
{
	if (!is_of_other_domain(judge, operation))
		return false;
	because(judge, "the peer's buffer and queue pair belong to different protection domains");
	summarize(judge, "the peer's buffer is not in the protection domain of its queue pair");
	next_step(judge, "on the peer: register the buffer in the domain of the queue pair");
	return likely(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION, L(REMOTE_DEVICE));
}

/* Status 9 and 10: the peer's adapter answered, so posting and the way there work. */
static bool judge_rejected(struct judge *judge, const struct operation *operation, layer_set base)
{
	bool is_access = num_is(status_of(operation), WC_REM_ACCESS);
	because(judge, "the refusal came from the peer's adapter, so the request was posted, sent and received");
	if (is_access && tell_wrong_request(judge, operation))
		return judge_wrong_request(judge, operation, base);
	const char *right = missing_right(judge, operation);
	if (right) {
		because(judge, "%s", right);
		summarize(judge, "the peer did not give the right that the request needs");
		/* For want of a right of the buffer adapters answer with status 10, not with 9 (IBTA, table 58). */
		if (!is_access && !lacks_queue_right(judge, operation))
			return likely(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION, base);
		return has_bytes(judge, operation) ? confirmed(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION)
		                                   : likely(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION, base);
	}
	if (is_access && judge_target_domain(judge, operation))
		return true;
	if (!is_access &&
	        tell_too_long(judge, operation, judge->evidence->remote.buffer_bytes, "the peer's buffer has")) {
		summarize(judge, "the request is longer than the peer's buffer");
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, base);
	}
	if (!is_access && judge_packet_length(judge, operation, base))
		return true;
	if (is_access && operation->opcode == OP_SEND) {
		because(judge, "a send names neither key nor range of the peer: where it goes its receive says");
		not_observed(judge, "key, range and rights of the receive that the peer had posted");
		return undetermined(judge, OUTCOME_FAILED, L(REMOTE_APPLICATION) | L(REMOTE_DEVICE));
	}
	if (is_access && is_empty(operation)) {
		because(judge, "it has no bytes: then the adapter looks at neither key nor range");
		not_observed(judge, "what of a request without bytes the peer's adapter refused");
		return undetermined(judge, OUTCOME_FAILED, base | L(REMOTE_DEVICE));
	}
	if (!compared(judge, operation)) {
		not_observed(judge, "whether key and range in the request are those that the peer gave out");
		return undetermined(judge, OUTCOME_FAILED, base);
	}
	because(judge, "key and range in the request are those that the peer gave out");
	const struct endpoint_facts *target = &judge->evidence->remote;
	/*
	 * More reads at once than the peer's queue pair answers, and a message longer than its receive, are refused as
	 * invalid: what both programs agreed on is not in the record.
	 */
	layer_set agreed = !is_access && operation->opcode != OP_WRITE ? L(APPLICATION) : 0;
	if (!is_access || (target->mr_access && target->qp_access))
		return undetermined(judge, OUTCOME_FAILED, L(REMOTE_APPLICATION) | L(REMOTE_DEVICE) | agreed);
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
	/* One packet that is shorter than the smallest MTU of RDMA fits everywhere. */
	enum { SMALLEST_MTU = 256 };
	bool small = operation->bytes.known && operation->bytes.value <= SMALLEST_MTU;
	const char *conflict = small ? NULL : mtu_conflict(judge);
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
	if (!uses_local_key(operation)) {
		because(judge, "%s: the adapter needs no key for it",
		        is_empty(operation) ? "it has no bytes" : "its bytes are inline, in the queue entry");
		not_observed(judge, "what the adapter refused: the queue entry as it lay in memory was not kept");
		return undetermined(judge, OUTCOME_FAILED, base | L(PROVIDER) | L(DEVICE));
	}
	bool own = operation->lkey.known ? local->lkey.known : !judge->request->drill;
	if (tell_too_long(judge, operation, local->buffer_bytes, "the local buffer has")) {
		next_step(judge, "post no more bytes than the buffer of the local key has");
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, base);
	}
	if (operation->opcode == OP_READ && local->mr_access && !text_has(local->mr_access, "local-write")) {
		because(judge, "a read writes to the local buffer, which was registered with \"%s\"", local->mr_access);
		summarize(judge, "the local buffer may not be written to, and a read does that");
		next_step(judge, "register the buffer with IBV_ACCESS_LOCAL_WRITE");
		return likely(judge, OUTCOME_FAILED, LAYER_APPLICATION, base);
	}
	/* Nobody need check what was compared, or what the probe does with its own buffer. */
	next_step(judge, "%s",
	        own ? "look at IOMMU and ACS settings and at the kernel log of this host"
	            : explain_wc(WC_LOC_PROT)->text.next);
	if (is_software(local))
		return undetermined(judge, OUTCOME_FAILED, L(APPLICATION) | L(KERNEL));
	if (own_event(judge, SIDE_LOCAL, "DEVICE_FATAL"))
		return undetermined(judge, OUTCOME_FAILED, base);
	if (operation->lkey.known && !local->lkey.known) {
		not_observed(judge, "whether the local key in the request is that of the buffer");
		return undetermined(judge, OUTCOME_FAILED, base);
	}
	if (judge->request->drill && !operation->lkey.known)
		return undetermined(judge, OUTCOME_FAILED, base & ~L(KERNEL));
	because(judge, operation->lkey.known ? "the local key in the request is that of the buffer"
	                                     : "the probe posts its own registered buffer");
	summarize(judge, "the adapter could not read or write the probe's own registered buffer");
	/* On demand the kernel brings each page when the device asks for it. */
	layer_set pager =
	        text_has(local->mr_access, "on-demand") || text_is(judge->request->registration, "odp") ? L(KERNEL) : 0;
	return likely(judge, OUTCOME_FAILED, LAYER_PLATFORM, L(DEVICE) | L(APPLICATION) | pager);
}

static bool judge_no_receive(struct judge *judge, const struct operation *operation, layer_set base)
{
	enum flag quiet_mlx5 = FLAG_UNKNOWN, quiet_rxe = FLAG_UNKNOWN;
	next_step(judge, "see whether the peer posts receives early enough");
	if (is_driver(&judge->evidence->local, "efa")) {
		because(judge, "efa gives this status to a peer that does not answer");
		return undetermined(judge, OUTCOME_FAILED, base | L(NETWORK) | L(CONFIGURATION));
	}
	if (operation->opcode == OP_UNKNOWN) {
		not_observed(judge, "which operation it is, and so whether it needs a receive of the peer");
		return undetermined(judge, OUTCOME_FAILED, base);
	}
	if (!needs_receive(operation)) {
		because(judge, "this operation needs no receive of the peer; its adapter may ask for time while it "
		               "resolves pages");
		return undetermined(judge, OUTCOME_FAILED, base);
	}
	summarize(judge, "the peer had no receive posted until the retries were used up");
	struct num mlx5 = counter_growth(judge, SIDE_REMOTE, "out_of_buffer", &quiet_mlx5);
	struct num rxe = counter_growth(judge, SIDE_REMOTE, "send_rnr_err", &quiet_rxe);
	if ((mlx5.known && mlx5.value > 0 && quiet_mlx5 == FLAG_YES) ||
	        (rxe.known && rxe.value > 0 && quiet_rxe == FLAG_YES))
		because(judge, "the peer's adapter counted messages without a receive after a quiet baseline");
	if (own_event(judge, SIDE_REMOTE, "SRQ_ERR")) {
		because(judge, "%s", explain_event("SRQ_ERR")->text.meaning);
		summarize(judge, "the peer's shared receive queue broke, and no receive was to be had");
		return undetermined(judge, OUTCOME_FAILED, base);
	}
	/* A receive that was posted and that the peer's adapter did not see looks the same from here. */
	not_observed(judge, "whether the peer's program had posted a receive that its adapter did not see");
	return likely(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION, base);
}

/* ---- one completion ---- */

/* Status 12: of the two ends, what the record does not have already. */
void advise_unanswered(struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	/* The port is what to look at first; its rule says so. */
	if (is_port_down(local) || is_port_down(remote))
		return;
	if (judge->evidence->same_port_loopback == FLAG_YES) {
		next_step(judge, "%s", inside_advice(judge));
		return;
	}
	bool counters = has_traffic_of_both(judge), gone = remote->alive == FLAG_NO || peer_closed(judge);
	if (ip_is_silent(judge))
		next_step(judge,
		        "look at links, addresses and routes of both hosts: IP between the same addresses is not "
		        "answered either");
	if (!remote->qp_state && !gone)
		next_step(judge, "look at the peer's queue pair state%s",
		        counters ? "" : ", then compare the wire counters of both ends");
	else if (!counters)
		next_step(judge, "compare the wire counters of both ends");
}

/* Status 10: what there is to compare, unless the record has compared it. */
static void advise_refused(struct judge *judge, const struct operation *operation, const char *next)
{
	const struct endpoint_facts *target = &judge->evidence->remote;
	if (!compared(judge, operation) || differs_in_key(judge, operation) || is_outside(judge, operation) ||
	        missing_right(judge, operation))
		next_step(judge, "%s", next);
	else if (target->mr_access && target->qp_access)
		next_step(judge, "see whether the peer deregistered its buffer meanwhile, and read the kernel log of "
		                 "its host");
	else
		next_step(judge, "look at the access flags of the peer's buffer and of its queue pair");
}

/*
 * Soft RoCE has status 2 also for a packet that it finds no way for: a port that went down, a route or an address that
 * is gone (kernel, rxe_requester() in drivers/infiniband/sw/rxe/rxe_req.c).
 */
static bool is_without_way(const struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *local = endpoint(judge, SIDE_LOCAL);
	bool lost = local->gid_kept == FLAG_NO || (local->route_errno.known && local->route_errno.value) ||
	            is_port_down(local);
	return num_is(status_of(operation), WC_LOC_QP_OP) && is_software(local) && lost;
}

/* The table knows the status only. */
static void advise_status(struct judge *judge, const struct operation *operation, const char *next)
{
	if (num_is(status_of(operation), WC_RETRY_EXC))
		advise_unanswered(judge);
	else if (num_is(status_of(operation), WC_REM_ACCESS))
		advise_refused(judge, operation, next);
	else if (!num_is(status_of(operation), WC_LOC_PROT) && !is_without_way(judge, operation))
		next_step(judge, "%s", next);
}

static void tell_completion(struct judge *judge, const struct operation *operation)
{
	const struct wc_explanation *known = explain_wc(status_of(operation).value);
	because(judge, "the %s completed with status %" PRId64 " (%s)",
	        request_words(judge, operation->opcode, operation->bytes), status_of(operation).value,
	        known ? known->name : "unknown to this program");
	if (known)
		because(judge, "%s", known->text.meaning);
	summarize(judge, "the operation failed: status %" PRId64 " (%s)", status_of(operation).value,
	        known ? known->name : "unknown");
	if (known && known->text.next)
		advise_status(judge, operation, known->text.next);
	if (judge->flushed && !judge->earlier)
		because(judge, "the flushed requests are a consequence of it");
	if (judge->earlier) {
		because(judge, "another request had been flushed before, so that a queue pair was broken already");
		not_observed(judge, "what broke the queue pair of the request that was flushed first");
	}
}

static void tell_vendor(struct judge *judge, const struct operation *operation)
{
	if (!operation->vendor_err.known || !operation->vendor_err.value)
		return;
	const struct vendor_explanation *known =
	        explain_vendor(judge->evidence->local.driver, operation->vendor_err.value);
	bool fits = known && (known->status < 0 || num_is(status_of(operation), known->status));
	because(judge, "vendor_err is 0x%" PRIx64 "%s%s", (uint64_t)operation->vendor_err.value, fits ? ": " : "",
	        fits ? known->text.meaning : "");
	if (known && !fits)
		not_observed(judge,
		        "what vendor_err 0x%" PRIx64
		        " means with this status: it was seen together with status %d only",
		        (uint64_t)operation->vendor_err.value, known->status);
	if (!known)
		not_observed(judge, "what vendor_err 0x%" PRIx64 " means: no meaning of it is known for this provider",
		        (uint64_t)operation->vendor_err.value);
}

/*
 * siw ends with it whatever it could not send, for want of the TCP connection or of rights to the buffer (kernel,
 * siw_qp_sq_process() in drivers/infiniband/sw/siw/siw_qp_tx.c).
 */
layer_set layers_of_unsent(void)
{
	return L(KERNEL) | L(CONFIGURATION) | L(NETWORK) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION);
}

/* See is_without_way(). */
static bool judge_local_operation(struct judge *judge, const struct operation *operation, layer_set base)
{
	const struct endpoint_facts *local = endpoint(judge, SIDE_LOCAL);
	if (!is_software(local))
		return undetermined(judge, OUTCOME_FAILED, base);
	if (is_iwarp(local)) {
		because(judge, "iWARP in software has this status for all that it could not send, also because its TCP "
		               "connection broke");
		next_step(judge, "see on both ends which of them ended the TCP connection, and why (kernel log)");
		return judge_lost_packets(judge, OUTCOME_FAILED, operation, base | layers_of_unsent());
	}
	if (is_port_down(local) && judge_port_down(judge, OUTCOME_FAILED))
		return true;
	base |= L(CONFIGURATION);
	because(judge, "soft RoCE has this status for a packet that it finds no way for, too");
	tell_routes(judge);
	if (local->gid_kept == FLAG_NO && judge_gid_gone(judge, OUTCOME_FAILED, base))
		return true;
	if (local->route_errno.known && local->route_errno.value) {
		summarize(judge, "this host has no route to the peer's GID any more");
		advise_address(judge, "look at `ip route get` for the peer's address", gid_address(judge, SIDE_REMOTE));
		return likely(judge, OUTCOME_FAILED, LAYER_CONFIGURATION, base);
	}
	advise_events(judge);
	return undetermined(judge, OUTCOME_FAILED, base);
}

/* The adapter gave it without asking the network; soft RoCE also where it finds no way, see is_without_way(). */
static bool is_found_locally(const struct judge *judge, const struct operation *operation)
{
	struct num status = status_of(operation);
	return num_is(status, WC_LOC_LEN) || num_is(status, WC_LOC_PROT) ||
	       (num_is(status, WC_LOC_QP_OP) && !is_software(&judge->evidence->local));
}

layer_set broken_meanwhile(const struct judge *judge, const struct operation *operation)
{
	static const struct {
		const char *event;
		layer_set layers;
	} table[] = {
		{ "DEVICE_FATAL", L(DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION) },
		{ "QP_FATAL", L(DEVICE) | L(PLATFORM) },
		{ "PORT_ERR", L(DEVICE) | L(NETWORK) | L(CONFIGURATION) },
	};
	switch (status_of(operation).value) {
	case WC_REM_INV_REQ:
	case WC_REM_ACCESS:
	case WC_REM_OP:
	case WC_RNR_RETRY_EXC:
		return 0; /* an answer of the peer */
	default:
		break;
	}
	layer_set set = 0;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		bool port = !strcmp(table[i].event, "PORT_ERR");
		if (own_event(judge, SIDE_LOCAL, table[i].event) && !(port && is_found_locally(judge, operation)))
			set |= table[i].layers;
	}
	return set;
}

/* irdma gave this status to every error that it could not translate, exceeded retries among them. */
bool is_untranslated(const struct endpoint_facts *end, struct num status)
{
	return num_is(status, WC_FATAL) && (!end->driver || is_driver(end, "irdma") || is_driver(end, "i40iw"));
}

static bool judge_status(struct judge *judge, const struct operation *operation, layer_set base)
{
	switch (status_of(operation).value) {
	case WC_LOC_LEN:
		return judge_length(judge, operation, base);
	case WC_LOC_QP_OP:
		return judge_local_operation(judge, operation, base);
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
	const struct wc_explanation *known = explain_wc(status_of(operation).value);
	tell_failed(judge, operation);
	if (num_is(status_of(operation), WC_RETRY_EXC))
		tell_gaps(judge, operation);
	/* A status that is not of this list may come from anywhere on the path. */
	layer_set base = known ? known->text.layers : WHOLE_PATH | L(APPLICATION) | L(KERNEL);
	if (is_untranslated(&judge->evidence->local, status_of(operation)))
		base |= WHOLE_PATH | L(APPLICATION);
	return judge_status(judge, operation, base | broken_meanwhile(judge, operation));
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
	if (judge_refused_packets(judge, OUTCOME_FAILED)) {
		because(judge, "soft RoCE of newer kernels gives up a queue pair of which a packet was refused");
		return true;
	}
	summarize(judge, "requests were flushed, and what broke the queue pair was not seen");
	not_observed(
	        judge, "the first error: it may have gone to another completion queue, or to the asynchronous events");
	next_step(judge, "look at the asynchronous events, the peer's completions and the kernel log");
	if (judge_port_down(judge, OUTCOME_FAILED))
		return true;
	if (own_event(judge, SIDE_LOCAL, "DEVICE_FATAL"))
		return undetermined(judge, OUTCOME_FAILED, L(DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION));
	/* A program that sees its port go down may have put the queue pair into error itself. */
	if (own_event(judge, SIDE_LOCAL, "PORT_ERR"))
		return undetermined_link(judge, OUTCOME_FAILED, L(CONFIGURATION) | L(DEVICE) | L(APPLICATION));
	return undetermined(judge, OUTCOME_FAILED, WHOLE_PATH | L(APPLICATION));
}
