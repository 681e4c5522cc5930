/* SPDX-License-Identifier: MIT */
/* Files that the user names: whole, bounded, never blocking on a FIFO or a device. */
#ifndef RDMADIAG_BASE_FILE_H
#define RDMADIAG_BASE_FILE_H

#include "base/error.h"

#include <stddef.h>

enum { FILE_SIZE_LIMIT = 64 << 20 };

/*
 * Reads a regular file, or standard input for "-", of at most FILE_SIZE_LIMIT bytes into malloc'ed memory with a NUL
 * behind it. 0, or negative errno with `error` that names the file: -EFBIG, -EINVAL for what is not a regular file,
 * -ENOMEM, and those of open(2) and read(2).
 */
int file_read(const char *path, char **data, size_t *length, struct error *error);

#endif
