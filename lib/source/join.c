/* SPDX-License-Identifier: MIT */
#include "source/join.h"
#include "source/collect.h"
#include "source/numa.h"
#include "source/vendors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- stacks of netdevs ---- */

static int by_link_name(const void *a, const void *b)
{
	return natural_compare((*(struct netdev *const *)a)->name, (*(struct netdev *const *)b)->name);
}

static void sort_links(struct list *links)
{
	if (links->count)
		qsort(links->items, links->count, sizeof(*links->items), by_link_name);
}

static void put_on(struct arena *arena, struct netdev *upper, struct netdev *lower)
{
	if (!list_add_existing(arena, &upper->lowers, lower))
		list_add_existing(arena, &lower->uppers, upper);
}

/* What sysfs says of kinds that stand on several netdevs; `told` is the one that is known already. */
static void put_on_named(struct host *host, struct netdev *netdev, const struct netdev *told)
{
	for (uint32_t i = 0; i < netdev->lower_names.count; i++) {
		struct netdev *lower = host_netdev_by_name(host, netdev->lower_names.items[i]);
		if (lower && lower != netdev && lower != told && !netdev_is_member(lower, netdev))
			put_on(host->arena, netdev, lower);
	}
}

void join_stacks(struct host *host)
{
	list_each(netdev, &host->netdevs)
		netdev->uppers.count = netdev->lowers.count = 0;
	list_each(netdev, &host->netdevs) {
		struct netdev *master = host_master(host, netdev), *lower = host_lower(host, netdev);
		if (master && master != netdev)
			put_on(host->arena, master, netdev);
		/* What is both a master and stacked by a link of its own is told once. */
		if (lower && lower != netdev && !netdev_is_member(lower, netdev))
			put_on(host->arena, netdev, lower);
		if (netdev->kind == LINK_OTHER)
			put_on_named(host, netdev, lower);
	}
	list_each(netdev, &host->netdevs) {
		sort_links((struct list *)&netdev->uppers);
		sort_links((struct list *)&netdev->lowers);
	}
}

/* Members of a bond or a team carry its traffic; the other ports of a bridge do not carry this netdev's. */
static bool spreads(const struct netdev *netdev)
{
	return netdev->kind == LINK_BOND || netdev->kind == LINK_TEAM;
}

/*
 * Takes one relation of a port and a netdev. Each takes some hundred bytes, and a thousand ports that all name the
 * lowest of a thousand netdevs make a million of them.
 */
static bool take_relation(struct host *host)
{
	enum { LIMIT = 1 << 16 };
	return ++host->related <= LIMIT;
}

static bool add_above(struct host *host, struct netdev *netdev, struct netdev_list *list)
{
	if (netdev->above_visit == host->visits)
		return true;
	netdev->above_visit = host->visits;
	return take_relation(host) && !list_add_existing(host->arena, list, netdev);
}

static bool add_below(struct host *host, struct netdev *netdev, struct netdev_list *list)
{
	if (netdev->below_visit == host->visits)
		return true;
	netdev->below_visit = host->visits;
	return take_relation(host) && !list_add_existing(host->arena, list, netdev);
}

static bool add_lowers(struct host *host, const struct netdev *netdev, struct netdev_list *list)
{
	bool fits = true;
	for (uint32_t i = 0; fits && i < netdev->lowers.count; i++)
		fits = add_below(host, netdev->lowers.items[i], list);
	return fits;
}

int join_related(struct host *host, struct netdev *netdev, struct netdev_list *above, struct netdev_list *below)
{
	*above = *below = (struct netdev_list){ 0 };
	host->visits++;
	bool fits = add_above(host, netdev, above) && add_below(host, netdev, below);
	for (uint32_t i = 0; fits && i < above->count; i++)
		for (uint32_t j = 0; fits && j < above->items[i]->uppers.count; j++)
			fits = add_above(host, above->items[i]->uppers.items[j], above);
	for (uint32_t i = 1; fits && i < above->count; i++)
		if (spreads(above->items[i]))
			fits = add_lowers(host, above->items[i], below);
	for (uint32_t i = 0; fits && i < below->count; i++)
		fits = add_lowers(host, below->items[i], below);
	return fits ? 0 : -ENOSPC;
}

/* ---- the netdev of a port ---- */

