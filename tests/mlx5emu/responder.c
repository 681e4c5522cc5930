/* SPDX-License-Identifier: MIT */
/* The receiving half of an RC QP: order of packets, access checks, the receive queue, reads and atomics. */
#include <endian.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "emu.h"

enum {
	INVALID_LKEY = 0x100, /* ends the list of a receive WQE (mlx5_wqe_data_seg of an unused SGE) */
	EV_QP_REQ_ERR = 2,
	EV_QP_ACCESS_ERR = 3,
};

static uint32_t psn_next(uint32_t psn)
{
	return (psn + 1) & 0xffffff;
}

static void answer(struct local_qp *l, uint8_t op, uint32_t psn, uint8_t syndrome)
{
	l->ack_due = true;
	l->ack_op = op;
	l->ack_psn = psn;
	l->ack_syndrome = syndrome;
}

static void acknowledge_message(struct local_qp *l, uint32_t psn)
{
	struct fault_site site;

	fill_site(l->qp, &site);
	site.side = SIDE_RESPONDER;
	/* a loopback QP pair is one adapter; the truth then blames it, see guilty_of() */
	site.loopback = l->loopback;
	if (!fault_hit(F_NO_ACK, &site))
		answer(l, PK_ACK, psn, 0);
}

/* What the requester did wrong is an event for the responder's program too, and ends the connection (IBTA, class C). */
static void refuse(struct local_qp *l, const struct packet *p, enum nak_code code)
{
	struct fab_qp *qp = l->qp;
	struct packet nak = { .op = PK_NAK, .dst_qpn = p->src_qpn, .psn = p->psn, .syndrome = (uint8_t)code };

	if (code == NAK_ACCESS)
		count_hw(qp, HC_RESP_ACCESS);
	truth("refused", "\"qpn\":%u,\"code\":%u,\"rkey\":%u", qp->qpn, code, p->rkey);
	packet_send(qp, &nak);
	l->ack_due = false;
	/* a QP that talks to itself must stay able to take its own NAK */
	if (p->src_qpn == qp->qpn)
		return;
	qp_to_error(l, true);
	qp->async_events++;
	ctx_async_event(&emu.ctx[qp->o.ctx], qp->user_handle,
	        (enum async_event)(code == NAK_ACCESS ? EV_QP_ACCESS_ERR : EV_QP_REQ_ERR));
}

static uint32_t rq_producer(const struct fab_qp *qp)
{
	return be32toh(((volatile __be32 *)(uintptr_t)qp->dbr)[MLX5_RCV_DBR]) & 0xffff;
}

/* Takes the next receive WQE: a list of data segments. False: the program has posted none. */
static bool take_receive(struct local_qp *l)
{
	struct fab_qp *qp = l->qp;
	uint32_t max = (1u << qp->rq_shift) / sizeof(struct mlx5_wqe_data_seg);
	const struct mlx5_wqe_data_seg *d;

	qp->sw_rq = rq_producer(qp);
	if (!qp->rq_cnt || (uint16_t)qp->hw_rq == (uint16_t)qp->sw_rq)
		return false;
	l->rq_index = (uint16_t)qp->hw_rq++;
	d = (const void *)(uintptr_t)(qp->buf + ((uint64_t)(l->rq_index & (qp->rq_cnt - 1)) << qp->rq_shift));
	l->nrsge = 0;
	for (uint32_t i = 0; i < max && i < 32 && be32toh(d[i].lkey) != INVALID_LKEY; i++)
		l->rsge[l->nrsge++] = (struct sge){ be32toh(d[i].lkey), be32toh(d[i].byte_count), be64toh(d[i].addr) };
	return true;
}

static void receive_cqe(struct local_qp *l, const struct completion *c)
{
	cqe_write(&fab->cq[l->qp->rcq], l->qp, c);
}

static void fail_receive(struct local_qp *l, uint8_t syndrome, uint8_t vendor)
{
	struct completion c = {
		.opcode = MLX5_CQE_RESP_ERR, .wqe_counter = l->rq_index, .syndrome = syndrome, .vendor_err = vendor
	};

	qp_to_error(l, true);
	receive_cqe(l, &c);
	l->receiving = false;
}

/* In the error state every receive WQE is returned. */
void responder_flush(struct local_qp *l)
{
	l->ack_due = false;
	l->job_head = l->job_tail;
	while (take_receive(l))
		fail_receive(l, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 0xf9);
}

static void not_ready(struct local_qp *l, const struct packet *p)
{
	count_hw(l->qp, HC_OUT_OF_BUFFER);
	answer(l, PK_RNR, p->psn, l->qp->attr.min_rnr_timer);
}

