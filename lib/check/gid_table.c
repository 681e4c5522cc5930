/* SPDX-License-Identifier: MIT */
#include "check/gid_table.h"

#include "check/add.h"
#include "gid/address.h"
#include "source/join.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct counts {
	uint32_t usable, link_local, v2, unknown_type, foreign;
};

static struct counts count_entries(const struct gid_port *port)
{
	struct counts counts = { 0 };
	for (uint32_t i = 0; i < port->count; i++) {
		const struct gid_entry *entry = port->entries[i];
		if (entry->empty == FLAG_YES)
			continue;
		counts.foreign += entry->state == GID_STATE_FOREIGN_NETNS;
		if (entry->state == GID_STATE_FOREIGN_NETNS || entry->state == GID_STATE_STALE)
			continue;
		counts.usable++;
		counts.link_local += entry->scope == GID_SCOPE_LINK_LOCAL;
		counts.v2 += entry->type == GID_TYPE_ROCE_V2;
		counts.unknown_type += entry->type == GID_TYPE_UNKNOWN;
	}
	return counts;
}

/* Open vSwitch: the netdevs with the addresses of a bridge do not stand on its ports, so they make no GIDs of them. */
static const struct netdev *switched_netdev(const struct table_check *check)
{
	enum { NESTING = 8 }; /* MAX_NEST_DEV in include/linux/netdevice.h */
	const struct port *port = check->port.table->rdma_port;
	const struct netdev *netdev = port ? port_netdev(port) : NULL;
	for (int i = 0; netdev && i < NESTING; i++) {
		const struct netdev *master = host_master(check->host, netdev);
		if (master && master->kind_name && !strcmp(master->kind_name, "openvswitch"))
			return netdev;
		netdev = master;
	}
	return NULL;
}

static bool has_ipv4(const struct table_check *check)
{
	for (uint32_t i = 0; i < check->port.count; i++)
		if (check->port.entries[i]->family == GID_FAMILY_IPV4)
			return true;
	return false;
}

static const char *give_address(const struct table_check *check)
{
	return check->host->addresses_unread
	               ? "Look for an address (ip address): GIDs are made of the IPv4 and IPv6 addresses of the "
	                 "netdev, or of the bond, team or bridge that it is a member of."
	       : switched_netdev(check)
	               ? "Use a VF, a scalable function or another netdev with an address: an address of the bridge's "
	                 "internal port makes no GID."
	       : has_ipv4(check) ? "Give the netdev an address outside of 169.254.0.0/16 and fe80::/10."
	                         : "Give the netdev an IPv4 or IPv6 address.";
}

/* In active-backup the kernel takes the GIDs of the other members away (roce_gid_mgmt.c). */
static bool is_idle_member(const struct host *host, const struct netdev *netdev)
{
	const struct netdev *master = host_master(host, netdev);
	const struct bond_facts *facts = master ? master->bond_facts : NULL;
	return facts && facts->mode && !strcmp(facts->mode, "active-backup") && facts->active_ifindex.known &&
	       netdev->ifindex.known && facts->active_ifindex.value != netdev->ifindex.value;
}

/* The active member of its bond, where no RDMA goes through that; NULL: it does, or that is not known. */
static const struct netdev *active_without_rdma(const struct host *host, const struct netdev *netdev)
{
	const struct netdev *master = host_master(host, netdev);
	if (!master || !master->bond)
		return NULL;
	list_each(member, &master->bond->members)
		if (member->netdev && num_is(member->netdev->ifindex, master->bond_facts->active_ifindex.value))
			return member->rdma_devices.count ? NULL : member->netdev;
	return NULL;
}

static const char *advice_for_plain_active(const struct table_check *check, const struct netdev *netdev)
{
	const char *bond = host_master(check->host, netdev)->name;
	return arena_printf(check->host->arena,
	        "There is no RDMA over %s until %s is its active member (ip link set %s type bond active_slave %s); "
	        "bond adapters with RDMA only.",
	        bond, netdev->name, bond, netdev->name);
}

