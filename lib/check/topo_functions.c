/* SPDX-License-Identifier: MIT */
#include "check/add.h"
#include "check/topo.h"
#include "source/vendors.h"

#include <stdio.h>
#include <string.h>

/* ---- one board on several PCI paths ---- */

static bool is_board_function(const struct rdma_device *device)
{
	/* A data-direct companion is the same function by another path, and said to be so. */
	return device->function.kind == FUNCTION_PF && !device->companion_of && device->sys_image_guid &&
	       device->pci->address && strcmp(device->sys_image_guid, "0000:0000:0000:0000");
}

/* Domain, bus and device: functions of one slot differ only behind the dot. */
static size_t slot_length(const char *address)
{
	const char *dot = strrchr(address, '.');
	return dot ? (size_t)(dot - address) : strlen(address);
}

static bool same_slot(const char *a, const char *b)
{
	return slot_length(a) == slot_length(b) && !strncmp(a, b, slot_length(a));
}

static int node_of(const struct rdma_device *device)
{
	return device->pci->numa_node.known ? (int)device->pci->numa_node.value : -1;
}

/* Each function has one of its own, also those of one board; but for data-direct companions. */
static bool is_same_guid(const struct rdma_device *one, const struct rdma_device *other)
{
	return one->node_guid && other->node_guid && !strcmp(one->node_guid, other->node_guid) &&
	       strcmp(one->node_guid, "0000:0000:0000:0000") != 0 && one->pci != other->pci && one->uverbs.path &&
	       other->uverbs.path;
}

/* Told at the later one, of the first that it shares it with. */
static void check_guid(const struct host *host, const struct rdma_device *device, struct report *report)
{
	list_each(other, &host->devices) {
		if (other == device)
			return;
		if (!is_board_function(other) || !is_same_guid(device, other))
			continue;
		struct finding *finding = check_add(report, "node-guid-duplicate", device->name,
		        "%s has the same node GUID: programs that use rdma_cm take one of them for the other%s",
		        other->name,
		        device->transport == TRANSPORT_INFINIBAND ? ", and so does the subnet manager" : "");
		report_evidence(report, finding, "RDMA device", device->name, "%s", device->node_guid);
		report_evidence(report, finding, "RDMA device", other->name, "%s", other->node_guid);
		report_advice(finding, "Give one of them the GUIDs that it was made with (NVIDIA: mstflint sg), then "
		                       "restart it.");
		return;
	}
}

static void check_board(const struct host *host, const struct rdma_device *device, struct report *report)
{
	char nodes[80] = "";
	list_each(other, &host->devices) {
		if (other == device)
			return; /* pairs are told at the later one */
		if (!is_board_function(other) || is_same_guid(device, other) ||
		        strcmp(device->sys_image_guid, other->sys_image_guid) ||
		        same_slot(device->pci->address, other->pci->address))
			continue;
		bool placed = node_of(device) >= 0 && node_of(other) >= 0;
		if (placed)
			snprintf(nodes, sizeof(nodes), ", NUMA nodes %d and %d", node_of(other), node_of(device));
		struct finding *finding = check_add(report, "adapter-on-several-pci-paths", device->name,
		        "%s (%s) and %s (%s) are functions of one board (same sys_image_guid) on different PCI "
		        "paths%s: Socket Direct or multi-PF%s, not two adapters",
		        other->name, other->pci->address, device->name, device->pci->address, nodes,
		        placed ? "" : ", or the slots that a hypervisor gave to functions of one slot");
		report_evidence(report, finding, "RDMA device", "sys_image_guid", "%s", device->sys_image_guid);
	}
}

