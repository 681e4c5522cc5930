/* SPDX-License-Identifier: MIT */
/* Findings about how RDMA devices reach wires, memory and CPUs. */
#ifndef RDMADIAG_CHECK_TOPO_H
#define RDMADIAG_CHECK_TOPO_H

#include "model/host.h"

/* Adds findings to `report`; the host is only read. */
void check_topo(const struct host *host, struct report *report);

#endif
