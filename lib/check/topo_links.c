/* SPDX-License-Identifier: MIT */
/* What a port can do: the width of its link, whether it has RoCE, and whether IPoIB runs on it. */
#include "check/add.h"
#include "check/topo.h"
#include "source/join.h"

#include <stdio.h>
#include <string.h>

/* That of the planes of a port (smi1 beside mlx5_0, for management only): each has one lane rightly. */
static bool is_of_planes(const struct host *host, const struct rdma_device *device)
{
	list_each(other, &host->devices)
		if (other != device && other->pci && other->pci == device->pci)
			return true;
	return !device->uverbs.path;
}

/* Splitting cables give two lanes to each end; nothing else gives one. What a VF says is its port's. */
static void check_width(
        const struct host *host, const struct rdma_device *device, const struct port *port, struct report *report)
{
	char subject[PORT_LABEL_SIZE];
	if (port->transport != TRANSPORT_INFINIBAND || !port_is_active(port) || device->function.kind == FUNCTION_VF ||
	        !port_is_narrow(port) || is_of_planes(host, device))
		return;
	struct finding *finding = check_add(report, "port-narrow", port_label(device->name, port->number, subject),
	        "the link came up with one lane: %s", port->rate_text);
	report_evidence(report, finding, "RDMA port", "rate", "%s", port->rate_text);
	report_advice(finding, "Reseat or change the cable and its modules, and look at the port of the switch "
	                       "(iblinkinfo).");
}

/* Representors never have it. */
static bool is_without_roce(const struct port *port)
{
	const struct netdev *netdev = port_netdev(port);
	return port->transport == TRANSPORT_ROCE && num_is(port->gid_table_length, 0) && netdev &&
	       !join_is_representor(netdev);
}

static bool has_port_to_use(const struct host *host)
{
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			if (port_is_active(port) && port->transport && !num_is(port->gid_table_length, 0))
				return true;
	return false;
}

/* Newer kernels tell a switch id in either mode. */
static const char *who_else_decides(const struct rdma_device *device, const struct netdev *netdev)
{
	if (device->function.kind == FUNCTION_VF)
		return "; the host of its PF has to allow it (devlink port function set, roce enable)";
	return netdev->phys_switch_id ? "; in switchdev mode an uplink has none (devlink dev eswitch show)" : "";
}

static const char *advice_of_driver(const struct rdma_device *device, const struct netdev *netdev, struct arena *arena)
{
	const char *address = device->pci ? device->pci->address : NULL;
	if (!address || !device->driver || strcmp(device->driver, "mlx5_core") != 0)
		return "Where it is meant to have it, look at the settings of its driver and firmware.";
	return arena_printf(arena,
	        "Where it is meant to have it: devlink dev param set pci/%s name enable_roce value true cmode "
	        "driverinit, then devlink dev reload pci/%s%s.",
	        address, address, who_else_decides(device, netdev));
}

/* What is left of such a device sends raw Ethernet packets (mlx5_ib's raw_eth_profile). */
static void check_roce(
        const struct host *host, const struct rdma_device *device, const struct port *port, struct report *report)
{
	char subject[PORT_LABEL_SIZE];
	if (!is_without_roce(port))
		return;
	port_label(device->name, port->number, subject);
	bool switchdev = device->representors.count;
	struct finding *finding = check_add(report, "roce-off", subject,
	        "the device has no RoCE on this port: its GID table has no slots%s",
	        switchdev ? ", as that of an uplink in switchdev mode" : "");
	if (finding && (switchdev || has_port_to_use(host)))
		finding->severity = SEVERITY_INFO;
	report_evidence(report, finding, "ibv_query_port", "gid_tbl_len", "0");
	report_advice(finding, switchdev ? "Use the RDMA device of a VF or scalable function of it."
	                                 : advice_of_driver(device, port_netdev(port), report->arena));
}

/* Its carrier comes with the broadcast group of its partition (ipoib_mcast_carrier_on_task()). */
static void check_ipoib(const struct port *port, struct report *report)
{
	char subject[80];
	if (port->transport != TRANSPORT_INFINIBAND || !port_is_active(port))
		return;
	list_each(related, &port->netdevs) {
		const struct netdev *netdev = related->netdev;
		bool own = netdev == port_netdev(port) || related->relation == RELATION_ABOVE;
		if (!own || netdev->kind != LINK_IPOIB || netdev->admin_up != FLAG_YES || netdev->carrier != FLAG_NO)
			continue;
		snprintf(subject, sizeof(subject), "net:%s", netdev->name);
		struct finding *finding = check_add(report, "ipoib-not-joined", subject,
		        "it is up and has no carrier though its port is active: it is not in the broadcast "
		        "group of its partition");
		report_evidence(report, finding, "rtnetlink", "IFLA_CARRIER", "0");
		report_evidence(report, finding, "RDMA port", "state", "%s", port->state);
		report_advice(finding,
		        "Look whether the subnet manager gives the port this partition (pkeys of the port in "
		        "sysfs) and has a group of it (partitions.conf of opensm), and what the kernel log says of "
		        "joining it.");
	}
}

void check_links(const struct host *host, struct report *report)
{
	list_each(device, &host->devices)
		list_each(port, &device->ports) {
			check_width(host, device, port, report);
			check_roce(host, device, port, report);
			check_ipoib(port, report);
		}
}