bool join_is_representor(const struct netdev *netdev)
{
	/* Uplinks are "p0"; "pf0", "pf0vf3", "pf0sf88" stand for functions, with "cN" before it for another
	 * controller's. */
	const char *name = netdev->phys_port_name;
	if (name && name[0] == 'c' && name[1] >= '0' && name[1] <= '9')
		name += 1 + strspn(name + 1, "0123456789");
	return name && !strncmp(name, "pf", 2);
}

static bool is_on_subfunction(const char *path)
{
	return path && strstr(path, ".sf.");
}

static bool shares_function(const struct rdma_device *device, const struct netdev *netdev)
{
	if (!device->parent_path || !netdev->sysfs_path || join_is_representor(netdev))
		return false;
	if (is_on_subfunction(device->parent_path) || is_on_subfunction(netdev->sysfs_path))
		return !strcmp(device->parent_path, netdev->sysfs_path);
	return device->pci && netdev->pci == device->pci;
}

/* The GUID of an IPoIB netdev's port stands in the last 8 bytes of its hardware address (RFC 4391, 9.1.1). */
static bool has_port_guid(const struct netdev *netdev, const struct port *port)
{
	enum { IPOIB_MAC = 20, GUID = 8 };
	return port->gid0_known == FLAG_YES && netdev->mac_length == IPOIB_MAC &&
	       !memcmp(netdev->mac_bytes + IPOIB_MAC - GUID, port->gid0 + 16 - GUID, GUID);
}

/* "mlx5_0_dma" with the GUID of mlx5_0: its way to memory past the root complex (mlx5 data direct). */
static const char *companion_of(const struct host *host, const struct rdma_device *device)
{
	static const char suffix[] = "_dma";
	char name[64];
	size_t length = strlen(device->name), end = sizeof(suffix) - 1;
	if (length <= end || length - end >= sizeof(name) || strcmp(device->name + length - end, suffix) != 0)
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)(length - end), device->name);
	const struct rdma_device *other = host_device(host, name);
	bool same = other && device->node_guid && other->node_guid && !strcmp(device->node_guid, other->node_guid);
	return same ? other->name : NULL;
}

static struct netdev *ipoib_of(const struct host *host, const struct rdma_device *device, const struct port *port)
{
	struct netdev *by_place = NULL;
	if (companion_of(host, device)) /* the netdev with their GUID is the other one's */
		return NULL;
	list_each(netdev, &host->netdevs) {
		if (netdev->kind != LINK_IPOIB || netdev->lower_ifindex.known) /* that of a partition stands on it */
			continue;
		if (has_port_guid(netdev, port))
			return netdev;
		if (port->gid0_known != FLAG_YES && shares_function(device, netdev) &&
		        num_is(netdev->dev_port, port->number.value - 1))
			by_place = netdev;
	}
	return by_place;
}

static struct netdev *only_or_by_port(
        const struct host *host, const struct rdma_device *device, const struct port *port)
{
	char uplink[16];
	struct netdev *only = NULL, *by_dev_port = NULL, *by_name = NULL;
	int count = 0, ports = 0;
	snprintf(uplink, sizeof(uplink), "p%d", (int)port->number.value - 1);
	list_each(netdev, &host->netdevs) {
		if (netdev->kind == LINK_IPOIB || !shares_function(device, netdev))
			continue;
		only = netdev;
		count++;
		if (num_is(netdev->dev_port, port->number.value - 1)) {
			by_dev_port = netdev;
			ports++;
		}
		if (netdev->phys_port_name && !strcmp(netdev->phys_port_name, uplink))
			by_name = netdev;
	}
	if (count == 1 && device->ports.count == 1)
		return only;
	return ports == 1 ? by_dev_port : by_name;
}

struct netdev *join_port_netdev(const struct host *host, const struct rdma_device *device, const struct port *port)
{
	struct netdev *netdev = NULL;
	if (port->netdev_ifindex.known)
		netdev = host_netdev(host, port->netdev_ifindex.value);
	if (!netdev && port->netdev_name)
		netdev = host_netdev_by_name(host, port->netdev_name);
	if (netdev)
		return netdev;
	if (port->link_layer == LINK_LAYER_INFINIBAND)
		return ipoib_of(host, device, port);
	return port->link_layer == LINK_LAYER_ETHERNET ? only_or_by_port(host, device, port) : NULL;
}

/* ---- bonds ---- */

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

/* Does the member carry traffic now? */
static enum flag is_active(const struct bond_facts *facts, const struct netdev *member)
{
	const struct bond_slave *slave = member->slave;
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
	if (shares_function(device, netdev))
		return true;
	list_each(port, &device->ports)
		if (netdev->ifindex.known && num_is(port->netdev_ifindex, netdev->ifindex.value))
			return true;
	return false;
}

