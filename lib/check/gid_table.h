/* SPDX-License-Identifier: MIT */
/* Findings on the GID table of one port; part of check/gid.h. */
#ifndef RDMADIAG_CHECK_GID_TABLE_H
#define RDMADIAG_CHECK_GID_TABLE_H

#include "gid/choose.h"

struct table_check {
	struct host *host;
	struct report *report;
	struct gid_port port;
	bool others_work; /* a port has a GID that may be used here */
	char subject[GID_SUBJECT_SIZE];
};

/* Is there an entry that may be used in this namespace? */
bool gid_table_is_usable(const struct gid_port *port);
void check_gid_table(const struct table_check *check);

#endif
