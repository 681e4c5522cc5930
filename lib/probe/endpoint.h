/* SPDX-License-Identifier: MIT */
/* One end of the connection: an opened device with CQs, a buffer and RC queue pairs, and the facts about it. */
#ifndef RDMADIAG_PROBE_ENDPOINT_H
#define RDMADIAG_PROBE_ENDPOINT_H

#include "origin/origin.h"
#include "probe/buffer.h"
#include "probe/layout.h"
#include "probe/observer.h"
#include "probe/run.h"

#include <infiniband/verbs.h>

enum { CQS_LIMIT = 2, PDS_LIMIT = 2 };

/* Queue pair i belongs to PD i % pds and to CQ i % cqs. The first of each is the one that is observed. */
struct endpoint {
	struct probe_run *run;
	int side; /* enum side: where its facts stand in the evidence */
	struct endpoint_facts *facts;
	struct origin *origin;
	struct ibv_context *context;
	struct ibv_comp_channel *channel; /* of all CQs; NULL: polled */
	struct ibv_pd *pds[PDS_LIMIT + 1];
	struct ibv_cq *cqs[CQS_LIMIT];
	struct ibv_mr *mrs[PDS_LIMIT + 1];
	struct ibv_qp *qps[PROBE_QPS_LIMIT];
	uint32_t pd_count, cq_count, qp_count;
	uint32_t receives; /* requests that a receive queue holds */
	struct buffer buffer;
	struct observer observer;
	struct cm *cm;        /* malloc'ed; connections of iWARP, NULL: none */
	int inspection_error; /* why the device could not be asked; 0: it could, or was not */
	const char *inspection_reason;
	uint8_t port;
	int gid_index; /* -1: addressed by LID */
	union ibv_gid gid;
	bool has_gid; /* the slot holds one */
	struct ibv_device_attr device_attr;
	struct ibv_port_attr port_attr;
};

struct endpoint_wish {
	const struct device_choice *device; /* name "": the first with an active port */
	struct num gid_index;               /* unknown: the advised one */
	const uint8_t *address;             /* 16 bytes: the GID to look for first, NULL: none */
	const char *gid_type;               /* the other end's type; NULL: not known yet */
};

/*
 * Opens the device and learns port, GID and what else is a fact about it. 0; -ENODEV where there is none; another
 * negative errno. `error` is filled. Nothing of it needs to be undone but by endpoint_close().
 */
int endpoint_open(struct endpoint *endpoint, struct probe_run *run, int side, const struct endpoint_wish *wish,
        struct error *error);

/* Buffer, PDs, CQs, MRs and QPs as the request of the run asks for them, then INIT. */
int endpoint_create(struct endpoint *endpoint, const struct layout *layout, struct error *error);

/* To RTR and RTS towards `other`, whose facts came by the exchange (or are those of the same process). */
int endpoint_connect(struct endpoint *endpoint, const struct endpoint_facts *other, struct error *error);

/* The state of the first QP and of the port now, into the facts; `first`: this is the first of two samples. */
void endpoint_sample(struct endpoint *endpoint, bool first);
/* Takes all async events that are there, without waiting. */
void endpoint_events(struct endpoint *endpoint);
/* What the endpoint will wait at most until its retries are exhausted (one ACK timeout: `retries` 0), IBTA's nominal
 * time. */
int64_t endpoint_retry_ns(const struct endpoint_facts *facts, int64_t retries);

static inline struct ibv_mr *endpoint_mr(const struct endpoint *endpoint, uint32_t lane)
{
	return endpoint->mrs[lane % endpoint->pd_count];
}
/* Reads and describes the netdev and the filters of the port; called again afterwards. */
void endpoint_describe_netdev(struct endpoint *endpoint);

/* What peers see of a process that died: queue pairs and memory regions are gone. */
void endpoint_vanish(struct endpoint *endpoint);
/* Gives everything back, in reverse order; each destroy is an announced step. */
void endpoint_close(struct endpoint *endpoint);

#endif
