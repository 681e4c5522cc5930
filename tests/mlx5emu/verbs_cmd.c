/* SPDX-License-Identifier: MIT */
/* The uverbs commands themselves: the same function serves write() and ioctl(). Errnos are positive here. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "emu.h"

#define EX(cmd) (IB_USER_VERBS_EX_CMD_##cmd | IB_USER_VERBS_CMD_FLAG_EXTENDED)

enum {
	SPEED_HDR = 64, /* enum of ib_uverbs active_speed */
	WIDTH_4X = 2,
	MTU_1024 = 3,
	MTU_4096 = 5,
	FW_MAJOR = 28,
	FW_MINOR = 39,
	FW_SUB = 1004,
};

static void put(void *out, size_t room, const void *value, size_t len)
{
	if (out && room)
		memcpy(out, value, len < room ? len : room);
}

void fill_ucontext(const struct fab_dev *dev, bool modern, void *out, size_t len)
{
	struct mlx5_ib_alloc_ucontext_resp r = {
		.qp_tab_size = 1 << 18,
		.bf_reg_size = BF_REG_SIZE,
		.tot_bfregs = modern ? 0 : 16, /* 0: UARs are objects of their own */
		.cache_line_size = 64,
		.max_sq_desc_sz = 1024,
		.max_rq_desc_sz = 512,
		.max_send_wqebb = 32768,
		.max_recv_wr = 32768,
		.max_srq_recv_wr = 32767,
		.num_ports = (uint16_t)dev->nports,
		.response_length = sizeof(r),
		.cqe_version = 1,
		.cmds_supp_uhw = 3,
		.eth_min_inline = 2,
		.log_uar_size = 12,
		.num_uars_per_page = 1,
	};

	put(out, len, &r, sizeof(r));
}

int fill_port(const struct fab_dev *dev, unsigned int number, struct ib_uverbs_query_port_resp *r)
{
	const struct fab_port *p;

	if (!number || number > dev->nports)
		return EINVAL;
	p = &dev->port[number - 1];
	*r = (struct ib_uverbs_query_port_resp){
		.port_cap_flags = p->ib ? 0xa651e848 : 0x04010000,
		.max_msg_sz = 1 << 30,
		.gid_tbl_len = MAX_GIDS,
		.pkey_tbl_len = p->ib ? 128 : 1,
		.lid = p->lid,
		.sm_lid = p->sm_lid,
		.state = p->state,
		.max_mtu = MTU_4096,
		.active_mtu = p->ib ? MTU_4096 : MTU_1024,
		.max_vl_num = p->ib ? 4 : 1,
		.active_width = WIDTH_4X,
		.active_speed = SPEED_HDR,
		.phys_state = p->state == 4 ? 5 : 3,
		.link_layer = p->ib ? 1 : 2,
		.flags = p->ib ? 0 : 1, /* IB_UVERBS_QPF_GRH_REQUIRED */
	};
	return 0;
}

static int get_context(int ctx, struct cmd_buf *b)
{
	struct ib_uverbs_get_context_resp r = { .async_fd = (uint32_t)emu.ctx[ctx].async_r, .num_comp_vectors = 4 };

	put(b->out, b->out_len, &r, sizeof(r));
	fill_ucontext(emu.ctx[ctx].dev, emu.modern, b->drv_out, b->drv_out_len);
	if (!emu.modern)
		emu.ctx[ctx].uar_used |= (1u << STATIC_UARS) - 1;
	emu.ctx[ctx].has_context = true;
	return 0;
}

static void fill_device(const struct fab_dev *dev, struct ib_uverbs_query_device_resp *r)
{
	*r = (struct ib_uverbs_query_device_resp){
		.fw_ver = (uint64_t)FW_MAJOR << 32 | FW_MINOR << 16 | FW_SUB,
		.node_guid = htobe64(dev->guid),
		.sys_image_guid = htobe64(dev->guid),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffffffffffff000,
		.vendor_id = 0x2c9,
		.vendor_part_id = 4129, /* ConnectX-7 */
		.max_qp = 131072,
		.max_qp_wr = 32768,
		.device_cap_flags = 0x21721c36,
		.max_sge = 30,
		.max_sge_rd = 30,
		.max_cq = 1 << 24,
		.max_cqe = 4194303,
		.max_mr = 1 << 24,
		.max_pd = 1 << 24,
		.max_qp_rd_atom = 16,
		.max_res_rd_atom = 2097152,
		.max_qp_init_rd_atom = 16,
		.atomic_cap = 1,
		.max_ah = INT32_MAX,
		.max_pkeys = 128,
		.local_ca_ack_delay = 16,
		.phys_port_cnt = (uint8_t)dev->nports,
	};
}

