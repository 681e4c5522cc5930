/* SPDX-License-Identifier: MIT */
/*
 * What is read only when it is asked for: settings of quality of service, counters and state of the wire, interrupts.
 * Of the netdevs and RDMA ports that the tree shows.
 */
#ifndef RDMADIAG_MODEL_HEALTH_H
#define RDMADIAG_MODEL_HEALTH_H

#include "base/arena.h"
#include "base/text.h"
#include "model/record.h"

struct netdev;
struct pci_function;
struct rdma_device;
struct port;

enum { PRIORITIES = 8 };

struct health_counter {
	const char *name; /* as its source writes it */
	const char *source;
	struct num value;
};

/* ---- quality of service (dcbnl) ---- */

struct qos_priority {
	struct num priority;
	enum flag pfc;                         /* may it be paused */
	struct num pause_sent, pause_received; /* frames of this priority */
	struct num traffic_class;
};

struct qos_class {
	struct num number;
	const char *algorithm;        /* strict, credit, ets, vendor */
	struct num bandwidth_percent; /* of ets */
};

struct qos_facts {
	const char *trust; /* "dscp": entries for DSCP decide the priority; "priority": none are there */
	LIST(struct qos_priority) priorities;
	LIST(struct qos_class) classes;
	LIST(struct map_entry) dscp; /* DSCP → priority, where the port has such entries */
};

/* ---- the wire ---- */

struct pause_facts {
	enum flag autonegotiated, receive, transmit; /* 802.3x, all priorities */
	struct num frames_received, frames_sent;
};

struct fec_facts {
	const char *active; /* none, rs, baser, llrs */
	struct num corrected_blocks, uncorrectable_blocks;
};

struct netdev_health {
	const char *name;
	const char *pci_address;
	struct num carrier_changes, carrier_down;
	struct pause_facts *pause;
	struct fec_facts *fec;
	const char *module_power;             /* low, high */
	const char *link_problem;             /* why there is no link, in words of the ethtool documentation */
	LIST(struct health_counter) counters; /* of errors and discards */
	struct qos_facts *qos;
	const struct netdev *netdev; /* not in the document */
};

struct vl_weight {
	struct num vl, weight; /* weight in units of 64 bytes */
};
struct vl_weight_list {
	struct vl_weight **items;
	uint32_t count, capacity;
};

struct port_health {
	const char *device;
	struct num number;
	struct num sm_sl;          /* service level of the subnet manager, InfiniBand only */
	struct num default_tos;    /* default_roce_tos of rdma_cm, where its directory exists */
	struct num traffic_class;  /* that the driver puts on all queue pairs, where it offers that */
	LIST(struct num) sl_to_vl; /* InfiniBand: 16 virtual lanes, 15: discarded */
	struct vl_weight_list vl_arbitration_low, vl_arbitration_high; /* entries with a weight */
	LIST(struct health_counter) counters;
};

struct reporter_health {
	const char *bus, *address;
	struct num port;
	const char *name, *state; /* healthy, error */
	struct num errors, recoveries;
};

/* ---- interrupts ---- */

struct interrupt {
	struct num number;
	const char *name;     /* of /proc/interrupts */
	enum flag completion; /* of completions or packets, not of events or commands */
	const char *affinity, *effective;
	enum flag remote; /* it goes to no CPU near the function */
};

struct function_interrupts {
	const char *address;
	const char *local_cpus;
	struct num completions, remote; /* completion vectors, and those of them that are remote */
	LIST(struct interrupt) interrupts;
	const struct pci_function *pci; /* not in the document */
};

/* ---- packet filters ---- */

/* A rule that drops packets of UDP port 4791, RoCE v2. */
struct filter_rule {
	const char *name;   /* nft FAMILY TABLE CHAIN rule HANDLE */
	struct num packets; /* that it dropped; unknown: it has no counter */
};

/* A queueing discipline that delays, damages or drops packets on purpose: netem, or one that limits (tbf …). */
struct filter_qdisc {
	const char *netdev;
	const char *text; /* netem on NETDEV: what it does; queueing discipline KIND on NETDEV */
	struct num drops; /* since it was made */
};

/* What was asked for them; a snapshot records it. */
struct filter_answer {
	LIST(struct filter_rule) rules;
	LIST(struct filter_qdisc) qdiscs;
};

struct health {
	LIST(struct netdev_health) netdevs;
	LIST(struct port_health) ports;
	LIST(struct reporter_health) reporters;
	LIST(struct function_interrupts) functions;
	struct filter_answer filters; /* where a software device sends and receives through the network stack */
};

/* The value of a counter; unknown where it is not there. */
struct num health_counter_value(const struct health_counter *const *items, uint32_t count, const char *name);

extern const struct record health_record, filter_answer_record;

#endif
