/* SPDX-License-Identifier: MIT */
#include "probe/post.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int post_init(struct post_chain *chain, uint32_t limit, uint32_t sges_each)
{
	*chain = (struct post_chain){ .limit = limit, .sges_each = sges_each };
	chain->requests = calloc(limit, sizeof(*chain->requests));
	chain->sges = calloc((size_t)limit * sges_each, sizeof(*chain->sges));
	return chain->requests && chain->sges ? 0 : -ENOMEM;
}

void post_free(struct post_chain *chain)
{
	free(chain->requests);
	free(chain->sges);
	*chain = (struct post_chain){ 0 };
}

bool post_by_wr_api(const struct probe_request *request)
{
	return request->api && !strcmp(request->api, "wr");
}

uint64_t post_send_ops(const struct probe_request *request)
{
	switch (request->op) {
	case OP_WRITE_IMM:
		/* The plain one is used as well where there may be no receive left. */
		return IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE;
	case OP_SEND:
		return IBV_QP_EX_WITH_SEND;
	case OP_READ:
		return IBV_QP_EX_WITH_RDMA_READ;
	default:
		return IBV_QP_EX_WITH_RDMA_WRITE;
	}
}

static enum ibv_wr_opcode opcode_of(int op)
{
	switch (op) {
	case OP_WRITE_IMM:
		return IBV_WR_RDMA_WRITE_WITH_IMM;
	case OP_SEND:
		return IBV_WR_SEND;
	case OP_READ:
		return IBV_WR_RDMA_READ;
	default:
		return IBV_WR_RDMA_WRITE;
	}
}

struct ibv_send_wr *post_add(struct post_chain *chain, int opcode, unsigned char *memory, uint32_t bytes, uint32_t lkey)
{
	struct ibv_send_wr *request = &chain->requests[chain->count];
	struct ibv_sge *sges = &chain->sges[chain->count * chain->sges_each];
	uint32_t pieces = bytes < chain->sges_each ? bytes : chain->sges_each, done = 0;
	for (uint32_t i = 0; i < pieces; i++) {
		uint32_t length = i + 1 < pieces ? bytes / pieces : bytes - done;
		sges[i] = (struct ibv_sge){ .addr = (uintptr_t)memory + done, .length = length, .lkey = lkey };
		done += length;
	}
	*request = (struct ibv_send_wr){ .sg_list = sges, .num_sge = (int)pieces, .opcode = opcode_of(opcode) };
	if (chain->count)
		request[-1].next = request;
	chain->count++;
	return request;
}

/* ---- the ibv_wr_*() interface ---- */

static void build_data(struct ibv_qp_ex *qp, const struct ibv_send_wr *request)
{
	if (!(request->send_flags & IBV_SEND_INLINE)) {
		ibv_wr_set_sge_list(qp, (size_t)request->num_sge, request->sg_list);
		return;
	}
	struct ibv_data_buf pieces[POST_SGES_LIMIT] = { 0 };
	for (int i = 0; i < request->num_sge; i++) {
		/* The caller's own buffer, whose address the request holds as a number. */
		void *address = (void *)(uintptr_t)request->sg_list[i].addr; // NOLINT(performance-no-int-to-ptr)
		pieces[i] = (struct ibv_data_buf){ .addr = address, .length = request->sg_list[i].length };
	}
	if (request->num_sge == 1) {
		ibv_wr_set_inline_data(qp, pieces[0].addr, pieces[0].length);
		return;
	}
	ibv_wr_set_inline_data_list(qp, (size_t)request->num_sge, pieces);
}

static void build(struct ibv_qp_ex *qp, const struct ibv_send_wr *request)
{
	qp->wr_id = request->wr_id;
	qp->wr_flags = request->send_flags;
	uint32_t rkey = request->wr.rdma.rkey;
	uint64_t address = request->wr.rdma.remote_addr;
	switch (request->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, rkey, address, request->imm_data);
		break;
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qp, rkey, address);
		break;
	default:
		ibv_wr_rdma_write(qp, rkey, address);
		break;
	}
	build_data(qp, request);
}

static struct ibv_qp_ex *start_and_build(
        const struct post_chain *chain, uint32_t from, uint32_t count, struct ibv_qp *qp)
{
	struct ibv_qp_ex *extended = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(extended);
	for (uint32_t i = from; i < from + count; i++)
		build(extended, &chain->requests[i]);
	return extended;
}

void post_abort(struct post_chain *chain, struct ibv_qp *qp)
{
	ibv_wr_abort(start_and_build(chain, 0, chain->count, qp));
}

/* ---- */

int post_requests(
        struct post_chain *chain, uint32_t from, uint32_t count, struct ibv_qp *qp, bool by_wr_api, uint32_t *taken)
{
	struct ibv_send_wr *bad = NULL, *first = &chain->requests[from], *last = first + count - 1, *rest = last->next;
	last->next = NULL;
	int error =
	        by_wr_api ? ibv_wr_complete(start_and_build(chain, from, count, qp)) : ibv_post_send(qp, first, &bad);
	last->next = rest;
	if (!error)
		*taken = count;
	else if (bad >= first && bad <= last)
		*taken = (uint32_t)(bad - first);
	else
		*taken = 0;
	return error;
}
