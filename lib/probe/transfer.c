/* SPDX-License-Identifier: MIT */
#include "probe/transfer.h"

#include "probe/inspection.h"
#include "probe/statistics.h"
#include "probe/target.h"
#include "probe/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	LISTED_FIRST = 64,      /* operations in the document */
	LISTED_AFTER = 16,      /* and those behind the first that failed */
	CHORE_NS = 1000000,     /* how often the wait does what costs a system call */
	PATIENCE_NS = 20000000, /* from then on it sleeps between looks, and does not trust the observer alone */
	NAP_NS = 50000,
};

/* ---- the record of a request ---- */

static struct operation *new_record(struct transfer *transfer)
{
	struct probe_run *run = transfer->endpoint->run;
	struct evidence *evidence = run_evidence(run);
	bool listed = evidence->operations.count < LISTED_FIRST;
	struct operation *operation = listed ? list_add(run->arena, &evidence->operations) : transfer->scratch;
	if (!operation)
		return NULL;
	*operation = (struct operation){ 0 };
	return operation;
}

/* The first that fails is listed wherever it stands. */
static void list_failed(struct transfer *transfer, struct operation *operation)
{
	struct evidence *evidence = run_evidence(transfer->endpoint->run);
	if (operation != transfer->scratch)
		return;
	struct operation *kept = list_add(transfer->endpoint->run->arena, &evidence->operations);
	if (kept) {
		*kept = *operation;
		transfer->pending = kept;
	}
}

static void fill_record(const struct transfer *transfer, struct operation *operation, uint32_t serial)
{
	const struct endpoint *endpoint = transfer->endpoint;
	operation->wr_id = num((int64_t)wr_id_of(serial));
	operation->qpn = num(endpoint->qp->qp_num);
	operation->opcode = endpoint->run->document.request.op;
	operation->bytes = num((int64_t)layout_series(transfer->layout, serial)->bytes);
	operation->lkey = num(endpoint->mr->lkey);
	operation->is_signaled = FLAG_YES;
	operation->is_inline = FLAG_NO;
	if (operation->opcode == OP_SEND)
		return;
	operation->remote_address =
	        num(transfer->other->buffer_address.value + (int64_t)layout_offset(transfer->layout, serial));
	operation->rkey = transfer->other->rkey;
}

/* ---- posting ---- */

