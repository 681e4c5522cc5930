/* SPDX-License-Identifier: MIT */
/* What is read only when asked: interrupts, quality of service, the wire. After the join, which says of what. */
#ifndef RDMADIAG_SOURCE_HEALTH_H
#define RDMADIAG_SOURCE_HEALTH_H

#include "model/host.h"
#include "origin/origin.h"

/* Fills host->health. 0 or -ENOMEM; what could not be had is in the report. */
int health_read(struct origin *origin, struct host *host);

#endif
