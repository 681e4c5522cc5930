/* SPDX-License-Identifier: MIT */
/* Text of `topo --matrix`. */
#ifndef RDMADIAG_RENDER_TOPO_MATRIX_H
#define RDMADIAG_RENDER_TOPO_MATRIX_H

#include "model/host.h"

#include <stdbool.h>
#include <stdio.h>

struct topo_matrix_options {
	bool color;
	bool adapters_only; /* no rows of GPUs and NVMe controllers: a device was asked for */
	const char *row;    /* name of the only row; NULL: all */
};

/* Is this the name of a row that is no RDMA device, as GPU0 and nvme1 are? */
bool topo_matrix_is_neighbour(const char *name);
/* The row of that name; NULL: there is none. */
const struct matrix_device *topo_matrix_row(const struct host *host, const char *name);
/* Prints host->matrix with a legend. 0 or negative errno. */
int topo_matrix_print(const struct host *host, const struct topo_matrix_options *options, FILE *stream);

#endif
