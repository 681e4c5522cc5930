/* SPDX-License-Identifier: MIT */
/*
 * The sending half of an RC QP: reads WQEs from the send queue, cuts them into packets, waits for acknowledgements,
 * sends again (go-back-N), and completes. Payload is read from the program's memory each time, as an adapter does.
 */
#include <endian.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "emu.h"

/* vendor_err of a ConnectX for its usual errors, as logs of such systems show them. */
enum {
	VENDOR_RETRY_EXCEEDED = 0x81,
	VENDOR_RNR_EXCEEDED = 0x87,
	VENDOR_REMOTE_ACCESS = 0x88,
	VENDOR_REMOTE_OPERATION = 0x89,
	VENDOR_REMOTE_INVALID = 0x8a,
	VENDOR_LOCAL_PROTECTION = 0x51,
	VENDOR_LOCAL_OPERATION = 0x68,
	VENDOR_FLUSH = 0xf9,
};

int32_t psn_diff(uint32_t a, uint32_t b)
{
	int32_t d = (int32_t)((a - b) & 0xffffff);

	return d & 0x800000 ? d - 0x1000000 : d;
}

static uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & 0xffffff;
}

static struct tx_op *head_op(struct local_qp *l)
{
	return l->op_head == l->op_tail ? NULL : &l->op[l->op_head % WINDOW];
}

static uint32_t op_end(const struct tx_op *op)
{
	return psn_add(op->psn_first, op->npackets);
}

static bool is_read(const struct tx_op *op)
{
	return op->opcode == MLX5_OPCODE_RDMA_READ || op->opcode == MLX5_OPCODE_ATOMIC_CS ||
	       op->opcode == MLX5_OPCODE_ATOMIC_FA;
}

static bool is_atomic(const struct tx_op *op)
{
	return is_read(op) && op->opcode != MLX5_OPCODE_RDMA_READ;
}

/* The PSN after all WQEs read so far. */
static uint32_t next_free_psn(struct local_qp *l)
{
	return l->op_head == l->op_tail ? l->send_psn : op_end(&l->op[(l->op_tail - 1) % WINDOW]);
}

static const char *opcode_name(uint8_t opcode)
{
	switch (opcode) {
	case MLX5_OPCODE_RDMA_WRITE:
		return "write";
	case MLX5_OPCODE_RDMA_WRITE_IMM:
		return "write-imm";
	case MLX5_OPCODE_RDMA_READ:
		return "read";
	case MLX5_OPCODE_SEND:
	case MLX5_OPCODE_SEND_IMM:
	case MLX5_OPCODE_SEND_INVAL:
		return "send";
	default:
		return "other";
	}
}

static void op_site(struct local_qp *l, const struct tx_op *op, struct fault_site *site)
{
	fill_site(l->qp, site);
	site->side = SIDE_REQUESTER;
	site->bytes = op->bytes;
	site->op = opcode_name(op->opcode);
}

/* Segment n (of 16 bytes) of the WQE at a WQEBB index; the queue wraps at its end, inside a WQE too. */
static const uint8_t *segment(const struct fab_qp *qp, uint16_t wqebb, unsigned int n)
{
	size_t size = (size_t)qp->sq_cnt * 64;

	return (const uint8_t *)(uintptr_t)(qp->buf + qp->sq_off) +
	       (((size_t)(wqebb & (qp->sq_cnt - 1)) * 64 + n * 16) & (size - 1));
}

static unsigned int take_inline(const struct fab_qp *qp, uint16_t wqebb, unsigned int seg, struct tx_op *op)
{
	uint32_t n = be32toh(*(const __be32 *)segment(qp, wqebb, seg)) & 0x3ff;

	for (uint32_t i = 0; i < n && op->bytes < sizeof(op->inline_data); i++)
		op->inline_data[op->bytes++] = segment(qp, wqebb, seg + (i + 4) / 16)[(i + 4) % 16];
	op->inlined = true;
	return (4 + n + 15) / 16;
}

