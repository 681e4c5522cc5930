/* SPDX-License-Identifier: MIT */
/*
 * mlx5emu-traffic [OPTION]… - RDMA operations for the device's own tests. One endpoint sends, another one receives, in
 * this process or (--peer) in a second one. Prints one line of KEY=VALUE at the end; judges nothing.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

enum { MAX_QPS_USED = 8, ROOM = 1 << 20, QPC = 0x18, CQC = 0x10, IMM = 0x11223344 };

static struct {
	const char *op, *device, *target_device;
	uint32_t size, count, batch, sges, qps, wait_ms, gid, port, lag, timeout;
	bool peer, inlined, events, bad_rkey, bad_lkey, no_recv, no_poll, dies, overrun, sig_all, new_api;
} opt = {
	.op = "write",
	.size = 64,
	.count = 1,
	.batch = 1,
	.sges = 1,
	.qps = 1,
	.wait_ms = 2000,
	.gid = 3,
	.port = 1,
	.timeout = 12, /* 4.096 us << 12 */
};

struct endpoint {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp[MAX_QPS_USED];
	uint8_t *buf;
	struct ibv_port_attr port;
	union ibv_gid gid;
};

struct address {
	uint32_t qpn[MAX_QPS_USED], rkey;
	uint64_t buf;
	uint16_t lid;
	union ibv_gid gid;
};

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(3);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool is(const char *op)
{
	return !strcmp(opt.op, op);
}

static bool uses_receives(void)
{
	return is("send") || is("send-imm") || is("write-imm");
}

/* ---- set-up */

static struct ibv_context *open_device(const char *name)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *ctx = NULL;

	check(list && n, "ibv_get_device_list");
	for (int i = 0; i < n && !ctx; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	check(ctx, "ibv_open_device");
	ibv_free_device_list(list);
	return ctx;
}

static struct ibv_qp *make_qp(struct endpoint *e)
{
	struct ibv_qp_init_attr_ex a = { .send_cq = e->cq,
		.recv_cq = e->cq,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = opt.sig_all,
		.cap = { .max_send_wr = 128,
		        .max_recv_wr = 128,
		        .max_send_sge = 8,
		        .max_recv_sge = 8,
		        .max_inline_data = 128 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = e->pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ };
	struct ibv_qp_init_attr old = {
		.send_cq = e->cq, .recv_cq = e->cq, .qp_type = IBV_QPT_RC, .sq_sig_all = opt.sig_all, .cap = a.cap
	};

