/* SPDX-License-Identifier: MIT */
#include "gid/nccl_conf.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "gid/choose.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The process's own files, as its environment is; an origin has the machine's. Relative names as NCCL opens them. */
static int read_named(struct arena *arena, const char *path, struct strings *lines)
{
	autofree char *text = NULL;
	size_t length;
	struct error error = { 0 };
	int result = file_read(path, &text, &length, &error);
	if (result)
		return result == -ENOMEM ? result : 0;
	return nccl_conf_parse(arena, text, lines);
}

int nccl_conf_read(struct arena *arena, const struct gid_environment *environment, struct strings *lines)
{
	const char *named = gid_environment_get(environment, "NCCL_CONF_FILE");
	const char *home = gid_environment_get(environment, "HOME");
	char path[PATH_MAX];
	int result = 0;
	if (named && *named) {
		result = read_named(arena, named, lines);
	} else if (home) {
		snprintf(path, sizeof(path), "%s/.nccl.conf", home);
		result = read_named(arena, path, lines);
	}
	return result ? result : read_named(arena, "/etc/nccl.conf", lines);
}
