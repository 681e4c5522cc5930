/* SPDX-License-Identifier: MIT */
/*
 * GPUs by libcuda, which is loaded only when this is asked. It may take seconds, starts threads and loads kernel
 * modules: only in a collecting worker, and only on request. No context is made.
 */
#ifndef RDMADIAG_SOURCE_CUDA_H
#define RDMADIAG_SOURCE_CUDA_H

#include "base/error.h"
#include "model/gpu.h"
#include "model/host.h"
#include "origin/origin.h"

/* Loads libcuda.so.1 and asks every device. 0, or negative errno with `error`: -ENOENT where there is no library. */
int cuda_query(struct arena *arena, struct cuda_answer *answer, struct error *error);

/* Asks the origin, and gives each GPU among host->neighbours what is told of it. */
void cuda_read(struct origin *origin, struct host *host);

/* "00000000:3B:00.0" as CUDA writes it → "0000:3b:00.0" as sysfs does. NULL: no PCI address, or no memory. */
char *cuda_pci_address(struct arena *arena, const char *text);

#endif
