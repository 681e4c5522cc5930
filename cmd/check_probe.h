/* SPDX-License-Identifier: MIT */
/* What loopback probes say, for `check`: of each port that is up (--probe), or those that a report holds. */
#ifndef RDMADIAG_CMD_CHECK_PROBE_H
#define RDMADIAG_CMD_CHECK_PROBE_H

#include "base/error.h"
#include "model/host.h"
#include "origin/origin.h"

struct ports_probed {
	uint32_t up;   /* ports that are up, or whose probes are in the report */
	uint32_t done; /* those whose probe gave a verdict */
};

/*
 * Runs them one after the other, each in a process of its own. A probe that does not end well is a finding in
 * host->report, one that could not be made an entry of what is not known. 0, or -EINTR after a signal.
 */
int check_probe_ports(struct host *host, struct ports_probed *probed);

/*
 * The same of those in a report: `origin` is that report, or they are files in `directory`. `report` is what the advice
 * calls it.
 */
void check_recorded_probes(struct host *host, struct origin *origin, const char *directory, const char *report,
        struct ports_probed *probed);

#endif
