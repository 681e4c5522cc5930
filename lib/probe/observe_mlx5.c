/* SPDX-License-Identifier: MIT */
/*
 * The observer for mlx5: the rings as mlx5dv_init_obj() hands them out, and the device's own view of its queues.
 *
 * mlx5dv_init_obj() of a completion queue makes libmlx5 leave the entries of a queue pair in it when that is reset or
 * destroyed (mlx5_cq_clean() in providers/mlx5/cq.c returns early): the queue here is the probe's own, still empty when
 * it is asked for, and nobody polls it after its queue pair is gone. The doorbell register itself (bf.reg) is
 * write-combined memory of the adapter and is never read.
 */
#include "base/error.h"
#include "model/evidence.h"
#include "origin/origin.h"
#include "probe/lag.h"
#include "probe/mlx5_context.h"
#include "probe/mlx5_ring.h"
#include "probe/nldev.h"
#include "probe/observer.h"
#include "source/nl_attr.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct state {
	struct mlx5_send_queue sends;
	struct mlx5_completion_queue completions;
	const uint32_t *send_record, *completion_record;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	uint32_t cqn;
};
_Static_assert(sizeof(struct state) <= sizeof(((struct observer *)NULL)->state), "the state fits");

static struct state *state_of(struct observer *observer)
{
	return (struct state *)(void *)observer->state;
}

static const struct state *state_of_const(const struct observer *observer)
{
	return (const struct state *)(const void *)observer->state;
}

static bool mlx5_matches(struct ibv_context *context, const char *driver)
{
	(void)driver;
	return mlx5dv_is_supported(context->device);
}

static int mlx5_before(struct observer *observer)
{
	(void)observer;
	return 0;
}

static int not_observable(struct observer *observer, const char *what, const char *reason)
{
	snprintf(observer->reason, sizeof(observer->reason), "%s: %s", what, reason);
	return -EPROTO;
}

static int mlx5_after_cq(struct observer *observer, struct ibv_cq *cq)
{
	struct state *state = state_of(observer);
	struct mlx5dv_cq view = { 0 };
	struct mlx5dv_obj object = { .cq = { .in = cq, .out = &view } };
	int error = mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ);
	if (error)
		return not_observable(observer, "mlx5dv_init_obj of the completion queue", strerror(error));
	const char *reason;
	/* The length is what the library says: it allocated that much. */
	size_t length = (size_t)view.cqe_cnt * view.cqe_size;
	if (mlx5_completion_queue_open(&state->completions, view.buf, length, view.cqe_cnt, view.cqe_size, &reason))
		return not_observable(observer, "completion queue", reason);
	state->completion_record = view.dbrec;
	state->cqn = view.cqn;
	state->cq = cq;
	return 0;
}

static int mlx5_after_qp(struct observer *observer, struct ibv_qp *qp)
{
	struct state *state = state_of(observer);
	struct mlx5dv_qp view = { 0 };
	struct mlx5dv_obj object = { .qp = { .in = qp, .out = &view } };
	int error = mlx5dv_init_obj(&object, MLX5DV_OBJ_QP);
	if (error)
		return not_observable(observer, "mlx5dv_init_obj of the queue pair", strerror(error));
	const char *reason;
	size_t length = (size_t)view.sq.wqe_cnt * view.sq.stride;
	if (mlx5_send_queue_open(&state->sends, view.sq.buf, length, view.sq.wqe_cnt, view.sq.stride, &reason))
		return not_observable(observer, "send queue", reason);
	state->send_record = view.dbrec;
	state->qp = qp;
	return 0;
}

static void mlx5_sample(const struct observer *observer, struct ring_view *view)
{
	const struct state *state = state_of_const(observer);
	uint32_t next = mlx5_consumer_record(state->completion_record);
	view->posted = mlx5_send_record(state->send_record);
	view->completion = mlx5_cqe_present(&state->completions, next);
	view->unreadable = view->completion && mlx5_cqe_compressed(&state->completions, next);
}

static bool mlx5_entry(const struct observer *observer, uint32_t back, struct completion_entry *entry)
{
	const struct state *state = state_of_const(observer);
	struct mlx5_completion completion;
	uint32_t next = mlx5_consumer_record(state->completion_record);
	if (mlx5_cqe_read(&state->completions, next - back, &completion) || completion.compressed)
		return false;
	*entry = (struct completion_entry){
		.opcode = num(completion.opcode), .is_known = flag(completion.known), .qpn = num(completion.qpn)
	};
	/* The library says what the counter of a failed one means only together with the queue (providers/mlx5/cq.c).
	 */
	if (completion.opcode == MLX5_OPCODE_REQUESTER || completion.opcode == MLX5_OPCODE_REQUESTER_ERROR)
		entry->position = num(completion.block);
	if (completion.failed) {
		entry->syndrome = num(completion.syndrome);
		entry->vendor_err = num(completion.vendor_err);
	} else if (completion.known) {
		entry->bytes = num(completion.bytes);
	}
	return true;
}

