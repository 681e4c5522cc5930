/* SPDX-License-Identifier: MIT */
/*
 * The files "errors" and "names" of a snapshot: what a file system cannot hold. They may have a line for each empty
 * slot of each GID table, so the lines stay in their file and only where those of a directory stand is remembered,
 * until that directory is entered.
 */
#ifndef RDMADIAG_ORIGIN_REMARKS_H
#define RDMADIAG_ORIGIN_REMARKS_H

#include "base/error.h"
#include "origin/tree.h"

#include <stdio.h>

/* One of the two files; remarks_close() closes it. */
struct remarks_file {
	struct tree *tree;
	FILE *stream;
	const char *path, *name; /* of the snapshot, and of the file in it, for messages */
	bool errors;             /* "ERRNO PATH" instead of "PATH" */
};

/* Checks every line and notes which directory it belongs to. 0 or negative errno with `error`. */
int remarks_read(struct remarks_file *file, struct error *error);
/* Applies what was noted of `directory`, whose names are in the tree now. 0 or negative errno. */
int remarks_apply(struct node *directory);

#endif
