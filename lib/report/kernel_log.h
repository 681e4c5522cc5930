/* SPDX-License-Identifier: MIT */
/* Kernel messages that speak of RDMA, its adapters and the buses below them. */
#ifndef RDMADIAG_REPORT_KERNEL_LOG_H
#define RDMADIAG_REPORT_KERNEL_LOG_H

#include "model/host.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * Copies what /dev/kmsg holds now, a line each with its time since boot, and does not wait for more. Kept are messages
 * of RDMA and of its drivers, of PCIe errors, IOMMU and NUMA, and those that name a device, a netdev or a PCI function
 * of `host`. `seen` counts all messages. 0 or negative errno: -EPERM and -EACCES without the right to read them.
 */
int kernel_log_copy(const struct host *host, FILE *stream, size_t *kept, size_t *seen);

/* Is the message one of them? */
bool kernel_log_is_related(const struct host *host, const char *message);

#endif
