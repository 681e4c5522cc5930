/* SPDX-License-Identifier: MIT */
#include "source/join_parts.h"
#include "source/numa.h"
#include "source/vendors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	if (join_spreads(netdev))
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
	char subject[PORT_LABEL_SIZE];
	port_label(device->name, port->number, subject);
	report_missing(&host->report, "netdevs", subject, 0,
	        "ports and netdevs of this host have more relations than are looked at (65,536)");
}

/* It is one of several, as with representors that have no names: none may be taken, and "there is none" is not true. */
static void miss_choice(struct host *host, const struct rdma_device *device, struct port *port)
{
	if (port->link_layer != LINK_LAYER_ETHERNET || host_netlink_names_netdevs(host) ||
	        !join_has_candidates(host, device))
		return;
	char subject[PORT_LABEL_SIZE];
	port_label(device->name, port->number, subject);
	port->netdev_unknown = true;
	report_missing(&host->report, "netdevs", subject, 0,
	        "its function has several netdevs, and the kernel does not tell which is that of the port");
}

static void join_port(struct host *host, struct rdma_device *device, struct port *port)
{
	port->netdevs.count = 0;
	struct netdev *netdev = join_port_netdev(host, device, port);
	if (!netdev) {
		miss_choice(host, device, port);
		return;
	}
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

static bool has_netdev(const struct port *port, const struct netdev *netdev)
{
	list_each(known, &port->netdevs)
		if (known->netdev == netdev)
			return true;
	return false;
}

void join_netdev_above(struct host *host, struct rdma_device *device, struct port *port, struct netdev *netdev)
{
	struct netdev_list above, below;
	if (has_netdev(port, netdev))
		return;
	if (join_related(host, netdev, &above, &below))
		miss_relations(host, device, port);
	for (uint32_t i = 0; i < above.count; i++)
		if (!has_netdev(port, above.items[i]))
			add_port_netdev(host, device, port, above.items[i], RELATION_ABOVE);
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
	bool sub = join_is_on_subfunction(device->parent_path);
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
	device->companion_of = join_companion_of(host, device);
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
	sort_pointers(host->devices.items, host->devices.count, by_name);
	join_sort_netdevs((struct list *)&host->netdevs);
	join_packages(host);
	join_functions(host);
	join_stacks(host);
	host->related = 0;
	list_each(device, &host->devices)
		if (device->pci)
			device->pci->has_device = true;
	list_each(device, &host->devices) {
		sort_pointers(device->ports.items, device->ports.count, by_number);
		join_device(host, device);
	}
	host->joined = true;
}
