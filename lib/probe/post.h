/* SPDX-License-Identifier: MIT */
/* Chains of send requests, by ibv_post_send() or by the ibv_wr_*() calls. */
#ifndef RDMADIAG_PROBE_POST_H
#define RDMADIAG_PROBE_POST_H

#include "model/evidence.h"

#include <infiniband/verbs.h>

enum { POST_SGES_LIMIT = 16 };

/* Room for one chain, used again for each. */
struct post_chain {
	struct ibv_send_wr *requests;
	struct ibv_sge *sges; /* sges_each for each request */
	uint32_t sges_each;
	uint32_t count, limit;
};

/* Room for `limit` requests. 0 or -ENOMEM; post_free() in either case. */
int post_init(struct post_chain *chain, uint32_t limit, uint32_t sges_each);
void post_free(struct post_chain *chain);

/* Is it the ibv_wr_*() interface that was asked for, and which of its operations does a queue pair need then? */
bool post_by_wr_api(const struct probe_request *request);
uint64_t post_send_ops(const struct probe_request *request);

/* Appends a request with `bytes` at `memory`, gathered from as many pieces as it has bytes for. The caller fills in the
 * rest of what is returned. */
struct ibv_send_wr *post_add(
        struct post_chain *chain, int opcode, unsigned char *memory, uint32_t bytes, uint32_t lkey);

/*
 * Posts `count` requests of the chain with one call. 0 or a positive errno. `taken`: how many of them the queue took;
 * with an error the one behind these is the one refused. The ibv_wr_*() calls take all or nothing.
 */
int post_requests(
        struct post_chain *chain, uint32_t from, uint32_t count, struct ibv_qp *qp, bool by_wr_api, uint32_t *taken);
/* Builds the chain with the ibv_wr_*() calls and takes it back. */
void post_abort(struct post_chain *chain, struct ibv_qp *qp);

#endif