	return opt.new_api ? ibv_create_qp_ex(e->ctx, &a) : ibv_create_qp(e->pd, &old);
}

static void make_endpoint(struct endpoint *e, const char *device)
{
	struct ibv_device_attr_ex attr;

	e->ctx = open_device(device);
	check(!ibv_query_device_ex(e->ctx, NULL, &attr), "ibv_query_device_ex");
	check(!ibv_query_port(e->ctx, (uint8_t)opt.port, &e->port), "ibv_query_port");
	if (e->port.link_layer == IBV_LINK_LAYER_INFINIBAND)
		opt.gid = 0;
	check(!ibv_query_gid(e->ctx, (uint8_t)opt.port, (int)opt.gid, &e->gid), "ibv_query_gid");
	e->pd = ibv_alloc_pd(e->ctx);
	check(e->pd, "ibv_alloc_pd");
	e->buf = aligned_alloc(4096, ROOM);
	check(e->buf, "aligned_alloc");
	memset(e->buf, 0, ROOM);
	e->mr = ibv_reg_mr(e->pd, e->buf, ROOM,
	        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	check(e->mr, "ibv_reg_mr");
	e->channel = opt.events ? ibv_create_comp_channel(e->ctx) : NULL;
	check(!opt.events || e->channel, "ibv_create_comp_channel");
	e->cq = ibv_create_cq(e->ctx, opt.overrun ? 3 : 1023, NULL, e->channel, 0);
	check(e->cq, "ibv_create_cq");
	for (uint32_t i = 0; i < opt.qps; i++) {
		e->qp[i] = make_qp(e);
		check(e->qp[i], "ibv_create_qp");
	}
	fcntl(e->ctx->async_fd, F_SETFL, O_NONBLOCK);
}

static struct address address_of(const struct endpoint *e)
{
	struct address a = { .rkey = e->mr->rkey, .buf = (uintptr_t)e->buf, .lid = e->port.lid, .gid = e->gid };

	for (uint32_t i = 0; i < opt.qps; i++)
		a.qpn[i] = e->qp[i]->qp_num;
	return a;
}

static void connect_qp(struct endpoint *e, uint32_t i, const struct address *to)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT,
		.port_num = (uint8_t)opt.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

	check(!ibv_modify_qp(e->qp[i], &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	        "INIT");
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = to->qpn[i],
		.rq_psn = 0xfffff0,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr = { .port_num = (uint8_t)opt.port, .dlid = to->lid } };
	if (e->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		a.ah_attr.is_global = 1;
		a.ah_attr.grh =
		        (struct ibv_global_route){ .dgid = to->gid, .sgid_index = (uint8_t)opt.gid, .hop_limit = 64 };
	}
	check(!ibv_modify_qp(e->qp[i], &a,
	              IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	        "RTR");
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
		.timeout = (uint8_t)opt.timeout,
		.retry_cnt = 3,
		.rnr_retry = 3,
		.sq_psn = 0xfffff0,
		.max_rd_atomic = 4 };
	check(!ibv_modify_qp(e->qp[i], &a,
	              IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	                      IBV_QP_MAX_QP_RD_ATOMIC),
	        "RTS");
}

static void connect_all(struct endpoint *e, const struct address *to)
{
	for (uint32_t i = 0; i < opt.qps; i++)
		connect_qp(e, i, to);
}

static void post_receives(struct endpoint *e)
{
	struct ibv_sge sge = { .addr = (uintptr_t)e->buf, .length = opt.size, .lkey = e->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	for (uint32_t i = 0; uses_receives() && !opt.no_recv && i < opt.qps; i++)
		for (uint32_t k = 0; k < opt.count && k < 100; k++)
			check(!ibv_post_recv(e->qp[i], &wr, &bad), "ibv_post_recv");
}

/* ---- sending */

static int post_old(struct endpoint *e, struct ibv_qp *qp, const struct address *to, uint32_t n)
{
	static const struct {
		const char *name;
		enum ibv_wr_opcode opcode;
	} ops[] = { { "write", IBV_WR_RDMA_WRITE }, { "write-imm", IBV_WR_RDMA_WRITE_WITH_IMM },
		{ "send", IBV_WR_SEND }, { "send-imm", IBV_WR_SEND_WITH_IMM }, { "read", IBV_WR_RDMA_READ },
		{ "fetch-add", IBV_WR_ATOMIC_FETCH_AND_ADD } };
	struct ibv_sge sge[8];
	struct ibv_send_wr wr[128] = { 0 }, *bad;
	uint32_t part = opt.size / opt.sges;

	for (uint32_t i = 0; i < opt.sges; i++)
		sge[i] = (struct ibv_sge){ .addr = (uintptr_t)e->buf + i * part,
			.length = i == opt.sges - 1 ? opt.size - i * part : part,
			.lkey = e->mr->lkey ^ (opt.bad_lkey ? 0x100 : 0) };
	for (uint32_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(ops) / sizeof(*ops); k++)
			if (is(ops[k].name))
				wr[i].opcode = ops[k].opcode;
		wr[i].wr_id = i;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].sg_list = sge;
		wr[i].num_sge = (int)opt.sges;
		wr[i].imm_data = htobe32(IMM);
		wr[i].send_flags = IBV_SEND_SIGNALED | (opt.inlined ? IBV_SEND_INLINE : 0);
		wr[i].wr.rdma.remote_addr = to->buf;
		wr[i].wr.rdma.rkey = to->rkey ^ (opt.bad_rkey ? 0x100 : 0);
		if (is("fetch-add")) {
			wr[i].wr.atomic.remote_addr = to->buf;
			wr[i].wr.atomic.rkey = to->rkey;
			wr[i].wr.atomic.compare_add = 5;
		}
	}
	return ibv_post_send(qp, wr, &bad);
}