static enum ibv_wr_opcode opcode_of(int op)
{
	switch (op) {
	case OP_WRITE_IMM:
		return IBV_WR_RDMA_WRITE_WITH_IMM;
	case OP_SEND:
		return IBV_WR_SEND;
	case OP_READ:
		return IBV_WR_RDMA_READ;
	default:
		return IBV_WR_RDMA_WRITE;
	}
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

/* Posts and looks whether the request is in the queue. */
static int post(struct transfer *transfer, struct operation *operation, uint32_t serial)
{
	struct endpoint *endpoint = transfer->endpoint;
	const struct observer *observer = &endpoint->observer;
	struct ibv_sge sge = {
		.addr = (uintptr_t)source_of(transfer, serial),
		.length = (uint32_t)operation->bytes.value,
		.lkey = (uint32_t)operation->lkey.value,
	};
	struct ibv_send_wr *bad = NULL, wr = {
		.wr_id = wr_id_of(serial),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode_of(operation->opcode),
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32(serial),
		.wr.rdma = { .remote_addr = (uint64_t)operation->remote_address.value,
		        .rkey = (uint32_t)operation->rkey.value },
	};
	bool observed = observer_works(observer);
	struct ring_view before = { 0 }, view;
	if (observed)
		before = observer_sample(observer);
	operation->post_call_ns = num(run_now(endpoint->run));
	int error = ibv_post_send(endpoint->qp, &wr, &bad);
	operation->post_return_ns = num(run_now(endpoint->run));
	if (observed) {
		view = observer_sample(observer);
		if (view.posted != before.posted) {
			operation->wqe_posted_not_before_ns = operation->post_call_ns;
			operation->wqe_posted_ns = num(run_now(endpoint->run));
		}
		transfer->posted_end = view.posted;
		if (!error && observer->ops->has_doorbell_record)
			operation->doorbell_recorded = flag(view.posted != before.posted);
	}
	operation->post_errno = num(error);
	operation->bad_wr = error ? flag(bad == &wr) : FLAG_NO;
	if (!error && observed && !transfer->confirmed) {
		transfer->confirmed = observer->ops->holds(observer, before.posted, &wr);
		if (!transfer->confirmed) {
			observer_give_up(&endpoint->observer, "the send queue does not hold what was posted");
			operation->wqe_posted_ns = operation->wqe_posted_not_before_ns = (struct num){ 0 };
			operation->doorbell_recorded = FLAG_UNKNOWN;
		}
	}
	return -error;
}

/* ---- completion ---- */

static void take_completion(struct transfer *transfer, struct operation *operation, const struct ibv_wc *wc)
{
	struct evidence *evidence = run_evidence(transfer->endpoint->run);
	operation->cqe_consumed_ns = num(run_now(transfer->endpoint->run));
	operation->wc_status = num(wc->status);
	operation->wc_status_text = status_word((int)wc->status);
	if (wc->status == IBV_WC_SUCCESS) {
		operation->source_reusable_ns = operation->cqe_consumed_ns;
		evidence->operations_completed.value++;
		return;
	}
	/* Of a failed completion only wr_id, status, qp_num and vendor_err are valid (ibv_poll_cq(3)). */
	operation->vendor_err = num(wc->vendor_err);
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		evidence->flushes.value++;
	else
		evidence->operations_failed.value++;
}

/* What no request claims is kept as it lies in memory, as far as that can be read. */
static void keep_unclaimed(struct transfer *transfer, bool taken)
{
	enum { UNCLAIMED_LIMIT = 8 };
	struct probe_run *run = transfer->endpoint->run;
	const struct observer *observer = &transfer->endpoint->observer;
	struct completion_entry entry;
	if (!observer_works(observer) || !observer->ops->entry ||
	        run_evidence(run)->unclaimed_completions.count >= UNCLAIMED_LIMIT ||
	        !observer->ops->entry(observer, taken, &entry))
		return;
	entry.t_ns = num(run_now(run));
	entry.taken = flag(taken);
	struct completion_entry *kept = list_add(run->arena, &run_evidence(run)->unclaimed_completions);
	if (kept)
		*kept = entry;
}

/* One poll. 1 when our completion came, 0 when not, or negative errno. */
static int poll_once(struct transfer *transfer, struct operation *operation)
{
	struct evidence *evidence = run_evidence(transfer->endpoint->run);
	/* A CQE with an opcode that the library does not know leaves it as it is. */
	struct ibv_wc wc = { 0 };
	evidence->last_poll_ns = num(run_now(transfer->endpoint->run));
	evidence->polls.value++;
	int count = ibv_poll_cq(transfer->endpoint->cq, 1, &wc);
	if (count <= 0)
		return count < 0 ? -EIO : 0;
	if (num_is(operation->wr_id, (int64_t)wc.wr_id)) {
		take_completion(transfer, operation, &wc);
		return 1;
	}
	evidence->foreign_completions.value++;
	keep_unclaimed(transfer, true);
	return 0;
}

/* What costs more than a look. Returns 0 to go on. */
static int chores(struct transfer *transfer, int64_t waited)
{
	if (transfer->meanwhile)
		transfer->meanwhile(transfer->data);
	endpoint_events(transfer->endpoint);
	if (run_stopped(transfer->endpoint->run))
		return -EINTR;
	if (waited > PATIENCE_NS)
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
	return 0;
}

/*
 * With an observer the CQE is seen before it is taken. When that takes long, the CQ is polled now and then all the
 * same, so that a wrong view can hide nothing.
 */
static int await(struct transfer *transfer, struct operation *operation)
{
	struct probe_run *run = transfer->endpoint->run;
	const struct observer *observer = &transfer->endpoint->observer;
	int64_t start = operation->post_call_ns.value, last = start, chore = start;
	int64_t deadline = start + run->document.request.timeout_ms.value * 1000000;
	for (;;) {
		bool observed = observer_works(observer);
		struct ring_view view = observed ? observer_sample(observer) : (struct ring_view){ 0 };
		if (view.unreadable) {
			observer_give_up(&transfer->endpoint->observer,
			        "completions are compressed (mini CQEs), which is not read here");
			continue;
		}
		bool there = view.completion;
		int64_t now = run_now(run);
		if (there) {
			operation->cqe_arrived_ns = num(now);
			operation->cqe_arrived_not_before_ns = num(last);
		}
		bool due = now - chore >= CHORE_NS;
		bool doubtful = due && now - start > PATIENCE_NS;
		int result = there || doubtful || !observed ? poll_once(transfer, operation) : 0;
		if (result)
			return result < 0 ? result : 0;
		operation->cqe_arrived_ns = operation->cqe_arrived_not_before_ns = (struct num){ 0 };
		last = now;
		if (!due)
			continue;
		chore = now;
		result = chores(transfer, now - start);
		if (result)
			return result;
		if (now >= deadline) {
			run_evidence(run)->deadline_ns = num(now);
			return -ETIMEDOUT;
		}
	}
}

/* ---- */

static void verify_read(struct transfer *transfer, struct operation *operation, uint32_t serial)
{
	const struct layout *layout = transfer->layout;
	uint32_t slot = serial % layout->count % layout_series(layout, serial)->slots;
	uint32_t filled = serial / layout->count * layout->count + slot;
	enum payload payload =
	        payload_check(source_of(transfer, serial), layout_series(layout, serial)->bytes, layout->seed, filled);
	operation->payload_verified = flag(payload == PAYLOAD_RIGHT);
}

/* Once, at rest, and between the requests: it takes no time of any of them. */
static void calibrate(struct transfer *transfer)
{
	if (!transfer->calibrated)
		inspect_device(transfer->endpoint, transfer->other->qpn, MOMENT_IDLE);
	transfer->calibrated = true;
}

static int perform(struct transfer *transfer, uint32_t serial)
{
	struct probe_run *run = transfer->endpoint->run;
	struct evidence *evidence = run_evidence(run);
	struct operation *operation = new_record(transfer);
	if (!operation)
		return -ENOMEM;
	fill_record(transfer, operation, serial);
	prepare_source(transfer, serial);
	transfer->pending = operation;
	run_enter(run, "ibv_post_send", STEP_LIMIT_MS);
	int result = post(transfer, operation, serial);
	if (result) {
		list_failed(transfer, operation);
		run_leave(run);
		return result;
	}
	transfer->posted++;
	evidence->operations_posted.value++;
	run_enter(run, "waiting for the completion", run->document.request.timeout_ms.value + STEP_LIMIT_MS);
	result = await(transfer, operation);
	run_leave(run);
	if (!result && operation->wc_status.value)
		result = -EIO;
	if (result) {
		list_failed(transfer, operation);
		return result;
	}
	transfer->pending = NULL;
	if (operation->opcode == OP_READ)
		verify_read(transfer, operation, serial);
	stage_times_keep(transfer->times, transfer->timed++, operation);
	if (transfer->meanwhile)
		transfer->meanwhile(transfer->data);
	calibrate(transfer);
	return 0;
}

static void begin_counts(struct evidence *evidence)
{
	evidence->operations_posted = evidence->operations_completed = num(0);
	evidence->operations_failed = evidence->flushes = evidence->foreign_completions = num(0);
	evidence->operations_omitted = evidence->polls = num(0);
}

int transfer_run(struct transfer *transfer, struct endpoint *endpoint, const struct endpoint_facts *other,
        const struct layout *layout)
{
	transfer->endpoint = endpoint;
	transfer->other = other;
	transfer->layout = layout;
	transfer->times = stage_times_new(layout_total(layout));
	transfer->scratch = arena_new_object(endpoint->run->arena, struct operation);
	if (!transfer->times || !transfer->scratch)
		return -ENOMEM;
	begin_counts(run_evidence(endpoint->run));
	int result = 0;
	for (uint32_t serial = 0; serial < layout_total(layout) && !result; serial++)
		result = run_stopped(endpoint->run) ? -EINTR : perform(transfer, serial);
	return result;
}

int transfer_repeat(struct transfer *transfer, struct operation *operation)
{
	struct evidence *evidence = run_evidence(transfer->endpoint->run);
	uint32_t serial = transfer->posted - 1;
	begin_counts(evidence);
	fill_record(transfer, operation, serial);
	int result = post(transfer, operation, serial);
	if (result)
		return result;
	evidence->operations_posted.value++;
	result = await(transfer, operation);
	return result ? result : operation->wc_status.value ? -EIO : 0;
}

static bool is_outstanding(const struct transfer *transfer)
{
	return transfer->endpoint && transfer->pending && transfer->posted &&
	       num_is(transfer->pending->post_errno, 0) && !transfer->pending->wc_status.known;
}

void transfer_inspect(struct transfer *transfer, bool first)
{
	if (!is_outstanding(transfer))
		return;
	struct probe_run *run = transfer->endpoint->run;
	struct evidence *evidence = run_evidence(run);
	inspect_device(transfer->endpoint, transfer->other->qpn, first ? MOMENT_FIRST : MOMENT_SECOND);
	if (first || !evidence->observers.device)
		return;
	const char *reason = inspection_conclude(evidence, transfer->posted_end, transfer->pending);
	if (reason)
		report_missing(&run->report, "device_samples", transfer->endpoint->facts->device, 0,
		        "what the device says of its queues is not believed: %s", reason);
}

void transfer_look_again(struct transfer *transfer)
{
	if (!transfer->pending || transfer->pending->wc_status.known || !transfer->endpoint->cq)
		return;
	const struct observer *observer = &transfer->endpoint->observer;
	if (observer_works(observer) && observer_sample(observer).completion) {
		transfer->pending->cqe_arrived_ns = num(run_now(transfer->endpoint->run));
		transfer->pending->cqe_arrived_not_before_ns = run_evidence(transfer->endpoint->run)->last_poll_ns;
		keep_unclaimed(transfer, false);
	}
	run_enter(transfer->endpoint->run, "ibv_poll_cq", STEP_LIMIT_MS);
	poll_once(transfer, transfer->pending);
	run_leave(transfer->endpoint->run);
}

void transfer_finish(struct transfer *transfer)
{
	if (!transfer->endpoint)
		return;
	struct evidence *evidence = run_evidence(transfer->endpoint->run);
	if (transfer->times)
		statistics_fill(transfer->endpoint->run, transfer->layout, transfer->times, transfer->timed);
	free(transfer->times);
	transfer->times = NULL;
	int64_t listed = evidence->operations.count;
	if (evidence->operations_posted.known && evidence->operations_posted.value > listed)
		evidence->operations_omitted = num(evidence->operations_posted.value - listed);
}
