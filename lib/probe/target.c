/* SPDX-License-Identifier: MIT */
#include "probe/target.h"

#include "probe/cm.h"

#include <errno.h>
#include <time.h>

static int op_of(const struct target *target)
{
	return target->endpoint->run->document.request.op;
}

static bool consumes_receives(const struct target *target)
{
	return op_of(target) == OP_SEND || op_of(target) == OP_WRITE_IMM;
}

static unsigned char *place_of(const struct target *target, uint32_t serial)
{
	return target->endpoint->buffer.memory + layout_offset(target->layout, serial);
}

/* A send lands where the receive says: in the same place that a write would have taken. */
static int post_receive(struct target *target, uint32_t serial)
{
	struct endpoint *endpoint = target->endpoint;
	uint32_t lane = layout_lane(target->layout, serial);
	struct ibv_sge sge = {
		.addr = (uintptr_t)place_of(target, serial),
		.length = (uint32_t)layout_series(target->layout, serial)->bytes,
		.lkey = endpoint_mr(endpoint, lane)->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = wr_id_of(serial), .sg_list = &sge, .num_sge = op_of(target) == OP_SEND };
	struct ibv_recv_wr *bad;
	int error = ibv_post_recv(endpoint->qps[lane], &wr, &bad);
	if (!error)
		target->receives[lane]++;
	/* Positive by the manual page; siw gives a negative one. */
	return error > 0 ? -error : error;
}

/* As many as fit, in the order in which the requests of the lane will come. */
static int post_receives(struct target *target, uint32_t lane)
{
	const struct layout *layout = target->layout;
	uint32_t total = layout_total(layout);
	while (target->receives[lane] < target->endpoint->receives && target->next[lane] < total) {
		int result = post_receive(target, target->next[lane]);
		if (result)
			return result;
		target->next[lane] = layout_next_on_lane(layout, target->next[lane]);
	}
	return 0;
}

static int post_first_receives(struct target *target)
{
	const struct layout *layout = target->layout;
	int result = 0;
	for (uint32_t lane = 0; lane < layout->lanes && !result; lane++) {
		/* The first chain of a lane; one that has none gets nothing. */
		uint32_t first = lane * layout->batch;
		target->next[lane] = first < layout->count ? first : layout_total(layout);
		result = post_receives(target, lane);
	}
	return result;
}

int target_prepare(struct target *target, struct endpoint *endpoint, const struct layout *layout, struct error *error)
{
	*target = (struct target){ .endpoint = endpoint, .layout = layout, .last_look_ns = run_now(endpoint->run) };
	if (op_of(target) == OP_READ) {
		for (uint32_t i = 0; i < layout->series_count; i++)
			for (uint32_t slot = 0; slot < layout->series[i].slots; slot++)
				payload_fill(place_of(target, i * layout->count + slot), layout->series[i].bytes,
				        layout->seed, i * layout->count + slot);
		return 0;
	}
	bool needed = consumes_receives(target) && !endpoint->run->deviation.no_receives;
	int result = needed ? post_first_receives(target) : 0;
	return result ? error_set(error, result, "%s: ibv_post_recv", endpoint->facts->device) : 0;
}

/* ---- looking ---- */

static struct landing *find_landing(struct target *target, uint32_t serial)
{
	list_each(landing, &target->landings)
		if (landing->serial.value == serial)
			return landing;
	struct landing *landing = list_add(target->endpoint->run->arena, &target->landings);
	if (landing)
		landing->serial = num(serial);
	return landing;
}

/* The first use of each slot is watched; later ones overwrite it. */
static uint32_t next_watched(const struct layout *layout, uint32_t serial)
{
	uint32_t next = serial + 1;
	if (next % layout->count >= layout_series(layout, serial)->slots)
		next = (serial / layout->count + 1) * layout->count;
	return next;
}

static void look_for_payload(struct target *target)
{
	const struct layout *layout = target->layout;
	int64_t now = run_now(target->endpoint->run);
	while (target->watched < layout_total(layout)) {
		uint32_t serial = target->watched;
		size_t bytes = layout_series(layout, serial)->bytes;
		const unsigned char *place = place_of(target, serial);
		if (!payload_hint(place, bytes, layout->seed, serial) ||
		        payload_check(place, bytes, layout->seed, serial) != PAYLOAD_RIGHT)
			break;
		struct landing *landing = find_landing(target, serial);
		if (landing) {
			landing->not_before_ns = num(target->last_look_ns);
			landing->landed_ns = num(run_now(target->endpoint->run));
			landing->payload = PAYLOAD_RIGHT;
		}
		target->watched = next_watched(layout, serial);
	}
	target->last_look_ns = now;
}

static void take_receives(struct target *target)
{
	struct ibv_wc wc;
	while (target->endpoint->qps[0] && ibv_poll_cq(target->endpoint->cqs[0], 1, &wc) > 0) {
		if (!wc.wr_id || wc.wr_id > layout_total(target->layout))
			continue;
		uint32_t lane = layout_lane(target->layout, (uint32_t)(wc.wr_id - 1));
		target->receives[lane]--;
		if (wc.status == IBV_WC_SUCCESS)
			post_receives(target, lane);
	}
}

