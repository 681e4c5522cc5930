/* SPDX-License-Identifier: MIT */
/*
 * The firmware's view of objects: QPC and CQC as QUERY_QP and QUERY_CQ return them, and the resource-dump container
 * that netlink's RAW commands hand over. Offsets are those of mlx5_ifc.h (Linux, rdma-core); no hardware has confirmed
 * them.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"

/* mlx5_ifc counts bits from the most significant one of byte 0. */
void bits_set(uint8_t *base, unsigned int off, unsigned int width, uint64_t value)
{
	for (unsigned int i = 0; i < width; i++) {
		unsigned int bit = off + width - 1 - i;
		uint8_t mask = (uint8_t)(0x80 >> (bit % 8));

		if (value >> i & 1)
			base[bit / 8] |= mask;
		else
			base[bit / 8] &= (uint8_t)~mask;
	}
}

uint32_t bits_get(const uint8_t *base, unsigned int off, unsigned int width)
{
	uint32_t v = 0;

	for (unsigned int bit = off; bit < off + width; bit++)
		v = v << 1 | (base[bit / 8] >> (7 - bit % 8) & 1);
	return v;
}

static unsigned int log2_of(uint32_t n)
{
	return n ? 31u - (unsigned int)__builtin_clz(n) : 0;
}

static void qpc_counters(const struct fab_qp *qp, uint8_t *c)
{
	bits_set(c, 0x395, 3, qp->cur_rnr);
	bits_set(c, 0x398, 3, qp->cur_retry);
	bits_set(c, 0x3c8, 24, qp->next_psn);
	bits_set(c, 0x448, 24, qp->acked_psn);
	bits_set(c, 0x468, 24, qp->ssn);
	bits_set(c, 0x4a8, 24, qp->rcv_psn);
	bits_set(c, 0x588, 24, qp->msn);
	bits_set(c, 0x5a0, 16, qp->hw_sq);
	bits_set(c, 0x5b0, 16, qp->sw_sq);
	bits_set(c, 0x5c0, 32, qp->hw_rq);
	bits_set(c, 0x5e0, 32, qp->sw_rq);
}

static void qpc_setup(const struct fab_qp *qp, uint8_t *c)
{
	bits_set(c, 0x028, 24, qp->pd);
	bits_set(c, 0x040, 3, qp->attr.path_mtu);
	bits_set(c, 0x043, 5, 30);
	bits_set(c, 0x049, 4, log2_of(qp->rq_cnt));
	bits_set(c, 0x04d, 3, qp->rq_shift > 4 ? qp->rq_shift - 4 : 0);
	bits_set(c, 0x051, 4, log2_of(qp->sq_cnt));
	bits_set(c, 0x088, 24, qp->uidx);
	bits_set(c, 0x0a8, 24, qp->attr.dest_qp_num);
	bits_set(c, 0x38d, 3, qp->attr.retry_cnt);
	bits_set(c, 0x390, 3, qp->attr.rnr_retry);
	bits_set(c, 0x3e8, 24, fab->cq[qp->scq].cqn);
	bits_set(c, 0x4a3, 5, qp->attr.min_rnr_timer);
	bits_set(c, 0x4e8, 24, fab->cq[qp->rcq].cqn);
	bits_set(c, 0x500, 64, qp->dbr);
}

/* primary_address_path: an ads structure at bit 0xc0 */
static void qpc_path(const struct fab_qp *qp, uint8_t *c)
{
	const struct ib_uverbs_qp_dest *d = &qp->attr.dest;

	bits_set(c, 0xc0 + 0x28, 1, d->is_global);
	bits_set(c, 0xc0 + 0x30, 16, d->dlid);
	bits_set(c, 0xc0 + 0x40, 5, qp->attr.timeout);
	bits_set(c, 0xc0 + 0x48, 8, d->sgid_index);
	bits_set(c, 0xc0 + 0x58, 8, d->hop_limit);
	memcpy(c + (0xc0 + 0x80) / 8, d->dgid, 16);
	bits_set(c, 0xc0 + 0x128, 8, qp->port);
}

