/* SPDX-License-Identifier: MIT */
/* What the parts of the join ask of each other; everybody else takes join.h. */
#ifndef RDMADIAG_SOURCE_JOIN_PARTS_H
#define RDMADIAG_SOURCE_JOIN_PARTS_H

#include "source/join.h"

/* ---- stacks of netdevs: join_stacks.c ---- */

/* A list of netdevs by name. */
void join_sort_netdevs(struct list *netdevs);
/* Members of a bond or a team carry its traffic; the other ports of a bridge do not carry this netdev's. */
bool join_spreads(const struct netdev *netdev);
/*
 * Takes one relation of a port and a netdev. Each takes some hundred bytes, and a thousand ports that all name the
 * lowest of a thousand netdevs make a million of them.
 */
bool join_take_relation(struct host *host);

/* ---- devices and netdevs: join_netdev.c ---- */

/* Of a path in sysfs. */
bool join_is_on_subfunction(const char *path);
bool join_shares_function(const struct rdma_device *device, const struct netdev *netdev);
/* Several netdevs of the device's function that may be that of a port? */
bool join_has_candidates(const struct host *host, const struct rdma_device *device);
/* "mlx5_0_dma" with the GUID of mlx5_0: its way to memory past the root complex (mlx5 data direct). NULL: none. */
const char *join_companion_of(const struct host *host, const struct rdma_device *device);

/* ---- bonds: join_bond.c ---- */

/* Of a netdev that is a bond, made when it is first asked for; NULL without memory. */
struct bond *join_bond(struct host *host, struct netdev *netdev);

#endif
