/* SPDX-License-Identifier: MIT */
/* The kernel's way from the GID of one end to that of the other: route and neighbour, as facts of the first. */
#ifndef RDMADIAG_PROBE_ROUTE_H
#define RDMADIAG_PROBE_ROUTE_H

#include "origin/origin.h"
#include "probe/run.h"

/* Asks anew, for both change. Ethernet only: InfiniBand goes by LID. */
void route_look(struct probe_run *run, struct origin *origin, int side);

#endif
