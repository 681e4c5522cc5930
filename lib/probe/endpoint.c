/* SPDX-License-Identifier: MIT */
#include "probe/endpoint.h"

#include "base/cleanup.h"
#include "model/host.h"
#include "probe/filters.h"
#include "probe/gid_choice.h"
#include "probe/route.h"
#include "probe/words.h"
#include "source/rdma_words.h"
#include "source/verbs_live.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

enum {
	RETRIES = 6,         /* soft RoCE takes 7 for "for ever" (kernel, rxe_comp.c) */
	RNR_RETRIES = 6,     /* 7 would be for ever */
	RNR_TIMER = 12,      /* 0.64 ms (IBTA, table 45) */
	ACK_TIMEOUT = 16,    /* 268 ms; the default deadline makes it 134 ms */
	ACK_TIMEOUT_MIN = 8, /* 1 ms: shorter ones are used by nobody */
	HOP_LIMIT = 64,      /* TTL, as most programs set it */
};

#define FAIL(...) error_set(error, __VA_ARGS__)

/* ---- opening ---- */

static struct ibv_device *find_device(struct ibv_device **list, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return list[i];
	return NULL;
}

static int open_context(struct endpoint *endpoint, struct ibv_device *device, struct error *error)
{
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "ibv_open_device");
	resource_detail(endpoint->run, step, "%s", endpoint->facts->device);
	errno = 0;
	endpoint->context = ibv_open_device(device);
	int result = endpoint->context ? 0 : -(errno ? errno : EIO);
	resource_end(endpoint->run, step, result);
	if (!endpoint->context)
		return FAIL(result, "%s: ibv_open_device", endpoint->facts->device);
	/* Events are collected without ever waiting for them. */
	int flags = fcntl(endpoint->context->async_fd, F_GETFL);
	fcntl(endpoint->context->async_fd, F_SETFL, flags | O_NONBLOCK);
	return 0;
}

static int open_device(struct endpoint *endpoint, struct error *error)
{
	struct probe_run *run = endpoint->run;
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_get_device_list");
	int count = 0;
	errno = 0;
	struct ibv_device **list = ibv_get_device_list(&count);
	int result = resource_end(run, step, list ? 0 : -(errno ? errno : ENOSYS));
	if (!list)
		return FAIL(result, "ibv_get_device_list");
	struct ibv_device *device = find_device(list, count, endpoint->facts->device);
	if (device)
		result = open_context(endpoint, device, error);
	else
		result = error_say(error, -ENODEV,
		        "%s: libibverbs does not offer the device: no uverbs device for it, or no provider library for "
		        "its "
		        "driver",
		        endpoint->facts->device);
	ibv_free_device_list(list);
	return result;
}

/* ---- facts of device and port ---- */

