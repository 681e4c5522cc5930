/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int open_regular(const char *path, struct error *error)
{
	/* O_NONBLOCK: a FIFO without a writer must not stop us before fstat() tells what it is. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set(error, -errno, "%s", path);
	struct stat status;
	int result = fstat(fd, &status) ? -errno : 0;
	if (result)
		error_set(error, result, "%s", path);
	else if (!S_ISREG(status.st_mode))
		result = error_say(error, -EINVAL, "%s: not a regular file", path);
	if (result) {
		close(fd);
		return result;
	}
	return fd;
}

static int read_whole(int fd, const char *path, char **data, size_t *length, struct error *error)
{
	autofree char *buffer = NULL;
	size_t used = 0, size = 0;
	for (;;) {
		if (size - used < 2) {
			size = size ? size * 2 : 1 << 16;
			char *larger = realloc(buffer, size);
			if (!larger)
				return error_set(error, -ENOMEM, "%s", path);
			buffer = larger;
		}
		ssize_t got = read(fd, buffer + used, size - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set(error, -errno, "%s", path);
		if (!got)
			break;
		used += (size_t)got;
		if (used > FILE_SIZE_LIMIT)
			return error_say(error, -EFBIG, "%s: larger than %d MiB", path, FILE_SIZE_LIMIT >> 20);
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
		return read_whole(STDIN_FILENO, "standard input", data, length, error);
	autoclose int fd = open_regular(path, error);
	return fd < 0 ? fd : read_whole(fd, path, data, length, error);
}
