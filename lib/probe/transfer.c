/* SPDX-License-Identifier: MIT */
#include "probe/transfer.h"

#include "probe/cpu_wait.h"
#include "probe/inspection.h"
#include "probe/statistics.h"
#include "probe/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the record of a request ---- */

/* Half of the target's buffer lies behind the address then. */
static int64_t remote_address(const struct transfer *transfer, uint32_t serial)
{
	const struct endpoint_facts *other = transfer->other;
	if (transfer->endpoint->run->deviation.beyond_end)
		return other->buffer_address.value + other->buffer_bytes.value -
		       (int64_t)layout_series(transfer->layout, serial)->bytes / 2;
	return other->buffer_address.value + (int64_t)layout_offset(transfer->layout, serial);
}

static bool is_inline(const struct transfer *transfer)
{
	return transfer->endpoint->run->document.request.inline_data == FLAG_YES;
}

/* The last of a chain where nothing comes behind it on its lane, and so often that the queue cannot fill up without
 * one. */
static bool asks_for_completion(const struct transfer *transfer, uint32_t serial)
{
	const struct layout *layout = transfer->layout;
	const struct lane *lane = &transfer->lanes[layout_lane(layout, serial)];
	int64_t depth = transfer->endpoint->facts->send_wr_asked.value;
	if (transfer->endpoint->run->deviation.never_signaled)
		return false;
	return lane->unsignaled + 1 >= layout->signal_every || lane->unsignaled + 1 >= depth / 2 ||
	       (layout_chain(layout, serial) == 1 && layout_ends_lane(layout, serial));
}

static void fill_record(const struct transfer *transfer, struct request *request)
{
	const struct endpoint *endpoint = transfer->endpoint;
	const struct deviation *deviation = &endpoint->run->deviation;
	struct operation *operation = request->operation;
	uint32_t serial = request->serial, lane = layout_lane(transfer->layout, serial);
	operation->wr_id = num((int64_t)wr_id_of(serial));
	operation->qpn = num(endpoint->qps[lane]->qp_num);
	operation->opcode = endpoint->run->document.request.op;
	operation->bytes = num((int64_t)layout_series(transfer->layout, serial)->bytes);
	operation->lkey = num(endpoint_mr(endpoint, lane)->lkey ^ deviation->lkey_flip);
	operation->is_signaled = flag(request->signaled);
	operation->is_inline = flag(is_inline(transfer));
	if (operation->opcode == OP_SEND)
		return;
	operation->remote_address = num(remote_address(transfer, serial));
	operation->rkey = transfer->other->rkey;
	operation->rkey.value ^= deviation->rkey_flip;
}

static unsigned char *source_of(const struct transfer *transfer, uint32_t serial)
{
	return transfer->endpoint->buffer.memory + layout_offset(transfer->layout, serial);
}

static void prepare_source(const struct transfer *transfer, uint32_t serial)
{
	size_t bytes = layout_series(transfer->layout, serial)->bytes;
	if (transfer->endpoint->run->document.request.op == OP_READ)
		memset(source_of(transfer, serial), 0, bytes);
	else
		payload_fill(source_of(transfer, serial), bytes, transfer->layout->seed, serial);
}

/* ---- a chain ---- */

static void add_to_chain(struct transfer *transfer, const struct request *request)
{
	const struct operation *operation = request->operation;
	struct ibv_send_wr *wr = post_add(&transfer->chain, operation->opcode, source_of(transfer, request->serial),
	        (uint32_t)operation->bytes.value, (uint32_t)operation->lkey.value);
	wr->wr_id = wr_id_of(request->serial);
	bool flagged = request->signaled && transfer->endpoint->run->document.request.sq_sig_all != FLAG_YES;
	wr->send_flags = (flagged ? IBV_SEND_SIGNALED : 0U) | (is_inline(transfer) ? IBV_SEND_INLINE : 0U);
	wr->imm_data = htobe32(request->serial);
	wr->wr.rdma.remote_addr = (uint64_t)operation->remote_address.value;
	wr->wr.rdma.rkey = (uint32_t)operation->rkey.value;
}