static int post_new(struct endpoint *e, struct ibv_qp *qp, const struct address *to, uint32_t n)
{
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(x);
	for (uint32_t i = 0; i < n; i++) {
		x->wr_id = i;
		x->wr_flags = IBV_SEND_SIGNALED;
		if (is("send"))
			ibv_wr_send(x);
		else if (is("read"))
			ibv_wr_rdma_read(x, to->rkey, to->buf);
		else
			ibv_wr_rdma_write(x, to->rkey, to->buf);
		if (opt.inlined)
			ibv_wr_set_inline_data(x, e->buf, opt.size);
		else
			ibv_wr_set_sge(x, e->mr->lkey, (uintptr_t)e->buf, opt.size);
	}
	return ibv_wr_complete(x);
}

static bool wait_event(struct endpoint *e)
{
	struct pollfd p = { .fd = e->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&p, 1, (int)opt.wait_ms) != 1 || ibv_get_cq_event(e->channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return !ibv_req_notify_cq(e->cq, 0);
}

struct outcome {
	uint32_t completions, errors, events;
	int status, vendor; /* of the first failure */
};

static void collect(struct endpoint *e, uint32_t want, struct outcome *o)
{
	uint64_t end = now_ms() + opt.wait_ms;
	uint32_t got = 0;
	struct ibv_wc wc;

	if (opt.events && wait_event(e))
		o->events++;
	if (opt.no_poll)
		usleep(opt.wait_ms * 1000);
	while (got < want && now_ms() < end && !opt.no_poll) {
		if (ibv_poll_cq(e->cq, 1, &wc) != 1 || (!wc.status && wc.opcode & IBV_WC_RECV))
			continue;
		got++;
		o->completions++;
		if (wc.status && !o->errors++) {
			o->status = (int)wc.status;
			o->vendor = (int)wc.vendor_err;
		}
	}
}

static void send_all(struct endpoint *e, const struct address *to, struct outcome *o)
{
	for (uint32_t done = 0; done < opt.count && !o->errors; done += opt.batch) {
		uint32_t n = opt.count - done < opt.batch ? opt.count - done : opt.batch;

		for (uint32_t i = 0; i < opt.qps; i++)
			check(!(opt.new_api ? post_new(e, e->qp[i], to, n) : post_old(e, e->qp[i], to, n)), "post");
		if (!opt.overrun)
			collect(e, n * opt.qps, o);
		if (o->completions < (done + n) * opt.qps && !opt.overrun)
			break;
	}
	if (opt.overrun)
		usleep(200000);
}

/* ---- what can be seen of it */

static uint32_t bits(const uint8_t *b, unsigned int off, unsigned int width)
{
	uint32_t v = 0;

	for (unsigned int i = off; i < off + width; i++)
		v = v << 1 | (b[i / 8] >> (7 - i % 8) & 1);
	return v;
}

static void show_device(struct endpoint *e)
{
	struct mlx5dv_qp q = { 0 };
	struct mlx5dv_cq c = { 0 };
	struct mlx5dv_obj obj = { .qp = { e->qp[0], &q }, .cq = { e->cq, &c } };
	uint8_t in[16] = { 0x05, 0x0b }, out[272] = { 0 };
	const struct mlx5_cqe64 *cqe;
	uint32_t ci;

	check(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ), "mlx5dv_init_obj");
	ci = be32toh(c.dbrec[0]) & 0xffffff;
	cqe = (const void *)((const uint8_t *)c.buf + (size_t)(ci & (c.cqe_cnt - 1)) * c.cqe_size + c.cqe_size - 64);
	printf(" dbrec=%u cqe_present=%d", be32toh(q.dbrec[MLX5_SND_DBR]) & 0xffff,
	        cqe->op_own >> 4 != 15 && (cqe->op_own & 1) == !!(ci & c.cqe_cnt));
	in[9] = (uint8_t)(e->qp[0]->qp_num >> 16);
	in[10] = (uint8_t)(e->qp[0]->qp_num >> 8);
	in[11] = (uint8_t)e->qp[0]->qp_num;
	if (mlx5dv_devx_qp_query(e->qp[0], in, sizeof(in), out, sizeof(out))) {
		printf(" devx=no");
		return;
	}
	printf(" state=%u sw=%u hw=%u gap=%u", bits(out + QPC, 0, 4), bits(out + QPC, 0x5b0, 16),
	        bits(out + QPC, 0x5a0, 16), (bits(out + QPC, 0x3c8, 24) - bits(out + QPC, 0x448, 24) - 1) & 0xffffff);
}

