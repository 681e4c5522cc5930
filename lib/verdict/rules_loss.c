/* SPDX-License-Identifier: MIT */
/* Packets or their answers were lost, or nobody answers: who it can have been, by the peer, filters and counters. */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Filters of the host are in the path of software RDMA only. */
static bool filter_matters(const struct endpoint_facts *end)
{
	return is_software(end);
}

/* What is known of the filters is not asked for again; what would decide is. */
static void advise_filter(struct judge *judge, const struct endpoint_facts *end, const char *whose)
{
	const char *packets = is_iwarp(end) ? "the TCP connection of iWARP" : "UDP port 4791";
	if (!end->filter)
		next_step(
		        judge, "see whether a firewall of %s drops %s (nft list ruleset, tc -s qdisc)", whose, packets);
	if (text_has(end->filter, "without a counter")) {
		not_observed(judge, "whether the rule without a counter on %s drops these packets", whose);
		next_step(judge,
		        "add the word counter to the rule of %s, before its verdict, and run the probe again: a count "
		        "that rises names the rule, one that does not clears it",
		        whose);
	}
	if (text_has(end->filter, "policy drop"))
		next_step(judge, "see whether the chain with policy drop on %s has a rule that accepts %s", whose,
		        packets);
	if (text_has(end->filter, "iptables-legacy"))
		next_step(
		        judge, "see with iptables-legacy -vnxL on %s which rule counts packets of %s", whose, packets);
}

void tell_filters(struct judge *judge)
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
		advise_filter(judge, ends[i], whose);
	}
	bool leaves = judge->evidence->same_port_loopback != FLAG_YES;
	if (leaves && judge->evidence->local.driver && !filter_matters(ends[0]))
		next_step(judge, "look at ACLs and drop counters of the switches; the host's packet filter is not in "
		                 "the path of "
		                 "this adapter");
}

