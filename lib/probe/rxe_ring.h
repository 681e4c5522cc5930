/* SPDX-License-Identifier: MIT */
/* A queue of the kernel's soft RoCE driver as it lies in shared memory. */
#ifndef RDMADIAG_PROBE_RXE_RING_H
#define RDMADIAG_PROBE_RXE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Kernel ABI since 5.9 (older kernels have the consumer index elsewhere): struct rxe_queue_buf, which
 * rdma/rdma_user_rxe.h of that time does not have yet. Both sides keep the indices masked.
 */
struct rxe_queue {
	uint32_t element_shift, index_mask;
	uint32_t unused_1[30];
	uint32_t producer;
	uint32_t unused_2[31];
	uint32_t consumer;
	uint32_t unused_3[31];
	uint8_t data[];
};

struct rxe_ring {
	const unsigned char *memory; /* NULL: none */
	uint32_t element_shift;      /* log2 of an element's size */
	uint32_t mask;               /* of an index */
};

/*
 * Checks that `length` bytes at `memory` can be a queue with elements of at least `element` bytes and room for at least
 * `entries`. 0, or -EPROTO with `reason` pointing to what does not fit.
 */
int rxe_ring_open(struct rxe_ring *ring, const void *memory, size_t length, size_t element, uint32_t entries,
        const char **reason);

uint32_t rxe_ring_producer(const struct rxe_ring *ring);
uint32_t rxe_ring_consumer(const struct rxe_ring *ring);
/* The wr_id of a send queue's element. */
uint64_t rxe_ring_wr_id(const struct rxe_ring *ring, uint32_t index);

#endif
