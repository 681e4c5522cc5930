/* SPDX-License-Identifier: MIT */
#include "check/gid.h"

#include "base/cleanup.h"
#include "check/add.h"
#include "gid/address.h"
#include "gid/choose.h"
#include "gid/subnet.h"
#include "source/join.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SUBJECT_SIZE = 96 };

struct table_check {
	struct host *host;
	struct report *report;
	struct gid_port port;
	bool others_work; /* a port has a GID that may be used here */
	char subject[SUBJECT_SIZE];
};

static void entry_subject(const struct gid_entry *entry, char subject[static SUBJECT_SIZE])
{
	snprintf(subject, SUBJECT_SIZE, "%s/%" PRId64 "/gid/%" PRId64, entry->device, entry->port.value,
	        entry->index.value);
}

static void add_gid_evidence(struct report *report, struct finding *finding, const struct gid_entry *entry)
{
	report_evidence(report, finding, "GID table", "gid", "%s", entry->gid);
	if (entry->netdev)
		report_evidence(report, finding, "GID table", "netdev", "%s", entry->netdev);
}

/* ---- one entry ---- */

static void check_stale(struct report *report, const struct gid_entry *entry)
{
	if (entry->state != GID_STATE_STALE)
		return;
	char subject[SUBJECT_SIZE];
	entry_subject(entry, subject);
	bool mac = gid_is_link_local(entry->bytes, false) && gid_has_eui64(entry->bytes) && entry->link &&
	           entry->link->mac;
	struct finding *finding = check_add(
	        report, mac ? "gid-mac-mismatch" : "gid-stale", subject, "stale GID: %s", entry->state_reason);
	add_gid_evidence(report, finding, entry);
	if (mac)
		report_evidence(report, finding, "RTM_GETLINK", "IFLA_ADDRESS", "%s", entry->link->mac);
	report_advice(finding,
	        "Do not use this index; taking the netdev down and up again lets the kernel renew its entries.");
}

static bool stands_on(const struct host *host, const struct netdev *upper, const struct netdev *lower)
{
	if (!upper || !lower || upper == lower)
		return false;
	return netdev_is_member(lower, upper) || netdev_base(host, upper) == lower;
}

/* Once for each group: at its lowest index. */
static void check_duplicate(const struct table_check *check, const struct gid_entry *entry)
{
	if (entry->state != GID_STATE_DUPLICATE)
		return;
	const struct gid_entry *twin = NULL;
	list_each(index, &entry->same_gid_as) {
		const struct gid_entry *other = gid_entry_at(&check->port, index->value);
		if (!twin && other && other->type == entry->type)
			twin = other;
	}
	if (!twin || twin->index.value < entry->index.value)
		return;
	char subject[SUBJECT_SIZE];
	entry_subject(entry, subject);
	/*
	 * Each VLAN netdev repeats the link-local GID of the netdev below it, and so does a bridge or team with the MAC
	 * of its port: that is how it has to be.
	 */
	bool usual = entry->vlan.known != twin->vlan.known || entry->vlan.value != twin->vlan.value ||
	             stands_on(check->host, entry->link, twin->link) || stands_on(check->host, twin->link, entry->link);
	if (usual && entry->scope == GID_SCOPE_LINK_LOCAL)
		return;
	struct finding *finding = check_add(check->report, "gid-duplicate", subject,
	        "duplicate GID at %" PRId64 " (%s) and %" PRId64 " (%s)", entry->index.value,
	        entry->netdev ? entry->netdev : "no netdev", twin->index.value,
	        twin->netdev ? twin->netdev : "no netdev");
	add_gid_evidence(check->report, finding, entry);
	report_advice(finding, "Give the index explicitly: a look-up by GID finds the lower one, whatever its netdev.");
}

static void check_down(struct report *report, const struct gid_entry *entry)
{
	bool usable = entry->state == GID_STATE_OK || entry->state == GID_STATE_DUPLICATE;
	if (!usable || !entry->link || entry->link->admin_up != FLAG_NO)
		return;
	char subject[SUBJECT_SIZE];
	entry_subject(entry, subject);
	struct finding *finding = report_finding(
	        report, "gid-netdev-down", SEVERITY_INFO, subject, "netdev %s of the entry is down", entry->link->name);
	report_evidence(report, finding, "RTM_GETLINK", "IFF_UP", "no");
}

/* The same GID of another type says the same. */
static bool is_first_of_its_kind(const struct gid_entry *entry)
{
	list_each(index, &entry->same_gid_as)
		if (index->value < entry->index.value)
			return false;
	return true;
}

/* Packets to the address go to either node. */
static void check_taken(struct report *report, const struct gid_entry *entry)
{
	if (!entry->address || !address_is_taken(entry->address) || !is_first_of_its_kind(entry))
		return;
	char subject[SUBJECT_SIZE];
	entry_subject(entry, subject);
	struct finding *finding =
	        check_add(report, "gid-address-taken", subject, "another node has the address %s too", entry->ip);
	add_gid_evidence(report, finding, entry);
	report_evidence(report, finding, "RTM_GETADDR", "IFA_FLAGS", "IFA_F_DADFAILED");
	report_advice(
	        finding, "Give one of the two nodes another address; the kernel keeps this GID, and programs take it.");
}

/* Ports of one bond, and functions that share a netdev, have the same GIDs rightly, and so has each VRF its own
 * network. */
