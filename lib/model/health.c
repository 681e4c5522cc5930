/* SPDX-License-Identifier: MIT */
#include "model/health.h"

#include <string.h>

struct num health_counter_value(const struct health_counter *const *items, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(items[i]->name, name))
			return items[i]->value;
	return (struct num){ 0 };
}

static const struct field counter_fields[] = {
	FIELD(TEXT, struct health_counter, name, "name as its source writes it"),
	FIELD(TEXT, struct health_counter, source, "sysfs or the group of ethtool statistics"),
	FIELD(NUMBER, struct health_counter, value, "value since the counter began"),
};
static RECORD(counter_record, health_counter, counter_fields);

static const struct field priority_fields[] = {
	FIELD(NUMBER, struct qos_priority, priority, "priority"),
	FIELD(FLAG, struct qos_priority, pfc, "priority flow control: lossless"),
	FIELD(NUMBER, struct qos_priority, pause_sent, "pause frames of it sent"),
	FIELD(NUMBER, struct qos_priority, pause_received, "pause frames of it received"),
	FIELD(NUMBER, struct qos_priority, traffic_class, "traffic class that it goes to"),
};
static RECORD(priority_record, qos_priority, priority_fields);

static const struct field class_fields[] = {
	FIELD(NUMBER, struct qos_class, number, "traffic class"),
	FIELD(TEXT, struct qos_class, algorithm, "strict, credit, ets or vendor"),
	FIELD(NUMBER, struct qos_class, bandwidth_percent, "share of an ets class"),
};
static RECORD(class_record, qos_class, class_fields);

static const struct field qos_fields[] = {
	FIELD(TEXT, struct qos_facts, trust, "what decides the priority of a packet that comes in: dscp or priority"),
	FIELD_OF(RECORDS, struct qos_facts, priorities, priority_record, "PFC and ETS for each priority"),
	FIELD_OF(RECORDS, struct qos_facts, classes, class_record, "traffic classes"),
	FIELD(MAP, struct qos_facts, dscp, "priority of each DSCP that has an entry"),
};
static RECORD(qos_record, qos_facts, qos_fields);

static const struct field pause_fields[] = {
	FIELD(FLAG, struct pause_facts, autonegotiated, "is 802.3x pause negotiated"),
	FIELD(FLAG, struct pause_facts, receive, "obeys pause frames"),
	FIELD(FLAG, struct pause_facts, transmit, "sends pause frames"),
	FIELD(NUMBER, struct pause_facts, frames_received, "pause frames received"),
	FIELD(NUMBER, struct pause_facts, frames_sent, "pause frames sent"),
};
static RECORD(pause_record, pause_facts, pause_fields);

static const struct field fec_fields[] = {
	FIELD(TEXT, struct fec_facts, active, "forward error correction in use: none, rs, baser, llrs"),
	FIELD(NUMBER, struct fec_facts, corrected_blocks, "blocks that it repaired"),
	FIELD(NUMBER, struct fec_facts, uncorrectable_blocks, "blocks that it could not repair"),
};
static RECORD(fec_record, fec_facts, fec_fields);

static const struct field netdev_fields[] = {
	FIELD(TEXT, struct netdev_health, name, "interface name"),
	FIELD(TEXT, struct netdev_health, pci_address, "PCI address"),
	FIELD(NUMBER, struct netdev_health, carrier_changes, "times that the carrier came or went"),
	FIELD(NUMBER, struct netdev_health, carrier_down, "times that it went"),
	FIELD_OF(RECORD, struct netdev_health, pause, pause_record, "802.3x pause, null: not offered"),
	FIELD_OF(RECORD, struct netdev_health, fec, fec_record, "forward error correction, null: not offered"),
	FIELD(TEXT, struct netdev_health, module_power, "power mode of the pluggable module, null: not offered"),
	FIELD(TEXT, struct netdev_health, link_problem, "why there is no link, null: there is one, or not told"),
	FIELD_OF(RECORDS, struct netdev_health, counters, counter_record, "counters of errors and discards"),
	FIELD_OF(RECORD, struct netdev_health, qos, qos_record, "quality of service, null: not offered or unknown"),
};
static RECORD(netdev_record, netdev_health, netdev_fields);

static const struct field vl_weight_fields[] = {
	FIELD(NUMBER, struct vl_weight, vl, "virtual lane"),
	FIELD(NUMBER, struct vl_weight, weight, "how much it may send at once, in units of 64 bytes"),
};
static RECORD(vl_weight_record, vl_weight, vl_weight_fields);

