/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "check/add.h"
#include "check/topo.h"
#include "gid/address.h"
#include "source/join.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { SUBJECT_SIZE = 80, TEXT_SIZE = 400 };

/* A bond and the port that it was found on. */
struct found_bond {
	const struct host *host;
	const struct port_netdev *netdev;
	const struct bond *bond;
	char subject[SUBJECT_SIZE];
};

/* "ens1f0 on node 0, ens2f0 on node 1"; what does not fit any more is an ellipsis. */
__attribute__((format(printf, 2, 3))) static void append(char text[static TEXT_SIZE], const char *format, ...)
{
	static const char more[] = "…";
	va_list args;
	va_start(args, format);
	int cut_off = text_vappend(text, TEXT_SIZE, format, args);
	va_end(args);
	if (cut_off)
		memcpy(text + TEXT_SIZE - sizeof(more), more, sizeof(more));
}

/* The function that a member's traffic goes through; a VLAN as a member has none itself. NULL: none, or several. */
static const struct pci_function *place_of(const struct bond_member *member)
{
	enum { NESTING = 8 }; /* MAX_NEST_DEV in include/linux/netdevice.h */
	const struct netdev *netdev = member->netdev;
	for (int i = 0; i < NESTING && !netdev->pci && netdev->lowers.count == 1; i++)
		netdev = netdev->lowers.items[0];
	return netdev->pci;
}

static struct num node_of(const struct bond_member *member)
{
	const struct pci_function *place = place_of(member);
	return place ? place->numa_node : (struct num){ 0 };
}

static struct num package_of(const struct bond_member *member)
{
	const struct pci_function *place = place_of(member);
	return place ? place->package : (struct num){ 0 };
}

static void evidence_of_members(const struct found_bond *found, struct report *report, struct finding *finding)
{
	list_each(member, &found->bond->members) {
		const struct pci_function *place = place_of(member);
		report_evidence(report, finding, "sysfs", member->name, "%s, numa_node %d",
		        place ? place->address : "no PCI parent",
		        place && place->numa_node.known ? (int)place->numa_node.value : -1);
	}
}

static bool differ(struct num a, struct num b)
{
	return a.known && b.known && a.value != b.value;
}

static bool are_apart(const struct host *host, struct num node, struct num other)
{
	return differ(node, other) && !host_nodes_are_near(host, node.value, other.value);
}

/* The other modes send and receive on all members (Documentation/networking/bonding.rst). */
static bool has_one_active(const struct bond *bond)
{
	return !strcmp(bond->mode, "active-backup");
}

/* One finding for each bond: packages that differ say more than nodes that differ. */
static void check_places(const struct found_bond *found, struct report *report)
{
	const struct bond_member *first = found->bond->members.count ? found->bond->members.items[0] : NULL;
	bool nodes = false, packages = false;
	char places[TEXT_SIZE] = "";
	list_each(member, &found->bond->members) {
		struct num node = node_of(member), package = package_of(member);
		nodes |= are_apart(found->host, node, node_of(first));
		packages |= differ(package, package_of(first));
		append(places, "%s%s on ", *places ? ", " : "", member->name);
		if (node.known)
			append(places, "node %d", (int)node.value);
		else
			append(places, "an unknown node");
		if (package.known)
			append(places, " (package %d)", (int)package.value);
	}
	if (!nodes && !packages)
		return;
	struct finding *finding = packages ? check_add(report, "bond-members-on-different-packages", found->subject,
	                                             "the members are on different packages: %s", places)
	                                   : check_add(report, "bond-members-on-different-nodes", found->subject,
	                                             "the members are on different NUMA nodes: %s", places);
	evidence_of_members(found, report, finding);
	if (found->bond->mode)
		report_advice(finding,
		        has_one_active(found->bond)
		                ? "Place threads and buffers by the member that is active, or bond "
		                  "ports of one adapter."
		                : "Every active member carries traffic, so no place is near to all of it: bond ports "
		                  "of one adapter, or use the devices of the members without the bond.");
}

