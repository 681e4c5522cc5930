/* SPDX-License-Identifier: MIT */
/* A loopback probe of each port that is up, for `check --probe`. */
#ifndef RDMADIAG_CMD_CHECK_PROBE_H
#define RDMADIAG_CMD_CHECK_PROBE_H

#include "base/error.h"
#include "model/host.h"

/*
 * Runs them one after the other, each in a process of its own. A probe that does not end well is a finding in
 * host->report, one that could not be made an entry of what is not known. 0, or -EINTR after a signal, or another
 * negative errno with `error` when nothing can be tried.
 */
int check_probe_ports(struct host *host, struct error *error);

#endif