/* Written by hand: nobody asks whether it is right, and packets go to the address that it has. */
static void advise_neighbours(struct judge *judge)
{
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++) {
		const struct endpoint_facts *end = endpoint(judge, side);
		if (text_is(end->neighbour, "permanent"))
			next_step(judge,
			        "compare the permanent neighbour entry on %s%s with the MAC address of %s (ip neigh)",
			        end->route_netdev ? end->route_netdev : "its netdev",
			        side == SIDE_REMOTE ? " of the peer's host" : "",
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
	return filter_matters(local) && filter_matters(remote) && local->filter && !*local->filter && remote->filter &&
	       !*remote->filter;
}

/*
 * Sent by the end `from`, not arrived at the other. A port carries other traffic as well: its counter counts for ours
 * after a quiet baseline; where none is recorded, only if a status says that this adapter did send.
 */
static bool counted_out_only(struct judge *judge, int from, const char *out, const char *in)
{
	enum flag quiet = FLAG_UNKNOWN;
	int to = from == SIDE_LOCAL ? SIDE_REMOTE : SIDE_LOCAL;
	struct num sent = counter_growth(judge, from, out, &quiet);
	struct num received = counter_growth(judge, to, in, NULL);
	bool ours = quiet == FLAG_YES || (quiet == FLAG_UNKNOWN && judge->failed && from == SIDE_LOCAL);
	if (!sent.known || sent.value <= 0 || !ours || !num_is(received, 0))
		return false;
	because(judge, "%s %s rose by %" PRId64 ", %s %s did not move", from == SIDE_LOCAL ? "local" : "the peer's",
	        out, sent.value, from == SIDE_LOCAL ? "the peer's" : "local", in);
	if (quiet != FLAG_YES)
		not_observed(judge, "a quiet baseline of these counters: other traffic of the port moves them too");
	return true;
}

/* Counted where the cable is plugged in; on InfiniBand the port's own counters are. */
static bool lost_on_the_wire(struct judge *judge, int from)
{
	static const char *const pairs[][2] = { { "tx_packets_phy", "rx_packets_phy" },
		{ "tx_bytes_phy", "rx_bytes_phy" } };
	static const char *const infiniband[][2] = { { "port_xmit_packets", "port_rcv_packets" },
		{ "port_xmit_data", "port_rcv_data" }, { "unicast_xmit_packets", "unicast_rcv_packets" } };
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (counted_out_only(judge, from, pairs[i][0], pairs[i][1]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(infiniband) && text_is(judge->evidence->local.link_layer, "InfiniBand"); i++)
		if (counted_out_only(judge, from, infiniband[i][0], infiniband[i][1]))
			return true;
	return false;
}

/* Counted above the wire, in the host or the adapter. */
static bool lost_between_hosts(struct judge *judge)
{
	static const char *const pairs[][2] = { { "sent_pkts", "rcvd_pkts" },
		{ "port_xmit_packets", "port_rcv_packets" }, { "port_xmit_data", "port_rcv_data" },
		{ "unicast_xmit_packets", "unicast_rcv_packets" },
		{ "tx_vport_rdma_unicast_packets", "rx_vport_rdma_unicast_packets" } };
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (counted_out_only(judge, SIDE_LOCAL, pairs[i][0], pairs[i][1]))
			return true;
	return false;
}

/* Up at the end; a record that says nothing of ports has nothing against it. */
static bool is_port_up(const struct endpoint_facts *end)
{
	return end->port_state_after ? text_is(end->port_state_after, "ACTIVE") : !end->port_state;
}

static bool both_ports_up(const struct judge *judge)
{
	return is_port_up(&judge->evidence->local) && is_port_up(&judge->evidence->remote);
}

static bool judge_wire(struct judge *judge, enum outcome outcome)
{
	if (judge->evidence->same_port_loopback == FLAG_YES)
		return false;
	if (lost_on_the_wire(judge, SIDE_LOCAL)) {
		summarize(judge, "packets left this adapter and did not arrive at the peer's");
		next_step(judge, "follow the path between the two ports: link, switch, ACL, priority flow control");
		/* A peer's adapter that hangs counts nothing either: likely, and only while its port is known to be up.
		 */
		return both_ports_up(judge)
		               ? likely(judge, outcome, LAYER_NETWORK, L(REMOTE_DEVICE))
		               : undetermined(judge, outcome, L(NETWORK) | L(REMOTE_DEVICE) | L(CONFIGURATION));
	}
	if (!lost_between_hosts(judge))
		return false;
	summarize(judge, "packets were sent by this host and not received by the peer");
	not_observed(judge, "the wire: these counters are of the hosts, with their filters behind them");
	advise_neighbours(judge);
	tell_filters(judge);
	return undetermined(judge, outcome, L(NETWORK) | L(CONFIGURATION));
}

/* The peer's adapter sent, after a quiet baseline, and nothing came in here. */
static bool judge_way_back(struct judge *judge, enum outcome outcome)
{
	if (judge->evidence->same_port_loopback == FLAG_YES || !both_ports_up(judge) ||
	        !lost_on_the_wire(judge, SIDE_REMOTE))
		return false;
	summarize(judge, "packets left the peer's adapter and did not arrive at this one");
	next_step(judge, "follow the path from the peer to this port: link, switch, ACL, priority flow control");
	return likely(judge, outcome, LAYER_NETWORK, L(DEVICE));
}

/* The port's counter of what it sent stood still, though the queue pair tried again and again. */
static bool judge_not_left(struct judge *judge, enum outcome outcome)
{
	static const char *const names[] = { "tx_packets_phy", "sent_pkts" };
	/* Between functions of one adapter packets go through its own switch. */
	if (judge->evidence->same_port_loopback == FLAG_YES || is_one_host(judge))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!num_is(counter_growth(judge, SIDE_LOCAL, names[i], NULL), 0))
			continue;
		because(judge, "local %s did not move: no packet left this port", names[i]);
		summarize(judge, "no packet left this port");
		next_step(judge, "look at the pause counters, the state of the port, and the adapter's health");
		return undetermined(judge, outcome, L(DEVICE) | L(PLATFORM) | L(NETWORK) | L(CONFIGURATION));
	}
	return false;
}

