/* SPDX-License-Identifier: MIT */
/* The wire of a netdev through the netlink family "ethtool" (Linux 5.6; statistics, FEC and module since 5.13 … 5.17).
 */
#ifndef RDMADIAG_SOURCE_ETHTOOL_H
#define RDMADIAG_SOURCE_ETHTOOL_H

#include "model/health.h"
#include "origin/origin.h"

/* `family` as genl_family() told it. What the driver does not offer stays unknown. 0 or negative errno. */
int ethtool_read(struct origin *origin, struct arena *arena, int family, int64_t ifindex, struct netdev_health *health);

/* Parsers of single answers. */
int ethtool_parse_pause(const void *data, size_t length, struct arena *arena, struct netdev_health *health);
int ethtool_parse_fec(const void *data, size_t length, struct arena *arena, struct netdev_health *health);
int ethtool_parse_module(const void *data, size_t length, struct arena *arena, struct netdev_health *health);
int ethtool_parse_linkstate(const void *data, size_t length, struct arena *arena, struct netdev_health *health);
int ethtool_parse_stats(const void *data, size_t length, struct arena *arena, struct netdev_health *health);

#endif
