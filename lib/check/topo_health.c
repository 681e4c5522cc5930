/* SPDX-License-Identifier: MIT */
/* Findings about interrupts, quality of service and the wire, where these were asked for. */
#include "base/cleanup.h"
#include "check/add.h"
#include "check/topo.h"
#include "source/join.h"
#include "source/vendors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- interrupts ---- */

static const char *device_of(const struct host *host, const struct pci_function *function)
{
	list_each(device, &host->devices)
		if (device->pci == function)
			return device->name;
	return function->address;
}

static void check_interrupts(const struct host *host, const struct function_interrupts *function, struct report *report)
{
	char subject[80];
	int64_t remote = 0;
	list_each(interrupt, &function->interrupts)
		remote += interrupt->completion == FLAG_YES && interrupt->remote == FLAG_YES;
	if (!remote)
		return;
	snprintf(subject, sizeof(subject), "pci:%s", function->address);
	struct finding *finding = check_add(report, "irq-on-another-node", subject,
	        "%" PRId64 " of %" PRId64 " completion vectors of %s interrupt CPUs of other nodes", remote,
	        function->completions.value, device_of(host, function->pci));
	if (finding && remote < function->completions.value)
		finding->severity =
		        SEVERITY_INFO; /* a program may take the others; drivers spread them over all CPUs */
	uint32_t told = 0;
	list_each(interrupt, &function->interrupts)
		if (interrupt->completion == FLAG_YES && interrupt->remote == FLAG_YES && told++ < 4)
			report_evidence(report, finding, "/proc/irq affinity", interrupt->name, "%s",
			        interrupt->effective && *interrupt->effective ? interrupt->effective
			                                                      : interrupt->affinity);
	report_evidence(report, finding, "sysfs", "local_cpulist", "%s", function->local_cpus);
	report_advice(finding, "Set smp_affinity_list of these interrupts to local CPUs (irqbalance, or the driver's "
	                       "script), or choose completion vectors that are local.");
}

/* ---- quality of service ---- */

/* The priority that DSCP gets: its entry, else that of its three upper bits is not known. */
static struct num priority_of(const struct qos_facts *qos, int64_t dscp)
{
	list_each(entry, &qos->dscp)
		if (entry->key == dscp)
			return entry->value;
	return (struct num){ 0 };
}

static bool lossless_list(const struct qos_facts *qos, char text[static 32])
{
	text[0] = '\0';
	list_each(priority, &qos->priorities) {
		size_t used = strlen(text);
		if (priority->pfc == FLAG_YES)
			snprintf(text + used, 32 - used, "%s%d", used ? ", " : "", (int)priority->priority.value);
	}
	return *text;
}

static bool has_tags(const struct port *port)
{
	list_each(netdev, &port->netdevs)
		if (netdev->netdev->kind == LINK_VLAN)
			return true;
	return false;
}

/*
 * A port without a map of DSCP goes by the tags of VLANs, and takes what has none for priority 0. It is info, as
 * drivers outside of the kernel have other ways to set it.
 */
static void check_untagged(struct num tos, const char *subject, const struct port *port,
        const struct netdev_health *netdev, const char *lossless, struct report *report)
{
	const struct qos_facts *qos = netdev->qos;
	if (strcmp(qos->trust, "priority") != 0 || has_tags(port) || !qos->priorities.count ||
	        qos->priorities.items[0]->pfc != FLAG_NO)
		return;
	struct finding *finding = check_add(report, "qos-traffic-not-lossless", subject,
	        "traffic has type of service %" PRId64 " (DSCP %" PRId64
	        "), and DCB tells no map of DSCP on %s: without one, packets that have no VLAN tag count as priority "
	        "0, and flow control is on for priority %s only",
	        tos.value, tos.value >> 2, netdev->name, lossless);
	if (finding)
		finding->severity = SEVERITY_INFO;
	report_evidence(report, finding, "DCB_ATTR_IEEE_APP_TABLE", "DSCP entries", "0");
	report_evidence(report, finding, "DCB_ATTR_IEEE_PFC", "pfc_en", "%s", lossless);
	report_advice(finding, arena_printf(report->arena,
	                               "dcb app show dev %s tells the map, dcb app add dev %s dscp-prio makes one; "
	                               "mlnx_qos --trust dscp does it for mlx5.",
	                               netdev->name, netdev->name));
}

