/* SPDX-License-Identifier: MIT */
/* The traced operations of the initiator: post, watch the queues, take the completions, with the time of each stage. */
#ifndef RDMADIAG_PROBE_TRANSFER_H
#define RDMADIAG_PROBE_TRANSFER_H

#include "probe/endpoint.h"
#include "probe/layout.h"
#include "probe/post.h"

struct stage_times; /* of one request, for the statistics */

/* A request from post until its end is known: a completion of its own, or that of a later one of the same lane. */
struct request {
	uint32_t serial;
	bool open, signaled;
	struct operation *operation; /* a listed one, or `own` */
	struct operation own;
};

/* One queue pair. */
struct lane {
	uint32_t open;
	uint32_t oldest;     /* serial of the first open one */
	uint32_t unsignaled; /* posted since the last signaled one */
};

/* From the first post of a size to its last completion. */
struct span {
	struct num begin, end;
};

struct transfer {
	struct endpoint *endpoint;
	const struct endpoint_facts *other;
	const struct layout *layout;
	/* Called between requests and now and then while waiting; for a target in this process. May be NULL. */
	void (*meanwhile)(void *data);
	void *data;
	/* state */
	uint32_t posted;           /* requests that were posted */
	struct stage_times *times; /* malloc'ed, one for each request */
	struct request *requests;  /* malloc'ed, by serial modulo capacity */
	uint32_t capacity;
	uint32_t open, signaled_open;
	struct lane lanes[PROBE_QPS_LIMIT];
	struct post_chain chain;
	struct span spans[LAYOUT_SERIES_LIMIT]; /* of each size */
	struct operation *failed;               /* the first that came to a bad end */
	int64_t failed_ns;                      /* when the first completion with an error was taken */
	uint32_t listed_after_failure;
	bool armed[CQS_LIMIT]; /* by event: armed, and no event since */
	bool confirmed;        /* the observer saw a request of ours */
	uint32_t posted_end;   /* the observer's `posted` behind the last request */
	bool calibrated;       /* the device was asked after a request that succeeded */
};

/*
 * Runs all requests until one fails. 0; a negative errno of the post; -EIO after a failed completion; -ETIMEDOUT when
 * there was none by the deadline; -EINTR when somebody asked for an end. What happened is in the evidence.
 */
int transfer_run(struct transfer *transfer, struct endpoint *endpoint, const struct endpoint_facts *other,
        const struct layout *layout);

/* The request that ended the run: it failed, or its end was not seen; NULL: none did. */
const struct operation *transfer_last(struct transfer *transfer);

/* Asks the device about a request that has not ended; twice, an ACK timeout apart. */
void transfer_inspect(struct transfer *transfer, bool first);
/* Looks into the CQ once more: a completion may have come while the other evidence was gathered. */
void transfer_look_again(struct transfer *transfer);
/* Statistics over all requests into the evidence, and the memory back. */
void transfer_finish(struct transfer *transfer);

/*
 * Makes the last request once more, which must have succeeded, into a record of its own. What is counted goes to the
 * run of the endpoint. 0, or a negative errno when it did not succeed.
 */
int transfer_repeat(struct transfer *transfer, struct operation *operation);

/* ---- requests.c ---- */

/* Begins the record of a request; the one that had its place has ended. NULL without memory. */
struct request *request_begin(struct transfer *transfer, uint32_t serial);
void request_posted(struct transfer *transfer, struct request *request);
/* The open request that a completion of this wr_id and queue pair belongs to; NULL: none. */
struct request *request_find(struct transfer *transfer, uint64_t wr_id, uint32_t qp_num);
/* It has ended by itself; those before it on its lane, which asked for no completion, have ended with it. */
void request_ended(struct transfer *transfer, struct request *request, int64_t now);
/* The first open one; NULL: all have ended. */
struct request *request_oldest(struct transfer *transfer);
/* The first that fails is listed wherever it stands, and some of those after it. */
void request_list(struct transfer *transfer, struct request *request);
static inline struct request *request_at(struct transfer *transfer, uint32_t serial)
{
	return &transfer->requests[serial % transfer->capacity];
}

/* ---- await.c: 0, or -EIO, -ETIMEDOUT, -EINTR as above ---- */

/* Until no signaled request is open; `all`: none at all. */
int transfer_await(struct transfer *transfer, bool all);

/* When a wait began, was last looked at, last did its chores, and is over. */
struct wait {
	int64_t start, last, chore, deadline;
};
/* One look into all CQs; takes at most one completion. 1 when there was one, 0, or negative errno. */
int await_poll(struct transfer *transfer, const struct wait *wait, bool seen, struct num notified);
/* What no request claims is kept as it lies in memory, as far as that can be read. */
void await_keep_unclaimed(struct transfer *transfer, bool taken);
/* What costs more than a look. 0, -EINTR or -ETIMEDOUT. */
int await_chores(struct transfer *transfer, struct wait *wait, int64_t now);

/* ---- notify.c ---- */

bool notify_wanted(const struct transfer *transfer);
/* One turn of waiting for an event. 0 or negative errno. */
int notify_turn(struct transfer *transfer, struct wait *wait);
/* A wait begins. */
void notify_begin(struct transfer *transfer);

#endif