static const uint8_t *corrupt_target(struct local_qp *l, const struct packet *p, uint8_t *copy)
{
	const struct fault *f;
	struct fault_site site;

	fill_site(l->qp, &site);
	site.side = SIDE_RESPONDER;
	site.bytes = p->len;
	site.target = "target";
	site.loopback = l->loopback;
	f = p->len ? fault_hit(F_CORRUPT, &site) : NULL;
	if (!f)
		return p->data;
	memcpy(copy, p->data, p->len);
	copy[f->arg[0] % p->len] ^= 1;
	return copy;
}

static bool place_write(struct local_qp *l, const struct packet *p)
{
	uint8_t copy[MAX_MTU], *to;

	if (!p->len)
		return true;
	if (!(l->qp->attr.qp_access_flags & IB_UVERBS_ACCESS_REMOTE_WRITE) ||
	        !mr_translate(l->qp, p->rkey, p->va, p->len, IB_UVERBS_ACCESS_REMOTE_WRITE, &to))
		return false;
	memcpy(to, corrupt_target(l, p, copy), p->len);
	return true;
}

static void advance(struct local_qp *l, const struct packet *p)
{
	l->qp->rcv_psn = psn_next(p->psn);
	l->nak_sent = false;
	if (p->flags & PF_LAST) {
		l->qp->msn = (l->qp->msn + 1) & 0xffffff;
		acknowledge_message(l, p->psn);
	}
}

static void receive_write(struct local_qp *l, const struct packet *p)
{
	struct completion c = { .opcode = MLX5_CQE_RESP_WR_IMM, .imm = p->imm, .solicited = p->flags & PF_SOLICITED };

	if (p->flags & PF_FIRST)
		l->received = 0;
	/* with immediate data a receive WQE is used up, at the last packet */
	if (p->flags & PF_IMM && !take_receive(l)) {
		not_ready(l, p);
		return;
	}
	if (!place_write(l, p)) {
		refuse(l, p, NAK_ACCESS);
		return;
	}
	l->received += p->len;
	if (p->flags & PF_LAST)
		count_hw(l->qp, HC_RX_WRITE);
	advance(l, p);
	if (p->flags & PF_IMM) {
		c.wqe_counter = l->rq_index;
		c.bytes = l->received;
		receive_cqe(l, &c);
	}
}

enum placed { PLACED, TOO_LONG, NO_ACCESS };

static enum placed scatter(struct local_qp *l, uint32_t offset, const uint8_t *from, uint32_t len)
{
	uint8_t *to;

	for (unsigned int i = 0; i < l->nrsge && len; i++) {
		uint32_t n = l->rsge[i].len;

		if (offset >= n) {
			offset -= n;
			continue;
		}
		n = n - offset < len ? n - offset : len;
		if (!mr_translate(
		            l->qp, l->rsge[i].lkey, l->rsge[i].addr + offset, n, IB_UVERBS_ACCESS_LOCAL_WRITE, &to))
			return NO_ACCESS;
		memcpy(to, from, n);
		from += n;
		len -= n;
		offset = 0;
	}
	return len ? TOO_LONG : PLACED;
}

static uint32_t receive_room(const struct local_qp *l)
{
	uint32_t room = 0;

	for (unsigned int i = 0; i < l->nrsge; i++)
		room += l->rsge[i].len;
	return room;
}

/* Short messages go into the CQE where the program asked for it: the library copies them on (MLX5_QP_FLAG_SCATTER_CQE).
 */
static bool goes_to_cqe(const struct local_qp *l, const struct packet *p)
{
	uint32_t limit = fab->cq[l->qp->rcq].cqe_size == 128 ? 64 : 32;

	return l->qp->scatter_cqe && p->flags & PF_FIRST && p->flags & PF_LAST && p->len && p->len <= limit &&
	       p->len <= receive_room(l);
}

static uint8_t send_opcode(const struct packet *p)
{
	if (p->flags & PF_IMM)
		return MLX5_CQE_RESP_SEND_IMM;
	return p->flags & PF_INVALIDATE ? MLX5_CQE_RESP_SEND_INV : MLX5_CQE_RESP_SEND;
}

static void receive_failed(struct local_qp *l, const struct packet *p, enum placed why)
{
	struct packet nak = { .op = PK_NAK, .dst_qpn = p->src_qpn, .psn = p->psn };

	nak.syndrome = why == TOO_LONG ? NAK_INVALID : NAK_OPERATION;
	if (why == TOO_LONG)
		count_hw(l->qp, HC_RESP_LENGTH);
	packet_send(l->qp, &nak);
	fail_receive(l, why == TOO_LONG ? MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR : MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 0x51);
}