/*
 * Only where the class of the traffic is known: forced by the driver, or set as default of rdma_cm to something else
 * than zero, and the port orders by DSCP. A port without any lossless priority may be meant to be so.
 */
static void check_class(const struct port *rdma_port, const struct port_health *port,
        const struct netdev_health *netdev, struct report *report)
{
	char subject[PORT_LABEL_SIZE], lossless[32];
	const struct qos_facts *qos = netdev->qos;
	bool forced = port->traffic_class.known && port->traffic_class.value > 0;
	struct num tos = forced ? port->traffic_class : port->default_tos;
	if (!qos || !tos.known || tos.value <= 0 || !qos->trust || !lossless_list(qos, lossless))
		return;
	if (strcmp(qos->trust, "dscp") != 0) {
		port_label(port->device, port->number, subject);
		check_untagged(tos, subject, rdma_port, netdev, lossless, report);
		return;
	}
	struct num priority = priority_of(qos, tos.value >> 2);
	if (!priority.known || priority.value < 0 || priority.value >= (int64_t)qos->priorities.count ||
	        qos->priorities.items[priority.value]->pfc != FLAG_NO)
		return;
	struct finding *finding =
	        check_add(report, "qos-traffic-not-lossless", port_label(port->device, port->number, subject),
	                "traffic with type of service %" PRId64 " (DSCP %" PRId64 ") gets priority %" PRId64
	                " on %s; flow control is on for priority %s only",
	                tos.value, tos.value >> 2, priority.value, netdev->name, lossless);
	report_evidence(report, finding, forced ? "sysfs" : "configfs", forced ? "traffic_class" : "default_roce_tos",
	        "%" PRId64, tos.value);
	report_evidence(report, finding, "DCB_ATTR_IEEE_APP_TABLE", "DSCP → priority", "%" PRId64 " → %" PRId64,
	        tos.value >> 2, priority.value);
	report_evidence(report, finding, "DCB_ATTR_IEEE_PFC", "pfc_en", "%s", lossless);
	report_advice(finding, "Make the type of service, the port's DSCP map and the priorities of PFC agree, here "
	                       "and on the switches.");
}

static void check_qos(const struct host *host, struct report *report)
{
	list_each(health, &host->health->ports) {
		const struct rdma_device *device = host_device(host, health->device);
		const struct port *port = device ? device_port(device, health->number.value) : NULL;
		list_each(netdev, &host->health->netdevs)
			if (port)
				list_each(related, &port->netdevs)
					if (related->netdev == netdev->netdev)
						check_class(port, health, netdev, report);
	}
}

/* ---- flow control of equal ports ---- */

/* A bit for each priority that may be paused. */
static unsigned int pfc_of(const struct netdev_health *netdev)
{
	unsigned int mask = 0;
	list_each(priority, &netdev->qos->priorities)
		mask |= priority->pfc == FLAG_YES && priority_index < PRIORITIES ? 1U << priority_index : 0;
	return mask;
}

/* A driver may tell the classes of DCB and nothing of flow control. */
static bool tells_pfc(const struct netdev_health *netdev)
{
	if (!netdev->qos)
		return false;
	list_each(priority, &netdev->qos->priorities)
		if (priority->pfc == FLAG_UNKNOWN)
			return false;
	return netdev->qos->priorities.count > 0;
}

