/* SPDX-License-Identifier: MIT */
/* Findings for monitoring: one line in the form of the monitoring plug-ins, and the Prometheus text format. */
#ifndef RDMADIAG_RENDER_MONITOR_H
#define RDMADIAG_RENDER_MONITOR_H

#include "base/error.h"
#include "check/select.h"
#include "model/host.h"

#include <stdio.h>

/* The statuses of monitoring plug-ins. */
enum monitor_status { MONITOR_OK, MONITOR_WARNING, MONITOR_CRITICAL, MONITOR_UNKNOWN };

/*
 * `left_out`: findings that the options keep away. The text in front of "|" has less than 1,000 characters, since
 * schedulers and agents cut longer ones off.
 * "RDMA WARNING - 1 warning, 4 devices: mlx5_0/1: the port is DOWN… | errors=0 …"
 */
enum monitor_status monitor_print(
        FILE *stream, const struct host *host, const struct report *report, uint32_t left_out);
/* For a host of which nothing could be collected. */
enum monitor_status monitor_print_unknown(FILE *stream, const char *reason);

/*
 * Writes the metrics beside `path` and renames them into place, so that a collector never reads half a file. 0 or
 * negative errno with `error`.
 */
int prometheus_write(const char *path, const struct host *host, const struct report *report, struct error *error);

#endif
