/* SPDX-License-Identifier: MIT */
/* What ran where: for the document of a report. */
#ifndef RDMADIAG_REPORT_VERSIONS_H
#define RDMADIAG_REPORT_VERSIONS_H

#include "base/arena.h"
#include "model/record.h"
#include "model/report.h"

struct versions {
	const char *rdmadiag;
	const char *kernel, *architecture;
	const char *distribution; /* PRETTY_NAME of os-release */
	const char *libibverbs;   /* of the file that is loaded: 1.14.44.0 */
	const char *rdma_core;    /* 44.0, which is in that number */
	const char *libmlx5, *librdmacm;
};

/* Of this process and host; what is not known is NULL, and `report` says why. */
void versions_read(struct arena *arena, struct versions *versions, struct report *report);
/* Names in `report` whatever is not known, as far as it does not yet. */
void versions_explain(const struct versions *versions, const char *reason, struct report *report);

extern const struct record versions_record;

#endif