/*
 * Requests of this kind that the peer's adapter counted, more of them than were answered: then the way there works, and
 * answers may be lost here.
 */
static bool arrived_at_peer(struct judge *judge)
{
	static const struct {
		const char *name;
		bool once; /* not of what was answered before: a duplicate is none of those */
	} counters[] = { { "duplicate_request", true }, { "dup_req", true }, { "rx_write_requests", false },
		{ "rx_read_requests", false } };
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		enum flag quiet = FLAG_UNKNOWN;
		struct num growth = counter_growth(judge, SIDE_REMOTE, counters[i].name, &quiet);
		int64_t answered = counters[i].once ? 0 : judge->succeeded;
		if (!growth.known || growth.value <= answered || quiet == FLAG_NO)
			continue;
		because(judge,
		        "the peer's %s rose by %" PRId64 "%s: consistent with answers that are lost on the way back",
		        counters[i].name, growth.value, answered ? ", more than were answered" : "");
		return true;
	}
	return false;
}

/* Packets came behind one that did not (IBTA, PSN sequence error of the responder). */
static void tell_overtaken(struct judge *judge)
{
	enum flag quiet = FLAG_UNKNOWN;
	struct num growth = counter_growth(judge, SIDE_REMOTE, "out_of_sequence", &quiet);
	if (growth.known && growth.value > 0 && quiet != FLAG_NO)
		because(judge,
		        "the peer's out_of_sequence rose by %" PRId64
		        ": consistent with requests that are lost or overtaken on the way there",
		        growth.value);
}

/* As many came in as the other end had sent, both ways: none of them is lost in between. */
static bool all_arrived(struct judge *judge)
{
	static const char *const pairs[][2] = { { "sent_pkts", "rcvd_pkts" }, { "tx_packets_phy", "rx_packets_phy" } };
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		enum flag noisy[4];
		struct num there = counter_growth(judge, SIDE_LOCAL, pairs[i][0], &noisy[0]);
		struct num arrived = counter_growth(judge, SIDE_REMOTE, pairs[i][1], &noisy[1]);
		struct num back = counter_growth(judge, SIDE_REMOTE, pairs[i][0], &noisy[2]);
		struct num returned = counter_growth(judge, SIDE_LOCAL, pairs[i][1], &noisy[3]);
		if (!there.known || !arrived.known || !back.known || !returned.known || there.value <= 0 ||
		        back.value <= 0 || arrived.value < there.value || returned.value < back.value)
			continue;
		bool quiet = true;
		for (int k = 0; k < 4; k++)
			quiet &= noisy[k] != FLAG_NO;
		if (!quiet)
			continue;
		because(judge,
		        "%" PRId64 " packets went there and %" PRId64
		        " came back, and none of them is missing by %s and %s",
		        there.value, returned.value, pairs[i][0], pairs[i][1]);
		return true;
	}
	return false;
}

/* Where the control connection is recorded; else nobody knows of it. */
static bool has_said_ready(const struct judge *judge)
{
	list_each(step, &judge->evidence->control)
		if (text_is(step->step, "ready"))
			return num_is(step->error, 0);
	return !judge->evidence->control.count && judge->request->mode != MODE_PEER;
}

/*
 * Packets that a port threw away, and pause frames: each counter speaks of layers of its own side. Known to have moved
 * before the run, it says nothing of it.
 */
static layer_set counted_layers(const struct judge *judge)
{
	layer_set set = 0;
	list_each(counter, &judge->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		bool speaks = meaning && (meaning->kind == COUNTER_LINK || meaning->kind == COUNTER_CONGESTION);
		if (!speaks || counter->quiet == FLAG_NO || !has_grown(counter))
			continue;
		set |= layers_of_side(judge, counter->side, meaning->text.layers);
		/* The other adapter, seen from there, is this one. */
		if (counter->side == SIDE_REMOTE && meaning->text.layers & L(REMOTE_DEVICE))
			set |= L(DEVICE);
	}
	return set;
}

