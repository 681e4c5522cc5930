/* SPDX-License-Identifier: MIT */
/* One line for each netdev, RDMA port and function below the table of `topo --health`, and why a device has none. */
#ifndef RDMADIAG_RENDER_HEALTH_TEXT_H
#define RDMADIAG_RENDER_HEALTH_TEXT_H

#include "model/host.h"

#include <stdio.h>

void health_print(const struct host *host, FILE *stream);

#endif
