/* SPDX-License-Identifier: MIT */
/* RDMA devices from sys/class/infiniband: all of it on old kernels, else what netlink does not tell. */
#ifndef RDMADIAG_SOURCE_RDMA_SYSFS_H
#define RDMADIAG_SOURCE_RDMA_SYSFS_H

#include "model/host.h"
#include "origin/origin.h"

/* A subject of its own for lists: another file of this host that does not answer is no reason to see no device. */
#define RDMA_LISTS "RDMA devices"
#define RDMA_VERBS_CLASS "sys/class/infiniband_verbs"

/* Is there no directory of RDMA devices? No RDMA subsystem is loaded, or sysfs is not to be seen here. */
bool rdma_sysfs_has_no_class(struct origin *origin, struct host *host);
/* Is nothing there of what every sysfs has? It is not mounted, and what it does not show may be there. */
bool rdma_sysfs_is_hidden(struct origin *origin, struct host *host);
/* Adds the devices by name. 0 or negative errno (-ENOENT: no RDMA in this kernel). */
int rdma_sysfs_list(struct origin *origin, struct host *host);
/* Which devices have no parent, so that it is not asked for one by one. */
void rdma_sysfs_find_virtual(struct origin *origin, struct host *host);
/* uverbs devices by the name of their RDMA device, where netlink did not tell them. */
void rdma_sysfs_uverbs(struct origin *origin, struct host *host);
/* Whatever is still unknown of a device and its ports; `guids`: the ports' GUIDs too (for IPoIB). */
void rdma_sysfs_complete(struct origin *origin, struct host *host, struct rdma_device *device, bool guids);
/* Whether its uverbs device, which has been looked for, may be opened. */
void rdma_sysfs_access(struct origin *origin, struct host *host, struct rdma_device *device);

/* Whether the connection manager may be opened: host->cm_refused. */
void rdma_sysfs_cm_access(struct origin *origin, struct host *host);

/* "4: ACTIVE" → 4. */
struct num rdma_sysfs_code(const char *text);

#endif
