/* SPDX-License-Identifier: MIT */
#include "probe/inspection.h"

#include <string.h>

static const char *const moment_names[MOMENT_COUNT] = {
	[MOMENT_IDLE] = "idle",
	[MOMENT_FIRST] = "first",
	[MOMENT_SECOND] = "second",
};

void inspect_device(struct endpoint *endpoint, struct num peer_qpn, enum inspection_moment moment)
{
	struct probe_run *run = endpoint->run;
	const struct observer *observer = &endpoint->observer;
	struct evidence *evidence = run_evidence(run);
	char reason[OBSERVER_LONG_REASON_SIZE] = "";
	struct device_sample sample = { .moment = moment_names[moment] };
	if (!observer_works(observer) || !observer->ops->inspect)
		return;
	run_enter(run, "asking the device for its queues", STEP_LIMIT_MS);
	int result = observer->ops->inspect(
	        observer, endpoint->origin, endpoint->facts, (uint32_t)peer_qpn.value, &sample, reason);
	sample.t_ns = num(run_now(run));
	if (observer->ops->describe && !endpoint->facts->lag_port.known)
		observer->ops->describe(observer, endpoint->facts);
	run_leave(run);
	if (result) {
		endpoint->inspection_error = result;
		endpoint->inspection_reason = arena_strdup(run->arena, reason);
		return;
	}
	struct device_sample *kept = list_add(run->arena, &evidence->device_samples);
	if (!kept)
		return;
	*kept = sample;
	evidence->observers.device = sample.source;
}

/* ---- what follows ---- */

static const struct device_sample *find(const struct evidence *evidence, enum inspection_moment moment)
{
	list_each(sample, &evidence->device_samples)
		if (sample->moment && !strcmp(sample->moment, moment_names[moment]))
			return sample;
	return NULL;
}

static bool is_rts(const struct device_sample *sample)
{
	return sample->qp_state && !strcmp(sample->qp_state, "RTS");
}

static bool same(struct num a, struct num b)
{
	return a.known && b.known && a.value == b.value;
}

static bool is_stable(const struct device_sample *a, const struct device_sample *b)
{
	return same(a->recorded, b->recorded) && same(a->taken, b->taken) && same(a->executed, b->executed) &&
	       same(a->next_psn, b->next_psn) && same(a->acked_psn, b->acked_psn);
}

static int64_t psn_distance(const struct device_sample *sample)
{
	return (sample->next_psn.value - sample->acked_psn.value) & 0xffffff;
}

/* Counters of 16 bits that never run ahead by half of them: the send queue is shorter than that. */
static enum flag counts(struct num counter, uint32_t end)
{
	return flag((int16_t)((uint16_t)counter.value - (uint16_t)end) >= 0);
}

/* Fewer retries left than before, or than at rest. */
static bool has_retried(
        const struct device_sample *idle, const struct device_sample *first, const struct device_sample *second)
{
	return !same(first->retries_left, second->retries_left) ||
	       (idle && !same(idle->retries_left, second->retries_left));
}

static const char *doubt(
        const struct evidence *evidence, const struct device_sample *first, const struct device_sample *second)
{
	const struct endpoint_facts *local = &evidence->local;
	if (!first || !second)
		return "the device was not asked twice";
	if (!is_rts(first) || !is_rts(second))
		return "its queue pair was not in RTS in both samples";
	if (!local->timeout.known || local->timeout.value < 0 || local->timeout.value > 31)
		return "the ACK timeout is not known";
	/* A timeout of 0 waits for ever (IBTA): no distance is enough. */
	if (!local->timeout.value || second->t_ns.value - first->t_ns.value < INT64_C(4096) << local->timeout.value)
		return "the two samples are not an ACK timeout apart";
	if (!is_stable(first, second))
		return "its counters moved between the two samples";
	if (has_retried(find(evidence, MOMENT_IDLE), first, second))
		return "it was retrying";
	return NULL;
}

/* Without a request that succeeded before, nobody knows what the two PSNs look like at rest. */
static const char *conclude_acknowledged(
        const struct device_sample *idle, const struct device_sample *now, struct operation *operation)
{
	if (operation->device_executed != FLAG_YES)
		return NULL;
	if (!idle || !is_rts(idle))
		return "no request succeeded before this one, so what its PSNs look like at rest is not known";
	int64_t distance = psn_distance(now), at_rest = psn_distance(idle);
	if (distance < at_rest)
		return "its PSNs are closer together than at rest";
	operation->acknowledged = flag(distance == at_rest);
	return NULL;
}

const char *inspection_conclude(const struct evidence *evidence, uint32_t end, struct operation *operation)
{
	const struct device_sample *idle = find(evidence, MOMENT_IDLE), *second = find(evidence, MOMENT_SECOND);
	const char *reason = doubt(evidence, find(evidence, MOMENT_FIRST), second);
	if (reason)
		return reason;
	operation->device_saw_doorbell = counts(second->taken, end);
	operation->device_executed = counts(second->executed, end);
	/* One that was taken and not understood was written, too. */
	bool all_known = !evidence->foreign_completions.known || !evidence->foreign_completions.value;
	if (all_known && second->cq_produced.known && second->cq_recorded.known && num_is(second->cq_status, 0))
		operation->cqe_written = flag(second->cq_produced.value != second->cq_recorded.value);
	return conclude_acknowledged(idle, second, operation);
}
