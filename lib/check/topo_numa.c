/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "check/add.h"
#include "check/topo.h"

#include <stdio.h>
#include <string.h>

static bool intersects(const char *a, const char *b)
{
	autocall(cpuset_free) struct cpuset set_a = { 0 }, set_b = { 0 };
	/* What cannot be read is not used against anyone. */
	if (!a || !b || cpuset_parse(a, &set_a) || cpuset_parse(b, &set_b))
		return true;
	return cpuset_intersects(&set_a, &set_b);
}

/* Where the device reaches memory: its own function, or that of its only netdev. */
static const struct pci_function *place_of(const struct rdma_device *device)
{
	if (device->pci)
		return device->pci;
	list_each(port, &device->ports) {
		const struct netdev *netdev = port_netdev(port);
		if (netdev && netdev->pci)
			return netdev->pci;
	}
	return NULL;
}

static void check_unknown(const struct host *host, const struct rdma_device *device, struct report *report)
{
	if (host->numa_nodes.count < 2 || !device->pci || !device->pci->without_node)
		return;
	struct finding *finding = check_add(report, "numa-node-unknown", device->name,
	        "the firmware names no NUMA node for %s; its local CPUs are %s", device->pci->address,
	        device->pci->local_cpus ? device->pci->local_cpus : "unknown too");
	report_evidence(report, finding, "sysfs", "numa_node", "-1");
}

enum { NODES_TEXT_SIZE = 160 };

/* Adds "4" or "4-7"; once something does not fit, nothing more is added than that. */
static void append_range(char text[static NODES_TEXT_SIZE], int first, int last)
{
	char range[32];
	size_t used = strlen(text);
	snprintf(range, sizeof(range), last > first ? "%s%d-%d" : "%s%d", used ? "," : "", first, last);
	if (used + strlen(range) + sizeof(",…") <= NODES_TEXT_SIZE)
		memcpy(text + used, range, strlen(range) + 1);
	else if (!used || text[used - 1] >= '0')
		memcpy(text + used, ",…", sizeof(",…"));
}

/* "0-3,8" for the nodes whose CPUs the process may use. */
static void nodes_of_cpus(const struct host *host, const char *cpus, char text[static NODES_TEXT_SIZE])
{
	int first = -1, last = -1;
	text[0] = '\0';
	list_each(node, &host->numa_nodes) {
		int id = (int)node->id.value;
		if (!node->cpus || !*node->cpus || !intersects(node->cpus, cpus))
			continue;
		if (first >= 0 && id != last + 1) {
			append_range(text, first, last);
			first = -1;
		}
		first = first < 0 ? id : first;
		last = id;
	}
	if (first >= 0)
		append_range(text, first, last);
}

/* Nodes of one package are nearer to each other than to those of another one. */
static const char *package_text(const struct host *host, const char *cpus, struct num package)
{
	bool known = package.known, any = false;
	list_each(node, &host->numa_nodes) {
		if (!node->cpus || !*node->cpus || !intersects(node->cpus, cpus))
			continue;
		if (known && num_is(node->package, package.value))
			return " of the same package";
		known &= node->package.known;
		any = true;
	}
	return known && any ? " of another package" : "";
}

static bool has_cpus(const struct numa_node *node)
{
	return node && node->cpus && *node->cpus;
}

static bool has_memory(const struct numa_node *node)
{
	return node && node->memory_bytes.value > 0;
}

/* The nodes with CPUs, or with memory, that are the nearest to one that has none. */
struct nearest_nodes {
	char text[NODES_TEXT_SIZE]; /* "": the distances are not known */
	int64_t first;              /* the first node of them; 0 where there is none */
	int64_t distance;
	uint32_t count, farther;
};

static struct nearest_nodes nearest_with(
        const struct host *host, const struct numa_node *node, bool (*has)(const struct numa_node *node))
{
	struct nearest_nodes nearest = { .text = "" };
	list_each(entry, &node->distances) {
		int64_t distance = entry->value.value;
		if (!has(host_node(host, entry->key)))
			continue;
		if (nearest.count && distance > nearest.distance) {
			nearest.farther++;
			continue;
		}
		if (distance < nearest.distance)
			nearest = (struct nearest_nodes){ .farther = nearest.farther + nearest.count };
		if (!nearest.count++)
			nearest.first = entry->key;
		nearest.distance = distance;
		append_range(nearest.text, (int)entry->key, (int)entry->key);
	}
	return nearest;
}

