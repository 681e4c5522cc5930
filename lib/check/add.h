/* SPDX-License-Identifier: MIT */
/* What checks have in common; how they add findings: severity from the table of kinds, each (id, subject) once. */
#ifndef RDMADIAG_CHECK_ADD_H
#define RDMADIAG_CHECK_ADD_H

#include "model/report.h"

/* NULL when it is there already, or without memory: report_evidence() and report_advice() accept that. */
__attribute__((format(printf, 4, 5))) struct finding *check_add(
        struct report *report, const char *id, const char *subject, const char *message, ...);

/* Are most of a port and its equals apart from it? It counts too: of two equal halves (rails, storage) none is wrong.
 */
bool check_most_are_apart(uint32_t apart, uint32_t others);

/* A clause as a sentence, for an advice; NULL stays NULL, and comes without memory. */
const char *check_sentence(struct report *report, const char *clause);

#endif
