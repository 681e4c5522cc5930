/* SPDX-License-Identifier: MIT */
/* Completion queues: CQEs as the adapter writes them, arming, notification, overrun. */
#include <endian.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "emu.h"

enum { MAX_LATE = 256 };

/* CQEs held back. Those of one CQ keep their order, so later ones wait behind a late one. */
static struct late {
	struct fab_cq *cq;
	struct fab_qp qp;
	struct completion c;
	uint8_t inlined[64];
	uint64_t due;
} late[MAX_LATE];
static unsigned int nlate;

static uint32_t consumer_index(const struct fab_cq *cq)
{
	return be32toh(((volatile __be32 *)(uintptr_t)cq->dbr)[0]) & 0xffffff;
}

static void site_of(const struct fab_qp *qp, const struct completion *c, struct fault_site *site)
{
	bool requester = c->opcode == MLX5_CQE_REQ || c->opcode == MLX5_CQE_REQ_ERR;

	fill_site(qp, site);
	site->bytes = c->bytes;
	site->side = requester ? SIDE_REQUESTER : SIDE_RESPONDER;
}

static void notify(struct fab_cq *cq, const struct fault_site *site)
{
	int channel = emu.cq_channel[obj_handle(TABLE_CQ, cq)];
	uint64_t handle = cq->user_handle;

	cq->armed = false;
	cq->notified_ci = cq->pi;
	if (fault_hit(F_INTERRUPT_LOST, site) || channel < 0)
		return;
	cq->comp_events++;
	if (real.write(emu.channel[channel].w, &handle, sizeof(handle)) != sizeof(handle))
		cq->comp_events--;
	truth("interrupt", "\"cqn\":%u", cq->cqn);
}

void cq_arm(struct fab_cq *cq, uint32_t ci, bool solicited_only)
{
	struct fault_site site = { .device = fab->dev[cq->o.dev].name };

	cq->armed = true;
	cq->arm_ci = ci;
	cq->solicited_only = solicited_only;
	if (!solicited_only && !fab->dev[cq->o.dev].edge && ((cq->pi - ci) & 0xffffff))
		notify(cq, &site);
}

void cq_look_at_arming(struct fab_cq *cq)
{
	uint32_t record = be32toh(((volatile __be32 *)(uintptr_t)cq->dbr)[1]);

	if (record == cq->arm_seen)
		return;
	cq->arm_seen = record;
	cq_arm(cq, record & 0xffffff, record >> 24 & 1);
}

static void overrun(struct fab_cq *cq, const struct fab_qp *qp)
{
	/* `qp` may be the copy of a CQE that was held back */
	struct local_qp *l = local_qp_by_number(qp->qpn);
	struct local_ctx *ctx = &emu.ctx[cq->o.ctx];

	cq->error = true;
	cq->async_events++;
	truth("cq_overrun", "\"cqn\":%u,\"pi\":%u,\"ci\":%u", cq->cqn, cq->pi, consumer_index(cq));
	ctx_async_event(ctx, cq->user_handle, EV_CQ_ERR);
	if (!l || l->qp->state == QPS_ERR)
		return;
	qp_to_error(l, true);
	l->qp->async_events++;
	ctx_async_event(ctx, qp->user_handle, EV_QP_FATAL);
}

/* MLX5_INLINE_SCATTER_*: up to 32 bytes at the start of the CQE, up to 64 in the first half of a 128-byte one. */
static uint8_t scatter_to_cqe(uint8_t *slot, const struct fab_cq *cq, const struct completion *c)
{
	if (!c->inlined)
		return 0;
	memcpy(slot, c->inlined, c->bytes);
	return cq->cqe_size == 128 && c->bytes > 32 ? MLX5_INLINE_SCATTER_64 : MLX5_INLINE_SCATTER_32;
}

static void fill_cqe(struct mlx5_cqe64 *e, const struct fab_qp *qp, const struct completion *c)
{
	e->srqn_uidx = htobe32(qp->uidx);
	e->imm_inval_pkey = htobe32(c->imm);
	e->byte_cnt = htobe32(c->bytes);
	e->timestamp = htobe64(now_ns());
	e->sop_drop_qpn = htobe32((uint32_t)c->wqe_opcode << 24 | qp->qpn);
	e->wqe_counter = htobe16(c->wqe_counter);
	if (c->syndrome) {
		struct mlx5_err_cqe *err = (void *)e;

		err->syndrome = c->syndrome;
		err->vendor_err_synd = c->vendor_err;
	}
}

static void count_errors(const struct fab_qp *qp, const struct completion *c)
{
	bool flush = c->syndrome == MLX5_CQE_SYNDROME_WR_FLUSH_ERR;

	if (!c->syndrome)
		return;
	if (c->opcode == MLX5_CQE_REQ_ERR) {
		count_hw(qp, HC_REQ_CQE_ERR);
		if (flush)
			count_hw(qp, HC_REQ_FLUSH);
	} else {
		count_hw(qp, HC_RESP_CQE_ERR);
		if (flush)
			count_hw(qp, HC_RESP_FLUSH);
	}
}

