/* SPDX-License-Identifier: MIT */
/* A bond as the document tells it: its members, which of them carry traffic, and where their adapters sit. */
#include "source/join.h"
#include "source/join_parts.h"

#include <string.h>

/* Bits of the 802.3ad port state (IEEE 802.1AX, 6.4.2.3). */
enum { LACP_SYNCHRONIZED = 8, LACP_COLLECTING = 16, LACP_DISTRIBUTING = 32 };

static bool is_lacp(const struct bond_facts *facts)
{
	return facts->mode && !strcmp(facts->mode, "802.3ad");
}

static enum flag in_sync(const struct bond_facts *facts, const struct bond_slave *slave)
{
	const int64_t wanted = LACP_SYNCHRONIZED | LACP_COLLECTING | LACP_DISTRIBUTING;
	if (!is_lacp(facts) || !slave->actor_port_state.known || !slave->partner_port_state.known)
		return FLAG_UNKNOWN;
	return flag((slave->actor_port_state.value & wanted) == wanted &&
	            (slave->partner_port_state.value & LACP_SYNCHRONIZED));
}

bool join_lacks_partner(const struct bond_facts *facts)
{
	return is_lacp(facts) && facts->partner_mac && !strcmp(facts->partner_mac, "00:00:00:00:00:00");
}

/* Does the member carry traffic now? None does for a bond that is administratively down, whatever its link. */
static enum flag is_active(const struct netdev *bond, const struct bond_facts *facts, const struct netdev *member)
{
	const struct bond_slave *slave = member->slave;
	if (bond->admin_up == FLAG_NO)
		return FLAG_NO;
	if (!slave->mii_status || !facts->mode)
		return FLAG_UNKNOWN;
	if (strcmp(slave->mii_status, "up"))
		return FLAG_NO;
	if (!strcmp(facts->mode, "active-backup"))
		return flag(member->ifindex.known && num_is(facts->active_ifindex, member->ifindex.value));
	if (!is_lacp(facts))
		return slave->state ? flag(!strcmp(slave->state, "active")) : FLAG_YES;
	if (!slave->aggregator_id.known || !facts->aggregator_id.known)
		return FLAG_UNKNOWN;
	if (slave->aggregator_id.value != facts->aggregator_id.value)
		return FLAG_NO;
	if (join_lacks_partner(facts))
		return slave->state ? flag(!strcmp(slave->state, "active")) : FLAG_UNKNOWN;
	const int64_t wanted = LACP_COLLECTING | LACP_DISTRIBUTING;
	return slave->actor_port_state.known ? flag((slave->actor_port_state.value & wanted) == wanted) : FLAG_YES;
}

static char *path_text(struct arena *arena, const struct pci_function *function)
{
	char *text = NULL;
	if (function)
		list_each(hop, &function->path)
			text = text ? arena_printf(arena, "%s/%s", text, hop->address)
			            : arena_strdup(arena, hop->address);
	return text;
}

static bool reaches_directly(const struct rdma_device *device, const struct netdev *netdev)
{
	if (join_shares_function(device, netdev))
		return true;
	list_each(port, &device->ports)
		if (netdev->ifindex.known && num_is(port->netdev_ifindex, netdev->ifindex.value))
			return true;
	return false;
}

static void fill_member(struct host *host, const struct netdev *bond, const struct bond_facts *facts,
        struct netdev *netdev, struct bond_member *member)
{
	static const struct bond_slave unknown;
	const struct bond_slave *slave = netdev->slave ? netdev->slave : &unknown;
	member->name = netdev->name;
	member->mii_status = slave->mii_status;
	member->aggregator_id = is_lacp(facts) ? slave->aggregator_id : (struct num){ 0 };
	member->partner_mac = slave->partner_mac;
	member->in_sync = in_sync(facts, slave);
	member->active = netdev->slave ? is_active(bond, facts, netdev) : FLAG_UNKNOWN;
	member->netdev = netdev;
	list_each(device, &host->devices)
		if (reaches_directly(device, netdev) && join_take_relation(host))
			strings_add(host->arena, &member->rdma_devices, device->name);
	if (!netdev->pci)
		return;
	member->pci_address = netdev->pci->address;
	member->pci_path = path_text(host->arena, netdev->pci);
	member->numa_node = netdev->pci->numa_node;
	member->local_cpus = netdev->pci->local_cpus;
	member->package = netdev->pci->package;
}

struct bond *join_bond(struct host *host, struct netdev *netdev)
{
	if (netdev->bond)
		return netdev->bond;
	static const struct bond_facts unknown;
	const struct bond_facts *facts = netdev->bond_facts ? netdev->bond_facts : &unknown;
	struct bond *bond = arena_new_object(host->arena, struct bond);
	if (!bond)
		return NULL;
	bond->mode = facts->mode;
	bond->xmit_hash_policy = facts->xmit_hash_policy;
	const struct netdev *active =
	        facts->active_ifindex.known ? host_netdev(host, facts->active_ifindex.value) : NULL;
	bond->active_member = active ? active->name : NULL;
	list_each(member, &netdev->lowers) {
		struct bond_member *added = list_add(host->arena, &bond->members);
		if (added)
			fill_member(host, netdev, facts, member, added);
	}
	netdev->bond = bond;
	return bond;
}