static int build_chain(struct transfer *transfer, uint32_t first, uint32_t count)
{
	struct lane *lane = &transfer->lanes[layout_lane(transfer->layout, first)];
	transfer->chain.count = 0;
	for (uint32_t serial = first; serial < first + count; serial++) {
		struct request *request = request_begin(transfer, serial);
		if (!request)
			return -ENOMEM;
		request->signaled = asks_for_completion(transfer, serial);
		lane->unsignaled = request->signaled ? 0 : lane->unsignaled + 1;
		fill_record(transfer, request);
		prepare_source(transfer, serial);
		add_to_chain(transfer, request);
	}
	return 0;
}

/* Requests `from` … of the chain that begins with `first`, by one call; looks whether they are in the queue. */
struct piece {
	uint32_t first, from, count, taken;
	int64_t call_ns, return_ns;
	struct num seen_ns; /* in the queue */
	enum flag recorded;
	int error;
};

static struct request *request_of(struct transfer *transfer, const struct piece *piece, uint32_t index)
{
	return request_at(transfer, piece->first + piece->from + index);
}

static void confirm(struct transfer *transfer, struct piece *piece, uint32_t before)
{
	const struct observer *observer = &transfer->endpoint->observer;
	if (piece->error || transfer->confirmed)
		return;
	transfer->confirmed = observer->ops->holds(observer, before, &transfer->chain.requests[piece->from]);
	if (transfer->confirmed)
		return;
	observer_give_up(&transfer->endpoint->observer, "the send queue does not hold what was posted");
	piece->seen_ns = (struct num){ 0 };
	piece->recorded = FLAG_UNKNOWN;
}

/* Only the first queue pair is watched. */
static void post_watched(struct transfer *transfer, struct piece *piece)
{
	struct endpoint *endpoint = transfer->endpoint;
	const struct observer *observer = &endpoint->observer;
	uint32_t lane = layout_lane(transfer->layout, piece->first);
	bool observed = observer_works(observer) && !lane;
	bool by_wr_api = post_by_wr_api(&endpoint->run->document.request);
	struct ring_view before = { 0 }, view;
	if (observed)
		before = observer_sample(observer);
	piece->call_ns = run_now(endpoint->run);
	piece->error = post_requests(
	        &transfer->chain, piece->from, piece->count, endpoint->qps[lane], by_wr_api, &piece->taken);
	piece->return_ns = run_now(endpoint->run);
	if (!observed)
		return;
	view = observer_sample(observer);
	if (view.posted != before.posted)
		piece->seen_ns = num(run_now(endpoint->run));
	transfer->posted_end = view.posted;
	if (!piece->error && observer->ops->has_doorbell_record)
		piece->recorded = flag(view.posted != before.posted);
	confirm(transfer, piece, before.posted);
}

/* A program that takes its buffer for free as soon as post has returned. */
static void reuse_source(struct transfer *transfer, struct request *request)
{
	struct probe_run *run = transfer->endpoint->run;
	size_t bytes = layout_series(transfer->layout, request->serial)->bytes;
	memset(source_of(transfer, request->serial), 0xee, bytes);
	request->operation->source_changed_ns = num(run_now(run));
}

static void record_piece(struct transfer *transfer, const struct piece *piece)
{
	for (uint32_t i = 0; i < piece->taken; i++) {
		struct request *request = request_of(transfer, piece, i);
		struct operation *operation = request->operation;
		operation->post_call_ns = num(piece->call_ns);
		operation->post_return_ns = num(piece->return_ns);
		operation->post_errno = num(0);
		operation->bad_wr = FLAG_NO;
		operation->wqe_posted_ns = piece->seen_ns;
		if (piece->seen_ns.known)
			operation->wqe_posted_not_before_ns = num(piece->call_ns);
		operation->doorbell_recorded = piece->recorded;
		/* What is inline was copied by the post. */
		if (operation->is_inline == FLAG_YES)
			operation->source_reusable_ns = operation->post_return_ns;
		request_posted(transfer, request);
		if (transfer->endpoint->run->deviation.reuses_early)
			reuse_source(transfer, request);
	}
}

