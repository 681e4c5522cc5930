/* SPDX-License-Identifier: MIT */
/*
 * The adapter: a thread that finds doorbells in the UAR pages and lets each QP's two halves run. It lives in the
 * process that opened the device, because only there are the queues and the registered memory.
 */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>

#include "emu.h"

enum { BF_AREA = 0x800, BF_STEP = 0x100 };

struct local_state emu = { .lock = PTHREAD_MUTEX_INITIALIZER };
static pthread_t thread;
static _Atomic unsigned int running; /* number of the thread that works, 0: none */
static uint64_t busy_ns;             /* when the device last had something to do */

void emu_lock(void)
{
	pthread_mutex_lock(&emu.lock);
}

void emu_unlock(void)
{
	pthread_mutex_unlock(&emu.lock);
}

/* A child shares its parent's open files, but has no device thread and owns none of the objects. */
static void after_fork(void)
{
	pthread_mutex_init(&emu.lock, NULL);
	atomic_store(&running, 0);
	for (int i = 0; i < MAX_QPS; i++)
		emu.qp[i] = NULL;
	for (int i = 0; i < MAX_CTXS; i++)
		emu.ctx[i].open = false;
	if (emu.ready)
		fault_reseed();
}

static void read_environment(void)
{
	const char *abi = getenv("MLX5EMU_ABI"), *privilege = getenv("MLX5EMU_PRIVILEGE");

	emu.modern = !abi || strcmp(abi, "write");
	emu.devx = !getenv("MLX5EMU_NO_DEVX");
	emu.netlink = !getenv("MLX5EMU_NO_NETLINK");
	emu.privilege = PRIVILEGE_AUTO;
	if (privilege)
		emu.privilege = strcmp(privilege, "no") ? PRIVILEGE_YES : PRIVILEGE_NO;
}

static int init_locked(void)
{
	int err;

	if (emu.ready)
		return 0;
	err = fabric_attach();
	if (err)
		return err;
	read_environment();
	fault_clear();
	fault_init();
	pthread_atfork(NULL, NULL, after_fork);
	emu.ready = true;
	return 0;
}

int emu_init(void)
{
	int err;

	emu_lock();
	err = init_locked();
	emu_unlock();
	return err;
}

struct fab_dev *qp_dev(const struct fab_qp *qp)
{
	return &fab->dev[qp->o.dev];
}

struct fab_port *qp_port(const struct fab_qp *qp)
{
	unsigned int port = qp->port && qp->port <= qp_dev(qp)->nports ? qp->port : 1;

	return &qp_dev(qp)->port[port - 1];
}

void fill_site(const struct fab_qp *qp, struct fault_site *site)
{
	*site = (struct fault_site){
		.device = qp_dev(qp)->name, .port = qp->port, .qpn = qp->qpn, .member = qp->lag_port
	};
}

unsigned int path_mtu(const struct fab_qp *qp)
{
	return 128u << (qp->attr.path_mtu ? qp->attr.path_mtu : 1);
}

bool mr_translate(const struct fab_qp *qp, uint32_t key, uint64_t va, uint32_t len, uint32_t access, uint8_t **p)
{
	const struct fab_mr *mr = mr_by_key(key);

	if (!mr || mr->o.pid != getpid() || mr->o.dev != qp->o.dev || mr->pd != qp->pd)
		return false;
	if (va < mr->iova || len > mr->len || va - mr->iova > mr->len - len || (mr->access & access) != access)
		return false;
	*p = (uint8_t *)(uintptr_t)(mr->start + (va - mr->iova));
	return true;
}

static uint32_t doorbell_record(const struct fab_qp *qp, int side)
{
	return be32toh(((volatile __be32 *)(uintptr_t)qp->dbr)[side]);
}

/*
 * Published data of a ConnectX-6 Dx (firmware 20.43): on entering ERR the producer counter is reloaded from the
 * doorbell record, and the executed counter stands at the failing WQE or at the producer.
 */
void qp_to_error(struct local_qp *l, bool by_device)
{
	struct fab_qp *qp = l->qp;

	if (qp->state == QPS_ERR)
		return;
	qp->state = QPS_ERR;
	qp->sw_sq = (uint16_t)doorbell_record(qp, MLX5_SND_DBR);
	if (fault_random() & 1)
		qp->hw_sq = qp->sw_sq;
	l->doorbell_lost = false;
	truth("qp_error", "\"qpn\":%u,\"by_device\":%s,\"sw_sq\":%u,\"hw_sq\":%u", qp->qpn,
	        by_device ? "true" : "false", qp->sw_sq, qp->hw_sq);
}

void qp_reset(struct local_qp *l)
{
	struct fab_qp *qp = l->qp;

	memset(l, 0, sizeof(*l));
	l->qp = qp;
	qp->sw_sq = qp->hw_sq = 0;
	qp->sw_rq = qp->hw_rq = 0;
	qp->msn = qp->ssn = 0;
	emu.qp[obj_handle(TABLE_QP, qp)] = l;
}

