/* SPDX-License-Identifier: MIT */
/* Makes a snapshot: collecting everything that the commands read while a recorder writes it down. */
#ifndef RDMADIAG_REPORT_RECORD_H
#define RDMADIAG_REPORT_RECORD_H

#include "base/error.h"
#include "model/host.h"
#include "origin/origin.h"

/* What no snapshot holds, besides what could not be read; ended by NULL. */
extern const char *const record_never_holds[];

/* The two ways in which it may go wrong. */
struct record_result {
	struct error collecting; /* -ENODEV: there is no RDMA device, and that is what was recorded */
	struct error writing;    /* the snapshot is not complete */
};

struct record_options {
	unsigned int overall_ms; /* deadline, 0: the usual one */
	bool cuda;               /* libcuda is asked too: it may take seconds, and wakes GPUs */
};

/* What is left out where libcuda is not asked. */
extern const char record_without_cuda[];

/*
 * Asks `origin`, which records (origin_record()), for everything; `host` is filled as well. 0 or the negative errno of
 * one of the two results.
 */
int record_snapshot(
        struct origin *origin, struct host *host, const struct record_options *options, struct record_result *result);

#endif