/* The body first, the byte with the opcode and the ownership bit last: that is how an adapter makes a CQE valid. */
static bool write_now(struct fab_cq *cq, const struct fab_qp *qp, const struct completion *c)
{
	uint8_t *slot = (uint8_t *)(uintptr_t)cq->buf + (size_t)(cq->pi & (cq->ncqe - 1)) * cq->cqe_size;
	struct mlx5_cqe64 *e = (void *)(slot + (cq->cqe_size == 128 ? 64 : 0));
	uint8_t own = !!(cq->pi & cq->ncqe), format;
	const struct fault *garble, *misplaced;
	struct fault_site site;

	if (cq->error)
		return false;
	site_of(qp, c, &site);
	if (((cq->pi - consumer_index(cq)) & 0xffffff) >= cq->ncqe || fault_hit(F_CQ_OVERRUN, &site)) {
		overrun(cq, qp);
		return false;
	}
	memset(e, 0, offsetof(struct mlx5_cqe64, op_own));
	format = scatter_to_cqe(slot, cq, c);
	fill_cqe(e, qp, c);
	garble = fault_hit(F_GARBLED_CQE, &site);
	misplaced = fault_hit(F_MISPLACED_CQE, &site);
	if (misplaced)
		e->wqe_counter = htobe16((uint16_t)(c->wqe_counter + misplaced->arg[0]));
	own = (uint8_t)(own | (garble ? garble->arg[0] & 0xf0 : (uint64_t)(c->opcode << 4 | format)));
	if (c->solicited)
		own |= 2;
	__atomic_store_n(&e->op_own, own, __ATOMIC_RELEASE);
	cq->pi = (cq->pi + 1) & 0xffffff;
	count_errors(qp, c);
	truth("cqe", "\"cqn\":%u,\"index\":%u,\"qpn\":%u,\"wqe\":%u,\"opcode\":%u,\"syndrome\":%u,\"vendor_err\":%u",
	        cq->cqn, cq->pi - 1, qp->qpn, c->wqe_counter, c->opcode, c->syndrome, c->vendor_err);
	/*
	 * A program that armed the CQ, looked once more and found nothing is owed an event for this one, however late
	 * its doorbell is read here.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	cq_look_at_arming(cq);
	if (cq->armed && (!cq->solicited_only || c->solicited || c->syndrome))
		notify(cq, &site);
	return true;
}

static bool has_late(const struct fab_cq *cq)
{
	for (unsigned int i = 0; i < nlate; i++)
		if (late[i].cq == cq)
			return true;
	return false;
}

static void hold(struct fab_cq *cq, const struct fab_qp *qp, const struct completion *c, uint64_t due)
{
	struct late *l = &late[nlate++];

	*l = (struct late){ .cq = cq, .qp = *qp, .c = *c, .due = due };
	if (c->inlined) {
		memcpy(l->inlined, c->inlined, c->bytes);
		l->c.inlined = l->inlined;
	}
}

bool cqe_write(struct fab_cq *cq, const struct fab_qp *qp, const struct completion *c)
{
	const struct fault *f;
	struct fault_site site;

	site_of(qp, c, &site);
	if (fault_hit(F_NO_CQE, &site))
		return false;
	f = fault_hit(F_LATE_CQE, &site);
	if (nlate < MAX_LATE && (f || has_late(cq))) {
		hold(cq, qp, c, f ? now_ns() + f->arg[0] : 0);
		return true;
	}
	if (fault_hit(F_CQE_TWICE, &site))
		write_now(cq, qp, c);
	return write_now(cq, qp, c);
}

static void remove_late(unsigned int i)
{
	nlate--;
	memmove(&late[i], &late[i + 1], (nlate - i) * sizeof(*late));
	for (unsigned int k = i; k < nlate; k++)
		if (late[k].c.inlined)
			late[k].c.inlined = late[k].inlined;
}

static bool is_first_of_cq(unsigned int i)
{
	for (unsigned int k = 0; k < i; k++)
		if (late[k].cq == late[i].cq)
			return false;
	return true;
}

void cqe_release_late(void)
{
	for (unsigned int i = 0; i < nlate;)
		if (is_first_of_cq(i) && now_ns() >= late[i].due) {
			struct late l = late[i];

			if (l.c.inlined)
				l.c.inlined = l.inlined;
			remove_late(i);
			write_now(l.cq, &l.qp, &l.c);
		} else {
			i++;
		}
}

void cqe_forget(const struct fab_cq *cq)
{
	for (unsigned int i = 0; i < nlate;)
		if (late[i].cq == cq)
			remove_late(i);
		else
			i++;
}