static const char *advice_for_master(const struct table_check *check, const struct netdev *master)
{
	return arena_printf(check->host->arena,
	        master->admin_up == FLAG_NO ? "Set %s up." : "Give %s an IPv4 or IPv6 address.", master->name);
}

/* An address is the last thing that a member of a bond should have. */
static const char *advice_for_member(const struct table_check *check, const struct netdev *holder)
{
	return arena_printf(check->host->arena,
	        "Use an RDMA device that has GIDs of %s; where none has, take %s down and up again, so that the kernel "
	        "makes its entries anew.",
	        holder->name, holder->name);
}

/* The port's netdev is here, so the namespace is not to blame: what it lacks itself. */
static bool check_own_netdev(const struct table_check *check)
{
	const struct port *port = check->port.table->rdma_port;
	const struct netdev *netdev = port ? port_netdev(port) : NULL;
	if (!netdev)
		return false;
	const char *lacks = netdev_lacks(check->host, netdev);
	const struct netdev *wanting = netdev_wanting(check->host, netdev);
	const struct netdev *holder = address_holder(check->host, netdev);
	char idle[128] = "";
	const struct netdev *plain =
	        is_idle_member(check->host, netdev) ? active_without_rdma(check->host, netdev) : NULL;
	if (plain)
		snprintf(idle, sizeof(idle), ", for %.16s is the active one, and has no RDMA device", plain->name);
	else if (is_idle_member(check->host, netdev))
		snprintf(idle, sizeof(idle), "%s", ", for it is not the active one, which alone has them");
	struct finding *finding = check_add(check->report, "gid-none", check->subject,
	        "the port has %s: its netdev %s %s%s", check->port.count ? "only stale GIDs" : "no GID", netdev->name,
	        lacks ? lacks : "has addresses, none of which is in the table", idle);
	if (finding && *idle && !plain)
		finding->severity = SEVERITY_INFO;
	report_evidence(check->report, finding, "GID table", "used", "%u", check->port.count);
	report_advice(finding,
	        wanting != netdev ? advice_for_master(check, wanting)
	        : plain           ? advice_for_plain_active(check, netdev)
	        : *idle           ? "It gets them when it becomes the active member."
	        : netdev->admin_up == FLAG_NO && netdev->addresses.count ? "Set the netdev up."
	        : netdev->admin_up == FLAG_NO                            ? "Set the netdev up and give it an address."
	        : netdev->carrier == FLAG_NO    ? "See to its link first: cable, transceiver and switch port."
	        : check->host->addresses_unread ? give_address(check)
	        : !netdev->addresses.count && holder && !switched_netdev(check) ? advice_for_member(check, holder)
	        : !netdev->addresses.count                                      ? give_address(check)
	                                   : "Take the netdev down and up again, so that the kernel "
	                                     "makes its entries anew.");
	return true;
}

/*
 * A VF whose PF is to be seen, but not its netdev, is in a container: what it was made for. A device whose node was not
 * passed into this container is not meant for it. That is said where something else works here, else it is the fault.
 */
static bool is_for_others(const struct table_check *check)
{
	const struct rdma_device *device = check->port.table->rdma;
	if (!device || !check->others_work)
		return false;
	return (device->function.kind == FUNCTION_VF && device->function.parent) || device->uverbs.refused == -ENOENT;
}

/*
 * A port that no netdev was made for, beside others of its device that have theirs: what leads to other accelerators of
 * the same box, or to the processor of the adapter.
 */
static bool is_internal_port(const struct table_check *check)
{
	const struct rdma_device *device = check->port.table->rdma;
	const struct port *port = check->port.table->rdma_port;
	if (!device || !port || check->port.count || port->netdev_unknown || port->netdevs.count || port->netdev_name)
		return false;
	list_each(other, &device->ports)
		if (port_netdev(other))
			return true;
	return false;
}