/* ---- is it the request that was posted ---- */

static int opcode_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		return MLX5_OPCODE_RDMA_WRITE;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return MLX5_OPCODE_RDMA_WRITE_IMM;
	case IBV_WR_SEND:
		return MLX5_OPCODE_SEND;
	case IBV_WR_SEND_WITH_IMM:
		return MLX5_OPCODE_SEND_IMM;
	case IBV_WR_RDMA_READ:
		return MLX5_OPCODE_RDMA_READ;
	default:
		return -1;
	}
}

static bool holds_data(const struct mlx5_wqe *wqe, const struct ibv_send_wr *request)
{
	const struct ibv_sge *sge = request->sg_list;
	/* Several pieces: what was read of the first says nothing about the whole. */
	if (request->num_sge > 1)
		return true;
	if (wqe->bytes != sge->length)
		return false;
	/* An empty one is left out by the library, an inline one has no address any more. */
	return !sge->length || wqe->is_inline || (wqe->address == sge->addr && wqe->lkey == sge->lkey);
}

static bool mlx5_holds(const struct observer *observer, uint32_t before, const struct ibv_send_wr *request)
{
	const struct state *state = state_of_const(observer);
	struct mlx5_wqe wqe;
	if (mlx5_wqe_read(&state->sends, (uint16_t)before, &wqe))
		return false;
	bool remote = !wqe.has_remote ||
	              (wqe.remote_address == request->wr.rdma.remote_addr && wqe.rkey == request->wr.rdma.rkey);
	return wqe.opcode == opcode_of(request->opcode) && wqe.qpn == state->qp->qp_num &&
	       wqe.signaled == (observer->signals_all || request->send_flags & IBV_SEND_SIGNALED) && remote &&
	       holds_data(&wqe, request) && (request->next || wqe.next == mlx5_send_record(state->send_record));
}

/* ---- DEVX: queries of own objects, without privilege where the firmware allows them ---- */

/* mlx5dv_devx_*_query() give a positive errno. */
static int devx_query(const struct state *state, uint16_t opcode, unsigned char output[MLX5_QUERY_BYTES])
{
	unsigned char input[MLX5_QUERY_INPUT_BYTES];
	bool qp = opcode == MLX5_QUERY_QP;
	mlx5_query_input(input, opcode, qp ? state->qp->qp_num : state->cqn);
	memset(output, 0, MLX5_QUERY_BYTES);
	int error = qp ? mlx5dv_devx_qp_query(state->qp, input, sizeof(input), output, MLX5_QUERY_BYTES)
	               : mlx5dv_devx_cq_query(state->cq, input, sizeof(input), output, MLX5_QUERY_BYTES);
	return error > 0 ? -error : error;
}

static int devx_qpc(const struct state *state, struct mlx5_qpc *qpc)
{
	unsigned char output[MLX5_QUERY_BYTES];
	int result = devx_query(state, MLX5_QUERY_QP, output);
	return result ? result : mlx5_qp_output(output, sizeof(output), qpc);
}

static int devx_cqc(const struct state *state, struct mlx5_cqc *cqc)
{
	unsigned char output[MLX5_QUERY_BYTES];
	int result = devx_query(state, MLX5_QUERY_CQ, output);
	return result ? result : mlx5_cq_output(output, sizeof(output), cqc);
}

static const char *devx_reason(int result)
{
	switch (-result) {
	case ENOTTY:
	case ENOSYS:
		return "this kernel's uverbs has no ioctl interface";
	case EPROTONOSUPPORT:
	case EOPNOTSUPP:
		return "this kernel or library has no DEVX";
	case EINVAL:
		return "no DEVX for this context: the firmware allows none (log_max_uctx 0), or the library did not "
		       "ask for it (rdma-core before 29)";
	default:
		return strerror(-result);
	}
}

/* ---- rdma netlink: resource dumps, with CAP_NET_ADMIN ---- */

struct raw {
	unsigned char bytes[4096]; /* the kernel sends 1024 at most (drivers/infiniband/hw/mlx5/restrack.c) */
	size_t length;
};

