/* SPDX-License-Identifier: MIT */
/* Probes that others ran: the document of --judge, and the probes that a report holds. */
#ifndef RDMADIAG_PROBE_RECORDED_H
#define RDMADIAG_PROBE_RECORDED_H

#include "probe_arguments.h"

/* Judges and prints it; an exit status. */
int probe_judge_recorded(const struct probe_arguments *arguments, const struct common_options *common);

#endif
