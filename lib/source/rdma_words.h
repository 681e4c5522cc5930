/* SPDX-License-Identifier: MIT */
/* Numbers of the RDMA subsystem in words, the same from netlink and from sysfs. */
#ifndef RDMADIAG_SOURCE_RDMA_WORDS_H
#define RDMADIAG_SOURCE_RDMA_WORDS_H

#include "base/text.h"
#include "model/host.h"

/* IBTA words of PortInfo:PortState and PortPhysicalState; NULL: a number without a meaning. */
const char *rdma_port_state(struct num code);
const char *rdma_physical_state(struct num code);
/* Name of the RDMA driver for a RDMA_DRIVER_* number (rdma_user_ioctl_cmds.h), NULL: unknown here. */
const char *rdma_driver_name(struct num id);
bool rdma_driver_is_software(struct num id);
/* The transport of a port, from the device's node type and the port's link layer. */
enum transport rdma_transport(struct num node_type, enum link_layer link_layer);
/* "InfiniBand", "Ethernet"; "Unknown" and "Unspecified" are the kernel's words for IB_LINK_LAYER_UNSPECIFIED. */
enum link_layer rdma_link_layer(const char *text);
/* "100 Gb/sec (2X HDR)" → 100000. */
struct num rdma_rate_mbps(const char *text);

#endif