static int query_device(int ctx, struct cmd_buf *b)
{
	struct ib_uverbs_query_device_resp r;

	fill_device(emu.ctx[ctx].dev, &r);
	put(b->out, b->out_len, &r, sizeof(r));
	return 0;
}

static int query_device_ex(int ctx, struct cmd_buf *b)
{
	struct ib_uverbs_ex_query_device_resp r = { .response_length = (uint32_t)b->out_len };
	struct mlx5_ib_query_device_resp drv = { .response_length = (uint32_t)b->drv_out_len };

	fill_device(emu.ctx[ctx].dev, &r.base);
	r.device_cap_flags_ex = r.base.device_cap_flags;
	r.timestamp_mask = UINT64_MAX;
	r.hca_core_clock = 1000000;
	if (emu.ctx[ctx].dev->odp) {
		r.odp_caps.general_caps = IBV_ODP_SUPPORT;
		r.odp_caps.per_transport_caps.rc_odp_caps =
		        IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
	}
	if (b->out_len < sizeof(r.base))
		return ENOSPC;
	put(b->out, b->out_len, &r, sizeof(r));
	put(b->drv_out, b->drv_out_len, &drv, sizeof(drv));
	return 0;
}

static int query_port(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_query_port *q = b->in;
	struct ib_uverbs_query_port_resp r;
	int err = fill_port(emu.ctx[ctx].dev, q->port_num, &r);

	if (!err)
		put(b->out, b->out_len, &r, sizeof(r));
	return err;
}

static int alloc_pd(int ctx, struct cmd_buf *b)
{
	struct fab_pd *pd = obj_alloc(TABLE_PD, emu.ctx[ctx].dev, (uint16_t)ctx);
	struct ib_uverbs_alloc_pd_resp r;

	if (!pd)
		return ENOMEM;
	r.pd_handle = obj_handle(TABLE_PD, pd);
	put(b->out, b->out_len, &r, sizeof(r));
	put(b->drv_out, b->drv_out_len, &r.pd_handle, 4);
	return 0;
}

static bool pd_is_busy(uint32_t pd)
{
	for (int i = 0; i < MAX_MRS; i++)
		if (fab->mr[i].o.used && fab->mr[i].pd == pd)
			return true;
	for (int i = 0; i < MAX_QPS; i++)
		if (fab->qp[i].o.used && fab->qp[i].pd == pd)
			return true;
	return false;
}

static int dealloc_pd(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_dealloc_pd *q = b->in;
	struct fab_pd *pd = obj_at(TABLE_PD, q->pd_handle);

	(void)ctx;
	if (!pd)
		return EINVAL;
	if (pd_is_busy(q->pd_handle))
		return EBUSY;
	obj_free(&pd->o);
	return 0;
}

/* What may be written to from afar must be writable here (kernel, ib_check_mr_access()). */
static bool access_is_valid(uint32_t access)
{
	return !(access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC)) ||
	       access & IB_UVERBS_ACCESS_LOCAL_WRITE;
}

static int reg_mr(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_reg_mr *q = b->in;
	struct ib_uverbs_reg_mr_resp r;
	struct fab_mr *mr;

	if (!obj_at(TABLE_PD, q->pd_handle) || !access_is_valid(q->access_flags))
		return EINVAL;
	/* As the kernel does (mlx5_ib_reg_user_mr()): without the capability there is no such region. */
	if (q->access_flags & IB_UVERBS_ACCESS_ON_DEMAND && !emu.ctx[ctx].dev->odp)
		return EOPNOTSUPP;
	mr = obj_alloc(TABLE_MR, emu.ctx[ctx].dev, (uint16_t)ctx);
	if (!mr)
		return ENOMEM;
	mr->pd = q->pd_handle;
	mr->start = q->start;
	mr->len = q->length;
	mr->iova = q->hca_va;
	mr->access = q->access_flags;
	r = (struct ib_uverbs_reg_mr_resp){ .mr_handle = obj_handle(TABLE_MR, mr), .lkey = mr->key, .rkey = mr->key };
	put(b->out, b->out_len, &r, sizeof(r));
	return 0;
}

