/* SPDX-License-Identifier: MIT */
/* Health reporters of devices (Documentation/networking/devlink/devlink-health.rst), in one dump. */
#ifndef RDMADIAG_SOURCE_DEVLINK_H
#define RDMADIAG_SOURCE_DEVLINK_H

#include "model/health.h"
#include "origin/origin.h"

/* 0 or negative errno: -ENOENT where the kernel has no devlink. */
int devlink_read(struct origin *origin, struct arena *arena, struct health *health);
int devlink_parse(const void *data, size_t length, struct arena *arena, struct health *health);

#endif
