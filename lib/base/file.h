/* SPDX-License-Identifier: MIT */
/* Files that the user names: whole, bounded, never blocking on a FIFO that nothing writes to, or on a device. */
#ifndef RDMADIAG_BASE_FILE_H
#define RDMADIAG_BASE_FILE_H

#include "base/error.h"

#include <stddef.h>

enum { FILE_SIZE_LIMIT = 64 << 20 };

/*
 * Reads a regular file, a pipe that something writes to, or standard input for "-", of at most FILE_SIZE_LIMIT bytes
 * into malloc'ed memory with a NUL behind it. 0, or negative errno with `error` that names the file: -EFBIG, -EINVAL
 * for what is neither, -ENOMEM, and those of open(2) and read(2).
 */
int file_read(const char *path, char **data, size_t *length, struct error *error);
/* The same from where the descriptor stands; `name` is what errors name. */
int file_read_descriptor(int fd, const char *name, char **data, size_t *length, struct error *error);

/*
 * A file that replaces another as a whole or not at all. file_replace_open() makes a temporary file beside `path`, with
 * mode 0600 and a name that does not end as that of `path` does; what is written to the descriptor becomes `path` in
 * file_replace_commit(), and disappears in file_replace_abort(), which does nothing after a commit. -EINVAL with
 * `error` where `path` is there and no regular file (renaming would replace a device or a link by a file).
 */
struct file_replacement {
	int fd; /* -1: none */
	const char *path;
	char *temporary; /* malloc'ed */
};
int file_replace_open(const char *path, struct file_replacement *replacement, struct error *error);
int file_replace_commit(struct file_replacement *replacement, unsigned int mode, struct error *error);
void file_replace_abort(struct file_replacement *replacement);

/*
 * Writes what becomes the whole of the file `path`: an old one is lost only to a new one that is complete. Links are
 * followed and stay, the mode stays; what is no regular file (a pipe, /dev/stdout) is written to. 0, or negative errno
 * with `error` that names the file.
 */
int file_write(const char *path, const void *data, size_t length, struct error *error);

/* All bytes, whatever signals come. 0 or negative errno. */
int file_write_all(int fd, const void *data, size_t length);

#endif
