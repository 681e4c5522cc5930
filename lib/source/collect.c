/* SPDX-License-Identifier: MIT */
#include "source/collect.h"

#include "base/cleanup.h"
#include "source/collect_parts.h"
#include "source/cuda.h"
#include "source/health.h"
#include "source/join.h"
#include "source/mlx5_debugfs.h"
#include "source/neighbours.h"
#include "source/net_sysfs.h"
#include "source/numa.h"
#include "source/pci.h"
#include "source/rdma_nl.h"
#include "source/rdma_sysfs.h"
#include "source/rdma_words.h"
#include "source/rtnl.h"

#include <errno.h>
#include <string.h>

/* Address space, not memory: a thousand functions take some MiB. */
static const size_t host_arena_size = (size_t)256 << 20;

struct host *host_new(void)
{
	struct arena *arena = arena_new(host_arena_size);
	struct host *host = arena ? arena_new_object(arena, struct host) : NULL;
	if (host) {
		host->arena = arena;
		host->report.arena = arena;
	} else {
		arena_free(arena);
	}
	return host;
}

void host_free(struct host *host)
{
	if (host)
		arena_free(host->arena);
}

/* ---- sources ---- */

static int read_devices(struct origin *origin, struct host *host, bool chardevs)
{
	int error = rdma_nl_read(origin, host, chardevs);
	bool answered = !error; /* the subsystem is loaded */
	if (!error && rdma_nl_is_partial(host))
		rdma_sysfs_uverbs(origin, host);
	if (error && !host->devices.count) {
		report_missing(&host->report, "rdma netlink", "host", error,
		        "no answer from NETLINK_RDMA (%s), devices are read from sysfs", strerror(-error));
		error = rdma_sysfs_list(origin, host);
		rdma_sysfs_uverbs(origin, host);
	}
	host->no_sysfs = error == -ENOENT && rdma_sysfs_is_hidden(origin, host);
	host->listed = !error || (error == -ENOENT && !host->no_sysfs);
	host->no_class = !answered && !host->devices.count && rdma_sysfs_has_no_class(origin, host);
	return error == -ENOENT ? 0 : error;
}

static void read_links(struct origin *origin, struct host *host)
{
	host->link_source = SOURCE_NETLINK;
	int error = rtnl_read_links(origin, host);
	if (error && !arena_exhausted(host->arena)) {
		host->netdevs.count = 0;
		host->netdev_names = host->netdev_numbers = (struct index){ 0 };
		host->link_source = SOURCE_SYSFS;
		if (error == -ENOMEM)
			report_missing(&host->report, "links", "host", error,
			        "RTM_GETLINK: %s, netdevs are read from sysfs", strerror(-error));
		int failed = net_sysfs_list(origin, host);
		if (failed)
			report_missing(&host->report, "netdevs", "host", failed, NULL);
	}
	error = rtnl_read_addresses(origin, host);
	host->addresses_unread = error != 0;
	if (error)
		report_missing(&host->report, "addresses", "host", error, "RTM_GETADDR: %s", strerror(-error));
}

static bool has_ipoib(const struct host *host)
{
	list_each(netdev, &host->netdevs)
		if (netdev->kind == LINK_IPOIB)
			return true;
	return false;
}

static void locate(struct origin *origin, struct host *host, struct netdev *netdev)
{
	net_sysfs_locate(origin, host, netdev);
	if (netdev->sysfs_path && !netdev->pci)
		netdev->pci = pci_function_of_path(origin, host, netdev->sysfs_path);
	netdev->pci_address = netdev->pci ? netdev->pci->address : NULL;
}

/* Must netdevs be matched by their place, because neither netlink nor sysfs names that of a port? */
static bool needs_places(const struct host *host)
{
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			if (!port->netdev_ifindex.known && !port->netdev_name && device->parent_path)
				return true;
	return false;
}

