/* SPDX-License-Identifier: MIT */
#ifndef MLX5EMU_SYSFS_H
#define MLX5EMU_SYSFS_H

#include "fabric.h"

int sysfs_make_host(const char *root);                              /* CPUs, NUMA nodes */
int sysfs_make_device(const char *root, const struct fab_dev *dev); /* PCI path, RDMA, uverbs and network classes */

#endif
