/* SPDX-License-Identifier: MIT */
/* How long the calling thread was ready to run and got no CPU, and its cgroup's share of that. */
#ifndef RDMADIAG_PROBE_CPU_WAIT_H
#define RDMADIAG_PROBE_CPU_WAIT_H

#include "model/evidence.h"
#include "origin/origin.h"

/* Since its start, or that of the cgroup; unknown where the kernel does not tell. */
void cpu_wait_read(struct origin *origin, struct cpu_facts *facts);
/* What was added since `before`; false: nothing of it is known. */
bool cpu_wait_since(struct origin *origin, const struct cpu_facts *before, struct cpu_facts *added);

#endif