static bool is_same_elsewhere(const struct host *host, const struct gid_entry *entry, const struct gid_entry *other)
{
	if (memcmp(other->bytes, entry->bytes, sizeof(entry->bytes)) != 0 || other->type != entry->type)
		return false;
	if (!other->link || other->link == entry->link || !other->address || other->scope != entry->scope)
		return false;
	if (gid_vrf_of(host, entry->link) != gid_vrf_of(host, other->link))
		return false;
	return strcmp(other->device, entry->device) || other->port.value != entry->port.value;
}

static void check_same_on_ports(
        struct host *host, const struct gid_document *document, uint32_t at, const struct gid_entry *entry)
{
	struct report *report = &host->report;
	if (!entry->link || !entry->address || !is_first_of_its_kind(entry) || entry->scope == GID_SCOPE_LINK_LOCAL ||
	        entry->scope == GID_SCOPE_LOOPBACK)
		return;
	for (uint32_t i = at; i < document->entries.count; i++) {
		const struct gid_entry *other = document->entries.items[i];
		if (!is_same_elsewhere(host, entry, other))
			continue;
		char subject[SUBJECT_SIZE];
		entry_subject(entry, subject);
		struct finding *finding = check_add(report, "gid-same-on-ports", subject,
		        "%s/%" PRId64 " has the same GID at index %" PRId64 ": %s and %s have the same address",
		        other->device, other->port.value, other->index.value, entry->link->name, other->link->name);
		add_gid_evidence(report, finding, entry);
		report_advice(finding,
		        "Give each port an address of its own, or bond them: a peer's packets arrive at one "
		        "of the two.");
		return;
	}
}

/* ---- one table ---- */

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
	return check->host->addresses_unread ? "Look for an address (ip address): GIDs are made of the IPv4 and IPv6 "
	                                       "addresses of the netdev, "
	                                       "or of the bond, team or bridge that it is a member of."
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
	if (is_idle_member(check->host, netdev))
		snprintf(idle, sizeof(idle), "%s", ", for it is not the active one, which alone has them");
	struct finding *finding = check_add(check->report, "gid-none", check->subject,
	        "the port has %s: its netdev %s %s%s", check->port.count ? "only stale GIDs" : "no GID", netdev->name,
	        lacks ? lacks : "has addresses, none of which is in the table", idle);
	if (finding && *idle)
		finding->severity = SEVERITY_INFO;
	report_evidence(check->report, finding, "GID table", "used", "%u", check->port.count);
	report_advice(finding,
	        wanting != netdev ? advice_for_master(check, wanting)
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
	if (finding && is_for_others(check))
		finding->severity = SEVERITY_INFO;
	report_evidence(check->report, finding, "GID table", "used", "%u", check->port.count);
	report_advice(finding,
	        "Give this namespace a netdev of the device (macvlan, ipvlan, SR-IOV VF or the netdev itself) "
	        "with an address.");
}

/* An address of the port's netdev that routers know, which then has no entry where all entries are link-local. */
static const struct address *left_out(const struct table_check *check)
{
	const struct port *port = check->port.table->rdma_port;
	const struct netdev *netdev = port ? port_netdev(port) : NULL;
	if (!netdev || netdev->admin_up == FLAG_NO)
		return NULL;
	list_each(address, &netdev->addresses) {
		uint8_t gid[16];
		gid_from_address(address, gid);
		enum gid_scope scope = gid_scope_of(gid);
		if (scope != GID_SCOPE_LINK_LOCAL && scope != GID_SCOPE_LOOPBACK)
			return address;
	}
	return NULL;
}

static void report_left_out(const struct table_check *check, const struct address *address)
{
	const struct netdev *netdev = port_netdev(check->port.table->rdma_port);
	uint8_t gid[16];
	char ip[IP_TEXT_SIZE];
	gid_from_address(address, gid);
	gid_format_ip(gid, ip);
	struct finding *finding = check_add(check->report, "gid-link-local-only", check->subject,
	        "only link-local GIDs: peers in the same L2 segment only; the address %s of %s has no entry", ip,
	        netdev->name);
	report_evidence(check->report, finding, "GID table", "routable entries", "0");
	report_evidence(check->report, finding, "RTM_GETADDR", netdev->name, "%s/%u", ip, address->prefix_length);
	report_advice(finding,
	        arena_printf(check->host->arena,
	                "Take %s down and up again, so that the kernel makes its entries anew.", netdev->name));
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
	const struct address *address = counts.link_local == counts.usable ? left_out(check) : NULL;
	if (address) {
		report_left_out(check, address);
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

static bool has_usable(const struct host *host, const struct gid_document *document)
{
	list_each(table, &document->tables) {
		struct gid_port port = gid_port_of(host, document, table);
		if (count_entries(&port).usable)
			return true;
	}
	return false;
}

void check_gid(struct host *host, const struct gid_document *document)
{
	bool works = has_usable(host, document);
	list_each(table, &document->tables) {
		struct table_check check = {
			.host = host,
			.report = &host->report,
			.port = gid_port_of(host, document, table),
			.others_work = works,
		};
		snprintf(check.subject, sizeof(check.subject), "%s/%" PRId64, table->device, table->port.value);
		for (uint32_t i = 0; i < check.port.count; i++) {
			check_stale(check.report, check.port.entries[i]);
			check_duplicate(&check, check.port.entries[i]);
			check_down(check.report, check.port.entries[i]);
			check_taken(check.report, check.port.entries[i]);
			check_same_on_ports(host, document, table->first + i + 1, check.port.entries[i]);
		}
		if (gid_port_transport(&check.port) == TRANSPORT_ROCE && table->used.known)
			check_roce(&check);
		check_full(&check);
		check_node_guid(check.report, table->rdma);
	}
	check_gid_subnets(host, document);
}
