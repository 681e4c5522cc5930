/* SPDX-License-Identifier: MIT */
#include "probe/endpoint.h"

#include "base/cleanup.h"
#include "base/room.h"
#include "model/host.h"
#include "probe/filters.h"
#include "probe/gid_choice.h"
#include "probe/words.h"
#include "source/rdma_words.h"
#include "source/verbs_live.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#define FAIL(...) error_set(error, __VA_ARGS__)

/* ---- opening ---- */

static struct ibv_device *find_device(struct ibv_device **list, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return list[i];
	return NULL;
}

/*
 * Why the node cannot be opened. libibverbs looks for another node of the same number after one that it may not open,
 * and the errno that it leaves is that of the last attempt. 0: it can be.
 */
static int node_error(const char *node)
{
	int fd = open(node, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int open_context(struct endpoint *endpoint, struct ibv_device *device, struct error *error)
{
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "ibv_open_device");
	char node[sizeof(device->dev_name) + sizeof("/dev/infiniband/")];
	snprintf(node, sizeof(node), "/dev/infiniband/%s", device->dev_name);
	resource_detail(endpoint->run, step, "%s", endpoint->facts->device);
	errno = 0;
	endpoint->context = ibv_open_device(device);
	int result = endpoint->context ? 0 : -(errno ? errno : EIO);
	int refused = result ? node_error(node) : 0;
	if (refused) {
		result = refused;
		resource_detail(endpoint->run, step, "%s, node %s", endpoint->facts->device, node);
	}
	resource_end(endpoint->run, step, result);
	if (refused)
		return FAIL(result, "%s: ibv_open_device: %s", endpoint->facts->device, node);
	if (result)
		return FAIL(result, "%s: ibv_open_device", endpoint->facts->device);
	/* Events are collected without ever waiting for them. */
	int flags = fcntl(endpoint->context->async_fd, F_GETFL);
	fcntl(endpoint->context->async_fd, F_SETFL, flags | O_NONBLOCK);
	return 0;
}

/* The kernel has the device: a list without it is one that failed. */
static int not_offered(struct endpoint *endpoint, struct resource_step *step, struct error *error)
{
	int room = process_room();
	int result = room ? error_set(error, room, "%s: libibverbs does not offer the device, and has no room to look",
	                            endpoint->facts->device)
	                  : error_say(error, -ENODEV,
	                            "%s: libibverbs does not offer the device: no uverbs device for it, or no "
	                            "provider library for its driver",
	                            endpoint->facts->device);
	if (error)
		resource_detail(endpoint->run, step, "%s", error->text);
	return result;
}

static int open_device(struct endpoint *endpoint, struct error *error)
{
	struct probe_run *run = endpoint->run;
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_get_device_list");
	int count = 0;
	errno = 0;
	struct ibv_device **list = ibv_get_device_list(&count);
	int code = errno ? -errno : -ENOSYS;
	int room = list ? 0 : process_room(); /* ENOSYS is also what a file in sysfs gives that was not opened */
	if (!list)
		return FAIL(resource_end(run, step, room ? room : code), "ibv_get_device_list");
	struct ibv_device *device = find_device(list, count, endpoint->facts->device);
	int result = device ? 0 : not_offered(endpoint, step, error);
	resource_end(run, step, result);
	if (device)
		result = open_context(endpoint, device, error);
	ibv_free_device_list(list);
	return result;
}

/* ---- facts of device and port ---- */

static void describe_limits(struct endpoint *endpoint)
{
	struct rlimit limit;
	struct process_facts process = { 0 };
	if (!origin_process(endpoint->origin, endpoint->run->arena, &process, NULL))
		endpoint->facts->may_lock_memory = process.cap_ipc_lock;
	if (!getrlimit(RLIMIT_MEMLOCK, &limit)) {
		endpoint->facts->memlock_soft_bytes =
		        num(limit.rlim_cur == RLIM_INFINITY ? -1 : (int64_t)limit.rlim_cur);
		endpoint->facts->memlock_hard_bytes =
		        num(limit.rlim_max == RLIM_INFINITY ? -1 : (int64_t)limit.rlim_max);
	}
	endpoint->facts->pid = num(getpid());
	endpoint->facts->alive = FLAG_YES;
}

static int describe_device(struct endpoint *endpoint, struct error *error)
{
	struct ibv_device_attr *attr = &endpoint->device_attr;
	struct probe_run *run = endpoint->run;
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_query_device");
	int result = resource_end(run, step, -ibv_query_device(endpoint->context, attr));
	if (result)
		return FAIL(result, "%s: ibv_query_device", endpoint->facts->device);
	endpoint->facts->vendor_id = num(attr->vendor_id);
	endpoint->facts->vendor_part_id = num(attr->vendor_part_id);
	struct ibv_device_attr_ex extended = { 0 };
	if (!ibv_query_device_ex(endpoint->context, NULL, &extended)) {
		const struct ibv_odp_caps *caps = &extended.odp_caps;
		uint32_t needed = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE;
		endpoint->facts->odp = flag(caps->general_caps & IBV_ODP_SUPPORT &&
		                            (caps->per_transport_caps.rc_odp_caps & needed) == needed);
	}
	return 0;
}

static const char *transport_of(const struct endpoint *endpoint)
{
	if (endpoint->context->device->transport_type == IBV_TRANSPORT_IWARP)
		return transport_names[TRANSPORT_IWARP];
	if (endpoint->context->device->transport_type != IBV_TRANSPORT_IB)
		return transport_names[TRANSPORT_UNSPECIFIED];
	bool ethernet = endpoint->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	return transport_names[ethernet ? TRANSPORT_ROCE : TRANSPORT_INFINIBAND];
}

static void describe_port(struct endpoint *endpoint)
{
	struct endpoint_facts *facts = endpoint->facts;
	const struct ibv_port_attr *attr = &endpoint->port_attr;
	facts->port = num(endpoint->port);
	facts->link_layer = link_layer_word(attr->link_layer);
	facts->transport = transport_of(endpoint);
	facts->active_mtu = mtu_bytes((int)attr->active_mtu);
	facts->port_state = rdma_port_state(num(attr->state));
	facts->port_physical_state = rdma_physical_state(num(attr->phys_state));
	/* Drivers that do not say leave it 0, as mana_ib's did for years. */
	if (attr->max_msg_sz)
		facts->max_message_bytes = num(attr->max_msg_sz);
	if (attr->link_layer == IBV_LINK_LAYER_INFINIBAND)
		facts->lid = num(attr->lid);
}

static int query_port(struct endpoint *endpoint, uint8_t port, struct error *error)
{
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "ibv_query_port");
	resource_detail(endpoint->run, step, "port %d", port);
	int result = resource_end(endpoint->run, step, -ibv_query_port(endpoint->context, port, &endpoint->port_attr));
	return result ? FAIL(result, "%s/%d: ibv_query_port", endpoint->facts->device, port) : 0;
}

