/* SPDX-License-Identifier: MIT */
/*
 * The same bytes over TCP, beside the RDMA operation: to teach what is different, and as a cross-check of host and
 * memory. Both ends are in this process, over the host's loopback: nothing is said about a network.
 */
#ifndef RDMADIAG_PROBE_CONTRAST_H
#define RDMADIAG_PROBE_CONTRAST_H

#include "probe/layout.h"
#include "probe/run.h"

/* As many transfers of each size as there were requests, 100 at most. What goes wrong is reported as missing. */
void contrast_run(struct probe_run *run, const struct layout *layout);

#endif
