/* SPDX-License-Identifier: MIT */
#include "check/agreement.h"

#include "base/cleanup.h"
#include "check/add.h"
#include "verdict/explain.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- MTU ---- */

/*
 * The largest path MTU whose packets fit into frames of the netdev: iboe_get_mtu() in include/rdma/ib_addr.h takes off
 * the headers GRH, UDP, BTH, XRC, AtomicETH and ICRC.
 */
static int64_t roce_mtu(int64_t netdev_mtu)
{
	enum { HEADERS = 40 + 8 + 12 + 4 + 28 + 4 };
	static const int64_t sizes[] = { 4096, 2048, 1024, 512, 256 };
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (netdev_mtu - HEADERS >= sizes[i])
			return sizes[i];
	return 0;
}

/* Of the smallest packet that is full, in the middle of a message: IPv4, UDP, BTH and ICRC. */
enum { LEAST_HEADERS = 20 + 8 + 12 + 4 };

static void check_port_mtu(const struct port *port, const char *subject, struct report *report)
{
	const struct netdev *netdev = port_netdev(port);
	bool known = netdev && netdev->mtu.known && port->active_mtu.known;
	if (!known || port->transport != TRANSPORT_ROCE || !port_is_active(port))
		return;
	int64_t active = port->active_mtu.value, allowed = roce_mtu(netdev->mtu.value);
	if (port->max_mtu.known && allowed > port->max_mtu.value)
		allowed = port->max_mtu.value;
	struct finding *finding = NULL;
	if (active < allowed)
		finding = check_add(report, "active-mtu-below-netdev", subject,
		        "the active MTU is %" PRId64 ", though the MTU %" PRId64 " of %s allows %" PRId64, active,
		        netdev->mtu.value, netdev->name, allowed);
	else if (active + LEAST_HEADERS > netdev->mtu.value)
		finding = check_add(report, "active-mtu-above-netdev", subject,
		        "the active MTU is %" PRId64 ", with headers more than the MTU %" PRId64
		        " of %s: full packets do not fit",
		        active, netdev->mtu.value, netdev->name);
	report_evidence(report, finding, "ibv_query_port", "active_mtu", "%" PRId64, active);
	report_evidence(report, finding, "IFLA_MTU", netdev->name, "%" PRId64, netdev->mtu.value);
	report_advice(
	        finding, "Set the netdev's MTU again, or take the port down and up: the driver follows its changes.");
}

static bool has_other_mtu(const struct bond_member *member, struct num mtu)
{
	const struct netdev *netdev = member->netdev;
	return netdev && netdev->mtu.known && mtu.known && netdev->mtu.value != mtu.value;
}

static void check_bond_mtu(const struct port_netdev *upper, struct report *report)
{
	char subject[64];
	const char *others = "";
	snprintf(subject, sizeof(subject), "net:%s", upper->name);
	if (!upper->bond)
		return;
	list_each(member, &upper->bond->members)
		if (has_other_mtu(member, upper->mtu) && others)
			others = arena_printf(report->arena, "%s%s%s has MTU %" PRId64, others, *others ? ", " : "",
			        member->name, member->netdev->mtu.value);
	if (!others || !*others)
		return;
	struct finding *finding =
	        check_add(report, "bond-mixed-mtu", subject, "%s, the bond %" PRId64, others, upper->mtu.value);
	list_each(member, &upper->bond->members)
		if (has_other_mtu(member, upper->mtu))
			report_evidence(
			        report, finding, "IFLA_MTU", member->name, "%" PRId64, member->netdev->mtu.value);
	report_evidence(report, finding, "IFLA_MTU", upper->name, "%" PRId64, upper->mtu.value);
	report_advice(finding, "Give all members the bond's MTU; large packets are lost on the one that differs.");
}

/*
 * Packets take the port's MTU, whatever netdev the GID is of; only rdma_cm goes by that netdev
 * (cma_resolve_iboe_route() in drivers/infiniband/core/cma.c).
 */
static void check_stacked_mtu(const struct port *port, const struct port_netdev *upper, struct report *report)
{
	const struct netdev *netdev = upper->netdev;
	bool stacked = netdev->kind == LINK_VLAN || netdev->kind == LINK_MACVLAN || netdev->kind == LINK_IPVLAN ||
	               netdev->kind == LINK_BRIDGE;
	bool known = netdev->mtu.known && port->active_mtu.known && port->transport == TRANSPORT_ROCE;
	if (!stacked || !known || netdev == port_netdev(port) || !netdev->addresses.count ||
	        port->active_mtu.value <= netdev->mtu.value)
		return;
	char subject[64];
	snprintf(subject, sizeof(subject), "net:%s", upper->name);
	struct finding *finding = check_add(report, "stacked-mtu-below-active", subject,
	        "its MTU is %" PRId64 ", but RoCE packets with its GIDs carry up to %" PRId64
	        " bytes: the port's active MTU counts",
	        netdev->mtu.value, port->active_mtu.value);
	report_evidence(report, finding, "IFLA_MTU", upper->name, "%" PRId64, netdev->mtu.value);
	report_evidence(report, finding, "ibv_query_port", "active_mtu", "%" PRId64, port->active_mtu.value);
	report_advice(finding, "Where that network carries no larger packets, give programs a path MTU that fits; else "
	                       "raise the netdev's MTU.");
}

