/* SPDX-License-Identifier: MIT */
/* Requests to the kernel's nldev (rdma netlink) that need a device's index. */
#ifndef RDMADIAG_PROBE_NLDEV_H
#define RDMADIAG_PROBE_NLDEV_H

#include "origin/origin.h"

#include <libmnl/libmnl.h>

enum { NLDEV_REQUEST_BYTES = 256 };

/* A request of RDMA_NLDEV_CMD_* in `buffer`; `flags` 0: of one thing, NLM_F_DUMP: of all. */
struct nlmsghdr *nldev_request(char buffer[NLDEV_REQUEST_BYTES], int command, unsigned int flags);
/* 0; -ENODEV; another negative errno of the exchange. */
int nldev_index(struct origin *origin, const char *device, uint32_t *index);
/*
 * Sends one request and calls `take` for each message of its answer. 0, or a negative errno of the exchange, of the
 * kernel or of `take`.
 */
int nldev_ask(struct origin *origin, const char *name, struct nlmsghdr *message,
        int (*take)(const struct nlmsghdr *message, void *context), void *context);

#endif