static void read_places(struct origin *origin, struct host *host)
{
	list_each(netdev, &host->netdevs) {
		locate(origin, host, netdev);
		if (netdev->pci)
			net_sysfs_dev_port(origin, netdev);
	}
}

static void complete_related(struct origin *origin, struct host *host, struct netdev *netdev)
{
	struct netdev_list above, below;
	join_related(host, netdev, &above, &below); /* too many: told when they are joined */
	for (uint32_t i = 0; i < above.count + below.count; i++) {
		struct netdev *related = i < above.count ? above.items[i] : below.items[i - above.count];
		if (related->completed)
			continue;
		related->completed = true;
		locate(origin, host, related);
		net_sysfs_complete(origin, host, related);
		if (related->bond_facts && related->bond_facts->mode && !strcmp(related->bond_facts->mode, "802.3ad"))
			net_bonding_complete(origin, host, related);
	}
}

static void read_ports_netdevs(struct origin *origin, struct host *host)
{
	list_each(netdev, &host->netdevs)
		if (netdev->kind == LINK_OTHER && netdev->kind_name && !netdev->lower_ifindex.known &&
		        !netdev->lower_names.count)
			net_sysfs_lowers(origin, host, netdev);
	join_stacks(host);
	host->related = 0;
	if (needs_places(host))
		read_places(origin, host);
	list_each(device, &host->devices)
		list_each(port, &device->ports) {
			struct netdev *netdev = join_port_netdev(host, device, port);
			if (netdev)
				complete_related(origin, host, netdev);
		}
}

struct collecting {
	struct host *host;
	const struct collect_options *options;
	struct host first; /* as it was before the first worker */
};

/* Does netlink tell all that a brief look wants to know of the device? Fills what follows from that. */
static bool is_described(struct rdma_device *device)
{
	if (!device->from_netlink || !device->ports.count)
		return false;
	list_each(port, &device->ports) {
		port->transport = (int)rdma_transport(device->node_type, (enum link_layer)port->link_layer);
		if (!port->transport || !port->netdev_ifindex.known)
			return false;
	}
	return true;
}

static int run_briefly(struct origin *origin, struct collecting *collecting, struct error *error)
{
	struct host *host = collecting->host;
	if (collecting->options->expect_verbs)
		origin_expect_verbs(origin);
	int result = read_devices(origin, host, collecting->options->uverbs);
	if (result)
		return error_set(error, result, "listing RDMA devices");
	read_links(origin, host);
	bool guids = has_ipoib(host);
	list_each(device, &host->devices)
		if (!is_described(device))
			rdma_sysfs_complete(origin, host, device, guids);
	if (collecting->options->uverbs)
		list_each(device, &host->devices)
			rdma_sysfs_access(origin, host, device);
	if (collecting->options->uverbs && host->devices.count)
		rdma_sysfs_cm_access(origin, host);
	if (needs_places(host)) {
		list_each(device, &host->devices)
			device->pci = pci_function_of_path(origin, host, device->parent_path);
		read_places(origin, host);
	}
	join_host(host);
	if (!host->devices.count) /* why there is none */
		pci_scan(origin, host);
	host->complete = true;
	return collecting->options->more ? collecting->options->more(origin, host, collecting->options->data) : 0;
}

/* A snapshot that has none was not made with one; what cannot be read in it is damaged. */
static void read_facts(struct origin *origin, struct host *host)
{
	struct error error = { 0 };
	int result = origin_host(origin, host->arena, &host->facts, &error);
	if (result && result != -ENOENT)
		report_missing(&host->report, "host", "host", result, "%s", error.text);
}

/* Each by itself where some of them are known. */
static void report_process(struct host *host, int code, const char *reason)
{
	const struct process_facts *process = &host->process;
	const struct {
		const char *what;
		bool known;
	} facts[] = {
		{ "process.cpus", process->cpus },
		{ "process.memory_policy", process->memory_policy && process->memory_nodes },
		{ "process.memlock", process->memlock_soft_bytes.known },
		{ "process.capabilities", process->cap_ipc_lock != FLAG_UNKNOWN },
	};
	size_t known = 0;
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		known += facts[i].known;
	if (!known)
		report_missing(&host->report, "process", "host", code, "%s", reason);
	for (size_t i = 0; i < ARRAY_SIZE(facts) && known; i++)
		if (!facts[i].known)
			report_missing(&host->report, facts[i].what, "host", code, "%s", reason);
}