/* ---- firmware ---- */

static bool is_physical(const struct rdma_device *device)
{
	return device->function.kind != FUNCTION_VF && device->function.kind != FUNCTION_SF && device->board_id &&
	       device->fw_version;
}

/* Where it is known, the PCI id tells apart what a driver calls by one name. */
static bool is_same_kind(const struct rdma_device *a, const struct rdma_device *b)
{
	if (strcmp(a->board_id, b->board_id))
		return false;
	return !a->pci || !b->pci ||
	       (num_is(a->pci->vendor, b->pci->vendor.value) && num_is(a->pci->device, b->pci->device.value));
}

static bool is_peer(const struct rdma_device *device, const struct rdma_device *other)
{
	return is_physical(other) && is_same_kind(device, other);
}

static bool has_firmware_of(const struct rdma_device *device, const struct rdma_device *other)
{
	return is_peer(device, other) && !strcmp(device->fw_version, other->fw_version);
}

static uint32_t count_peers(const struct host *host, const struct rdma_device *device,
        bool (*counts)(const struct rdma_device *, const struct rdma_device *))
{
	uint32_t count = 0;
	list_each(other, &host->devices)
		count += counts(device, other);
	return count;
}

static bool is_first(const struct host *host, const struct rdma_device *device,
        bool (*counts)(const struct rdma_device *, const struct rdma_device *))
{
	list_each(other, &host->devices)
		if (counts(device, other))
			return other == device;
	return false;
}

/* One of those whose firmware most of the kind have; of equal halves the first. */
static const struct rdma_device *with_usual_firmware(const struct host *host, const struct rdma_device *device)
{
	const struct rdma_device *usual = device;
	uint32_t most = count_peers(host, device, has_firmware_of);
	list_each(other, &host->devices) {
		if (!is_peer(device, other) || !is_first(host, other, has_firmware_of))
			continue;
		uint32_t count = count_peers(host, other, has_firmware_of);
		if (count > most) {
			usual = other;
			most = count;
		}
	}
	return usual;
}

static void report_firmware(const struct host *host, const struct rdma_device *device, const struct rdma_device *usual,
        struct report *report)
{
	uint32_t equal = count_peers(host, usual, has_firmware_of), all = count_peers(host, usual, is_peer);
	struct finding *finding =
	        equal == 1
	                ? check_add(report, "firmware-differs", device->name,
	                          "firmware %s, but %s on the same kind of adapter (%s) has %s", device->fw_version,
	                          usual->name, device->board_id, usual->fw_version)
	                : check_add(report, "firmware-differs", device->name,
	                          "firmware %s, but %u of %u others on the same kind of adapter (%s) have %s (%s)",
	                          device->fw_version, equal, all - 1, device->board_id, usual->fw_version, usual->name);
	report_evidence(report, finding, "fw_ver", device->name, "%s", device->fw_version);
	report_evidence(report, finding, "fw_ver", usual->name, "%s", usual->fw_version);
	report_advice(finding, "Bring equal adapters to one firmware before anything else is compared.");
}

/* The odd one is told, wherever it stands in the list; of equal halves that which comes later. */
static void check_firmware(const struct host *host, struct report *report)
{
	list_each(device, &host->devices) {
		if (!is_physical(device) || !is_first(host, device, is_peer))
			continue;
		const struct rdma_device *usual = with_usual_firmware(host, device);
		list_each(other, &host->devices)
			if (is_peer(device, other) && strcmp(other->fw_version, usual->fw_version) != 0)
				report_firmware(host, other, usual, report);
	}
}

/* ---- ports of the same kind ---- */

typedef struct num (*port_value)(const struct port *port);

static struct num rate_of(const struct port *port)
{
	return port->rate_mbps;
}

static struct num active_mtu_of(const struct port *port)
{
	return port->active_mtu;
}

/* Ports of the same kind of adapter, as the rails of a node are. */
struct peers {
	uint32_t others, above;
	const struct port *least; /* of those that have more, the one that has least */
};