static int dereg_mr(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_dereg_mr *q = b->in;
	struct fab_mr *mr = obj_at(TABLE_MR, q->mr_handle);

	(void)ctx;
	if (!mr)
		return EINVAL;
	obj_free(&mr->o);
	return 0;
}

static int create_channel(int ctx, struct cmd_buf *b)
{
	struct ib_uverbs_create_comp_channel_resp r;
	int fd = channel_create();

	(void)ctx;
	if (fd < 0)
		return -fd;
	r.fd = (uint32_t)fd;
	put(b->out, b->out_len, &r, sizeof(r));
	return 0;
}

static int create_cq(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_create_cq *q = b->in;
	struct ib_uverbs_create_cq_resp r;
	struct fab_cq *cq = cq_create(ctx, q->cqe, q->user_handle, q->comp_channel, b->drv_in, b->drv_in_len);

	if (!cq)
		return EINVAL;
	r = (struct ib_uverbs_create_cq_resp){ .cq_handle = obj_handle(TABLE_CQ, cq), .cqe = q->cqe };
	put(b->out, b->out_len, &r, sizeof(r));
	put(b->drv_out, b->drv_out_len, &cq->cqn, 4);
	return 0;
}

static int create_cq_ex(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_ex_create_cq *q = b->in;
	struct ib_uverbs_ex_create_cq_resp r = { .response_length = sizeof(r) };
	struct fab_cq *cq = cq_create(ctx, q->cqe, q->user_handle, q->comp_channel, b->drv_in, b->drv_in_len);

	if (!cq)
		return EINVAL;
	r.base.cq_handle = obj_handle(TABLE_CQ, cq);
	r.base.cqe = q->cqe;
	put(b->out, b->out_len, &r, sizeof(r));
	put(b->drv_out, b->drv_out_len, &cq->cqn, 4);
	return 0;
}

static bool cq_is_busy(uint32_t cq)
{
	for (int i = 0; i < MAX_QPS; i++)
		if (fab->qp[i].o.used && (fab->qp[i].scq == cq || fab->qp[i].rcq == cq))
			return true;
	return false;
}

static int destroy_cq(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_destroy_cq *q = b->in;
	struct ib_uverbs_destroy_cq_resp r = { 0 };
	struct fab_cq *cq = obj_at(TABLE_CQ, q->cq_handle);

	(void)ctx;
	if (!cq)
		return EINVAL;
	if (cq_is_busy(q->cq_handle))
		return EBUSY;
	cq_destroy(cq, &r.comp_events_reported, &r.async_events_reported);
	put(b->out, b->out_len, &r, sizeof(r));
	return 0;
}

/* A register of the static UARs for the QP: two in each page, the first one of all is for CQs. */
static uint32_t bfreg_of(const struct fab_qp *qp)
{
	uint32_t i = 1 + obj_handle(TABLE_QP, qp) % 12;

	return i / 2 * 4 + i % 2;
}

static int create_qp_common(
        int ctx, const struct ib_uverbs_ex_create_qp *q, struct cmd_buf *b, struct ib_uverbs_create_qp_resp *r)
{
	struct mlx5_ib_create_qp_resp drv = { 0 };
	struct fab_qp *qp;

	if (q->qp_type != IB_UVERBS_QPT_RC)
		return EOPNOTSUPP;
	if (b->drv_in_len < offsetof(struct mlx5_ib_create_qp, uidx) || !obj_at(TABLE_PD, q->pd_handle))
		return EINVAL;
	qp = qp_create(ctx, q, b->drv_in, b->drv_in_len);
	if (!qp)
		return ENOMEM;
	*r = (struct ib_uverbs_create_qp_resp){ .qp_handle = obj_handle(TABLE_QP, qp),
		.qpn = qp->qpn,
		.max_send_wr = q->max_send_wr,
		.max_recv_wr = q->max_recv_wr,
		.max_send_sge = q->max_send_sge,
		.max_recv_sge = q->max_recv_sge,
		.max_inline_data = q->max_inline_data };
	drv.bfreg_index = bfreg_of(qp);
	put(b->drv_out, b->drv_out_len, &drv, sizeof(drv));
	return 0;
}

