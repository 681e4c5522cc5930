/* SPDX-License-Identifier: MIT */
#include "check/add.h"
#include "check/topo.h"
#include "source/rdma_words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

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

/* The hop towards it that does not answer; NULL: all do, as far as is known. */
static const struct pci_hop *silent_hop(const struct rdma_device *device)
{
	if (device->pci)
		list_each(hop, &device->pci->path)
			if (hop->silent)
				return hop;
	return NULL;
}

/* Where a netdev has its carrier from; only those of adapters have a cable. */
static const char *carrier_source(const struct netdev *netdev)
{
	switch (netdev->kind) {
	case LINK_VETH:
		return "set its other end up, which may be in another network namespace";
	case LINK_BRIDGE:
	case LINK_TEAM:
		return "none of its ports has one";
	case LINK_VLAN:
	case LINK_MACVLAN:
	case LINK_IPVLAN:
		return "the netdev that it stands on has none";
	default:
		return netdev->kind_name && !strcmp(netdev->kind_name, "tun")
		               ? "no program has it open"
		               : "look at the cable, the transceiver and the switch port";
	}
}

/*
 * Ports of RoCE and iWARP follow their netdev, or the bond that it is a member of. One that is down though that has a
 * link is a matter of its driver, not of the cable; NULL: it is not so, or not known.
 */
static const char *ignored_link(const struct host *host, const struct port *port)
{
	const struct netdev *netdev = port_netdev(port);
	if (port->link_layer != LINK_LAYER_ETHERNET || !netdev || netdev->admin_up != FLAG_YES ||
	        netdev->carrier != FLAG_YES)
		return NULL;
	const struct netdev *master = host_master(host, netdev);
	if (master && (master->admin_up != FLAG_YES || master->carrier != FLAG_YES))
		return NULL;
	return arena_printf(host->arena,
	        "%s is up and has a carrier, which the RDMA driver does not follow: take %s down and up again, else "
	        "read the kernel log and load the driver anew.",
	        netdev->name, netdev->name);
}

/* Of a VF or a scalable function; NULL: it is not here, or not known. */
static const struct rdma_device *physical_function(const struct host *host, const struct rdma_device *function)
{
	const char *parent = function->function.parent;
	list_each(device, &host->devices)
		if (device != function && device->pci && device->function.kind != FUNCTION_SF && parent &&
		        !strcmp(device->pci->address, parent))
			return device;
	return NULL;
}

/* Of all its ports it is known that they are not active: so are the functions that follow it. */
static bool is_inactive(const struct rdma_device *parent)
{
	list_each(port, &parent->ports)
		if (!port->state || is_state(port, "ACTIVE"))
			return false;
	return parent->ports.count > 0;
}

/* It has a port that is active. */
static bool is_serving(const struct rdma_device *device)
{
	list_each(port, &device->ports)
		if (is_state(port, "ACTIVE"))
			return true;
	return false;
}

/* NULL: none is known, as of InfiniBand without IPoIB, or one in another namespace. */
static const char *netdev_of_active_port(const struct rdma_device *device)
{
	list_each(port, &device->ports)
		if (is_state(port, "ACTIVE") && port_netdev(port))
			return port_netdev(port)->name;
	return NULL;
}

/* In switchdev mode a VF has the link of its representor. */
static const char *advice_of_active_pf(
        const struct host *host, const struct rdma_device *vf, const struct rdma_device *pf)
{
	const char *netdev = netdev_of_active_port(pf);
	char number[16] = "N";
	if (pf->representors.count)
		return arena_printf(host->arena,
		        "%s, its physical function, is active in switchdev mode: set the representor of the VF up "
		        "(devlink port show tells which it is).",
		        pf->name);
	if (vf->vf_index.known)
		snprintf(number, sizeof(number), "%d", (int)vf->vf_index.value);
	return arena_printf(host->arena,
	        "%s, its physical function, is active, so the VF is switched off there: ip link set %s vf %s state "
	        "auto.",
	        pf->name, netdev ? netdev : "DEV", number);
}