static unsigned int take_pointer(const struct mlx5_wqe_data_seg *d, struct tx_op *op)
{
	/* a byte count of 0 means 2^31 in a data segment; libmlx5 leaves out empty SGEs */
	if (op->nsge < sizeof(op->sge) / sizeof(*op->sge))
		op->sge[op->nsge++] = (struct sge){ be32toh(d->lkey), be32toh(d->byte_count), be64toh(d->addr) };
	op->bytes += be32toh(d->byte_count);
	return 1;
}

static void take_data(const struct fab_qp *qp, unsigned int seg, unsigned int ds, struct tx_op *op)
{
	while (seg < ds) {
		const struct mlx5_wqe_data_seg *d = (const void *)segment(qp, op->index, seg);

		seg += be32toh(d->byte_count) & MLX5_INLINE_SEG ? take_inline(qp, op->index, seg, op)
		                                                : take_pointer(d, op);
	}
}

static unsigned int take_remote(const struct fab_qp *qp, struct tx_op *op)
{
	const struct mlx5_wqe_raddr_seg *r = (const void *)segment(qp, op->index, 1);

	op->va = be64toh(r->raddr);
	op->rkey = be32toh(r->rkey);
	if (!is_atomic(op))
		return 2;
	const struct mlx5_wqe_atomic_seg *a = (const void *)segment(qp, op->index, 2);
	op->atomic[0] = be64toh(a->swap_add);
	op->atomic[1] = be64toh(a->compare);
	return 3;
}

static bool sges_valid(const struct fab_qp *qp, const struct tx_op *op)
{
	uint8_t *p;

	for (unsigned int i = 0; i < op->nsge; i++)
		if (op->sge[i].len && !mr_translate(qp, op->sge[i].lkey, op->sge[i].addr, op->sge[i].len,
		                              is_read(op) ? IB_UVERBS_ACCESS_LOCAL_WRITE : 0, &p))
			return false;
	return true;
}

static void fail_op(struct tx_op *op, uint8_t syndrome, uint8_t vendor)
{
	op->fail_syndrome = syndrome;
	op->fail_vendor = vendor;
	op->npackets = 0;
}

static void count_packets(const struct fab_qp *qp, struct tx_op *op)
{
	unsigned int mtu = path_mtu(qp);

	op->npackets = op->opcode == MLX5_OPCODE_NOP ? 0 : op->bytes ? (op->bytes + mtu - 1) / mtu : 1;
}

static void parse_opcode(const struct fab_qp *qp, struct tx_op *op, const struct mlx5_wqe_ctrl_seg *c, unsigned int ds)
{
	switch (op->opcode) {
	case MLX5_OPCODE_RDMA_WRITE_IMM:
	case MLX5_OPCODE_SEND_IMM:
	case MLX5_OPCODE_SEND_INVAL:
		op->imm = be32toh(c->imm);
		break;
	default:
		break;
	}
	switch (op->opcode) {
	case MLX5_OPCODE_RDMA_WRITE:
	case MLX5_OPCODE_RDMA_WRITE_IMM:
	case MLX5_OPCODE_RDMA_READ:
	case MLX5_OPCODE_ATOMIC_CS:
	case MLX5_OPCODE_ATOMIC_FA:
		take_data(qp, take_remote(qp, op), ds, op);
		break;
	case MLX5_OPCODE_SEND:
	case MLX5_OPCODE_SEND_IMM:
	case MLX5_OPCODE_SEND_INVAL:
		take_data(qp, 1, ds, op);
		break;
	case MLX5_OPCODE_NOP:
		break;
	default:
		fail_op(op, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, VENDOR_LOCAL_OPERATION);
		return;
	}
	count_packets(qp, op);
	if (!sges_valid(qp, op))
		fail_op(op, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, VENDOR_LOCAL_PROTECTION);
}

