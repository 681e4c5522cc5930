/* SPDX-License-Identifier: MIT */
#include "source/matrix.h"
#include "source/pci.h"

#include <errno.h>
#include <string.h>

/* ---- how far ---- */

/* Hops that are the same bridges, from the root on. */
static uint32_t shared_bridges(const struct pci_function *a, const struct pci_function *b)
{
	uint32_t count = 0;
	while (count + 1 < a->path.count && count + 1 < b->path.count &&
	        !strcmp(a->path.items[count]->address, b->path.items[count]->address))
		count++;
	return count;
}

/* An endpoint with further PCI domains below it (Intel VMD) is no bridge that packets turn round in. */
static bool is_bridge(const struct pci_hop *hop)
{
	return hop->kind != PCI_ENDPOINT;
}

/* The component of the path that is a host bridge, "pci0000:17"; its length. */
static size_t host_bridge(const char *path, const char **start)
{
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		size_t length = strcspn(part, "/");
		if (length >= 10 && !strncmp(part, "pci", 3) && strchr(part, ':') < part + length) {
			*start = part;
			return length;
		}
	}
	return 0;
}

static bool same_host_bridge(const struct pci_function *a, const struct pci_function *b)
{
	const char *bridge_a = NULL, *bridge_b = NULL;
	size_t length_a = a->sysfs_path ? host_bridge(a->sysfs_path, &bridge_a) : 0;
	size_t length_b = b->sysfs_path ? host_bridge(b->sysfs_path, &bridge_b) : 0;
	return length_a && length_a == length_b && !strncmp(bridge_a, bridge_b, length_a);
}

enum relation_word matrix_relation(const struct pci_function *a, const struct pci_function *b)
{
	if (a == b)
		return WORD_SELF;
	uint32_t shared = shared_bridges(a, b);
	if (shared && is_bridge(a->path.items[shared - 1])) {
		/* What is left are the downstream ports of the switch that both share, or more. */
		uint32_t left_a = a->path.count - 1 - shared, left_b = b->path.count - 1 - shared;
		return left_a <= 1 && left_b <= 1 ? WORD_PIX : WORD_PXB;
	}
	if (same_host_bridge(a, b))
		return WORD_PHB;
	if (!a->numa_node.known || !b->numa_node.known)
		return WORD_UNKNOWN;
	return a->numa_node.value == b->numa_node.value ? WORD_NODE : WORD_SYS;
}

/* ---- who ---- */

/* A matrix of more devices is for nobody to read, and grows with their square. */
enum { DEVICE_LIMIT = 512 };

static bool is_in(const struct matrix *matrix, const struct pci_function *function)
{
	list_each(device, &matrix->devices)
		if (device->pci == function)
			return true;
	return false;
}

static struct matrix_device *add(
        struct host *host, const char *name, enum neighbour_kind kind, const struct pci_function *pci)
{
	struct matrix_device *device = list_add(host->arena, &host->matrix->devices);
	if (!device)
		return NULL;
	*device = (struct matrix_device){ .name = name,
		.kind = (int)kind,
		.address = pci->address,
		.driver = pci->driver,
		.numa_node = pci->numa_node,
		.package = pci->package,
		.local_cpus = pci->local_cpus,
		.pci = pci };
	if (pci->vendor.known && pci->device.known)
		device->id = arena_printf(
		        host->arena, "%04x:%04x", (unsigned int)pci->vendor.value, (unsigned int)pci->device.value);
	return device;
}

static bool is_hidden(const struct rdma_device *device, bool virtual_functions, const struct host *host)
{
	if (virtual_functions || device->function.kind != FUNCTION_VF)
		return false;
	const struct pci_function *parent =
	        device->function.parent ? host_function(host, device->function.parent) : NULL;
	return parent && parent->has_device;
}

/* Members of bonds and what a software device sits on: adapters too, where no RDMA device is on their function. */
static int add_netdevs(struct host *host, const struct rdma_device *device)
{
	list_each(port, &device->ports)
		list_each(related, &port->netdevs) {
			struct netdev *netdev = related->netdev;
			if (netdev->pci && !is_in(host->matrix, netdev->pci) &&
			        !add(host, netdev->name, NEIGHBOUR_NIC, netdev->pci))
				return -ENOMEM;
		}
	return 0;
}

static int add_neighbours(struct host *host, enum neighbour_kind kind)
{
	list_each(neighbour, &host->neighbours) {
		if (neighbour->kind != (int)kind)
			continue;
		struct matrix_device *device = add(host, neighbour->name, kind, neighbour->pci);
		if (!device)
			return -ENOMEM;
		if (device->pci == neighbour->pci)
			device->gpu = neighbour->gpu;
	}
	return 0;
}

static int add_all(struct host *host, bool virtual_functions)
{
	list_each(device, &host->devices)
		if (device->pci && !is_hidden(device, virtual_functions, host) &&
		        !add(host, device->name, NEIGHBOUR_NIC, device->pci))
			return -ENOMEM;
	list_each(device, &host->devices)
		if (!is_hidden(device, virtual_functions, host) && add_netdevs(host, device))
			return -ENOMEM;
	int result = add_neighbours(host, NEIGHBOUR_GPU);
	return result ? result : add_neighbours(host, NEIGHBOUR_NVME);
}

static int relate(struct host *host, struct matrix_device *device)
{
	list_each(other, &host->matrix->devices) {
		if (other == device)
			continue;
		struct matrix_relation *relation = list_add(host->arena, &device->relations);
		if (!relation)
			return -ENOMEM;
		relation->name = other->name;
		/* Two RDMA devices of one function are as near as two functions of one slot. */
		relation->word = other->pci == device->pci ? WORD_PIX : (int)matrix_relation(device->pci, other->pci);
	}
	return 0;
}

int matrix_build(struct host *host, bool virtual_functions)
{
	host->matrix = arena_new_object(host->arena, struct matrix);
	if (!host->matrix)
		return -ENOMEM;
	host->matrix->peer_memory = host->peer_memory;
	int result = add_all(host, virtual_functions);
	list_each(device, &host->matrix->devices)
		if (!result)
			result = relate(host, device);
	return result;
}
