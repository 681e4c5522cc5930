/* SPDX-License-Identifier: MIT */
/* How checks add findings: each (id, subject) once. Every id is explained in findings.c. */
#ifndef RDMADIAG_CHECK_ADD_H
#define RDMADIAG_CHECK_ADD_H

#include "model/report.h"

/* NULL when it is there already, or without memory: report_evidence() and report_advice() accept that. */
__attribute__((format(printf, 5, 6))) struct finding *check_add(
        struct report *report, const char *id, enum severity severity, const char *subject, const char *message, ...);

#endif
