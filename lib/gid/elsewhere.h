/* SPDX-License-Identifier: MIT */
/*
 * Netdevs of this namespace that stand on a port whose own netdev is in another one: what a container gets as macvlan,
 * ipvlan or VLAN. Netlink tells neither end of such a stack here; the GIDs that the port has of their addresses do.
 */
#ifndef RDMADIAG_GID_ELSEWHERE_H
#define RDMADIAG_GID_ELSEWHERE_H

#include "gid/read.h"

/*
 * Reads the tables of ports without a netdev, where this namespace has a netdev that may stand on one, and adds what
 * they tell to the netdevs of the ports. 0 or -ENOMEM.
 */
int gid_elsewhere(struct origin *origin, struct host *host, enum gid_source source);
/* The same from a document that is judged already. */
void gid_elsewhere_join(struct host *host, const struct gid_document *document);

#endif
