/* SPDX-License-Identifier: MIT */
/* What mlx5 tells of itself below /sys/kernel/debug/mlx5: its LAG, and the functions that it drives as one. */
#ifndef RDMADIAG_SOURCE_MLX5_DEBUGFS_H
#define RDMADIAG_SOURCE_MLX5_DEBUGFS_H

#include "model/host.h"
#include "origin/origin.h"

/* Of every PF of mlx5, once the devices are joined with their PCI functions. What is not told goes into the report. */
void mlx5_debugfs_read(struct origin *origin, struct host *host);

#endif
