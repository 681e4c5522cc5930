/* SPDX-License-Identifier: MIT */
/* How checks add findings: severity from the table of kinds, each (id, subject) once. */
#ifndef RDMADIAG_CHECK_ADD_H
#define RDMADIAG_CHECK_ADD_H

#include "model/report.h"

/* NULL when it is there already, or without memory: report_evidence() and report_advice() accept that. */
__attribute__((format(printf, 4, 5))) struct finding *check_add(
        struct report *report, const char *id, const char *subject, const char *message, ...);

/* A clause as a sentence, for an advice; NULL stays NULL, and comes without memory. */
const char *check_sentence(struct report *report, const char *clause);

#endif