static void show_lag(struct endpoint *e)
{
	uint8_t configured, active;

	if (opt.lag)
		check(!mlx5dv_modify_qp_lag_port(e->qp[0], (uint8_t)opt.lag), "mlx5dv_modify_qp_lag_port");
	if (!mlx5dv_query_qp_lag_port(e->qp[0], &configured, &active))
		printf(" lag=%u/%u", configured, active);
}

static void show_async(struct endpoint *e, const char *side)
{
	struct ibv_async_event ev;

	while (!ibv_get_async_event(e->ctx, &ev)) {
		printf(" %s_async=%d", side, ev.event_type);
		ibv_ack_async_event(&ev);
	}
}

static bool landed(const struct endpoint *target, const struct endpoint *source)
{
	const uint8_t *at = is("read") ? source->buf : target->buf;

	for (uint32_t i = 0; i < opt.size; i++)
		if (at[i] != (uint8_t)(i * 7 + 1))
			return false;
	return true;
}

static void fill(struct endpoint *e)
{
	for (uint32_t i = 0; i < opt.size; i++)
		e->buf[i] = (uint8_t)(i * 7 + 1);
}

/* Receives at the target: how many, and whether immediate data and length are right. */
static void show_receives(struct endpoint *e)
{
	uint64_t end = now_ms() + 500;
	uint32_t n = 0, want = opt.count * opt.qps;
	bool right = true;
	struct ibv_wc wc;

	while (uses_receives() && !opt.no_recv && n < want && now_ms() < end) {
		if (ibv_poll_cq(e->cq, 1, &wc) != 1)
			continue;
		n++;
		right &= wc.status || (wc.byte_len == opt.size && (is("send") || be32toh(wc.imm_data) == IMM));
	}
	printf(" received=%u receives_right=%d", n, right);
}

static void destroy(struct endpoint *e)
{
	for (uint32_t i = 0; i < opt.qps; i++)
		check(!ibv_destroy_qp(e->qp[i]), "ibv_destroy_qp");
	check(!ibv_destroy_cq(e->cq), "ibv_destroy_cq");
	if (e->channel)
		check(!ibv_destroy_comp_channel(e->channel), "ibv_destroy_comp_channel");
	check(!ibv_dereg_mr(e->mr), "ibv_dereg_mr");
	check(!ibv_dealloc_pd(e->pd), "ibv_dealloc_pd");
	check(!ibv_close_device(e->ctx), "ibv_close_device");
	free(e->buf);
}

/* ---- two endpoints */

static void show_outcome(struct endpoint *e, const struct outcome *o)
{
	printf("completions=%u errors=%u status=%d vendor=0x%x events=%u", o->completions, o->errors, o->status,
	        o->vendor, o->events);
	show_device(e);
	show_lag(e);
	show_async(e, "local");
}

static int both_here(void)
{
	struct endpoint source = { 0 }, target = { 0 };
	struct outcome o = { 0 };
	struct address to, from;

	make_endpoint(&source, opt.device);
	make_endpoint(&target, opt.target_device ? opt.target_device : opt.device);
	to = address_of(&target);
	from = address_of(&source);
	connect_all(&target, &from);
	connect_all(&source, &to);
	post_receives(&target);
	fill(is("read") ? &target : &source);
	if (opt.events)
		check(!ibv_req_notify_cq(source.cq, 0), "ibv_req_notify_cq");
	send_all(&source, &to, &o);
	show_outcome(&source, &o);
	show_receives(&target);
	show_async(&target, "remote");
	printf(" landed=%d\n", landed(&target, &source));
	destroy(&source);
	destroy(&target);
	return 0;
}

static void give(int fd, const void *p, size_t n)
{
	check(write(fd, p, n) == (ssize_t)n, "write to the other process");
}

static void take(int fd, void *p, size_t n)
{
	check(read(fd, p, n) == (ssize_t)n, "read from the other process");
}