/* The netdev of a port of an adapter that carries something. */
static bool is_rail(const struct netdev_health *netdev)
{
	const struct netdev *link = netdev->netdev;
	const struct pci_function *pci = link ? link->pci : NULL;
	return tells_pfc(netdev) && pci && !pci->physfn && !join_is_representor(link) &&
	       !vendor_id_is_vf(pci->vendor, pci->device) && link->admin_up == FLAG_YES && link->carrier == FLAG_YES;
}

static bool is_same_kind(const struct pci_function *one, const struct pci_function *other)
{
	return one->vendor.known && num_is(other->vendor, one->vendor.value) && one->device.known &&
	       num_is(other->device, one->device.value);
}

enum { BYTE_VALUES = 256 };

/* How often each value of a byte was counted, and of the commonest what had it first. */
struct tally {
	uint32_t counts[BYTE_VALUES], most;
	const void *first[BYTE_VALUES], *example;
};

static void count_value(struct tally *tally, size_t value, const void *whose)
{
	if (!tally->counts[value]++)
		tally->first[value] = whose;
	if (tally->counts[value] <= tally->most)
		return;
	tally->most = tally->counts[value];
	tally->example = tally->first[value];
}

/* Most equal ports pause some priority that this one does not: the setting was lost, or it is another network's. */
static void check_pfc_of_rail(const struct host *host, const struct netdev_health *rail, struct report *report)
{
	uint32_t others = 0;
	struct tally above = { 0 };
	char subject[80], theirs[32], own[32];
	list_each(other, &host->health->netdevs) {
		if (other == rail || !is_rail(other) || !is_same_kind(rail->netdev->pci, other->netdev->pci))
			continue;
		others++;
		if (pfc_of(other) & ~pfc_of(rail))
			count_value(&above, pfc_of(other), other);
	}
	if (!check_most_are_apart(above.most, others))
		return;
	const struct netdev_health *example = above.example;
	snprintf(subject, sizeof(subject), "net:%s", rail->name);
	(void)lossless_list(example->qos, theirs);
	bool any = lossless_list(rail->qos, own);
	struct finding *finding = check_add(report, "qos-pfc-below-others", subject,
	        "%u of %u other netdevs of the same kind of adapter have flow control for priority %s (%s), this one "
	        "%s%s",
	        above.most, others, theirs, example->name, any ? "for " : "for none", own);
	report_evidence(report, finding, "DCB_ATTR_IEEE_PFC", rail->name, "%s", any ? own : "none");
	report_evidence(report, finding, "DCB_ATTR_IEEE_PFC", example->name, "%s", theirs);
	report_advice(finding,
	        "Where they are meant to be equal, set it as on the others (dcb pfc, mlnx_qos), and look why "
	        "it was lost.");
}

static void check_pfc(const struct host *host, struct report *report)
{
	list_each(netdev, &host->health->netdevs)
		if (is_rail(netdev))
			check_pfc_of_rail(host, netdev, report);
}

/* ---- type of service of equal ports ---- */

/* What the driver forces, else the default of rdma_cm, as check_class() has it. Without a setting it is 0. */
static int64_t service_of(const struct port_health *port)
{
	return port->traffic_class.value > 0 ? port->traffic_class.value : port->default_tos.value;
}

/* The device of an active RoCE port of an adapter; NULL: it is no such port. */
static const struct rdma_device *rail_device(const struct host *host, const struct port_health *health)
{
	const struct rdma_device *device = host_device(host, health->device);
	const struct port *port = device ? device_port(device, health->number.value) : NULL;
	bool rail = port && port->transport == TRANSPORT_ROCE && port_is_active(port) && device->pci &&
	            device->function.kind == FUNCTION_PF;
	return rail ? device : NULL;
}

