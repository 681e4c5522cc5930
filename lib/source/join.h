/* SPDX-License-Identifier: MIT */
/* The tree of the document from what the sources found. Memory only: nothing is asked of the origin. */
#ifndef RDMADIAG_SOURCE_JOIN_H
#define RDMADIAG_SOURCE_JOIN_H

#include "model/host.h"

/* May be called on what an interrupted worker left, and again after that. */
void join_host(struct host *host);

/*
 * The netdev of a port: the one that netlink or sysfs named, else one of the same function. NULL: none, or not to be
 * decided.
 */
struct netdev *join_port_netdev(const struct host *host, const struct rdma_device *device, const struct port *port);

/* The netdevs stacked on `netdev` and below it, itself first; each once. */
struct netdev_list {
	struct netdev **items;
	uint32_t count, capacity;
};
/* 0, or -ENOSPC where that would be more for the whole host than is looked at. After join_stacks(). */
int join_related(struct host *host, struct netdev *netdev, struct netdev_list *above, struct netdev_list *below);
/* Tells that `netdev`, with what stands on it, stands on the port; what is told already is left out. */
void join_netdev_above(struct host *host, struct rdma_device *device, struct port *port, struct netdev *netdev);
/* Which netdevs are directly above and below which. */
void join_stacks(struct host *host);

/*
 * Does nothing answer the bond's LACP? It enables the ports of the aggregator that it selected all the same
 * (ad_agg_selection_logic() in drivers/net/bonding/bond_3ad.c).
 */
bool join_lacks_partner(const struct bond_facts *facts);
/* "pf0vf1", "c1pf0sf88": the phys_port_name of a representor. */
bool join_is_representor(const struct netdev *netdev);
/* Keeps of the host what belongs to these devices, and of them only the port of that number; 0: all. */
struct device_list;
void join_select(struct host *host, const struct device_list *devices, int64_t port);

#endif