static int target_process(int in, int out)
{
	struct endpoint e = { 0 }, none = { 0 };
	struct address me, you;
	char c;

	make_endpoint(&e, opt.target_device ? opt.target_device : opt.device);
	me = address_of(&e);
	give(out, &me, sizeof(me));
	take(in, &you, sizeof(you));
	connect_all(&e, &you);
	post_receives(&e);
	if (is("read"))
		fill(&e);
	if (opt.dies)
		_exit(0);
	give(out, "r", 1);
	take(in, &c, 1);
	show_receives(&e);
	show_async(&e, "remote");
	printf(" landed=%d\n", is("read") ? -1 : landed(&e, &none));
	fflush(stdout);
	destroy(&e);
	return 0;
}

static int source_process(int in, int out)
{
	struct endpoint e = { 0 };
	struct outcome o = { 0 };
	struct address me, you;
	char c;

	make_endpoint(&e, opt.device);
	me = address_of(&e);
	take(in, &you, sizeof(you));
	give(out, &me, sizeof(me));
	connect_all(&e, &you);
	fill(&e);
	if (opt.dies)
		wait(NULL);
	else
		take(in, &c, 1);
	if (opt.events)
		check(!ibv_req_notify_cq(e.cq, 0), "ibv_req_notify_cq");
	send_all(&e, &you, &o);
	show_outcome(&e, &o);
	if (opt.dies)
		printf("\n");
	fflush(stdout);
	if (!opt.dies)
		give(out, "d", 1);
	destroy(&e);
	return 0;
}

static int two_processes(void)
{
	int to[2], from[2], status = 0;

	check(!pipe(to) && !pipe(from), "pipe");
	if (!fork())
		_exit(target_process(to[0], from[1]));
	source_process(from[0], to[1]);
	if (!opt.dies)
		wait(&status);
	return WEXITSTATUS(status);
}

static const struct option options[] = { { "op", 1, NULL, 'o' }, { "size", 1, NULL, 's' }, { "count", 1, NULL, 'n' },
	{ "batch", 1, NULL, 'b' }, { "sges", 1, NULL, 'g' }, { "qps", 1, NULL, 'q' }, { "wait", 1, NULL, 'w' },
	{ "gid", 1, NULL, 'x' }, { "port", 1, NULL, 'p' }, { "device", 1, NULL, 'd' },
	{ "target-device", 1, NULL, 't' }, { "lag", 1, NULL, 'l' }, { "timeout", 1, NULL, 'T' },
	{ "peer", 0, NULL, 'P' }, { "inline", 0, NULL, 'I' }, { "events", 0, NULL, 'E' }, { "bad-rkey", 0, NULL, 'R' },
	{ "bad-lkey", 0, NULL, 'L' }, { "no-recv", 0, NULL, 'N' }, { "no-poll", 0, NULL, 'O' },
	{ "dies", 0, NULL, 'D' }, { "overrun", 0, NULL, 'V' }, { "sig-all", 0, NULL, 'S' }, { "new-api", 0, NULL, 'W' },
	{ 0 } };

static void set_number(int c, uint32_t v)
{
	uint32_t *const where[] = { ['s'] = &opt.size,
		['n'] = &opt.count,
		['b'] = &opt.batch,
		['g'] = &opt.sges,
		['q'] = &opt.qps,
		['w'] = &opt.wait_ms,
		['x'] = &opt.gid,
		['p'] = &opt.port,
		['l'] = &opt.lag,
		['T'] = &opt.timeout };

	*where[c] = v;
}

static void set_flag(int c)
{
	bool *const where[] = { ['P'] = &opt.peer,
		['I'] = &opt.inlined,
		['E'] = &opt.events,
		['R'] = &opt.bad_rkey,
		['L'] = &opt.bad_lkey,
		['N'] = &opt.no_recv,
		['O'] = &opt.no_poll,
		['D'] = &opt.dies,
		['V'] = &opt.overrun,
		['S'] = &opt.sig_all,
		['W'] = &opt.new_api };

	*where[c] = true;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case '?':
			return 2;
		case 'o':
			opt.op = optarg;
			break;
		case 'd':
			opt.device = optarg;
			break;
		case 't':
			opt.target_device = optarg;
			break;
		default:
			if (optarg)
				set_number(c, (uint32_t)strtoul(optarg, NULL, 0));
			else
				set_flag(c);
		}
	return opt.peer ? two_processes() : both_here();
}