/* Functions of one adapter differ in the last digit of their address, or share the board's GUID. */
static bool same_slot(const char *a, const char *b)
{
	const char *dot_a = strrchr(a, '.'), *dot_b = strrchr(b, '.');
	return dot_a && dot_b && dot_a - a == dot_b - b && !strncmp(a, b, (size_t)(dot_a - a));
}

static const char *board_of(const struct host *host, const struct bond_member *member)
{
	if (member->rdma_devices.count) {
		const struct rdma_device *device = host_device(host, member->rdma_devices.items[0]);
		if (device && device->software != FLAG_YES && device->sys_image_guid &&
		        strcmp(device->sys_image_guid, "0000:0000:0000:0000"))
			return device->sys_image_guid;
	}
	return NULL;
}

static bool different_adapters(const struct host *host, const struct bond_member *a, const struct bond_member *b)
{
	const char *board_a = board_of(host, a), *board_b = board_of(host, b);
	const struct pci_function *place_a = place_of(a), *place_b = place_of(b);
	if (!place_a || !place_b || same_slot(place_a->address, place_b->address))
		return false;
	/* Of a LAG one function has no device of its own, so a missing GUID says nothing. */
	return !board_a || !board_b || strcmp(board_a, board_b);
}

/* RoCE LAG is a matter of mlx5; InfiniBand has none, and IPoIB is bonded over adapters as a rule. */
static bool speaks_of_lag(const struct found_bond *found)
{
	enum { MELLANOX = 0x15b3 };
	list_each(member, &found->bond->members) {
		const struct pci_function *place = place_of(member);
		if (member->netdev->kind != LINK_IPOIB && place && num_is(place->vendor, MELLANOX))
			return true;
	}
	return false;
}

static void check_adapters(const struct found_bond *found, struct report *report)
{
	const struct bond_member *first = found->bond->members.count ? found->bond->members.items[0] : NULL;
	const char *lag = speaks_of_lag(found) ? "; mlx5 forms no RoCE LAG here" : "";
	list_each(member, &found->bond->members) {
		if (!different_adapters(found->host, first, member))
			continue;
		struct finding *finding = check_add(report, "bond-members-on-different-adapters", found->subject,
		        "%s (%s) and %s (%s) belong to different adapters%s", first->name, place_of(first)->address,
		        member->name, place_of(member)->address, lag);
		evidence_of_members(found, report, finding);
		return;
	}
}

static void check_claims(const struct found_bond *found, struct report *report)
{
	char devices[TEXT_SIZE] = "";
	int count = 0;
	list_each(device, &found->netdev->netdev->claimants)
		append(devices, "%s%s", count++ ? ", " : "", device->name);
	if (count < 2)
		return;
	/* An IPoIB bond has the hardware address of its active member, by which rdma_cm finds the port. */
	bool by_active =
	        found->bond && found->bond->members.count && found->bond->members.items[0]->netdev->kind == LINK_IPOIB;
	struct finding *finding = check_add(report, "bond-claimed-by-several-devices", found->subject,
	        "%d RDMA devices reach this %s: %s; a look-up by its IP address (rdma_cm) picks %s", count,
	        link_kind_names[found->netdev->netdev->kind], devices,
	        by_active ? "that of the active member" : "one of them");
	report_evidence(report, finding, "netlink", "RDMA_NLDEV_ATTR_NDEV_INDEX", "%s", devices);
}

/* The modes of which the other end sends to each member what it likes (Documentation/networking/bonding.rst). */
static bool receives_anywhere(const struct bond *bond)
{
	static const char *const modes[] = { "802.3ad", "balance-rr", "balance-xor" };
	for (size_t i = 0; bond->mode && i < ARRAY_SIZE(modes); i++)
		if (!strcmp(bond->mode, modes[i]))
			return true;
	return false;
}

/*
 * The device of the member's own that the adapter hands packets to; NULL: none, as of the members of a LAG that another
 * one stands in for, or one whose connections are sockets of the kernel.
 */
