/* SPDX-License-Identifier: MIT */
#include "check/gpudirect.h"

#include "check/add.h"

#include <stdio.h>
#include <string.h>

enum { NVIDIA = 0x10de };

static bool is_gpu(const struct neighbour *neighbour)
{
	return neighbour->kind == NEIGHBOUR_GPU && neighbour->pci;
}

/* One that is given to a virtual machine has a driver too, vfio-pci, and is none of this host's. */
static bool is_used_here(const struct neighbour *neighbour)
{
	const char *driver = neighbour->pci->driver;
	return driver && !strcmp(driver, "nvidia");
}

static void check_driver(const struct neighbour *neighbour, struct report *report)
{
	char subject[80];
	if (neighbour->pci->driver)
		return;
	snprintf(subject, sizeof(subject), "pci:%s", neighbour->pci->address);
	struct finding *finding = check_add(report, "gpu-without-driver", subject,
	        "%s has no driver: its memory cannot be registered", neighbour->name);
	report_advice(finding, "Load the GPU's driver, where it is meant to be used here.");
}

static bool is_on_path(const struct pci_hop *hop, const struct pci_function *function)
{
	list_each(other, &function->path)
		if (!strcmp(other->address, hop->address))
			return true;
	return false;
}

/* An adapter below the switch that is above this hop, but not below the hop itself: what ACS on it is in the way of. */
static const struct rdma_device *device_beside(
        const struct host *host, const struct pci_hop *above, const struct pci_hop *hop)
{
	list_each(device, &host->devices)
		if (device->pci && is_on_path(above, device->pci) && !is_on_path(hop, device->pci))
			return device;
	return NULL;
}

/* The way of an adapter is looked at in topo_pci.c; without a switch of both, all goes through the root complex anyway.
 */
static void check_acs(const struct host *host, const struct neighbour *gpu, struct report *report)
{
	char subject[80];
	for (uint32_t i = 1; i < gpu->pci->path.count; i++) {
		const struct pci_hop *hop = gpu->pci->path.items[i], *above = gpu->pci->path.items[i - 1];
		if (hop->kind != PCI_SWITCH_DOWNSTREAM || !hop->acs || !strstr(hop->acs, "request-redirect"))
			continue;
		const struct rdma_device *device = device_beside(host, above, hop);
		if (!device)
			continue;
		snprintf(subject, sizeof(subject), "pci:%s", hop->address);
		struct finding *finding = check_add(report, "acs-redirect", subject,
		        "ACS redirects requests on the bridge above %s: what it sends to %s below the same switch goes "
		        "through the root complex",
		        gpu->name, device->name);
		report_evidence(report, finding, "PCI configuration space", "ACS control", "%s", hop->acs);
	}
}

/*
 * The driver of NVIDIA hands out its memory by a module of peer memory, or as a dma-buf. Whether it does the latter is
 * known to libcuda only (CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED), which is not loaded here.
 */
void check_gpudirect(const struct host *host, struct report *report)
{
	const struct neighbour *first = NULL;
	unsigned int count = 0;
	list_each(neighbour, &host->neighbours) {
		if (!is_gpu(neighbour))
			continue;
		check_driver(neighbour, report);
		check_acs(host, neighbour, report);
		if (neighbour->pci->vendor.value != NVIDIA || !is_used_here(neighbour))
			continue;
		first = first ? first : neighbour;
		count++;
	}
	if (!first || host->peer_memory || !host->devices.count)
		return;
	struct finding *finding = check_add(report, "gpudirect-no-peer-memory", "host",
	        "no module of peer memory (nvidia_peermem) is loaded: RDMA reaches the memory of %u GPU%s as a "
	        "dma-buf, or not at all; which of the two is not known without libcuda",
	        count, plural(count));
	report_evidence(report, finding, "sys/bus/pci", first->name, "%s", first->pci->address);
	report_evidence(report, finding, "sys/module", "nvidia_peermem", "not loaded");
	report_advice(finding,
	        "rdmadiag topo --cuda asks libcuda for dma-buf; where there is none, modprobe nvidia_peermem.");
}
