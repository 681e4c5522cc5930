/* SPDX-License-Identifier: MIT */
/* What the parts of collecting ask of each other; everybody else takes collect.h. */
#ifndef RDMADIAG_SOURCE_COLLECT_PARTS_H
#define RDMADIAG_SOURCE_COLLECT_PARTS_H

#include "origin/worker.h"
#include "source/collect.h"

/* ---- collect_verbs.c ---- */

/* Asks the devices that the options name, and says of the others why not. */
void collect_ask_devices(struct origin *origin, struct host *host, const struct collect_options *options);

/* ---- collect_end.c ---- */

/* Calls that did not return, and the deadline of everything, into the report. */
void collect_report_losses(struct host *host, const struct worker_result *result);
/* Why there is no device: -ENODEV, or -ETIMEDOUT where that is not known. */
int collect_nothing_found(const struct host *host, const struct worker_result *result, struct error *error);

#endif