static const char *device_of_its_own(const struct host *host, const struct bond_member *member)
{
	const char *name =
	        member->active != FLAG_NO && member->rdma_devices.count == 1 ? member->rdma_devices.items[0] : NULL;
	const struct rdma_device *device = name ? host_device(host, name) : NULL;
	if (!device || device->software != FLAG_NO)
		return NULL;
	list_each(port, &device->ports) /* without slots RoCE is off */
		if (port->transport == TRANSPORT_IWARP ||
		        (port->transport == TRANSPORT_ROCE && !num_is(port->gid_table_length, 0)))
			return name;
	return NULL;
}

/* A LAG would leave one device for all members. */
static void check_receivers(const struct found_bond *found, struct report *report)
{
	const char *first = NULL;
	char receivers[TEXT_SIZE] = "";
	uint32_t count = 0;
	if (!receives_anywhere(found->bond))
		return;
	list_each(member, &found->bond->members) {
		const char *device = device_of_its_own(found->host, member);
		if (!device || (first && !strcmp(first, device)))
			continue;
		first = first ? first : device;
		append(receivers, "%s%s (%s)", count++ ? ", " : "", member->name, device);
	}
	if (count < 2)
		return;
	struct finding *finding = check_add(report, "bond-without-device-lag", found->subject,
	        "in mode %s packets come in at any member, and each of %s knows its own connections only: what comes "
	        "to another one is lost",
	        found->bond->mode, receivers);
	list_each(member, &found->bond->members)
		list_each(name, &member->rdma_devices)
			report_evidence(report, finding, "RDMA device", member->name, "%s", name);
	report_advice(finding,
	        "Take mode active-backup, use the members without a bond, or bond ports of one adapter whose "
	        "driver makes one RDMA device of them (RoCE LAG).");
}

static const char *word_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

static bool is_up(const struct bond_member *member)
{
	return member->mii_status && !strcmp(member->mii_status, "up");
}

/* "ens1f0 is in aggregator 2, churn state churned" */
static void append_elsewhere(char text[static TEXT_SIZE], const struct bond_member *member)
{
	const struct bond_slave *slave = member->netdev->slave;
	bool churns = slave && slave->churn && strcmp(slave->churn, "none") != 0;
	append(text, "%s%s is in aggregator %d%s%s", *text ? ", " : "", member->name, (int)member->aggregator_id.value,
	        churns ? ", churn state " : "", churns ? slave->churn : "");
}

static void check_aggregators(const struct found_bond *found, struct report *report)
{
	const struct bond_facts *facts = found->netdev->netdev->bond_facts;
	char elsewhere[TEXT_SIZE] = "";
	uint32_t active = 0;
	list_each(member, &found->bond->members) {
		active += member->active == FLAG_YES;
		if (facts && is_up(member) && differ(member->aggregator_id, facts->aggregator_id))
			append_elsewhere(elsewhere, member);
	}
	if (!*elsewhere)
		return;
	struct finding *finding = check_add(report, "bond-member-in-wrong-aggregator", found->subject,
	        "%u of %u member%s active: %s, active is %d, though its MII status is up", active,
	        found->bond->members.count, plural(found->bond->members.count), elsewhere,
	        (int)facts->aggregator_id.value);
	list_each(member, &found->bond->members) {
		if (!is_up(member) || !differ(member->aggregator_id, facts->aggregator_id))
			continue;
		report_evidence(report, finding, "rtnetlink", "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID", "%d",
		        (int)member->aggregator_id.value);
		report_evidence(report, finding, "rtnetlink", "partner", "%s", word_or(member->partner_mac, "unknown"));
	}
	report_advice(finding, "The ports at the other end must belong to one LAG of one switch (or one MLAG pair).");
}

