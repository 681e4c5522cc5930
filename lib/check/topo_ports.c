/* SPDX-License-Identifier: MIT */
#include "check/add.h"
#include "check/topo.h"
#include "source/rdma_words.h"

#include <stdio.h>
#include <string.h>

static bool is_zero_guid(const char *guid)
{
	return guid && !strcmp(guid, "0000:0000:0000:0000");
}

static bool is_state(const struct port *port, const char *state)
{
	return port->state && !strcmp(port->state, state);
}

static bool is_infiniband_vf(const struct rdma_device *device)
{
	return device->function.kind == FUNCTION_VF && device->transport == TRANSPORT_INFINIBAND;
}

/* What the physical state leaves to look at (InfiniBand Architecture Specification, volume 1, PortInfo). */
static const char *down_advice(const struct port *port)
{
	static const struct {
		const char *state, *advice;
	} known[] = {
		{ "POLLING", "No signal of the other end: look at the cable, the transceiver and the switch port." },
		{ "DISABLED",
		        "The port is switched off: by its driver, by an administrator here or at the other end." },
		{ "SLEEP", "The port saves power: by its driver, or by an administrator." },
		{ "PORT_CONFIGURATION_TRAINING", "The ends do not agree on a link: compare speed, width and FEC of "
		                                 "both, and look at the cable." },
		{ "LINK_ERROR_RECOVERY",
		        "The link has too many errors: look at the cable, the transceiver and the other end." },
	};
	const struct netdev *netdev = port_netdev(port);
	if (netdev && netdev->admin_up == FLAG_NO)
		return "Its netdev is administratively down: ip link set up.";
	for (size_t i = 0; port->physical_state && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(port->physical_state, known[i].state))
			return known[i].advice;
	return NULL;
}

static void check_state(
        const struct rdma_device *device, const struct port *port, const char *subject, struct report *report)
{
	struct finding *finding = NULL;
	bool infiniband = port->link_layer == LINK_LAYER_INFINIBAND;
	if (infiniband && (is_state(port, "INIT") || is_state(port, "ARMED"))) {
		finding = check_add(report, "port-waits-for-subnet-manager", subject,
		        "%s: the link is up, but no subnet manager has made the port active", port->state);
		report_advice(finding,
		        "Start a subnet manager (opensm, or the switch's), or look why it does not see this port.");
	} else if (is_state(port, "DOWN") && !(is_infiniband_vf(device) && is_zero_guid(device->node_guid))) {
		finding = check_add(report, "port-down", subject, "the port is DOWN, physical state %s",
		        port->physical_state ? port->physical_state : "unknown");
		report_advice(finding, down_advice(port));
	}
	report_evidence(report, finding, "RDMA port", "state", "%s", port->state ? port->state : "unknown");
}

static void check_netdev(const struct port *port, const char *subject, struct report *report)
{
	if (port->link_layer != LINK_LAYER_ETHERNET || port->netdevs.count || port->netdev_unknown)
		return;
	if (port->netdev_name)
		check_add(report, "port-without-netdev", subject,
		        "its netdev %s is not in this network namespace: GIDs are usable here only of netdevs that "
		        "stand on it, such as a macvlan (rdmadiag gid)",
		        port->netdev_name);
	else
		check_add(report, "port-without-netdev", subject,
		        "no netdev in this network namespace belongs to the port: GIDs are usable here only of netdevs "
		        "that stand on it, such as a macvlan (rdmadiag gid)");
}

static void check_uverbs(const struct rdma_device *device, struct report *report)
{
	const struct uverbs *uverbs = &device->uverbs;
	if (uverbs->accessible != FLAG_NO)
		return;
	struct finding *finding = NULL;
	if (!uverbs->path) {
		check_add(report, "uverbs-missing", device->name, "not usable from user space: %s", uverbs->reason);
		return;
	}
	finding = check_add(
	        report, "uverbs-not-accessible", device->name, "not usable from user space: %s", uverbs->reason);
	report_evidence(report, finding, "access(2)", uverbs->path, "%s", uverbs->reason);
	report_advice(finding,
	        "In a container the device node must be passed in; on a host udev's rdma rules make it accessible.");
}

static void check_provider(const struct rdma_device *device, struct report *report)
{
	if (!device->provider_missing || device->uverbs.accessible != FLAG_YES)
		return;
	const char *driver = rdma_driver_name(device->driver_id); /* providers go by the RDMA driver */
	struct finding *finding = check_add(report, "provider-missing", device->name,
	        "libibverbs does not offer the device though %s may be opened: no provider library for its driver%s%s",
	        device->uverbs.path, driver ? " " : "", driver ? driver : "");
	report_evidence(report, finding, "libibverbs", "ibv_get_device_list", "%s", device->provider_missing);
	report_advice(finding,
	        "Install the provider where the program runs, in a container into its image: Debian ibverbs-providers, "
	        "Red Hat libibverbs, or the vendor's package; the *.driver files in libibverbs.d name what is "
	        "installed.");
}

static void check_guid(const struct rdma_device *device, struct report *report)
{
	/* Devices without RDMA connection management, such as EFA, have none by design. */
	if (!is_zero_guid(device->node_guid) || device->transport == TRANSPORT_UNSPECIFIED)
		return;
	struct finding *finding =
	        is_infiniband_vf(device)
	                ? check_add(report, "vf-guid-zero", device->name,
	                          "VF without a GUID: the subnet manager does not serve it (SM virtualization, or no "
	                          "GUID set on the PF)")
	                : check_add(report, "node-guid-zero", device->name,
	                          "the node GUID is zero: programs that use rdma_cm fail, verbs with a GID index work");
	report_evidence(report, finding, "RDMA device", "node_guid", "%s", device->node_guid);
}

static void check_companion(const struct rdma_device *device, struct report *report)
{
	if (device->companion_of)
		check_add(report, "data-direct-companion", device->name, "the data-direct companion of %s (same GUID)",
		        device->companion_of);
}

void check_ports(const struct host *host, struct report *report)
{
	char subject[80];
	list_each(device, &host->devices) {
		check_uverbs(device, report);
		check_provider(device, report);
		check_guid(device, report);
		check_companion(device, report);
		list_each(port, &device->ports) {
			snprintf(subject, sizeof(subject), "%s/%d", device->name, (int)port->number.value);
			check_state(device, port, subject, report);
			if (host->netdevs.count) /* else they were not read */
				check_netdev(port, subject, report);
		}
	}
}
