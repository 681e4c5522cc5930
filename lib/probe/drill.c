/* SPDX-License-Identifier: MIT */
#include "probe/drill.h"

#include "base/cleanup.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

enum { SHORT_MS = 1000 }; /* for what never comes */

static const struct drill drills[] = {
	{ .name = "bad-rkey",
	        .line = "the request has a remote key that the target did not give out",
	        .deviation = { .rkey_flip = 0x5500 } },
	{ .name = "bad-lkey",
	        .line = "the request has a local key that is not the buffer's",
	        .deviation = { .lkey_flip = 0x5500 } },
	{ .name = "length",
	        .line = "the range in the request ends behind the target's buffer",
	        .deviation = { .beyond_end = true } },
	{ .name = "mr-access",
	        .line = "the target's buffer is registered without remote write and read",
	        .deviation = { .target_mr_lacks = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ } },
	{ .name = "qp-access",
	        .line = "the target's queue pair is set up without remote write and read",
	        .deviation = { .target_qp_lacks = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ } },
	{ .name = "remote-without-local-write",
	        .line = "the target's buffer is registered with remote write but without local write",
	        .deviation = { .target_mr_lacks = IBV_ACCESS_LOCAL_WRITE } },
	{ .name = "wrong-qpn",
	        .line = "the queue pair sends to a queue pair number that the target did not give out",
	        .deviation = { .qpn_flip = 0x400000 } },
	{ .name = "wrong-psn",
	        .line = "the first packet has another sequence number than the target waits for",
	        .deviation = { .psn_shift = 1000 } },
	{ .name = "pd-mismatch",
	        .line = "buffer and queue pair belong to different protection domains",
	        .deviation = { .buffer_in_other_pd = true } },
	{ .name = "rnr",
	        .line = "the target posts no receive, and the operation needs one",
	        .wish = { .op = OP_SEND },
	        .deviation = { .no_receives = true } },
	{ .name = "no-poll",
	        .line = "nobody polls the completion queue",
	        .wish = { .timeout_ms = SHORT_MS },
	        .deviation = { .no_polling = true } },
	{ .name = "undispatched",
	        .line = "completions are taken from the queue and not handed to whom waits for them",
	        .wish = { .timeout_ms = SHORT_MS },
	        .deviation = { .loses_completions = true } },
	{ .name = "unsignaled-wait",
	        .line = "a completion is waited for that no request asked for",
	        .wish = { .timeout_ms = SHORT_MS },
	        .deviation = { .never_signaled = true } },
	{ .name = "sq-full",
	        .line = "more requests are posted at once than the send queue holds",
	        .ineffective = "the send queue that this device gives is larger than the chain",
	        .wish = { .size = 64, .count = 250, .batch = 250, .depth = 16 },
	        .deviation = { .gives_up_when_full = true } },
	{ .name = "cq-overrun",
	        .line = "more completions come than the completion queue holds, and nobody takes them",
	        .ineffective = "the completion queue that this device gives is larger than the chain",
	        .wish = { .size = 64, .count = 64, .batch = 64, .timeout_ms = SHORT_MS },
	        .deviation = { .cq_entries = 4, .no_polling = true } },
	{ .name = "drain-before-rearm",
	        .line = "the completion queue is armed after the completion came, and not polled once more",
	        .ineffective = "this device raises an event at arming for what is in the queue already",
	        .wish = { .wait = "event", .timeout_ms = SHORT_MS },
	        .deviation = { .arms_late = true } },
	{ .name = "solicited-only",
	        .line = "the completion queue is armed for solicited completions, and none is solicited",
	        .ineffective = "this device raises the event all the same",
	        .wish = { .wait = "event", .timeout_ms = SHORT_MS },
	        .deviation = { .solicited_only = true } },
	{ .name = "unacked-events",
	        .line = "events are taken and not acknowledged, so that destroying the completion queue waits for ever",
	        .wish = { .wait = "event" },
	        .deviation = { .never_acks = true } },
	{ .name = "early-reuse",
	        .line = "the source is written to again as soon as post returned",
	        .ineffective = "the data had left the buffer before post returned; on soft RoCE they need a wire and "
	                       "more packets than are sent at once",
	        .wish = { .size = 4 << 20, .timeout_ms = 20000 },
	        .deviation = { .reuses_early = true } },
	{ .name = "wrong-gid",
	        .line = "the initiator uses an index of its GID table that is empty",
	        .ineffective = "the GID table of this port has no empty slot, or the port is addressed by LID",
	        .deviation = { .empty_gid = true } },
	{ .name = "peer-vanishes",
	        .line = "the target goes away before the first request",
	        .deviation = { .target_vanishes = true } },
	{ .name = "mtu",
	        .line = "the target's queue pair has a smaller path MTU than the initiator's",
	        .ineffective = "the path MTU cannot be made smaller, or no request is larger than a packet",
	        .deviation = { .target_mtu_steps = 1 } },
};

const struct drill *drill_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(drills); i++)
		if (name && !strcmp(drills[i].name, name))
			return &drills[i];
	return NULL;
}

const struct drill *drill_at(size_t index)
{
	return index < ARRAY_SIZE(drills) ? &drills[index] : NULL;
}

struct deviation drill_deviation(const char *name)
{
	const struct drill *drill = drill_find(name);
	return drill ? drill->deviation : (struct deviation){ 0 };
}

/* What has its default still was not asked for. */
static void wish_number(struct num *value, struct num usual, int64_t wished)
{
	bool asked_for = value->known != usual.known || value->value != usual.value;
	if (wished && !asked_for)
		*value = num(wished);
}

int drill_apply(const struct drill *drill, struct probe_settings *settings, struct arena *arena)
{
	struct probe_settings usual;
	struct probe_request *request = &settings->request;
	settings_init(&usual);
	request->drill = drill->name;
	settings->deviation = drill->deviation;
	wish_number(&request->count, usual.request.count, drill->wish.count);
	wish_number(&request->batch, usual.request.batch, drill->wish.batch);
	wish_number(&request->depth, usual.request.depth, drill->wish.depth);
	wish_number(&request->timeout_ms, usual.request.timeout_ms, drill->wish.timeout_ms);
	if (drill->wish.op && request->op == usual.request.op)
		request->op = drill->wish.op;
	if (drill->wish.wait)
		request->wait = drill->wish.wait;
	if (!drill->wish.size || request->sizes.count)
		return 0;
	struct num *size = list_add(arena, &request->sizes);
	if (!size)
		return -ENOMEM;
	*size = num(drill->wish.size);
	return 0;
}