static void receive_send(struct local_qp *l, const struct packet *p)
{
	uint8_t copy[MAX_MTU];
	const uint8_t *data = p->data;
	struct completion c = { .opcode = send_opcode(p), .imm = p->imm, .solicited = p->flags & PF_SOLICITED };
	enum placed placed = PLACED;

	if (p->flags & PF_FIRST) {
		if (!take_receive(l)) {
			not_ready(l, p);
			return;
		}
		l->received = 0;
		l->receiving = true;
	}
	data = corrupt_target(l, p, copy);
	if (goes_to_cqe(l, p))
		c.inlined = data;
	else
		placed = scatter(l, l->received, data, p->len);
	if (placed != PLACED) {
		receive_failed(l, p, placed);
		return;
	}
	l->received += p->len;
	advance(l, p);
	if (p->flags & PF_LAST) {
		l->receiving = false;
		c.bytes = l->received;
		c.wqe_counter = l->rq_index;
		receive_cqe(l, &c);
	}
}

static bool add_job(struct local_qp *l, const struct packet *p, struct read_job *job)
{
	if (l->job_tail - l->job_head == READ_JOBS)
		return false;
	job->dst_qpn = p->src_qpn;
	job->psn = p->psn;
	l->job[l->job_tail++ % READ_JOBS] = *job;
	return true;
}

static bool start_read(struct local_qp *l, const struct packet *p)
{
	struct read_job job = { .rkey = p->rkey, .va = p->va, .left = p->dma_len, .last = p->dma_len == 0 };

	return add_job(l, p, &job);
}

static uint32_t read_packets(const struct local_qp *l, const struct packet *p)
{
	uint32_t mtu = path_mtu(l->qp);

	return p->dma_len ? (p->dma_len + mtu - 1) / mtu : 1;
}

static void receive_read(struct local_qp *l, const struct packet *p)
{
	uint8_t *from;

	if (p->dma_len &&
	        (!(l->qp->attr.qp_access_flags & IB_UVERBS_ACCESS_REMOTE_READ) ||
	                !mr_translate(l->qp, p->rkey, p->va, p->dma_len, IB_UVERBS_ACCESS_REMOTE_READ, &from))) {
		refuse(l, p, NAK_ACCESS);
		return;
	}
	if (!start_read(l, p))
		return;
	count_hw(l->qp, HC_RX_READ);
	l->nak_sent = false;
	l->qp->msn = (l->qp->msn + 1) & 0xffffff;
	l->qp->rcv_psn = (p->psn + read_packets(l, p)) & 0xffffff;
}