static struct peers peers_of(
        const struct host *host, const struct rdma_device *device, const struct port *port, port_value measure)
{
	struct peers peers = { 0 };
	list_each(other, &host->devices) {
		if (!is_physical(other) || !is_same_kind(device, other))
			continue;
		list_each(peer, &other->ports) {
			struct num value = measure(peer);
			if (peer == port || peer->link_layer != port->link_layer || !port_is_active(peer) ||
			        !value.known)
				continue;
			peers.others++;
			if (value.value <= measure(port).value)
				continue;
			peers.above++;
			if (!peers.least || value.value < measure(peers.least).value)
				peers.least = peer;
		}
	}
	return peers;
}

/* What the netdev's MTU does not allow; else it is for active-mtu-below-netdev to tell. */
static void check_mtu_of_peers(const struct host *host, const struct rdma_device *device, const struct port *port,
        const char *subject, struct report *report)
{
	const struct netdev *netdev = port_netdev(port);
	bool known = port->active_mtu.known && netdev && netdev->mtu.known;
	if (!known || !is_physical(device) || !port_is_active(port) || port->transport != TRANSPORT_ROCE ||
	        port->active_mtu.value < roce_mtu(netdev->mtu.value))
		return;
	struct peers peers = peers_of(host, device, port, active_mtu_of);
	if (!check_most_are_apart(peers.above, peers.others))
		return;
	struct finding *finding = check_add(report, "port-mtu-below-others", subject,
	        "the active MTU is %" PRId64 " (MTU %" PRId64
	        " of %s), %u of %u other ports of the same kind of adapter (%s) have %" PRId64 " or more",
	        port->active_mtu.value, netdev->mtu.value, netdev->name, peers.above, peers.others, device->board_id,
	        peers.least->active_mtu.value);
	report_evidence(report, finding, "ibv_query_port", "active_mtu", "%" PRId64, port->active_mtu.value);
	report_evidence(report, finding, "IFLA_MTU", netdev->name, "%" PRId64, netdev->mtu.value);
	report_advice(finding, "Where they are meant to be equal, give its netdev the MTU of the others, as the switch "
	                       "port has it.");
}

/* That most others are faster may be meant, as of a port for storage; or it is the cable, or the port of the switch. */
static void check_speed(const struct host *host, const struct rdma_device *device, const struct port *port,
        const char *subject, struct report *report)
{
	if (!is_physical(device) || !port_is_active(port) || !port->rate_mbps.known || port_is_narrow(port))
		return;
	struct peers peers = peers_of(host, device, port, rate_of);
	if (!check_most_are_apart(peers.above, peers.others))
		return;
	struct finding *finding = check_add(report, "port-slower-than-others", subject,
	        "the port runs %s, %u of %u other ports of the same kind of adapter (%s) run %s or more",
	        port->rate_text, peers.above, peers.others, device->board_id, peers.least->rate_text);
	report_evidence(report, finding, "RDMA port", "rate", "%s", port->rate_text);
	report_advice(finding, "Where they are meant to be equal, look at the cable, its modules and the switch port.");
}

/* ---- network namespaces ---- */

static void check_netns_mode(const struct host *host, struct report *report)
{
	if (host->rdma_netns_mode != NETNS_EXCLUSIVE)
		return;
	struct finding *finding = check_add(report, "rdma-netns-exclusive", "host",
	        "each RDMA device is visible in one network namespace only; a container has those that were moved into "
	        "its own");
	report_evidence(report, finding, "netlink", "RDMA_NLDEV_SYS_ATTR_NETNS_MODE", "%s",
	        netns_mode_names[host->rdma_netns_mode]);
	report_advice(finding, "Where containers are meant to share devices: rdma system set netns shared, before any "
	                       "container has its own network.");
}

void check_agreement(const struct host *host, struct report *report)
{
	check_netns_mode(host, report);
	check_firmware(host, report);
	list_each(device, &host->devices) {
		list_each(port, &device->ports) {
			char subject[64];
			snprintf(subject, sizeof(subject), "%s/%" PRId64, device->name, port->number.value);
			check_port_mtu(port, subject, report);
			check_speed(host, device, port, subject, report);
			check_mtu_of_peers(host, device, port, subject, report);
			list_each(netdev, &port->netdevs) {
				check_bond_mtu(netdev, report);
				if (device->software != FLAG_YES)
					check_stacked_mtu(port, netdev, report);
			}
		}
	}
}

/* ---- counters over an interval ---- */

#define CARRIER_CHANGES "carrier_changes"

static bool is_watched(const char *name)
{
	const struct counter_explanation *found = explain_counter(name);
	return found && found->kind != COUNTER_TRAFFIC && found->kind != COUNTER_OTHER && found->kind != COUNTER_FLUSH;
}

static int read_counter(struct origin *origin, struct host *host, struct counter_readings *readings,
        const char *subject, const char *path, const char *name)
{
	struct num value = origin_number(origin, path, 10);
	if (!value.known)
		return 0;
	struct counter_reading *reading = list_add(host->arena, &readings->items);
	if (!reading)
		return -ENOMEM;
	reading->subject = arena_strdup(host->arena, subject);
	reading->source = arena_strdup(host->arena, path);
	reading->name = arena_strdup(host->arena, name);
	reading->value = value.value;
	return reading->subject && reading->source && reading->name ? 0 : -ENOMEM;
}

