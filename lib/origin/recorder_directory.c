/* SPDX-License-Identifier: MIT */
/* The directory that a recorder writes. */
#include "base/cleanup.h"
#include "base/entries.h"
#include "base/file.h"
#include "origin/format.h"
#include "origin/private.h"
#include "origin/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void recorder_fail(struct recorder *recorder, int code, const char *name)
{
	if (!recorder->failure.code)
		error_set(&recorder->failure, code, "%s/%s", recorder->path, name);
}

int recorder_directories(struct recorder *recorder, const char *path, bool whole)
{
	char part[PATH_MAX];
	for (const char *end = path; *end; end++) {
		size_t length = (size_t)(end - path);
		bool last = !end[1];
		if (*end != '/' && !(last && whole))
			continue;
		length += *end != '/';
		if (length >= sizeof(part))
			return -ENAMETOOLONG;
		memcpy(part, path, length);
		part[length] = '\0';
		if (mkdirat(recorder->directory, part, 0777) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

bool recorder_has(const struct recorder *recorder, const char *path)
{
	return !faccessat(recorder->directory, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

bool recorder_has_longer(const struct recorder *recorder, const char *path, size_t length)
{
	struct stat status;
	return !fstatat(recorder->directory, path, &status, AT_SYMLINK_NOFOLLOW) && (size_t)status.st_size > length;
}

void recorder_write(struct recorder *recorder, const char *path, const char *data, size_t length)
{
	int result = recorder_directories(recorder, path, false);
	autoclose int fd =
	        result ? -1
	               : openat(recorder->directory, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (!result && fd < 0)
		result = -errno;
	if (!result)
		result = file_write_all(fd, data, length);
	if (result)
		recorder_fail(recorder, result, path);
}

/*
 * Appends a line; one write, so that the lines of a worker that is given up stay whole. Paths that no line can hold are
 * left out.
 */
static void append(struct recorder *recorder, int fd, const char *file, const char *before, const char *path)
{
	char line[PATH_MAX + 16] = "";
	int length = snprintf(line, sizeof(line), "%s%s\n", before, path);
	if (length < 0 || (size_t)length >= sizeof(line) || strchr(path, '\n'))
		return;
	int result = file_write_all(fd, line, (size_t)length);
	if (result)
		recorder_fail(recorder, result, file);
}

void recorder_note_name(struct recorder *recorder, const char *path)
{
	append(recorder, recorder->names, SNAPSHOT_NAMES, "", path);
}

void recorder_note_error(struct recorder *recorder, const char *path, int code)
{
	char before[16];
	snprintf(before, sizeof(before), "%d ", code);
	append(recorder, recorder->errors, SNAPSHOT_ERRORS, before, path);
}

void recorder_write_link(struct recorder *recorder, const char *path, const char *target)
{
	int result = recorder_directories(recorder, path, false);
	if (!result && symlinkat(target, recorder->directory, path) && errno != EEXIST)
		result = -errno;
	if (result)
		recorder_fail(recorder, result, path);
}

/* ---- beginning and end ---- */

/* 0, -ENOTEMPTY, or what kept from looking. */
static int check_empty(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	DIR *stream = fdopendir(copy);
	if (!stream) {
		int code = -errno;
		close(copy);
		return code;
	}
	int result = 0;
	if (next_entry(stream, &result))
		result = -ENOTEMPTY;
	closedir(stream);
	return result;
}

static int open_all(struct recorder *recorder, const char *directory, struct error *error)
{
	if (mkdir(directory, 0777) && errno != EEXIST)
		return error_set(error, -errno, "%s", directory);
	recorder->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (recorder->directory < 0)
		return error_set(error, -errno, "%s", directory);
	int full = check_empty(recorder->directory);
	if (full == -ENOTEMPTY)
		return error_say(error, full,
		        "%s: it is not empty; a snapshot is written into a new or empty directory", directory);
	if (full)
		return error_set(error, full, "%s", directory);
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
	recorder->names = openat(recorder->directory, SNAPSHOT_NAMES, flags, 0666);
	recorder->errors = openat(recorder->directory, SNAPSHOT_ERRORS, flags, 0666);
	return recorder->names < 0 || recorder->errors < 0 ? error_set(error, -errno, "%s", directory) : 0;
}

struct recorder *recorder_new(struct origin *origin, const char *directory, struct error *error)
{
	struct recorder *recorder =
	        mmap(NULL, sizeof(*recorder), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (recorder == MAP_FAILED) {
		error_set(error, -errno, "%s", directory);
		return NULL;
	}
	recorder->origin = origin;
	recorder->directory = recorder->names = recorder->errors = -1;
	snprintf(recorder->path, sizeof(recorder->path), "%s", directory);
	if (open_all(recorder, directory, error)) {
		recorder_free(recorder);
		return NULL;
	}
	return recorder;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	const int fds[] = { recorder->directory, recorder->names, recorder->errors };
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	munmap(recorder, sizeof(*recorder));
}
