/* SPDX-License-Identifier: MIT */
/*
 * Connecting through rdma_cm: for iWARP, whose queue pairs come to RTS only with a connection that the kernel makes, by
 * IP address. The control connection says where the target listens; everything else is as with any queue pair.
 */
#ifndef RDMADIAG_PROBE_CM_H
#define RDMADIAG_PROBE_CM_H

#include "probe/endpoint.h"

/* Do queue pairs of this device need it? */
bool cm_is_needed(const struct endpoint *endpoint);

/*
 * Of a target, once its queue pairs are in INIT: listens on an address of the port's netdev (`near`, a GID of 16 bytes,
 * when it has that one; NULL: any of its own) and stores address and port in the facts. 0 or negative errno with
 * `error`.
 */
int cm_listen(struct endpoint *endpoint, const uint8_t *near, struct error *error);
/* Of an initiator: connects all of its queue pairs to where `other` listens. */
int cm_connect(struct endpoint *endpoint, const struct endpoint_facts *other, struct error *error);
/* Of a target that listens: takes as many connections as it has queue pairs. */
int cm_accept(struct endpoint *endpoint, struct error *error);
/* Both ends in this process. */
int cm_connect_pair(struct endpoint *initiator, struct endpoint *target, struct error *error);
/* Disconnects; before the queue pairs are destroyed, which the connections hold. */
void cm_close(struct endpoint *endpoint);

#endif
