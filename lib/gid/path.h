/* SPDX-License-Identifier: MIT */
/*
 * Which device, port and index reach an address: the kernel's route and neighbour, joined with the GID entries.
 *
 * The kernel resolves the path of a RoCE connection from the address of the entry and bound to its netdev
 * (drivers/infiniband/core/addr.c, addr4_resolve), so that rules by source address and VRFs count. Where the plain
 * lookup leads to no RDMA device, each address on one is therefore tried as the source.
 *
 * To a GID of InfiniBand no route leads: its prefix says the subnet, which a port is in.
 */
#ifndef RDMADIAG_GID_PATH_H
#define RDMADIAG_GID_PATH_H

#include "model/gid.h"
#include "model/host.h"
#include "origin/origin.h"

struct gid_hop {
	struct num oif; /* ifindex */
	bool has_gateway;
	uint8_t gateway[16];
};

/* One answer of RTM_GETROUTE. */
struct gid_lookup {
	struct num error; /* positive errno instead of an answer */
	struct num type;  /* RTN_* */
	bool has_source;
	uint8_t source[16]; /* preferred source; of a lookup by source: that address */
	struct gid_hop hop;
	LIST(struct gid_hop) hops; /* of a route with several paths */
};

struct gid_neighbour {
	struct num ifindex;
	uint8_t ip[16];
	struct num state; /* NUD_* */
};

/* What the kernel answered about an address. Addresses have the form of GIDs. */
struct gid_path {
	struct arena *arena;
	const char *address; /* as asked */
	uint8_t to[16];
	const char *zone;                /* netdev after "%", NULL: none */
	bool known;                      /* the kernel answered `route`, be it with an error */
	struct gid_lookup route;         /* without a source */
	struct gid_lookup fib;           /* the same with all its paths (RTM_F_FIB_MATCH); zeroed: not told */
	LIST(struct gid_lookup) sources; /* from addresses on RDMA devices, where `route` leads to none */
	LIST(struct gid_neighbour) neighbours;
	bool has_neighbours; /* RTM_GETNEIGH answered */
};

bool gid_path_is_address(const char *text);
/* Takes "ADDRESS" or "ADDRESS%NETDEV" (or its ifindex). -EINVAL: neither. Texts live in `arena`. */
int gid_path_parse(struct arena *arena, const char *text, struct gid_path *path);
/* Asks RTM_GETROUTE and RTM_GETNEIGH; a refusal of the kernel is part of the answer. 0 or -ENOMEM. */
int gid_path_read(struct origin *origin, struct host *host, struct gid_path *path);
/* The netdev that the zone names; NULL: there is none. */
const struct netdev *gid_path_zone(const struct host *host, const struct gid_path *path);
/* NUD_* of the next hop; unknown: it has no entry. */
struct num gid_path_neighbour(const struct gid_path *path, const struct gid_hop *hop);
/* The parsers of the replies: (buffer, length) of whole messages, any bytes. */
void gid_path_take_route(struct arena *arena, struct gid_lookup *lookup, const void *reply, size_t length);
void gid_path_take_neighbours(struct gid_path *path, const void *reply, size_t length);

/* The answer to `--to` from judged entries; in host->arena. NULL without memory. */
struct gid_route *gid_path_choose(struct host *host, const struct gid_document *document, const struct gid_path *path);

#endif
