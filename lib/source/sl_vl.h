/* SPDX-License-Identifier: MIT */
/* Service levels and virtual lanes of an InfiniBand port, as the subnet manager set them. */
#ifndef RDMADIAG_SOURCE_SL_VL_H
#define RDMADIAG_SOURCE_SL_VL_H

#include "model/health.h"
#include "model/host.h"
#include "origin/origin.h"

/* Fills sl_to_vl and vl_arbitration_*; what could not be had is in host->report. `subject` is DEV/PORT. */
void sl_vl_read(struct origin *origin, struct host *host, const char *subject, struct port_health *health);

#endif
