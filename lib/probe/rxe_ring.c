/* SPDX-License-Identifier: MIT */
#include "probe/rxe_ring.h"

#include <errno.h>
#include <rdma/rdma_user_rxe.h>

static uint32_t load(const struct rxe_ring *ring, size_t offset)
{
	/* The other side stores the index last, with release (kernel, rxe_queue.h). */
	return __atomic_load_n((const uint32_t *)(const void *)(ring->memory + offset), __ATOMIC_ACQUIRE);
}

uint32_t rxe_ring_producer(const struct rxe_ring *ring)
{
	return load(ring, offsetof(struct rxe_queue, producer));
}

uint32_t rxe_ring_consumer(const struct rxe_ring *ring)
{
	return load(ring, offsetof(struct rxe_queue, consumer));
}

uint64_t rxe_ring_wr_id(const struct rxe_ring *ring, uint32_t index)
{
	size_t offset = offsetof(struct rxe_queue, data) + ((size_t)(index & ring->mask) << ring->element_shift);
	const struct rxe_send_wqe *wqe = (const void *)(ring->memory + offset);
	return __atomic_load_n(&wqe->wr.wr_id, __ATOMIC_RELAXED);
}

static const char *misfit(const struct rxe_ring *ring, size_t length, size_t element, uint32_t entries)
{
	if (ring->element_shift < 4 || ring->element_shift > 16)
		return "the size of its elements makes no sense";
	if ((size_t)1 << ring->element_shift < element)
		return "its elements are too small";
	if (ring->mask & (ring->mask + 1) || ring->mask > 1 << 24)
		return "the number of its elements is no power of two";
	/* One slot stays empty, so that full and empty differ. */
	if (ring->mask < entries)
		return "it has too few elements";
	size_t room = length - offsetof(struct rxe_queue, data);
	if (((size_t)ring->mask + 1) << ring->element_shift > room)
		return "it is longer than its mapping";
	if (rxe_ring_producer(ring) > ring->mask || rxe_ring_consumer(ring) > ring->mask)
		return "its indices are out of range";
	return NULL;
}

int rxe_ring_open(
        struct rxe_ring *ring, const void *memory, size_t length, size_t element, uint32_t entries, const char **reason)
{
	*ring = (struct rxe_ring){ .memory = memory };
	*reason = "the mapping is too short";
	if (length > sizeof(struct rxe_queue)) {
		ring->element_shift = load(ring, offsetof(struct rxe_queue, element_shift));
		ring->mask = load(ring, offsetof(struct rxe_queue, index_mask));
		*reason = misfit(ring, length, element, entries);
	}
	if (!*reason)
		return 0;
	ring->memory = NULL;
	return -EPROTO;
}