static void record_refusal(struct transfer *transfer, const struct piece *piece)
{
	struct request *refused = request_of(transfer, piece, piece->taken);
	struct operation *operation = refused->operation;
	operation->post_call_ns = num(piece->call_ns);
	operation->post_return_ns = num(piece->return_ns);
	operation->post_errno = num(piece->error);
	operation->bad_wr = FLAG_YES;
	request_list(transfer, refused);
	if (!transfer->failed)
		transfer->failed = refused->operation;
}

/*
 * The queue is full (ENOMEM, ENOSPC of the ibv_wr_*() calls of soft RoCE): what was taken goes its way, and the rest is
 * posted when it has ended. The ibv_wr_*() calls take nothing of what does not fit as a whole, so there it is tried
 * with less. Says whether to go on.
 */
static bool make_room(struct transfer *transfer, struct piece *piece, int *result)
{
	if ((piece->error != ENOMEM && piece->error != ENOSPC) || transfer->endpoint->run->deviation.gives_up_when_full)
		return false;
	if (!transfer->signaled_open && (piece->taken || piece->count == 1))
		return false;
	if (transfer->signaled_open)
		*result = transfer_await(transfer, false);
	else
		piece->count /= 2;
	run_evidence(transfer->endpoint->run)->queue_full.value++;
	return true;
}

static int post_chain(struct transfer *transfer, uint32_t first, uint32_t count)
{
	struct probe_run *run = transfer->endpoint->run;
	struct piece piece = { .first = first };
	uint32_t limit = count;
	int result = build_chain(transfer, first, count);
	while (!result && piece.from < count) {
		uint32_t rest = count - piece.from;
		piece.count = rest < limit ? rest : limit;
		piece.seen_ns = (struct num){ 0 };
		piece.recorded = FLAG_UNKNOWN;
		run_enter(run, post_by_wr_api(&run->document.request) ? "ibv_wr_complete" : "ibv_post_send",
		        STEP_LIMIT_MS);
		post_watched(transfer, &piece);
		run_leave(run);
		record_piece(transfer, &piece);
		if (piece.error && !make_room(transfer, &piece, &result)) {
			record_refusal(transfer, &piece);
			return -piece.error;
		}
		limit = piece.error ? piece.count : limit;
		piece.from += piece.taken;
	}
	return result;
}

/* ---- the run ---- */

/* Once, at rest, and between the requests: it takes no time of any of them. */
static void calibrate(struct transfer *transfer)
{
	if (!transfer->calibrated && !transfer->open)
		inspect_device(transfer->endpoint, transfer->other->qpn, MOMENT_IDLE);
	transfer->calibrated |= !transfer->open;
}

/* One chain for each lane, then their completions. Returns the serial behind them. */
static uint32_t perform_round(struct transfer *transfer, uint32_t serial, int *result)
{
	const struct layout *layout = transfer->layout;
	uint32_t end = (serial / layout->count + 1) * layout->count;
	if (!(serial % layout->count))
		transfer->spans[serial / layout->count].begin = num(run_now(transfer->endpoint->run));
	for (uint32_t i = 0; i < layout->lanes && serial < end && !*result; i++) {
		uint32_t count = layout_chain(layout, serial);
		*result = post_chain(transfer, serial, count);
		serial += count;
	}
	bool ends_size = serial >= end;
	struct span *span = &transfer->spans[(serial - 1) / layout->count];
	bool full = transfer->open + layout->lanes * layout->batch > transfer->capacity;
	if (!*result)
		*result = transfer_await(transfer, ends_size || full);
	if (*result)
		return serial;
	if (ends_size)
		span->end = num(run_now(transfer->endpoint->run));
	if (transfer->meanwhile)
		transfer->meanwhile(transfer->data);
	calibrate(transfer);
	return serial;
}

