/* SPDX-License-Identifier: MIT */
/* Packets or their answers were lost, or nobody answers: who it can have been, by the peer, filters and counters. */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <inttypes.h>

/* Written by hand: nobody asks whether it is right, and packets go to the address that it has. */
void advise_neighbours(struct judge *judge)
{
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++) {
		const struct endpoint_facts *end = endpoint(judge, side);
		if (text_is(end->neighbour, "permanent"))
			next_step(judge,
			        "compare the permanent neighbour entry on %s%s with the MAC address of %s (ip neigh)",
			        end->route_netdev ? end->route_netdev : "its netdev", of_host(judge, side),
			        end->route_gateway ? "the gateway" : "the other end");
	}
}

/* The GID table changed under the run, and the GID in use may be what changed. */
static bool may_have_lost_gid(const struct judge *judge, int side)
{
	enum flag kept = endpoint(judge, side)->gid_kept;
	return kept == FLAG_NO || (kept == FLAG_UNKNOWN && own_event(judge, side, "GID_CHANGE"));
}

/* Its port was up all the time, its address is there, and it was looked at after the loss. */
static bool is_undisturbed(const struct judge *judge, int side)
{
	bool seen = side == SIDE_LOCAL || is_one_host(judge) || judge->evidence->remote.alive == FLAG_YES;
	return seen && !own_event(judge, side, "PORT_ERR") && !may_have_lost_gid(judge, side);
}

/* Both ends are software, neither host has anything that drops, and nobody changed ports and addresses meanwhile. */
static bool filters_excluded(const struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	if (!is_undisturbed(judge, SIDE_LOCAL) || !is_undisturbed(judge, SIDE_REMOTE) || ip_is_silent(judge))
		return false;
	if (passes_no_filter(judge))
		return true;
	return is_software(local) && is_software(remote) && local->filter && !*local->filter && remote->filter &&
	       !*remote->filter;
}

/* Where the control connection is recorded; else nobody knows of it. */
static bool has_said_ready(const struct judge *judge)
{
	list_each(step, &judge->evidence->control)
		if (text_is(step->step, "ready"))
			return num_is(step->error, 0);
	return !judge->evidence->control.count && judge->request->mode != MODE_PEER;
}

/* It went to ERR over a request, which either program may have made wrong. */
static bool has_refused(const struct judge *judge)
{
	return own_event(judge, SIDE_REMOTE, "QP_ACCESS_ERR") || own_event(judge, SIDE_REMOTE, "QP_REQ_ERR");
}

static bool judge_refusal(struct judge *judge, enum outcome outcome, layer_set base)
{
	summarize(judge, "the peer's queue pair refused a request, and its answer did not come back");
	next_step(judge, "compare key, range, length and rights of the request with what the peer gave out");
	return undetermined(judge, outcome, base | L(APPLICATION) | L(REMOTE_APPLICATION));
}

