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
void join_related(const struct host *host, struct arena *arena, struct netdev *netdev, struct netdev_list *above,
        struct netdev_list *below);

/* "pf0vf1", "c1pf0sf88": the phys_port_name of a representor. */
bool join_is_representor(const struct netdev *netdev);
/* Keeps of the host what belongs to one device. */
void join_select(struct host *host, const struct rdma_device *device);

#endif