static void fill_member(
        struct host *host, const struct bond_facts *facts, struct netdev *netdev, struct bond_member *member)
{
	static const struct bond_slave unknown;
	const struct bond_slave *slave = netdev->slave ? netdev->slave : &unknown;
	member->name = netdev->name;
	member->mii_status = slave->mii_status;
	member->aggregator_id = is_lacp(facts) ? slave->aggregator_id : (struct num){ 0 };
	member->partner_mac = slave->partner_mac;
	member->in_sync = in_sync(facts, slave);
	member->active = netdev->slave ? is_active(facts, netdev) : FLAG_UNKNOWN;
	member->netdev = netdev;
	list_each(device, &host->devices)
		if (reaches_directly(device, netdev) && take_relation(host))
			strings_add(host->arena, &member->rdma_devices, device->name);
	if (!netdev->pci)
		return;
	member->pci_address = netdev->pci->address;
	member->pci_path = path_text(host->arena, netdev->pci);
	member->numa_node = netdev->pci->numa_node;
	member->local_cpus = netdev->pci->local_cpus;
	member->package = netdev->pci->package;
}

static struct bond *join_bond(struct host *host, struct netdev *netdev)
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
			fill_member(host, facts, member, added);
	}
	netdev->bond = bond;
	return bond;
}

/* ---- ports ---- */

static const char *kind_text(const struct netdev *netdev)
{
	return netdev->kind == LINK_OTHER && netdev->kind_name ? netdev->kind_name : link_kind_names[netdev->kind];
}

/* The devices that reach a bond or a team; ports of one device follow each other. */
static void claim(struct host *host, struct netdev *bond, struct rdma_device *device)
{
	uint32_t count = bond->claimants.count;
	if (!count || bond->claimants.items[count - 1] != device)
		list_add_existing(host->arena, &bond->claimants, device);
}

static void add_port_netdev(
        struct host *host, struct rdma_device *device, struct port *port, struct netdev *netdev, enum relation relation)
{
	struct port_netdev *added = list_add(host->arena, &port->netdevs);
	if (!added)
		return;
	list_each(lower, &netdev->lowers)
		list_add_existing(host->arena, &added->lower, lower->name);
	added->name = netdev->name;
	added->ifindex = netdev->ifindex;
	added->relation = (int)relation;
	added->kind = kind_text(netdev);
	added->operstate = netdev->operstate;
	added->mtu = netdev->mtu;
	added->speed_mbps = netdev->speed_mbps;
	if (netdev->kind == LINK_IPOIB && !netdev->speed_mbps.known)
		added->speed_mbps = port->rate_mbps;
	added->source = relation != RELATION_PORT    ? host->link_source
	                : port->netdev_ifindex.known ? SOURCE_NETLINK
	                                             : SOURCE_SYSFS;
	added->netdev = netdev;
	if (netdev->kind == LINK_BOND)
		added->bond = join_bond(host, netdev);
	if (spreads(netdev))
		claim(host, netdev, device);
	if (!netdev->pci)
		return;
	netdev->pci->is_reached = true;
	added->pci_address = netdev->pci->address;
	added->numa_node = netdev->pci->numa_node;
	added->local_cpus = netdev->pci->local_cpus;
	added->package = netdev->pci->package;
}

static void miss_relations(struct host *host, const struct rdma_device *device, const struct port *port)
{
	char subject[64];
	snprintf(subject, sizeof(subject), "%.40s/%d", device->name, (int)port->number.value);
	report_missing(&host->report, "netdevs", subject, 0,
	        "ports and netdevs of this host have more relations than are looked at (65,536)");
}

static void join_port(struct host *host, struct rdma_device *device, struct port *port)
{
	port->netdevs.count = 0;
	struct netdev *netdev = join_port_netdev(host, device, port);
	if (!netdev)
		return;
	struct netdev_list above, below;
	if (join_related(host, netdev, &above, &below))
		miss_relations(host, device, port);
	add_port_netdev(host, device, port, netdev, RELATION_PORT);
	for (uint32_t i = 1; i < above.count; i++)
		add_port_netdev(host, device, port, above.items[i], RELATION_ABOVE);
	for (uint32_t i = 1; i < below.count; i++)
		if (below.items[i]->above_visit != host->visits)
			add_port_netdev(host, device, port, below.items[i], RELATION_BELOW);
}