/* The peer cannot answer: its queue pair is not ready, or its process is gone. */
static bool judge_peer(struct judge *judge, enum outcome outcome, const struct operation *operation, layer_set base)
{
	const struct endpoint_facts *remote = &judge->evidence->remote;
	bool in_error = text_is(remote->qp_state, "ERR");
	/* There the end of the connection takes both queue pairs to ERR, whoever or whatever ended it. */
	bool follows = in_error && is_iwarp(remote);
	if (follows)
		because(judge, "the peer's queue pair is in ERR, where iWARP takes it when the connection ends");
	if (is_not_ready(remote) && !follows && is_of_first(judge, operation)) {
		because(judge, "the peer's queue pair is in %s", remote->qp_state);
		summarize(judge, "the peer's queue pair is not ready to receive");
		next_step(judge, "see why the peer's queue pair left RTR/RTS, or never reached it");
		/* Without its transitions nobody knows whether it was tried and failed. */
		bool never = !in_error && reached(judge, SIDE_REMOTE, "INIT") && !tried(judge, SIDE_REMOTE, "RTR");
		if (own_event(judge, SIDE_REMOTE, "DEVICE_FATAL") || own_event(judge, SIDE_REMOTE, "QP_FATAL"))
			return undetermined(judge, outcome, L(REMOTE_APPLICATION) | L(REMOTE_DEVICE) | L(PLATFORM));
		if (in_error && has_refused(judge))
			return judge_refusal(judge, outcome, base);
		if (never && !has_said_ready(judge)) {
			because(judge, "the request was posted, and the peer had not said that it is ready");
			return likely(judge, outcome, LAYER_REMOTE_APPLICATION, base | L(APPLICATION));
		}
		if (never && remote->alive == FLAG_YES && !judge->succeeded && !arrived_at_peer(judge))
			return confirmed(judge, outcome, LAYER_REMOTE_APPLICATION);
		return likely(judge, outcome, LAYER_REMOTE_APPLICATION, base);
	}
	if (remote->alive != FLAG_NO && !peer_closed(judge))
		return false;
	if (peer_silent(judge)) {
		not_observed(judge, "whether the peer's process runs: nobody answers on the control connection either");
		summarize(judge, "no acknowledgement came, and nobody answers on the control connection either");
		next_step(judge, "%s",
		        has_both_ends(judge) ? "see whether the peer's process goes on"
		                             : "see whether the peer's host is up and its process goes on: a host that "
		                               "is cut off, one that crashed and a process that is stopped look the "
		                               "same from here");
		return undetermined(judge, outcome, base | L(REMOTE_APPLICATION));
	}
	const char *cut = cutting_filter(judge);
	if (cut) {
		because(judge, "the control connection was closed by the other end, or reset by a filter: %s", cut);
		summarize(judge, "the control connection was cut, by the peer's process or by a filter");
		next_step(judge,
		        "see whether that rule concerns TCP between the two hosts, and whether the peer's process "
		        "runs");
		return undetermined(judge, outcome, base | L(REMOTE_APPLICATION) | L(CONFIGURATION));
	}
	because(judge, "the peer's process is gone");
	summarize(judge, "the peer's process is gone, and its queue pair with it");
	next_step(judge, "see why the peer's process ended");
	return likely(judge, outcome, LAYER_REMOTE_APPLICATION, base);
}

void tell_beyond_frame(struct judge *judge)
{
	because(judge, "%s", mtu_conflict(judge));
	summarize(judge, "the packets are larger than the MTU of a netdev, as it is now");
	next_step(judge,
	        "see who set that MTU and when (ip monitor link), and set the same one on both netdevs and on the "
	        "switches between them");
}