/* The port asked for, else the first that is active, else the first. */
static int choose_port(struct endpoint *endpoint, struct num wanted, int ports, struct error *error)
{
	if (wanted.known && wanted.value > ports) {
		struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "ibv_query_port");
		resource_detail(endpoint->run, step, "port %d", (int)wanted.value);
		resource_end(endpoint->run, step, -EINVAL);
		return error_say(error, -EINVAL, "%s has no port %d, only 1 to %d", endpoint->facts->device,
		        (int)wanted.value, ports);
	}
	int first = wanted.known ? (int)wanted.value : 1, last = wanted.known ? first : ports;
	for (int port = first; port <= last; port++) {
		int result = query_port(endpoint, (uint8_t)port, error);
		if (result)
			return result;
		endpoint->port = (uint8_t)port;
		if (endpoint->port_attr.state == IBV_PORT_ACTIVE)
			break;
		if (port == last && port != first) {
			endpoint->port = (uint8_t)first;
			result = query_port(endpoint, (uint8_t)first, error);
			if (result)
				return result;
		}
	}
	describe_port(endpoint);
	return 0;
}

/* ---- GID ---- */

static void take_gid(struct endpoint *endpoint, const struct ibv_gid_entry *entry)
{
	char text[GID_TEXT_SIZE];
	endpoint->gid = entry->gid;
	endpoint->gid_index = (int)entry->gid_index;
	endpoint->has_gid = true;
	format_gid(entry->gid.raw, text);
	endpoint->facts->gid = arena_strdup(endpoint->run->arena, text);
	endpoint->facts->gid_type = gid_type_word(entry->gid_type, endpoint->port_attr.link_layer);
}

