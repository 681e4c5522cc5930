/* SPDX-License-Identifier: MIT */
/* What the kernel driver keeps: contexts with their UARs and event files, channels, CQs and QPs. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <rdma/mlx5-abi.h>

#include "emu.h"

/* Both ends close on exec; the device must never wait for a program that does not read its events. */
static int event_pipe(int *r, int *w)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return -errno;
	fcntl(p[1], F_SETFL, O_NONBLOCK);
	*r = p[0];
	*w = p[1];
	return 0;
}

static int map_uars(struct local_ctx *c)
{
	size_t len = (size_t)UAR_PAGES * PAGE;
	void *p;

	c->memfd = (int)syscall(SYS_memfd_create, "mlx5emu-uar", 1u /* MFD_CLOEXEC */);
	if (c->memfd < 0 || ftruncate(c->memfd, (off_t)len))
		return -errno;
	p = real.mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, c->memfd, 0);
	if (p == MAP_FAILED)
		return -errno;
	c->uar = p;
	return 0;
}

static void remember_events(struct local_ctx *c)
{
	for (unsigned int p = 0; p < c->dev->nports; p++)
		c->port_events[p] = c->dev->port[p].state_events;
	c->fatal_events = c->dev->fatal_events;
}

static void release_ctx(struct local_ctx *c)
{
	if (c->uar)
		munmap(c->uar, (size_t)UAR_PAGES * PAGE);
	if (c->memfd >= 0)
		real.close(c->memfd);
	if (c->async_w >= 0)
		real.close(c->async_w);
	*c = (struct local_ctx){ .memfd = -1, .async_r = -1, .async_w = -1 };
}

int ctx_open(struct fab_dev *dev)
{
	struct fab_ctx *shared = obj_alloc(TABLE_CTX, dev, 0);
	struct local_ctx *c;
	int slot, err;

	if (!shared)
		return -ENOMEM;
	slot = (int)obj_handle(TABLE_CTX, shared);
	c = &emu.ctx[slot];
	*c = (struct local_ctx){ .dev = dev, .memfd = -1, .async_r = -1, .async_w = -1 };
	err = map_uars(c);
	if (!err)
		err = event_pipe(&c->async_r, &c->async_w);
	if (err) {
		release_ctx(c);
		obj_free(&shared->o);
		return err;
	}
	remember_events(c);
	c->open = true;
	device_start();
	return slot;
}

static bool any_open(void)
{
	for (int i = 0; i < MAX_CTXS; i++)
		if (emu.ctx[i].open)
			return true;
	return false;
}

/* The last descriptor of a context is closed: what is left of its objects goes with it. */
void ctx_close(int slot)
{
	for (int i = 0; i < MAX_QPS; i++)
		if (emu.qp[i] && emu.qp[i]->qp->o.ctx == slot)
			qp_destroy(emu.qp[i]->qp, NULL);
	for (int i = 0; i < MAX_CQS; i++)
		if (fab->cq[i].o.used && fab->cq[i].o.ctx == slot)
			cq_destroy(&fab->cq[i], NULL, NULL);
	for (int i = 0; i < MAX_MRS; i++)
		if (fab->mr[i].o.used && fab->mr[i].o.ctx == slot)
			obj_free(&fab->mr[i].o);
	for (int i = 0; i < MAX_PDS; i++)
		if (fab->pd[i].o.used && fab->pd[i].o.ctx == slot)
			obj_free(&fab->pd[i].o);
	release_ctx(&emu.ctx[slot]);
	obj_free(&fab->ctx[slot].o);
	if (!any_open())
		device_stop();
}

int ctx_uar_alloc(struct local_ctx *c, unsigned int *index)
{
	if (c->uar_used == UINT64_MAX)
		return -ENOMEM;
	*index = (unsigned int)__builtin_ctzll(~c->uar_used);
	c->uar_used |= 1ull << *index;
	return 0;
}

void ctx_async_event(struct local_ctx *c, uint64_t element, enum async_event type)
{
	struct ib_uverbs_async_event_desc ev = { .element = element, .event_type = type };

	truth("async_event", "\"type\":%d", type);
	if (c->async_w >= 0 && real.write(c->async_w, &ev, sizeof(ev)) != sizeof(ev))
		truth("async_event_lost", "\"type\":%d", type);
}