static void describe_limits(struct endpoint *endpoint)
{
	struct rlimit limit;
	struct process_facts process = { 0 };
	if (!origin_process(endpoint->origin, endpoint->run->arena, &process))
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

/* A request beyond a limit of the device explains why it failed. */
static void compare_limit(struct resource_step *step, const char *name, int64_t asked, int64_t limit)
{
	if (!step || num_is(step->error, 0) || asked <= limit)
		return;
	step->limit_name = name;
	step->asked = num(asked);
	step->limit = num(limit);
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
	resource_detail(run, step, "%zu entries", count);
	bool beyond = !result && is_beyond_table(endpoint, wish->gid_index);
	resource_end(run, step, beyond ? -EINVAL : result);
	if (beyond) {
		int last = endpoint->port_attr.gid_tbl_len - 1;
		compare_limit(step, "last index of the GID table", wish->gid_index.value, last);
		return error_say(error, -EINVAL, "%s/%d has no GID index %d: its table ends at %d",
		        endpoint->facts->device, endpoint->port, (int)wish->gid_index.value, last);
	}
	if (result)
		return FAIL(result, "%s/%d: GID table", endpoint->facts->device, endpoint->port);
	endpoint->gid_index = wish->gid_index.known ? (int)wish->gid_index.value : -1;
	const struct ibv_gid_entry *entry = wish->gid_index.known
	                                            ? entry_at(entries, count, endpoint->port, wish->gid_index.value)
	                                            : best_entry(endpoint, wish, entries, count);
	if (entry)
		take_gid(endpoint, entry);
	/* Within an InfiniBand subnet the LID is the address. */
	bool by_lid = endpoint->port_attr.link_layer == IBV_LINK_LAYER_INFINIBAND && !wish->gid_index.known;
	if (by_lid)
		endpoint->gid_index = -1;
	if (endpoint->gid_index >= 0)
		endpoint->facts->gid_index = num(endpoint->gid_index);
	endpoint->facts->gid_empty = flag(!entry && !by_lid);
	if (!entry && !by_lid)
		report_missing(&run->report, "gid", endpoint->facts->device, 0,
		        wish->gid_index.known
		                ? "slot %d of the GID table is empty"
		                : "the GID table of the port is empty: its netdev has no address, or it is not "
		                  "in this network namespace",
		        endpoint->gid_index);
	if (!entry && !by_lid && !wish->gid_index.known)
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
static void look_at_netdev(struct endpoint *endpoint)
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
		look_at_netdev(endpoint);
	return result;
}

/* ---- resources ---- */

static unsigned int rights_needed(const struct endpoint *endpoint)
{
	if (endpoint->facts->role != ROLE_TARGET)
		return IBV_ACCESS_LOCAL_WRITE;
	switch (endpoint->run->document.request.op) {
	case OP_WRITE:
	case OP_WRITE_IMM:
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	case OP_READ:
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	default:
		return IBV_ACCESS_LOCAL_WRITE;
	}
}

/* Longer messages would fail with the first request. The evidence has sizes and limit, so the verdict says it itself.
 */
static int check_message_size(struct endpoint *endpoint, const struct endpoint_plan *plan, struct error *error)
{
	int64_t limit = endpoint->port_attr.max_msg_sz, asked = (int64_t)plan->largest;
	if (!limit || asked <= limit)
		return 0;
	return error_say(error, -EMSGSIZE,
	        "%s/%d takes messages of at most %" PRId64 " bytes (max_msg_sz), not of %" PRId64,
	        endpoint->facts->device, endpoint->port, limit, asked);
}

static int create_pd_and_cq(struct endpoint *endpoint, const struct endpoint_plan *plan, struct error *error)
{
	struct probe_run *run = endpoint->run;
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_alloc_pd");
	errno = 0;
	endpoint->pd = ibv_alloc_pd(endpoint->context);
	int result = resource_end(run, step, endpoint->pd ? 0 : -(errno ? errno : EIO));
	if (result)
		return FAIL(result, "%s: ibv_alloc_pd", endpoint->facts->device);
	int entries = (int)(2 * plan->depth);
	observer_before(&endpoint->observer);
	step = resource_begin(run, endpoint->side, "ibv_create_cq");
	resource_detail(run, step, "%d entries", entries);
	errno = 0;
	endpoint->cq = ibv_create_cq(endpoint->context, entries, NULL, NULL, 0);
	result = resource_end(run, step, endpoint->cq ? 0 : -(errno ? errno : EIO));
	compare_limit(step, "max_cqe", entries, endpoint->device_attr.max_cqe);
	if (!endpoint->cq)
		return FAIL(result, "%s: ibv_create_cq with %d entries", endpoint->facts->device, entries);
	endpoint->facts->cqe_asked = num(entries);
	endpoint->facts->cqe = num(endpoint->cq->cqe);
	observer_after_cq(&endpoint->observer, endpoint->cq);
	return 0;
}

static int register_buffer(struct endpoint *endpoint, struct error *error)
{
	struct probe_run *run = endpoint->run;
	struct buffer *buffer = &endpoint->buffer;
	unsigned int access = rights_needed(endpoint);
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_reg_mr");
	resource_detail(
	        run, step, "%zu bytes, memlock %" PRId64, buffer->size, endpoint->facts->memlock_soft_bytes.value);
	run_extend(run, buffer->size);
	errno = 0;
	endpoint->mr = ibv_reg_mr(endpoint->pd, buffer->memory, buffer->size, access);
	int result = resource_end(run, step, endpoint->mr ? 0 : -(errno ? errno : EIO));
	compare_limit(
	        step, "max_mr_size", (int64_t)buffer->size, (int64_t)(endpoint->device_attr.max_mr_size & INT64_MAX));
	if (!endpoint->mr)
		return FAIL(result, "%s: ibv_reg_mr of %zu bytes", endpoint->facts->device, buffer->size);
	endpoint->facts->mr_access = access_words(run->arena, access);
	endpoint->facts->buffer_address = num((int64_t)(uintptr_t)buffer->memory);
	endpoint->facts->buffer_bytes = num((int64_t)buffer->size);
	endpoint->facts->lkey = num(endpoint->mr->lkey);
	endpoint->facts->rkey = num(endpoint->mr->rkey);
	return 0;
}

static int create_qp(struct endpoint *endpoint, const struct endpoint_plan *plan, struct error *error)
{
	struct probe_run *run = endpoint->run;
	struct ibv_qp_init_attr attr = {
		.send_cq = endpoint->cq,
		.recv_cq = endpoint->cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = plan->depth, .max_recv_wr = plan->depth, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	observer_before(&endpoint->observer);
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_create_qp");
	resource_detail(run, step, "RC, %u send and %u receive requests", plan->depth, plan->depth);
	errno = 0;
	endpoint->qp = ibv_create_qp(endpoint->pd, &attr);
	int result = resource_end(run, step, endpoint->qp ? 0 : -(errno ? errno : EIO));
	compare_limit(step, "max_qp_wr", plan->depth, endpoint->device_attr.max_qp_wr);
	if (!endpoint->qp)
		return FAIL(result, "%s: ibv_create_qp", endpoint->facts->device);
	observer_after_qp(&endpoint->observer, endpoint->qp);
	uint32_t random = 0;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint32_t)run_now(run);
	endpoint->facts->qpn = num(endpoint->qp->qp_num);
	endpoint->facts->psn = num(random & 0xffffff);
	return 0;
}

static int to_init(struct endpoint *endpoint, struct error *error)
{
	unsigned int access = rights_needed(endpoint) & ~(unsigned int)IBV_ACCESS_LOCAL_WRITE;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = endpoint->port, .qp_access_flags = access };
	struct transition *transition = transition_begin(endpoint->run, endpoint->side, "INIT");
	int result = -ibv_modify_qp(
	        endpoint->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	transition_end(endpoint->run, transition, result);
	if (result)
		return FAIL(result, "%s: queue pair to INIT", endpoint->facts->device);
	endpoint->facts->qp_access = access_words(endpoint->run->arena, access);
	return 0;
}

/* The node asked for: the adapter's, or a number. */
static struct num wanted_node(const struct endpoint *endpoint, bool *strict)
{
	const char *asked = endpoint->run->document.request.buffer_node;
	*strict = asked && strcmp(asked, "nic") != 0;
	return *strict ? parse_num(asked, 10) : endpoint->facts->numa_node;
}

int endpoint_create(struct endpoint *endpoint, const struct endpoint_plan *plan, struct error *error)
{
	struct probe_run *run = endpoint->run;
	bool strict;
	struct num node = wanted_node(endpoint, &strict);
	if (endpoint->side == SIDE_LOCAL)
		buffer_affinity(run, endpoint->side, endpoint->facts->numa_node);
	observer_init(&endpoint->observer, endpoint->context, endpoint->facts->driver);
	int result = check_message_size(endpoint, plan, error);
	result = result ? result : create_pd_and_cq(endpoint, plan, error);
	if (result)
		return result;
	result = buffer_allocate(run, endpoint->side, &endpoint->buffer, plan->bytes, node, strict);
	if (result)
		return FAIL(result, "a buffer of %zu bytes", plan->bytes);
	result = register_buffer(endpoint, error);
	if (!result && endpoint->side == SIDE_LOCAL)
		buffer_locate(run, &endpoint->buffer, node);
	result = result ? result : create_qp(endpoint, plan, error);
	return result ? result : to_init(endpoint, error);
}

/* ---- connecting ---- */

int64_t endpoint_retry_ns(const struct endpoint_facts *facts, int64_t retries)
{
	if (!facts->timeout.known || !facts->timeout.value)
		return 0;
	return (INT64_C(4096) << facts->timeout.value) * (retries + 1);
}

/* Hardware may wait four times the nominal time (IBTA, 9.7.6.1.3): all retries shall end well before the deadline. */
static uint8_t choose_timeout(int64_t deadline_ms)
{
	uint8_t timeout = ACK_TIMEOUT;
	while (timeout > ACK_TIMEOUT_MIN && (INT64_C(4096) << timeout) * (RETRIES + 1) * 4 > deadline_ms * 800000)
		timeout--;
	return timeout;
}

static struct ibv_ah_attr address_of(const struct endpoint *endpoint, const struct endpoint_facts *other)
{
	struct ibv_ah_attr attr = { .port_num = endpoint->port, .dlid = (uint16_t)other->lid.value };
	if (endpoint->gid_index < 0)
		return attr;
	attr.is_global = 1;
	attr.grh.sgid_index = (uint8_t)endpoint->gid_index;
	attr.grh.hop_limit = HOP_LIMIT;
	if (other->gid)
		parse_gid(other->gid, attr.grh.dgid.raw);
	return attr;
}

static int to_rtr(struct endpoint *endpoint, const struct endpoint_facts *other, struct error *error)
{
	int64_t mine = endpoint->facts->active_mtu.value, theirs = other->active_mtu.value;
	int mtu = mtu_code(other->active_mtu.known && theirs < mine ? theirs : mine);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = address_of(endpoint, other),
		.path_mtu = (enum ibv_mtu)mtu,
		.dest_qp_num = (uint32_t)other->qpn.value,
		.rq_psn = (uint32_t)other->psn.value,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = RNR_TIMER,
	};
	endpoint->facts->path_mtu = mtu_bytes(mtu);
	endpoint->facts->min_rnr_timer = num(RNR_TIMER);
	struct transition *transition = transition_begin(endpoint->run, endpoint->side, "RTR");
	int result = -ibv_modify_qp(endpoint->qp, &attr,
	        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	transition_end(endpoint->run, transition, result);
	return result ? FAIL(result, "%s: queue pair to RTR (GID index %d)", endpoint->facts->device,
	                        endpoint->gid_index)
	              : 0;
}

static int to_rts(struct endpoint *endpoint, struct error *error)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = (uint32_t)endpoint->facts->psn.value,
		.max_rd_atomic = 1,
		.timeout = choose_timeout(endpoint->run->document.request.timeout_ms.value),
		.retry_cnt = RETRIES,
		.rnr_retry = RNR_RETRIES,
	};
	endpoint->facts->timeout = num(attr.timeout);
	endpoint->facts->retry_count = num(attr.retry_cnt);
	endpoint->facts->rnr_retry = num(attr.rnr_retry);
	struct transition *transition = transition_begin(endpoint->run, endpoint->side, "RTS");
	int result = -ibv_modify_qp(endpoint->qp, &attr,
	        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	                IBV_QP_MAX_QP_RD_ATOMIC);
	transition_end(endpoint->run, transition, result);
	return result ? FAIL(result, "%s: queue pair to RTS", endpoint->facts->device) : 0;
}

