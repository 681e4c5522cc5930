/* SPDX-License-Identifier: MIT */
/*
 * Devices asked through libibverbs. Listing them takes a netlink request and reply each, as long as links and addresses
 * take together, and opening one takes most of the time of asking it: so the list is read beside other sources, and two
 * devices are asked at a time. Each has a lane of its own in what is announced, so that one that blocks or crashes is
 * known; after a loss there is one lane.
 */
#include "base/cleanup.h"
#include "origin/private.h"
#include "source/verbs.h"

#include <errno.h>
#include <malloc.h>

enum { OWN_LANE, OTHER_LANE };

/* ---- the list ---- */

static void list_devices(struct origin *origin, size_t lane)
{
	int result = origin_announce(origin, lane, WATCH_VERBS, "host", "listing the devices of libibverbs");
	origin->verbs_list.reason = "libibverbs did not list devices before";
	if (!result) {
		result = origin->ops->list_verbs(origin);
		origin->verbs_list.reason = NULL;
		origin_conclude(origin, lane);
	}
	origin->verbs_list.result = result;
}

static void *list_in_thread(void *data)
{
	list_devices(data, OTHER_LANE);
	return NULL;
}

void origin_expect_verbs(struct origin *origin)
{
	if (!origin->ops->list_verbs || origin->verbs_list.done || origin->lanes < WATCH_LANES)
		return;
		/* A heap of its own would grow by single pages, an mprotect(2) each. */
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
	origin->verbs_list.in_thread = !pthread_create(&origin->verbs_list.thread, NULL, list_in_thread, origin);
	origin->verbs_list.done = origin->verbs_list.in_thread;
}

void origin_end_verbs(struct origin *origin)
{
	if (origin->verbs_list.in_thread)
		pthread_join(origin->verbs_list.thread, NULL);
	origin->verbs_list.in_thread = false;
}

static void need_list(struct origin *origin)
{
	origin_end_verbs(origin);
	if (origin->ops->list_verbs && !origin->verbs_list.done)
		list_devices(origin, OWN_LANE);
	origin->verbs_list.done = true;
}

/* ---- the calls ---- */

struct batch {
	struct origin *origin;
	struct arena *arena;
	struct verbs_call *calls;
	size_t count;
	size_t next;     /* of the calls that nobody makes yet */
	size_t answered; /* handed on */
	int (*on_answer)(void *data, struct verbs_call *call);
	void *data;
};

static int make_call(struct batch *batch, size_t lane, struct verbs_call *call)
{
	struct origin *origin = batch->origin;
	int result = origin->verbs_list.result;
	if (result && origin->verbs_list.reason)
		return error_say(&call->error, result, "%s: not opened, %s", call->device, origin->verbs_list.reason);
	if (result)
		return error_set(&call->error, result, "%s: ibv_get_device_list", call->device);
	result = origin_announce(origin, lane, WATCH_VERBS, call->device, "opening and querying the device");
	if (result)
		return error_say(&call->error, result, "%s: opening and querying it %s, so it is not done again",
		        call->device, result == -ECHILD ? "ended the process that did" : "did not return in time");
	result = origin->ops->verbs(origin, batch->arena, call->device, &call->question, &call->answer, &call->error);
	origin_conclude(origin, lane);
	return result;
}

static bool ask_next(struct batch *batch, size_t lane)
{
	size_t index = __atomic_fetch_add(&batch->next, 1, __ATOMIC_RELAXED);
	if (index >= batch->count)
		return false;
	struct verbs_call *call = &batch->calls[index];
	call->result = make_call(batch, lane, call);
	__atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
	return true;
}

static void *ask_in_thread(void *data)
{
	while (ask_next(data, OTHER_LANE))
		continue;
	return NULL;
}

/* Hands on what is answered, as far as nothing is missing before it. */
static int hand_on(struct batch *batch)
{
	int result = 0;
	while (!result && batch->answered < batch->count) {
		struct verbs_call *call = &batch->calls[batch->answered];
		if (!__atomic_load_n(&call->done, __ATOMIC_ACQUIRE))
			break;
		batch->answered++;
		if (batch->origin->recorder)
			recorder_verbs(batch->origin->recorder, call->device, &call->answer, &call->error);
		result = batch->on_answer(batch->data, call);
	}
	if (result)
		__atomic_store_n(&batch->next, batch->count, __ATOMIC_RELAXED);
	return result;
}

int origin_verbs(struct origin *origin, struct arena *arena, struct verbs_call *calls, size_t count,
        int (*answered)(void *data, struct verbs_call *call), void *data)
{
	struct batch batch = {
		.origin = origin, .arena = arena, .calls = calls, .count = count, .on_answer = answered, .data = data
	};
	if (!count)
		return 0;
	need_list(origin);
	pthread_t thread;
	bool helped = count > 1 && origin->lanes == WATCH_LANES && origin->ops->list_verbs &&
	              !pthread_create(&thread, NULL, ask_in_thread, &batch);
	int result = 0;
	while (!result && ask_next(&batch, OWN_LANE))
		result = hand_on(&batch);
	if (helped)
		pthread_join(thread, NULL);
	return result ? result : hand_on(&batch);
}