/* The peer cannot answer: its queue pair is not ready, or its process is gone. */
static bool judge_peer(struct judge *judge, enum outcome outcome, const struct operation *operation, layer_set base)
{
	const struct endpoint_facts *remote = &judge->evidence->remote;
	if (is_not_ready(remote) && is_of_first(judge, operation)) {
		because(judge, "the peer's queue pair is in %s", remote->qp_state);
		summarize(judge, "the peer's queue pair is not ready to receive");
		next_step(judge, "see why the peer's queue pair left RTR/RTS, or never reached it");
		/* Without its transitions nobody knows whether it was tried and failed. */
		bool never = !text_is(remote->qp_state, "ERR") && reached(judge, SIDE_REMOTE, "INIT") &&
		             !tried(judge, SIDE_REMOTE, "RTR");
		if (own_event(judge, SIDE_REMOTE, "DEVICE_FATAL") || own_event(judge, SIDE_REMOTE, "QP_FATAL"))
			return undetermined(judge, outcome, L(REMOTE_APPLICATION) | L(REMOTE_DEVICE));
		if (never && !has_said_ready(judge)) {
			because(judge, "the request was posted, and the peer had not said that it is ready");
			return likely(judge, outcome, LAYER_REMOTE_APPLICATION, base | L(APPLICATION));
		}
		if (never && remote->alive == FLAG_YES && !judge->succeeded)
			return confirmed(judge, outcome, LAYER_REMOTE_APPLICATION);
		return likely(judge, outcome, LAYER_REMOTE_APPLICATION, base);
	}
	if (remote->alive != FLAG_NO && !peer_closed(judge))
		return false;
	if (peer_silent(judge)) {
		not_observed(judge, "whether the peer's process runs: nobody answers on the control connection either");
		summarize(judge, "no acknowledgement came, and nobody answers on the control connection either");
		next_step(judge, "see whether the peer's host is up and its process goes on: a host that is cut off, "
		                 "one that crashed and "
		                 "a process that is stopped look the same from here");
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
 * What netem does besides dropping is not counted: damaged packets are thrown away for their checksums. All tries of a
 * request are hardly lost where it damages a few; packets that overtake or come twice are not lost.
 */
static bool explains(const char *netem, const char *deed, enum outcome outcome)
{
	const double many_percent = 20;
	const char *at = netem ? strstr(netem, deed) : NULL;
	double percent;
	if (!at || sscanf(at + strlen(deed), "%lf", &percent) != 1)
		return false;
	return outcome == OUTCOME_DEGRADED || (!strcmp(deed, "corrupt ") && percent >= many_percent);
}

bool judge_netem(struct judge *judge, enum outcome outcome, layer_set base)
{
	static const char *const deeds[][2] = { { "corrupt ", "damages" }, { "reorder ", "reorders" },
		{ "duplicate ", "duplicates" } };
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++)
		for (size_t i = 0; i < ARRAY_SIZE(deeds); i++) {
			if (!explains(netem_of(endpoint(judge, side)), deeds[i][0], outcome))
				continue;
			tell_filters(judge);
			summarize(judge, "%s, and netem of %s %s packets",
			        outcome == OUTCOME_DEGRADED ? "it worked, but packets had to be sent again"
			                                    : "packets are lost",
			        side == SIDE_REMOTE ? "the peer's host" : "this host", deeds[i][1]);
			next_step(judge, "%s", take_netem_away);
			return likely(judge, outcome, LAYER_CONFIGURATION, base);
		}
	return false;
}

bool judge_filter(struct judge *judge, enum outcome outcome, layer_set base)
{
	int side = filter_hit(judge, SIDE_LOCAL) ? SIDE_LOCAL : SIDE_REMOTE;
	const struct counter_change *hit = filter_hit(judge, side);
	if (!hit || !filter_matters(endpoint(judge, side)))
		return false;
	tell_filters(judge);
	tell_dropped(judge, hit);
	summarize(judge, "packets are lost, and a %s of %s drops such packets",
	        text_has(hit->name, "qdisc ") ? "queueing discipline" : "filter",
	        side == SIDE_REMOTE ? "the peer's host" : "this host");
	advise_dropped(judge, hit);
	return likely(judge, outcome, LAYER_CONFIGURATION, base);
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
	        end->netdev ? end->netdev : "the netdev", side == SIDE_REMOTE ? " of the peer's host" : "");
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

/* Of the peer; its adapter or its program may have broken it. */
static bool has_broken_queue(const struct judge *judge)
{
	static const char *const events[] = { "CQ_ERR", "QP_FATAL", "SRQ_ERR", "WQ_FATAL" };
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (own_event(judge, SIDE_REMOTE, events[i]))
			return true;
	return false;
}

bool judge_lost_packets(struct judge *judge, enum outcome outcome, const struct operation *operation, layer_set base)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	bool landed = payload_is_right(operation) || operation->remote_landed_ns.known;
	tell_patience(judge);
	if (is_impatient(judge))
		base |= L(APPLICATION);
	if (landed)
		because(judge, "the payload is in the peer's memory: the way there works, the acknowledgement did not "
		               "come back");
	else if (operation->landed == FLAG_NO)
		because(judge, "the target looked into its memory, and nothing of the payload is there");
	/* Also where the request had arrived: a port that is down takes and sends no answers. */
	if (judge_port_down(judge, outcome))
		return true;
	if (!landed && own_event(judge, SIDE_REMOTE, "DEVICE_FATAL")) {
		summarize(judge, "the peer's adapter stopped working or was removed");
		next_step(judge, "read the kernel log of the peer's host for health, AER or hot-plug messages");
		return undetermined(judge, outcome, L(REMOTE_DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION));
	}
	tell_routes(judge);
	advise_counters(judge);
	advise_events(judge);
	if (only_large_fails(judge, operation))
		because(judge,
		        "smaller operations succeeded, this one of %" PRId64
		        " bytes did not: consistent with an MTU that is too large for the path",
		        operation->bytes.value);
	/* Who is seen to be ready is not the one who does not answer. */
	bool refused = own_event(judge, SIDE_REMOTE, "QP_ACCESS_ERR") || own_event(judge, SIDE_REMOTE, "QP_REQ_ERR");
	if (refused) {
		because(judge, "the peer's queue pair refused a request, and its answer did not come back");
		base |= L(APPLICATION) | L(REMOTE_APPLICATION);
	}
	bool broken = has_broken_queue(judge);
	if (broken)
		base |= L(REMOTE_DEVICE) | L(REMOTE_APPLICATION);
	/* It answered that it had no receive, until the answers were lost. */
	bool unready = needs_receive(operation) && counted_not_ready(judge, true);
	if (unready) {
		base |= L(REMOTE_APPLICATION);
		next_step(
		        judge, "see whether the peer posts receives, and as many as messages come: some were missing");
	}
	bool answers = excludes_peer_program(judge, operation) || (landed && remote->alive != FLAG_NO);
	answers = answers && !refused && !broken && !unready;
	layer_set others = answers ? base & ~L(REMOTE_APPLICATION) : base;
	if (judge_filter(judge, outcome, others) || judge_netem(judge, outcome, others))
		return true;
	if (judge->step.name && judge->step.side == SIDE_REMOTE && !landed)
		return judge_failed_step(judge, outcome);
	/* Its own end is seen from here also where the peer cannot be asked any more. */
	if (!is_not_ready(remote) && !peer_closed(judge) && judge_gid_gone(judge, outcome, others))
		return true;
	if (!landed && (judge_peer(judge, outcome, operation, base) ||
	                       judge_conflicts(judge, outcome, operation, base) || judge_wire(judge, outcome)))
		return true;
	if (judge_way_back(judge, outcome) || (!landed && judge_not_left(judge, outcome)))
		return true;
	base |= counted_layers(judge);
	tell_overtaken(judge);
	/* Then one of the two ends did not make of them what it should. */
	if (arrived_at_peer(judge) || all_arrived(judge))
		base |= L(DEVICE);
	if (answers)
		base &= ~L(REMOTE_APPLICATION);
	if (landed)
		base |= L(DEVICE);
	tell_filters(judge);
	/* Soft RoCE looks for the way with each packet. */
	if (!landed && filter_matters(local) && local->route_errno.known && local->route_errno.value) {
		summarize(judge, "this host has no route to the peer's GID any more");
		advise_address(judge, "look at `ip route get` for the peer's address", gid_address(judge));
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	}
	advise_neighbours(judge);
	if (filters_excluded(judge) && !gid_conflict(judge) && !mtu_conflict(judge))
		base &= ~L(CONFIGURATION);
	if (judge->evidence->same_port_loopback != FLAG_YES)
		not_observed(judge, "the wire counters of both adapters together, which would tell loss on the way "
		                    "from a peer that "
		                    "does not answer");
	int flapped = own_event(judge, SIDE_LOCAL, "PORT_ERR")    ? SIDE_LOCAL
	              : own_event(judge, SIDE_REMOTE, "PORT_ERR") ? SIDE_REMOTE
	                                                          : SIDE_UNKNOWN;
	if (flapped != SIDE_UNKNOWN) {
		summarize(judge, "no acknowledgement came, and %s port went down meanwhile",
		        flapped == SIDE_REMOTE ? "the peer's" : "the local");
		next_step(
		        judge, "look at cable, module and switch port, and whether the port was taken down on purpose");
		base |= L(NETWORK) | L(CONFIGURATION) | (flapped == SIDE_REMOTE ? L(REMOTE_DEVICE) : L(DEVICE));
	} else if (num_is(status_of(operation), WC_RETRY_EXC) && !only_large_fails(judge, operation))
		summarize(judge, "%s (status 12, IBV_WC_RETRY_EXC_ERR)",
		        landed                ? "the request arrived, and no acknowledgement came back in all tries"
		        : ip_is_silent(judge) ? "no acknowledgement came in all tries, and IP between the same "
		                                "addresses is silent, too"
		        : judge->succeeded
		                ? "no acknowledgement came in all tries, though requests before were answered"
		                : "no acknowledgement came in all tries");
	return undetermined(judge, outcome, base);
}