static const struct field port_fields[] = {
	FIELD(TEXT, struct port_health, device, "RDMA device"),
	FIELD(NUMBER, struct port_health, number, "port number"),
	FIELD(NUMBER, struct port_health, sm_sl, "service level of the subnet manager, InfiniBand only"),
	FIELD(NUMBER, struct port_health, default_tos,
	        "default type of service of rdma_cm, null: its directory is absent"),
	FIELD(NUMBER, struct port_health, traffic_class, "traffic class forced by the driver, null: not offered"),
	FIELD(NUMBERS, struct port_health, sl_to_vl, "virtual lane of each service level from 0 to 15; 15: discarded"),
	FIELD_OF(RECORDS, struct port_health, vl_arbitration_low, vl_weight_record, "turns of low priority"),
	FIELD_OF(RECORDS, struct port_health, vl_arbitration_high, vl_weight_record, "turns of high priority"),
	FIELD_OF(RECORDS, struct port_health, counters, counter_record, "counters of the RDMA port"),
};
static RECORD(port_record, port_health, port_fields);

static const struct field reporter_fields[] = {
	FIELD(TEXT, struct reporter_health, bus, "bus of the device"),
	FIELD(TEXT, struct reporter_health, address, "the device on it"),
	FIELD(NUMBER, struct reporter_health, port, "devlink port, null: of the device"),
	FIELD(TEXT, struct reporter_health, name, "reporter"),
	FIELD(TEXT, struct reporter_health, state, "healthy or error"),
	FIELD(NUMBER, struct reporter_health, errors, "errors reported"),
	FIELD(NUMBER, struct reporter_health, recoveries, "recoveries done"),
};
static RECORD(reporter_record, reporter_health, reporter_fields);

static const struct field interrupt_fields[] = {
	FIELD(NUMBER, struct interrupt, number, "interrupt"),
	FIELD(TEXT, struct interrupt, name, "name in /proc/interrupts"),
	FIELD(FLAG, struct interrupt, completion, "of completions or packets, not of events"),
	FIELD(TEXT, struct interrupt, affinity, "CPUs that it may go to"),
	FIELD(TEXT, struct interrupt, effective, "CPUs that it goes to, null: not told"),
	FIELD(FLAG, struct interrupt, remote, "none of them is near the function"),
};
static RECORD(interrupt_record, interrupt, interrupt_fields);

static const struct field function_fields[] = {
	FIELD(TEXT, struct function_interrupts, address, "PCI address"),
	FIELD(TEXT, struct function_interrupts, local_cpus, "local CPUs"),
	FIELD(NUMBER, struct function_interrupts, completions, "completion vectors"),
	FIELD(NUMBER, struct function_interrupts, remote, "completion vectors that go to no local CPU"),
	FIELD_OF(RECORDS, struct function_interrupts, interrupts, interrupt_record, "interrupts"),
};
static RECORD(function_record, function_interrupts, function_fields);

static const struct field filter_rule_fields[] = {
	FIELD(TEXT, struct filter_rule, name, "nft FAMILY TABLE CHAIN rule HANDLE"),
	FIELD(NUMBER, struct filter_rule, packets, "packets that it dropped, null: it has no counter"),
};
static RECORD(filter_rule_record, filter_rule, filter_rule_fields);

static const struct field filter_qdisc_fields[] = {
	FIELD(TEXT, struct filter_qdisc, netdev, "netdev whose packets pass it"),
	FIELD(TEXT, struct filter_qdisc, text,
	        "netem on NETDEV: what it does to packets; queueing discipline KIND on NETDEV"),
	FIELD(NUMBER, struct filter_qdisc, drops, "packets that it dropped since it was made"),
};
static RECORD(filter_qdisc_record, filter_qdisc, filter_qdisc_fields);

static const struct field filter_answer_fields[] = {
	FIELD_OF(RECORDS, struct filter_answer, rules, filter_rule_record, "rules that drop packets of UDP port 4791"),
	FIELD_OF(RECORDS, struct filter_answer, qdiscs, filter_qdisc_record,
	        "queueing disciplines that delay, limit or drop on purpose"),
};
RECORD(filter_answer_record, filter_answer, filter_answer_fields);

static const struct field health_fields[] = {
	FIELD_OF(RECORDS, struct health, netdevs, netdev_record, "netdevs on PCI functions"),
	FIELD_OF(RECORDS, struct health, ports, port_record, "RDMA ports"),
	FIELD_OF(RECORDS, struct health, reporters, reporter_record, "devlink health reporters"),
	FIELD_OF(RECORDS, struct health, functions, function_record, "interrupts by PCI function"),
	FIELD_OF(INLINE, struct health, filters, filter_answer_record,
	        "what packets of software devices pass (soft-RoCE, soft iWARP); asked for where there is one"),
};
RECORD(health_record, health, health_fields);
