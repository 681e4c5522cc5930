/* SPDX-License-Identifier: MIT */
/* Which findings `check` shows, and in which order. */
#ifndef RDMADIAG_CHECK_SELECT_H
#define RDMADIAG_CHECK_SELECT_H

#include "base/error.h"
#include "model/report.h"

struct finding_filter {
	struct strings only;        /* ids; empty: all */
	struct strings ignore;      /* ids */
	struct strings expect_down; /* DEV/PORT: findings that say this port is down are dropped */
	struct strings unused;      /* those of them that are down, and their netdevs: so are what follows from that */
	enum severity threshold;    /* milder ones are dropped */
};

struct finding_counts {
	struct num errors, warnings, infos;
};

/* Splits "a,b,c" and adds each id. -EINVAL with `error` for an id that is in no table, -ENOMEM. */
int filter_add_ids(struct arena *arena, struct strings *ids, const char *list, struct error *error);

/* Drops what the filter drops and sorts the rest: worst first, then by subject and id. How many were dropped. */
uint32_t findings_select(struct report *report, const struct finding_filter *filter);

/* The document of `check` is struct finding_counts in the envelope with the findings. */
extern const struct record finding_counts_record;
struct finding_counts findings_count(const struct report *report);

#endif
