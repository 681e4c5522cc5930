/* SPDX-License-Identifier: MIT */
/* Text of `topo --matrix`. */
#ifndef RDMADIAG_RENDER_TOPO_MATRIX_H
#define RDMADIAG_RENDER_TOPO_MATRIX_H

#include "model/host.h"

#include <stdbool.h>
#include <stdio.h>

/* Prints host->matrix with a legend. 0 or negative errno. */
int topo_matrix_print(const struct host *host, bool color, FILE *stream);

#endif
