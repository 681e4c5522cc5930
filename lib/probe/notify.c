/* SPDX-License-Identifier: MIT */
/*
 * Waiting for completions by event. A CQ raises one event for each arming, and on many devices none for what lies in it
 * already. So the queue is armed first and polled once more before the sleep; after an event it is armed again before
 * it is drained. An event that finds nothing is spurious: the poll after the arming had taken its completion.
 */
#include "probe/transfer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

enum { SLICE_MS = 1 };

bool notify_wanted(const struct transfer *transfer)
{
	return transfer->endpoint->channel;
}

static struct notification_facts *facts_of(const struct transfer *transfer)
{
	return run_evidence(transfer->endpoint->run)->notification;
}

void notify_begin(struct transfer *transfer)
{
	struct probe_run *run = transfer->endpoint->run;
	struct evidence *evidence = run_evidence(run);
	if (!notify_wanted(transfer))
		return;
	if (!evidence->notification) {
		evidence->notification = arena_new_object(run->arena, struct notification_facts);
		if (!evidence->notification)
			return;
		*evidence->notification = (struct notification_facts){
			.events = num(0), .acked = num(0), .spurious = num(0), .armings = num(0)
		};
		evidence->notification->solicited_only = flag(run->deviation.solicited_only);
	}
	evidence->notification->delivered = FLAG_NO;
}

static int arm(struct transfer *transfer)
{
	struct probe_run *run = transfer->endpoint->run;
	for (uint32_t i = 0; i < transfer->endpoint->cq_count; i++) {
		if (transfer->armed[i])
			continue;
		int error = ibv_req_notify_cq(transfer->endpoint->cqs[i], run->deviation.solicited_only);
		if (error)
			return -error;
		transfer->armed[i] = true;
		facts_of(transfer)->armed_ns = num(run_now(run));
		facts_of(transfer)->armings.value++;
	}
	return 0;
}

static bool is_armed(const struct transfer *transfer)
{
	for (uint32_t i = 0; i < transfer->endpoint->cq_count; i++)
		if (!transfer->armed[i])
			return false;
	return true;
}

/* Takes all that is there. The number of completions, or negative errno. */
static int drain(struct transfer *transfer, struct wait *wait, struct num notified)
{
	int taken = 0, result;
	do {
		const struct observer *observer = &transfer->endpoint->observer;
		bool seen = observer_works(observer) && observer_sample(observer).completion;
		result = await_poll(transfer, wait, seen, notified);
		taken += result > 0;
	} while (result > 0);
	wait->last = run_now(transfer->endpoint->run);
	return result < 0 ? result : taken;
}

/* The program sleeps; whoever observes sees when the completion came. */
static void look(struct transfer *transfer, struct wait *wait, int64_t now)
{
	const struct observer *observer = &transfer->endpoint->observer;
	struct request *oldest = request_oldest(transfer);
	bool there = observer_works(observer) && observer_sample(observer).completion;
	if (there && oldest && !oldest->operation->cqe_arrived_ns.known) {
		oldest->operation->cqe_arrived_ns = num(now);
		oldest->operation->cqe_arrived_not_before_ns = num(wait->last);
	}
	if (!there)
		wait->last = now;
}

/* Until the completion is there for sure, so that arming comes too late. */
static void let_it_arrive(struct transfer *transfer, struct wait *wait)
{
	enum { LONG_ENOUGH_NS = 200000000, SLICE_NS = 1000000 };
	const struct observer *observer = &transfer->endpoint->observer;
	while (run_now(transfer->endpoint->run) - wait->start < LONG_ENOUGH_NS) {
		look(transfer, wait, run_now(transfer->endpoint->run));
		if (observer_works(observer) && observer_sample(observer).completion)
			return;
		if (transfer->meanwhile)
			transfer->meanwhile(transfer->data);
		nanosleep(&(struct timespec){ .tv_nsec = SLICE_NS }, NULL);
	}
}

/* 0, or negative errno. What was there already is taken, but by a program that forgets to look. */
static int prepare(struct transfer *transfer, struct wait *wait)
{
	bool late = transfer->endpoint->run->deviation.arms_late;
	if (late)
		let_it_arrive(transfer, wait);
	int result = arm(transfer);
	if (result)
		return result;
	facts_of(transfer)->armed = flag(!late);
	if (late)
		return 0;
	result = drain(transfer, wait, (struct num){ 0 });
	return result < 0 ? result : 0;
}

/* All events that are there. Their number, or negative errno. */
static int take_events(struct transfer *transfer)
{
	struct endpoint *endpoint = transfer->endpoint;
	struct notification_facts *facts = facts_of(transfer);
	struct ibv_cq *cq;
	void *context;
	int count = 0;
	while (!ibv_get_cq_event(endpoint->channel, &cq, &context)) {
		count++;
		facts->events.value++;
		if (!endpoint->run->deviation.never_acks) {
			ibv_ack_cq_events(cq, 1);
			facts->acked.value++;
		}
		for (uint32_t i = 0; i < endpoint->cq_count; i++)
			if (endpoint->cqs[i] == cq)
				transfer->armed[i] = false;
	}
	return count;
}

static int handle_events(struct transfer *transfer, struct wait *wait)
{
	struct notification_facts *facts = facts_of(transfer);
	struct num notified = num(run_now(transfer->endpoint->run));
	if (!take_events(transfer))
		return 0;
	facts->delivered = FLAG_YES;
	facts->delivered_ns = notified;
	int result = transfer->endpoint->run->deviation.arms_late ? 0 : arm(transfer);
	int taken = result ? result : drain(transfer, wait, notified);
	facts->spurious.value += !taken;
	return taken < 0 ? taken : 0;
}

int notify_turn(struct transfer *transfer, struct wait *wait)
{
	struct pollfd entry = { .fd = transfer->endpoint->channel->fd, .events = POLLIN };
	if (!facts_of(transfer))
		return -ENOMEM;
	if (!is_armed(transfer)) {
		uint32_t open = transfer->open;
		int result = prepare(transfer, wait);
		if (result || transfer->open < open)
			return result;
	}
	int ready = poll(&entry, 1, SLICE_MS);
	/* A sandbox may refuse the call; the channel can be read without waiting all the same. */
	if (ready < 0 && errno != EINTR)
		nanosleep(&(struct timespec){ .tv_nsec = SLICE_MS * 1000000 }, NULL);
	int result = ready ? handle_events(transfer, wait) : 0;
	if (ready > 0 || result)
		return result;
	int64_t now = run_now(transfer->endpoint->run);
	look(transfer, wait, now);
	return await_chores(transfer, wait, now);
}