/* Nor has a scalable function. */
static const char *down_advice_of_sf(const struct host *host, const struct rdma_device *sf)
{
	const struct rdma_device *parent = physical_function(host, sf);
	if (parent && is_serving(parent))
		return arena_printf(host->arena,
		        "%s, whose scalable function it is, is active: set its port function active and its "
		        "representor up (devlink port show tells both).",
		        parent->name);
	return parent && is_inactive(parent)
	               ? arena_printf(host->arena, "It follows %s, whose scalable function it is, which is not active.",
	                         parent->name)
	               : NULL;
}

/* A VF has no cable: its link is what its physical function, or who rules that, lets it have. */
static const char *down_advice_of_vf(const struct host *host, const struct rdma_device *vf)
{
	const struct rdma_device *pf = physical_function(host, vf);
	if (pf && is_serving(pf))
		return advice_of_active_pf(host, vf, pf);
	if (pf && is_inactive(pf))
		return arena_printf(
		        host->arena, "It follows %s, its physical function, which is not active.", pf->name);
	return pf ? arena_printf(host->arena,
	                    "It follows %s, its physical function, whose state is not known, or is switched off "
	                    "there.",
	                    pf->name)
	          : "The link of a VF is that of its physical function, or switched off there (ip link set DEV vf N "
	            "state auto): look at the host that has it.";
}

/* What the physical state leaves to look at (InfiniBand Architecture Specification, volume 1, PortInfo). */
static const char *down_advice(const struct host *host, const struct rdma_device *device, const struct port *port)
{
	struct arena *arena = host->arena;
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
		return arena_printf(arena, "Its netdev is administratively down: ip link set %s up.", netdev->name);
	const char *ignored = ignored_link(host, port);
	if (ignored)
		return ignored;
	bool linked = netdev && netdev->carrier == FLAG_YES;
	if (device->function.kind == FUNCTION_VF && !linked)
		return down_advice_of_vf(host, device);
	const char *subfunction =
	        device->function.kind == FUNCTION_SF && !linked ? down_advice_of_sf(host, device) : NULL;
	if (subfunction)
		return subfunction;
	/* RoCE and iWARP drivers say DISABLED of every port without a carrier (mlx5_query_port_roce()). */
	const char *members = netdev ? bond_members_advice(arena, netdev) : NULL;
	if (port->link_layer == LINK_LAYER_ETHERNET && netdev && netdev->carrier == FLAG_NO && members)
		return arena_printf(arena, "%s is up and has no carrier. %s", netdev->name, members);
	if (port->link_layer == LINK_LAYER_ETHERNET && netdev && netdev->carrier == FLAG_NO)
		return arena_printf(arena, "%s is up and has no carrier: %s.", netdev->name, carrier_source(netdev));
	for (size_t i = 0; port->physical_state && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(port->physical_state, known[i].state))
			return known[i].advice;
	return NULL;
}

/* Functions of one slot, or with one sys_image_guid. */
static bool is_same_adapter(const struct rdma_device *one, const struct rdma_device *two)
{
	if (one == two)
		return true;
	if (one->sys_image_guid && two->sys_image_guid && !is_zero_guid(one->sys_image_guid) &&
	        !strcmp(one->sys_image_guid, two->sys_image_guid))
		return true;
	const char *address = one->pci ? one->pci->address : NULL, *other = two->pci ? two->pci->address : NULL;
	const char *dot = address ? strrchr(address, '.') : NULL;
	return dot && other && !strncmp(address, other, (size_t)(dot - address) + 1);
}

static bool has_active_port(const struct host *host, const struct rdma_device *adapter)
{
	list_each(device, &host->devices)
		if (is_same_adapter(adapter, device))
			list_each(port, &device->ports)
				if (!port->state || is_state(port, "ACTIVE"))
					return true; /* one whose state is not known may be active */
	return false;
}

/* A port that somebody switched off is down because it is meant to be; an unused one has a neighbour that works. */
static bool is_down_unasked(const struct host *host, const struct rdma_device *device, const struct port *port)
{
	const struct netdev *netdev = port_netdev(port);
	bool wanted = port->link_layer == LINK_LAYER_INFINIBAND || (netdev && netdev->admin_up == FLAG_YES);
	bool disabled = !port->physical_state || !strcmp(port->physical_state, "DISABLED");
	return wanted && !disabled && (!netdev || netdev->admin_up != FLAG_NO) && !has_active_port(host, device);
}