static int create_qp(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_create_qp *w = b->in;
	struct ib_uverbs_create_qp_resp r;
	struct ib_uverbs_ex_create_qp q = { .user_handle = w->user_handle,
		.pd_handle = w->pd_handle,
		.send_cq_handle = w->send_cq_handle,
		.recv_cq_handle = w->recv_cq_handle,
		.srq_handle = w->srq_handle,
		.max_send_wr = w->max_send_wr,
		.max_recv_wr = w->max_recv_wr,
		.max_send_sge = w->max_send_sge,
		.max_recv_sge = w->max_recv_sge,
		.max_inline_data = w->max_inline_data,
		.sq_sig_all = w->sq_sig_all,
		.qp_type = w->qp_type,
		.is_srq = w->is_srq };
	int err = create_qp_common(ctx, &q, b, &r);

	if (!err)
		put(b->out, b->out_len, &r, sizeof(r));
	return err;
}

static int create_qp_ex(int ctx, struct cmd_buf *b)
{
	struct ib_uverbs_ex_create_qp q = { 0 };
	struct ib_uverbs_ex_create_qp_resp r = { .response_length = (uint32_t)b->out_len };
	int err;

	memcpy(&q, b->in, b->in_len < sizeof(q) ? b->in_len : sizeof(q));
	err = create_qp_common(ctx, &q, b, &r.base);
	if (!err)
		put(b->out, b->out_len, &r, sizeof(r));
	return err;
}

static int modify_qp(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_modify_qp *q = b->in;
	struct fab_qp *qp = obj_at(TABLE_QP, q->qp_handle);

	(void)ctx;
	return qp ? qp_modify(qp, q) : EINVAL;
}

static int modify_qp_ex(int ctx, struct cmd_buf *b)
{
	struct ib_uverbs_ex_modify_qp_resp r = { .response_length = (uint32_t)b->out_len };
	int err = modify_qp(ctx, b);

	if (!err)
		put(b->out, b->out_len, &r, sizeof(r));
	return err;
}

static int query_qp(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_query_qp *q = b->in;
	const struct fab_qp *qp = obj_at(TABLE_QP, q->qp_handle);
	struct ib_uverbs_query_qp_resp r;

	(void)ctx;
	if (!qp)
		return EINVAL;
	r = (struct ib_uverbs_query_qp_resp){
		.dest = qp->attr.dest,
		.qkey = qp->attr.qkey,
		.rq_psn = qp->rcv_psn,
		.sq_psn = qp->next_psn,
		.dest_qp_num = qp->attr.dest_qp_num,
		.qp_access_flags = qp->attr.qp_access_flags,
		.pkey_index = qp->attr.pkey_index,
		.max_send_wr = qp->max_send_wr,
		.max_recv_wr = qp->max_recv_wr,
		.max_send_sge = qp->max_send_sge,
		.max_recv_sge = qp->max_recv_sge,
		.max_inline_data = qp->max_inline,
		.qp_state = qp->state,
		.cur_qp_state = qp->state,
		.path_mtu = qp->attr.path_mtu,
		.max_rd_atomic = qp->attr.max_rd_atomic,
		.max_dest_rd_atomic = qp->attr.max_dest_rd_atomic,
		.min_rnr_timer = qp->attr.min_rnr_timer,
		.port_num = qp->port,
		.timeout = qp->attr.timeout,
		.retry_cnt = qp->attr.retry_cnt,
		.rnr_retry = qp->attr.rnr_retry,
		.sq_sig_all = qp->sig_all,
	};
	put(b->out, b->out_len, &r, sizeof(r));
	return 0;
}

static int destroy_qp(int ctx, struct cmd_buf *b)
{
	const struct ib_uverbs_destroy_qp *q = b->in;
	struct ib_uverbs_destroy_qp_resp r = { 0 };
	struct fab_qp *qp = obj_at(TABLE_QP, q->qp_handle);

	(void)ctx;
	if (!qp)
		return EINVAL;
	qp_destroy(qp, &r.events_reported);
	put(b->out, b->out_len, &r, sizeof(r));
	return 0;
}

