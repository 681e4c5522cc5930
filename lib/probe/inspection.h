/* SPDX-License-Identifier: MIT */
/*
 * The device's own view of its queues: asked when a request succeeded (to learn what its counters look like at rest)
 * and twice when one does not end. The counters are believed only when
 *
 *  - the queue pair is in RTS in both samples, which lie at least one ACK timeout apart: on entering ERR a ConnectX-6
 * Dx (firmware 20.43, published data) reloads the producer's counter and may move the executed one;
 *  - the doorbell record and all counters of the queue are the same in both;
 *  - no retry or NAK counter moved (the verdict looks at those of the port, here it is what is left of the retries);
 *  - for what is acknowledged: the distance of the two PSNs at rest is known of a request that succeeded before.
 */
#ifndef RDMADIAG_PROBE_INSPECTION_H
#define RDMADIAG_PROBE_INSPECTION_H

#include "probe/endpoint.h"

enum inspection_moment { MOMENT_IDLE, MOMENT_FIRST, MOMENT_SECOND, MOMENT_COUNT };

/* Asks the device; what it says, or why nothing can be had, goes into the evidence. */
void inspect_device(struct endpoint *endpoint, struct num peer_qpn, enum inspection_moment moment);

/*
 * How far the device came with the request that ends at block `end` of the send queue: fills the operation's flags from
 * the samples in the evidence. NULL, or why they are not believed (or one of them is not).
 */
const char *inspection_conclude(const struct evidence *evidence, uint32_t end, struct operation *operation);

#endif