static bool lose_doorbell(struct local_qp *l, uint16_t producer)
{
	struct fault_site site;

	fill_site(l->qp, &site);
	site.side = SIDE_REQUESTER;
	l->doorbell_lost = fault_hit(F_DOORBELL_LOST, &site);
	l->lost_at = producer;
	return l->doorbell_lost;
}

static void take_doorbell(struct local_qp *l, uint16_t producer)
{
	struct fab_qp *qp = l->qp;

	truth("doorbell", "\"qpn\":%u,\"producer\":%u,\"dbrec\":%u", qp->qpn, producer,
	        doorbell_record(qp, MLX5_SND_DBR) & 0xffff);
	if (lose_doorbell(l, producer) || (int16_t)(producer - qp->sw_sq) <= 0)
		return;
	qp->sw_sq = producer;
}

struct local_qp *local_qp_by_number(uint32_t qpn)
{
	struct fab_qp *qp = qp_by_number(qpn);

	return qp ? emu.qp[obj_handle(TABLE_QP, qp)] : NULL;
}

/*
 * Registers hold one value here, while an adapter takes in every write: a second QP's doorbell may have overwritten the
 * first one's before this thread looked. So a doorbell makes it look at the doorbell records of the context's other
 * QPs.
 */
static void look_at_neighbours(int slot, const struct local_qp *rung)
{
	for (int i = 0; i < MAX_QPS; i++) {
		struct local_qp *l = emu.qp[i];
		uint16_t producer;

		if (!l || l == rung || l->qp->o.ctx != slot)
			continue;
		producer = (uint16_t)doorbell_record(l->qp, MLX5_SND_DBR);
		if (producer != l->qp->sw_sq && !(l->doorbell_lost && producer == l->lost_at))
			take_doorbell(l, producer);
	}
}

/* The 8 bytes rung are the start of the last WQE's control segment: they say where it ends, which is the producer. */
static void ring_sq(int slot, uint64_t value)
{
	struct local_qp *l = local_qp_by_number((uint32_t)value >> 8);
	unsigned int ds = value & 0x3f;

	busy_ns = now_ns();
	if (!l || l->qp->o.ctx != slot)
		return;
	take_doorbell(l, (uint16_t)((value >> 40) + (ds + 3) / 4));
	look_at_neighbours(slot, l);
}

/* See look_at_neighbours(): the arm record in memory tells which CQs were armed. */
static void ring_cq(int slot)
{
	busy_ns = now_ns();
	for (int i = 0; i < MAX_CQS; i++) {
		struct fab_cq *cq = &fab->cq[i];

		if (cq->o.used && cq->o.ctx == slot && cq->o.pid == getpid())
			cq_look_at_arming(cq);
	}
}

static uint64_t take_register(uint8_t *p)
{
	return be64toh(__atomic_exchange_n((uint64_t *)(void *)p, 0, __ATOMIC_ACQ_REL));
}

static void poll_uar(int slot, uint8_t *page)
{
	uint64_t value;

	for (unsigned int off = BF_AREA; off < PAGE; off += BF_STEP) {
		/* a plain look first: an exchange would steal the cache line from the program every time */
		if (__atomic_load_n((uint64_t *)(void *)(page + off), __ATOMIC_RELAXED) &&
		        (value = take_register(page + off)))
			ring_sq(slot, value);
	}
	if (__atomic_load_n((uint64_t *)(void *)(page + MLX5_CQ_DOORBELL), __ATOMIC_RELAXED) &&
	        take_register(page + MLX5_CQ_DOORBELL))
		ring_cq(slot);
}

static void poll_doorbells(void)
{
	for (int i = 0; i < MAX_CTXS; i++) {
		struct local_ctx *c = &emu.ctx[i];

		for (uint64_t left = c->open ? c->uar_used : 0; left; left &= left - 1)
			poll_uar(i, c->uar + (size_t)__builtin_ctzll(left) * PAGE);
	}
}

static void set_port(struct fab_dev *dev, unsigned int port, bool up)
{
	struct fab_port *p = &dev->port[port - 1];

	if (up == (p->state == 4))
		return;
	p->state = up ? 4 : 1;
	p->pc[up ? PC_LINK_RECOVERY : PC_LINK_DOWNED]++;
	p->state_events++;
	truth("port", "\"device\":\"%s\",\"port\":%u,\"state\":\"%s\"", dev->name, port, up ? "ACTIVE" : "DOWN");
}

/* Ports that come back: for=MS of port-down. */
static struct {
	struct fab_dev *dev;
	unsigned int port;
	uint64_t at;
} revive[MAX_DEVS];

static void revive_later(struct fab_dev *dev, unsigned int port, uint64_t ms)
{
	unsigned int i = (unsigned int)(dev - fab->dev);

	revive[i].dev = dev;
	revive[i].port = port;
	revive[i].at = now_ns() + ms * 1000000;
}