static int type_code(const char *name)
{
	if (!name)
		return -1;
	if (!strcmp(name, gid_type_word(IBV_GID_TYPE_ROCE_V2, IBV_LINK_LAYER_ETHERNET)))
		return IBV_GID_TYPE_ROCE_V2;
	if (!strcmp(name, gid_type_word(IBV_GID_TYPE_ROCE_V1, IBV_LINK_LAYER_ETHERNET)))
		return IBV_GID_TYPE_ROCE_V1;
	return -1;
}

static const struct ibv_gid_entry *entry_at(
        const struct ibv_gid_entry *entries, size_t count, uint8_t port, int64_t index)
{
	for (size_t i = 0; i < count; i++)
		if (entries[i].port_num == port && entries[i].gid_index == index)
			return &entries[i];
	return NULL;
}

/*
 * The advised entry, unless the connection's own address or the other end's type speaks for another one that is no
 * worse by itself.
 */
static const struct ibv_gid_entry *best_entry(const struct endpoint *endpoint, const struct endpoint_wish *wish,
        const struct ibv_gid_entry *entries, size_t count)
{
	int type = type_code(wish->gid_type);
	struct num index = survey_gid_index(endpoint->run->survey, endpoint->facts->device, endpoint->port);
	const struct ibv_gid_entry *advised =
	        index.known ? entry_at(entries, count, endpoint->port, index.value) : NULL;
	const struct ibv_gid_entry *best = gid_choose(entries, count, endpoint->port, wish->address, type);
	bool by_address = best && wish->address && !memcmp(best->gid.raw, wish->address, sizeof(best->gid.raw));
	bool same = advised && best && !memcmp(best->gid.raw, advised->gid.raw, sizeof(best->gid.raw));
	bool fits = advised && (type < 0 || advised->gid_type == (uint32_t)type);
	return fits && (same || !by_address) ? advised : best;
}

static bool is_beyond_table(const struct endpoint *endpoint, struct num index)
{
	return index.known && endpoint->port_attr.gid_tbl_len > 0 && index.value >= endpoint->port_attr.gid_tbl_len;
}

/* Unknown: there is none. */
static struct num empty_slot(const struct endpoint *endpoint, const struct ibv_gid_entry *entries, size_t count)
{
	for (int index = 0; index < endpoint->port_attr.gid_tbl_len && index <= UINT8_MAX; index++)
		if (!entry_at(entries, count, endpoint->port, index))
			return num(index);
	return (struct num){ 0 };
}

/*
 * An index that the operator asked for is used even when its slot is empty: what the kernel answers to it is the
 * evidence.
 */
