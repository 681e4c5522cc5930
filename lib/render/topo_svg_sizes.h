/* SPDX-License-Identifier: MIT */
/* How much room the parts of the drawing take, in its units; topo_svg.c draws them. */
#ifndef RDMADIAG_RENDER_TOPO_SVG_SIZES_H
#define RDMADIAG_RENDER_TOPO_SVG_SIZES_H

#include "model/host.h"
#include "render/places.h"

enum {
	COLUMN = 156,  /* of a function, its gap included */
	GAP = 10,      /* between columns */
	BRIDGE = 24,   /* height of a bridge */
	WIRE = 30,     /* length of a link */
	FUNCTION = 56, /* height of a function */
	PORT = 40,     /* of an RDMA port, and of a netdev */
	PAD = 14,      /* inside a frame */
	HEADER = 28,   /* of a package */
	NODE_HEADER = 44,
	MARGIN = 18, /* around everything */
	NODE_LEAST = 240,
	ROW_WIDTH = 1900, /* packages that are wider together stand in rows */
	BOND = 46,
	BOND_WIDTH = 300,
};

/* Nodes without a column: a line each, at most so many. */
enum { BARE_LINE = 17, BARE_LIMIT = 6 };

double topo_place_width(const struct place *place);
/* Bridges above the functions, at most. A switch's downstream ports are not drawn: the links leave the switch. */
bool topo_is_drawn(const struct place *place);
/* A port, and its netdev where there is one. */
double topo_port_height(const struct place_port *port);
bool topo_has_functions(const struct place *place);
double topo_node_width(const struct place *node);
double topo_package_width(const struct place *package);
double topo_functions_top(const struct place *package);
double topo_node_height(const struct host *host, const struct place *package);
/* Lines for nodes on which no function sits: memory alone, most often. */
uint32_t topo_bare_nodes(const struct place *package);
bool topo_has_columns(const struct place *package);
double topo_package_height(const struct host *host, const struct place *package);

/* Unlike fmax(3), without libm. */
static inline double larger(double a, double b)
{
	return a > b ? a : b;
}

#endif
