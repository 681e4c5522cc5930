/* SPDX-License-Identifier: MIT */
/* Findings, and what could not be collected, as text below a table. */
#ifndef RDMADIAG_RENDER_REPORT_TEXT_H
#define RDMADIAG_RENDER_REPORT_TEXT_H

#include "model/report.h"

#include <stdbool.h>
#include <stdio.h>

/* The worst first; within a severity in the order they were found. */
/* How many lines of findings there were: what is said of several objects stands in one. */
uint32_t report_print_findings(const struct report *report, FILE *stream, bool color);
/* One line for each reason, with the subjects it holds for. */
void report_print_not_collected(const struct report *report, FILE *stream);

#endif
