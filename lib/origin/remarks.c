/* SPDX-License-Identifier: MIT */
#include "origin/remarks.h"
#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Lines of one file that follow each other and speak of names in one directory. A ring: a directory knows the last. */
struct remarks {
	struct remarks *next;
	struct remarks_file *file;
	off_t start, end;
};

struct remark {
	int code; /* 0: only the name is known */
	const char *path;
	const char *name; /* the last part of the path */
};

static int damaged(const struct remarks_file *file, const char *line, struct error *error, const char *reason)
{
	return error_say(error, -EINVAL, "%s: %s: \"%.200s\": %s", file->path, file->name, line, reason);
}

/* "22 sys/class/infiniband/mlx5_0/ports/1/rate" */
static int parse(const struct remarks_file *file, char *line, struct remark *remark, struct error *error)
{
	char *rest = line;
	line[strcspn(line, "\n")] = '\0';
	long code = file->errors ? strtol(line, &rest, 10) : 0;
	if (file->errors && (rest == line || *rest != ' ' || code < 1 || code > 4095))
		return damaged(file, line, error, "expected an errno, a blank and a path");
	rest += file->errors;
	char *end = rest + strlen(rest);
	while (end > rest && end[-1] == '/')
		*--end = '\0';
	const char *slash = strrchr(rest, '/');
	*remark = (struct remark){ .code = (int)code, .path = rest, .name = slash ? slash + 1 : rest };
	return 0;
}

static bool is_comment(const char *line)
{
	return *line == '#' || *line == '\n' || !*line;
}

/* ---- applying ---- */

static int apply(struct tree *tree, struct node *directory, const struct remark *remark)
{
	size_t length = strlen(remark->name);
	struct node *node = tree_child(tree, directory, remark->name, length);
	/* That something is not there says only that a name which was listed led nowhere. */
	if (!node && remark->code == ENOENT)
		return 0;
	if (!node)
		node = tree_add(tree, directory, NODE_NAME, remark->name, length);
	if (!node)
		return -EFBIG;
	if (remark->code)
		node->error = remark->code;
	return 0;
}

/* Whoever is reading the file, and had a directory entered by it, reads on where it was. */
static int apply_lines(const struct remarks *remarks, struct node *directory)
{
	struct remarks_file *file = remarks->file;
	autofree char *line = NULL;
	size_t size = 0;
	off_t here = ftello(file->stream);
	int result = here < 0 || fseeko(file->stream, remarks->start, SEEK_SET) ? -errno : 0;
	for (off_t at = remarks->start; !result && at < remarks->end;) {
		struct remark remark;
		ssize_t length = getline(&line, &size, file->stream);
		if (length < 0)
			return -EIO;
		at += length;
		if (is_comment(line))
			continue;
		result = parse(file, line, &remark, NULL);
		if (!result)
			result = apply(file->tree, directory, &remark);
	}
	return fseeko(file->stream, here, SEEK_SET) && !result ? -errno : result;
}

int remarks_apply(struct node *directory)
{
	int result = 0;
	const struct remarks *last = directory->remarks, *remarks = last;
	directory->remarks = NULL;
	if (!last)
		return 0;
	do {
		remarks = remarks->next;
		result = apply_lines(remarks, directory);
	} while (!result && remarks != last);
	return result;
}

/* ---- reading ---- */

struct run {
	struct remarks_file *file;
	char parent[PATH_MAX];
	size_t length;
	bool absent; /* its lines say that names are not there */
	struct node *directory;
	struct remarks remarks;
};

static struct node *directory_of(struct tree *tree, const char *path, bool absent, int *result)
{
	struct node *node = NULL;
	*result = absent ? tree_find(tree, path, true, &node) : tree_make(tree, path, NODE_DIRECTORY, true, &node);
	if (!*result && node->kind == NODE_LINK)
		*result = tree_find(tree, path, true, &node);
	if (!*result && node->kind != NODE_DIRECTORY)
		*result = -ENOTDIR;
	return *result ? NULL : node;
}

static int end_run(const struct run *run)
{
	struct node *directory = run->directory;
	if (!directory || run->remarks.start == run->remarks.end)
		return 0;
	if (!directory->unread)
		return apply_lines(&run->remarks, directory);
	struct remarks *added = tree_alloc(run->file->tree, sizeof(*added)), *last = directory->remarks;
	if (!added)
		return -EFBIG;
	*added = run->remarks;
	added->next = last ? last->next : added;
	if (last)
		last->next = added;
	directory->remarks = added;
	return 0;
}

static bool continues(const struct run *run, const struct remark *remark)
{
	return run->remarks.end && (size_t)(remark->name - remark->path) == run->length &&
	       run->absent == (remark->code == ENOENT) && !memcmp(remark->path, run->parent, run->length);
}

static int begin_run(struct run *run, const struct remark *remark, off_t at)
{
	run->length = (size_t)(remark->name - remark->path);
	if (run->length >= sizeof(run->parent) || !*remark->name)
		return -ENAMETOOLONG;
	memcpy(run->parent, remark->path, run->length);
	run->parent[run->length] = '\0';
	run->absent = remark->code == ENOENT;
	run->remarks = (struct remarks){ .file = run->file, .start = at, .end = at };
	int result;
	run->directory = directory_of(run->file->tree, run->parent, run->absent, &result);
	/* That a name is not there needs no place where nobody looked. */
	return run->absent || result == -ENOENT || result == -ENOTDIR ? 0 : result;
}

int remarks_read(struct remarks_file *file, struct error *error)
{
	struct run run = { .file = file };
	autofree char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int result = 0;
	for (off_t at = 0; !result && (length = getline(&line, &size, file->stream)) >= 0; at += length) {
		struct remark remark;
		if (is_comment(line))
			continue;
		result = parse(file, line, &remark, error);
		if (result)
			return result;
		if (!continues(&run, &remark)) {
			result = end_run(&run);
			if (!result)
				result = begin_run(&run, &remark, at);
		}
		if (result == -ENOSPC || result == -EFBIG)
			return error_say(error, result,
			        "%s: %s: more names than a snapshot may hold, or than there is memory for", file->path,
			        file->name);
		if (result || !strcmp(remark.name, "..") || !strcmp(remark.name, "."))
			return damaged(file, line, error, "a path that the snapshot cannot hold");
		run.remarks.end = at + length;
	}
	if (!result)
		result = ferror(file->stream) ? -EIO : end_run(&run);
	return result ? error_set(error, result, "%s: %s", file->path, file->name) : 0;
}
