/* SPDX-License-Identifier: MIT */
/* The drawing of `topo --svg`. */
#ifndef RDMADIAG_RENDER_TOPO_SVG_H
#define RDMADIAG_RENDER_TOPO_SVG_H

#include "base/error.h"
#include "model/host.h"

/*
 * Writes packages, nodes, PCI bridges, adapters with netdevs, bonds, GPUs and NVMe controllers with their links to the
 * file `path`, or to standard output for "-". host->matrix must be there. 0 or negative errno with `error`;
 * an error of standard output stays with the stream.
 */
int topo_svg_write(struct host *host, const char *path, struct error *error);

#endif