/* Most equal ports have one type of service, and this one another: the setting was lost, or it is another network's. */
static void check_service_of_rail(const struct host *host, const struct port_health *rail, struct report *report)
{
	uint32_t others = 0;
	struct tally apart = { 0 };
	const struct rdma_device *device = rail_device(host, rail);
	char subject[PORT_LABEL_SIZE];
	if (!device)
		return;
	list_each(other, &host->health->ports) {
		const struct rdma_device *peer = other == rail ? NULL : rail_device(host, other);
		if (!peer || !is_same_kind(device->pci, peer->pci))
			continue;
		int64_t service = service_of(other);
		others++;
		if (service != service_of(rail) && service >= 0 && service < BYTE_VALUES)
			count_value(&apart, (size_t)service, other);
	}
	const struct port_health *example = apart.example;
	if (!check_most_are_apart(apart.most, others) || service_of(example) <= 0)
		return;
	struct finding *finding =
	        check_add(report, "qos-service-unlike-others", port_label(rail->device, rail->number, subject),
	                "%u of %u other ports of the same kind of adapter have type of service %" PRId64
	                " (%s), this one has %" PRId64,
	                apart.most, others, service_of(example), example->device, service_of(rail));
	report_evidence(report, finding, "configfs, sysfs", rail->device, "%" PRId64, service_of(rail));
	report_evidence(report, finding, "configfs, sysfs", example->device, "%" PRId64, service_of(example));
	report_advice(finding,
	        "Where they are meant to be equal, set it as on the others (default_roce_tos of rdma_cm, "
	        "traffic_class of the driver), and look why it was lost.");
}

static void check_service(const struct host *host, struct report *report)
{
	list_each(port, &host->health->ports)
		check_service_of_rail(host, port, report);
}

/* ---- the wire ---- */

static struct num counter_of(const struct netdev_health *netdev, const char *name)
{
	return health_counter_value(
	        (const struct health_counter *const *)netdev->counters.items, netdev->counters.count, name);
}

/* One more of what is counted, in the text of a finding: "rx_crc_errors 12, uncorrectable FEC blocks 3". */
static const char *add_counted(struct arena *arena, const char *list, const char *name, struct num value)
{
	if (value.value <= 0 || !list)
		return list;
	return arena_printf(arena, "%s%s%s %" PRId64, list, *list ? ", " : "", name, value.value);
}

static void check_frames(const struct netdev_health *netdev, const char *subject, struct report *report)
{
	static const char *const names[] = { "FrameCheckSequenceErrors", "AlignmentErrors", "etherStatsFragments",
		"etherStatsJabbers", "rx_crc_errors" };
	struct num lost = netdev->fec ? netdev->fec->uncorrectable_blocks : (struct num){ 0 };
	const char *list = "";
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		list = add_counted(report->arena, list, names[i], counter_of(netdev, names[i]));
	list = add_counted(report->arena, list, "uncorrectable FEC blocks", lost);
	if (!list || !*list)
		return;
	struct finding *finding = check_add(
	        report, "wire-errors", subject, "frames came damaged from the wire since the counters began: %s", list);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (counter_of(netdev, names[i]).value > 0)
			report_evidence(
			        report, finding, "counter", names[i], "%" PRId64, counter_of(netdev, names[i]).value);
	if (lost.value > 0)
		report_evidence(report, finding, "ETHTOOL_A_FEC_STATS", "uncorrectable blocks", "%" PRId64, lost.value);
	report_advice(finding, "Clean or change cable and modules of this link; see whether the number still grows.");
}