static void parse_wqe(struct local_qp *l, struct tx_op *op)
{
	const struct fab_qp *qp = l->qp;
	const struct mlx5_wqe_ctrl_seg *c = (const void *)segment(qp, l->fetch, 0);
	uint32_t word = be32toh(c->opmod_idx_opcode), qpn_ds = be32toh(c->qpn_ds);
	unsigned int ds = qpn_ds & 0x3f;

	memset(op, 0, offsetof(struct tx_op, sge));
	op->index = l->fetch;
	op->end = (uint16_t)(l->fetch + (ds ? (ds + 3) / 4 : 1));
	op->opcode = (uint8_t)word;
	op->signalled = c->fm_ce_se & MLX5_WQE_CTRL_CQ_UPDATE;
	op->solicited = c->fm_ce_se & MLX5_WQE_CTRL_SOLICITED;
	op->psn_first = next_free_psn(l);
	if (((word >> 8) & 0xffff) != l->fetch || qpn_ds >> 8 != qp->qpn || !ds) {
		fail_op(op, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, VENDOR_LOCAL_OPERATION);
		return;
	}
	parse_opcode(qp, op, c, ds);
	truth("wqe", "\"qpn\":%u,\"index\":%u,\"op\":\"%s\",\"bytes\":%u,\"signalled\":%s", qp->qpn, op->index,
	        opcode_name(op->opcode), op->bytes, op->signalled ? "true" : "false");
}

static void complete(struct local_qp *l, const struct tx_op *op, uint8_t syndrome, uint8_t vendor)
{
	struct fab_cq *cq = &fab->cq[l->qp->scq];
	struct completion c = {
		.opcode = syndrome ? MLX5_CQE_REQ_ERR : MLX5_CQE_REQ,
		.wqe_opcode = op->opcode,
		.wqe_counter = op->index,
		.syndrome = syndrome,
		.vendor_err = vendor,
		.bytes = syndrome        ? 0
		         : is_atomic(op) ? 8
		                         : op->bytes,
		.inlined = !syndrome && op->scattered ? op->inline_data : NULL,
	};

	if (syndrome || op->signalled)
		cqe_write(cq, l->qp, &c);
}

/* The head fails: nothing behind it will be executed. */
static void fail_head(struct local_qp *l, uint8_t syndrome, uint8_t vendor)
{
	struct tx_op *op = head_op(l);

	l->qp->hw_sq = op->index; /* qp_to_error() may move it on */
	qp_to_error(l, true);
	complete(l, op, syndrome, vendor);
	l->op_head++;
	requester_flush(l);
}

/* Error state: every WQE gets its CQE, asked for or not; those that were never read, too. */
void requester_flush(struct local_qp *l)
{
	struct tx_op *op;

	l->rto_ns = l->rnr_ns = l->late_ns = 0;
	for (; (op = head_op(l)); l->op_head++)
		complete(l, op, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, VENDOR_FLUSH);
	l->qp->sw_sq = (uint16_t)be32toh(((volatile __be32 *)(uintptr_t)l->qp->dbr)[MLX5_SND_DBR]);
	while (l->fetch != l->qp->sw_sq) {
		struct tx_op wqe;

		parse_wqe(l, &wqe);
		complete(l, &wqe, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, VENDOR_FLUSH);
		l->fetch = wqe.end;
	}
}

static uint32_t peer_beat(const struct local_qp *l)
{
	const struct fab_qp *peer = qp_by_number(l->qp->attr.dest_qp_num);

	return peer ? fab->ctx[peer->o.ctx].beat : 0;
}

void requester_before_receive(struct local_qp *l)
{
	l->beat_before_receive = peer_beat(l);
}

/*
 * A timeout counts only if the peer's device thread had its turn since, and before this one looked for answers: an
 * adapter answers whether or not its host is busy. A peer that is dead is not waited for, one that is stopped for two
 * seconds.
 */
