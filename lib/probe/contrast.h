/* SPDX-License-Identifier: MIT */
/*
 * The same bytes over TCP, beside the RDMA operation: to teach what is different, and as a cross-check. With a peer
 * they take the connection of the exchange, which keeps its segments small; otherwise both ends are in this process,
 * over the host's loopback, and nothing is said about a network.
 */
#ifndef RDMADIAG_PROBE_CONTRAST_H
#define RDMADIAG_PROBE_CONTRAST_H

#include "probe/channel.h"
#include "probe/layout.h"
#include "probe/run.h"

/*
 * As many transfers of each size as there were requests, 100 at most. What goes wrong is reported as missing. `peer`:
 * the connection to a target that takes streams; NULL: inside this host.
 */
void contrast_run(struct probe_run *run, const struct layout *layout, struct channel *peer);
/* The target's part: reads what a "stream" message announces, checks it and answers. */
int contrast_answer(struct channel *channel, const struct layout *layout, const struct incoming *incoming,
        int64_t deadline_ns, struct error *error);

#endif