static int choose_gid(struct endpoint *endpoint, const struct endpoint_wish *wish, struct error *error)
{
	struct probe_run *run = endpoint->run;
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_query_gid_table");
	autofree struct ibv_gid_entry *entries = NULL;
	size_t count = 0;
	int result = gid_table_read(endpoint->context, endpoint->port, &endpoint->port_attr, &entries, &count);
	resource_detail(run, step, "%zu entr%s", count, count == 1 ? "y" : "ies");
	bool beyond = !result && is_beyond_table(endpoint, wish->gid_index);
	resource_end(run, step, beyond ? -EINVAL : result);
	if (beyond) {
		int last = endpoint->port_attr.gid_tbl_len - 1;
		resource_limit(step, "last index of the GID table", wish->gid_index.value, last);
		return error_say(error, -EINVAL, "%s/%d has no GID index %d: its table ends at %d",
		        endpoint->facts->device, endpoint->port, (int)wish->gid_index.value, last);
	}
	if (result)
		return FAIL(result, "%s/%d: GID table", endpoint->facts->device, endpoint->port);
	struct num index = wish->gid_index;
	if (run->deviation.empty_gid && endpoint->facts->role != ROLE_TARGET && !index.known)
		index = empty_slot(endpoint, entries, count);
	endpoint->gid_index = index.known ? (int)index.value : -1;
	const struct ibv_gid_entry *entry = index.known ? entry_at(entries, count, endpoint->port, index.value)
	                                                : best_entry(endpoint, wish, entries, count);
	if (entry)
		take_gid(endpoint, entry);
	/* Within an InfiniBand subnet the LID is the address. */
	bool by_lid = endpoint->port_attr.link_layer == IBV_LINK_LAYER_INFINIBAND && !index.known;
	if (by_lid)
		endpoint->gid_index = -1;
	if (endpoint->gid_index >= 0)
		endpoint->facts->gid_index = num(endpoint->gid_index);
	endpoint->facts->gid_empty = flag(!entry && !by_lid);
	if (!entry && !by_lid)
		report_missing(&run->report, "gid", endpoint->facts->device, 0,
		        index.known ? "slot %d of the GID table is empty"
		                    : "the GID table of the port is empty: its netdev has no address, or it is not "
		                      "in this network namespace",
		        endpoint->gid_index);
	if (!entry && !by_lid && !index.known)
		endpoint->gid_index = 0;
	return 0;
}

/* ---- */

static int choose_device(
        struct endpoint *endpoint, const struct endpoint_wish *wish, struct num *port, struct error *error)
{
	const struct survey *survey = endpoint->run->survey;
	*port = wish->device->port;
	if (wish->device->name[0])
		return survey_resolve(survey, wish->device->name, &endpoint->facts->device, port, error);
	return survey_choose(survey, wish->address, &endpoint->facts->device, port, error);
}

/* Reaches a driver, so it is a step of its own that the watcher can give up. */
void endpoint_describe_netdev(struct endpoint *endpoint)
{
	run_enter(endpoint->run, "reading /sys/class/net", STEP_LIMIT_MS);
	describe_netdev(endpoint->origin, endpoint->run->arena, endpoint->facts);
	run_leave(endpoint->run);
	filters_look(endpoint->run, endpoint->origin, endpoint->side);
}

int endpoint_open(struct endpoint *endpoint, struct probe_run *run, int side, const struct endpoint_wish *wish,
        struct error *error)
{
	*endpoint = (struct endpoint){ .run = run, .side = side, .facts = run_facts(run, side), .gid_index = -1 };
	endpoint->origin = origin_live();
	if (!endpoint->origin)
		return FAIL(-ENOMEM, "probe");
	struct num port;
	struct resource_step *step = resource_begin(run, side, "find-device");
	int result = choose_device(endpoint, wish, &port, error);
	resource_detail(run, step, "%s", result ? error->text : endpoint->facts->device);
	resource_end(run, step, result);
	describe_limits(endpoint);
	if (result)
		return result;
	result = open_device(endpoint, error);
	result = result ? result : describe_device(endpoint, error);
	result = result ? result : choose_port(endpoint, port, endpoint->device_attr.phys_port_cnt, error);
	if (!result)
		survey_describe(run->survey, endpoint->facts, &run->report);
	result = result ? result : choose_gid(endpoint, wish, error);
	if (!result)
		endpoint_describe_netdev(endpoint);
	return result;
}