static bool peer_had_no_turn(struct local_qp *l)
{
	enum { STEP_NS = 4000000, STEPS = 500 };
	const struct fab_qp *peer = qp_by_number(l->qp->attr.dest_qp_num);

	if (!peer || l->beat_before_receive - l->peer_beat >= 2 || l->extensions >= STEPS)
		return false;
	fabric_lock();
	fabric_reap();
	fabric_unlock();
	if (!peer->o.used)
		return false;
	l->extensions++;
	l->rto_ns = now_ns() + STEP_NS;
	return true;
}

static void start_timer(struct local_qp *l)
{
	/* 4.096 us * 2^timeout */
	l->rto_ns = now_ns() + (4096ull << (l->qp->attr.timeout & 31));
	l->peer_beat = peer_beat(l);
	l->extensions = 0;
}

static void arm_timer(struct local_qp *l)
{
	const struct fab_qp *qp = l->qp;

	/* a timeout of 0 waits for ever */
	if (!qp->attr.timeout || psn_diff(l->send_psn, psn_add(qp->acked_psn, 1)) <= 0)
		l->rto_ns = 0;
	else
		start_timer(l);
}

/* Completes what is acknowledged, in order; WQEs without packets (NOP, failed ones) when their turn comes. */
static void retire(struct local_qp *l)
{
	struct tx_op *op;

	while (l->qp->state != QPS_ERR && (op = head_op(l))) {
		if (op->fail_syndrome) {
			fail_head(l, op->fail_syndrome, op->fail_vendor);
			return;
		}
		if (op->npackets && psn_diff(psn_add(op_end(op), 0xffffff), l->qp->acked_psn) > 0)
			return;
		complete(l, op, 0, 0);
		l->op_head++;
	}
}

static void acknowledge(struct local_qp *l, uint32_t psn)
{
	struct fab_qp *qp = l->qp;

	if (psn_diff(psn, qp->acked_psn) <= 0 || psn_diff(psn, l->max_psn) >= 0)
		return;
	qp->acked_psn = psn;
	if (psn_diff(l->send_psn, psn) <= 0)
		l->send_psn = psn_add(psn, 1);
	qp->cur_retry = qp->attr.retry_cnt;
	qp->cur_rnr = qp->attr.rnr_retry;
	retire(l);
	arm_timer(l);
}

/* One injected fault holds the queue until it is reset: nothing behind a WQE that is not executed can be. */
static bool is_held(struct local_qp *l, const struct tx_op *op)
{
	struct fault_site site;
	const struct fault *f;

	if (l->judged == l->fetch + 1u)
		return l->held || now_ns() < l->late_ns;
	op_site(l, op, &site);
	l->judged = l->fetch + 1u;
	l->held = fault_hit(F_NO_EXECUTE, &site);
	f = fault_hit(F_LATE, &site);
	l->late_ns = f ? now_ns() + f->arg[0] : 0;
	return l->held || f;
}

static bool is_unread(struct local_qp *l)
{
	struct fault_site site;

	if (l->judged_read != l->fetch + 1u) {
		fill_site(l->qp, &site);
		site.side = SIDE_REQUESTER;
		l->judged_read = l->fetch + 1u;
		l->unread = fault_hit(F_NO_FETCH, &site);
	}
	return l->unread;
}

static void inject_error(struct local_qp *l, struct tx_op *op)
{
	struct fault_site site;
	const struct fault *f;

	op_site(l, op, &site);
	f = fault_hit(F_ERROR, &site);
	if (f)
		fail_op(op, (uint8_t)f->arg[0], (uint8_t)f->arg[1]);
}

static void fetch_wqes(struct local_qp *l)
{
	struct fab_qp *qp = l->qp;

	while (l->fetch != qp->sw_sq && l->op_tail - l->op_head < WINDOW) {
		struct tx_op *op = &l->op[l->op_tail % WINDOW];

		if (is_unread(l))
			return;
		parse_wqe(l, op);
		if (is_held(l, op))
			return;
		inject_error(l, op);
		l->fetch = op->end;
		l->op_tail++;
		if (!op->npackets && !op->fail_syndrome)
			qp->hw_sq = op->end;
	}
}

