/* SPDX-License-Identifier: MIT */
/*
 * A cross-check of layer 3: do TCP and ping pass between the same two addresses that the queue pairs use? Whatever they
 * say, RoCE takes other queues, filters and traffic classes, so an answer never clears the RoCE path.
 */
#ifndef RDMADIAG_PROBE_REACH_H
#define RDMADIAG_PROBE_REACH_H

#include "probe/run.h"

#include <stddef.h>
#include <stdint.h>

/*
 * From the local end's GID to the peer's, where both are IP addresses; `port`: one that may answer TCP. Takes a second
 * or two where nobody answers. The answer goes into the evidence.
 */
void reach_check(struct probe_run *run, uint16_t port);

/* ---- for tests ---- */

enum { ECHO_HEADER = 8 };
/* An echo request of `size` bytes (8 at least), header included. */
void echo_fill(unsigned char *packet, size_t size, bool ipv6, uint16_t id, uint16_t sequence);
/* Is this the reply? `raw`: IPv4 header in front. `id` 0: the kernel has chosen one. */
bool echo_is_reply(const unsigned char *packet, size_t size, bool ipv6, bool raw, uint16_t id, uint16_t sequence);

#endif