static void port_faults(struct fab_dev *dev, unsigned int port)
{
	struct fault_site site = { .device = dev->name, .port = port };
	const struct fault *f = fault_hit(F_PORT_DOWN, &site);

	if (f) {
		set_port(dev, port, false);
		if (f->for_ms)
			revive_later(dev, port, f->for_ms);
	}
	f = fault_hit(F_MEMBER_DOWN, &site);
	if (f && f->arg[0] >= 1 && f->arg[0] <= dev->port[port - 1].nmembers)
		dev->port[port - 1].member[f->arg[0] - 1].up = false;
}

static void device_fault(struct fab_dev *dev)
{
	struct fault_site site = { .device = dev->name };

	if (!fault_hit(F_DEVICE_FATAL, &site))
		return;
	dev->fatal = true;
	dev->fatal_events++;
}

/* Faults that strike by time, on the devices that this process has open. */
static void timed_faults(void)
{
	uint64_t now = now_ns();

	for (int i = 0; i < MAX_CTXS; i++) {
		struct fab_dev *dev = emu.ctx[i].open && emu.ctx[i].has_context ? emu.ctx[i].dev : NULL;

		for (unsigned int p = 1; dev && p <= dev->nports; p++)
			port_faults(dev, p);
		if (dev)
			device_fault(dev);
	}
	for (int i = 0; i < MAX_DEVS; i++)
		if (revive[i].dev && now >= revive[i].at) {
			set_port(revive[i].dev, revive[i].port, true);
			revive[i].dev = NULL;
		}
}

/* A port's state and a fatal error are the device's: every process tells its own contexts. */
void device_tell_contexts(void)
{
	for (int i = 0; i < MAX_CTXS; i++) {
		struct local_ctx *c = &emu.ctx[i];

		if (!c->open || !c->has_context)
			continue;
		for (unsigned int p = 0; p < c->dev->nports; p++)
			if (c->port_events[p] != c->dev->port[p].state_events) {
				c->port_events[p] = c->dev->port[p].state_events;
				ctx_async_event(c, p + 1, c->dev->port[p].state == 4 ? EV_PORT_ACTIVE : EV_PORT_ERR);
			}
		if (c->fatal_events != c->dev->fatal_events) {
			c->fatal_events = c->dev->fatal_events;
			ctx_async_event(c, 0, EV_DEVICE_FATAL);
		}
	}
}

static bool is_working(const struct local_qp *l)
{
	return l->op_head != l->op_tail || l->job_head != l->job_tail || l->ack_due || l->qp->sw_sq != l->fetch;
}

static bool run_qps(void)
{
	bool connected = false;

	for (int i = 0; i < MAX_QPS; i++) {
		struct local_qp *l = emu.qp[i];

		if (!l || qp_dev(l->qp)->fatal)
			continue;
		requester_before_receive(l);
		packet_receive(l);
		responder_run(l);
		requester_run(l);
		connected |= l->qp->state == QPS_RTR || l->qp->state == QPS_RTS;
		if (is_working(l))
			busy_ns = now_ns();
	}
	return connected;
}

static void beat(void)
{
	for (int i = 0; i < MAX_CTXS; i++)
		if (emu.ctx[i].open)
			atomic_fetch_add_explicit(&fab->ctx[i].beat, 1, memory_order_relaxed);
}

static bool one_pass(void)
{
	bool connected;

	emu_lock();
	if (fault_any(F_PORT_DOWN) || fault_any(F_MEMBER_DOWN) || fault_any(F_DEVICE_FATAL) || revive[0].dev)
		timed_faults();
	device_tell_contexts();
	poll_doorbells();
	connected = run_qps();
	cqe_release_late();
	beat();
	emu_unlock();
	return connected;
}

/* Looks often while something is going on, seldom otherwise: tests run many of these devices at once. */
static void rest(bool connected)
{
	uint64_t idle = now_ns() - busy_ns;
	struct timespec t = { 0, idle < 2000000 ? 20000 : connected ? 50000 : 200000 };

	nanosleep(&t, NULL);
}

static void *device_thread(void *arg)
{
	unsigned int own = (unsigned int)(uintptr_t)arg;

	prctl(PR_SET_NAME, "mlx5emu");
	prctl(PR_SET_TIMERSLACK, 1);
	/* programs poll without a pause; where that is allowed, the adapter goes before them */
	setpriority(PRIO_PROCESS, (id_t)gettid(), -19);
	while (atomic_load(&running) == own)
		rest(one_pass());
	return NULL;
}

/* With the lock held, as device_stop(). The program's signals are not for this thread. */
void device_start(void)
{
	static unsigned int last;
	sigset_t all, old;

	if (atomic_load(&running))
		return;
	last = last == UINT_MAX ? 1 : last + 1;
	atomic_store(&running, last);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, NULL, device_thread, (void *)(uintptr_t)last))
		atomic_store(&running, 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The lock is given up meanwhile: another thread may open a device, which starts a thread of its own. */
void device_stop(void)
{
	pthread_t ending = thread;

	if (!atomic_exchange(&running, 0))
		return;
	emu_unlock(); /* the thread may be waiting for it */
	pthread_join(ending, NULL);
	emu_lock();
}
