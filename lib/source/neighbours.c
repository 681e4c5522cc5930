/* SPDX-License-Identifier: MIT */
#include "source/neighbours.h"
#include "source/pci.h"
#include "source/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Display controllers of management processors and virtual machines: no adapter ever writes into their memory. */
static bool only_displays(struct num vendor)
{
	static const int vendors[] = {
		0x1a03, /* ASPEED */
		0x102b, /* Matrox */
		0x1013, /* Cirrus */
		0x1234, /* QEMU, Bochs */
		0x1b36, /* QEMU QXL */
		0x1af4, /* virtio */
		0x15ad, /* VMware */
		0x1414, /* Hyper-V */
		0x80ee, /* VirtualBox */
		0x18ca, /* XGI */
		0x126f, /* Silicon Motion */
		0x19e5, /* HiSilicon, the display of its management processor; its accelerators have class 12 */
	};
	for (size_t i = 0; vendor.known && i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (vendor.value == vendors[i])
			return true;
	return false;
}

/* Base classes and subclasses: PCI Code and ID Assignment Specification (linux/pci_ids.h). */
enum neighbour_kind neighbour_kind_of(struct num class_code, struct num vendor)
{
	enum { DISPLAY = 0x03, ACCELERATOR = 0x12, NVME = 0x0108 };
	if (!class_code.known)
		return NEIGHBOUR_UNKNOWN;
	int64_t base = class_code.value >> 16;
	if (class_code.value >> 8 == NVME)
		return NEIGHBOUR_NVME;
	if (base == ACCELERATOR || (base == DISPLAY && !only_displays(vendor)))
		return NEIGHBOUR_GPU;
	return NEIGHBOUR_UNKNOWN;
}

/* "sys/devices/…/nvme/nvme0": the kernel's name of a controller. NULL: no driver has it. */
static const char *controller_name(struct origin *origin, struct host *host, const char *path)
{
	char directory[SYSFS_PATH_SIZE];
	struct strings names;
	snprintf(directory, sizeof(directory), "%s/nvme", path);
	if (origin_list(origin, host->arena, directory, &names))
		return NULL;
	list_each(name, &names)
		if (!strncmp(name, "nvme", 4))
			return name;
	return NULL;
}

static int add(struct origin *origin, struct host *host, const char *address, const struct pci_function *identity,
        enum neighbour_kind kind)
{
	char path[SYSFS_PATH_SIZE], real[SYSFS_PATH_SIZE - 8];
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", address);
	if (origin_realpath(origin, path, real, sizeof(real)))
		return 0; /* removed meanwhile */
	struct pci_function *function = pci_function_of_path(origin, host, real);
	struct neighbour *neighbour = function ? list_add(host->arena, &host->neighbours) : NULL;
	if (!neighbour)
		return -ENOMEM;
	neighbour->pci = function;
	neighbour->kind = (int)kind;
	if (!function->class_code.known)
		function->class_code = identity->class_code;
	if (kind == NEIGHBOUR_NVME)
		neighbour->name = controller_name(origin, host, real);
	if (!neighbour->name)
		neighbour->name = address;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct neighbour *first = *(struct neighbour *const *)a, *second = *(struct neighbour *const *)b;
	return pci_address_compare(first->pci->address, second->pci->address);
}

static void number_gpus(struct host *host)
{
	int count = 0;
	sort_pointers(host->neighbours.items, host->neighbours.count, by_address);
	list_each(neighbour, &host->neighbours)
		if (neighbour->kind == NEIGHBOUR_GPU)
			neighbour->name = arena_printf(host->arena, "GPU%d", count++);
}

static const char *peer_memory(struct origin *origin, struct host *host)
{
	/* NVIDIA's of today and of old, and the one of AMD; through dma-buf none is needed. */
	static const char *const modules[] = { "nvidia_peermem", "nv_peer_mem", "amdp2p", "amdkfd_peer" };
	struct strings ignored;
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		char path[SYSFS_PATH_SIZE];
		snprintf(path, sizeof(path), "sys/module/%s", modules[i]);
		if (!origin_list(origin, host->arena, path, &ignored))
			return modules[i];
	}
	return NULL;
}

int neighbours_read(struct origin *origin, struct host *host)
{
	struct strings names;
	host->neighbours.count = 0;
	origin_about(origin, "host");
	int result = origin_list(origin, host->arena, "sys/bus/pci/devices", &names);
	if (result) {
		report_missing(&host->report, "matrix", "host", result, "sys/bus/pci/devices: %s", strerror(-result));
		return 0;
	}
	for (uint32_t i = 0; i < names.count && !result; i++) {
		struct pci_function found = { .address = names.items[i] };
		pci_read_identity(origin, host, &found);
		enum neighbour_kind kind = neighbour_kind_of(found.class_code, found.vendor);
		if (kind)
			result = add(origin, host, names.items[i], &found, kind);
	}
	number_gpus(host);
	origin_about(origin, "host");
	host->peer_memory = peer_memory(origin, host);
	return result;
}