static bool judge_conflicts(
        struct judge *judge, enum outcome outcome, const struct operation *operation, layer_set base)
{
	bool beyond = is_beyond_frame(judge, operation), large = only_large_fails(judge, operation);
	const char *conflict = large || beyond ? mtu_conflict(judge) : judge->succeeded ? NULL : gid_conflict(judge);
	if (beyond && !large) {
		tell_beyond_frame(judge);
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	}
	if (conflict) {
		because(judge, "%s", conflict);
		summarize(judge, large ? "small messages pass, large ones fail: the MTU does not fit both ends"
		                       : "the two addresses cannot be expected to reach each other");
		bool infiniband = text_is(judge->evidence->local.link_layer, "InfiniBand");
		bool router = needs_router(&judge->evidence->local) || needs_router(&judge->evidence->remote);
		router = router && !large;
		next_step(judge,
		        infiniband ? "look at the subnet manager: state, LID and MTU of both ports"
		        : router   ? "take GIDs of RoCE v2 on both ends (rdmadiag gid --to ADDRESS)"
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
	if (num_is(local->timeout, 0) && !is_iwarp(local)) {
		because(judge,
		        "its timeout is 0: the queue pair waits for ever for an answer, and sends nothing again");
		next_step(judge, "give the queue pair a timeout (ibv_modify_qp, to RTS): then what is lost is sent "
		                 "again, and ends with status 12");
	}
	if (!timeout || !local->retry_count.known || local->retry_count.value < 0 || local->retry_count.value > 7)
		return;
	because(judge,
	        "by its attributes the queue pair gives up after about %s (%" PRId64
	        " time%s %s); adaptive retransmission "
	        "makes it shorter, some adapters wait longer",
	        format_duration(timeout * (local->retry_count.value + 1), all), local->retry_count.value + 1,
	        plural(local->retry_count.value + 1), format_duration(timeout, each));
}

/* Less than a few round trips, as the control connection measured them, or than any network takes when it is busy. */
static bool is_impatient(struct judge *judge)
{
	const int64_t busy_ns = 1000000;
	const struct endpoint_facts *local = &judge->evidence->local;
	const struct tcp_facts *tcp = judge->evidence->tcp;
	int64_t timeout = ack_timeout_ns(local), limit = busy_ns;
	bool sane =
	        timeout && local->retry_count.known && local->retry_count.value >= 0 && local->retry_count.value <= 7;
	if (tcp && tcp->rtt_us.known && tcp->rtt_us.value > 0 && tcp->rtt_us.value < INT32_MAX)
		limit = 4 * tcp->rtt_us.value * 1000 > limit ? 4 * tcp->rtt_us.value * 1000 : limit;
	if (!sane || timeout * (local->retry_count.value + 1) >= limit)
		return false;
	char text[DURATION_TEXT_SIZE];
	because(judge, "that is short: less than %s, which a way there and back may take here",
	        format_duration(limit, text));
	next_step(judge, "give the queue pair a longer timeout and more retries (ibv_modify_qp, to RTS)");
	return true;
}

/*
 * Status 12 without the time for a single try, or with a timeout that never runs out: refusals for packets out of
 * sequence use the tries up as well, and a device may count by other attributes than it was given.
 */
static bool gave_up_early(struct judge *judge, const struct operation *operation)
{
	const int64_t round_ns = 1000000;
	const struct endpoint_facts *local = &judge->evidence->local;
	int64_t timeout = ack_timeout_ns(local), took = arrival_latency_ns(operation);
	bool endless = num_is(local->timeout, 0), early = took >= 0 && took < round_ns && took < timeout;
	if (!num_is(status_of(operation), WC_RETRY_EXC) || is_iwarp(local) || (!endless && !early))
		return false;
	char text[DURATION_TEXT_SIZE];
	if (endless)
		because(judge, "it gave up all the same");
	else
		because(judge, "it gave up after %s, which is less than one of these times",
		        format_duration(took, text));
	return true;
}

bool tell_lost_gid(struct judge *judge, int side)
{
	const struct endpoint_facts *end = endpoint(judge, side);
	if (end->gid_kept != FLAG_NO || text_is(end->link_layer, "InfiniBand"))
		return false;
	because(judge, "%s GID %s is not at its index any more: its address went away during the run",
	        side == SIDE_REMOTE ? "the peer's" : "the local", end->gid ? end->gid : "of the queue pair");
	next_step(judge,
	        "see who took the address from %s%s (ip monitor address, the network manager's log), and put it back",
	        end->netdev ? end->netdev : "the netdev", of_host(judge, side));
	return true;
}

bool judge_gid_gone(struct judge *judge, enum outcome outcome, layer_set base)
{
	int side = tell_lost_gid(judge, SIDE_LOCAL)    ? SIDE_LOCAL
	           : tell_lost_gid(judge, SIDE_REMOTE) ? SIDE_REMOTE
	                                               : SIDE_UNKNOWN;
	if (side == SIDE_UNKNOWN)
		return false;
	summarize(judge, "%s address went away during the run, and its GID with it",
	        side == SIDE_REMOTE ? "the peer's" : "the local");
	return likely(judge, outcome, LAYER_CONFIGURATION, base);
}

/* Of the peer: who may have broken it, by the events that say so. 0: nothing did. */
static layer_set broken_there(struct judge *judge)
{
	static const char *const events[] = { "CQ_ERR", "QP_FATAL", "SRQ_ERR", "WQ_FATAL" };
	layer_set set = 0;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (!own_event(judge, SIDE_REMOTE, events[i]))
			continue;
		const struct explanation *text = &explain_event(events[i])->text;
		set |= layers_of_side(judge, SIDE_REMOTE, text->layers) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION);
		advise_side(judge, SIDE_REMOTE, text->next);
	}
	return set;
}

/* A request that got no answer, and what is known of it so far. */
struct loss {
	struct judge *judge;
	const struct operation *operation;
	enum outcome outcome;
	layer_set base; /* those who may have it */
	bool landed;    /* the payload is there, and the acknowledgement is missing */
	bool answers;   /* the peer's program is not the one who does not answer */
};

static void tell_landing(const struct loss *loss)
{
	if (loss->landed)
		because(loss->judge, "the payload is in the peer's memory: the way there works, the acknowledgement "
		                     "did not come back");
	else if (loss->operation->landed == FLAG_NO)
		because(loss->judge, "the target looked into its memory, and nothing of the payload is there");
}

