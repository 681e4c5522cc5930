/* SPDX-License-Identifier: MIT */
#include "source/numa.h"
#include "base/cleanup.h"
#include "source/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES "sys/devices/system/node"
#define CPUS "sys/devices/system/cpu"

struct num numa_memory_bytes(const char *meminfo)
{
	const char *line = meminfo ? strstr(meminfo, "MemTotal:") : NULL;
	unsigned long long kib;
	return line && sscanf(line, "MemTotal: %llu", &kib) == 1 && kib < 1ull << 50 ? num((int64_t)(kib << 10))
	                                                                             : (struct num){ 0 };
}

/* ---- packages ---- */

/* NULL: the kernel does not list them. */
static const char *siblings_of(struct origin *origin, struct arena *arena, unsigned int cpu)
{
	char *list = sysfs_text(origin, arena, CPUS "/cpu%u/topology/package_cpus_list", cpu);
	if (!list) /* Linux before 5.3 */
		list = sysfs_text(origin, arena, CPUS "/cpu%u/topology/core_siblings_list", cpu);
	return list && *list ? list : NULL;
}

/* The list with one CPU more that is behind all of it: 0-3 becomes 0-4. */
static const char *with_cpu(struct arena *arena, const char *list, unsigned int cpu)
{
	if (!list)
		return arena_printf(arena, "%u", cpu);
	const char *comma = strrchr(list, ','), *last = comma ? comma + 1 : list;
	unsigned int from, to;
	int numbers = sscanf(last, "%u-%u", &from, &to);
	if (numbers < 1 || (numbers == 2 ? to : from) + 1 != cpu)
		return arena_printf(arena, "%s,%u", list, cpu);
	return arena_printf(arena, "%.*s%u-%u", (int)(last - list), list, from, cpu);
}

static struct package *package_of_id(struct host *host, int64_t id)
{
	list_each(package, &host->packages)
		if (num_is(package->id, id))
			return package;
	struct package *package = list_add(host->arena, &host->packages);
	if (package)
		package->id = num(id);
	return package;
}

static void add_to_package(struct origin *origin, struct host *host, unsigned int cpu)
{
	struct num id = sysfs_number(origin, CPUS "/cpu%u/topology/physical_package_id", cpu);
	/* -1: the architecture does not tell. */
	struct package *package = id.known && id.value >= 0 ? package_of_id(host, id.value) : NULL;
	if (!package)
		return;
	const char *siblings = siblings_of(origin, host->arena, cpu);
	if (!siblings)
		package->cpus = with_cpu(host->arena, package->cpus, cpu);
	else
		package->cpus = package->cpus ? arena_printf(host->arena, "%s,%s", package->cpus, siblings) : siblings;
}

static bool is_in_package(const struct host *host, unsigned int cpu)
{
	list_each(package, &host->packages) {
		autocall(cpuset_free) struct cpuset set = { 0 };
		if (package->cpus && !cpuset_parse(package->cpus, &set) && cpuset_has(&set, cpu))
			return true;
	}
	return false;
}

static void read_packages(struct origin *origin, struct host *host, const char *cpus)
{
	autocall(cpuset_free) struct cpuset set = { 0 };
	if (!cpus || cpuset_parse(cpus, &set))
		return;
	for (unsigned int cpu = 0; cpu < set.count * 64; cpu++)
		if (cpuset_has(&set, cpu) && !is_in_package(host, cpu))
			add_to_package(origin, host, cpu);
}

static struct num package_of_cpus(const struct package_list *packages, const char *cpus)
{
	autocall(cpuset_free) struct cpuset set = { 0 };
	if (!cpus || !*cpus || cpuset_parse(cpus, &set))
		return (struct num){ 0 };
	list_each(package, packages) {
		autocall(cpuset_free) struct cpuset all = { 0 };
		if (package->cpus && !cpuset_parse(package->cpus, &all) && cpuset_is_subset(&set, &all))
			return package->id;
	}
	return (struct num){ 0 };
}

