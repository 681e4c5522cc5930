/* SPDX-License-Identifier: MIT */
#include "source/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

char *sysfs_text(struct origin *origin, struct arena *arena, const char *format, ...)
{
	char path[SYSFS_PATH_SIZE];
	va_list args;
	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return origin_text(origin, arena, path);
}

struct num sysfs_number(struct origin *origin, const char *format, ...)
{
	char path[SYSFS_PATH_SIZE];
	va_list args;
	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return origin_number(origin, path, 0);
}

void sysfs_missing(struct host *host, const char *what, const char *subject, int error)
{
	if (error == ENOENT || !error)
		return;
	if (error == ETIMEDOUT)
		report_missing(
		        &host->report, what, subject, -error, "not read: %s did not answer by the deadline", subject);
	else
		report_missing(&host->report, what, subject, -error, NULL);
}

/* "../../devices/x/net/eth0", seen from two directories below sys/, → "sys/devices/x". */
static char *parent_of_target(struct arena *arena, const char *target)
{
	while (!strncmp(target, "../", 3))
		target += 3;
	if (strncmp(target, "devices/", 8) || !strncmp(target, "devices/virtual/", 16))
		return NULL;
	const char *name = strrchr(target, '/');
	size_t length = (size_t)(name - target);
	while (length && target[length - 1] != '/')
		length--;
	return length > 1 ? arena_printf(arena, "sys/%.*s", (int)length - 1, target) : NULL;
}

char *sysfs_device_path(struct origin *origin, struct arena *arena, const char *class, const char *name)
{
	char path[SYSFS_PATH_SIZE], target[SYSFS_PATH_SIZE];
	if (text_join(path, sizeof(path), class, "/", name)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	ssize_t length = origin_readlink(origin, path, target, sizeof(target));
	errno = length < 0 ? (int)-length : 0;
	if (length >= 0)
		return parent_of_target(arena, target);
	if (errno != EINVAL)
		return NULL;
	/* A directory, not a link: kernels with CONFIG_SYSFS_DEPRECATED, and trees made by hand. */
	snprintf(path, sizeof(path), "%s/%s/device", class, name);
	int error = origin_realpath(origin, path, target, sizeof(target));
	errno = error == -ENOENT ? 0 : -error;
	return error ? NULL : arena_strdup(arena, target);
}

char *sysfs_link_name(struct origin *origin, struct arena *arena, const char *path)
{
	char target[SYSFS_PATH_SIZE];
	ssize_t length = origin_readlink(origin, path, target, sizeof(target));
	if (length < 0) {
		errno = (int)-length;
		return NULL;
	}
	const char *name = strrchr(target, '/');
	return arena_strdup(arena, name ? name + 1 : target);
}