static void read_process(struct origin *origin, struct host *host)
{
	struct error error = { 0 };
	int result = origin_process(origin, host->arena, &host->process, &error);
	if (result)
		report_process(host, result,
		        result == -ENOENT ? "the snapshot does not hold the process that made it" : error.text);
}

static int run(struct origin *origin, void *data, struct error *error)
{
	struct collecting *collecting = data;
	struct host *host = collecting->host;
	origin_about(origin, "host");
	read_facts(origin, host);
	if (collecting->options->brief)
		return run_briefly(origin, collecting, error);
	read_process(origin, host);
	if (collecting->options->verbs)
		origin_expect_verbs(origin);
	numa_read(origin, host);
	if (collecting->options->cross_check || numa_lacks_package(host))
		numa_cross_check(origin, host);
	int result = read_devices(origin, host, true);
	if (result)
		return error_set(error, result, "listing RDMA devices");
	read_links(origin, host);
	rdma_sysfs_find_virtual(origin, host);
	bool guids = has_ipoib(host);
	list_each(device, &host->devices) {
		rdma_sysfs_complete(origin, host, device, guids);
		rdma_sysfs_access(origin, host, device);
		device->pci = pci_function_of_path(origin, host, device->parent_path);
	}
	if (host->devices.count)
		rdma_sysfs_cm_access(origin, host);
	read_ports_netdevs(origin, host);
	if (!collecting->options->device)
		pci_scan(origin, host);
	if (collecting->options->neighbours)
		neighbours_read(origin, host);
	join_host(host);
	mlx5_debugfs_read(origin, host);
	collect_ask_devices(origin, host, collecting->options);
	if (collecting->options->health)
		health_read(origin, host);
	host->complete = true;
	result = collecting->options->more ? collecting->options->more(origin, host, collecting->options->data) : 0;
	/* Last: it takes its seconds, and may take all that are left. */
	if (collecting->options->cuda && !result)
		cuda_read(origin, host);
	return result;
}

static void reset(void *data)
{
	struct collecting *collecting = data;
	*collecting->host = collecting->first;
}

int collect_host(struct origin *origin, struct host *host, const struct collect_options *options, struct error *error)
{
	struct error own = { 0 };
	if (!error)
		error = &own;
	struct collecting *collecting = arena_new_object(host->arena, struct collecting);
	if (!collecting)
		return error_set(error, -ENOMEM, "this host");
	host->origin = origin_name(origin);
	*collecting = (struct collecting){ .host = host, .options = options, .first = *host };
	struct worker_job job = {
		.origin = origin,
		.arena = host->arena,
		.data = collecting,
		.reset = reset,
		.run = run,
		.overall_ms = options->overall_ms,
	};
	struct worker_result result;
	int ended = worker_run(&job, &result, error);
	int damage = origin_damage(origin, error);
	if (damage)
		return damage;
	collect_report_losses(host, &result);
	if (!host->joined)
		join_host(host);
	report_exhaustion(&host->report);
	if (ended == -ETIMEDOUT)
		ended = 0; /* what is missing is in the report */
	if (ended == -ENOMEM && arena_exhausted(host->arena))
		error_say(error, ended, "there is more to collect than fits into the %zu MiB that one host may take",
		        arena_size(host->arena) >> 20);
	else if (ended && !error->code)
		error_set(error, ended, "collecting");
	if (ended)
		return ended;
	if (!host->devices.count)
		return collect_nothing_found(host, &result, error);
	if (options->device && !collect_find_device(host, options->device))
		return collect_unknown_device(host, options->device, error);
	return 0;
}
