/* SPDX-License-Identifier: MIT */
/* Requests of generic netlink. Families have a number of their own on each kernel. */
#ifndef RDMADIAG_SOURCE_GENL_H
#define RDMADIAG_SOURCE_GENL_H

#include "origin/origin.h"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

/* The number of a family ("ethtool", "devlink"), or negative errno: -ENOENT where the kernel has none. */
int genl_family(struct origin *origin, const char *name);
/* A message of it in `buffer`; attributes may be added. */
struct nlmsghdr *genl_message(void *buffer, int family, uint8_t command, uint8_t version);

#endif
