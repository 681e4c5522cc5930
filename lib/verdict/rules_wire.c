/* SPDX-License-Identifier: MIT */
/* Packets that one end counted and the other did not: where they went missing, as far as counters of both ends tell. */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <inttypes.h>

/* Of a LAG: its counters may be those of one port, and the packets take another. */
static bool may_use_other_port(const struct endpoint_facts *end)
{
	return end->lag_port.known || end->lag_active_port.known || text_has(end->device, "bond");
}

/*
 * Sent by the end `from`, not arrived at the other. A port carries other traffic as well: its counter counts for ours
 * after a quiet baseline; where none is recorded, only if a status says that this adapter did send.
 */
static bool counted_out_only(struct judge *judge, int from, const char *out, const char *in)
{
	enum flag quiet = FLAG_UNKNOWN;
	int to = from == SIDE_LOCAL ? SIDE_REMOTE : SIDE_LOCAL;
	if (may_use_other_port(endpoint(judge, to)))
		return false;
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

/* An address written by hand takes packets to whoever has it, and nobody asks whether that is the other end. */
static layer_set fixed_neighbour(struct judge *judge, int from)
{
	if (!text_is(endpoint(judge, from)->neighbour, "permanent"))
		return 0;
	advise_neighbours(judge);
	return L(CONFIGURATION);
}

bool judge_wire(struct judge *judge, enum outcome outcome)
{
	if (judge->evidence->same_port_loopback == FLAG_YES)
		return false;
	if (lost_on_the_wire(judge, SIDE_LOCAL)) {
		summarize(judge, "packets left this adapter and did not arrive at the peer's");
		next_step(judge, "follow the path between the two ports: link, switch, ACL, priority flow control");
		layer_set others = L(REMOTE_DEVICE) | fixed_neighbour(judge, SIDE_LOCAL);
		/* A peer's adapter that hangs counts nothing either: likely, and only while its port is known to be up.
		 */
		return both_ports_up(judge) ? likely(judge, outcome, LAYER_NETWORK, others)
		                            : undetermined(judge, outcome, L(NETWORK) | L(CONFIGURATION) | others);
	}
	if (!lost_between_hosts(judge))
		return false;
	summarize(judge, "packets were sent by this host and not received by the peer");
	not_observed(judge, "the wire: these counters are of the hosts, with their filters behind them");
	next_step(judge, "follow the path between the two ports: %slink, VLAN, switch, ACL",
	        is_software(&judge->evidence->remote)
	                ? "neighbour entries (ip neigh), reverse-path filter (rp_filter), "
	                : "");
	advise_neighbours(judge);
	tell_filters(judge);
	return undetermined(judge, outcome, L(NETWORK) | L(CONFIGURATION));
}

/* The peer's adapter sent, after a quiet baseline, and nothing came in here. */
bool judge_way_back(struct judge *judge, enum outcome outcome)
{
	if (judge->evidence->same_port_loopback == FLAG_YES || !both_ports_up(judge) ||
	        !lost_on_the_wire(judge, SIDE_REMOTE))
		return false;
	summarize(judge, "packets left the peer's adapter and did not arrive at this one");
	next_step(judge, "follow the path from the peer to this port: link, switch, ACL, priority flow control");
	return likely(judge, outcome, LAYER_NETWORK, L(DEVICE) | fixed_neighbour(judge, SIDE_REMOTE));
}

/* The port's counter of what it sent stood still, though the queue pair tried again and again. */
bool judge_not_left(struct judge *judge, enum outcome outcome)
{
	static const char *const names[] = { "tx_packets_phy", "sent_pkts" };
	/* Between functions of one adapter packets go through its own switch. */
	if (judge->evidence->same_port_loopback == FLAG_YES || is_one_host(judge) ||
	        may_use_other_port(&judge->evidence->local))
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

/* All that this adapter sent came in at the peer's: what is missing is an answer, or its way back. */
static bool came_in(struct judge *judge)
{
	enum flag quiet_here = FLAG_UNKNOWN, quiet_there = FLAG_UNKNOWN;
	struct num sent = counter_growth(judge, SIDE_LOCAL, "tx_packets_phy", &quiet_here);
	struct num received = counter_growth(judge, SIDE_REMOTE, "rx_packets_phy", &quiet_there);
	if (!sent.known || sent.value <= 0 || !received.known || received.value < sent.value ||
	        quiet_here != FLAG_YES || quiet_there != FLAG_YES || may_use_other_port(endpoint(judge, SIDE_REMOTE)))
		return false;
	because(judge,
	        "the peer's rx_packets_phy rose by %" PRId64 ", and local tx_packets_phy by %" PRId64
	        ": consistent with answers that are lost on the way back, or were not given",
	        received.value, sent.value);
	return true;
}

/*
 * Requests of this kind that the peer's adapter counted, more of them than were answered: then the way there works, and
 * answers may be lost here.
 */
bool arrived_at_peer(struct judge *judge)
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
	return came_in(judge);
}

/* Packets came behind one that did not (IBTA, PSN sequence error of the responder). */
void tell_overtaken(struct judge *judge)
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
bool all_arrived(struct judge *judge)
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

/*
 * Packets that a port threw away, and pause frames: each counter speaks of layers of its own side. Known to have moved
 * before the run, it says nothing of it.
 */
layer_set counted_layers(const struct judge *judge)
{
	layer_set set = 0;
	list_each(counter, &judge->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		bool speaks = meaning && (meaning->kind == COUNTER_LINK || meaning->kind == COUNTER_CONGESTION);
		if (!speaks || counter->quiet == FLAG_NO || !has_grown(counter))
			continue;
		set |= layers_of_side(judge, counter->side, meaning->text.layers);
	}
	return set;
}
