/* SPDX-License-Identifier: MIT */
/*
 * The files of a snapshot by name: directories, files, and symbolic links that are resolved here and never by the
 * kernel, so that no link of a foreign snapshot can leave it. Contents are in memory or left where they are.
 */
#ifndef RDMADIAG_ORIGIN_TREE_H
#define RDMADIAG_ORIGIN_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum node_kind {
	NODE_NAME, /* only the name is known: listed, but neither read nor entered when the snapshot was made */
	NODE_DIRECTORY,
	NODE_FILE,
	NODE_LINK,
};

struct node {
	const char *name; /* "" for the root */
	struct node *parent, *next, *children;
	enum node_kind kind;
	/*
	 * Positive errno that reading or entering it answers, 0: none. With ETIMEDOUT, what was read below it before
	 * is there all the same.
	 */
	int error;
	const char *data; /* of a file: contents, NULL: not in memory; of a link: its target */
	size_t length;
	bool unread;             /* a directory whose names were not read yet, see tree_open() */
	struct remarks *remarks; /* of an unread directory: what the snapshot says of its names, see remarks.h */
};

struct tree;

/* Adds the names below a directory. 0 or negative errno. */
typedef int tree_read(void *context, struct node *directory);

/* What a snapshot may hold at most. */
enum { TREE_ENTRY_LIMIT = 1 << 20, TREE_DEPTH_LIMIT = 64 };

/* `size` bounds everything that is kept in memory. NULL without memory. */
struct tree *tree_new(size_t size);
void tree_free(struct tree *tree);
struct node *tree_root(const struct tree *tree);
/* The root and directories that are added by tree_add() as unread are read by `read` when they are entered. */
void tree_read_by(struct tree *tree, tree_read *read, void *context);
/* Reads the names of a directory where that was not done yet. 0 or negative errno, the same at each call. */
int tree_open(const struct tree *tree, struct node *directory);
/* Makes `node`, a directory, the root. */
void tree_set_root(struct tree *tree, struct node *node);

/* Memory that lives as long as the tree; NULL beyond its size. */
void *tree_alloc(struct tree *tree, size_t size);

/* The child of that name (no "/" in it) of a directory that was opened, NULL: none. */
struct node *tree_child(const struct tree *tree, const struct node *parent, const char *name, size_t length);
/* Adds a child that is not there yet. NULL beyond the limits. */
struct node *tree_add(struct tree *tree, struct node *parent, enum node_kind kind, const char *name, size_t length);
/*
 * The node at `path`, made with its directories where missing. -ENOTDIR where a file or link is in the way, -EINVAL for
 * paths with "..", -ENOSPC beyond the limits. Links are followed only with `follow`.
 */
int tree_make(struct tree *tree, const char *path, enum node_kind kind, bool follow, struct node **made);

/*
 * The node behind `path` with links resolved, the last one only with `follow`. 0 or negative errno: ENOENT, ENOTDIR,
 * ELOOP, or the error of a directory on the way.
 */
int tree_find(const struct tree *tree, const char *path, bool follow, struct node **found);

/* The path of a node below the root, without a leading slash. Its length, or -ENAMETOOLONG. */
int tree_path(const struct tree *tree, const struct node *node, char *buffer, size_t size);

#endif
