/* SPDX-License-Identifier: MIT */
/* NUMA nodes and the physical packages of their CPUs, from sys/devices/system. */
#ifndef RDMADIAG_SOURCE_NUMA_H
#define RDMADIAG_SOURCE_NUMA_H

#include "model/host.h"
#include "origin/origin.h"

/* Adds the nodes and packages. 0 or negative errno; nothing is added by a kernel without NUMA. */
int numa_read(struct origin *origin, struct host *host);

/* "Node 0 MemTotal:  1048576 kB" → bytes. */
struct num numa_memory_bytes(const char *meminfo);
/* The one package that all CPUs of a list are on; unknown: none, or several. */
struct num numa_package_of_cpus(const struct host *host, const char *cpus);

/*
 * Asks hwloc which package each node is in: fills what sysfs did not tell, and keeps its answer for a comparison.
 */
void numa_cross_check(struct origin *origin, struct host *host);
/* Has a node CPUs but no package? */
bool numa_lacks_package(const struct host *host);

#endif
