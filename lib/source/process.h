/* SPDX-License-Identifier: MIT */
/* What the calling process may use: CPUs, memory nodes, locked memory, capabilities. */
#ifndef RDMADIAG_SOURCE_PROCESS_H
#define RDMADIAG_SOURCE_PROCESS_H

#include "base/arena.h"
#include "model/host.h"

/* 0 or negative errno; what could not be had stays unknown. */
int process_read(struct arena *arena, struct process_facts *facts);

#endif
