/* SPDX-License-Identifier: MIT */
/* What only `check` looks at: settings that ought to agree with each other, and counters that rise while it waits. */
#ifndef RDMADIAG_CHECK_AGREEMENT_H
#define RDMADIAG_CHECK_AGREEMENT_H

#include "model/host.h"
#include "origin/origin.h"

/* MTUs of ports, netdevs and bond members; firmware of equal adapters. */
void check_agreement(const struct host *host, struct report *report);

/* Counters of ports that tell of errors, retries or congestion, and how often a netdev lost its carrier. */
struct counter_reading {
	const char *subject; /* DEV/PORT */
	const char *source;  /* the file */
	const char *name;
	int64_t value;
};
struct counter_readings {
	LIST(struct counter_reading) items;
};

/* Reads them all into memory of host->arena; what a port does not offer is not in it. 0 or -ENOMEM. */
int counters_read(struct origin *origin, struct host *host, struct counter_readings *readings);

/* Findings about counters that rose from `before` to `after`, and ports whose state changed. */
void check_rising(const struct host *before, const struct counter_readings *first, const struct host *after,
        const struct counter_readings *second, double seconds, struct report *report);

#endif
