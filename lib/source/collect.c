/* SPDX-License-Identifier: MIT */
#include "source/collect.h"
#include "base/cleanup.h"
#include "source/vendors.h"
#include "origin/worker.h"
#include "source/cuda.h"
#include "source/health.h"
#include "source/join.h"
#include "source/neighbours.h"
#include "source/net_sysfs.h"
#include "source/numa.h"
#include "source/pci.h"
#include "source/rdma_nl.h"
#include "source/rdma_sysfs.h"
#include "source/rdma_words.h"
#include "source/rtnl.h"
#include "source/sysfs.h"
#include "source/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
	if (!error && rdma_nl_is_partial(host))
		rdma_sysfs_uverbs(origin, host);
	if (error && !host->devices.count) {
		report_missing(&host->report, "rdma netlink", "host", error,
		        "no answer from NETLINK_RDMA (%s), devices are read from sysfs", strerror(-error));
		error = rdma_sysfs_list(origin, host);
		rdma_sysfs_uverbs(origin, host);
	}
	host->listed = !error || error == -ENOENT;
	host->no_class = !host->devices.count && rdma_sysfs_has_no_class(origin, host);
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

static void take_answer(const struct verbs_answer *answer, struct rdma_device *device)
{
	list_each(known, &answer->ports) {
		struct port *port = known->number.known ? device_port(device, known->number.value) : NULL;
		if (!port)
			continue;
		port->active_mtu = known->active_mtu;
		port->max_mtu = known->max_mtu;
		port->gid_table_length = known->gid_table_length;
	}
}

static void miss_verbs(struct host *host, const struct rdma_device *device, int error, const char *reason)
{
	char subject[PORT_LABEL_SIZE];
	list_each(port, &device->ports) {
		port_label(device->name, port->number, subject);
		if (!port->active_mtu.known)
			report_missing_as(&host->report, "active_mtu", subject, error, reason);
		if (!port->max_mtu.known)
			report_missing_as(&host->report, "max_mtu", subject, error, reason);
	}
}

/* uverbs numbers ports with a byte (ib_user_verbs.h, struct ib_uverbs_query_port). 0 or -ENOMEM. */
static int ask_for_ports(struct host *host, const struct rdma_device *device, struct verbs_question *question)
{
	uint8_t *ports = arena_alloc(host->arena, device->ports.count);
	if (!ports)
		return -ENOMEM;
	question->ports = ports;
	list_each(port, &device->ports)
		if (port->number.value >= 1 && port->number.value <= UINT8_MAX)
			ports[question->port_count++] = (uint8_t)port->number.value;
	return 0;
}

struct verbs_call *collect_verbs_calls(struct host *host, const struct device_list *devices, unsigned int want)
{
	struct verbs_call *calls = arena_alloc(host->arena, devices->count * sizeof(*calls));
	for (uint32_t i = 0; calls && i < devices->count; i++) {
		const struct rdma_device *device = devices->items[i];
		calls[i].device = device->name;
		calls[i].question.want = want;
		calls[i].answer.port_count = device->last_port;
		if (ask_for_ports(host, device, &calls[i].question))
			return NULL;
	}
	return calls;
}

struct verbs_round {
	struct host *host;
	struct device_list devices;
	const struct verbs_call *calls; /* of the devices, in their order */
};

static int take_call(void *data, struct verbs_call *call)
{
	const struct verbs_round *round = data;
	struct host *host = round->host;
	struct rdma_device *device = round->devices.items[call - round->calls];
	const char *why = call->result ? arena_strdup(host->arena, call->error.text) : "ibv_query_port did not tell it";
	if (call->result == -ENODEV)
		device->provider_missing = why;
	take_answer(&call->answer, device);
	miss_verbs(host, device, call->result, why);
	return 0;
}

static bool is_mlx5_pf(const struct rdma_device *device)
{
	const struct pci_function *pci = device->pci;
	return pci && pci->driver && !strcmp(pci->driver, "mlx5_core") && device->function.kind == FUNCTION_PF;
}

/* Only the driver knows whether it formed a LAG: a bond's name or its members say nothing about that. */
static void read_roce_lag(struct origin *origin, struct host *host, struct rdma_device *device)
{
	const struct pci_function *pci = device->pci;
	if (!is_mlx5_pf(device))
		return;
	origin_about(origin, device->name);
	const char *state = sysfs_text(origin, host->arena, "sys/kernel/debug/mlx5/%s/lag/state", pci->address);
	struct lag_facts *lag = state ? arena_new_object(host->arena, struct lag_facts) : NULL;
	if (!lag) {
		sysfs_missing(host, "roce_lag", device->name, errno);
		return;
	}
	lag->state = state;
	lag->type = sysfs_text(origin, host->arena, "sys/kernel/debug/mlx5/%s/lag/type", pci->address);
	lag->port_sel_mode =
	        sysfs_text(origin, host->arena, "sys/kernel/debug/mlx5/%s/lag/port_sel_mode", pci->address);
	device->roce_lag = lag;
}

