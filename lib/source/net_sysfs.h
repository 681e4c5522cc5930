/* SPDX-License-Identifier: MIT */
/* Netdevs from sys/class/net: all of it where rtnetlink does not answer, else what it does not tell. */
#ifndef RDMADIAG_SOURCE_NET_SYSFS_H
#define RDMADIAG_SOURCE_NET_SYSFS_H

#include "model/host.h"
#include "origin/origin.h"

/* Adds all netdevs with what stacks them. 0 or negative errno. */
int net_sysfs_list(struct origin *origin, struct host *host);
/* The path of the netdev's device, once. */
void net_sysfs_locate(struct origin *origin, struct host *host, struct netdev *netdev);
/* Speed of a netdev that is shown. */
void net_sysfs_complete(struct origin *origin, struct host *host, struct netdev *netdev);
/* The port of a netdev among those of its function, once. */
void net_sysfs_dev_port(struct origin *origin, struct netdev *netdev);
/* LACP partners of the members of an 802.3ad bond, from proc/net/bonding; needs CAP_NET_ADMIN. */
void net_bonding_complete(struct origin *origin, struct host *host, struct netdev *bond);

/* The text of proc/net/bonding/NAME: mode and members, in any of its forms. Fills what is still unknown. */
void net_bonding_parse(const char *text, size_t length, struct host *host, struct netdev *bond);

/* Reads which netdevs it stands on, for kinds of which rtnetlink does not tell it. */
void net_sysfs_lowers(struct origin *origin, struct host *host, struct netdev *netdev);

#endif