/* ---- devices ---- */

static enum transport device_transport(const struct rdma_device *device)
{
	int transport = TRANSPORT_UNKNOWN;
	list_each(port, &device->ports) {
		if (transport && port->transport && port->transport != transport)
			return TRANSPORT_MIXED;
		if (port->transport)
			transport = port->transport;
	}
	return (enum transport)transport;
}

static int64_t count_functions(const struct host *host, const struct rdma_device *parent)
{
	int64_t count = 0;
	list_each(device, &host->devices)
		if (device->pci && device->pci->physfn && !strcmp(device->pci->physfn, parent->pci->address))
			count++;
	return count;
}

/* VFs that were given to this virtual machine. */
static bool is_guest_vf(const struct pci_function *function)
{
	return !function->physfn && vendor_id_is_vf(function->vendor, function->device);
}

static void join_function(struct host *host, struct rdma_device *device)
{
	const struct pci_function *pci = device->pci;
	if (!pci || device->software == FLAG_YES)
		return;
	bool sub = is_on_subfunction(device->parent_path);
	if (!sub && pci->physfn_unknown)
		return;
	device->function.kind = sub ? FUNCTION_SF : pci->physfn ? FUNCTION_VF : FUNCTION_PF;
	device->function.parent = sub ? pci->address : pci->physfn;
	if (device->function.kind == FUNCTION_PF && is_guest_vf(pci)) {
		device->function.kind = FUNCTION_VF;
		report_missing(&host->report, "parent", device->name, 0,
		        "its PCI id is that of a VF, whose PF is not to be seen here (a virtual machine)");
	}
	device->vf_index = pci->vf_index;
	if (device->function.kind != FUNCTION_PF)
		return;
	/* VFs given to guests have no RDMA device here. */
	int64_t count = count_functions(host, device);
	if (pci->sriov_numvfs.known && pci->sriov_numvfs.value > count)
		count = pci->sriov_numvfs.value;
	device->virtual_functions = num(count);
}

/* The function of a netdev that no port needs is not looked up; the kernel names it from 5.14 on. */
static bool is_on_function(const struct netdev *netdev, const struct pci_function *function)
{
	if (!function || netdev->pci)
		return function && netdev->pci == function;
	return netdev->parent_name && function->address && !strcmp(netdev->parent_name, function->address);
}

/* Its own function, and of a LAG those of the bond's other members, which have no device of their own. */
static bool is_on_function_of(const struct rdma_device *device, const struct netdev *representor)
{
	if (is_on_function(representor, device->pci))
		return true;
	list_each(port, &device->ports)
		list_each(netdev, &port->netdevs)
			for (uint32_t i = 0; netdev->bond && i < netdev->bond->members.count; i++) {
				const struct pci_function *function = netdev->bond->members.items[i]->netdev->pci;
				if (function && !function->has_device && is_on_function(representor, function))
					return true;
			}
	return false;
}

static void join_device(struct host *host, struct rdma_device *device)
{
	if (device->pci && device->pci->driver && device->software != FLAG_YES)
		device->driver = device->pci->driver;
	join_function(host, device);
	device->companion_of = companion_of(host, device);
	device->representors.count = 0;
	device->transport = (int)device_transport(device);
	list_each(port, &device->ports)
		join_port(host, device, port);
	if (device->function.kind == FUNCTION_PF)
		list_each(netdev, &host->netdevs)
			if (join_is_representor(netdev) && is_on_function_of(device, netdev))
				strings_add(host->arena, &device->representors, netdev->name);
}

/* ---- the host ---- */

static int by_name(const void *a, const void *b)
{
	return natural_compare((*(struct rdma_device *const *)a)->name, (*(struct rdma_device *const *)b)->name);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = (*(struct port *const *)a)->number.value, y = (*(struct port *const *)b)->number.value;
	return (x > y) - (x < y);
}

/* An element is in its list before it is filled: a worker that was killed may have left one without a name. */
static void drop_unfinished(struct host *host)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < host->devices.count; i++)
		if (host->devices.items[i]->name && !host->devices.items[i]->gone)
			host->devices.items[kept++] = host->devices.items[i];
	host->devices.count = kept;
	kept = 0;
	for (uint32_t i = 0; i < host->netdevs.count; i++)
		if (host->netdevs.items[i]->name)
			host->netdevs.items[kept++] = host->netdevs.items[i];
	host->netdevs.count = kept;
}

