/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Or the pipe that a shell made of <(COMMAND). */
static int open_readable(const char *path, struct error *error)
{
	/* O_NONBLOCK: a FIFO without a writer must not stop us; it reads as empty. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set(error, -errno, "%s", path);
	struct stat status;
	int result = fstat(fd, &status) ? -errno : 0;
	if (result)
		error_set(error, result, "%s", path);
	else if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
		result = error_say(error, -EINVAL, "%s: not a regular file", path);
	if (result) {
		close(fd);
		return result;
	}
	return fd;
}

int file_read_descriptor(int fd, const char *name, char **data, size_t *length, struct error *error)
{
	autofree char *buffer = NULL;
	size_t used = 0, size = 0;
	for (;;) {
		if (size - used < 2) {
			size = size ? size * 2 : 1 << 16;
			char *larger = realloc(buffer, size);
			if (!larger)
				return error_set(error, -ENOMEM, "%s", name);
			buffer = larger;
		}
		ssize_t got = read(fd, buffer + used, size - used - 1);
		if (got < 0 && errno == EAGAIN)
			(void)poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1); /* a pipe with a writer */
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return error_set(error, -errno, "%s", name);
		if (!got)
			break;
		used += (size_t)got;
		if (used > FILE_SIZE_LIMIT)
			return error_say(error, -EFBIG, "%s: larger than %d MiB", name, FILE_SIZE_LIMIT >> 20);
	}
	buffer[used] = '\0';
	*data = buffer;
	*length = used;
	buffer = NULL;
	return 0;
}

int file_read(const char *path, char **data, size_t *length, struct error *error)
{
	if (!strcmp(path, "-"))
		return file_read_descriptor(STDIN_FILENO, "standard input", data, length, error);
	autoclose int fd = open_readable(path, error);
	int result = fd < 0 ? fd : file_read_descriptor(fd, path, data, length, error);
	struct stat status;
	if (result || *length || fstat(fd, &status) || S_ISREG(status.st_mode))
		return result;
	free(*data);
	*data = NULL;
	return error_say(error, -EINVAL, "%s: not a regular file, and nothing writes to it", path);
}

/* ---- writing ---- */

int file_write_all(int fd, const void *data, size_t length)
{
	for (const char *at = data; length;) {
		ssize_t done = write(fd, at, length);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		at += done;
		length -= (size_t)done;
	}
	return 0;
}

int file_replace_open(const char *path, struct file_replacement *replacement, struct error *error)
{
	*replacement = (struct file_replacement){ .fd = -1, .path = path };
	struct stat status;
	if (!lstat(path, &status) && !S_ISREG(status.st_mode))
		return error_say(error, -EINVAL, "%s: %s", path,
		        S_ISLNK(status.st_mode) ? "a symbolic link, which is neither followed nor replaced"
		                                : "not a regular file");
	if (asprintf(&replacement->temporary, "%s.XXXXXX", path) < 0) {
		replacement->temporary = NULL;
		return error_set(error, -ENOMEM, "%s", path);
	}
	replacement->fd = mkostemp(replacement->temporary, O_CLOEXEC);
	if (replacement->fd >= 0)
		return 0;
	int code = -errno;
	free(replacement->temporary);
	replacement->temporary = NULL;
	return error_set(error, code, "%s", path);
}

/* A file system without modes (vfat, some network shares) has none to keep. */
static int set_mode(int fd, unsigned int mode)
{
	if (!fchmod(fd, mode) || errno == EPERM || errno == ENOSYS || errno == EOPNOTSUPP)
		return 0;
	return -errno;
}

int file_replace_commit(struct file_replacement *replacement, unsigned int mode, struct error *error)
{
	int code = set_mode(replacement->fd, mode);
	if (close(replacement->fd) && !code)
		code = -errno;
	replacement->fd = -1;
	if (!code && rename(replacement->temporary, replacement->path))
		code = -errno;
	if (!code) {
		free(replacement->temporary);
		replacement->temporary = NULL;
		return 0;
	}
	file_replace_abort(replacement);
	return error_set(error, code, "%s", replacement->path);
}

void file_replace_abort(struct file_replacement *replacement)
{
	if (replacement->fd >= 0)
		close(replacement->fd);
	replacement->fd = -1;
	if (replacement->temporary)
		unlink(replacement->temporary);
	free(replacement->temporary);
	replacement->temporary = NULL;
}

/* O_NONBLOCK for the open alone: a FIFO that nobody reads is an error, one that is read slowly is waited for. */
static int write_into(const char *path, const void *data, size_t length, struct error *error)
{
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int result = fd < 0 || fcntl(fd, F_SETFL, 0) ? -errno : file_write_all(fd, data, length);
	return result ? error_set(error, result, "%s", path) : 0;
}

static mode_t usual_mode(void)
{
	mode_t mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

int file_write(const char *path, const void *data, size_t length, struct error *error)
{
	struct stat status;
	bool there = !stat(path, &status);
	if (there && !S_ISREG(status.st_mode))
		return write_into(path, data, length, error);
	autofree char *target = there ? realpath(path, NULL) : strdup(path);
	if (!target)
		return error_set(error, -errno, "%s", path);
	struct file_replacement file;
	int result = file_replace_open(target, &file, error);
	if (result)
		return result;
	result = file_write_all(file.fd, data, length);
	if (!result)
		return file_replace_commit(&file, there ? status.st_mode & 07777 : usual_mode(), error);
	file_replace_abort(&file);
	return error_set(error, result, "%s", path);
}