static uint64_t do_atomic(uint8_t *at, const struct packet *p)
{
	uint64_t old, *word = (uint64_t *)(void *)at;

	if (!(p->flags & PF_IMM))
		return __atomic_fetch_add(word, p->atomic[0], __ATOMIC_ACQ_REL);
	old = p->atomic[1];
	__atomic_compare_exchange_n(word, &old, p->atomic[0], false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return old;
}

/* Results are kept: an atomic that comes again must not be done again. */
static void receive_atomic(struct local_qp *l, const struct packet *p)
{
	struct read_job job = { .atomic = true, .left = 8 };
	uint8_t *at;

	if (!(l->qp->attr.qp_access_flags & IB_UVERBS_ACCESS_REMOTE_ATOMIC) ||
	        !mr_translate(l->qp, p->rkey, p->va, 8, IB_UVERBS_ACCESS_REMOTE_ATOMIC, &at) || p->va & 7) {
		refuse(l, p, NAK_ACCESS);
		return;
	}
	if (l->job_tail - l->job_head == READ_JOBS)
		return;
	job.result = do_atomic(at, p);
	l->atomic_last[l->atomic_next] = job.result;
	l->atomic_psn[l->atomic_next] = p->psn | 1u << 24;
	l->atomic_next = (l->atomic_next + 1) % 8;
	add_job(l, p, &job);
	count_hw(l->qp, HC_RX_ATOMIC);
	l->nak_sent = false;
	l->qp->rcv_psn = psn_next(p->psn);
}

static void repeat_atomic(struct local_qp *l, const struct packet *p)
{
	for (int i = 0; i < 8; i++)
		if (l->atomic_psn[i] == (p->psn | 1u << 24)) {
			struct read_job job = { .atomic = true, .left = 8, .result = l->atomic_last[i] };

			add_job(l, p, &job);
			return;
		}
}

static void duplicate(struct local_qp *l, const struct packet *p)
{
	uint8_t *from;

	count_hw(l->qp, HC_DUPLICATE);
	if (p->op == PK_ATOMIC)
		repeat_atomic(l, p);
	else if (p->op == PK_READ &&
	         (!p->dma_len || mr_translate(l->qp, p->rkey, p->va, p->dma_len, IB_UVERBS_ACCESS_REMOTE_READ, &from)))
		start_read(l, p);
	else if (p->op != PK_READ && p->flags & PF_LAST)
		acknowledge_message(l, (l->qp->rcv_psn - 1) & 0xffffff);
}

static void out_of_sequence(struct local_qp *l)
{
	count_hw(l->qp, HC_OUT_OF_SEQUENCE);
	if (l->nak_sent)
		return; /* one NAK for each gap */
	l->nak_sent = true;
	answer(l, PK_NAK, l->qp->rcv_psn, NAK_SEQUENCE);
}

/* Every packet of a message but its last is as long as the path MTU, and none is longer (IBTA 9.7.4.1.6). */
static bool has_wrong_length(const struct local_qp *l, const struct packet *p)
{
	uint32_t mtu = path_mtu(l->qp);

	if (p->op != PK_WRITE && p->op != PK_SEND)
		return false;
	return p->len > mtu || (!(p->flags & PF_LAST) && p->len != mtu);
}

void responder_packet(struct local_qp *l, const struct packet *p)
{
	const struct fab_qp *qp = l->qp, *src = qp_by_number(p->src_qpn);
	int32_t d = psn_diff(p->psn, qp->rcv_psn);

	/* a QP that is not ready, or a stranger: dropped without a word */
	if ((qp->state != QPS_RTR && qp->state != QPS_RTS && qp->state != QPS_SQD) ||
	        p->src_qpn != qp->attr.dest_qp_num)
		return;
	l->loopback = src && src->o.dev == qp->o.dev && src->port == qp->port;
	if (d > 0)
		out_of_sequence(l);
	else if (d < 0)
		duplicate(l, p);
	else if (has_wrong_length(l, p))
		refuse(l, p, NAK_INVALID);
	else if (p->op == PK_WRITE)
		receive_write(l, p);
	else if (p->op == PK_SEND)
		receive_send(l, p);
	else if (p->op == PK_READ)
		receive_read(l, p);
	else
		receive_atomic(l, p);
}

static bool send_answer(struct local_qp *l)
{
	struct packet p = { .op = l->ack_op,
		.dst_qpn = l->qp->attr.dest_qp_num,
		.psn = l->ack_psn,
		.syndrome = l->ack_syndrome,
		.msn = l->qp->msn };

	return packet_send(l->qp, &p);
}

/* The next response packet of a read. False: no room on the way. */
static bool send_response(struct local_qp *l, struct read_job *job)
{
	static union {
		struct packet p;
		struct fab_slot room;
	} buf;
	uint32_t mtu = path_mtu(l->qp), n = job->left < mtu ? job->left : mtu;
	uint8_t *from;

	memset(&buf.p, 0, sizeof(buf.p));
	buf.p.op = PK_READ_RESPONSE;
	buf.p.dst_qpn = job->dst_qpn;
	buf.p.psn = job->psn;
	buf.p.len = n;
	if (job->atomic)
		memcpy(buf.p.data, &job->result, 8);
	else if (n && mr_translate(l->qp, job->rkey, job->va, n, IB_UVERBS_ACCESS_REMOTE_READ, &from))
		memcpy(buf.p.data, from, n);
	if (!packet_send(l->qp, &buf.p))
		return false;
	job->va += n;
	job->left -= n;
	job->psn = psn_next(job->psn);
	job->last = job->left == 0;
	return true;
}

/* Answers keep their order: reads that came before an acknowledgement go first. */
void responder_run(struct local_qp *l)
{
	struct fault_site site;

	if (l->qp->state == QPS_ERR) {
		responder_flush(l);
		return;
	}
	fill_site(l->qp, &site);
	site.side = SIDE_RESPONDER;
	site.loopback = l->loopback;
	while (l->job_head != l->job_tail) {
		struct read_job *job = &l->job[l->job_head % READ_JOBS];

		if (fault_hit(F_NO_ACK, &site)) {
			l->job_head++;
			continue;
		}
		if (!send_response(l, job))
			return;
		if (job->last)
			l->job_head++;
	}
	if (l->ack_due && send_answer(l))
		l->ack_due = false;
}