/* A backup is idle on purpose; a member without a link, or one that LACP keeps out, is not. */
static void check_members(const struct found_bond *found, bool without_partner, struct report *report)
{
	const struct bond_facts *facts = found->netdev->netdev->bond_facts;
	char idle[TEXT_SIZE] = "";
	list_each(member, &found->bond->members) {
		bool elsewhere = facts && differ(member->aggregator_id, facts->aggregator_id);
		if (member->mii_status && !is_up(member))
			append(idle, "%sthe link of %s is %s", *idle ? ", " : "", member->name, member->mii_status);
		else if (!without_partner && !elsewhere && member->in_sync == FLAG_NO && member->active == FLAG_NO)
			append(idle, "%sLACP keeps %s out: it is not in sync with its partner", *idle ? ", " : "",
			        member->name);
	}
	if (!*idle)
		return;
	struct finding *finding = check_add(report, "bond-member-not-active", found->subject, "%s", idle);
	list_each(member, &found->bond->members)
		report_evidence(report, finding, "rtnetlink", "IFLA_BOND_SLAVE_MII_STATUS", "%s %s", member->name,
		        word_or(member->mii_status, "unknown"));
	const char *links = bond_members_advice(report->arena, found->netdev->netdev);
	report_advice(
	        finding, links ? links
	                       : "Compare the LACP state of both ends (/proc/net/bonding): the switch port must be "
	                         "in the LAG, with LACP on.");
}

/* Instead of what each member then lacks. */
static bool check_partner(const struct found_bond *found, struct report *report)
{
	const struct bond_facts *facts = found->netdev->netdev->bond_facts;
	if (!facts || !join_lacks_partner(facts) || found->bond->members.count < 2)
		return false;
	char active[TEXT_SIZE] = "";
	list_each(member, &found->bond->members)
		if (member->active == FLAG_YES)
			append(active, "%s%s", *active ? ", " : "", member->name);
	struct finding *finding = check_add(report, "bond-without-lacp-partner", found->subject,
	        "nothing answers its LACP: of %u member%s %s%s", found->bond->members.count,
	        plural(found->bond->members.count), *active ? "it uses only " : "it uses none", active);
	report_evidence(report, finding, "rtnetlink", "IFLA_BOND_AD_INFO_PARTNER_MAC", "%s", facts->partner_mac);
	report_advice(finding, "Make the switch ports of all members one LAG with LACP, or take another bonding mode.");
	return true;
}

static void check_speeds(const struct found_bond *found, struct report *report)
{
	char speeds[TEXT_SIZE] = "";
	struct num first = { 0 };
	bool mixed = false;
	list_each(member, &found->bond->members) {
		struct num speed = member->netdev->speed_mbps;
		if (!speed.known)
			continue;
		first = first.known ? first : speed;
		mixed |= differ(speed, first);
		append(speeds, "%s%s at %d Mb/s", *speeds ? ", " : "", member->name, (int)speed.value);
	}
	if (!mixed)
		return;
	struct finding *finding = check_add(
	        report, "bond-mixed-speeds", found->subject, "the members run at different speeds: %s", speeds);
	list_each(member, &found->bond->members)
		if (member->netdev->speed_mbps.known)
			report_evidence(report, finding, "sysfs", member->name, "speed %d Mb/s",
			        (int)member->netdev->speed_mbps.value);
}

/* An address of a host only, such as 192.0.2.1/32, brings no route that takes traffic away from the bond. */
static bool has_subnet_route(const struct address *address)
{
	uint8_t gid[16];
	gid_from_address(address, gid);
	return !gid_is_link_local(gid, true) && address->prefix_length < (address->family == AF_INET ? 32 : 128);
}

/* The first of a member's addresses that has a route to its subnet; NULL: none. */
static const struct address *address_with_route(const struct bond_member *member)
{
	list_each(address, &member->netdev->addresses)
		if (has_subnet_route(address))
			return address;
	return NULL;
}

