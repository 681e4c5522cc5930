/* SPDX-License-Identifier: MIT */
/* The traced operations of the initiator: post, watch the queues, take the completion, with the time of each stage. */
#ifndef RDMADIAG_PROBE_TRANSFER_H
#define RDMADIAG_PROBE_TRANSFER_H

#include "probe/endpoint.h"
#include "probe/layout.h"

struct stage_times; /* of one request, for the statistics */

struct transfer {
	struct endpoint *endpoint;
	const struct endpoint_facts *other;
	const struct layout *layout;
	/* Called between requests and now and then while waiting; for a target in this process. May be NULL. */
	void (*meanwhile)(void *data);
	void *data;
	/* state */
	uint32_t posted;           /* requests that ibv_post_send() took */
	struct stage_times *times; /* malloc'ed */
	uint32_t timed;
	struct operation *pending; /* posted, and no completion yet */
	struct operation *scratch; /* for requests that are not listed */
	uint32_t listed_after_failure;
	bool confirmed;      /* the observer saw a request of ours */
	uint32_t posted_end; /* the observer's `posted` behind the last request */
	bool calibrated;     /* the device was asked after a request that succeeded */
};

/*
 * Runs all requests, one after the other, until one fails. 0; a negative errno of ibv_post_send(); -EIO after a failed
 * completion; -ETIMEDOUT when there was none by the deadline; -EINTR when somebody asked for an end. What happened is
 * in the evidence.
 */
int transfer_run(struct transfer *transfer, struct endpoint *endpoint, const struct endpoint_facts *other,
        const struct layout *layout);

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

#endif
