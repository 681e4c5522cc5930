/* SPDX-License-Identifier: MIT */
/* What check looks at, and what it finds there. */
#ifndef RDMADIAG_CMD_CHECK_LOOK_H
#define RDMADIAG_CMD_CHECK_LOOK_H

#include "check_probe.h"
#include "cmd.h"

#include "check/select.h"
#include "source/collect.h"

struct check_request {
	struct finding_filter filter;
	bool nagios, probe;
	const char *prom;
	double interval; /* seconds, 0: none */
	struct wanted_ports wanted;
};

/* What was looked at beyond the state of this moment. */
struct check_watched {
	uint32_t counters;
	struct ports_probed probed;
	uint32_t left_out; /* findings that the options keep out of the list */
};

/*
 * Collects the host and everything that is judged, with counters a second time after the interval, and adds all
 * findings to its report. 0, -EINTR: interrupted, and the findings are of what was seen; another negative errno:
 * `error` says why.
 */
int check_collect(struct check_request *request, const struct common_options *common, struct origin *origin,
        struct host *host, struct check_watched *seen, struct error *error);

#endif