static bool has_ipv4(const struct netdev *netdev)
{
	list_each(address, &netdev->addresses)
		if (address->family == AF_INET)
			return true;
	return false;
}

/* iw_query_port() and usnic_ib_query_port() say INIT where the netdev has a carrier and no IPv4 address. */
static bool waits_for_address(const struct port *port)
{
	const struct netdev *netdev = port_netdev(port);
	bool goes_by_address = port->transport == TRANSPORT_IWARP || port->transport == TRANSPORT_UNSPECIFIED;
	return goes_by_address && is_state(port, "INIT") && netdev && !has_ipv4(netdev);
}

/* Neither up nor down. */
static struct finding *check_not_ready(
        const struct host *host, const struct port *port, const char *subject, struct report *report)
{
	struct finding *finding =
	        check_add(report, "port-not-ready", subject, "the port is %s instead of ACTIVE", port->state);
	if (waits_for_address(port) && !host->addresses_unread)
		report_advice(finding,
		        arena_printf(report->arena, "Give %s an IPv4 address: the port becomes active only with one.",
		                port_netdev(port)->name));
	return finding;
}

/* One that serves its physical function does not serve a VF by itself. */
static const struct rdma_device *served_pf(const struct host *host, const struct rdma_device *device)
{
	const struct rdma_device *pf = is_infiniband_vf(device) ? physical_function(host, device) : NULL;
	return pf && is_serving(pf) ? pf : NULL;
}

static struct finding *check_waiting_vf(
        const struct rdma_device *pf, const char *state, const char *subject, struct report *report)
{
	struct finding *finding = check_add(report, "port-waits-for-subnet-manager", subject,
	        "%s: the subnet manager, which serves its physical function %s, has not made this VF active", state,
	        pf->name);
	report_advice(finding,
	        "Virtualization has to be on in the subnet manager (virt_enabled of opensm), and the VF to have "
	        "a GUID that no other port has.");
	return finding;
}

/* A port comes to ARMED by a subnet manager only (InfiniBand Architecture Specification, volume 1, link states). */
static struct finding *check_waiting(
        const struct rdma_device *device, const struct port *port, const char *subject, struct report *report)
{
	bool armed = is_state(port, "ARMED");
	/* Omni-Path has a manager of its own, to which opensm is no help. */
	bool omni_path =
	        device->protocol ? !strcmp(device->protocol, "opa") : device->driver && !strcmp(device->driver, "hfi1");
	struct finding *finding = check_add(report, "port-waits-for-subnet-manager", subject, "%s: %s", port->state,
	        armed ? "a subnet manager has armed the port, and none has made it active"
	              : "the link is up, but no subnet manager has made the port active");
	report_advice(finding,
	        armed ? "Read the log of the subnet manager: it ended halfway, or another port holds it up."
	        : omni_path
	                ? "Start the fabric manager of Omni-Path (opafm), or look why it does not see this port."
	                : "Start a subnet manager (opensm, or the switch's), or look why it does not see this port.");
	return finding;
}