/* Copies part of a message out of the program's memory, or into it. False: a region is gone. */
static bool copy_sges(
        struct local_qp *l, const struct tx_op *op, uint32_t offset, uint32_t len, uint8_t *bytes, bool into_program)
{
	uint8_t *memory;

	for (unsigned int i = 0; i < op->nsge && len; i++) {
		uint32_t n = op->sge[i].len;

		if (offset >= n) {
			offset -= n;
			continue;
		}
		n = n - offset < len ? n - offset : len;
		if (!mr_translate(l->qp, op->sge[i].lkey, op->sge[i].addr + offset, n,
		            into_program ? IB_UVERBS_ACCESS_LOCAL_WRITE : 0, &memory))
			return false;
		memcpy(into_program ? memory : bytes, into_program ? bytes : memory, n);
		bytes += n;
		len -= n;
		offset = 0;
	}
	return true;
}

static bool gather(struct local_qp *l, const struct tx_op *op, uint32_t offset, uint32_t len, uint8_t *to)
{
	if (!op->inlined)
		return copy_sges(l, op, offset, len, to, false);
	memcpy(to, op->inline_data + offset, len);
	return true;
}

static bool scatter(struct local_qp *l, const struct tx_op *op, uint32_t offset, uint32_t len, const uint8_t *from)
{
	return copy_sges(l, op, offset, len, (uint8_t *)(uintptr_t)from, true);
}

static void corrupt_source(struct local_qp *l, const struct tx_op *op, struct packet *p)
{
	const struct fault *f;
	struct fault_site site;

	op_site(l, op, &site);
	site.target = "source";
	f = p->len ? fault_hit(F_CORRUPT, &site) : NULL;
	if (f)
		p->data[f->arg[0] % p->len] ^= 1;
}

static uint8_t packet_op(const struct tx_op *op)
{
	if (is_atomic(op))
		return PK_ATOMIC;
	if (is_read(op))
		return PK_READ;
	return op->opcode == MLX5_OPCODE_RDMA_WRITE || op->opcode == MLX5_OPCODE_RDMA_WRITE_IMM ? PK_WRITE : PK_SEND;
}

static void last_flags(const struct tx_op *op, struct packet *p)
{
	p->flags |= PF_LAST;
	if (op->solicited)
		p->flags |= PF_SOLICITED;
	if (op->opcode == MLX5_OPCODE_RDMA_WRITE_IMM || op->opcode == MLX5_OPCODE_SEND_IMM)
		p->flags |= PF_IMM;
	if (op->opcode == MLX5_OPCODE_SEND_INVAL)
		p->flags |= PF_INVALIDATE;
	p->imm = op->imm;
}

/* The packet with a PSN of a message; a read is one request for all that is missing from there on. */
static bool build_packet(struct local_qp *l, const struct tx_op *op, uint32_t psn, struct packet *p)
{
	uint32_t n = (uint32_t)psn_diff(psn, op->psn_first), mtu = path_mtu(l->qp), offset = n * mtu;

	memset(p, 0, sizeof(*p));
	p->op = packet_op(op);
	p->dst_qpn = l->qp->attr.dest_qp_num;
	p->psn = psn;
	p->rkey = op->rkey;
	p->va = op->va + offset;
	p->dma_len = op->bytes - offset;
	if (n == 0)
		p->flags |= PF_FIRST;
	if (is_read(op)) {
		memcpy(p->atomic, op->atomic, sizeof(p->atomic));
		p->flags |= op->opcode == MLX5_OPCODE_ATOMIC_CS ? PF_IMM : 0;
		return true;
	}
	if (n == op->npackets - 1)
		last_flags(op, p);
	p->len = p->dma_len < mtu ? p->dma_len : mtu;
	return gather(l, op, offset, p->len, p->data);
}