static void begin_counts(struct evidence *evidence)
{
	evidence->operations_posted = evidence->operations_completed = num(0);
	evidence->operations_failed = evidence->flushes = evidence->foreign_completions = num(0);
	evidence->operations_reclaimed = evidence->completions_undelivered = evidence->queue_full = num(0);
	evidence->operations_omitted = evidence->polls = num(0);
}

/* One chain is built and taken back first: nothing of it may be in the queue. */
static int rehearse(struct transfer *transfer)
{
	struct endpoint *endpoint = transfer->endpoint;
	struct probe_run *run = endpoint->run;
	const struct observer *observer = &endpoint->observer;
	if (!post_by_wr_api(&run->document.request))
		return 0;
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_wr_abort");
	struct ring_view before = { 0 }, after = { 0 };
	if (observer_works(observer))
		before = observer_sample(observer);
	transfer->chain.count = 0;
	struct ibv_send_wr *wr = post_add(
	        &transfer->chain, run->document.request.op, endpoint->buffer.memory, 1, endpoint->mrs[0]->lkey);
	wr->wr.rdma.remote_addr = (uint64_t)transfer->other->buffer_address.value;
	wr->wr.rdma.rkey = (uint32_t)transfer->other->rkey.value;
	post_abort(&transfer->chain, endpoint->qps[0]);
	if (observer_works(observer))
		after = observer_sample(observer);
	return resource_end(run, step, before.posted == after.posted ? 0 : -EPROTO);
}

static int prepare(struct transfer *transfer, struct endpoint *endpoint, const struct endpoint_facts *other,
        const struct layout *layout)
{
	transfer->endpoint = endpoint;
	transfer->other = other;
	transfer->layout = layout;
	transfer->times = stage_times_new(layout_total(layout));
	transfer->capacity = (layout_outstanding(layout) + layout->batch) * layout->lanes;
	transfer->requests = calloc(transfer->capacity, sizeof(*transfer->requests));
	int result = post_init(&transfer->chain, layout->batch, (uint32_t)endpoint->run->document.request.sges.value);
	return transfer->times && transfer->requests ? result : -ENOMEM;
}

static void keep_cpu_wait(struct endpoint *endpoint, const struct cpu_facts *before)
{
	struct cpu_facts added, *kept;
	if (run_evidence(endpoint->run)->cpu)
		return;
	if (!cpu_wait_since(endpoint->origin, before, &added)) {
		report_missing(&endpoint->run->report, "cpu", "host", 0,
		        "the kernel does not tell how long a thread waits for a CPU");
		return;
	}
	kept = arena_alloc(endpoint->run->arena, sizeof(*kept));
	if (kept)
		*kept = added;
	run_evidence(endpoint->run)->cpu = kept;
}

int transfer_run(struct transfer *transfer, struct endpoint *endpoint, const struct endpoint_facts *other,
        const struct layout *layout)
{
	int result = prepare(transfer, endpoint, other, layout);
	if (result)
		return result;
	struct cpu_facts before;
	begin_counts(run_evidence(endpoint->run));
	cpu_wait_read(endpoint->origin, &before);
	result = rehearse(transfer);
	for (uint32_t serial = 0; serial < layout_total(layout) && !result;)
		serial = run_stopped(endpoint->run) ? (result = -EINTR, serial)
		                                    : perform_round(transfer, serial, &result);
	/* What a full queue let in goes its way. */
	struct request *oldest = request_oldest(transfer);
	if (result == -ENOMEM && oldest && !endpoint->run->deviation.no_polling)
		transfer_await(transfer, false);
	keep_cpu_wait(endpoint, &before);
	oldest = request_oldest(transfer);
	if (result && oldest)
		request_list(transfer, oldest);
	return result;
}

