/* SPDX-License-Identifier: MIT */
/* Which device, port and index reach an address: the kernel's route and neighbour, joined with the GID entries. */
#ifndef RDMADIAG_GID_PATH_H
#define RDMADIAG_GID_PATH_H

#include "model/gid.h"
#include "model/host.h"
#include "origin/origin.h"

/* What the kernel answered about an address. Addresses have the form of GIDs. */
struct gid_path {
	const char *address; /* as asked */
	uint8_t to[16];
	const char *zone;      /* netdev after "%", NULL: none */
	struct num error;      /* positive errno of RTM_GETROUTE */
	struct num route_type; /* RTN_* */
	struct num oif;        /* ifindex */
	bool has_gateway, has_source;
	uint8_t gateway[16], source[16];
	struct num neighbour; /* NUD_* of the next hop, unknown: no entry */
	bool has_neighbours;  /* RTM_GETNEIGH answered */
};

/* Takes "ADDRESS" or "ADDRESS%NETDEV". -EINVAL: not an address. Texts live in `arena`. */
int gid_path_parse(struct arena *arena, const char *text, struct gid_path *path);
/* Asks RTM_GETROUTE and RTM_GETNEIGH; a refusal of the kernel is part of the answer. 0 or -ENOMEM. */
int gid_path_read(struct origin *origin, struct host *host, struct gid_path *path);
/* The parsers of the replies, for tests: (buffer, length) of whole messages. */
void gid_path_take_route(struct gid_path *path, const void *reply, size_t length);
void gid_path_take_neighbours(struct gid_path *path, const void *reply, size_t length);

/* The answer to `--to` from judged entries; in host->arena. NULL without memory. */
struct gid_route *gid_path_choose(struct host *host, const struct gid_document *document, const struct gid_path *path);

/*
 * How many netdevs that are up have an address in the subnet of `address` of `netdev`, itself included: more than one
 * answers ARP for the others' addresses as well, unless arp_ignore is set.
 */
uint32_t netdevs_in_subnet(const struct host *host, const struct netdev *netdev, const struct address *address);

#endif
