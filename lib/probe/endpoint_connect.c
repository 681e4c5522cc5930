/* SPDX-License-Identifier: MIT */
/* Queue pairs on their way to RTS, and what state and events say afterwards. */
#include "probe/endpoint.h"

#include "probe/cm.h"
#include "probe/route.h"
#include "probe/words.h"
#include "source/rdma_words.h"
#include "source/verbs_live.h"

#include <errno.h>

enum {
	RETRIES = 6,         /* soft RoCE takes 7 for "for ever" (kernel, rxe_comp.c) */
	RNR_RETRIES = 6,     /* 7 would be for ever */
	RNR_TIMER = 12,      /* 0.64 ms (IBTA, table 45) */
	ACK_TIMEOUT = 16,    /* 268 ms; the default deadline makes it 134 ms */
	ACK_TIMEOUT_MIN = 8, /* 1 ms: shorter ones are used by nobody */
	HOP_LIMIT = 64,      /* TTL, as most programs set it */
};

#define FAIL(...) error_set(error, __VA_ARGS__)

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

/* What a target with a smaller path MTU than the initiator's was given. */
static int choose_mtu(const struct endpoint *endpoint, const struct endpoint_facts *other)
{
	int64_t mine = endpoint->facts->active_mtu.value, theirs = other->active_mtu.value;
	int mtu = mtu_code(other->active_mtu.known && theirs < mine ? theirs : mine);
	if (endpoint->facts->role == ROLE_TARGET)
		mtu -= endpoint->run->deviation.target_mtu_steps;
	return mtu < IBV_MTU_256 ? IBV_MTU_256 : mtu;
}

static bool deviates(const struct endpoint *endpoint)
{
	return endpoint->facts->role != ROLE_TARGET;
}

static int to_rtr(struct endpoint *endpoint, uint32_t lane, const struct endpoint_facts *other, struct error *error)
{
	const struct queue_pair_facts *peer = other->queue_pairs.items[lane];
	int mtu = choose_mtu(endpoint, other);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = address_of(endpoint, other),
		.path_mtu = (enum ibv_mtu)mtu,
		.dest_qp_num = (uint32_t)peer->qpn.value,
		.rq_psn = (uint32_t)peer->psn.value,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = RNR_TIMER,
	};
	if (deviates(endpoint))
		attr.dest_qp_num ^= endpoint->run->deviation.qpn_flip;
	endpoint->facts->path_mtu = mtu_bytes(mtu);
	endpoint->facts->min_rnr_timer = num(RNR_TIMER);
	if (!lane) {
		endpoint->facts->dest_qpn = num(attr.dest_qp_num);
		endpoint->facts->expected_psn = num(attr.rq_psn);
	}
	struct transition *transition = transition_begin(endpoint->run, endpoint->side, "RTR");
	int result = -ibv_modify_qp(endpoint->qps[lane], &attr,
	        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	transition_end(endpoint->run, transition, result);
	return result ? FAIL(result, "%s: queue pair to RTR (GID index %d)", endpoint->facts->device,
	                        endpoint->gid_index)
	              : 0;
}

static int to_rts(struct endpoint *endpoint, uint32_t lane, struct error *error)
{
	uint32_t psn = (uint32_t)endpoint->facts->queue_pairs.items[lane]->psn.value;
	if (deviates(endpoint))
		psn = (psn + endpoint->run->deviation.psn_shift) & 0xffffff;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.max_rd_atomic = 1,
		.timeout = choose_timeout(endpoint->run->document.request.timeout_ms.value),
		.retry_cnt = RETRIES,
		.rnr_retry = RNR_RETRIES,
	};
	endpoint->facts->timeout = num(attr.timeout);
	endpoint->facts->retry_count = num(attr.retry_cnt);
	endpoint->facts->rnr_retry = num(attr.rnr_retry);
	if (!lane)
		endpoint->facts->first_psn = num(psn);
	struct transition *transition = transition_begin(endpoint->run, endpoint->side, "RTS");
	int result = -ibv_modify_qp(endpoint->qps[lane], &attr,
	        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	                IBV_QP_MAX_QP_RD_ATOMIC);
	transition_end(endpoint->run, transition, result);
	return result ? FAIL(result, "%s: queue pair to RTS", endpoint->facts->device) : 0;
}

int endpoint_connect(struct endpoint *endpoint, const struct endpoint_facts *other, struct error *error)
{
	int result = 0;
	if (other->queue_pairs.count < endpoint->qp_count)
		return error_say(error, -EPROTO, "the other end has %u queue pairs, %u are needed",
		        other->queue_pairs.count, endpoint->qp_count);
	if (cm_is_needed(endpoint))
		return endpoint->facts->role == ROLE_TARGET ? cm_accept(endpoint, error)
		                                            : cm_connect(endpoint, other, error);
	for (uint32_t lane = 0; lane < endpoint->qp_count && !result; lane++) {
		result = to_rtr(endpoint, lane, other, error);
		result = result ? result : to_rts(endpoint, lane, error);
	}
	return result;
}

/* ---- afterwards ---- */

static void sample_qp(struct endpoint *endpoint, bool first)
{
	struct ibv_qp_attr attr = { 0 };
	struct ibv_qp_init_attr init;
	run_enter(endpoint->run, "ibv_query_qp", STEP_LIMIT_MS);
	int error = ibv_query_qp(endpoint->qps[0], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN, &init);
	run_leave(endpoint->run);
	if (error) {
		report_missing(&endpoint->run->report, "qp_state", endpoint->facts->device, -error, NULL);
		return;
	}
	/* siw of some kernels leaves the state out of its answer, which then reads as RESET (siw_query_qp()). */
	bool told = attr.qp_state != IBV_QPS_RESET || !cm_is_needed(endpoint);
	if (!told)
		report_missing(&endpoint->run->report, "qp_state", endpoint->facts->device, 0,
		        "the driver does not tell the state of a queue pair");
	const char *state = told ? qp_state_word((int)attr.qp_state) : NULL;
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

/* An address that goes takes its GID with it, and leaves the slot to another one. */
static void sample_gid(struct endpoint *endpoint)
{
	union ibv_gid now;
	if (!endpoint->has_gid)
		return;
	run_enter(endpoint->run, "ibv_query_gid", STEP_LIMIT_MS);
	errno = 0;
	int error = ibv_query_gid(endpoint->context, endpoint->port, endpoint->gid_index, &now) ? errno : 0;
	run_leave(endpoint->run);
	if (error && error != ENODATA)
		report_missing(&endpoint->run->report, "gid_kept", endpoint->facts->device, -error, NULL);
	else
		endpoint->facts->gid_kept = flag(!error && !memcmp(now.raw, endpoint->gid.raw, sizeof(now.raw)));
}

void endpoint_sample(struct endpoint *endpoint, bool first)
{
	if (endpoint->qps[0])
		sample_qp(endpoint, first);
	if (!endpoint->context || first)
		return;
	sample_port(endpoint);
	sample_gid(endpoint);
	endpoint_describe_netdev(endpoint);
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