bool judge_peer_stopped(struct judge *judge, enum outcome outcome)
{
	if (!own_event(judge, SIDE_REMOTE, "DEVICE_FATAL"))
		return false;
	summarize(judge, "the peer's adapter stopped working or was removed");
	next_step(judge, "read the kernel log%s for health, AER or hot-plug messages", of_host(judge, SIDE_REMOTE));
	return undetermined(judge, outcome, L(REMOTE_DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION));
}

/* A port or an adapter that stopped explains it, whatever else is the matter. */
static bool judge_stopped(const struct loss *loss)
{
	struct judge *judge = loss->judge;
	/* Also where the request had arrived: a port that is down takes and sends no answers. */
	if (judge_port_down(judge, loss->outcome))
		return true;
	return !loss->landed && judge_peer_stopped(judge, loss->outcome);
}

/* Who is seen to be ready is not the one who does not answer, unless something else of it is known. */
static void weigh_peer(struct loss *loss)
{
	struct judge *judge = loss->judge;
	bool refused = has_refused(judge);
	layer_set broken = broken_there(judge);
	/* It answered that it had no receive, until the answers were lost. */
	bool unready = needs_receive(loss->operation) && counted_not_ready(judge, true);
	if (refused) {
		because(judge, "the peer's queue pair refused a request, and its answer did not come back");
		loss->base |= L(APPLICATION) | L(REMOTE_APPLICATION);
	}
	loss->base |= broken;
	if (unready) {
		loss->base |= L(REMOTE_APPLICATION);
		next_step(
		        judge, "see whether the peer posts receives, and as many as messages come: some were missing");
	}
	loss->answers = excludes_peer_program(judge, loss->operation) ||
	                (loss->landed && judge->evidence->remote.alive != FLAG_NO);
	loss->answers = loss->answers && !refused && !broken && !unready;
}

/* What the record knows of that loses packets or answers, the surest first. */
static bool judge_known_cause(const struct loss *loss)
{
	struct judge *judge = loss->judge;
	enum outcome outcome = loss->outcome;
	layer_set others = loss->answers ? loss->base & ~L(REMOTE_APPLICATION) : loss->base;
	if (judge_filter(judge, outcome, others) || judge_netem(judge, outcome, others))
		return true;
	if (judge->step.name && judge->step.side == SIDE_REMOTE && !loss->landed)
		return judge_failed_step(judge, outcome);
	/* Its own end is seen from here also where the peer cannot be asked any more. */
	if (!is_not_ready(&judge->evidence->remote) && !peer_closed(judge) && judge_gid_gone(judge, outcome, others))
		return true;
	if (!loss->landed &&
	        (judge_peer(judge, outcome, loss->operation, loss->base) ||
	                judge_conflicts(judge, outcome, loss->operation, others) || judge_wire(judge, outcome)))
		return true;
	return judge_way_back(judge, outcome) || (!loss->landed && judge_not_left(judge, outcome));
}

/* Soft RoCE looks for the way with each packet. */
static bool judge_no_route(const struct loss *loss)
{
	struct judge *judge = loss->judge;
	const struct endpoint_facts *local = &judge->evidence->local;
	if (loss->landed || !is_software(local) || !local->route_errno.known || !local->route_errno.value)
		return false;
	summarize(judge, "this host has no route to the peer's GID any more");
	advise_address(judge, "look at `ip route get` for the peer's address", gid_address(judge, SIDE_REMOTE));
	return likely(judge, loss->outcome, LAYER_CONFIGURATION, loss->base);
}

/* Software RDMA takes in its answers on the CPUs that the program waits for. */
static layer_set starved_software(struct judge *judge)
{
	const struct cpu_facts *cpu = judge->evidence->cpu;
	const struct endpoint_facts *local = &judge->evidence->local;
	char waited[DURATION_TEXT_SIZE];
	if (!is_software(local) || !cpu || !cpu->waited_ns.known || cpu->waited_ns.value < ack_timeout_ns(local) ||
	        !cpu->waited_ns.value)
		return 0;
	because(judge, "the program waited for a CPU for %s, and soft RDMA works on the same ones",
	        format_duration(cpu->waited_ns.value, waited));
	return L(KERNEL);
}

