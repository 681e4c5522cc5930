/* SPDX-License-Identifier: MIT */
/* The matrix of adapters and their neighbours, from what the sources found. Memory only. */
#ifndef RDMADIAG_SOURCE_MATRIX_H
#define RDMADIAG_SOURCE_MATRIX_H

#include "model/host.h"

/* How far two functions are from each other. */
enum relation_word matrix_relation(const struct pci_function *a, const struct pci_function *b);
/*
 * Fills host->matrix: RDMA devices (VFs only with `virtual_functions`, or where there is nothing else), netdevs of
 * their ports on other functions, GPUs, NVMe controllers. 0 or -ENOMEM.
 */
int matrix_build(struct host *host, bool virtual_functions);

#endif