/*
 * Multi-PF: functions of one board that mlx5 drives as one, so that the others have neither netdev nor RDMA device
 * ("ADDRESS vhca N"; drivers/net/ethernet/mellanox/mlx5/core/lib/sd.c, dev_read()).
 */
static void read_secondaries(struct origin *origin, struct host *host, struct rdma_device *device)
{
	enum { GROUP = 8 }; /* MLX5_SD_MAX_GROUP_SZ is 2 */
	const struct pci_function *pci = device->pci;
	if (!is_mlx5_pf(device))
		return;
	for (int i = 0; i < GROUP; i++) {
		char *text = sysfs_text(
		        origin, host->arena, "sys/kernel/debug/mlx5/%s/multi-pf/secondary_%d", pci->address, i);
		if (!text)
			return;
		text[strcspn(text, " ")] = '\0';
		strings_add(host->arena, &device->secondaries, text);
		struct pci_function *other = host_function(host, text);
		const char *node =
		        other ? sysfs_text(origin, host->arena, "sys/bus/pci/devices/%s/numa_node", text) : NULL;
		if (node && !other->numa_node.known && *node != '-')
			other->numa_node = parse_num(node, 10);
	}
}

struct collecting {
	struct host *host;
	const struct collect_options *options;
	struct host first; /* as it was before the first worker */
};

static void read_all_verbs(struct origin *origin, struct collecting *collecting)
{
	struct host *host = collecting->host;
	const struct collect_options *options = collecting->options;
	struct verbs_round round = { .host = host };
	struct device_list only = { 0 };
	if (options->device)
		collect_find_devices(host, options->device, &only);
	list_each(device, options->device ? &only : (struct device_list *)&host->devices) {
		if (!options->verbs)
			miss_verbs(host, device, 0, "the device was not opened (--no-verbs)");
		else if (device->uverbs.accessible == FLAG_NO)
			miss_verbs(host, device, 0, device->uverbs.reason);
		else
			(void)list_add_existing(host->arena, &round.devices, device); /* report_exhaustion() tells */
	}
	struct verbs_call *calls = collect_verbs_calls(host, &round.devices, options->verbs);
	round.calls = calls;
	if (calls)
		(void)origin_verbs(origin, host->arena, calls, round.devices.count, take_call, &round);
}

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
	read_ports_netdevs(origin, host);
	if (!collecting->options->device)
		pci_scan(origin, host);
	if (collecting->options->neighbours)
		neighbours_read(origin, host);
	join_host(host);
	list_each(device, &host->devices)
		read_roce_lag(origin, host, device);
	list_each(device, &host->devices)
		read_secondaries(origin, host, device);
	read_all_verbs(origin, collecting);
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

/* ---- what was lost, and why nothing was found ---- */

static void report_losses(struct host *host, const struct worker_result *result)
{
	static const char *const what[WATCH_KIND_COUNT] = { "files", "netlink", "verbs" };
	list_each(loss, &result->losses) {
		const char *kind = what[loss->watch.kind % WATCH_KIND_COUNT];
		if (loss->waited_ms)
			report_missing(&host->report, kind, loss->watch.subject, -ETIMEDOUT,
			        "did not answer within %u ms: %s%s", loss->waited_ms,
			        loss->watch.kind == WATCH_FILES ? "reading " : "", loss->watch.action);
		else
			report_missing(&host->report, kind, loss->watch.subject, 0,
			        "the collecting process died (signal %d) in: %s", loss->signal, loss->watch.action);
	}
	if (result->overall_ms)
		report_missing(&host->report, "everything after this", "host", -ETIMEDOUT,
		        "collecting ended at its deadline of %u ms", result->overall_ms);
	if (result->interrupted)
		report_missing(&host->report, "everything after this", "host", -EINTR, "interrupted");
}

static int not_known_whether(const struct worker_result *result, struct error *error)
{
	if (result->losses.count) {
		const struct worker_loss *last = result->losses.items[result->losses.count - 1];
		return error_say(error, -ETIMEDOUT, "whether there is an RDMA device is not known: \"%s\" %s",
		        last->watch.action,
		        last->waited_ms ? "was not answered in time" : "ended the collecting process");
	}
	return error_say(error, -ETIMEDOUT,
	        "whether there is an RDMA device is not known: looking for them took more than %u ms",
	        result->overall_ms);
}

