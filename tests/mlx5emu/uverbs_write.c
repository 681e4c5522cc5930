/* SPDX-License-Identifier: MIT */
/* Commands through write(): the ABI of ib_user_verbs.h. */
#include <errno.h>

#include <rdma/ib_user_verbs.h>

#include "emu.h"

/* In the old form the header says how long the whole is, not where the driver's part begins. */
#define SIZES(cmd, request, response)                                                                                  \
	{                                                                                                              \
		IB_USER_VERBS_CMD_##cmd, sizeof(struct ib_uverbs_##request), response                                  \
	}
#define RESPONSE(name) sizeof(struct ib_uverbs_##name##_resp)
static const struct {
	uint16_t command;
	size_t in, out;
} sizes[] = {
	SIZES(GET_CONTEXT, get_context, RESPONSE(get_context)),
	SIZES(QUERY_DEVICE, query_device, RESPONSE(query_device)),
	SIZES(QUERY_PORT, query_port, RESPONSE(query_port)),
	SIZES(ALLOC_PD, alloc_pd, RESPONSE(alloc_pd)),
	SIZES(DEALLOC_PD, dealloc_pd, 0),
	SIZES(REG_MR, reg_mr, RESPONSE(reg_mr)),
	SIZES(DEREG_MR, dereg_mr, 0),
	SIZES(CREATE_COMP_CHANNEL, create_comp_channel, RESPONSE(create_comp_channel)),
	SIZES(CREATE_CQ, create_cq, RESPONSE(create_cq)),
	SIZES(DESTROY_CQ, destroy_cq, RESPONSE(destroy_cq)),
	SIZES(CREATE_QP, create_qp, RESPONSE(create_qp)),
	SIZES(MODIFY_QP, modify_qp, 0),
	SIZES(QUERY_QP, query_qp, RESPONSE(query_qp)),
	SIZES(DESTROY_QP, destroy_qp, RESPONSE(destroy_qp)),
};

static void *after(void *response, size_t core)
{
	return response ? (uint8_t *)response + core : NULL;
}

static int extended(int ctx, const struct ib_uverbs_cmd_hdr *h, size_t len)
{
	const struct ib_uverbs_ex_cmd_hdr *x = (const void *)(h + 1);
	struct cmd_buf b = { .in = x + 1 };
	void *response;

	if (len < sizeof(*h) + sizeof(*x))
		return EINVAL;
	b.in_len = h->in_words * 8u;
	b.drv_in_len = x->provider_in_words * 8u;
	if (sizeof(*h) + sizeof(*x) + b.in_len + b.drv_in_len != len)
		return EINVAL;
	response = (void *)(uintptr_t)x->response;
	b.drv_in = (const uint8_t *)b.in + b.in_len;
	b.out = response;
	b.out_len = h->out_words * 8u;
	b.drv_out = after(response, b.out_len);
	b.drv_out_len = x->provider_out_words * 8u;
	return verbs_command(ctx, h->command, &b);
}

static int plain(int ctx, const struct ib_uverbs_cmd_hdr *h, size_t len, size_t core_in, size_t core_out)
{
	size_t in = h->in_words * 4u - sizeof(*h), out = h->out_words * 4u;
	struct cmd_buf b = { .in = h + 1 };
	/* every request that is answered starts with the address of the answer */
	void *response = core_out ? (void *)(uintptr_t) * (const __u64 *)b.in : NULL;

	if (h->in_words * 4u != len || in < core_in || out < core_out)
		return EINVAL;
	b.in_len = core_in;
	b.drv_in = (const uint8_t *)b.in + core_in;
	b.drv_in_len = in - core_in;
	b.out = response;
	b.out_len = core_out;
	b.drv_out = after(response, core_out);
	b.drv_out_len = out - core_out;
	return verbs_command(ctx, h->command, &b);
}

int uverbs_write(int ctx, const void *buf, size_t len)
{
	const struct ib_uverbs_cmd_hdr *h = buf;

	if (len < sizeof(*h))
		return EINVAL;
	if (h->command & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		return extended(ctx, h, len);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (sizes[i].command == h->command)
			return plain(ctx, h, len, sizes[i].in, sizes[i].out);
	return EOPNOTSUPP;
}