/* Left over from before the bond, or given by a second manager of the network. */
static void check_addresses(const struct found_bond *found, struct report *report)
{
	char ip[INET6_ADDRSTRLEN], addresses[TEXT_SIZE] = "";
	uint32_t count = 0;
	list_each(member, &found->bond->members) {
		const struct address *own = address_with_route(member);
		if (own && inet_ntop(own->family, own->bytes, ip, sizeof(ip)))
			append(addresses, "%s%s has %s/%u", count++ ? ", " : "", member->name, ip, own->prefix_length);
	}
	if (!count)
		return;
	struct finding *finding = check_add(report, "bond-member-with-address", found->subject,
	        count == 1 ? "a member has an address of its own, whose route leaves by that member: %s"
	                   : "members have addresses of their own, whose routes leave by those members: %s",
	        addresses);
	list_each(member, &found->bond->members) {
		const struct address *own = address_with_route(member);
		if (own && inet_ntop(own->family, own->bytes, ip, sizeof(ip)))
			report_evidence(report, finding, "RTM_GETADDR", member->name, "%s/%u", ip, own->prefix_length);
	}
	report_advice(finding, "Take it away there: addresses belong to the bond.");
}

static void check_bond(const struct host *host, const struct port_netdev *netdev, struct report *report)
{
	struct found_bond found = { .host = host, .netdev = netdev, .bond = netdev->bond };
	snprintf(found.subject, sizeof(found.subject), "net:%s", netdev->name);
	if (found.bond->members.count == 1)
		check_add(report, "bond-single-member", found.subject,
		        "%s is the only member: neither redundancy nor LAG", found.bond->members.items[0]->name);
	check_places(&found, report);
	check_adapters(&found, report);
	check_claims(&found, report);
	check_receivers(&found, report);
	bool down = check_bond_state(netdev->netdev, found.subject, report);
	bool alone = check_partner(&found, report);
	if (!alone)
		check_aggregators(&found, report);
	if (!down)
		check_members(&found, alone, report);
	check_speeds(&found, report);
	check_addresses(&found, report);
}

/* What a team's ports do is between them and its daemon. */
static void check_team(const struct port_netdev *netdev, struct report *report)
{
	struct found_bond found = { .netdev = netdev };
	snprintf(found.subject, sizeof(found.subject), "net:%s", netdev->name);
	check_claims(&found, report);
	check_bond_state(netdev->netdev, found.subject, report);
}

/* That of routes over both ports (multipath) and that of one switch with several ports need none. */
static bool stands_on_bond(const struct lag_facts *lag)
{
	return !lag->type || !strcmp(lag->type, "roce") || !strcmp(lag->type, "switchdev");
}

static void check_lag(const struct rdma_device *device, struct report *report)
{
	const struct lag_facts *lag = device->roce_lag;
	if (!lag || !lag->state || strcmp(lag->state, "active") || !stands_on_bond(lag))
		return;
	struct finding *finding = check_add(report, "roce-lag-active", device->name,
	        "%s%s%s: the adapter chooses the port of each queue pair, the bond's xmit_hash_policy does not",
	        lag_kind_name(lag), lag->port_sel_mode ? ", port selection " : "",
	        lag->port_sel_mode ? lag->port_sel_mode : "");
	report_evidence(report, finding, "debugfs", "lag/state", "%s", lag->state);
	if (lag->port_sel_mode)
		report_evidence(report, finding, "debugfs", "lag/port_sel_mode", "%s", lag->port_sel_mode);
}

/* A bond that many devices reach is looked at once. */
static bool is_first_claim(const struct netdev *bond, const struct rdma_device *device)
{
	return !bond->claimants.count || bond->claimants.items[0] == device;
}

void check_bonds(const struct host *host, struct report *report)
{
	list_each(device, &host->devices)
		check_lag(device, report);
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			list_each(netdev, &port->netdevs) {
				if (!is_first_claim(netdev->netdev, device))
					continue;
				else if (netdev->bond)
					check_bond(host, netdev, report);
				else if (netdev->netdev->kind == LINK_TEAM)
					check_team(netdev, report);
			}
}
