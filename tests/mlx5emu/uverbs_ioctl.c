/* SPDX-License-Identifier: MIT */
/* Commands through RDMA_VERBS_IOCTL: objects, methods and attributes of ib_user_ioctl_cmds.h. */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "emu.h"

typedef struct ib_uverbs_ioctl_hdr hdr;

static struct ib_uverbs_attr *find(hdr *h, uint16_t id)
{
	for (int i = 0; i < h->num_attrs; i++)
		if (h->attrs[i].attr_id == id)
			return &h->attrs[i];
	return NULL;
}

/* Input of up to 8 bytes lies in the attribute itself. */
static const void *in_ptr(const struct ib_uverbs_attr *a)
{
	if (!a)
		return NULL;
	return a->len > 8 ? (const void *)(uintptr_t)a->data : (const void *)&a->data;
}

static void *out_ptr(const struct ib_uverbs_attr *a)
{
	return a ? (void *)(uintptr_t)a->data : NULL;
}

static uint64_t value(hdr *h, uint16_t id)
{
	const struct ib_uverbs_attr *a = find(h, id);

	return a ? a->data : 0;
}

static void set_out(hdr *h, uint16_t id, const void *v, size_t n)
{
	struct ib_uverbs_attr *a = find(h, id);

	if (!a)
		return;
	memcpy(out_ptr(a), v, a->len < n ? a->len : n);
	a->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

static size_t len_of(const struct ib_uverbs_attr *a)
{
	return a ? a->len : 0;
}

static struct cmd_buf driver_buf(hdr *h)
{
	struct ib_uverbs_attr *in = find(h, UVERBS_ATTR_UHW_IN), *out = find(h, UVERBS_ATTR_UHW_OUT);

	return (struct cmd_buf){
		.drv_in = in_ptr(in), .drv_in_len = len_of(in), .drv_out = out_ptr(out), .drv_out_len = len_of(out)
	};
}

static int invoke_write(int ctx, hdr *h)
{
	struct ib_uverbs_attr *in = find(h, UVERBS_ATTR_CORE_IN), *out = find(h, UVERBS_ATTR_CORE_OUT);
	struct cmd_buf b = driver_buf(h);

	/* libibverbs asks with empty buffers whether this exists, and takes ENOSPC for yes */
	if (!in && !out)
		return ENOSPC;
	b.in = in_ptr(in);
	b.in_len = len_of(in);
	b.out = out_ptr(out);
	b.out_len = len_of(out);
	return verbs_command(ctx, (uint32_t)value(h, UVERBS_ATTR_WRITE_CMD), &b);
}

static int get_context(int ctx, hdr *h)
{
	uint32_t vectors = 4;
	uint64_t support = 1; /* optional MR access flags */
	struct cmd_buf b = driver_buf(h);
	int err = command_gate(emu.ctx[ctx].dev, "get_context");

	if (err)
		return err;
	/* libmlx5 asks for a DEVX context first and takes a refusal for "none here" (log_max_uctx of 0) */
	if (b.drv_in_len >= 12) {
		uint32_t flags;

		memcpy(&flags, (const uint8_t *)b.drv_in + 8, sizeof(flags));
		if (flags & 1 && !emu.devx)
			return EINVAL;
		fab->ctx[ctx].devx = flags & 1;
	}
	set_out(h, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	set_out(h, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &support, sizeof(support));
	fill_ucontext(emu.ctx[ctx].dev, true, b.drv_out, b.drv_out_len);
	emu.ctx[ctx].has_context = true;
	return 0;
}

static int query_port(int ctx, hdr *h)
{
	struct ib_uverbs_query_port_resp_ex r = { 0 };
	int err = command_gate(emu.ctx[ctx].dev, "query_port");

	if (!err)
		err = fill_port(emu.ctx[ctx].dev, (unsigned int)(value(h, UVERBS_ATTR_QUERY_PORT_PORT_NUM) & 0xff),
		        &r.legacy_resp);
	if (!err)
		set_out(h, UVERBS_ATTR_QUERY_PORT_RESP, &r, sizeof(r));
	return err;
}

static void fill_gid(const struct fab_gid *g, uint32_t port, uint32_t index, struct ib_uverbs_gid_entry *e)
{
	memset(e, 0, sizeof(*e));
	memcpy(e->gid, g->raw, 16);
	e->gid_index = index;
	e->port_num = port;
	e->gid_type = g->type;
	e->netdev_ifindex = g->ifindex;
}

/* Entries in use, of all ports; the length of the buffer limits them. */
static int query_gid_table(int ctx, hdr *h)
{
	const struct fab_dev *dev = emu.ctx[ctx].dev;
	struct ib_uverbs_attr *out = find(h, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	uint64_t size = value(h, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE), n = 0;
	struct ib_uverbs_gid_entry e;
	int err = command_gate(dev, "query_gid_table");

	if (err)
		return err;
	if (!out || size < sizeof(e) || value(h, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS))
		return EINVAL;
	for (uint32_t p = 1; p <= dev->nports; p++)
		for (uint32_t i = 0; i < MAX_GIDS; i++) {
			if (!dev->port[p - 1].gid[i].used)
				continue;
			if ((n + 1) * size > out->len)
				return EINVAL;
			fill_gid(&dev->port[p - 1].gid[i], p, i, &e);
			memcpy((uint8_t *)out_ptr(out) + n++ * size, &e, sizeof(e));
		}
	out->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	set_out(h, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n, sizeof(n));
	return 0;
}

static int query_gid_entry(int ctx, hdr *h)
{
	const struct fab_dev *dev = emu.ctx[ctx].dev;
	uint32_t port = (uint32_t)value(h, UVERBS_ATTR_QUERY_GID_ENTRY_PORT);
	uint32_t index = (uint32_t)value(h, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
	struct ib_uverbs_gid_entry e;
	int err = command_gate(dev, "query_gid_entry");

	if (err)
		return err;
	if (!port || port > dev->nports || index >= MAX_GIDS)
		return EINVAL;
	if (!dev->port[port - 1].gid[index].used)
		return ENODATA;
	fill_gid(&dev->port[port - 1].gid[index], port, index, &e);
	set_out(h, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
	return 0;
}

static int async_alloc(int ctx, hdr *h)
{
	struct ib_uverbs_attr *a = find(h, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);

	if (!a)
		return EINVAL;
	a->data_s64 = emu.ctx[ctx].async_r;
	return 0;
}

/* The methods that create and destroy are the write commands in other clothes. */
static int run(int ctx, uint32_t command, struct cmd_buf *b, const void *in, size_t in_len, void *out, size_t out_len)
{
	b->in = in;
	b->in_len = in_len;
	b->out = out;
	b->out_len = out_len;
	return verbs_command(ctx, command, b);
}

static int cq_create_method(int ctx, hdr *h)
{
	struct ib_uverbs_attr *channel = find(h, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
	struct ib_uverbs_create_cq q = { .cqe = (uint32_t)value(h, UVERBS_ATTR_CREATE_CQ_CQE),
		.user_handle = value(h, UVERBS_ATTR_CREATE_CQ_USER_HANDLE),
		.comp_channel = channel ? (int32_t)channel->data_s64 : -1 };
	struct ib_uverbs_create_cq_resp r;
	struct ib_uverbs_attr *handle = find(h, UVERBS_ATTR_CREATE_CQ_HANDLE);
	struct cmd_buf b = driver_buf(h);
	int err = handle ? run(ctx, IB_USER_VERBS_CMD_CREATE_CQ, &b, &q, sizeof(q), &r, sizeof(r)) : EINVAL;

	if (err)
		return err;
	handle->data = r.cq_handle;
	set_out(h, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &r.cqe, sizeof(r.cqe));
	return 0;
}

static int cq_destroy_method(int ctx, hdr *h)
{
	struct ib_uverbs_destroy_cq q = { .cq_handle = (uint32_t)value(h, UVERBS_ATTR_DESTROY_CQ_HANDLE) };
	struct ib_uverbs_destroy_cq_resp r;
	struct cmd_buf b = { 0 };
	int err = run(ctx, IB_USER_VERBS_CMD_DESTROY_CQ, &b, &q, sizeof(q), &r, sizeof(r));

	if (!err)
		set_out(h, UVERBS_ATTR_DESTROY_CQ_RESP, &r, sizeof(r));
	return err;
}

static int qp_create_method(int ctx, hdr *h)
{
	const struct ib_uverbs_qp_cap *cap = in_ptr(find(h, UVERBS_ATTR_CREATE_QP_CAP));
	struct ib_uverbs_attr *handle = find(h, UVERBS_ATTR_CREATE_QP_HANDLE);
	struct cmd_buf b = driver_buf(h);
	struct ib_uverbs_create_qp_resp r;
	struct ib_uverbs_create_qp q;
	int err;

	if (!cap || !handle)
		return EINVAL;
	q = (struct ib_uverbs_create_qp){ .user_handle = value(h, UVERBS_ATTR_CREATE_QP_USER_HANDLE),
		.pd_handle = (uint32_t)value(h, UVERBS_ATTR_CREATE_QP_PD_HANDLE),
		.send_cq_handle = (uint32_t)value(h, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE),
		.recv_cq_handle = (uint32_t)value(h, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE),
		.max_send_wr = cap->max_send_wr,
		.max_recv_wr = cap->max_recv_wr,
		.max_send_sge = cap->max_send_sge,
		.max_recv_sge = cap->max_recv_sge,
		.max_inline_data = cap->max_inline_data,
		.sq_sig_all = !!(value(h, UVERBS_ATTR_CREATE_QP_FLAGS) & IB_UVERBS_QP_CREATE_SQ_SIG_ALL),
		.qp_type = (uint8_t)value(h, UVERBS_ATTR_CREATE_QP_TYPE) };
	err = run(ctx, IB_USER_VERBS_CMD_CREATE_QP, &b, &q, sizeof(q), &r, sizeof(r));
	if (err)
		return err;
	handle->data = r.qp_handle;
	set_out(h, UVERBS_ATTR_CREATE_QP_RESP_CAP, cap, sizeof(*cap));
	set_out(h, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &r.qpn, sizeof(r.qpn));
	return 0;
}

static int qp_destroy_method(int ctx, hdr *h)
{
	struct ib_uverbs_destroy_qp q = { .qp_handle = (uint32_t)value(h, UVERBS_ATTR_DESTROY_QP_HANDLE) };
	struct ib_uverbs_destroy_qp_resp r;
	struct cmd_buf b = { 0 };
	int err = run(ctx, IB_USER_VERBS_CMD_DESTROY_QP, &b, &q, sizeof(q), &r, sizeof(r));

	if (!err)
		set_out(h, UVERBS_ATTR_DESTROY_QP_RESP, &r, sizeof(r));
	return err;
}

static int pd_destroy_method(int ctx, hdr *h)
{
	struct ib_uverbs_dealloc_pd q = { .pd_handle = (uint32_t)value(h, UVERBS_ATTR_DESTROY_PD_HANDLE) };
	struct cmd_buf b = { 0 };

	return run(ctx, IB_USER_VERBS_CMD_DEALLOC_PD, &b, &q, sizeof(q), NULL, 0);
}

static int mr_destroy_method(int ctx, hdr *h)
{
	struct ib_uverbs_dereg_mr q = { .mr_handle = (uint32_t)value(h, UVERBS_ATTR_DESTROY_MR_HANDLE) };
	struct cmd_buf b = { 0 };

	return run(ctx, IB_USER_VERBS_CMD_DEREG_MR, &b, &q, sizeof(q), NULL, 0);
}

/* The mmap offset of a UAR object: command 9 above the low 8 bits of the page number. */
static int uar_alloc(int ctx, hdr *h)
{
	struct ib_uverbs_attr *handle = find(h, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	uint32_t length = PAGE, page;
	uint64_t offset;
	unsigned int i;
	int err = handle ? -ctx_uar_alloc(&emu.ctx[ctx], &i) : EINVAL;

	if (err)
		return err;
	offset = (uint64_t)(9u << 8 | i) * PAGE;
	page = 0x20 + i;
	handle->data = i;
	set_out(h, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	set_out(h, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	set_out(h, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &page, sizeof(page));
	return 0;
}

static int uar_destroy(int ctx, hdr *h)
{
	uint64_t i = value(h, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE);

	if (i >= UAR_PAGES)
		return EINVAL;
	emu.ctx[ctx].uar_used &= ~(1ull << i);
	return 0;
}

static int devx(int ctx, hdr *h, uint16_t in_id, uint16_t out_id)
{
	struct ib_uverbs_attr *in = find(h, in_id), *out = find(h, out_id);
	uint8_t answer[4112] = { 0 };
	int err;

	if (!in || !out || in->len < 16)
		return EINVAL;
	err = devx_command(ctx, in_ptr(in), in->len, answer, sizeof(answer));
	if (!err)
		set_out(h, out_id, answer, sizeof(answer));
	return err;
}

static int devx_other(int ctx, hdr *h)
{
	return devx(ctx, h, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
}

static int devx_query(int ctx, hdr *h)
{
	return devx(ctx, h, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);
}

static int devx_modify(int ctx, hdr *h)
{
	return devx(ctx, h, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
}

static const struct {
	uint16_t object, method;
	int (*run)(int ctx, hdr *h);
} methods[] = {
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, invoke_write },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, get_context },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, query_port },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, query_gid_table },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, query_gid_entry },
	{ UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, async_alloc },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, cq_create_method },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, cq_destroy_method },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, qp_create_method },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, qp_destroy_method },
	{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, pd_destroy_method },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr_destroy_method },
	{ MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, uar_alloc },
	{ MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, uar_destroy },
	{ MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, devx_other },
	{ MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, devx_query },
	{ MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, devx_modify },
};

/* A kernel without this interface answers ENOTTY; one without the method EPROTONOSUPPORT. */
int uverbs_ioctl(int ctx, hdr *h)
{
	if (!emu.modern)
		return ENOTTY;
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (methods[i].object == h->object_id && methods[i].method == h->method_id)
			return methods[i].run(ctx, h);
	return EPROTONOSUPPORT;
}
