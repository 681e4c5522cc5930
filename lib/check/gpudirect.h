/* SPDX-License-Identifier: MIT */
/* What RDMA into GPU memory needs of the kernel. Only `check` looks at it. */
#ifndef RDMADIAG_CHECK_GPUDIRECT_H
#define RDMADIAG_CHECK_GPUDIRECT_H

#include "model/host.h"

/* Needs host->neighbours. Says nothing where there is no GPU. */
void check_gpudirect(const struct host *host, struct report *report);

#endif