static void live_qpc(const struct fab_qp *qp, uint8_t *c)
{
	/* QPC state numbers: SQE and SQD are swapped against the ABI's */
	static const uint8_t states[] = { 0, 1, 2, 3, 5, 4, 6 };

	bits_set(c, 0x000, 4, states[qp->state % 7]);
	bits_set(c, 0x004, 4, qp->lag_port);
	qpc_setup(qp, c);
	qpc_path(qp, c);
	qpc_counters(qp, c);
}

void qpc_image(const struct fab_qp *qp, uint8_t *qpc)
{
	static uint8_t frozen[MAX_QPS][256];
	static uint32_t frozen_qpn[MAX_QPS];
	uint32_t slot = obj_handle(TABLE_QP, qp);
	struct fault_site site;

	live_qpc(qp, qpc);
	fill_site(qp, &site);
	if (!fault_hit(F_FROZEN_QPC, &site))
		return;
	if (frozen_qpn[slot] != qp->qpn) {
		frozen_qpn[slot] = qp->qpn;
		memcpy(frozen[slot], qpc, sizeof(frozen[slot]) - QPC_OFFSET);
	}
	memcpy(qpc, frozen[slot], sizeof(frozen[slot]) - QPC_OFFSET);
}

void cqc_image(const struct fab_cq *cq, uint8_t *c)
{
	enum { STATUS_OVERFLOW = 0x9, ST_SOLICITED_ARMED = 0x6, ST_ARMED = 0x9, ST_FIRED = 0xa };
	uint32_t ci = 0;

	/* the record lies in the owner's memory: for others the last index that the device saw will do */
	if (cq->o.pid == getpid())
		ci = be32toh(((volatile uint32_t *)(uintptr_t)cq->dbr)[0]) & 0xffffff;
	bits_set(c, 0x000, 4, cq->error ? STATUS_OVERFLOW : 0);
	bits_set(c, 0x008, 3, cq->cqe_size == 128);
	bits_set(c, 0x014, 4, !cq->armed ? ST_FIRED : cq->solicited_only ? ST_SOLICITED_ARMED : ST_ARMED);
	bits_set(c, 0x063, 5, log2_of(cq->ncqe));
	bits_set(c, 0x108, 24, cq->notified_ci);
	bits_set(c, 0x148, 24, cq->o.pid == getpid() ? ci : cq->arm_ci);
	bits_set(c, 0x168, 24, cq->pi);
	bits_set(c, 0x1c0, 64, cq->dbr);
}

static uint32_t *segment(uint32_t *w, uint16_t dwords, uint16_t type)
{
	*w++ = htobe32((uint32_t)dwords << 16 | type);
	return w;
}

/* Information, the command as it was asked, the resource itself with its index, and the end. */
size_t resource_dump(uint8_t *out, uint16_t type, uint32_t index, const uint8_t *payload, size_t len)
{
	enum { INFO = 0xfffe, COMMAND = 0xfffa, TERMINATE = 0xfffb };
	uint32_t *w = (uint32_t *)(void *)out;

	w = segment(w, 4, INFO);
	*w++ = htobe32(1);          /* dump version */
	*w++ = htobe32(0x1021);     /* hardware */
	*w++ = htobe32(0x1c270000); /* firmware */
	w = segment(w, 5, COMMAND);
	*w++ = htobe32((uint32_t)type << 16);
	*w++ = htobe32(index);
	*w++ = 0;
	*w++ = htobe32(1u << 16);
	w = segment(w, (uint16_t)(4 + len / 4), type);
	*w++ = 0;
	*w++ = htobe32(index);
	*w++ = 0;
	memcpy(w, payload, len);
	w = segment(w + len / 4, 1, TERMINATE);
	return (size_t)((uint8_t *)w - out);
}