static struct tx_op *op_of_psn(struct local_qp *l, uint32_t psn)
{
	for (uint32_t i = l->op_head; i != l->op_tail; i++) {
		struct tx_op *op = &l->op[i % WINDOW];

		if (op->fail_syndrome)
			return NULL;
		if (op->npackets && psn_diff(psn, op->psn_first) >= 0 && psn_diff(psn, op_end(op)) < 0)
			return op;
	}
	return NULL;
}

static void advance(struct local_qp *l, struct tx_op *op)
{
	struct fab_qp *qp = l->qp;

	l->send_psn = is_read(op) ? op_end(op) : psn_add(l->send_psn, 1);
	if (psn_diff(l->send_psn, l->max_psn) <= 0)
		return;
	l->max_psn = qp->next_psn = l->send_psn;
	if (l->send_psn == op_end(op))
		qp->hw_sq = op->end;
}

static void transmit(struct local_qp *l)
{
	static union {
		struct packet p;
		struct fab_slot room;
	} buf;
	struct tx_op *op;
	bool sent = false;

	while ((op = op_of_psn(l, l->send_psn))) {
		if (!build_packet(l, op, l->send_psn, &buf.p)) {
			fail_op(op, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, VENDOR_LOCAL_PROTECTION);
			break;
		}
		corrupt_source(l, op, &buf.p);
		if (!packet_send(l->qp, &buf.p))
			break;
		advance(l, op);
		sent = true;
	}
	/* from the last packet on: a message may take more than one turn */
	if (sent || !l->rto_ns)
		arm_timer(l);
}

static void go_back(struct local_qp *l)
{
	l->send_psn = psn_add(l->qp->acked_psn, 1);
}

static void ack_timeout(struct local_qp *l)
{
	struct fab_qp *qp = l->qp;

	count_hw(qp, HC_ACK_TIMEOUT);
	truth("ack_timeout", "\"qpn\":%u,\"retries_left\":%u", qp->qpn, qp->cur_retry);
	if (!qp->cur_retry) {
		count_hw(qp, HC_TRANSPORT_RETRIES);
		fail_head(l, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, VENDOR_RETRY_EXCEEDED);
		return;
	}
	qp->cur_retry--;
	go_back(l);
	start_timer(l);
}

static void check_timers(struct local_qp *l)
{
	uint64_t now = now_ns();

	if (l->rnr_ns && now >= l->rnr_ns)
		l->rnr_ns = 0;
	if (l->rto_ns && now >= l->rto_ns && head_op(l) && !peer_had_no_turn(l))
		ack_timeout(l);
}

void requester_run(struct local_qp *l)
{
	struct fab_qp *qp = l->qp;

	if (qp->state == QPS_ERR)
		requester_flush(l);
	if (qp->state != QPS_RTS && qp->state != QPS_SQD)
		return;
	if (qp->state == QPS_RTS)
		fetch_wqes(l);
	retire(l);
	/* first what there was no room for: while a message is being sent nobody owes an answer to it */
	if (qp->state != QPS_ERR && !l->rnr_ns)
		transmit(l);
	check_timers(l);
}

/* The first read whose responses are not all here, and the PSN it waits for. */
static struct tx_op *waiting_read(struct local_qp *l, uint32_t *psn)
{
	for (uint32_t i = l->op_head; i != l->op_tail; i++) {
		struct tx_op *op = &l->op[i % WINDOW];
		uint32_t next = psn_add(l->qp->acked_psn, 1);

		if (!op->npackets || !is_read(op))
			continue;
		*psn = psn_diff(next, op->psn_first) > 0 ? next : op->psn_first;
		return op;
	}
	return NULL;
}

/* Something behind the response that is missing has arrived. */
static void implied_nak(struct local_qp *l, uint32_t expected)
{
	count_hw(l->qp, HC_IMPLIED_NAK);
	acknowledge(l, psn_add(expected, 0xffffff));
	if (psn_diff(l->send_psn, expected) > 0)
		l->send_psn = expected;
}