static int no_device(const struct host *host, struct error *error)
{
	const struct pci_function *unbound = NULL, *bound = NULL;
	list_each(function, &host->pci_functions) {
		if (!vendor_has_rdma(function->vendor))
			continue;
		if (function->driver)
			bound = function;
		else
			unbound = function;
	}
	if (host->rdma_netns_mode == NETNS_EXCLUSIVE)
		return error_say(error, -ENODEV,
		        "no RDMA device in this network namespace (each is visible in one only: rdma netns mode "
		        "exclusive)");
	if (bound)
		return error_say(error, -ENODEV,
		        "no RDMA device: the adapter %s has the driver %s, but no RDMA driver made a device for it",
		        bound->address, bound->driver);
	if (unbound)
		return error_say(error, -ENODEV, "no RDMA device: the adapter %s %s", unbound->address,
		        vendor_id_is_recovery(unbound->vendor, unbound->device)
		                ? "is in flash recovery: its firmware does not run"
		                : "has no driver");
	if (host->no_class)
		return error_say(error, -ENODEV,
		        "no RDMA device: this kernel has no RDMA subsystem loaded (ib_core), and no adapter of a known "
		        "vendor");
	return error_say(error, -ENODEV,
	        "no RDMA device: no RDMA driver is loaded for an adapter, and none was made in software (rdma link "
	        "add)");
}

int collect_unknown_device(const struct host *host, const char *name, struct error *error)
{
	char known[200] = "";
	list_each(device, &host->devices) {
		size_t used = strlen(known);
		if (used + strlen(device->name) + 8 > sizeof(known)) {
			snprintf(known + used, sizeof(known) - used, ", …");
			break;
		}
		snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "", device->name);
	}
	if (host_netdev_called(host, name))
		return error_say(error, -ENODEV, "no RDMA device%s reaches the netdev %s; there are: %s",
		        host->rdma_netns_mode == NETNS_EXCLUSIVE ? " of this namespace (rdma netns mode exclusive)"
		                                                 : "",
		        name, known);
	return error_say(error, -ENODEV, "no RDMA device or netdev of one is called '%s'; there are: %s", name, known);
}

static const char *netdev_name(const struct host *host, const char *name)
{
	const struct netdev *netdev = host_netdev_called(host, name);
	return netdev ? netdev->name : name;
}

struct rdma_device *collect_find_device(const struct host *host, const char *name)
{
	struct rdma_device *device = host_device(host, name);
	if (device)
		return device;
	name = netdev_name(host, name);
	struct rdma_device *related = NULL;
	list_each(candidate, &host->devices)
		list_each(port, &candidate->ports)
			list_each(netdev, &port->netdevs) {
				if (strcmp(netdev->name, name))
					continue;
				if (netdev->relation == RELATION_PORT)
					return candidate;
				if (!related)
					related = candidate;
			}
	return related;
}

static bool reaches(const struct rdma_device *device, const char *name)
{
	list_each(port, &device->ports)
		list_each(netdev, &port->netdevs)
			if (!strcmp(netdev->name, name))
				return true;
	return false;
}

int collect_unknown_port(
        const struct rdma_device *device, const char *name, int64_t port, int code, struct error *error)
{
	uint32_t count = device ? device->ports.count : 0;
	if (!count)
		return error_say(error, code, "%s has no port %" PRId64, name, port);
	int64_t first = device->ports.items[0]->number.value, last = device->ports.items[count - 1]->number.value;
	char begin[32] = "";
	if (count > 1)
		snprintf(begin, sizeof(begin), "%" PRId64 " to ", first);
	return error_say(error, code, "%s has no port %" PRId64 ", only %s%" PRId64, name, port, begin, last);
}

int collect_find_devices(const struct host *host, const char *name, struct device_list *found)
{
	*found = (struct device_list){ 0 };
	struct rdma_device *named = host_device(host, name);
	if (named)
		return list_add_existing(host->arena, found, named);
	int result = 0;
	name = netdev_name(host, name);
	for (uint32_t i = 0; !result && i < host->devices.count; i++)
		if (reaches(host->devices.items[i], name))
			result = list_add_existing(host->arena, found, host->devices.items[i]);
	return result;
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
	report_losses(host, &result);
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
		return host->listed ? no_device(host, error) : not_known_whether(&result, error);
	if (options->device && !collect_find_device(host, options->device))
		return collect_unknown_device(host, options->device, error);
	return 0;
}
