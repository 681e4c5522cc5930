/* SPDX-License-Identifier: MIT */
/* Every kind of finding: the manual and `explain` speak from this table. */
#ifndef RDMADIAG_CHECK_FINDINGS_H
#define RDMADIAG_CHECK_FINDINGS_H

#include "model/report.h"

#include <stddef.h>

struct finding_kind {
	const char *id;
	enum severity severity; /* the usual one */
	const char *meaning;    /* one line */
	const char *otherwise;  /* which other severity it may have, and when; NULL: always the usual one */
};

extern const struct finding_kind finding_kinds[];
extern const size_t finding_kind_count;

/* NULL: there is no such id. */
const struct finding_kind *finding_kind(const char *id);

#endif