int channel_create(void)
{
	int r = -1, w = -1, err;
	unsigned int i;

	for (i = 0; i < emu.nchannels && emu.channel[i].w >= 0; i++)
		;
	if (i == MAX_CHANNELS)
		return -EMFILE;
	err = event_pipe(&r, &w);
	if (err)
		return err;
	emu.channel[i].r = r;
	emu.channel[i].w = w;
	if (i == emu.nchannels)
		emu.nchannels++;
	return r;
}

static int channel_of_fd(int fd)
{
	for (unsigned int i = 0; fd >= 0 && i < emu.nchannels; i++)
		if (emu.channel[i].w >= 0 && emu.channel[i].r == fd)
			return (int)i;
	return -1;
}

/* Events that were written and never read are taken out again, and do not count as reported. Returns how many. */
static uint32_t take_back(int r, int w, uint64_t element, size_t size)
{
	uint64_t events[512][2];
	int n = 0, waiting = 0;
	uint32_t taken = 0;

	if (r < 0 || w < 0)
		return 0;
	while (n < 512 && !real.ioctl(r, FIONREAD, &waiting) && waiting >= (int)size &&
	        real.read(r, events[n], size) == (ssize_t)size)
		n++;
	for (int i = 0; i < n; i++) {
		if (events[i][0] == element)
			taken++;
		else if (real.write(w, events[i], size) != (ssize_t)size)
			truth("event_lost", "\"element\":%llu", (unsigned long long)element);
	}
	return taken;
}

/* libmlx5 clears both records before it asks for the CQ. The arm record gets a value that no program writes, so that
 * the first arming is a change even at index 0: the device finds armed CQs by their records. */
static void mark_unarmed(struct fab_cq *cq)
{
	cq->arm_seen = UINT32_MAX;
	((volatile __be32 *)(uintptr_t)cq->dbr)[1] = htobe32(cq->arm_seen);
}

struct fab_cq *cq_create(int ctx, uint32_t cqe, uint64_t user_handle, int channel_fd, const void *driver, size_t len)
{
	struct mlx5_ib_create_cq d = { 0 };
	struct fab_cq *cq;

	if (len < offsetof(struct mlx5_ib_create_cq, uar_page_index))
		return NULL;
	memcpy(&d, driver, len < sizeof(d) ? len : sizeof(d));
	if (d.cqe_size != 64 && d.cqe_size != 128)
		return NULL;
	cq = obj_alloc(TABLE_CQ, emu.ctx[ctx].dev, (uint16_t)ctx);
	if (!cq)
		return NULL;
	cq->buf = d.buf_addr;
	cq->dbr = d.db_addr;
	cq->cqe_size = d.cqe_size;
	/* the library asks for one less than the power of two that it has allocated */
	cq->ncqe = cqe + 1;
	cq->user_handle = user_handle;
	emu.cq_channel[obj_handle(TABLE_CQ, cq)] = channel_of_fd(channel_fd);
	mark_unarmed(cq);
	truth("create_cq", "\"cqn\":%u,\"cqes\":%u,\"cqe_size\":%u", cq->cqn, cq->ncqe, cq->cqe_size);
	return cq;
}

void cq_destroy(struct fab_cq *cq, uint32_t *comp_events, uint32_t *async_events)
{
	struct local_ctx *c = &emu.ctx[cq->o.ctx];
	int channel = emu.cq_channel[obj_handle(TABLE_CQ, cq)];

	cqe_forget(cq);
	if (channel >= 0)
		cq->comp_events -= take_back(emu.channel[channel].r, emu.channel[channel].w, cq->user_handle, 8);
	cq->async_events -=
	        take_back(c->async_r, c->async_w, cq->user_handle, sizeof(struct ib_uverbs_async_event_desc));
	if (comp_events)
		*comp_events = cq->comp_events;
	if (async_events)
		*async_events = cq->async_events;
	obj_free(&cq->o);
}

static void take_capabilities(struct fab_qp *qp, const struct ib_uverbs_ex_create_qp *req)
{
	qp->user_handle = req->user_handle;
	qp->type = req->qp_type;
	qp->pd = req->pd_handle;
	qp->scq = req->send_cq_handle;
	qp->rcq = req->recv_cq_handle;
	qp->max_send_wr = req->max_send_wr;
	qp->max_recv_wr = req->max_recv_wr;
	qp->max_send_sge = req->max_send_sge;
	qp->max_recv_sge = req->max_recv_sge;
	qp->max_inline = req->max_inline_data;
	qp->sig_all = req->sq_sig_all;
}