/* Counters that speak for a layer, and filters that speak against one. */
static void weigh_counters(struct loss *loss)
{
	struct judge *judge = loss->judge;
	loss->base |= counted_layers(judge) | starved_software(judge);
	tell_overtaken(judge);
	/* Then one of the two ends did not make of them what it should. */
	if (arrived_at_peer(judge) || all_arrived(judge))
		loss->base |= L(DEVICE);
	if (loss->answers)
		loss->base &= ~L(REMOTE_APPLICATION);
	if (loss->landed)
		loss->base |= L(DEVICE);
	tell_filters(judge);
}

static bool tell_flap(struct loss *loss)
{
	struct judge *judge = loss->judge;
	bool here = own_event(judge, SIDE_LOCAL, "PORT_ERR");
	if (!here && !own_event(judge, SIDE_REMOTE, "PORT_ERR"))
		return false;
	summarize(judge, "no acknowledgement came, and %s port went down meanwhile", here ? "the local" : "the peer's");
	advise_link(judge);
	loss->base |= L(NETWORK) | L(CONFIGURATION) | devices_of_link(judge, here ? SIDE_LOCAL : SIDE_REMOTE);
	return true;
}

static void tell_tries(const struct loss *loss)
{
	struct judge *judge = loss->judge;
	if (!num_is(status_of(loss->operation), WC_RETRY_EXC) || only_large_fails(judge, loss->operation))
		return;
	summarize(judge, "%s (status 12, IBV_WC_RETRY_EXC_ERR)",
	        loss->landed          ? "the request arrived, and no acknowledgement came back in all tries"
	        : ip_is_silent(judge) ? "no acknowledgement came in all tries, and IP between the same addresses is "
	                                "silent, too"
	        : judge->succeeded    ? "no acknowledgement came in all tries, though other requests were answered"
	                              : "no acknowledgement came in all tries");
}

/* Two hosts with one address answer each other by chance; containers of one host may well share a port. */
static void tell_same_address(struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	const struct tcp_facts *tcp = judge->evidence->tcp;
	bool gid = local->gid && gid_kind(local->gid) != KIND_EMPTY && text_is(remote->gid, local->gid);
	bool lid = local->lid.known && remote->lid.known && local->lid.value && local->lid.value == remote->lid.value;
	bool apart = tcp && tcp->local && tcp->remote && !has_both_ends(judge);
	if (!apart || (!gid && !lid))
		return;
	because(judge, "both ends have the %s %s, and their control connection is between two addresses",
	        gid ? "GID" : "LID", gid ? local->gid : arena_printf(judge->arena, "%" PRId64, local->lid.value));
	next_step(judge, "see whether both ends use one port; if not, two hosts have one address%s",
	        gid ? "" : ", which the subnet manager gives");
}

bool judge_lost_packets(struct judge *judge, enum outcome outcome, const struct operation *operation, layer_set base)
{
	struct loss loss = { .judge = judge,
		.operation = operation,
		.outcome = outcome,
		.base = base,
		.landed = payload_is_right(operation) || operation->remote_landed_ns.known };
	tell_patience(judge);
	if (is_impatient(judge))
		loss.base |= L(APPLICATION);
	if (gave_up_early(judge, operation))
		loss.base |= L(DEVICE);
	tell_landing(&loss);
	if (judge_stopped(&loss))
		return true;
	tell_routes(judge);
	tell_same_address(judge);
	advise_counters(judge);
	advise_events(judge);
	if (only_large_fails(judge, operation)) {
		because(judge,
		        "smaller operations succeeded, this one of %" PRId64
		        " bytes did not: consistent with an MTU that is too large for the path",
		        operation->bytes.value);
		loss.base |= L(CONFIGURATION);
	}
	weigh_peer(&loss);
	if (judge_known_cause(&loss))
		return true;
	weigh_counters(&loss);
	if (judge_no_route(&loss))
		return true;
	advise_neighbours(judge);
	if (filters_excluded(judge) && !gid_conflict(judge) && !mtu_conflict(judge))
		loss.base &= ~L(CONFIGURATION);
	if (judge->evidence->same_port_loopback != FLAG_YES)
		not_observed(judge, "the wire counters of both adapters together, which would tell loss on the way "
		                    "from a peer that does not answer");
	if (!tell_flap(&loss))
		tell_tries(&loss);
	return undetermined(judge, outcome, loss.base);
}
