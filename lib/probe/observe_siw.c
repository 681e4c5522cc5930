/* SPDX-License-Identifier: MIT */
/*
 * The observer for soft iWARP, whose queues are arrays in shared memory (kernel UAPI, rdma/siw-abi.h). Their indices
 * are private to library and driver; what can be seen is which entries are marked valid, and whose request each slot
 * holds. So all slots are looked at, and queues with too many of them are left alone.
 */
#include "base/cleanup.h"
#include "probe/mappings.h"
#include "probe/observer.h"

#include <errno.h>
#include <rdma/siw-abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_LIMIT = 128 };

struct state {
	struct mappings *before; /* malloc'ed; what was mapped before the object is created */
	const struct siw_cqe *completions;
	const struct siw_sqe *sends;
	uint32_t completion_slots, send_slots;
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

static bool siw_matches(struct ibv_context *context, const char *driver)
{
	(void)context;
	return driver && !strcmp(driver, "siw");
}

static int not_observable(struct observer *observer, const char *what, const char *reason)
{
	snprintf(observer->reason, sizeof(observer->reason), "%s: %s", what, reason);
	return -EPROTO;
}

static int siw_before(struct observer *observer)
{
	struct state *state = state_of(observer);
	const char *reason = mappings_remember(&state->before);
	return reason ? not_observable(observer, "/proc/self/maps", reason) : 0;
}

static int siw_after_cq(struct observer *observer, struct ibv_cq *cq)
{
	struct state *state = state_of(observer);
	struct mapping found;
	const char *reason = mappings_since(state->before, &found, 1);
	if (reason)
		return not_observable(observer, "completion queue", reason);
	uint32_t slots = cq->cqe > 0 ? (uint32_t)cq->cqe : 0;
	if (!slots || slots > SLOTS_LIMIT ||
	        slots * sizeof(struct siw_cqe) + sizeof(struct siw_cq_ctrl) > found.end - found.start)
		return not_observable(
		        observer, "completion queue", "it has more entries than can be looked at in time");
	state->completions = (const struct siw_cqe *)found.start; // NOLINT(performance-no-int-to-ptr)
	state->completion_slots = slots;
	return 0;
}

/* The mapping is rounded up to whole pages; what is behind the last slot stays zero. */
static int siw_after_qp(struct observer *observer, struct ibv_qp *qp)
{
	(void)qp;
	struct state *state = state_of(observer);
	struct mapping found[2];
	const char *reason = mappings_since(state->before, found, ARRAY_SIZE(found));
	if (reason)
		return not_observable(observer, "send queue", reason);
	size_t slots = (found[0].end - found[0].start) / sizeof(struct siw_sqe);
	if (!slots || slots > SLOTS_LIMIT)
		return not_observable(observer, "send queue", "it has more entries than can be looked at in time");
	state->sends = (const struct siw_sqe *)found[0].start; // NOLINT(performance-no-int-to-ptr)
	state->send_slots = (uint32_t)slots;
	return 0;
}

/*
 * A slot keeps the request's identifier after the driver has taken it. Those of the probe grow, so the sum over all
 * slots changes with each request that is put into one of them.
 */
static void siw_sample(const struct observer *observer, struct ring_view *view)
{
	const struct state *state = state_of_const(observer);
	view->posted = 0;
	view->completion = false;
	for (uint32_t i = 0; i < state->send_slots; i++)
		view->posted += (uint32_t)__atomic_load_n(&state->sends[i].id, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < state->completion_slots; i++)
		view->completion |= __atomic_load_n(&state->completions[i].flags, __ATOMIC_ACQUIRE) & SIW_WQE_VALID;
}

static bool siw_holds(const struct observer *observer, uint32_t before, const struct ibv_send_wr *request)
{
	const struct state *state = state_of_const(observer);
	(void)before;
	for (uint32_t i = 0; i < state->send_slots; i++)
		if (__atomic_load_n(&state->sends[i].id, __ATOMIC_ACQUIRE) == request->wr_id)
			return true;
	return false;
}

static void siw_close(struct observer *observer)
{
	free(state_of(observer)->before);
	*state_of(observer) = (struct state){ 0 };
}

const struct observer_ops observe_siw = {
	.name = "siw-ring",
	.matches = siw_matches,
	.before = siw_before,
	.after_cq = siw_after_cq,
	.after_qp = siw_after_qp,
	.sample = siw_sample,
	.holds = siw_holds,
	.close = siw_close,
};
