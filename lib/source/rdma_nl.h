/* SPDX-License-Identifier: MIT */
/*
 * RDMA devices and ports over NETLINK_RDMA (include/uapi/rdma/rdma_netlink.h, drivers/infiniband/core/nldev.c). The
 * parsers take recorded replies as they are: any bytes, any length.
 */
#ifndef RDMADIAG_SOURCE_RDMA_NL_H
#define RDMADIAG_SOURCE_RDMA_NL_H

#include "model/host.h"
#include "origin/origin.h"

/*
 * Adds the devices with all that netlink tells about them; where their uverbs devices are only with `chardevs`. 0, or a
 * negative errno: then sysfs has to do.
 */
int rdma_nl_read(struct origin *origin, struct host *host, bool chardevs);

/* Asks once more: is the device still there? */
bool rdma_nl_lists(struct origin *origin, const struct rdma_device *device);

/* RDMA_NLDEV_CMD_SYS_GET: the netns mode. */
int rdma_nl_parse_system(const void *data, size_t length, struct host *host);
/* RDMA_NLDEV_CMD_GET: adds devices. */
int rdma_nl_parse_devices(const void *data, size_t length, struct host *host);
/* RDMA_NLDEV_CMD_PORT_GET: adds the device's ports. */
int rdma_nl_parse_ports(const void *data, size_t length, struct host *host, struct rdma_device *device);
/* RDMA_NLDEV_CMD_GET_CHARDEV: path and driver. */
int rdma_nl_parse_chardev(const void *data, size_t length, struct host *host, struct rdma_device *device);

/* Is there a device that netlink did not describe? */
bool rdma_nl_is_partial(const struct host *host);

#endif
