/* SPDX-License-Identifier: MIT */
/*
 * From an origin to a model: all sources, then the join. On this host the sources run in a forked worker, so that a
 * device that blocks in the kernel costs its own row only (origin/worker.h).
 */
#ifndef RDMADIAG_SOURCE_COLLECT_H
#define RDMADIAG_SOURCE_COLLECT_H

#include "base/error.h"
#include "model/host.h"
#include "origin/origin.h"

struct collect_options {
	unsigned int verbs; /* enum verbs_want to ask of each device; 0: devices are not opened */
	/*
	 * Restricts verbs queries to one RDMA device, and what is kept of the host in the end to it and what belongs to
	 * it. The name of a netdev stands for the RDMA device that reaches it. NULL: all.
	 */
	const char *device;
	/*
	 * Leaves out what only topo tells of a device that netlink describes fully: PCI, NUMA, firmware, uverbs,
	 * speeds. A handful of system calls for all devices then, where sysfs takes some for each.
	 */
	bool brief;
	bool uverbs;             /* with `brief`: who may open the devices all the same */
	bool neighbours;         /* GPUs, accelerators and NVMe controllers too */
	bool expect_verbs;       /* `more` will ask verbs of the devices, see origin_expect_verbs() */
	bool cuda;               /* with `neighbours`: loads libcuda and asks it about GPUs, after `more` */
	bool health;             /* interrupts, quality of service and the wire too */
	unsigned int overall_ms; /* deadline of all of it; 0: the usual one (origin/worker.h) */
	/* Asks hwloc too, to compare; otherwise it is asked only for what sysfs does not tell. */
	bool cross_check;
	/*
	 * Runs in the worker once devices, ports and netdevs are known, to read more of the origin. What it stores must
	 * come from host->arena and be reachable from memory that the caller took from there before. May be called
	 * again after a worker was given up: it begins anew. NULL: nothing more.
	 */
	int (*more)(struct origin *origin, struct host *host, void *data);
	void *data;
};

/* A new host in an arena of its own; NULL without memory. host_free() gives both back. */
struct host *host_new(void);
void host_free(struct host *host);
static inline void host_freep(struct host **host)
{
	host_free(*host);
}

/*
 * Fills `host` (from host_new()). 0, also when something is missing: see host->report. -ENODEV when there is no RDMA
 * device at all (`error` says why) or not the one asked for (`error` names what exists). -EINTR after SIGINT or
 * SIGTERM: what was known by then is in the model. Other negative errnos with `error`.
 */
int collect_host(struct origin *origin, struct host *host, const struct collect_options *options, struct error *error);

/* The RDMA device that `name` stands for: its own, or that of a netdev of one of its ports. NULL: none. */
struct rdma_device *collect_find_device(const struct host *host, const char *name);
/* All of them: a bond or a VLAN may be reached by several. */
struct device_list {
	struct rdma_device **items;
	uint32_t count, capacity;
};
int collect_find_devices(const struct host *host, const char *name, struct device_list *found);
/* Has one of them this port? */
bool collect_has_port(const struct device_list *devices, int64_t port);

/* DEV or DEV/PORT as it was typed: `device` may be a netdev's name, `port` 0 stands for all. */
struct wanted_port {
	const char *device;
	int64_t port;
};
struct wanted_ports {
	LIST(struct wanted_port) items;
};
/*
 * Keeps of the host these devices and ports, and of its report what is about them; all where none is wanted. -ENODEV
 * with `error` where one is not there, -ENOMEM.
 */
int collect_select(struct host *host, const struct wanted_ports *wanted, struct error *error);

struct verbs_call;
/* A call of origin_verbs() for each device, about the ports that it has, in the host's arena. NULL without memory. */
struct verbs_call *collect_verbs_calls(struct host *host, const struct device_list *devices, unsigned int want);

/* What is said of a name that stands for no device: which there are. -ENODEV. */
int collect_unknown_device(const struct host *host, const char *name, struct error *error);
/* The same of a port of what was called `name`; `device` may be NULL. Returns `code`. */
int collect_unknown_port(
        const struct rdma_device *device, const char *name, int64_t port, int code, struct error *error);

#endif