static void check_none(const struct table_check *check, const struct counts *counts)
{
	struct finding *finding;
	if (!counts->foreign && check_own_netdev(check))
		return;
	if (counts->foreign && check->port.count == 1)
		finding = check_add(check->report, "gid-none", check->subject,
		        "the device is visible, but its only GID belongs to another network namespace or is stale");
	else if (counts->foreign)
		finding = check_add(check->report, "gid-none", check->subject,
		        "the device is visible, but all its %u GIDs belong to other network namespaces or are stale",
		        check->port.count);
	else
		finding = check_add(check->report, "gid-none", check->subject,
		        "the device is visible, but has %s in this network namespace",
		        check->port.count ? "only stale GIDs" : "no GID");
	if (finding && (is_for_others(check) || is_internal_port(check)))
		finding->severity = SEVERITY_INFO;
	report_evidence(check->report, finding, "GID table", "used", "%u", check->port.count);
	report_advice(finding,
	        "Give this namespace a netdev of the device (macvlan, ipvlan, SR-IOV VF or the netdev itself) "
	        "with an address.");
}

/* An address that routers know; NULL: none. */
static const struct address *routable_address(const struct netdev *netdev)
{
	list_each(address, &netdev->addresses) {
		uint8_t gid[16];
		gid_from_address(address, gid);
		enum gid_scope scope = gid_scope_of(gid);
		if (scope != GID_SCOPE_LINK_LOCAL && scope != GID_SCOPE_LOOPBACK)
			return address;
	}
	return NULL;
}

/*
 * The netdev with such an address, which then has no entry where all entries are link-local: that of the port, or the
 * bond, team or bridge that it is a member of. NULL: there is none.
 */
static const struct netdev *left_out(const struct table_check *check)
{
	const struct port *port = check->port.table->rdma_port;
	const struct netdev *netdev = port ? port_netdev(port) : NULL;
	const struct netdev *holder = netdev ? address_holder(check->host, netdev) : NULL;
	if (!netdev || netdev->admin_up == FLAG_NO)
		return NULL;
	if (routable_address(netdev))
		return netdev;
	return holder && holder->admin_up != FLAG_NO && routable_address(holder) ? holder : NULL;
}

static void report_left_out(const struct table_check *check, const struct netdev *netdev)
{
	const struct address *address = routable_address(netdev);
	const struct netdev *own = port_netdev(check->port.table->rdma_port);
	bool idle = netdev != own && is_idle_member(check->host, own);
	uint8_t gid[16];
	char ip[IP_TEXT_SIZE];
	gid_from_address(address, gid);
	gid_format_ip(gid, ip);
	struct finding *finding = check_add(check->report, "gid-link-local-only", check->subject,
	        "only link-local GIDs: peers in the same L2 segment only; the address %s of %s has no entry%s", ip,
	        netdev->name, idle ? ", for this member is not the active one" : "");
	if (finding && idle)
		finding->severity = SEVERITY_INFO;
	report_evidence(check->report, finding, "GID table", "routable entries", "0");
	report_evidence(check->report, finding, "RTM_GETADDR", netdev->name, "%s/%u", ip, address->prefix_length);
	report_advice(finding,
	        idle ? "It gets one when it becomes the active member."
	             : arena_printf(check->host->arena,
	                       "Take %s down and up again, so that the kernel makes its entries anew.", netdev->name));
}

/* None of them reaches anybody; NULL: one does. */
static const struct netdev *pathless_netdev(const struct gid_port *port)
{
	const struct netdev *netdev = NULL;
	for (uint32_t i = 0; i < port->count; i++) {
		const struct gid_entry *entry = port->entries[i];
		if (entry->type == GID_TYPE_ROCE_V2 && !entry->pathless && entry->state == GID_STATE_OK)
			return NULL;
		if (entry->pathless)
			netdev = entry->link;
	}
	return netdev;
}