static int read_port(struct origin *origin, struct host *host, struct counter_readings *readings,
        const struct rdma_device *device, const struct port *port)
{
	static const char *const directories[] = { "counters", "hw_counters" };
	char subject[64], directory[PATH_MAX], path[PATH_MAX + NAME_MAX];
	int result = 0;
	snprintf(subject, sizeof(subject), "%s/%" PRId64, device->name, port->number.value);
	origin_about(origin, subject);
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		struct strings names = { 0 };
		snprintf(directory, sizeof(directory), "sys/class/infiniband/%s/ports/%" PRId64 "/%s", device->name,
		        port->number.value, directories[i]);
		if (origin_list(origin, host->arena, directory, &names))
			continue;
		for (uint32_t n = 0; n < names.count && !result; n++) {
			snprintf(path, sizeof(path), "%s/%s", directory, names.items[n]);
			if (is_watched(names.items[n]))
				result = read_counter(origin, host, readings, subject, path, names.items[n]);
		}
	}
	const struct netdev *netdev = port_netdev(port);
	if (result || !netdev)
		return result;
	snprintf(path, sizeof(path), "sys/class/net/%s/" CARRIER_CHANGES, netdev->name);
	return read_counter(origin, host, readings, subject, path, CARRIER_CHANGES);
}

int counters_read(struct origin *origin, struct host *host, struct counter_readings *readings)
{
	int result = 0;
	list_each(device, &host->devices)
		for (uint32_t i = 0; i < device->ports.count && !result; i++)
			result = read_port(origin, host, readings, device, device->ports.items[i]);
	return result;
}

static const struct counter_reading *same_counter(
        const struct counter_readings *readings, const struct counter_reading *wanted)
{
	list_each(reading, &readings->items)
		if (!strcmp(reading->source, wanted->source))
			return reading;
	return NULL;
}

/* Receivers that were not ready and marked packets are what a fabric does under load; the rest is not. */
static enum severity severity_of(const char *name)
{
	const struct counter_explanation *found = explain_counter(name);
	bool usual = found && (found->kind == COUNTER_CONGESTION || found->kind == COUNTER_NOT_READY);
	return usual ? SEVERITY_INFO : SEVERITY_WARNING;
}

static void check_counter(const struct counter_reading *before, const struct counter_reading *after, double seconds,
        struct report *report)
{
	int64_t rise = after->value - before->value;
	if (rise <= 0)
		return;
	struct finding *finding;
	if (!strcmp(after->name, CARRIER_CHANGES) || !strcmp(after->name, "link_downed")) {
		finding = check_add(report, "port-flapping", after->subject,
		        "%s rose by %" PRId64 " in %.3g s: the link went down or came up", after->name, rise, seconds);
		report_advice(
		        finding, "Look at the cable, the transceiver and the switch port, then at kernel messages.");
	} else {
		finding = report_finding(report, "counter-rising", severity_of(after->name), after->subject,
		        "%s rose by %" PRId64 " in %.3g s", after->name, rise, seconds);
		report_advice(finding,
		        arena_printf(report->arena, "rdmadiag explain counter:%s says what it counts.", after->name));
	}
	report_evidence(report, finding, after->source, "before", "%" PRId64, before->value);
	report_evidence(report, finding, after->source, "after", "%" PRId64, after->value);
}

static void check_change(
        const struct rdma_device *device, const struct port *before, const struct port *after, struct report *report)
{
	char subject[64];
	if (!before || !before->state || !after->state || !strcmp(before->state, after->state))
		return;
	snprintf(subject, sizeof(subject), "%s/%" PRId64, device->name, after->number.value);
	struct finding *finding = check_add(report, "port-flapping", subject,
	        "the port went from %s to %s while it was looked at", before->state, after->state);
	report_evidence(report, finding, "RDMA port", "before", "%s", before->state);
	report_evidence(report, finding, "RDMA port", "after", "%s", after->state);
}

void check_rising(const struct host *before, const struct counter_readings *first, const struct host *after,
        const struct counter_readings *second, double seconds, struct report *report)
{
	list_each(reading, &second->items) {
		const struct counter_reading *earlier = same_counter(first, reading);
		if (earlier)
			check_counter(earlier, reading, seconds, report);
	}
	list_each(device, &after->devices) {
		const struct rdma_device *old = host_device(before, device->name);
		for (uint32_t i = 0; old && i < device->ports.count; i++) {
			const struct port *port = device->ports.items[i];
			check_change(device, device_port(old, port->number.value), port, report);
		}
	}
}
