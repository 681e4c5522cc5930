/* SPDX-License-Identifier: MIT */
/* GPUs, accelerators and NVMe controllers: found by PCI class, read as adapters are. */
#ifndef RDMADIAG_SOURCE_NEIGHBOURS_H
#define RDMADIAG_SOURCE_NEIGHBOURS_H

#include "model/host.h"
#include "origin/origin.h"

/* What a PCI function with this class and vendor is for the matrix; NEIGHBOUR_UNKNOWN: nothing. */
enum neighbour_kind neighbour_kind_of(struct num class_code, struct num vendor);

/* Fills host->neighbours and host->peer_memory. 0 or negative errno. */
int neighbours_read(struct origin *origin, struct host *host);

#endif