static void report_pathless(const struct table_check *check, const struct netdev *netdev)
{
	struct finding *finding = check_add(check->report, "gid-link-local-only", check->subject,
	        "only link-local GIDs, and %s has no link-local IPv6 address: no queue pair of RoCE v2 comes to RTR "
	        "(ENETUNREACH)",
	        netdev->name);
	report_evidence(check->report, finding, "GID table", "routable entries", "0");
	report_evidence(check->report, finding, "RTM_GETADDR", netdev->name, "no link-local IPv6 address");
	report_advice(
	        finding, arena_printf(check->host->arena,
	                         "Give %s an IPv4 address, or switch IPv6 on there (net.ipv6.conf.%s.disable_ipv6, "
	                         "addr_gen_mode).",
	                         netdev->name, netdev->name));
}

static void check_roce(const struct table_check *check)
{
	struct counts counts = count_entries(&check->port);
	const struct port *port = check->port.table->rdma_port;
	const struct netdev *netdev = port ? port_netdev(port) : NULL;
	/* A representor stands for a function of its own, and sends nothing of this host. */
	if (!counts.usable && ((netdev && join_is_representor(netdev)) || num_is(check->port.table->size, 0)))
		return;
	if (counts.usable)
		report_drop_finding(check->report, "port-without-netdev", check->subject);
	if (!counts.usable) {
		check_none(check, &counts);
		return;
	}
	if (!counts.v2 && !counts.unknown_type) {
		struct finding *finding = check_add(
		        check->report, "gid-roce-v1-only", check->subject, "RoCE v1 only: no router forwards it");
		report_evidence(check->report, finding, "GID table", "RoCE v2 entries", "0");
		report_advice(finding, "Peers must be in the same L2 segment and use RoCE v1 as well.");
	}
	if (gid_port_inactive(&check->port))
		return; /* what it may reach is the next question, once it has a link */
	const struct netdev *holder = counts.link_local == counts.usable ? left_out(check) : NULL;
	if (holder) {
		report_left_out(check, holder);
	} else if (counts.link_local == counts.usable && pathless_netdev(&check->port)) {
		report_pathless(check, pathless_netdev(&check->port));
	} else if (counts.link_local == counts.usable) {
		const struct netdev *switched = switched_netdev(check);
		struct finding *finding = check_add(check->report, "gid-link-local-only", check->subject,
		        "only link-local GIDs: peers in the same L2 segment only%s%s%s", switched ? "; " : "",
		        switched ? switched->name : "",
		        switched ? " is a port of an Open vSwitch bridge, whose addresses make no GIDs" : "");
		report_evidence(check->report, finding, "GID table", "routable entries", "0");
		report_advice(finding, give_address(check));
	}
}

/* Verbs do not mind, so that it looks like a matter of GIDs. */
static void check_node_guid(struct report *report, const struct rdma_device *device)
{
	if (!device || !device->node_guid || strcmp(device->node_guid, "0000:0000:0000:0000") ||
	        device->transport != TRANSPORT_ROCE)
		return;
	struct finding *finding = check_add(report, "node-guid-zero", device->name,
	        "node_guid is zero: rdma_cm-based programs will fail; verbs with a GID index work");
	report_evidence(report, finding, "RDMA device", "node_guid", "%s", device->node_guid);
	report_advice(
	        finding, "For a VF, set a MAC or node GUID from the physical function and bind its driver again.");
}

static void check_full(const struct table_check *check)
{
	const struct gid_table *table = check->port.table;
	if (gid_port_transport(&check->port) != TRANSPORT_ROCE || !table->size.known || !table->used.known ||
	        !table->size.value || table->used.value < table->size.value)
		return;
	struct finding *finding = check_add(check->report, "gid-table-full", check->subject,
	        "GID table %" PRId64 "/%" PRId64 " used: new addresses get no GID", table->used.value,
	        table->size.value);
	report_evidence(check->report, finding, "GID table", "used", "%" PRId64, table->used.value);
	report_advice(finding, "Remove addresses or netdevs that are not needed on this port.");
}

bool gid_table_is_usable(const struct gid_port *port)
{
	return count_entries(port).usable;
}

void check_gid_table(const struct table_check *check)
{
	const struct gid_table *table = check->port.table;
	if (gid_port_transport(&check->port) == TRANSPORT_ROCE && table->used.known)
		check_roce(check);
	check_full(check);
	check_node_guid(check->report, table->rdma);
}