/* What the functions and netdevs of the host have to do with each other; begins anew each time. */
static void join_functions(struct host *host)
{
	list_each(function, &host->pci_functions) {
		function->has_device = function->is_reached = false;
		function->netdev_name = NULL;
	}
	list_each(netdev, &host->netdevs) {
		struct pci_function *function = netdev->pci           ? netdev->pci
		                                : netdev->parent_name ? host_function(host, netdev->parent_name)
		                                                      : NULL;
		if (function && !function->netdev_name)
			function->netdev_name = netdev->name;
		netdev->claimants.count = 0;
		netdev->bond = NULL;
	}
}

static void join_packages(struct host *host)
{
	list_each(function, &host->pci_functions) {
		const struct numa_node *node =
		        function->numa_node.known ? host_node(host, function->numa_node.value) : NULL;
		function->package =
		        node && node->package.known ? node->package : numa_package_of_cpus(host, function->local_cpus);
	}
}

void join_host(struct host *host)
{
	drop_unfinished(host);
	if (host->devices.count)
		qsort(host->devices.items, host->devices.count, sizeof(*host->devices.items), by_name);
	if (host->netdevs.count)
		qsort(host->netdevs.items, host->netdevs.count, sizeof(*host->netdevs.items), by_link_name);
	join_packages(host);
	join_functions(host);
	join_stacks(host);
	host->related = 0;
	list_each(device, &host->devices)
		if (device->pci)
			device->pci->has_device = true;
	list_each(device, &host->devices) {
		if (device->ports.count)
			qsort(device->ports.items, device->ports.count, sizeof(*device->ports.items), by_number);
		join_device(host, device);
	}
	host->joined = true;
}

/* ---- one device of the host ---- */

static bool concerns_path(const struct pci_function *function, const char *address)
{
	if (function)
		list_each(hop, &function->path)
			if (hop->address && !strcmp(hop->address, address))
				return true;
	return false;
}

static bool concerns_netdev(const struct rdma_device *device, const char *name)
{
	list_each(port, &device->ports)
		list_each(netdev, &port->netdevs)
			if (!strcmp(netdev->name, name))
				return true;
	return false;
}

static bool concerns_pci(const struct rdma_device *device, const char *address)
{
	if (concerns_path(device->pci, address))
		return true;
	list_each(port, &device->ports)
		list_each(netdev, &port->netdevs)
			if (concerns_path(netdev->netdev->pci, address))
				return true;
	return false;
}

static bool concerns_port(const struct rdma_device *device, const char *slash)
{
	int64_t number;
	size_t digits = strspn(slash + 1, "0123456789");
	char text[16];
	snprintf(text, sizeof(text), "%.*s", (int)digits, slash + 1);
	return parse_number(text, 10, &number) || device_port(device, number);
}

static bool concerns(const struct rdma_device *device, const char *subject)
{
	size_t length = strlen(device->name);
	if (!strncmp(subject, device->name, length) && (!subject[length] || subject[length] == '/'))
		return !subject[length] || concerns_port(device, subject + length);
	if (!strncmp(subject, "net:", 4))
		return concerns_netdev(device, subject + 4);
	if (!strncmp(subject, "pci:", 4))
		return concerns_pci(device, subject + 4);
	return !strcmp(subject, "host") || !strncmp(subject, "node:", 5);
}

static bool concern(const struct device_list *devices, const char *subject)
{
	list_each(device, devices)
		if (concerns(device, subject))
			return true;
	return false;
}

static void keep_port(struct rdma_device *device, int64_t number)
{
	struct port *port = device_port(device, number);
	device->ports.count = 0;
	if (port)
		device->ports.items[device->ports.count++] = port;
}

void join_select(struct host *host, const struct device_list *devices, int64_t port)
{
	struct report *report = &host->report;
	uint32_t kept = 0;
	if (port)
		list_each(device, devices)
			keep_port(device, port);
	for (uint32_t i = 0; i < report->findings.count; i++)
		if (concern(devices, report->findings.items[i]->subject))
			report->findings.items[kept++] = report->findings.items[i];
	report->findings.count = kept;
	kept = 0;
	for (uint32_t i = 0; i < report->not_collected.count; i++)
		if (concern(devices, report->not_collected.items[i]->subject))
			report->not_collected.items[kept++] = report->not_collected.items[i];
	report->not_collected.count = kept;
	kept = 0;
	list_each(device, devices)
		if (!port || device->ports.count)
			host->devices.items[kept++] = device;
	host->devices.count = kept;
}
