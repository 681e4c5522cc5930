/* SPDX-License-Identifier: MIT */
/* Requests that one of the two adapters refused: key, length, rights, and the receive of the peer. */
#include "verdict/judge.h"

#include <inttypes.h>

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
	if (opcode_of(judge, operation) == OP_UNKNOWN ||
	        (operation->opcode == OP_UNKNOWN && is_unreadable(judge, ".opcode:"))) {
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
bool judge_rejected(struct judge *judge, const struct operation *operation, layer_set base)
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
	if (is_access && opcode_of(judge, operation) == OP_SEND) {
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

bool judge_length(struct judge *judge, const struct operation *operation, layer_set base)
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
bool judge_protection(struct judge *judge, const struct operation *operation, layer_set base)
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

bool judge_unready(struct judge *judge, const struct operation *operation, layer_set base)
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
	if (num_is(judge->evidence->local.rnr_retry, 7) && is_of_first(judge, operation)) {
		because(judge,
		        "its rnr_retry is 7: by its attributes the queue pair tries for ever, and never gives up "
		        "for want of a receive");
		not_observed(judge, "the RNR retries that the device counts by");
		return undetermined(judge, OUTCOME_FAILED, base | L(DEVICE) | L(PROVIDER));
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

/* Status 10: what there is to compare, unless the record has compared it. */
void advise_refused(struct judge *judge, const struct operation *operation, const char *next)
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
