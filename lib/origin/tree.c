/* SPDX-License-Identifier: MIT */
#include "origin/tree.h"

#include "base/arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* As many links in one path as the kernel follows (MAXSYMLINKS in include/linux/namei.h). */
enum { LINK_LIMIT = 40, TABLE_START = 1 << 10 };

struct tree {
	struct arena *arena;
	struct node *root;
	struct node **table; /* open addressing by parent and name; its size is a power of two */
	size_t table_size, count;
	tree_read *read; /* NULL: there is nothing unread */
	void *context;
};

struct tree *tree_new(size_t size)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	if (!tree)
		return NULL;
	tree->arena = arena_new(size);
	tree->table = calloc(TABLE_START, sizeof(struct node *));
	tree->root = tree->arena ? arena_new_object(tree->arena, struct node) : NULL;
	if (!tree->table || !tree->root) {
		tree_free(tree);
		return NULL;
	}
	tree->table_size = TABLE_START;
	*tree->root = (struct node){ .name = "", .kind = NODE_DIRECTORY };
	return tree;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	arena_free(tree->arena);
	free(tree->table);
	free(tree);
}

struct node *tree_root(const struct tree *tree)
{
	return tree->root;
}

void tree_read_by(struct tree *tree, tree_read *read, void *context)
{
	tree->read = read;
	tree->context = context;
	tree->root->unread = true;
}

int tree_open(const struct tree *tree, struct node *directory)
{
	if (!directory->unread)
		return 0;
	directory->unread = false; /* first: reading may look at it again */
	int result = tree->read(tree->context, directory);
	if (result)
		directory->error = -result;
	return result;
}

void tree_set_root(struct tree *tree, struct node *node)
{
	tree->root = node;
}

void *tree_alloc(struct tree *tree, size_t size)
{
	return arena_alloc(tree->arena, size);
}

/* ---- by parent and name ---- */

static size_t hash(const struct node *parent, const char *name, size_t length)
{
	uint64_t value = (uint64_t)(uintptr_t)parent * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < length; i++)
		value = (value ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	return (size_t)(value ^ value >> 29);
}

static struct node **slot_of(const struct tree *tree, const struct node *parent, const char *name, size_t length)
{
	for (size_t at = hash(parent, name, length);; at++) {
		struct node **slot = &tree->table[at & (tree->table_size - 1)];
		const struct node *node = *slot;
		if (!node || (node->parent == parent && !strncmp(node->name, name, length) && !node->name[length]))
			return slot;
	}
}

struct node *tree_child(const struct tree *tree, const struct node *parent, const char *name, size_t length)
{
	return *slot_of(tree, parent, name, length);
}

static int grow(struct tree *tree)
{
	struct tree larger = *tree;
	larger.table_size *= 2;
	larger.table = calloc(larger.table_size, sizeof(struct node *));
	if (!larger.table)
		return -ENOMEM;
	for (size_t i = 0; i < tree->table_size; i++) {
		struct node *node = tree->table[i];
		if (node)
			*slot_of(&larger, node->parent, node->name, strlen(node->name)) = node;
	}
	free(tree->table);
	*tree = larger;
	return 0;
}

struct node *tree_add(struct tree *tree, struct node *parent, enum node_kind kind, const char *name, size_t length)
{
	if (tree->count >= TREE_ENTRY_LIMIT || (tree->count * 2 >= tree->table_size && grow(tree)))
		return NULL;
	struct node *node = arena_new_object(tree->arena, struct node);
	char *copy = arena_strndup(tree->arena, name, length);
	if (!node || !copy)
		return NULL;
	*node = (struct node){ .name = copy, .parent = parent, .next = parent->children, .kind = kind };
	parent->children = node;
	*slot_of(tree, parent, copy, length) = node;
	tree->count++;
	return node;
}

/* ---- by path ---- */

static bool is_dots(const char *name, size_t length)
{
	return length == 2 && name[0] == '.' && name[1] == '.';
}

/* The next part of `path` that is neither empty nor ".", and its length; `path` moves behind it. False at the end. */
static bool next_part(const char **path, const char **name, size_t *length)
{
	do {
		*path += strspn(*path, "/");
		*name = *path;
		*length = strcspn(*path, "/");
		*path += *length;
	} while (*length == 1 && **name == '.');
	return *length > 0;
}

static bool is_last(const char *rest)
{
	return !rest[strspn(rest, "/")];
}

static int walk(
        const struct tree *tree, struct node *from, const char *path, bool follow, int *links, struct node **found)
{
	struct node *at = *path == '/' ? tree->root : from;
	const char *name;
	size_t length;
	while (next_part(&path, &name, &length)) {
		/* A listing that was given up says nothing of what was read below. */
		if (at->error && at->error != ETIMEDOUT)
			return -at->error;
		if (at->kind != NODE_DIRECTORY)
			return at->kind == NODE_NAME ? -ENODATA : -ENOTDIR;
		if (is_dots(name, length)) {
			at = at == tree->root ? at : at->parent;
			continue;
		}
		int opened = tree_open(tree, at);
		if (opened)
			return opened;
		struct node *child = tree_child(tree, at, name, length);
		if (!child)
			return at->error ? -at->error : -ENOENT;
		if (child->kind == NODE_LINK && (follow || !is_last(path))) {
			if (++*links > LINK_LIMIT)
				return -ELOOP;
			int result = walk(tree, at, child->data, true, links, &child);
			if (result)
				return result;
		}
		at = child;
	}
	*found = at;
	return 0;
}

int tree_find(const struct tree *tree, const char *path, bool follow, struct node **found)
{
	int links = 0;
	return walk(tree, tree->root, path, follow, &links, found);
}

/* One step of tree_make(): the child `name` of `at`, made as a directory or, when it is the last, as `kind`. */
static int make_step(struct tree *tree, struct node *at, const char *name, size_t length, enum node_kind kind,
        bool follow, struct node **made)
{
	int links = 0, opened = tree_open(tree, at);
	if (opened)
		return opened;
	struct node *child = tree_child(tree, at, name, length);
	if (child && child->kind == NODE_LINK && follow)
		return walk(tree, at, child->data, true, &links, made);
	if (!child)
		child = tree_add(tree, at, kind, name, length);
	if (child && child->kind == NODE_NAME)
		child->kind = kind;
	*made = child;
	return child ? 0 : -ENOSPC;
}

int tree_make(struct tree *tree, const char *path, enum node_kind kind, bool follow, struct node **made)
{
	struct node *at = tree->root;
	const char *name;
	size_t length;
	int depth = 0;
	while (next_part(&path, &name, &length)) {
		if (is_dots(name, length))
			return -EINVAL;
		if (at->kind != NODE_DIRECTORY)
			return -ENOTDIR;
		if (++depth > TREE_DEPTH_LIMIT)
			return -ENAMETOOLONG;
		bool last = is_last(path);
		int result = make_step(tree, at, name, length, last ? kind : NODE_DIRECTORY, follow && !last, &at);
		if (result)
			return result;
	}
	*made = at;
	return 0;
}

int tree_path(const struct tree *tree, const struct node *node, char *buffer, size_t size)
{
	size_t at = size;
	if (!size)
		return -ENAMETOOLONG;
	buffer[--at] = '\0';
	for (; node != tree->root; node = node->parent) {
		size_t length = strlen(node->name);
		if (length + 1 > at)
			return -ENAMETOOLONG;
		at -= length;
		memcpy(buffer + at, node->name, length);
		buffer[--at] = '/';
	}
	at += buffer[at] == '/';
	memmove(buffer, buffer + at, size - at);
	return (int)(size - at - 1);
}
