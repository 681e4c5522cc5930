/* SPDX-License-Identifier: MIT */
/* Ports of RDMA devices from sys/class/infiniband/DEV/ports; part of rdma_sysfs.h. */
#ifndef RDMADIAG_SOURCE_RDMA_PORT_H
#define RDMADIAG_SOURCE_RDMA_PORT_H

#include "model/host.h"
#include "origin/origin.h"

/* Whatever is still unknown of a port; `guids`: its GUID too (for IPoIB). */
void rdma_port_complete(
        struct origin *origin, struct host *host, struct rdma_device *device, struct port *port, bool guids);
/* Lists what every port has and is unknown of this one. */
void rdma_port_tell_absent(struct host *host, const struct rdma_device *device, const struct port *port);
/* NULL where the file says nothing. */
const char *rdma_text_or_null(const char *text);

#endif
