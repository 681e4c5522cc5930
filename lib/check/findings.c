/* SPDX-License-Identifier: MIT */
#include "check/findings.h"

#include <string.h>

const struct finding_kind finding_kinds[] = {
	/* bonds */
	{ "bond-claimed-by-several-devices", SEVERITY_INFO,
	        "several RDMA devices reach one bond; look-ups by its IP address find one of them only" },
	{ "bond-member-in-wrong-aggregator", SEVERITY_WARNING,
	        "a member's link is up, but LACP put it into another aggregator than the active one: it carries "
	        "nothing" },
	{ "bond-member-not-active", SEVERITY_WARNING, "a member that ought to carry traffic does not" },
	{ "bond-members-on-different-adapters", SEVERITY_INFO,
	        "members belong to different adapters: mlx5 forms no RoCE LAG of them" },
	{ "bond-members-on-different-nodes", SEVERITY_WARNING,
	        "members are on different NUMA nodes of one package, so no buffer is near to both" },
	{ "bond-members-on-different-packages", SEVERITY_WARNING,
	        "members are on different physical packages, so part of the traffic crosses the link between them" },
	{ "bond-mixed-speeds", SEVERITY_WARNING, "members run at different speeds" },
	{ "bond-single-member", SEVERITY_INFO, "the bond has one member: neither redundancy nor LAG" },
	{ "roce-lag-active", SEVERITY_INFO,
	        "the adapter formed a RoCE LAG: it chooses the port of each queue pair, not the bond's hash policy" },
	/* GIDs */
	{ "gid-address-taken", SEVERITY_ERROR, "another node has the address of a GID too" },
	{ "gid-duplicate", SEVERITY_WARNING, "one GID of one type stands at several indexes of a port" },
	{ "gid-link-local-only", SEVERITY_WARNING,
	        "the port has link-local GIDs only: it reaches its own segment, nothing behind a router" },
	{ "gid-mac-mismatch", SEVERITY_WARNING, "a link-local GID is made from a MAC that the netdev no longer has" },
	{ "gid-netdev-down", SEVERITY_INFO, "the netdev of the GIDs is down" },
	{ "gid-none", SEVERITY_WARNING, "the port has no GID in this network namespace" },
	{ "gid-roce-v1-only", SEVERITY_WARNING, "the port has RoCE v1 GIDs only, which no router forwards" },
	{ "gid-same-on-ports", SEVERITY_WARNING, "two ports have the same GID, each of its own netdev" },
	{ "gid-same-subnet", SEVERITY_WARNING,
	        "several ports have addresses of one subnet: replies may leave by another port" },
	{ "gid-stale", SEVERITY_WARNING, "no netdev has the address of a GID any more" },
	{ "gid-table-full", SEVERITY_WARNING, "the GID table is full: new addresses get no GID" },
	/* probe */
	{ "probe-buffer-distant", SEVERITY_INFO, "the probe's buffer lies on another NUMA node than the device" },
	{ "probe-corrupt", SEVERITY_ERROR, "a loopback probe moved data that is not what was sent" },
	{ "probe-degraded", SEVERITY_WARNING, "a loopback probe ended well, but not as it should" },
	{ "probe-drill-no-effect", SEVERITY_INFO, "a drill was tried, and this device does not show it" },
	{ "probe-failed", SEVERITY_ERROR, "a loopback probe failed, stalled or could not be set up" },
	{ "probe-ok", SEVERITY_INFO, "a loopback probe of this port worked" },
	{ "probe-other-event", SEVERITY_INFO, "an asynchronous event spoke of another port or queue pair" },
	/* functions */
	{ "adapter-on-several-pci-paths", SEVERITY_INFO,
	        "functions of one board sit on different PCI paths (Socket Direct, multi-PF)" },
	{ "data-direct-companion", SEVERITY_INFO, "the device is the data-direct companion of another one" },
	{ "function-without-driver", SEVERITY_WARNING, "an RDMA-capable PCI function has no driver" },
	{ "function-without-rdma-device", SEVERITY_INFO,
	        "an RDMA-capable PCI function has a driver but no RDMA device in this namespace" },
	{ "node-guid-zero", SEVERITY_WARNING,
	        "the node GUID is zero: programs that use rdma_cm cannot tell devices apart" },
	{ "vf-guid-zero", SEVERITY_WARNING, "an InfiniBand VF has no GUID yet, so no subnet manager serves it" },
	/* devices and ports */
	{ "collecting-cut-short", SEVERITY_WARNING,
	        "collecting ended at its deadline: what came after that was not looked at" },
	{ "device-not-answering", SEVERITY_ERROR,
	        "the driver of the device did not answer reads, requests or opening: it hangs, or the adapter does" },
	{ "port-down", SEVERITY_WARNING, "the port is down" },
	{ "port-waits-for-subnet-manager", SEVERITY_WARNING,
	        "the link is up, but no subnet manager has made the port active" },
	{ "port-without-netdev", SEVERITY_INFO,
	        "no netdev of this namespace belongs to the Ethernet port: it has no GIDs of its own here" },
	{ "active-mtu-above-netdev", SEVERITY_WARNING,
	        "the port's active MTU is larger than the MTU of its netdev: full packets do not leave" },
	{ "active-mtu-below-netdev", SEVERITY_WARNING,
	        "the port's active MTU is smaller than the MTU of its netdev allows" },
	{ "bond-mixed-mtu", SEVERITY_WARNING, "a member of a bond has another MTU than the bond" },
	{ "firmware-differs", SEVERITY_WARNING, "adapters of one kind run different firmware" },
	{ "rdma-netns-exclusive", SEVERITY_INFO, "each RDMA device is visible in one network namespace only" },
	/* GPUs */
	{ "gpu-without-driver", SEVERITY_INFO, "a GPU has no driver: its memory cannot be registered for RDMA" },
	{ "gpudirect-no-peer-memory", SEVERITY_INFO,
	        "no module hands GPU memory to RDMA: it is reached as a dma-buf or not at all" },
	/* over an interval */
	{ "counter-rising", SEVERITY_WARNING, "a counter of errors, retries or congestion rose while it was watched" },
	{ "port-flapping", SEVERITY_WARNING, "the link of the port went down or came up while it was watched" },
	/* PCI */
	{ "acs-redirect", SEVERITY_INFO,
	        "ACS sends requests between devices up to the root: peer-to-peer DMA is slow or fails" },
	{ "pcie-errors", SEVERITY_WARNING, "the PCIe error counters of the function are not zero" },
	{ "pcie-link-downtrained", SEVERITY_WARNING, "a PCIe link runs slower or narrower than both of its ends can" },
	{ "pcie-slot-limits-adapter", SEVERITY_INFO, "the PCIe port above the adapter can do less than the adapter" },
	/* interrupts, quality of service and the wire: check, topo --health */
	{ "devlink-reporter-error", SEVERITY_WARNING, "a health reporter of the driver is in error" },
	{ "devlink-reporter-recovered", SEVERITY_INFO,
	        "a health reporter of the driver has seen errors and is healthy" },
	{ "irq-on-another-node", SEVERITY_WARNING,
	        "completion vectors interrupt CPUs of other NUMA nodes than the device's" },
	{ "link-flaps", SEVERITY_INFO, "the carrier of a netdev went away several times" },
	{ "link-problem", SEVERITY_WARNING, "the driver says why a netdev that is up has no link" },
	{ "port-error-counters", SEVERITY_INFO, "error counters of an RDMA port are not zero" },
	{ "qos-traffic-not-lossless", SEVERITY_WARNING,
	        "the known traffic class of a port goes to a priority without flow control, while others have it" },
	{ "wire-errors", SEVERITY_WARNING, "frames came damaged from the wire" },
	/* NUMA and process */
	{ "memlock-limit-low", SEVERITY_WARNING,
	        "RLIMIT_MEMLOCK is low and CAP_IPC_LOCK is missing: registering memory will fail" },
	{ "memory-policy-elsewhere", SEVERITY_INFO, "the process's memory policy excludes the device's NUMA node" },
	{ "numa-node-unknown", SEVERITY_INFO, "the firmware names no NUMA node for the device" },
	{ "numa-nodes-cross-packages", SEVERITY_WARNING,
	        "NUMA nodes and packages cross each other: the map is inconsistent" },
	{ "package-sources-disagree", SEVERITY_INFO, "sysfs and hwloc tell different packages of a NUMA node's CPUs" },
	{ "process-on-another-node", SEVERITY_INFO, "the process may run on no CPU near the device" },
	/* use from user space */
	{ "provider-missing", SEVERITY_ERROR,
	        "libibverbs does not offer the device: no provider library for its driver is installed here" },
	{ "uverbs-missing", SEVERITY_INFO, "the device cannot be used from user space: it has no uverbs device" },
	{ "uverbs-not-accessible", SEVERITY_WARNING, "the uverbs device is missing here or may not be opened" },
};

const size_t finding_kind_count = sizeof(finding_kinds) / sizeof(finding_kinds[0]);

const struct finding_kind *finding_kind(const char *id)
{
	for (size_t i = 0; i < finding_kind_count; i++)
		if (!strcmp(finding_kinds[i].id, id))
			return &finding_kinds[i];
	return NULL;
}

static const struct {
	const char *id, *text;
} others[] = {
	{ "counter-rising", "info where the counter rises under load too" },
	{ "devlink-reporter-error", "error where it is that of fatal firmware faults (fw_fatal)" },
	{ "gid-none", "info where it is that of a member of a bond which another one stands in for" },
	{ "irq-on-another-node", "info where some do and others do not" },
	{ "pcie-errors", "info where all of them were corrected" },
	{ "port-down", "error where nobody switched it off and no other port of the adapter is active" },
	{ "uverbs-not-accessible", "error where its node is there and it is not this user alone who may not open it" },
};

const char *finding_otherwise(const char *id)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i].id, id))
			return others[i].text;
	return NULL;
}
