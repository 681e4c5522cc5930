/* SPDX-License-Identifier: MIT */
#include "check/findings.h"

#include <string.h>

const struct finding_kind finding_kinds[] = {
	/* bonds */
	{ "bond-claimed-by-several-devices", SEVERITY_INFO,
	        "several RDMA devices reach one bond; look-ups by its IP address find one of them only", NULL },
	{ "bond-down", SEVERITY_WARNING, "a bond or team that ports use is administratively down or has no carrier",
	        NULL },
	{ "bond-member-in-wrong-aggregator", SEVERITY_WARNING,
	        "a member's link is up, but LACP put it into another aggregator than the active one: it carries "
	        "nothing",
	        NULL },
	{ "bond-member-not-active", SEVERITY_WARNING, "a member that ought to carry traffic does not", NULL },
	{ "bond-members-on-different-adapters", SEVERITY_INFO,
	        "members belong to different adapters: mlx5 forms no RoCE LAG of them", NULL },
	{ "bond-members-on-different-nodes", SEVERITY_WARNING,
	        "members are on different NUMA nodes of one package, so no buffer is near to both", NULL },
	{ "bond-members-on-different-packages", SEVERITY_WARNING,
	        "members are on different physical packages, so part of the traffic crosses the link between them",
	        NULL },
	{ "bond-mixed-speeds", SEVERITY_WARNING, "members run at different speeds", NULL },
	{ "bond-single-member", SEVERITY_INFO, "the bond has one member: neither redundancy nor LAG", NULL },
	{ "bond-without-lacp-partner", SEVERITY_WARNING,
	        "nothing answers the bond's LACP, so that it uses the members of one aggregator only", NULL },
	{ "roce-lag-active", SEVERITY_INFO,
	        "the adapter formed a RoCE LAG: it chooses the port of each queue pair, not the bond's hash policy",
	        NULL },
	/* GIDs */
	{ "gid-address-taken", SEVERITY_ERROR, "another node has the address of a GID too", NULL },
	{ "gid-default-choice", SEVERITY_INFO,
	        "a library takes, without being told to, an entry that cannot work or that no router forwards, though "
	        "there "
	        "is a better one",
	        NULL },
	{ "gid-duplicate", SEVERITY_WARNING, "one GID of one type stands at several indexes of a port", NULL },
	{ "gid-index-setting", SEVERITY_WARNING,
	        "a variable or a file of NCCL names an index that is empty, stale or does not get everywhere on this "
	        "port",
	        NULL },
	{ "gid-link-local-only", SEVERITY_WARNING,
	        "the port has link-local GIDs only: it reaches its own segment, nothing behind a router", NULL },
	{ "gid-mac-mismatch", SEVERITY_WARNING, "a link-local GID is made from a MAC that the netdev no longer has",
	        NULL },
	{ "gid-netdev-down", SEVERITY_INFO, "the netdev of the GIDs is down", NULL },
	{ "gid-none", SEVERITY_WARNING, "the port has no GID in this network namespace",
	        "info where it is that of a member of a bond which another one stands in for, of a virtual function or "
	        "device that others have while something else works here, or of a port without a netdev beside one "
	        "with" },
	{ "gid-roce-v1-only", SEVERITY_WARNING, "the port has RoCE v1 GIDs only, which no router forwards", NULL },
	{ "gid-same-on-ports", SEVERITY_WARNING,
	        "two ports have the same GID, each of its own netdev: one address, or one MAC, twice", NULL },
	{ "gid-same-subnet", SEVERITY_WARNING,
	        "several ports have addresses of one subnet: replies may leave by another port", NULL },
	{ "gid-stale", SEVERITY_WARNING, "no netdev has the address of a GID any more", NULL },
	{ "gid-subnet-overlap", SEVERITY_INFO,
	        "the subnet of a port's address lies within the larger one of another adapter", NULL },
	{ "gid-table-full", SEVERITY_WARNING, "the GID table is full: new addresses get no GID", NULL },
	/* probe */
	{ "probe-buffer-distant", SEVERITY_INFO, "the probe's buffer lies on another NUMA node than the device", NULL },
	{ "probe-corrupt", SEVERITY_ERROR, "a loopback probe moved data that is not what was sent", NULL },
	{ "probe-degraded", SEVERITY_WARNING, "a loopback probe ended well, but not as it should", NULL },
	{ "probe-drill-no-effect", SEVERITY_INFO, "a drill was tried, and this device does not show it", NULL },
	{ "probe-failed", SEVERITY_ERROR, "a loopback probe failed, stalled or could not be set up", NULL },
	{ "probe-ok", SEVERITY_INFO, "a loopback probe of this port worked", NULL },
	{ "probe-other-event", SEVERITY_INFO, "an asynchronous event spoke of another port or queue pair", NULL },
	/* functions */
	{ "adapter-on-several-pci-paths", SEVERITY_INFO,
	        "functions of one board sit on different PCI paths (Socket Direct, multi-PF)", NULL },
	{ "data-direct-companion", SEVERITY_INFO, "the device is the data-direct companion of another one", NULL },
	{ "function-without-driver", SEVERITY_WARNING,
	        "an RDMA-capable PCI function has no driver, as one whose adapter is in flash recovery",
	        "info where it is a virtual function" },
	{ "function-without-rdma-device", SEVERITY_INFO,
	        "an RDMA-capable PCI function has a driver but no RDMA device in this namespace", NULL },
	{ "node-guid-zero", SEVERITY_WARNING,
	        "the node GUID is zero: programs that use rdma_cm cannot tell devices apart", NULL },
	{ "vf-guid-zero", SEVERITY_WARNING, "an InfiniBand VF has no GUID yet, so no subnet manager serves it", NULL },
	/* devices and ports */
	{ "collecting-cut-short", SEVERITY_WARNING,
	        "collecting ended at its deadline: what came after that was not looked at", NULL },
	{ "device-not-answering", SEVERITY_ERROR,
	        "the driver of the device did not answer reads, requests or opening: it hangs, or the adapter does",
	        NULL },
	{ "port-down", SEVERITY_WARNING, "the port is down",
	        "error where nobody switched it off and no other port of the adapter is active" },
	{ "port-not-ready", SEVERITY_WARNING,
	        "the port is neither active nor down, as an iWARP port without an IPv4 address", NULL },
	{ "port-waits-for-subnet-manager", SEVERITY_WARNING,
	        "the link is up, but no subnet manager has made the port active", NULL },
	{ "port-without-netdev", SEVERITY_INFO,
	        "no netdev of this namespace belongs to the Ethernet port: it has no GIDs of its own here", NULL },
	{ "active-mtu-above-netdev", SEVERITY_WARNING,
	        "the port's active MTU and its headers are larger than the MTU of its netdev: full packets do not fit",
	        NULL },
	{ "active-mtu-below-netdev", SEVERITY_WARNING,
	        "the port's active MTU is smaller than the MTU of its netdev allows", NULL },
	{ "stacked-mtu-below-active", SEVERITY_INFO,
	        "a VLAN, macvlan or ipvlan has a smaller MTU than RoCE packets with its GIDs", NULL },
	{ "bond-mixed-mtu", SEVERITY_WARNING, "a member of a bond has another MTU than the bond", NULL },
	{ "firmware-differs", SEVERITY_WARNING, "adapters of one kind run different firmware", NULL },
	{ "rdma-netns-exclusive", SEVERITY_INFO, "each RDMA device is visible in one network namespace only", NULL },
	/* GPUs */
	{ "gpu-without-driver", SEVERITY_INFO, "a GPU has no driver: its memory cannot be registered for RDMA", NULL },
	{ "gpudirect-no-peer-memory", SEVERITY_INFO,
	        "no module hands GPU memory to RDMA: it is reached as a dma-buf or not at all", NULL },
	/* over an interval */
	{ "counter-rising", SEVERITY_WARNING, "a counter of errors, retries or congestion rose while it was watched",
	        "info where the counter rises under load too" },
	{ "port-flapping", SEVERITY_WARNING, "the link of the port went down or came up while it was watched", NULL },
	/* PCI */
	{ "acs-redirect", SEVERITY_INFO,
	        "ACS sends requests between devices up to the root: peer-to-peer DMA is slow or fails", NULL },
	{ "pcie-errors", SEVERITY_WARNING, "the PCIe error counters of the function are not zero",
	        "info where all of them were corrected" },
	{ "pcie-link-downtrained", SEVERITY_WARNING, "a PCIe link runs slower or narrower than both of its ends can",
	        NULL },
	{ "pcie-slot-limits-adapter", SEVERITY_INFO, "the PCIe port above the adapter can do less than the adapter",
	        NULL },
	/* interrupts, quality of service and the wire: check, topo --health */
	{ "devlink-reporter-error", SEVERITY_WARNING, "a health reporter of the driver is in error",
	        "error where it is that of fatal firmware faults (fw_fatal)" },
	{ "devlink-reporter-recovered", SEVERITY_INFO, "a health reporter of the driver has seen errors and is healthy",
	        NULL },
	{ "irq-on-another-node", SEVERITY_WARNING,
	        "completion vectors interrupt CPUs of other NUMA nodes than the device's",
	        "info where some do and others do not" },
	{ "link-flaps", SEVERITY_INFO, "the carrier of a netdev went away several times", NULL },
	{ "link-problem", SEVERITY_WARNING, "the driver says why a netdev that is up has no link", NULL },
	{ "netem-on-roce-netdev", SEVERITY_WARNING,
	        "netem delays, damages or drops the packets of a device without hardware on purpose", NULL },
	{ "port-error-counters", SEVERITY_INFO, "error counters of an RDMA port are not zero", NULL },
	{ "roce-port-filtered", SEVERITY_WARNING,
	        "a packet filter of the host drops RoCE v2 (UDP port 4791) of a device without hardware", NULL },
	{ "qdisc-on-roce-netdev", SEVERITY_INFO,
	        "a queueing discipline that limits or drops is passed by the packets of a device without hardware",
	        NULL },
	{ "qos-traffic-not-lossless", SEVERITY_WARNING,
	        "the known traffic class of a port goes to a priority without flow control, while others have it",
	        NULL },
	{ "wire-errors", SEVERITY_WARNING, "frames came damaged from the wire", NULL },
	/* NUMA and process */
	{ "memlock-limit-low", SEVERITY_WARNING,
	        "RLIMIT_MEMLOCK is low and CAP_IPC_LOCK is missing: registering memory will fail", NULL },
	{ "memory-policy-elsewhere", SEVERITY_INFO, "the process's memory policy excludes the device's NUMA node",
	        NULL },
	{ "numa-node-unknown", SEVERITY_INFO, "the firmware names no NUMA node for the device", NULL },
	{ "numa-nodes-cross-packages", SEVERITY_WARNING,
	        "NUMA nodes and packages cross each other: the map is inconsistent", NULL },
	{ "package-sources-disagree", SEVERITY_INFO, "sysfs and hwloc tell different packages of a NUMA node's CPUs",
	        NULL },
	{ "process-on-another-node", SEVERITY_INFO, "the process may run on no CPU near the device", NULL },
	/* use from user space */
	{ "provider-missing", SEVERITY_ERROR,
	        "libibverbs does not offer the device: no provider library for its driver is installed here", NULL },
	{ "uverbs-missing", SEVERITY_INFO, "the device cannot be used from user space: it has no uverbs device", NULL },
	{ "uverbs-not-accessible", SEVERITY_WARNING, "the uverbs device is missing here or may not be opened",
	        "error where its node is there and it is not this user alone who may not open it" },
};

const size_t finding_kind_count = sizeof(finding_kinds) / sizeof(finding_kinds[0]);

const struct finding_kind *finding_kind(const char *id)
{
	for (size_t i = 0; i < finding_kind_count; i++)
		if (!strcmp(finding_kinds[i].id, id))
			return &finding_kinds[i];
	return NULL;
}
