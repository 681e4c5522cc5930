/* SPDX-License-Identifier: MIT */
/* Completions with an error: whose doing, as far as the status and the facts go. */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <string.h>

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
		        "look at links, addresses and routes of %s: IP between the same addresses is not answered "
		        "either",
		        both_hosts(judge));
	if (!remote->qp_state && !gone)
		next_step(judge, "look at the peer's queue pair state%s",
		        counters ? "" : ", then compare the wire counters of both ends");
	else if (!counters)
		next_step(judge, "compare the wire counters of both ends");
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
			set |= table[i].layers | (port ? devices_of_link(judge, SIDE_LOCAL) : 0);
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
		return judge_unready(judge, operation, base);
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

/* A process that ends takes its connections with it, and on iWARP they take the other end's requests. */
static bool judge_connection_end(struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	bool gone = remote->alive == FLAG_NO || peer_closed(judge);
	bool other = is_port_down(local) || own_event(judge, SIDE_LOCAL, "DEVICE_FATAL") ||
	             own_event(judge, SIDE_LOCAL, "PORT_ERR");
	if (!is_iwarp(local) || !gone || other || peer_silent(judge) || cutting_filter(judge))
		return false;
	because(judge,
	        "the peer's process is gone, and on iWARP the end of its connection flushes what is outstanding");
	summarize(judge, "the peer's process is gone, and the iWARP connection with it");
	next_step(judge, "see why the peer's process ended");
	return likely(judge, OUTCOME_FAILED, LAYER_REMOTE_APPLICATION,
	        L(CONFIGURATION) | L(KERNEL) | L(NETWORK) | L(REMOTE_DEVICE));
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
	if (judge_connection_end(judge))
		return true;
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
		return undetermined_link(
		        judge, OUTCOME_FAILED, L(CONFIGURATION) | L(APPLICATION) | devices_of_link(judge, SIDE_LOCAL));
	return undetermined(judge, OUTCOME_FAILED, WHOLE_PATH | L(APPLICATION));
}
