/* SPDX-License-Identifier: MIT */
#include "late/late.h"

#include <rdma/rdma_cma.h>
#include <stddef.h>

static struct late_library cm = { .file = "librdmacm.so.1" };

/* clang-format off */
LATE(&cm, struct rdma_event_channel *, NULL, rdma_create_event_channel, (void))
LATE_VOID(&cm, rdma_destroy_event_channel, (struct rdma_event_channel *channel), channel)
LATE(&cm, int, -1, rdma_get_cm_event, (struct rdma_event_channel *channel, struct rdma_cm_event **event), channel, event)
LATE(&cm, int, -1, rdma_ack_cm_event, (struct rdma_cm_event *event), event)
LATE(&cm, int, -1, rdma_create_id, (struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
	enum rdma_port_space space), channel, id, context, space)
LATE(&cm, int, -1, rdma_destroy_id, (struct rdma_cm_id *id), id)
LATE(&cm, int, -1, rdma_bind_addr, (struct rdma_cm_id *id, struct sockaddr *address), id, address)
LATE(&cm, __be16, 0, rdma_get_src_port, (struct rdma_cm_id *id), id)
LATE(&cm, int, -1, rdma_listen, (struct rdma_cm_id *id, int backlog), id, backlog)
LATE(&cm, int, -1, rdma_resolve_addr, (struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *destination,
	int timeout_ms), id, source, destination, timeout_ms)
LATE(&cm, int, -1, rdma_resolve_route, (struct rdma_cm_id *id, int timeout_ms), id, timeout_ms)
LATE(&cm, int, -1, rdma_connect, (struct rdma_cm_id *id, struct rdma_conn_param *parameters), id, parameters)
LATE(&cm, int, -1, rdma_accept, (struct rdma_cm_id *id, struct rdma_conn_param *parameters), id, parameters)
LATE(&cm, int, -1, rdma_disconnect, (struct rdma_cm_id *id), id)
