/* SPDX-License-Identifier: MIT */
/* Text of `topo --tree`. */
#ifndef RDMADIAG_RENDER_TOPO_TREE_H
#define RDMADIAG_RENDER_TOPO_TREE_H

#include "model/host.h"

#include <stdbool.h>
#include <stdio.h>

/* host->matrix must be there. 0 or negative errno. */
int topo_tree_print(struct host *host, bool color, FILE *stream);

#endif