/* NULL: it is not known. */
static const struct numa_node *node_of(const struct host *host, const struct rdma_device *device)
{
	const struct pci_function *place = place_of(device);
	return place && place->numa_node.known ? host_node(host, place->numa_node.value) : NULL;
}

/* Memory of a GPU or of CXL may be a node, and an adapter be nearest to it; its threads have to run elsewhere. */
static void check_without_cpus(const struct host *host, const struct rdma_device *device, struct report *report)
{
	const struct numa_node *node = node_of(host, device);
	if (!node || !node->cpus || *node->cpus)
		return;
	struct nearest_nodes nearest = nearest_with(host, node, has_cpus);
	if (!*nearest.text)
		return;
	bool tells = nearest.farther || nearest.count == 1;
	struct finding *finding = check_add(report, "numa-node-without-cpus", device->name,
	        tells ? "%s is on node %d, which has no CPUs; the nearest with CPUs: node%s %s (distance %d)"
	              : "%s is on node %d, which has no CPUs and is equally far from node%s %s (distance %d)",
	        device->name, (int)node->id.value, plural_list(nearest.text), nearest.text, (int)nearest.distance);
	report_evidence(report, finding, "sysfs", "distance", "%d", (int)nearest.distance);
	if (tells)
		report_advice(finding, "Place the threads that use it there.");
}

/* DIMMs that are missing, or not recognized: what the adapter moves lies at another node, whatever program it is. */
static void check_without_memory(const struct host *host, const struct rdma_device *device, struct report *report)
{
	const struct numa_node *node = node_of(host, device);
	if (!has_cpus(node) || !num_is(node->memory_bytes, 0))
		return;
	struct nearest_nodes nearest = nearest_with(host, node, has_memory);
	if (!nearest.count || host_nodes_are_near(host, node->id.value, nearest.first))
		return;
	struct finding *finding = check_add(report, "numa-node-without-memory", device->name,
	        "%s is on node %d, which has no memory; the nearest with memory: node%s %s (distance %d)", device->name,
	        (int)node->id.value, plural_list(nearest.text), nearest.text, (int)nearest.distance);
	report_evidence(report, finding, "sysfs", "MemTotal", "0");
	report_advice(finding, "Look whether the memory modules of that node are there and recognized; else move the "
	                       "adapter to a slot of a node with memory.");
}

/* May the process run on a node whose memory is as near to the device's as its own? */
static bool runs_near(const struct host *host, const char *cpus, int64_t id)
{
	list_each(node, &host->numa_nodes)
		if (node->cpus && *node->cpus && host_nodes_are_near(host, node->id.value, id) &&
		        intersects(node->cpus, cpus))
			return true;
	return false;
}

static bool takes_memory_near(const struct host *host, const char *nodes, int64_t id)
{
	char text[16];
	list_each(node, &host->numa_nodes) {
		snprintf(text, sizeof(text), "%d", (int)node->id.value);
		if (host_nodes_are_near(host, node->id.value, id) && intersects(text, nodes))
			return true;
	}
	return false;
}

static void check_process(const struct host *host, const struct rdma_device *device, struct report *report)
{
	const struct pci_function *place = place_of(device);
	const struct process_facts *process = &host->process;
	char nodes[NODES_TEXT_SIZE];
	if (!place || !place->numa_node.known || host->numa_nodes.count < 2)
		return;
	int node = (int)place->numa_node.value;
	if (place->local_cpus && *place->local_cpus && process->cpus && !intersects(place->local_cpus, process->cpus) &&
	        !runs_near(host, process->cpus, node)) {
		nodes_of_cpus(host, process->cpus, nodes);
		struct finding *finding = *nodes ? check_add(report, "process-on-another-node", device->name,
		                                           "this process may run on node%s %s only, %s is on node %d%s",
		                                           plural_list(nodes), nodes, device->name, node,
		                                           package_text(host, process->cpus, place->package))
		                                 : check_add(report, "process-on-another-node", device->name,
		                                           "this process may run on CPUs %s only, which are of no node "
		                                           "that is known; %s is on node %d",
		                                           process->cpus, device->name, node);
		report_evidence(report, finding, "sched_getaffinity(2)", "cpus", "%s", process->cpus);
		report_evidence(report, finding, "sysfs", "local_cpulist", "%s", place->local_cpus);
	}
	/* The others, default and local, take no list of nodes. */
	bool bound = process->memory_policy && strcmp(process->memory_policy, "default") != 0 &&
	             strcmp(process->memory_policy, "local") != 0;
	char own[16];
	snprintf(own, sizeof(own), "%d", node);
	if (bound && process->memory_nodes && *process->memory_nodes && !intersects(own, process->memory_nodes) &&
	        !takes_memory_near(host, process->memory_nodes, node)) {
		struct finding *finding = check_add(report, "memory-policy-elsewhere", device->name,
		        "memory of this process comes from node%s %s (%s), %s is on node %d",
		        plural_list(process->memory_nodes), process->memory_nodes, process->memory_policy, device->name,
		        node);
		report_evidence(report, finding, "get_mempolicy(2)", "nodes", "%s", process->memory_nodes);
	}
}

