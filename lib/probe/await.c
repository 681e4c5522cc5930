/* SPDX-License-Identifier: MIT */
/* Waiting for completions by polling, and handing each to the request that it belongs to. */
#include "probe/statistics.h"
#include "probe/target.h"
#include "probe/transfer.h"
#include "probe/words.h"

#include <errno.h>
#include <time.h>

enum {
	CHORE_NS = 1000000,     /* how often the wait does what costs a system call */
	PATIENCE_NS = 20000000, /* from then on it sleeps between looks, and does not trust the observer alone */
	NAP_NS = 50000,
	FLUSH_NS = 100000000, /* after a failure the others are flushed; so long they are waited for */
};

/* ---- a completion ---- */

static void verify_read(struct transfer *transfer, const struct request *request)
{
	const struct layout *layout = transfer->layout;
	uint32_t serial = request->serial, slot = serial % layout->count % layout_series(layout, serial)->slots;
	uint32_t filled = serial / layout->count * layout->count + slot;
	const unsigned char *memory = transfer->endpoint->buffer.memory + layout_offset(layout, serial);
	enum payload payload = payload_check(memory, layout_series(layout, serial)->bytes, layout->seed, filled);
	request->operation->payload_verified = flag(payload == PAYLOAD_RIGHT);
}

static void note_failure(struct transfer *transfer, struct request *request, const struct ibv_wc *wc, int64_t now)
{
	struct evidence *evidence = run_evidence(transfer->endpoint->run);
	/* Of a failed completion only wr_id, status, qp_num and vendor_err are valid (ibv_poll_cq(3)). */
	request->operation->vendor_err = num(wc->vendor_err);
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		evidence->flushes.value++;
	else
		evidence->operations_failed.value++;
	request_list(transfer, request);
	if (!transfer->failed)
		transfer->failed = request->operation;
	if (!transfer->failed_ns)
		transfer->failed_ns = now;
}

static void take_completion(struct transfer *transfer, struct request *request, const struct ibv_wc *wc)
{
	struct operation *operation = request->operation;
	int64_t now = run_now(transfer->endpoint->run);
	operation->cqe_consumed_ns = num(now);
	operation->wc_status = num(wc->status);
	operation->wc_status_text = status_word((int)wc->status);
	if (wc->status == IBV_WC_SUCCESS) {
		if (!operation->source_reusable_ns.known)
			operation->source_reusable_ns = num(now);
		run_evidence(transfer->endpoint->run)->operations_completed.value++;
		if (operation->opcode == OP_READ)
			verify_read(transfer, request);
		stage_times_keep(transfer->times, request->serial, operation);
	} else {
		note_failure(transfer, request, wc, now);
	}
	request_ended(transfer, request, now);
}

void await_keep_unclaimed(struct transfer *transfer, bool taken)
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

/* To whom it belongs is told by wr_id and queue pair, whatever CQ it came from. */
static void dispatch(
        struct transfer *transfer, const struct wait *wait, const struct ibv_wc *wc, bool seen, struct num notified)
{
	struct evidence *evidence = run_evidence(transfer->endpoint->run);
	struct request *request = request_find(transfer, wc->wr_id, wc->qp_num);
	if (!request) {
		evidence->foreign_completions.value++;
		await_keep_unclaimed(transfer, true);
		return;
	}
	if (seen && !request->operation->cqe_arrived_ns.known) {
		request->operation->cqe_arrived_ns = evidence->last_poll_ns;
		request->operation->cqe_arrived_not_before_ns = num(wait->last);
	}
	if (notify_wanted(transfer)) {
		request->operation->notified_ns = notified;
		request->operation->found_unnotified = flag(!notified.known);
	}
	if (transfer->endpoint->run->deviation.loses_completions)
		evidence->completions_undelivered.value++;
	else
		take_completion(transfer, request, wc);
}

