/* SPDX-License-Identifier: MIT */
#include "gid/nccl_conf.h"

#include "base/cleanup.h"
#include "gid/choose.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nccl_conf_parse(struct arena *arena, const char *text, struct strings *lines)
{
	int result = 0;
	while (*text && !result) {
		size_t length = strcspn(text, "\n");
		const char *end = text + length;
		size_t kept = length && end[-1] == '\r' ? length - 1 : length;
		if (*text != '#' && memchr(text, '=', kept)) {
			autofree char *line = strndup(text, kept);
			result = line ? strings_add(arena, lines, line) : -ENOMEM;
		}
		text = *end ? end + 1 : end;
	}
	return result;
}

static int read_file(struct origin *origin, struct arena *arena, const char *path, struct strings *lines)
{
	autofree char *text = NULL;
	size_t length;
	while (*path == '/') /* paths of an origin begin at its root */
		path++;
	int result = origin_read_all(origin, path, &text, &length);
	if (result)
		return result == -ENOMEM ? result : 0;
	return nccl_conf_parse(arena, text, lines);
}

/* Relative to the working directory, as NCCL opens it. */
static int read_named(struct origin *origin, struct arena *arena, const char *name, struct strings *lines)
{
	char path[2 * PATH_MAX], directory[PATH_MAX];
	if (*name == '/')
		return read_file(origin, arena, name, lines);
	if (!getcwd(directory, sizeof(directory)))
		return 0;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return read_file(origin, arena, path, lines);
}

int nccl_conf_read(
        struct origin *origin, struct arena *arena, const struct gid_environment *environment, struct strings *lines)
{
	const char *named = gid_environment_get(environment, "NCCL_CONF_FILE");
	const char *home = gid_environment_get(environment, "HOME");
	char path[PATH_MAX];
	int result = 0;
	if (named && *named) {
		result = read_named(origin, arena, named, lines);
	} else if (home) {
		snprintf(path, sizeof(path), "%s/.nccl.conf", home);
		result = read_named(origin, arena, path, lines);
	}
	return result ? result : read_file(origin, arena, "etc/nccl.conf", lines);
}
