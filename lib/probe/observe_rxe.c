/* SPDX-License-Identifier: MIT */
/*
 * The observer for soft RoCE. The kernel hands out the offsets of mappings in the order in which it makes the queues:
 * that of the CQ, then for a QP the send queue below the receive queue (kernel, rxe_qp_from_init()). What is found by
 * order is checked against the layout, and with the first work request against its wr_id.
 */
#include "probe/mappings.h"
#include "probe/observer.h"
#include "probe/rxe_ring.h"

#include <errno.h>
#include <rdma/rdma_user_rxe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
	struct mappings *before; /* malloc'ed; what was mapped before the object is created */
	struct rxe_ring completions, sends;
};
_Static_assert(sizeof(struct state) <= sizeof(((struct observer *)NULL)->state), "the state fits");

static struct state *state_of(struct observer *observer)
{
	return (struct state *)(void *)observer->state;
}

static const struct state *state_of_const(const struct observer *observer)
{
	return (const struct state *)(const void *)observer->state;
}

static bool rxe_matches(struct ibv_context *context, const char *driver)
{
	(void)context;
	return driver && !strcmp(driver, "rdma_rxe");
}

static int not_observable(struct observer *observer, const char *what, const char *reason)
{
	snprintf(observer->reason, sizeof(observer->reason), "%s: %s", what, reason);
	return -EPROTO;
}

static int rxe_before(struct observer *observer)
{
	const char *reason = mappings_remember(&state_of(observer)->before);
	return reason ? not_observable(observer, "/proc/self/maps", reason) : 0;
}

/* The new mappings; `expected` of them, or it is not the layout that is known. */
static int find_new(struct observer *observer, struct mapping *found, size_t expected, const char *what)
{
	const char *reason = mappings_since(state_of(observer)->before, found, expected);
	return reason ? not_observable(observer, what, reason) : 0;
}

static int open_ring(struct observer *observer, struct rxe_ring *ring, const struct mapping *mapping, size_t element,
        uint32_t entries, const char *what)
{
	const char *reason;
	/* An address from the kernel's list. */
	const void *memory = (const void *)mapping->start; // NOLINT(performance-no-int-to-ptr)
	if (rxe_ring_open(ring, memory, mapping->end - mapping->start, element, entries, &reason))
		return not_observable(observer, what, reason);
	return 0;
}

static int rxe_after_cq(struct observer *observer, struct ibv_cq *cq)
{
	struct mapping mapping;
	int result = find_new(observer, &mapping, 1, "completion queue");
	return result ? result
	              : open_ring(observer, &state_of(observer)->completions, &mapping, sizeof(struct ibv_wc),
	                        (uint32_t)cq->cqe, "completion queue");
}

static int rxe_after_qp(struct observer *observer, struct ibv_qp *qp)
{
	(void)qp;
	struct mapping mappings[2];
	int result = find_new(observer, mappings, 2, "send queue");
	return result ? result
	              : open_ring(observer, &state_of(observer)->sends, &mappings[0], sizeof(struct rxe_send_wqe), 1,
	                        "send queue");
}

static void rxe_sample(const struct observer *observer, struct ring_view *view)
{
	const struct state *state = state_of_const(observer);
	view->posted = rxe_ring_producer(&state->sends);
	view->completion = rxe_ring_producer(&state->completions) != rxe_ring_consumer(&state->completions);
}

static bool rxe_holds(const struct observer *observer, uint32_t before, const struct ibv_send_wr *request)
{
	return rxe_ring_wr_id(&state_of_const(observer)->sends, before) == request->wr_id;
}

static void rxe_close(struct observer *observer)
{
	free(state_of(observer)->before);
	*state_of(observer) = (struct state){ 0 };
}

const struct observer_ops observe_rxe = {
	.name = "rxe-ring",
	.matches = rxe_matches,
	.before = rxe_before,
	.after_cq = rxe_after_cq,
	.after_qp = rxe_after_qp,
	.sample = rxe_sample,
	.holds = rxe_holds,
	.close = rxe_close,
};
