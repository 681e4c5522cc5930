/* SPDX-License-Identifier: MIT */
#include "report/staging.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	remove(path);
	return 0;
}

static void remove_tree(const char *path)
{
	enum { DESCRIPTORS = 1 }; /* it may be for want of them that the report ends */
	nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

#define NAME "rdmadiag."

/*
 * Of this user, locked by nobody, and old enough not to be one that is about to be locked. In a directory that others
 * may write to, the sticky bit keeps them from putting something else in its place.
 */
static bool is_left(int parent, const char *name)
{
	enum { JUST_MADE_S = 60 };
	struct stat status;
	if (strncmp(name, NAME, strlen(NAME)) != 0 || strlen(name) != strlen(NAME "XXXXXX"))
		return false;
	autoclose int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && !fstat(fd, &status) && status.st_uid == geteuid() && (status.st_mode & 07777) == 0700 &&
	       time(NULL) - status.st_mtime > JUST_MADE_S && !flock(fd, LOCK_EX | LOCK_NB);
}

static void remove_left(const char *parent)
{
	DIR *directory = opendir(parent);
	if (!directory)
		return;
	for (const struct dirent *entry; (entry = readdir(directory));) {
		char path[PATH_MAX];
		if (!is_left(dirfd(directory), entry->d_name))
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", parent, entry->d_name) < sizeof(path))
			remove_tree(path);
	}
	closedir(directory);
}

/* 0 or negative errno. */
static int make_below(struct staging *staging, const char *parent)
{
	remove_left(parent);
	int length = snprintf(staging->path, sizeof(staging->path), "%s/" NAME "XXXXXX", parent);
	int code = length < 0 || (size_t)length >= sizeof(staging->path) ? -ENAMETOOLONG
	           : mkdtemp(staging->path)                              ? 0
	                                                                 : -errno;
	if (code) {
		staging->path[0] = '\0';
		return code;
	}
	staging->lock = open(staging->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (staging->lock >= 0)
		flock(staging->lock, LOCK_EX | LOCK_NB);
	return 0;
}

int staging_new(struct staging *staging, struct error *error)
{
	/* A container with a read-only root has at least memory. */
	static const char *const usual[] = { "/tmp", "/var/tmp", "/dev/shm" };
	const char *wanted = secure_getenv("TMPDIR");
	if (wanted && *wanted) {
		int code = make_below(staging, wanted);
		return code ? error_set(error, code, "%s (TMPDIR): making a temporary directory", wanted) : 0;
	}
	int first = 0;
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		int code = make_below(staging, usual[i]);
		if (!code)
			return 0;
		first = first ? first : code;
	}
	return error_set(error, first, "%s: making a temporary directory (TMPDIR names another place)", usual[0]);
}

void staging_path(const struct staging *staging, const char *name, char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", staging->path, name);
}

void staging_remove(struct staging *staging)
{
	if (!*staging->path)
		return;
	if (staging->lock >= 0)
		close(staging->lock); /* first: removing needs a descriptor */
	remove_tree(staging->path);
	staging->path[0] = '\0';
}
