/* SPDX-License-Identifier: MIT */
/* What the table of `topo` has no column for, of the devices that were asked for by name. */
#ifndef RDMADIAG_RENDER_TOPO_DETAILS_H
#define RDMADIAG_RENDER_TOPO_DETAILS_H

#include "model/host.h"

#include <stdio.h>

/* Not applicable is left out, unknown says so. 0 or -ENOMEM. */
int topo_details_print(const struct host *host, FILE *stream);

#endif