void target_look(struct target *target)
{
	if (op_of(target) == OP_READ)
		return;
	look_for_payload(target);
	if (consumes_receives(target))
		take_receives(target);
}

/* What was there before is there still, as a whole: the request that used this slot last. */
static bool is_untouched(const struct target *target, uint32_t serial)
{
	const struct layout *layout = target->layout;
	const struct series *series = layout_series(layout, serial);
	if (serial % layout->count < series->slots)
		return false; /* the first use */
	return payload_check(place_of(target, serial), series->bytes, layout->seed, serial - series->slots) ==
	       PAYLOAD_RIGHT;
}

/* `until_ns`: what is not there may still be on its way. */
static void verify_slot(struct target *target, uint32_t serial, int64_t until_ns)
{
	enum { PAUSE_NS = 1000000 };
	const struct layout *layout = target->layout;
	struct landing *landing = find_landing(target, serial);
	if (!landing)
		return;
	for (;;) {
		landing->payload = (int)payload_check(
		        place_of(target, serial), layout_series(layout, serial)->bytes, layout->seed, serial);
		if (landing->payload == PAYLOAD_WRONG && is_untouched(target, serial))
			landing->payload = PAYLOAD_UNTOUCHED;
		if (landing->payload == PAYLOAD_RIGHT || run_now(target->endpoint->run) >= until_ns)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
		target_look(target);
	}
}

void target_verify(struct target *target, uint32_t posted)
{
	const struct layout *layout = target->layout;
	if (op_of(target) == OP_READ)
		return;
	target_look(target);
	/* A completion of iWARP says that TCP has taken the bytes, not that they have arrived (RFC 5040, 5.5). */
	const int64_t patience_ns = 2000000000;
	int64_t until_ns = cm_is_needed(target->endpoint) ? run_now(target->endpoint->run) + patience_ns : 0;
	for (uint32_t i = 0; i < layout->series_count && i * layout->count < posted; i++) {
		uint32_t first = i * layout->count, end = first + layout->count;
		end = end < posted ? end : posted;
		/* The last requests of a size are those whose bytes were not overwritten. */
		uint32_t last_slots = end - first < layout->series[i].slots ? end - first : layout->series[i].slots;
		for (uint32_t serial = end - last_slots; serial < end; serial++)
			verify_slot(target, serial, until_ns);
	}
}

/* ---- into the evidence ---- */

static enum flag verdict_of(const struct landing *landing, const struct operation *operation)
{
	if (landing->payload == PAYLOAD_RIGHT)
		return FLAG_YES;
	/* Nothing there, and nobody claims that there is. */
	if (landing->payload == PAYLOAD_UNTOUCHED && !num_is(operation->wc_status, 0))
		return FLAG_UNKNOWN;
	return landing->payload == PAYLOAD_UNKNOWN ? FLAG_UNKNOWN : FLAG_NO;
}

static void apply(const struct landing *landing, struct evidence *evidence)
{
	list_each(operation, &evidence->operations) {
		if (!num_is(operation->wr_id, landing->serial.value + 1))
			continue;
		operation->remote_landed_ns = landing->landed_ns;
		operation->remote_landed_not_before_ns = landing->not_before_ns;
		operation->payload_verified = verdict_of(landing, operation);
		operation->landed = landing->landed_ns.known || landing->payload == PAYLOAD_RIGHT ? FLAG_YES
		                    : landing->payload == PAYLOAD_UNTOUCHED                       ? FLAG_NO
		                                                                                  : FLAG_UNKNOWN;
	}
}

static void count(const struct landing *landing, struct payload_count *of_size)
{
	of_size->right.value += landing->payload == PAYLOAD_RIGHT;
	of_size->untouched.value += landing->payload == PAYLOAD_UNTOUCHED;
	of_size->wrong.value += landing->payload == PAYLOAD_WRONG;
}

/* What a peer tells may be of any number. */
static bool is_ours(const struct landing *landing, const struct layout *layout)
{
	return landing->serial.known && landing->serial.value >= 0 && landing->serial.value < layout_total(layout);
}

static void count_series(
        const struct landings *landings, const struct layout *layout, uint32_t series, struct payload_count *to)
{
	*to = (struct payload_count){ num((int64_t)layout->series[series].bytes), num(0), num(0), num(0) };
	list_each(landing, landings)
		if (is_ours(landing, layout) && landing->serial.value / layout->count == series)
			count(landing, to);
}

void landings_apply(const struct landings *landings, const struct layout *layout, struct probe_run *run)
{
	struct evidence *evidence = run_evidence(run);
	list_each(landing, landings)
		if (is_ours(landing, layout))
			apply(landing, evidence);
	evidence->payloads.count = 0; /* a peer is asked more than once, and its last word holds */
	for (uint32_t i = 0; landings->count && i < layout->series_count; i++) {
		struct payload_count *to = list_add(run->arena, &evidence->payloads);
		if (to)
			count_series(landings, layout, i, to);
	}
}