static void take_queues(struct fab_qp *qp, const struct mlx5_ib_create_qp *d)
{
	qp->buf = d->buf_addr;
	qp->dbr = d->db_addr;
	qp->sq_cnt = d->sq_wqe_count;
	qp->rq_cnt = d->rq_wqe_count;
	qp->rq_shift = d->rq_wqe_shift;
	qp->sq_off = d->rq_wqe_count << d->rq_wqe_shift;
	qp->uidx = d->uidx;
	qp->scatter_cqe = d->flags & MLX5_QP_FLAG_SCATTER_CQE;
}

static bool queues_valid(const struct mlx5_ib_create_qp *d)
{
	return !(d->sq_wqe_count & (d->sq_wqe_count - 1)) && !(d->rq_wqe_count & (d->rq_wqe_count - 1)) &&
	       d->rq_wqe_shift < 16 && d->db_addr;
}

struct fab_qp *qp_create(int ctx, const struct ib_uverbs_ex_create_qp *req, const void *driver, size_t len)
{
	struct mlx5_ib_create_qp d = { 0 };
	struct local_qp *l;
	struct fab_qp *qp;

	memcpy(&d, driver, len < sizeof(d) ? len : sizeof(d));
	if (!obj_at(TABLE_CQ, req->send_cq_handle) || !obj_at(TABLE_CQ, req->recv_cq_handle) || !queues_valid(&d))
		return NULL;
	l = calloc(1, sizeof(*l));
	qp = l ? obj_alloc(TABLE_QP, emu.ctx[ctx].dev, (uint16_t)ctx) : NULL;
	if (!qp) {
		free(l);
		return NULL;
	}
	take_capabilities(qp, req);
	take_queues(qp, &d);
	l->qp = qp;
	qp_reset(l);
	/* whatever the slot's last owner left */
	struct fab_ring *ring = &fab->ring[obj_handle(TABLE_QP, qp)];
	atomic_store(&ring->tail, atomic_load(&ring->head));
	truth("create_qp", "\"qpn\":%u,\"sq_wqebbs\":%u,\"rq_wqes\":%u", qp->qpn, qp->sq_cnt, qp->rq_cnt);
	return qp;
}

void qp_destroy(struct fab_qp *qp, uint32_t *async_events)
{
	uint32_t slot = obj_handle(TABLE_QP, qp);
	struct local_ctx *c = &emu.ctx[qp->o.ctx];

	qp->async_events -=
	        take_back(c->async_r, c->async_w, qp->user_handle, sizeof(struct ib_uverbs_async_event_desc));
	if (async_events)
		*async_events = qp->async_events;
	obj_free(&qp->o);
	free(emu.qp[slot]);
	emu.qp[slot] = NULL;
}

/* Attribute mask bits of IB_QP_*. */
enum {
	QP_STATE = 1 << 0,
	QP_ACCESS_FLAGS = 1 << 3,
	QP_PKEY_INDEX = 1 << 4,
	QP_PORT = 1 << 5,
	QP_AV = 1 << 7,
	QP_PATH_MTU = 1 << 8,
	QP_TIMEOUT = 1 << 9,
	QP_RETRY_CNT = 1 << 10,
	QP_RNR_RETRY = 1 << 11,
	QP_RQ_PSN = 1 << 12,
	QP_MAX_QP_RD_ATOMIC = 1 << 13,
	QP_MIN_RNR_TIMER = 1 << 15,
	QP_SQ_PSN = 1 << 16,
	QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	QP_DEST_QPN = 1 << 20,
};

/* What ib_modify_qp_is_ok() demands for an RC QP. */
static bool transition_ok(uint8_t from, uint8_t to, uint32_t mask)
{
	uint32_t need = 0;

	if (to == QPS_RESET || to == QPS_ERR)
		return true;
	if (to == QPS_INIT && from == QPS_RESET)
		need = QP_PKEY_INDEX | QP_PORT | QP_ACCESS_FLAGS;
	else if (to == QPS_RTR && from == QPS_INIT)
		need = QP_AV | QP_PATH_MTU | QP_DEST_QPN | QP_RQ_PSN | QP_MAX_DEST_RD_ATOMIC | QP_MIN_RNR_TIMER;
	else if (to == QPS_RTS && from == QPS_RTR)
		need = QP_TIMEOUT | QP_RETRY_CNT | QP_RNR_RETRY | QP_SQ_PSN | QP_MAX_QP_RD_ATOMIC;
	else if (!(to == from && (to == QPS_INIT || to == QPS_RTS)) && !(to == QPS_SQD && from == QPS_RTS) &&
	         !(to == QPS_RTS && from == QPS_SQD))
		return false;
	return (mask & need) == need;
}