/* min_in: the fixed part of the request, which the handlers rely on */
static const struct command {
	uint32_t number;
	const char *name;
	size_t min_in;
	int (*run)(int ctx, struct cmd_buf *b);
	bool undo; /* works on a dead device, too */
} commands[] = {
	{ IB_USER_VERBS_CMD_GET_CONTEXT, "get_context", 0, get_context, false },
	{ IB_USER_VERBS_CMD_QUERY_DEVICE, "query_device", 0, query_device, false },
	{ EX(QUERY_DEVICE), "query_device", 0, query_device_ex, false },
	{ IB_USER_VERBS_CMD_QUERY_PORT, "query_port", sizeof(struct ib_uverbs_query_port), query_port, false },
	{ IB_USER_VERBS_CMD_ALLOC_PD, "alloc_pd", 0, alloc_pd, false },
	{ IB_USER_VERBS_CMD_DEALLOC_PD, "dealloc_pd", sizeof(struct ib_uverbs_dealloc_pd), dealloc_pd, true },
	{ IB_USER_VERBS_CMD_REG_MR, "reg_mr", sizeof(struct ib_uverbs_reg_mr), reg_mr, false },
	{ IB_USER_VERBS_CMD_DEREG_MR, "dereg_mr", sizeof(struct ib_uverbs_dereg_mr), dereg_mr, true },
	{ IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "create_comp_channel", 0, create_channel, false },
	{ IB_USER_VERBS_CMD_CREATE_CQ, "create_cq", sizeof(struct ib_uverbs_create_cq), create_cq, false },
	{ EX(CREATE_CQ), "create_cq", sizeof(struct ib_uverbs_ex_create_cq), create_cq_ex, false },
	{ IB_USER_VERBS_CMD_DESTROY_CQ, "destroy_cq", sizeof(struct ib_uverbs_destroy_cq), destroy_cq, true },
	{ IB_USER_VERBS_CMD_CREATE_QP, "create_qp", sizeof(struct ib_uverbs_create_qp), create_qp, false },
	{ EX(CREATE_QP), "create_qp", offsetof(struct ib_uverbs_ex_create_qp, comp_mask), create_qp_ex, false },
	{ IB_USER_VERBS_CMD_MODIFY_QP, "modify_qp", sizeof(struct ib_uverbs_modify_qp), modify_qp, false },
	{ EX(MODIFY_QP), "modify_qp", sizeof(struct ib_uverbs_modify_qp), modify_qp_ex, false },
	{ IB_USER_VERBS_CMD_QUERY_QP, "query_qp", sizeof(struct ib_uverbs_query_qp), query_qp, false },
	{ IB_USER_VERBS_CMD_DESTROY_QP, "destroy_qp", sizeof(struct ib_uverbs_destroy_qp), destroy_qp, true },
};

static const struct command *find_command(uint32_t number)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (commands[i].number == number)
			return &commands[i];
	return NULL;
}

/* For faults, a modification is named with the state it leads to: modify_qp_rtr. */
static void command_name(const struct command *c, const struct cmd_buf *b, char *name, size_t size)
{
	static const char *const states[] = { "reset", "init", "rtr", "rts", "sqd", "sqe", "err" };
	const struct ib_uverbs_modify_qp *q = b->in;
	bool named = c->run == modify_qp || c->run == modify_qp_ex;

	if (named && q->attr_mask & 1 && q->qp_state < sizeof(states) / sizeof(*states))
		snprintf(name, size, "%s_%s", c->name, states[q->qp_state]);
	else
		snprintf(name, size, "%s", c->name);
}

int verbs_command(int ctx, uint32_t number, struct cmd_buf *b)
{
	const struct command *c = find_command(number);
	char name[32];
	int err;

	if (!c)
		return EOPNOTSUPP;
	if (b->in_len < c->min_in)
		return EINVAL;
	command_name(c, b, name, sizeof(name));
	err = command_gate(emu.ctx[ctx].dev, name);
	if (err)
		return err;
	if (emu.ctx[ctx].dev->fatal && !c->undo)
		return EIO;
	return c->run(ctx, b);
}
