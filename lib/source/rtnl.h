/* SPDX-License-Identifier: MIT */
/* Network interfaces and their addresses over NETLINK_ROUTE. The parsers take any bytes. */
#ifndef RDMADIAG_SOURCE_RTNL_H
#define RDMADIAG_SOURCE_RTNL_H

#include "model/host.h"
#include "origin/origin.h"

/* Adds the netdevs of this namespace. 0, or a negative errno: then sysfs has to do. */
int rtnl_read_links(struct origin *origin, struct host *host);
/* Adds their addresses. 0 or negative errno. */
int rtnl_read_addresses(struct origin *origin, struct host *host);

int rtnl_parse_links(const void *data, size_t length, struct host *host);     /* RTM_NEWLINK messages */
int rtnl_parse_addresses(const void *data, size_t length, struct host *host); /* RTM_NEWADDR messages */

#endif
