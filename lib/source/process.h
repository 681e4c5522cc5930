/* SPDX-License-Identifier: MIT */
/* What the calling process may use: CPUs, memory nodes, locked memory, capabilities. */
#ifndef RDMADIAG_SOURCE_PROCESS_H
#define RDMADIAG_SOURCE_PROCESS_H

#include "base/arena.h"
#include "base/error.h"
#include "model/host.h"

/* What could not be had stays unknown; `error` names each call that was refused then, and is that of the first. */
int process_read(struct arena *arena, struct process_facts *facts, struct error *error);

#endif