int await_poll(struct transfer *transfer, const struct wait *wait, bool seen, struct num notified)
{
	struct evidence *evidence = run_evidence(transfer->endpoint->run);
	for (uint32_t i = 0; i < transfer->endpoint->cq_count; i++) {
		/* A CQE with an opcode that the library does not know leaves it as it is. */
		struct ibv_wc wc = { 0 };
		evidence->last_poll_ns = num(run_now(transfer->endpoint->run));
		evidence->polls.value++;
		int count = ibv_poll_cq(transfer->endpoint->cqs[i], 1, &wc);
		if (count < 0)
			return -EIO;
		if (!count)
			continue;
		dispatch(transfer, wait, &wc, seen, notified);
		return 1;
	}
	return 0;
}

/* ---- waiting ---- */

int await_chores(struct transfer *transfer, struct wait *wait, int64_t now)
{
	struct probe_run *run = transfer->endpoint->run;
	wait->chore = now;
	if (transfer->meanwhile)
		transfer->meanwhile(transfer->data);
	endpoint_events(transfer->endpoint);
	if (run_stopped(run))
		return -EINTR;
	if (now >= wait->deadline) {
		run_evidence(run)->deadline_ns = num(now);
		return -ETIMEDOUT;
	}
	return 0;
}

/* A program that does not poll; the observer may see what it misses. */
static void watch_only(struct transfer *transfer, const struct wait *wait, bool there, int64_t now)
{
	struct request *oldest = request_oldest(transfer);
	if (!there || !oldest || oldest->operation->cqe_arrived_ns.known)
		return;
	oldest->operation->cqe_arrived_ns = num(now);
	oldest->operation->cqe_arrived_not_before_ns = num(wait->last);
}

/*
 * With an observer the CQE is seen before it is taken. When that takes long, the CQ is polled now and then all the
 * same, so that a wrong view can hide nothing.
 */
static int poll_turn(struct transfer *transfer, struct wait *wait)
{
	struct observer *observer = &transfer->endpoint->observer;
	bool observed = observer_works(observer);
	struct ring_view view = observed ? observer_sample(observer) : (struct ring_view){ 0 };
	if (view.unreadable) {
		observer_give_up(observer, "completions are compressed (mini CQEs), which is not read here");
		return 0;
	}
	bool there = view.completion;
	int64_t now = run_now(transfer->endpoint->run);
	bool due = now - wait->chore >= CHORE_NS, late = now - wait->start > PATIENCE_NS;
	int result = 0;
	if (transfer->endpoint->run->deviation.no_polling)
		watch_only(transfer, wait, there, now);
	else if (there || (due && late) || !observed)
		result = await_poll(transfer, wait, there, (struct num){ 0 });
	wait->last = now;
	if (result > 0)
		wait->start = now;
	if (result || !due)
		return result < 0 ? result : 0;
	result = await_chores(transfer, wait, now);
	if (!result && late)
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
	return result;
}

static bool goes_on(const struct transfer *transfer, bool all)
{
	/* A request that post refused breaks no queue pair: those before it go their way. */
	if (transfer->failed_ns)
		return transfer->open && run_now(transfer->endpoint->run) - transfer->failed_ns < FLUSH_NS;
	return all ? transfer->open : transfer->signaled_open;
}

int transfer_await(struct transfer *transfer, bool all)
{
	struct probe_run *run = transfer->endpoint->run;
	const struct request *oldest = request_oldest(transfer);
	int64_t timeout = run->document.request.timeout_ms.value * 1000000;
	int64_t start = oldest ? oldest->operation->post_call_ns.value : run_now(run);
	struct wait wait = { .start = start, .last = start, .chore = start, .deadline = start + timeout };
	uint32_t open = transfer->open;
	int result = 0;
	notify_begin(transfer);
	run_enter(run, "waiting for the completion", timeout / 1000000 + STEP_LIMIT_MS);
	while (!result && goes_on(transfer, all)) {
		result = notify_wanted(transfer) ? notify_turn(transfer, &wait) : poll_turn(transfer, &wait);
		if (transfer->open < open) {
			open = transfer->open;
			wait.deadline = run_now(run) + timeout;
			run_enter(run, "waiting for the completion", timeout / 1000000 + STEP_LIMIT_MS);
		}
	}
	run_leave(run);
	return transfer->failed ? -EIO : result;
}