/* Functions that the driver joined to one netdev and RDMA device; those have none of their own. */
static void check_secondaries(const struct host *host, const struct rdma_device *device, struct report *report)
{
	for (uint32_t i = 0; i < device->secondaries.count; i++) {
		const char *address = device->secondaries.items[i];
		const struct pci_function *other = host_function(host, address);
		char nodes[80] = "";
		if (other && other->numa_node.known && node_of(device) >= 0)
			snprintf(nodes, sizeof(nodes), ", NUMA nodes %d and %d", node_of(device),
			        (int)other->numa_node.value);
		struct finding *finding = check_add(report, "adapter-on-several-pci-paths", device->name,
		        "%s is another PCI path of %s (%s)%s: the driver joined the functions of one board (multi-PF)",
		        address, device->name, device->pci->address, nodes);
		report_evidence(report, finding, "debugfs", "multi-pf", "%s", address);
	}
}

static bool is_secondary(const struct host *host, const struct pci_function *function)
{
	list_each(device, &host->devices)
		if (strings_contain(&device->secondaries, function->address))
			return true;
	return false;
}

/* ---- functions without a device ---- */

/* It calls itself a memory controller then, and no driver takes it. */
static void check_recovery(const struct pci_function *function, const char *subject, struct report *report)
{
	struct finding *finding = check_add(report, "function-without-driver", subject,
	        "an adapter is in flash recovery (%04x:%04x): its firmware does not run, and no driver can take it",
	        (unsigned int)function->vendor.value, (unsigned int)function->device.value);
	report_advice(finding, "Write its firmware again (mstflint), then switch the host off and on.");
}

/* Then that device may be the function's. */
static bool has_device_of_unknown_place(const struct host *host)
{
	list_each(device, &host->devices)
		if (device->unseen)
			return true;
	return false;
}

static void check_function(const struct host *host, const struct pci_function *function, struct report *report)
{
	enum { NETWORK_CLASS = 0x02 };
	char subject[80];
	snprintf(subject, sizeof(subject), "pci:%s", function->address);
	if (vendor_id_is_recovery(function->vendor, function->device)) {
		check_recovery(function, subject, report);
		return;
	}
	if (function->class_code.known && function->class_code.value >> 16 != NETWORK_CLASS)
		return; /* what lies beside the adapters, and the NVMe that a BlueField emulates */
	/* The other functions of a RoCE LAG are served by the device of the first: its bond has their netdevs. */
	if (!vendor_id_has_rdma(function->vendor, function->device) || function->has_device || function->is_reached ||
	        is_secondary(host, function))
		return;
	if (!function->driver && function->physfn) {
		/* Those that wait for a guest: sriov_drivers_autoprobe is 0, or they were unbound. */
		struct finding *finding = check_add(report, "function-without-driver", subject,
		        "a virtual function of %s has no driver", function->physfn);
		if (finding)
			finding->severity = SEVERITY_INFO;
		return;
	}
	if (!function->driver) {
		struct finding *finding = check_add(report, "function-without-driver", subject,
		        "an adapter of an RDMA vendor (%04x:%04x) has no driver", (unsigned int)function->vendor.value,
		        (unsigned int)function->device.value);
		report_advice(finding,
		        "Load the vendor's driver, or see in the kernel log why it did not take the function.");
		return;
	}
	if (driver_gives_away(function->driver) || has_device_of_unknown_place(host))
		return;
	const char *netdev = function->netdev_name;
	struct finding *finding = check_add(report, "function-without-rdma-device", subject,
	        "%s%shas the driver %s but no RDMA device in this namespace%s", netdev ? netdev : "", netdev ? " " : "",
	        function->driver,
	        host->rdma_netns_mode == NETNS_EXCLUSIVE ? " (netns mode exclusive: it may be in another namespace)"
	                                                 : "");
	if (host->rdma_netns_mode)
		report_evidence(report, finding, "netlink", "RDMA_NLDEV_SYS_ATTR_NETNS_MODE", "%s",
		        netns_mode_names[host->rdma_netns_mode]);
}

void check_functions(const struct host *host, struct report *report)
{
	list_each(device, &host->devices)
		if (is_board_function(device)) {
			check_guid(host, device, report);
			check_board(host, device, report);
		}
	list_each(device, &host->devices)
		check_secondaries(host, device, report);
	list_each(function, &host->pci_functions)
		check_function(host, function, report);
}