int endpoint_connect(struct endpoint *endpoint, const struct endpoint_facts *other, struct error *error)
{
	int result = to_rtr(endpoint, other, error);
	return result ? result : to_rts(endpoint, error);
}

/* ---- afterwards ---- */

static void sample_qp(struct endpoint *endpoint, bool first)
{
	struct ibv_qp_attr attr = { 0 };
	struct ibv_qp_init_attr init;
	run_enter(endpoint->run, "ibv_query_qp", STEP_LIMIT_MS);
	int error = ibv_query_qp(endpoint->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN, &init);
	run_leave(endpoint->run);
	if (error) {
		report_missing(&endpoint->run->report, "qp_state", endpoint->facts->device, -error, NULL);
		return;
	}
	const char *state = qp_state_word((int)attr.qp_state);
	if (first) {
		endpoint->facts->qp_state_first = state;
		return;
	}
	endpoint->facts->qp_state = state;
	endpoint->facts->sq_psn = num(attr.sq_psn);
	endpoint->facts->rq_psn = num(attr.rq_psn);
}

static void sample_port(struct endpoint *endpoint)
{
	struct ibv_port_attr attr;
	run_enter(endpoint->run, "ibv_query_port", STEP_LIMIT_MS);
	int error = ibv_query_port(endpoint->context, endpoint->port, &attr);
	run_leave(endpoint->run);
	if (error)
		report_missing(&endpoint->run->report, "port_state_after", endpoint->facts->device, -error, NULL);
	else
		endpoint->facts->port_state_after = rdma_port_state(num(attr.state));
}