int transfer_repeat(struct transfer *transfer, struct operation *operation)
{
	uint32_t serial = transfer->posted - 1;
	struct piece piece = { .first = serial, .count = 1 };
	struct request *request = request_at(transfer, serial);
	begin_counts(run_evidence(transfer->endpoint->run));
	*request = (struct request){ .serial = serial, .signaled = true, .operation = operation };
	fill_record(transfer, request);
	transfer->chain.count = 0;
	add_to_chain(transfer, request);
	post_watched(transfer, &piece);
	record_piece(transfer, &piece);
	transfer->posted = serial + 1;
	return piece.error ? -piece.error : transfer_await(transfer, true);
}

/* ---- afterwards ---- */

const struct operation *transfer_last(struct transfer *transfer)
{
	struct request *oldest = transfer->requests ? request_oldest(transfer) : NULL;
	if (transfer->failed)
		return transfer->failed;
	return oldest ? oldest->operation : NULL;
}

/* What the device says of its queue is of the last request: there must be no other one. */
static struct operation *only_outstanding(struct transfer *transfer)
{
	struct request *oldest = transfer->endpoint ? request_oldest(transfer) : NULL;
	bool only = oldest && transfer->open == 1 && !layout_lane(transfer->layout, oldest->serial);
	return only ? oldest->operation : NULL;
}

void transfer_inspect(struct transfer *transfer, bool first)
{
	struct operation *pending = only_outstanding(transfer);
	if (!pending)
		return;
	struct probe_run *run = transfer->endpoint->run;
	struct evidence *evidence = run_evidence(run);
	inspect_device(transfer->endpoint, transfer->other->qpn, first ? MOMENT_FIRST : MOMENT_SECOND);
	if (first || !evidence->observers.device)
		return;
	const char *reason = inspection_conclude(evidence, transfer->posted_end, pending);
	if (reason)
		report_missing(&run->report, "device_samples", transfer->endpoint->facts->device, 0,
		        "what the device says of its queues is not believed: %s", reason);
}

/* A program that waits by event is not woken by a look; so a completion that is there is not taken, where it is seen.
 */
void transfer_look_again(struct transfer *transfer)
{
	struct endpoint *endpoint = transfer->endpoint;
	struct request *oldest = endpoint && transfer->requests ? request_oldest(transfer) : NULL;
	if (!oldest || !endpoint->cqs[0])
		return;
	const struct observer *observer = &endpoint->observer;
	struct evidence *evidence = run_evidence(endpoint->run);
	bool observed = observer_works(observer);
	struct operation *pending = oldest->operation;
	struct wait wait = { .last = evidence->last_poll_ns.known ? evidence->last_poll_ns.value
		                                                  : pending->post_call_ns.value };
	if (observed && !pending->cqe_arrived_ns.known && observer_sample(observer).completion) {
		pending->cqe_arrived_ns = num(run_now(endpoint->run));
		pending->cqe_arrived_not_before_ns = num(wait.last);
		await_keep_unclaimed(transfer, false);
	}
	if (endpoint->run->deviation.no_polling || (observed && notify_wanted(transfer)))
		return;
	run_enter(endpoint->run, "ibv_poll_cq", STEP_LIMIT_MS);
	int result = await_poll(transfer, &wait, false, (struct num){ 0 });
	run_leave(endpoint->run);
	if (result > 0 && evidence->notification && !pending->cqe_arrived_ns.known)
		evidence->notification->found_at_end = FLAG_YES;
}

void transfer_finish(struct transfer *transfer)
{
	if (!transfer->endpoint)
		return;
	if (transfer->times)
		statistics_fill(transfer->endpoint->run, transfer->layout, transfer->times);
	for (uint32_t i = 0; transfer->times && i < transfer->layout->series_count; i++)
		statistics_add_span(transfer->endpoint->run, transfer->layout->series[i].bytes,
		        transfer->spans[i].begin, transfer->spans[i].end);
	free(transfer->times);
	transfer->times = NULL;
	free(transfer->requests);
	transfer->requests = NULL;
	post_free(&transfer->chain);
}