struct num numa_package_of_cpus(const struct host *host, const char *cpus)
{
	return package_of_cpus(&host->packages, cpus);
}

/* ---- hwloc ---- */

bool numa_lacks_package(const struct host *host)
{
	list_each(node, &host->numa_nodes)
		if (!node->package.known && node->cpus && *node->cpus)
			return true;
	return false;
}

void numa_cross_check(struct origin *origin, struct host *host)
{
	struct package_list packages = { 0 };
	struct error error = { 0 };
	origin_about(origin, "host");
	int result = origin_packages(origin, host->arena, &packages, &error);
	if (result == -EOPNOTSUPP) /* a snapshot: what was recorded is all there is */
		return;
	/* As a second witness it may be missing. */
	if (result && (result != -ENOPKG || numa_lacks_package(host)))
		report_missing(&host->report, "package", "host", result, "%s", error.text);
	if (!host->packages.count)
		host->packages = packages;
	list_each(node, &host->numa_nodes) {
		node->hwloc_package = package_of_cpus(&packages, node->cpus);
		if (!node->package.known)
			node->package = node->hwloc_package;
	}
}

/* ---- nodes ---- */

static const char *node_subject(struct host *host, const struct numa_node *node)
{
	return arena_printf(host->arena, "node:%d", (int)node->id.value);
}

/* "10 20 20": the distance to each node that is online, in their order. */
static void read_distances(struct origin *origin, struct host *host)
{
	list_each(node, &host->numa_nodes) {
		const char *text = sysfs_text(origin, host->arena, NODES "/node%d/distance", (int)node->id.value);
		if (!text)
			sysfs_missing(host, "distances", node_subject(host, node), errno);
		for (uint32_t i = 0; text && i < host->numa_nodes.count; i++) {
			char *end;
			long distance = strtol(text, &end, 10);
			struct map_entry *entry = end != text ? list_add(host->arena, &node->distances) : NULL;
			if (!entry)
				break;
			entry->key = host->numa_nodes.items[i]->id.value;
			entry->value = num(distance);
			text = end;
		}
	}
}

static int read_node(struct origin *origin, struct host *host, int64_t id)
{
	struct numa_node *node = list_add(host->arena, &host->numa_nodes);
	char path[SYSFS_PATH_SIZE], meminfo[4096];
	if (!node)
		return -ENOMEM;
	node->id = num(id);
	node->cpus = sysfs_text(origin, host->arena, NODES "/node%d/cpulist", (int)id);
	if (!node->cpus)
		sysfs_missing(host, "cpus", node_subject(host, node), errno);
	snprintf(path, sizeof(path), NODES "/node%d/meminfo", (int)id);
	ssize_t length = origin_read(origin, path, meminfo, sizeof(meminfo));
	if (length > 0)
		node->memory_bytes = numa_memory_bytes(meminfo);
	else if (length < 0)
		sysfs_missing(host, "memory_bytes", node_subject(host, node), (int)-length);
	read_packages(origin, host, node->cpus);
	node->package = numa_package_of_cpus(host, node->cpus);
	if (!node->package.known && node->cpus && *node->cpus)
		report_missing(&host->report, "package", node_subject(host, node), 0,
		        "no one package holds all its CPUs (%s), or the kernel does not tell", node->cpus);
	return 0;
}

int numa_read(struct origin *origin, struct host *host)
{
	struct strings names;
	origin_about(origin, "host");
	int error = origin_list(origin, host->arena, NODES, &names);
	for (uint32_t i = 0; !error && i < names.count; i++) {
		struct num id =
		        strncmp(names.items[i], "node", 4) ? (struct num){ 0 } : parse_num(names.items[i] + 4, 10);
		if (id.known)
			error = read_node(origin, host, id.value);
	}
	if (error) {
		report_missing(&host->report, "numa_nodes", "host", error, NULL);
		read_packages(origin, host, sysfs_text(origin, host->arena, CPUS "/online"));
		return error;
	}
	read_distances(origin, host);
	return 0;
}