static uint32_t packages_of_node(const struct host *host, const struct numa_node *node)
{
	uint32_t count = 0;
	list_each(package, &host->packages)
		count += node->cpus && *node->cpus && package->cpus && intersects(node->cpus, package->cpus);
	return count;
}

/* One node over two packages is a setting (NPS0); two nodes that both lie over the same two packages are a mistake. */
static void check_map(const struct host *host, struct report *report)
{
	uint32_t crossing = 0;
	const struct numa_node *first = NULL;
	list_each(node, &host->numa_nodes)
		if (packages_of_node(host, node) > 1) {
			crossing++;
			first = first ? first : node;
		}
	if (crossing < 2)
		return;
	struct finding *finding = check_add(report, "numa-nodes-cross-packages", "host",
	        "%u NUMA nodes have CPUs of several packages: the topology (of a virtual machine?) is inconsistent",
	        crossing);
	report_evidence(report, finding, "sysfs", "cpulist", "node %d: %s", (int)first->id.value, first->cpus);
	list_each(package, &host->packages)
		report_evidence(report, finding, "sysfs", "package_cpus_list", "package %d: %s", (int)package->id.value,
		        package->cpus);
}

/* Two readers of the same facts: one of them is wrong, and places by package with it. */
static void check_hwloc(const struct host *host, struct report *report)
{
	char subject[32];
	list_each(node, &host->numa_nodes) {
		if (!node->package.known || !node->hwloc_package.known ||
		        node->package.value == node->hwloc_package.value)
			continue;
		snprintf(subject, sizeof(subject), "node:%d", (int)node->id.value);
		struct finding *finding = check_add(report, "package-sources-disagree", subject,
		        "sysfs says that its CPUs are in package %d, hwloc says %d", (int)node->package.value,
		        (int)node->hwloc_package.value);
		report_evidence(report, finding, "hwloc", "package", "%d", (int)node->hwloc_package.value);
		report_evidence(report, finding, "sysfs", "physical_package_id", "%d", (int)node->package.value);
	}
}

static void check_memlock(const struct host *host, struct report *report)
{
	enum { ENOUGH = 64 << 20 };
	const struct process_facts *process = &host->process;
	if (!process->memlock_soft_bytes.known || process->memlock_soft_bytes.value < 0 ||
	        process->memlock_soft_bytes.value >= ENOUGH || process->cap_ipc_lock != FLAG_NO)
		return;
	struct finding *finding = check_add(report, "memlock-limit-low", "host",
	        "this process may lock %lld KiB of memory and lacks CAP_IPC_LOCK: registering more fails",
	        (long long)process->memlock_soft_bytes.value / 1024);
	report_evidence(report, finding, "getrlimit(2)", "RLIMIT_MEMLOCK", "%lld",
	        (long long)process->memlock_soft_bytes.value);
	report_advice(finding,
	        "Raise memlock in limits.conf or LimitMEMLOCK= of the service, for a container --ulimit memlock.");
}

void check_numa(const struct host *host, struct report *report)
{
	list_each(device, &host->devices) {
		check_unknown(host, device, report);
		check_without_cpus(host, device, report);
		check_without_memory(host, device, report);
		check_process(host, device, report);
	}
	check_map(host, report);
	check_hwloc(host, report);
	check_memlock(host, report);
}
