/* SPDX-License-Identifier: MIT */
/*
 * Nothing that the kernel does to one device stops a command: collecting runs in a forked worker that fills memory
 * shared with its parent, and announces each call that may block (struct watch).
 *
 * A process in uninterruptible sleep can be neither killed nor waited for, a thread in it would keep this whole process
 * from ending. So at the deadline of a call the parent sends SIGKILL, does not wait, and starts another worker that
 * does not make that call. The job begins anew each time; what was answered before is answered again.
 */
#ifndef RDMADIAG_ORIGIN_WORKER_H
#define RDMADIAG_ORIGIN_WORKER_H

#include "base/arena.h"
#include "base/error.h"
#include "origin/origin.h"

struct worker_job {
	struct origin *origin;
	struct arena *arena; /* all that `run` leaves lies here */
	void *data;
	/* In the parent, before each worker: `data` as it was at first. May be NULL. */
	void (*reset)(void *data);
	/* In the worker. */
	int (*run)(struct origin *origin, void *data, struct error *error);
	unsigned int overall_ms; /* 0: the usual deadline of everything */
};

/* A call that was given up, or during which the worker ended. */
struct worker_loss {
	struct watch watch;
	unsigned int waited_ms; /* 0: it ended */
	int signal;             /* that it died of; 0: it was given up, or a library called exit(3) */
	int exit_status;        /* where it has no signal and was not given up */
};

struct worker_result {
	LIST(struct worker_loss) losses;
	unsigned int overall_ms; /* the overall deadline, when that ended it; else 0 */
	unsigned int workers;    /* started */
	int interrupted;         /* the signal: SIGINT or SIGTERM */
};

/*
 * Runs the job; in this process when the origin is a snapshot. Deadlines: RDMADIAG_CALL_TIMEOUT_MS and
 * RDMADIAG_TIMEOUT_MS in the environment, else 2 s and job->overall_ms. After the first loss the others get less time.
 * Returns what `run` returned with `error` filled by it, -EINTR after a signal, -ETIMEDOUT after the overall deadline,
 * or the error of fork(2).
 */
int worker_run(const struct worker_job *job, struct worker_result *result, struct error *error);

/* The deadline of everything: what the environment says, else `otherwise`, else 20 s. */
unsigned int worker_overall_ms(unsigned int otherwise);

#endif