static void check_netdev(const struct netdev_health *netdev, struct report *report)
{
	enum { MANY_FLAPS = 5 };
	char subject[80];
	snprintf(subject, sizeof(subject), "net:%s", netdev->name);
	check_frames(netdev, subject, report);
	if (netdev->carrier_down.known && netdev->carrier_down.value >= MANY_FLAPS) {
		struct finding *finding = check_add(report, "link-flaps", subject,
		        "the carrier went away %" PRId64 " time%s since the netdev was made",
		        netdev->carrier_down.value, plural(netdev->carrier_down.value));
		report_evidence(report, finding, "sysfs", "carrier_down_count", "%" PRId64, netdev->carrier_down.value);
		report_advice(finding, "See in the kernel log when; each time in operation broke connections.");
	}
	if (netdev->link_problem && netdev->netdev && netdev->netdev->admin_up == FLAG_YES &&
	        netdev->netdev->carrier == FLAG_NO) {
		struct finding *finding =
		        check_add(report, "link-problem", subject, "no link: %s", netdev->link_problem);
		report_evidence(report, finding, "ETHTOOL_A_LINKSTATE_EXT_STATE", "state", "%s", netdev->link_problem);
	}
}

static void check_port(const struct port_health *port, struct report *report)
{
	static const char *const names[] = { "link_downed", "symbol_error", "link_error_recovery", "port_rcv_errors",
		"port_xmit_discards", "local_link_integrity_errors", "excessive_buffer_overrun_errors" };
	struct num values[ARRAY_SIZE(names)];
	char subject[PORT_LABEL_SIZE];
	const char *list = "";
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		values[i] = health_counter_value(
		        (const struct health_counter *const *)port->counters.items, port->counters.count, names[i]);
		list = add_counted(report->arena, list, names[i], values[i]);
	}
	if (!list || !*list)
		return;
	struct finding *finding =
	        check_add(report, "port-error-counters", port_label(port->device, port->number, subject),
	                "error counters of the port, since they were last cleared: %s", list);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (values[i].value > 0)
			report_evidence(report, finding, "RDMA port counters", names[i], "%" PRId64, values[i].value);
}

static void check_reporter(const struct reporter_health *reporter, struct report *report)
{
	char subject[80];
	bool bad = reporter->state && !strcmp(reporter->state, "error");
	if (!bad && reporter->errors.value <= 0)
		return;
	snprintf(subject, sizeof(subject), "%s:%.60s", reporter->bus ? reporter->bus : "device",
	        reporter->address ? reporter->address : "?");
	struct finding *finding =
	        bad ? check_add(report, "devlink-reporter-error", subject, "the health reporter %s is in error",
	                      reporter->name)
	            : check_add(report, "devlink-reporter-recovered", subject,
	                      "the health reporter %s has seen %" PRId64 " error%s, %" PRId64
	                      " recover%s; it is healthy now",
	                      reporter->name, reporter->errors.value, plural(reporter->errors.value),
	                      reporter->recoveries.value, reporter->recoveries.value == 1 ? "y" : "ies");
	/* The firmware has stopped: mlx5 names this reporter so (drivers/net/ethernet/mellanox/mlx5/core/health.c). */
	if (finding && bad && !strcmp(reporter->name, "fw_fatal"))
		finding->severity = SEVERITY_ERROR;
	report_evidence(report, finding, "DEVLINK_ATTR_HEALTH_REPORTER", reporter->name, "%s, %" PRId64 " error%s",
	        reporter->state ? reporter->state : "state unknown", reporter->errors.value,
	        plural(reporter->errors.value));
	report_advice(finding, "devlink health diagnose and devlink health dump show say more.");
}

/* ---- packet filters ---- */

/* The devices whose packets pass the host's filters, up to some. */
static const char *soft_roce_devices(const struct host *host, struct arena *arena)
{
	enum { SHOWN = 4 };
	const char *names = "";
	uint32_t count = 0;
	list_each(device, &host->devices)
		if (device->driver && !strcmp(device->driver, "rdma_rxe") && count++ < SHOWN)
			names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", device->name);
	return count > SHOWN ? arena_printf(arena, "%s and %u more", names, count - SHOWN) : names;
}