static int take_raw(const struct nlmsghdr *message, void *data)
{
	struct raw *raw = data;
	const struct nlattr *table[RDMA_NLDEV_ATTR_RES_RAW + 1];
	nl_attributes(message, 0, table, RDMA_NLDEV_ATTR_RES_RAW);
	const struct nlattr *attribute = table[RDMA_NLDEV_ATTR_RES_RAW];
	size_t length = attribute ? mnl_attr_get_payload_len(attribute) : 0;
	if (!length || length > sizeof(raw->bytes))
		return length ? -EMSGSIZE : 0;
	memcpy(raw->bytes, mnl_attr_get_payload(attribute), length);
	raw->length = length;
	return 0;
}

static int raw_qpc(const struct state *state, struct origin *origin, uint32_t index, uint32_t port, uint32_t peer_qpn,
        struct mlx5_qpc *qpc)
{
	char buffer[NLDEV_REQUEST_BYTES], name[64];
	struct raw raw = { .length = 0 };
	struct nlmsghdr *message = nldev_request(buffer, RDMA_NLDEV_CMD_RES_QP_GET_RAW, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, state->qp->qp_num);
	snprintf(name, sizeof(name), "rdma/qp-raw.%u.%u", index, state->qp->qp_num);
	int result = nldev_ask(origin, name, message, take_raw, &raw);
	return result ? result : mlx5_raw_qpc(raw.bytes, raw.length, state->qp->qp_num, peer_qpn, state->cqn, qpc);
}

/* The kernel's own numbers of this process' completion queues; they are not those of the adapter. */
enum { CANDIDATES_LIMIT = 64 };
struct own_queues {
	uint32_t ids[CANDIDATES_LIMIT];
	size_t count;
};

static int take_entry(const struct nlattr *entry, void *data)
{
	struct own_queues *own = data;
	const struct nlattr *table[RDMA_NLDEV_ATTR_RES_CQN + 1];
	nl_nested(entry, table, RDMA_NLDEV_ATTR_RES_CQN);
	struct num id = nl_u32(table[RDMA_NLDEV_ATTR_RES_CQN]);
	if (id.known && num_is(nl_u32(table[RDMA_NLDEV_ATTR_RES_PID]), getpid()) && own->count < CANDIDATES_LIMIT)
		own->ids[own->count++] = (uint32_t)id.value;
	return MNL_CB_OK;
}

static int take_queues(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *table[RDMA_NLDEV_ATTR_RES_CQ + 1];
	nl_attributes(message, 0, table, RDMA_NLDEV_ATTR_RES_CQ);
	if (table[RDMA_NLDEV_ATTR_RES_CQ])
		mnl_attr_parse_nested(table[RDMA_NLDEV_ATTR_RES_CQ], take_entry, data);
	return 0;
}

static int raw_one_cqc(
        const struct state *state, struct origin *origin, uint32_t index, uint32_t id, struct mlx5_cqc *cqc)
{
	char buffer[NLDEV_REQUEST_BYTES], name[64];
	struct raw raw = { .length = 0 };
	struct nlmsghdr *message = nldev_request(buffer, RDMA_NLDEV_CMD_RES_CQ_GET_RAW, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_CQN, id);
	snprintf(name, sizeof(name), "rdma/cq-raw.%u.%u", index, id);
	int result = nldev_ask(origin, name, message, take_raw, &raw);
	uint32_t log_entries = (uint32_t)__builtin_ctz(state->completions.entries);
	return result ? result : mlx5_raw_cqc(raw.bytes, raw.length, state->cqn, log_entries, cqc);
}

static int raw_cqc(const struct state *state, struct origin *origin, uint32_t index, struct mlx5_cqc *cqc)
{
	char buffer[NLDEV_REQUEST_BYTES], name[64];
	struct own_queues own = { .count = 0 };
	struct nlmsghdr *message = nldev_request(buffer, RDMA_NLDEV_CMD_RES_CQ_GET, NLM_F_DUMP);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	snprintf(name, sizeof(name), "rdma/cq.%u", index);
	int result = nldev_ask(origin, name, message, take_queues, &own);
	if (result)
		return result;
	result = -ENOENT;
	for (size_t i = 0; i < own.count && result; i++)
		result = raw_one_cqc(state, origin, index, own.ids[i], cqc);
	return result;
}

static const char *raw_reason(int result)
{
	switch (-result) {
	case EPERM:
	case EACCES:
		return "needs CAP_NET_ADMIN";
	case EOPNOTSUPP:
		return "the firmware has no resource dump, or the kernel is older than 5.9";
	case EINVAL:
		return "this kernel does not know it";
	case EPROTO:
	case ENOENT:
		return "the dump is not laid out as far as it is known";
	case EPROTONOSUPPORT:
		return "this kernel has no rdma netlink";
	default:
		return strerror(-result);
	}
}