static void check_state(const struct host *host, const struct rdma_device *device, const struct port *port,
        const char *subject, struct report *report)
{
	struct finding *finding = NULL;
	bool infiniband = port->link_layer == LINK_LAYER_INFINIBAND;
	if (infiniband && (is_state(port, "INIT") || is_state(port, "ARMED"))) {
		const struct rdma_device *pf = served_pf(host, device);
		finding = pf ? check_waiting_vf(pf, port->state, subject, report)
		             : check_waiting(device, port, subject, report);
	} else if (is_state(port, "DOWN") && !(is_infiniband_vf(device) && is_zero_guid(device->node_guid))) {
		finding = check_add(report, "port-down", subject, "the port is DOWN, physical state %s",
		        port->physical_state ? port->physical_state : "unknown");
		report_advice(finding, silent_hop(device) ? NULL : down_advice(host, device, port));
		if (finding && is_down_unasked(host, device, port))
			finding->severity = SEVERITY_ERROR;
	} else if (port->state && !is_state(port, "ACTIVE") && !is_state(port, "DOWN")) {
		finding = check_not_ready(host, port, subject, report);
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

static bool has_netdev(const struct rdma_device *device)
{
	list_each(port, &device->ports)
		if (port->netdevs.count)
			return true;
	return false;
}

static bool has_device_to_open(const struct host *host)
{
	list_each(device, &host->devices)
		if (device->uverbs.accessible == FLAG_YES)
			return true;
	return false;
}

static void check_uverbs(const struct host *host, const struct rdma_device *device, struct report *report)
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
	/* No node: it was not given to this container. EACCES: the mode of the node. Others are no user's matter. */
	if (finding && uverbs->refused && uverbs->refused != -ENOENT && uverbs->refused != -EACCES)
		finding->severity = SEVERITY_ERROR;
	/* All devices are to be seen in a container, and it is given some of them, with their netdevs or others. */
	if (finding && uverbs->refused == -ENOENT && !has_netdev(device) && has_device_to_open(host))
		finding->severity = SEVERITY_INFO;
	report_evidence(report, finding, "access(2)", uverbs->path, "%s", uverbs->reason);
	bool denied = uverbs->refused == -ENOENT || uverbs->refused == -EACCES || uverbs->refused == -EPERM;
	report_advice(finding, denied ? "In a container the device node must be passed in; on a host udev's rdma rules "
	                                "make it accessible."
	                              : NULL);
}

/* That no device may be opened is told of each. */
static void check_cm(const struct host *host, struct report *report)
{
	if (!host->cm_refused || !has_device_to_open(host))
		return;
	struct finding *finding = check_add(report, "rdma-cm-not-accessible", "host",
	        "programs that use rdma_cm cannot start: %s", host->cm_refused);
	report_evidence(report, finding, "access(2)", "/dev/infiniband/rdma_cm", "%s", host->cm_refused);
	report_advice(finding,
	        "A container must be given that node beside those of the devices; verbs with a GID index work "
	        "without it.");
}

static void check_provider(const struct rdma_device *device, struct report *report)
{
	if (!device->provider_missing || device->uverbs.accessible != FLAG_YES || device->unseen)
		return;                                           /* libibverbs goes by sysfs */
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

/* Is `subject` the device, a port of it, or its PCI function? */
static bool is_about(const struct rdma_device *device, const char *subject)
{
	size_t length = strlen(device->name);
	if (!strncmp(subject, device->name, length))
		return !subject[length] || subject[length] == '/';
	return device->pci && device->pci->address && !strncmp(subject, "pci:", 4) &&
	       !strcmp(subject + 4, device->pci->address);
}

/* A call that was given up, or that ended the collecting process (collect_end.c). */
static bool is_lost_call(const struct not_collected *entry)
{
	return !strcmp(entry->what, "files") || !strcmp(entry->what, "netlink") || !strcmp(entry->what, "verbs");
}

/* And what is not asked after it (origin_announce()). */
static bool is_death(const struct not_collected *entry)
{
	return num_is(entry->error, ECHILD) || (!entry->error.known && is_lost_call(entry));
}

/* "did not answer within 2000 ms: opening and querying the device" goes on after whoever did not. */
static bool is_predicate(const char *reason)
{
	return !strncmp(reason, "did not answer ", strlen("did not answer "));
}

/*
 * A read or request that did not return by the deadline, one in which the collecting process died (it has no errno),
 * and an adapter that cannot be opened because it does not work. Other errnos are answers.
 */
static bool is_silence(const struct not_collected *entry)
{
	bool opening = !strcmp(entry->what, "active_mtu") || !strcmp(entry->what, "max_mtu");
	return is_death(entry) || num_is(entry->error, ETIMEDOUT) ||
	       (opening && (num_is(entry->error, EIO) || num_is(entry->error, ENXIO)));
}

/* Few of many: looked for once, and not once more for each device. */
struct silences {
	struct not_collected **items;
	uint32_t count, capacity;
};

static struct silences find_silences(struct report *report)
{
	struct silences silences = { 0 };
	list_each(entry, &report->not_collected)
		if (is_silence(entry))
			list_add_existing(report->arena, &silences, entry);
	return silences;
}

/* The call that was given up says more than what is unknown for want of it, which comes first as a rule. */
static const struct not_collected *first_cause(const struct rdma_device *device, const struct silences *silences)
{
	const struct not_collected *first = NULL;
	list_each(entry, silences) {
		if (!is_about(device, entry->subject))
			continue;
		if (is_predicate(entry->reason) || (is_death(entry) && is_lost_call(entry)))
			return entry;
		first = first ? first : entry;
	}
	return first;
}

static void check_bus(const struct rdma_device *device, const struct pci_hop *hop, struct report *report)
{
	bool own = hop->kind == PCI_ENDPOINT;
	struct finding *finding = check_add(report, "device-not-answering", device->name,
	        "%s %s does not answer on PCIe: its configuration space reads all ones",
	        own ? "its function" : "the bridge above it,", hop->address);
	report_evidence(report, finding, "PCI configuration space", hop->address, "0xffffffff");
	report_advice(finding,
	        "Read the kernel log for errors of PCIe (AER, DPC, hotplug); a reset of the slot or a power "
	        "cycle brings the adapter back where its hardware is sound.");
}

/* A driver that fails in the kernel ends the process that asked it, as a provider library that crashes does. */
static struct finding *tell_death(const char *device, const struct not_collected *entry, struct report *report)
{
	struct finding *finding = check_add(
	        report, "device-not-answering", device, "not all of the device could be asked: %s", entry->reason);
	report_advice(finding,
	        "Read the kernel log for an oops in the driver and for the OOM killer; where there is neither, "
	        "the provider library of the device crashed, and other programs that open it may, too.");
	return finding;
}

static struct finding *tell_silence(const char *device, const struct not_collected *entry, struct report *report)
{
	bool lost = is_predicate(entry->reason);
	struct finding *finding = check_add(report, "device-not-answering", device,
	        "the device or its driver %s%s%s%s%s%s", lost ? "" : "does not answer: ", lost ? "" : entry->what,
	        lost ? "" : " of ", lost ? "" : entry->subject, lost ? "" : ": ", entry->reason);
	report_advice(finding, "Read the kernel log for hung tasks and for health or AER messages of the adapter; "
	                       "programs that open it may hang.");
	return finding;
}

static void check_answers(const struct rdma_device *device, const struct silences *silences, struct report *report)
{
	enum { ENOUGH = 4 };
	const struct pci_hop *hop = silent_hop(device);
	const struct not_collected *first = first_cause(device, silences);
	if (hop)
		check_bus(device, hop, report);
	if (hop || !first)
		return;
	struct finding *finding =
	        is_death(first) ? tell_death(device->name, first, report) : tell_silence(device->name, first, report);
	if (finding)
		report_evidence(report, finding, first->subject, first->what, "%s", first->reason);
	list_each(entry, silences)
		if (finding && entry != first && is_about(device, entry->subject) && finding->evidence.count < ENOUGH)
			report_evidence(report, finding, entry->subject, entry->what, "%s", entry->reason);
}

static void check_deadline(struct report *report)
{
	for (uint32_t i = 0; i < report->not_collected.count; i++) {
		const struct not_collected *entry = report->not_collected.items[i];
		if (!strcmp(entry->subject, "host") && !strcmp(entry->what, "everything after this") &&
		        num_is(entry->error, ETIMEDOUT))
			check_add(report, "collecting-cut-short", "host", "%s: what came after that was not looked at",
			        entry->reason);
	}
}

void check_ports(const struct host *host, struct report *report)
{
	char subject[PORT_LABEL_SIZE];
	struct silences silences = find_silences(report);
	check_deadline(report);
	check_cm(host, report);
	list_each(device, &host->devices) {
		check_answers(device, &silences, report);
		check_uverbs(host, device, report);
		check_provider(device, report);
		check_guid(device, report);
		check_companion(device, report);
		list_each(port, &device->ports) {
			port_label(device->name, port->number, subject);
			check_state(host, device, port, subject, report);
			if (host->netdevs.count) /* else they were not read */
				check_netdev(port, subject, report);
		}
	}
}
