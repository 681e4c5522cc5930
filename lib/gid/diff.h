/* SPDX-License-Identifier: MIT */
/* What changed between two GID documents, and what that means to a program that uses the old index. */
#ifndef RDMADIAG_GID_DIFF_H
#define RDMADIAG_GID_DIFF_H

#include "model/gid.h"

/*
 * Appends tables of another size to now->resized, and entries to now->changes. Entries are the same when device, port,
 * GID and type are; of several such, those at the same index first, then those with the same netdev. Only devices and
 * ports of `only` (NULL: all devices; `only_port` 0: all ports) are compared. A table that was not read then or now, or
 * that a device of now->devices lacks, is not compared and goes to now->uncompared. 0 or -ENOMEM.
 */
int gid_diff(struct arena *arena, const struct gid_document *before, struct gid_document *now,
        const struct strings *only, int64_t only_port);

#endif