/* ---- both ---- */

static const char *state_word(uint32_t state)
{
	static const char *const words[] = {
		[MLX5_QPC_RESET] = "RESET",
		[MLX5_QPC_INIT] = "INIT",
		[MLX5_QPC_RTR] = "RTR",
		[MLX5_QPC_RTS] = "RTS",
		[MLX5_QPC_SQE] = "SQE",
		[MLX5_QPC_SQD] = "SQD",
		[MLX5_QPC_ERR] = "ERR",
	};
	return state < sizeof(words) / sizeof(words[0]) ? words[state] : NULL;
}

/* The values of CQC.st: rdma-core's mlx5_ifc.h has none; the kernel's include/linux/mlx5/cq.h does (MLX5_CQ_STATE_*).
 */
static const char *notification_word(uint32_t arm)
{
	switch (arm) {
	case 6:
		return "armed-solicited";
	case 9:
		return "armed";
	case 10:
		return "fired";
	default:
		return NULL;
	}
}

static void fill_sample(const struct mlx5_qpc *qpc, const struct mlx5_cqc *cqc, struct device_sample *sample)
{
	sample->qp_state = state_word(qpc->state);
	sample->taken = num(qpc->taken);
	sample->executed = num(qpc->executed);
	sample->next_psn = num(qpc->next_send_psn);
	sample->acked_psn = num(qpc->last_acked_psn);
	sample->retries_left = num(qpc->retries_left);
	if (!cqc)
		return;
	sample->cq_status = num(cqc->status);
	sample->cq_notification = notification_word(cqc->arm);
	sample->cq_produced = num(cqc->produced);
	sample->cq_consumed = num(cqc->consumed);
}

/* A context that does not name the peer is not the one asked for, or not laid out as it is known. */
static int check_qpc(const struct state *state, uint32_t peer_qpn, const struct mlx5_qpc *qpc)
{
	return qpc->remote_qpn == peer_qpn && qpc->send_cqn == state->cqn ? 0 : -EPROTO;
}

static int mlx5_inspect(const struct observer *observer, struct origin *origin, const struct endpoint_facts *facts,
        uint32_t peer_qpn, struct device_sample *sample, char reason[OBSERVER_LONG_REASON_SIZE])
{
	const struct state *state = state_of_const(observer);
	struct mlx5_qpc qpc;
	struct mlx5_cqc cqc;
	sample->recorded = num(mlx5_send_record(state->send_record));
	sample->cq_recorded = num(mlx5_consumer_record(state->completion_record));
	int devx = devx_qpc(state, &qpc);
	devx = devx ? devx : check_qpc(state, peer_qpn, &qpc);
	if (!devx) {
		sample->source = "devx";
		fill_sample(&qpc, devx_cqc(state, &cqc) ? NULL : &cqc, sample);
		return 0;
	}
	uint32_t index;
	int raw = nldev_index(origin, facts->device, &index);
	raw = raw ? raw : raw_qpc(state, origin, index, (uint32_t)facts->port.value, peer_qpn, &qpc);
	if (!raw) {
		sample->source = "netlink-raw";
		fill_sample(&qpc, raw_cqc(state, origin, index, &cqc) ? NULL : &cqc, sample);
		return 0;
	}
	snprintf(reason, OBSERVER_LONG_REASON_SIZE,
	        "DEVX query of the queue pair: %s; RES_QP_GET_RAW over rdma netlink: %s", devx_reason(devx),
	        raw_reason(raw));
	return raw;
}

static void mlx5_describe(const struct observer *observer, struct endpoint_facts *facts)
{
	uint32_t given, used;
	if (lag_query(state_of_const(observer)->qp, &given, &used))
		return;
	facts->lag_port = num(given);
	facts->lag_active_port = num(used);
}

static void mlx5_close(struct observer *observer)
{
	*state_of(observer) = (struct state){ 0 };
}

const struct observer_ops observe_mlx5 = {
	.name = "mlx5dv",
	.has_doorbell_record = true,
	.matches = mlx5_matches,
	.before = mlx5_before,
	.after_cq = mlx5_after_cq,
	.after_qp = mlx5_after_qp,
	.sample = mlx5_sample,
	.holds = mlx5_holds,
	.entry = mlx5_entry,
	.inspect = mlx5_inspect,
	.describe = mlx5_describe,
	.close = mlx5_close,
};
