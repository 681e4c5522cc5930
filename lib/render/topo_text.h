/* SPDX-License-Identifier: MIT */
/* The text of `topo`: a row for each port, below it the netdevs and bond members that it reaches wires through. */
#ifndef RDMADIAG_RENDER_TOPO_TEXT_H
#define RDMADIAG_RENDER_TOPO_TEXT_H

#include "model/host.h"

#include <stdbool.h>
#include <stdio.h>

struct topo_text_options {
	bool color;
	bool virtual_functions; /* rows for VFs too, not only their count */
	bool details;           /* what there is no column for, too */
};

/* 0 or negative errno. */
int topo_print(const struct host *host, const struct topo_text_options *options, FILE *stream);

#endif