/* A RoCE port needs a GRH, and the source GID must be there (rdma_check_ah_attr, rdma_fill_sgid_attr). */
static bool address_ok(const struct fab_qp *qp, const struct ib_uverbs_modify_qp *req)
{
	const struct fab_port *port = qp_port(qp);
	const struct ib_uverbs_qp_dest *dest = &req->dest;

	if (!(req->attr_mask & QP_AV))
		return true;
	if (!port->ib && !dest->is_global)
		return false;
	return !dest->is_global || (dest->sgid_index < MAX_GIDS && port->gid[dest->sgid_index].used);
}

static void take_attributes(struct fab_qp *qp, const struct ib_uverbs_modify_qp *req)
{
	struct ib_uverbs_modify_qp *a = &qp->attr;
	const uint32_t mask = req->attr_mask;

#define TAKE(bit, field)                                                                                               \
	do {                                                                                                           \
		if (mask & (bit))                                                                                      \
			a->field = req->field;                                                                         \
	} while (0)
	TAKE(QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(QP_PKEY_INDEX, pkey_index);
	TAKE(QP_PORT, port_num);
	TAKE(QP_AV, dest);
	TAKE(QP_PATH_MTU, path_mtu);
	TAKE(QP_TIMEOUT, timeout);
	TAKE(QP_RETRY_CNT, retry_cnt);
	TAKE(QP_RNR_RETRY, rnr_retry);
	TAKE(QP_RQ_PSN, rq_psn);
	TAKE(QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(QP_SQ_PSN, sq_psn);
	TAKE(QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(QP_DEST_QPN, dest_qp_num);
#undef TAKE
}

static void start_psns(struct local_qp *l, uint32_t mask)
{
	struct fab_qp *qp = l->qp;

	if (mask & QP_RQ_PSN)
		qp->rcv_psn = qp->attr.rq_psn & 0xffffff;
	if (mask & QP_SQ_PSN) {
		l->send_psn = l->max_psn = qp->next_psn = qp->attr.sq_psn & 0xffffff;
		qp->acked_psn = (qp->next_psn - 1) & 0xffffff;
	}
	if (mask & QP_RETRY_CNT)
		qp->cur_retry = qp->attr.retry_cnt;
	if (mask & QP_RNR_RETRY)
		qp->cur_rnr = qp->attr.rnr_retry;
}

/* The driver spreads QPs over the ports of a LAG when they leave RESET. */
static void choose_member(struct fab_qp *qp)
{
	struct fab_port *port = qp_port(qp);

	if (port->nmembers)
		qp->lag_port = (uint8_t)(atomic_fetch_add(&port->next_member, 1) % port->nmembers + 1);
}

static void enter_state(struct local_qp *l, uint8_t state)
{
	struct fab_qp *qp = l->qp;

	truth("modify_qp", "\"qpn\":%u,\"from\":%u,\"to\":%u", qp->qpn, qp->state, state);
	if (state == QPS_ERR) {
		qp_to_error(l, false);
		return;
	}
	if (state == QPS_RESET)
		qp_reset(l);
	if (state == QPS_INIT && qp->state == QPS_RESET)
		choose_member(qp);
	qp->state = state;
}

int qp_modify(struct fab_qp *qp, const struct ib_uverbs_modify_qp *req)
{
	struct local_qp *l = emu.qp[obj_handle(TABLE_QP, qp)];
	uint8_t to = req->attr_mask & QP_STATE ? req->qp_state : qp->state;

	if (req->attr_mask & QP_PORT && (!req->port_num || req->port_num > qp_dev(qp)->nports))
		return EINVAL;
	if (!transition_ok(qp->state, to, req->attr_mask) || !address_ok(qp, req))
		return EINVAL;
	take_attributes(qp, req);
	if (req->attr_mask & QP_PORT)
		qp->port = req->port_num;
	start_psns(l, req->attr_mask);
	if (req->attr_mask & QP_STATE)
		enter_state(l, to);
	return 0;
}
