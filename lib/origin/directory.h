/* SPDX-License-Identifier: MIT */
/*
 * The files of a snapshot in a directory: names come into the tree when a directory is entered, contents stay where
 * they are. A machine of a thousand functions has some hundred thousand files, and a command looks at few of them.
 */
#ifndef RDMADIAG_ORIGIN_DIRECTORY_H
#define RDMADIAG_ORIGIN_DIRECTORY_H

#include "base/error.h"
#include "origin/tree.h"

struct directory {
	struct tree *tree;   /* the caller's */
	int fd;              /* of the root; the caller's. -1: there is no directory */
	const char *path;    /* the caller's, for messages */
	struct error damage; /* the first thing that was wrong; code 0: nothing */
};

/* Adds the names below `node` to the tree: the tree_read of a struct directory. */
int directory_read(void *directory, struct node *node);
/* A descriptor of the file that `node` stands for, or negative errno; -EINVAL: it is no regular file. */
int directory_open(const struct directory *directory, const struct node *node);

#endif
