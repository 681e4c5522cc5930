/* SPDX-License-Identifier: MIT */
/*
 * The wire: one ring for each QP, in memory that all processes of the fabric share. It loses nothing by itself, as a
 * network with flow control: a full ring makes the sender wait. Losses come from faults, closed ports and wrong
 * addresses.
 */
#include <string.h>

#include "emu.h"

enum { HEADER_BYTES = 58 }; /* Ethernet, IPv4, UDP, BTH, ICRC: close enough for counters */

static bool owns_gid(const struct fab_port *port, const uint8_t *gid)
{
	for (int i = 0; i < MAX_GIDS; i++)
		if (port->gid[i].used && !memcmp(port->gid[i].raw, gid, 16))
			return true;
	return false;
}

/* Does the address vector of src lead to the port of dst? */
static bool is_routed(const struct fab_qp *src, const struct fab_qp *dst)
{
	const struct fab_port *from = qp_port(src), *to = qp_port(dst);

	if (from->ib != to->ib)
		return false;
	return from->ib ? src->attr.dest.dlid == to->lid : owns_gid(to, src->attr.dest.dgid);
}

static bool is_response(const struct packet *p)
{
	return p->op >= PK_READ_RESPONSE;
}

static const char *op_name(const struct packet *p)
{
	static const char *const names[] = { [PK_WRITE] = "write",
		[PK_SEND] = "send",
		[PK_READ] = "read",
		[PK_ATOMIC] = "atomic",
		[PK_READ_RESPONSE] = "read",
		[PK_ACK] = "ack",
		[PK_NAK] = "nak",
		[PK_RNR] = "rnr" };

	return p->op == PK_WRITE && p->flags & PF_IMM ? "write-imm" : names[p->op];
}

static void wire_site(const struct fab_qp *at, const struct packet *p, bool loopback, struct fault_site *site)
{
	fill_site(at, site);
	site->bytes = p->len;
	site->op = op_name(p);
	site->dir = is_response(p) ? DIR_RESPONSE : DIR_REQUEST;
	site->side = (at->qpn == p->src_qpn) == is_response(p) ? SIDE_RESPONDER : SIDE_REQUESTER;
	site->loopback = loopback;
}

/* Which physical port of a LAG carries a QP's packets: its own one, or the other when that is down. 0: none. */
static unsigned int active_member(struct fab_port *port, unsigned int wanted)
{
	if (port->member[wanted - 1].up)
		return wanted;
	return port->member[2 - wanted].up ? 3 - wanted : 0;
}

static bool count_transmit(const struct fab_qp *qp, const struct packet *p)
{
	struct fab_port *port = qp_port(qp);

	if (port->state != 4) {
		port->pc[PC_XMIT_DISCARDS]++;
		return false;
	}
	if (port->nmembers) {
		unsigned int m = active_member(port, qp->lag_port ? qp->lag_port : 1);

		if (!m)
			return false;
		port->member[m - 1].xmit_packets++;
	}
	port->pc[PC_XMIT_DATA] += (p->len + HEADER_BYTES) / 4;
	port->pc[PC_XMIT_PACKETS]++;
	port->pc[PC_UNICAST_XMIT]++;
	return true;
}

static void count_receive(const struct fab_qp *qp, const struct packet *p)
{
	struct fab_port *port = qp_port(qp);

	port->pc[PC_RCV_DATA] += (p->len + HEADER_BYTES) / 4;
	port->pc[PC_RCV_PACKETS]++;
	port->pc[PC_UNICAST_RCV]++;
}

static bool ring_put(const struct fab_qp *dst, const struct packet *p)
{
	struct fab_ring *r = &fab->ring[obj_handle(TABLE_QP, dst)];
	uint32_t head;
	bool room;

	if (pthread_mutex_lock(&r->lock))
		pthread_mutex_consistent(&r->lock);
	head = atomic_load_explicit(&r->head, memory_order_relaxed);
	room = head - atomic_load_explicit(&r->tail, memory_order_acquire) < RING_SLOTS;
	if (room) {
		memcpy(r->slot[head % RING_SLOTS].bytes, p, sizeof(*p) + p->len);
		atomic_store_explicit(&r->head, head + 1, memory_order_release);
	}
	pthread_mutex_unlock(&r->lock);
	return room;
}

static bool ring_is_full(const struct fab_qp *dst)
{
	struct fab_ring *r = &fab->ring[obj_handle(TABLE_QP, dst)];

	return atomic_load(&r->head) - atomic_load(&r->tail) >= RING_SLOTS;
}

/* Nobody empties the ring of a process that died; its adapter would go on, but has nothing left to answer with. */
static bool is_dead(const struct fab_qp *dst)
{
	bool used;

	fabric_lock();
	fabric_reap();
	used = dst->o.used;
	fabric_unlock();
	return !used;
}

static void flip_bit(struct packet *p, const struct fault *f)
{
	if (p->len)
		p->data[f->arg[0] % p->len] ^= 1;
}

/* What may happen to a packet between two ports. True: it is gone. */
static bool wire_faults(const struct fab_qp *at, struct packet *p, bool loopback, bool *twice)
{
	const struct fault *f;
	struct fault_site site;

	wire_site(at, p, loopback, &site);
	if (fault_hit(F_DROP, &site))
		return true;
	if ((f = fault_hit(F_DELAY, &site)))
		p->deliver_ns = now_ns() + f->arg[0];
	site.target = "wire";
	if (p->len && (f = fault_hit(F_CORRUPT, &site)))
		flip_bit(p, f);
	*twice = fault_hit(F_DUPLICATE, &site);
	return false;
}

static bool has_wire_faults(void)
{
	return fault_any(F_DROP) || fault_any(F_DELAY) || fault_any(F_CORRUPT) || fault_any(F_DUPLICATE);
}

bool packet_send(const struct fab_qp *qp, struct packet *p)
{
	const struct fab_qp *dst = qp_by_number(p->dst_qpn);
	bool twice = false, loopback;

	if (dst && ring_is_full(dst) && !is_dead(dst))
		return false;
	p->src_qpn = qp->qpn;
	p->run = fault_run();
	p->deliver_ns = 0;
	if (!count_transmit(qp, p))
		return true;
	loopback = dst && dst->o.dev == qp->o.dev && dst->port == qp->port;
	if (has_wire_faults() && wire_faults(qp, p, loopback, &twice))
		return true;
	if (!dst || !dst->o.used || !is_routed(qp, dst) || qp_port(dst)->state != 4 || qp_dev(dst)->fatal)
		return true; /* nobody there: the sender learns by its timeout */
	ring_put(dst, p);
	if (twice)
		ring_put(dst, p);
	return true;
}

static void handle(struct local_qp *l, struct packet *p)
{
	bool twice = false;

	/* faults on the wire also strike what comes from another run; it was its sender's part for packets of this one
	 */
	if (p->run != fault_run() && has_wire_faults() && wire_faults(l->qp, p, false, &twice))
		return;
	count_receive(l->qp, p);
	if (is_response(p))
		requester_ack(l, p);
	else
		responder_packet(l, p);
}

void packet_receive(struct local_qp *l)
{
	struct fab_ring *r = &fab->ring[obj_handle(TABLE_QP, l->qp)];
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	while (tail != atomic_load_explicit(&r->head, memory_order_acquire)) {
		struct packet *p = (void *)r->slot[tail % RING_SLOTS].bytes;

		if (p->deliver_ns && now_ns() < p->deliver_ns)
			break;
		if (p->dst_qpn == l->qp->qpn)
			handle(l, p);
		atomic_store_explicit(&r->tail, ++tail, memory_order_release);
	}
}
