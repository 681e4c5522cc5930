/* SPDX-License-Identifier: MIT */
/* Ports that are not up. */
#include "verdict/judge.h"

#include <string.h>

/* A port of InfiniBand does not follow the IPoIB netdev above it. */
bool is_admin_down(const struct endpoint_facts *end)
{
	return text_is(end->link_layer, "Ethernet") && end->netdev_up == FLAG_NO && is_port_down(end);
}

void advise_link(struct judge *judge)
{
	next_step(judge, "look at cable, module and switch port, and whether the port was taken down on purpose");
}

/* Two adapters on one cable lose it together: the other port is up all the time only where something is in between. */
layer_set devices_of_link(const struct judge *judge, int side)
{
	int other = side == SIDE_REMOTE ? SIDE_LOCAL : SIDE_REMOTE;
	const struct endpoint_facts *end = endpoint(judge, other);
	bool asked = other == SIDE_LOCAL || end->alive == FLAG_YES;
	bool kept = asked && text_is(end->port_state_after, "ACTIVE") && !own_event(judge, other, "PORT_ERR");
	layer_set own = side == SIDE_REMOTE ? L(REMOTE_DEVICE) : L(DEVICE);
	return kept ? own : L(DEVICE) | L(REMOTE_DEVICE);
}

static bool judge_one_port(struct judge *judge, enum outcome outcome, int side)
{
	const struct endpoint_facts *end = endpoint(judge, side);
	const char *whose = side == SIDE_REMOTE ? "the peer's" : "the local";
	if (!is_port_down(end))
		return false;
	const char *state = end->port_state_after ? end->port_state_after : end->port_state;
	because(judge, "%s port is %s", whose, state);
	summarize(judge, "%s port is not active (%s)", whose, state);
	if (is_admin_down(end)) {
		const char *netdev = end->port_netdev ? end->port_netdev : end->netdev;
		because(judge, "%s netdev %s is administratively down", whose, netdev ? netdev : "of the GID");
		next_step(judge, "%sset the netdev up: ip link set %s up",
		        is_of_other_host(judge, side) ? "on the peer's host: " : "", netdev ? netdev : "NETDEV");
		/* Down already before anything was tried: nothing else can have been the first cause. */
		if (end->port_state && strcmp(end->port_state, "ACTIVE") != 0 && !judge->posted)
			return confirmed(judge, outcome, LAYER_CONFIGURATION);
		return likely(judge, outcome, LAYER_CONFIGURATION, 0);
	}
	if (text_is(state, "INIT") || text_is(state, "ARMED")) {
		next_step(judge, "look at the subnet manager: the link is up, but the port was not made active");
		return undetermined_link(judge, outcome, L(CONFIGURATION));
	}
	if (end->netdev_up != FLAG_YES)
		not_observed(judge, "whether an administrator took %s port down", whose);
	advise_link(judge);
	return undetermined_link(judge, outcome, L(CONFIGURATION) | devices_of_link(judge, side));
}

/* What an administrator did explains a link that the other end has lost as well. */
static bool judge_admin_down(struct judge *judge, enum outcome outcome)
{
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++)
		if (is_admin_down(endpoint(judge, side)))
			return judge_one_port(judge, outcome, side);
	return false;
}

bool judge_port_down(struct judge *judge, enum outcome outcome)
{
	return judge_admin_down(judge, outcome) || judge_one_port(judge, outcome, SIDE_LOCAL) ||
	       judge_one_port(judge, outcome, SIDE_REMOTE);
}
