/* SPDX-License-Identifier: MIT */
/* One line for each netdev, RDMA port and function below the table of `topo --health`. */
#ifndef RDMADIAG_RENDER_HEALTH_TEXT_H
#define RDMADIAG_RENDER_HEALTH_TEXT_H

#include "model/health.h"

#include <stdio.h>

void health_print(const struct health *health, FILE *stream);

#endif