static void check_filters(const struct host *host, struct report *report)
{
	const struct filter_answer *filters = &host->health->filters;
	if (!filters->rules.count || !*soft_roce_devices(host, report->arena))
		return;
	const struct filter_rule *first = filters->rules.items[0];
	const char *so_far =
	        first->packets.known ? arena_printf(report->arena, ", %" PRId64 " so far", first->packets.value) : "";
	struct finding *finding = check_add(report, "roce-port-filtered", "host",
	        "%s drops packets of UDP port 4791%s; those of %s pass it, and get no answer where it matches",
	        first->name ? first->name : "a rule", so_far ? so_far : "", soft_roce_devices(host, report->arena));
	list_each(rule, &filters->rules) {
		if (rule->packets.known)
			report_evidence(report, finding, "nftables", rule->name, "%" PRId64 " packet%s dropped",
			        rule->packets.value, plural(rule->packets.value));
		else
			report_evidence(report, finding, "nftables", rule->name, "without a counter");
	}
	report_advice(finding, "nft -a list ruleset shows it; take it away where it is not meant.");
}

/* Is it the netdev, or below it, as members of a bond and what a VLAN stands on? */
static bool stands_on(const struct netdev *netdev, const char *name, int depth)
{
	enum { NESTING = 8 }; /* MAX_NEST_DEV in include/linux/netdevice.h */
	if (!strcmp(netdev->name, name))
		return true;
	if (depth < NESTING)
		list_each(lower, &netdev->lowers)
			if (stands_on(lower, name, depth + 1))
				return true;
	return false;
}

/*
 * Only what is sent through the network stack is queued: packets of soft-RoCE, and the TCP connections of soft iWARP.
 * An adapter puts RDMA on the wire by itself, so that netem on its netdev says nothing about its RDMA.
 */
static const struct rdma_device *sends_through(const struct host *host, const char *name)
{
	list_each(device, &host->devices) {
		if (!device->driver || (strcmp(device->driver, "rdma_rxe") != 0 && strcmp(device->driver, "siw") != 0))
			continue;
		list_each(port, &device->ports)
			if (port_netdev(port) && stands_on(port_netdev(port), name, 0))
				return device;
	}
	return NULL;
}

static void check_qdisc(const struct host *host, const struct filter_qdisc *qdisc, struct report *report)
{
	char subject[80];
	const struct rdma_device *device = qdisc->netdev ? sends_through(host, qdisc->netdev) : NULL;
	const char *text = qdisc->text ? qdisc->text : "netem";
	if (!device)
		return;
	snprintf(subject, sizeof(subject), "net:%s", qdisc->netdev);
	bool netem = !strncmp(text, "netem", strlen("netem"));
	struct finding *finding = check_add(report, netem ? "netem-on-roce-netdev" : "qdisc-on-roce-netdev", subject,
	        "%s: packets of %s pass it%s", text, device->name,
	        netem ? "" : ", which may be held back or dropped by its limits");
	if (qdisc->drops.known)
		report_evidence(report, finding, "RTM_GETQDISC", "drops", "%" PRId64, qdisc->drops.value);
	report_advice(finding,
	        netem ? arena_printf(report->arena,
	                        "Where no test wants it: tc qdisc show dev %s, and tc qdisc del dev %s root.",
	                        qdisc->netdev, qdisc->netdev)
	              : arena_printf(report->arena, "tc -s qdisc show dev %s tells its limits, and what it drops.",
	                        qdisc->netdev));
}

void check_health(const struct host *host, struct report *report)
{
	const struct health *health = host->health;
	if (!health)
		return;
	list_each(function, &health->functions)
		check_interrupts(host, function, report);
	check_qos(host, report);
	check_pfc(host, report);
	check_service(host, report);
	list_each(netdev, &health->netdevs)
		check_netdev(netdev, report);
	list_each(port, &health->ports)
		check_port(port, report);
	list_each(reporter, &health->reporters)
		check_reporter(reporter, report);
	check_filters(host, report);
	list_each(qdisc, &health->filters.qdiscs)
		check_qdisc(host, qdisc, report);
}
