/* SPDX-License-Identifier: MIT */
/* Bonds and teams that carry nothing, and what to do about members that carry nothing. */
#include "base/arena.h"
#include "check/add.h"
#include "check/topo.h"

#include <string.h>

static bool is_group(const struct netdev *netdev)
{
	return netdev->kind == LINK_BOND || netdev->kind == LINK_TEAM;
}

/* The miimon of the bond may see another link than the netdev has, as during its delays. */
static const char *mii_status(const struct netdev *member)
{
	return member->slave ? member->slave->mii_status : NULL;
}

static const char *state_of(const struct netdev *member)
{
	const char *mii = mii_status(member);
	return member->admin_up == FLAG_NO  ? "administratively down"
	       : member->carrier == FLAG_NO ? "without a carrier"
	       : mii                        ? mii
	       : member->operstate          ? member->operstate
	                                    : "in an unknown state";
}

/* "a, b"; `list`: NULL at first; NULL without memory. */
static const char *joined(struct arena *arena, const char *list, const char *name)
{
	return list ? arena_printf(arena, "%s, %s", list, name) : name;
}

/* `sentence` with the names in it, behind what was said before; `names` NULL: nothing to say. */
static const char *also(struct arena *arena, const char *before, const char *begin, const char *names, const char *end)
{
	if (!names)
		return before;
	return arena_printf(arena, "%s%s%s%s%s", before ? before : "", before ? " " : "", begin, names, end);
}

const char *bond_members_advice(struct arena *arena, const struct netdev *netdev)
{
	const char *off = NULL, *dark = NULL, *delayed = NULL;
	list_each(member, &netdev->lowers) {
		const char *mii = mii_status(member);
		if (member->admin_up == FLAG_NO)
			off = joined(arena, off, arena_printf(arena, "ip link set %s up", member->name));
		else if (member->carrier == FLAG_NO || (mii && !strcmp(mii, "down")))
			dark = joined(arena, dark, member->name);
		else if (mii && strcmp(mii, "up") != 0)
			delayed = joined(arena, delayed, member->name);
	}
	const char *advice = also(arena, NULL, "Look at the cable, the transceiver and the switch port of ", dark, ".");
	advice = also(arena, advice, "Members that are switched off: ", off, ".");
	return also(arena, advice, "The bond's updelay or downdelay runs for ", delayed,
	        "; if it does so again and again, look at the cable.");
}

static const char *states_of(struct arena *arena, const struct netdev *netdev)
{
	const char *states = NULL;
	list_each(member, &netdev->lowers) {
		const char *state = arena_printf(arena, "%s is %s", member->name, state_of(member));
		states = state ? joined(arena, states, state) : states;
	}
	return states ? states : "it has no members";
}

bool check_bond_state(const struct netdev *netdev, const char *subject, struct report *report)
{
	bool off = netdev->admin_up == FLAG_NO;
	if (!is_group(netdev) || (!off && netdev->carrier != FLAG_NO))
		return false;
	struct finding *finding =
	        check_add(report, "bond-down", subject, "this %s %s: %s", link_kind_names[netdev->kind],
	                off ? "is administratively down" : "has no carrier", states_of(report->arena, netdev));
	report_evidence(report, finding, "rtnetlink", off ? "IFF_UP" : "IFLA_CARRIER", "0");
	list_each(member, &netdev->lowers)
		report_evidence(report, finding, "rtnetlink", member->name, "%s", state_of(member));
	const char *members = bond_members_advice(report->arena, netdev);
	if (off)
		report_advice(finding, arena_printf(report->arena, "ip link set %s up.%s%s", netdev->name,
		                               members ? " " : "", members ? members : ""));
	else
		report_advice(
		        finding, members ? members
		                         : "Its members have links: look at its settings (min_links, arp_ip_target, "
		                           "the team's link watch).");
	return true;
}