static void read_response(struct local_qp *l, const struct packet *p)
{
	uint32_t expected, mtu = path_mtu(l->qp);
	struct tx_op *op = waiting_read(l, &expected);

	if (!op || psn_diff(p->psn, expected) < 0)
		return;
	if (p->psn != expected) {
		implied_nak(l, expected);
		return;
	}
	op->scattered = l->qp->sig_all && l->qp->scatter_cqe && op->bytes <= 32 && op->bytes;
	if (op->scattered)
		memcpy(op->inline_data, p->data, p->len);
	else if (!scatter(l, op, (uint32_t)psn_diff(p->psn, op->psn_first) * mtu, p->len, p->data))
		fail_op(op, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, VENDOR_LOCAL_PROTECTION);
	acknowledge(l, p->psn);
}

static void positive_ack(struct local_qp *l, const struct packet *p)
{
	uint32_t expected;

	if (waiting_read(l, &expected) && psn_diff(p->psn, expected) >= 0)
		implied_nak(l, expected);
	else
		acknowledge(l, p->psn);
}

static void sequence_nak(struct local_qp *l, const struct packet *p)
{
	count_hw(l->qp, HC_PACKET_SEQ_ERR);
	acknowledge(l, psn_add(p->psn, 0xffffff));
	go_back(l);
}

static void fatal_nak(struct local_qp *l, const struct packet *p)
{
	static const struct {
		uint8_t syndrome, vendor;
		int counter;
	} kinds[] = {
		[NAK_INVALID] = { MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, VENDOR_REMOTE_INVALID, HC_REQ_INVALID },
		[NAK_ACCESS] = { MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, VENDOR_REMOTE_ACCESS, HC_REQ_ACCESS },
		[NAK_OPERATION] = { MLX5_CQE_SYNDROME_REMOTE_OP_ERR, VENDOR_REMOTE_OPERATION, -1 },
	};

	acknowledge(l, psn_add(p->psn, 0xffffff));
	if (!head_op(l) || l->qp->state == QPS_ERR)
		return;
	if (kinds[p->syndrome].counter >= 0)
		count_hw(l->qp, (enum hw_counter)kinds[p->syndrome].counter);
	fail_head(l, kinds[p->syndrome].syndrome, kinds[p->syndrome].vendor);
}

/* IBTA's encoding of the RNR NAK timer, in units of 10 us. */
static uint64_t rnr_delay_ns(uint8_t code)
{
	static const uint16_t units[32] = { 65535, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
		512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152 };

	return units[code & 31] * 10000ull;
}

static void rnr_nak(struct local_qp *l, const struct packet *p)
{
	struct fab_qp *qp = l->qp;

	count_hw(qp, HC_RNR_NAK_RETRY);
	acknowledge(l, psn_add(p->psn, 0xffffff));
	if (!head_op(l) || qp->state == QPS_ERR)
		return;
	if (qp->attr.rnr_retry != 7 && !qp->cur_rnr) { /* 7: for ever */
		count_hw(qp, HC_RNR_RETRIES);
		fail_head(l, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR, VENDOR_RNR_EXCEEDED);
		return;
	}
	if (qp->attr.rnr_retry != 7)
		qp->cur_rnr--;
	l->rnr_ns = now_ns() + rnr_delay_ns(p->syndrome);
	l->rto_ns = 0;
	go_back(l);
}

void requester_ack(struct local_qp *l, const struct packet *p)
{
	if (l->qp->state != QPS_RTS && l->qp->state != QPS_SQD)
		return;
	switch (p->op) {
	case PK_READ_RESPONSE:
		read_response(l, p);
		break;
	case PK_ACK:
		positive_ack(l, p);
		break;
	case PK_RNR:
		rnr_nak(l, p);
		break;
	default:
		if (p->syndrome == NAK_SEQUENCE)
			sequence_nak(l, p);
		else
			fatal_nak(l, p);
	}
}
