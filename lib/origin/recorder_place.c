/* SPDX-License-Identifier: MIT */
/*
 * Where a path that was asked for really lies: each link on the way is asked of the origin and recorded as a link.
 */
#include "origin/private.h"
#include "origin/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINK_LIMIT = 40 };

/* What is still to go of a path; `path` is so far without links. */
struct walk {
	char path[PATH_MAX];
	char rest[PATH_MAX];
	int links;
};

static void go_up(struct walk *walk)
{
	char *slash = strrchr(walk->path, '/');
	*(slash ? slash : walk->path) = '\0';
}

/* The target takes the place of the link: in front of what is still to go. */
static int follow(struct walk *walk, const char *target)
{
	char rest[PATH_MAX];
	int length = snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest);
	if (++walk->links > LINK_LIMIT)
		return -ELOOP;
	if (length < 0 || (size_t)length >= sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, rest, (size_t)length + 1);
	if (*target == '/')
		walk->path[0] = '\0';
	else
		go_up(walk);
	return 0;
}

/* Takes one part from what is to go. False: nothing is left. */
static bool take(struct walk *walk, char part[static NAME_MAX + 1])
{
	const char *start = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(start, "/");
	if (!length)
		return false;
	size_t kept = length <= NAME_MAX ? length : NAME_MAX;
	memcpy(part, start, kept);
	part[kept] = '\0';
	memmove(walk->rest, start + length, strlen(start + length) + 1);
	return true;
}

static int step(struct recorder *recorder, struct walk *walk, const char *part)
{
	char target[PATH_MAX];
	if (!strcmp(part, "."))
		return 0;
	if (!strcmp(part, "..")) {
		go_up(walk);
		return 0;
	}
	size_t at = strlen(walk->path);
	int length = snprintf(walk->path + at, sizeof(walk->path) - at, "%s%s", at ? "/" : "", part);
	if (length < 0 || (size_t)length >= sizeof(walk->path) - at)
		return -ENAMETOOLONG;
	if (!strchr(walk->path, '/')) /* sys, proc and dev themselves */
		return 0;
	struct origin *origin = recorder->origin;
	if (origin->ops->readlink(origin, walk->path, target, sizeof(target)) < 0)
		return 0;
	recorder_write_link(recorder, walk->path, target);
	return follow(walk, target);
}

int recorder_locate(struct recorder *recorder, const char *path, char place[static PATH_MAX])
{
	char part[NAME_MAX + 1];
	struct walk walk;
	walk.path[0] = '\0';
	walk.links = 0;
	if (snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= (int)sizeof(walk.rest))
		return -ENAMETOOLONG;
	while (take(&walk, part)) {
		int result = step(recorder, &walk, part);
		if (result)
			return result;
	}
	memcpy(place, walk.path, strlen(walk.path) + 1);
	return *place ? 0 : -ENOENT;
}
