/* SPDX-License-Identifier: MIT */
/* The records of outstanding requests, and what a completion says about those before it. */
#include "probe/target.h"
#include "probe/transfer.h"

enum {
	LISTED_FIRST = 64, /* operations in the document */
	LISTED_AFTER = 16, /* and those behind the first that failed */
};

struct request *request_begin(struct transfer *transfer, uint32_t serial)
{
	struct probe_run *run = transfer->endpoint->run;
	struct evidence *evidence = run_evidence(run);
	struct request *request = request_at(transfer, serial);
	bool listed = evidence->operations.count < LISTED_FIRST;
	*request = (struct request){ .serial = serial };
	request->operation = listed ? list_add(run->arena, &evidence->operations) : &request->own;
	if (!request->operation)
		return NULL;
	*request->operation = (struct operation){ 0 };
	return request;
}

void request_list(struct transfer *transfer, struct request *request)
{
	struct probe_run *run = transfer->endpoint->run;
	bool first = !transfer->failed;
	if (request->operation != &request->own || (!first && transfer->listed_after_failure >= LISTED_AFTER))
		return;
	struct operation *kept = list_add(run->arena, &run_evidence(run)->operations);
	if (!kept)
		return;
	*kept = request->own;
	request->operation = kept;
	transfer->listed_after_failure += !first;
}

void request_posted(struct transfer *transfer, struct request *request)
{
	struct lane *lane = &transfer->lanes[layout_lane(transfer->layout, request->serial)];
	request->open = true;
	if (!lane->open++)
		lane->oldest = request->serial;
	transfer->open++;
	transfer->signaled_open += request->signaled;
	transfer->posted++;
	run_evidence(transfer->endpoint->run)->operations_posted.value++;
}

struct request *request_find(struct transfer *transfer, uint64_t wr_id, uint32_t qp_num)
{
	if (!wr_id || wr_id > layout_total(transfer->layout))
		return NULL;
	uint32_t serial = (uint32_t)(wr_id - 1);
	struct request *request = request_at(transfer, serial);
	const struct ibv_qp *qp = transfer->endpoint->qps[layout_lane(transfer->layout, serial)];
	return request->open && request->serial == serial && qp->qp_num == qp_num ? request : NULL;
}

static void close_request(struct transfer *transfer, struct request *request)
{
	request->open = false;
	transfer->open--;
	transfer->signaled_open -= request->signaled;
	transfer->lanes[layout_lane(transfer->layout, request->serial)].open--;
}

/*
 * Requests of a queue pair end in order, and one that fails says so whether or not it was asked to. So what has not
 * spoken when a later one does has succeeded.
 */
static void reclaim(struct transfer *transfer, struct request *request, int64_t now)
{
	struct operation *operation = request->operation;
	operation->reclaimed_ns = num(now);
	if (!operation->source_reusable_ns.known)
		operation->source_reusable_ns = num(now);
	run_evidence(transfer->endpoint->run)->operations_reclaimed.value++;
	close_request(transfer, request);
}

void request_ended(struct transfer *transfer, struct request *request, int64_t now)
{
	struct lane *lane = &transfer->lanes[layout_lane(transfer->layout, request->serial)];
	uint32_t serial = lane->oldest;
	while (serial < request->serial) {
		struct request *earlier = request_at(transfer, serial);
		if (earlier->open && earlier->serial == serial)
			reclaim(transfer, earlier, now);
		serial = layout_next_on_lane(transfer->layout, serial);
	}
	close_request(transfer, request);
	lane->oldest = layout_next_on_lane(transfer->layout, request->serial);
}

struct request *request_oldest(struct transfer *transfer)
{
	struct request *oldest = NULL;
	for (uint32_t i = 0; i < transfer->endpoint->qp_count; i++) {
		struct lane *lane = &transfer->lanes[i];
		if (lane->open && (!oldest || lane->oldest < oldest->serial))
			oldest = request_at(transfer, lane->oldest);
	}
	return oldest;
}