/*
 * rxe hands packets to the host's network stack. Where that refuses them, it tries for ever (seen with Linux 6.1), or
 * puts the queue pair into error, and all its requests are flushed (seen with Linux 6.12).
 */
bool judge_refused_packets(struct judge *judge, enum outcome outcome)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	enum flag quiet = FLAG_UNKNOWN;
	struct num refused = counter_growth(judge, SIDE_LOCAL, "send_err", &quiet);
	if (!is_software(local) || !refused.known || refused.value <= 0)
		return false;
	because(judge,
	        "packets were refused %" PRId64 " time%s by this host's own network stack: they did not leave the host",
	        refused.value, plural(refused.value));
	summarize(judge, "this host's network stack does not take the packets");
	next_step(judge, "look at the output chains of the packet filter and at the queueing discipline (nft list "
	                 "ruleset, tc -s "
	                 "qdisc)");
	if (local->filter && *local->filter)
		because(judge, "this host has packet filters or queueing disciplines that may drop: %s", local->filter);
	const struct counter_change *hit = filter_hit(judge, SIDE_LOCAL);
	if (hit) {
		advise_dropped(judge, hit);
		return likely(judge, outcome, LAYER_CONFIGURATION, L(KERNEL));
	}
	if (!local->filter)
		not_observed(judge, "packet filters and queueing disciplines of this host");
	return undetermined(judge, outcome, L(CONFIGURATION) | L(KERNEL));
}
