/* SPDX-License-Identifier: MIT */
/* The private directory in which a report is put together; nothing of it stays. */
#ifndef RDMADIAG_REPORT_STAGING_H
#define RDMADIAG_REPORT_STAGING_H

#include "base/error.h"

#include <limits.h>

struct staging {
	char path[PATH_MAX - 128]; /* empty: none */
	int lock;                  /* of the directory: who has it locked lives */
};

/*
 * Makes it below TMPDIR, or where that is not set below /tmp, /var/tmp or /dev/shm, for its owner only, and removes
 * those that a killed process left there. 0 or negative errno with `error`.
 */
int staging_new(struct staging *staging, struct error *error);
/* "PATH/name" in memory of the caller. */
void staging_path(const struct staging *staging, const char *name, char path[static PATH_MAX]);
/* Removes it with all that is in it. */
void staging_remove(struct staging *staging);

#endif
