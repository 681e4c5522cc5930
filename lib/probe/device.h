/* SPDX-License-Identifier: MIT */
/* What sysfs knows about the device of an end, and which device a name stands for. */
#ifndef RDMADIAG_PROBE_DEVICE_H
#define RDMADIAG_PROBE_DEVICE_H

#include "base/arena.h"
#include "base/error.h"
#include "model/evidence.h"
#include "origin/origin.h"

/* All RDMA devices, in natural order. -ENODEV with `error` that says why when there is none. */
int device_names(struct origin *origin, struct arena *arena, struct strings *names, struct error *error);

/*
 * The RDMA device that `name` stands for: its own name, or that of a netdev of it (then `port` is set where it is
 * known). -ENODEV with `error` that names what exists.
 */
int device_resolve(struct origin *origin, struct arena *arena, const char *name, const char **device, struct num *port,
        struct error *error);

/*
 * The device to take where none was asked for: the one with `address` (16 bytes, NULL: any) in its GID table, else the
 * first with an active port, else the first.
 */
int device_choose(struct origin *origin, struct arena *arena, const uint8_t *address, const char **device,
        struct num *port, struct error *error);

/* Driver, firmware, NUMA node: into facts, whose device and port are known. */
void device_describe(struct origin *origin, struct arena *arena, struct endpoint_facts *facts);
/* The netdev of the chosen GID, its MTU and whether it is up. */
void device_describe_netdev(struct origin *origin, struct arena *arena, struct endpoint_facts *facts);

#endif