void endpoint_sample(struct endpoint *endpoint, bool first)
{
	if (endpoint->qp)
		sample_qp(endpoint, first);
	if (!endpoint->context || first)
		return;
	sample_port(endpoint);
	look_at_netdev(endpoint);
	if (run_evidence(endpoint->run)->same_port_loopback != FLAG_YES)
		route_look(endpoint->run, endpoint->origin, endpoint->side);
}

static void keep_event(struct endpoint *endpoint, const struct ibv_async_event *event)
{
	struct async_event *kept = list_add(endpoint->run->arena, &run_evidence(endpoint->run)->async_events);
	if (!kept)
		return;
	*kept = (struct async_event){
		.side = endpoint->side, .event = event_word((int)event->event_type), .t_ns = num(run_now(endpoint->run))
	};
	int port = verbs_event_port(event);
	if (port)
		kept->port = num(port);
	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		kept->qpn = num(event->element.qp->qp_num);
		break;
	default:
		break;
	}
}

void endpoint_events(struct endpoint *endpoint)
{
	enum { EVENTS_LIMIT = 256 };
	struct ibv_async_event event;
	while (endpoint->context && run_evidence(endpoint->run)->async_events.count < EVENTS_LIMIT &&
	        !ibv_get_async_event(endpoint->context, &event)) {
		keep_event(endpoint, &event);
		ibv_ack_async_event(&event);
	}
}

/* ---- closing ---- */

static void destroyed(struct endpoint *endpoint, const char *what, int error)
{
	run_leave(endpoint->run);
	if (error)
		report_missing(&endpoint->run->report, what, endpoint->facts->device ? endpoint->facts->device : "host",
		        error > 0 ? -error : -errno, NULL);
}

#define DESTROY(call, object)                                                                                          \
	do {                                                                                                           \
		if (endpoint->object) {                                                                                \
			run_enter(endpoint->run, #call, STEP_LIMIT_MS);                                                \
			destroyed(endpoint, #call, call(endpoint->object));                                            \
			endpoint->object = NULL;                                                                       \
		}                                                                                                      \
	} while (0)

void endpoint_close(struct endpoint *endpoint)
{
	observer_close(&endpoint->observer);
	DESTROY(ibv_destroy_qp, qp);
	DESTROY(ibv_dereg_mr, mr);
	DESTROY(ibv_destroy_cq, cq);
	DESTROY(ibv_dealloc_pd, pd);
	DESTROY(ibv_close_device, context);
	buffer_free(&endpoint->buffer);
	origin_close(endpoint->origin);
	endpoint->origin = NULL;
}
