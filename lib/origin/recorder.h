/* SPDX-License-Identifier: MIT */
/*
 * The parts of a recorder among themselves; private.h has what origin.c calls. Whatever fails while writing is kept as
 * the recorder's failure, of which only the first is told.
 */
#ifndef RDMADIAG_ORIGIN_RECORDER_H
#define RDMADIAG_ORIGIN_RECORDER_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* In memory that workers share with their parent, so that it learns what failed in them. */
struct recorder {
	struct origin *origin; /* borrowed */
	int directory;
	int names, errors; /* opened for appending */
	char path[PATH_MAX];
	struct error failure; /* the first */
};

/*
 * recorder_directory.c: files below the directory. Paths are relative to it; directories above them are made.
 */
void recorder_fail(struct recorder *recorder, int code, const char *name);
/* The directories above `path`, and with `whole` itself. 0 or a negative errno. */
int recorder_directories(struct recorder *recorder, const char *path, bool whole);
bool recorder_has(const struct recorder *recorder, const char *path);
/* A shorter look at the same file does not replace a longer one. */
bool recorder_has_longer(const struct recorder *recorder, const char *path, size_t length);
void recorder_write(struct recorder *recorder, const char *path, const char *data, size_t length);
void recorder_write_link(struct recorder *recorder, const char *path, const char *target);
/* That `path` was listed, or answers with errno `code`. */
void recorder_note_name(struct recorder *recorder, const char *path);
void recorder_note_error(struct recorder *recorder, const char *path, int code);

/*
 * recorder_place.c: the path without links that `path` stands for, in `place`; the links on the way are recorded. 0 or
 * a negative errno.
 */
int recorder_locate(struct recorder *recorder, const char *path, char place[static PATH_MAX]);

#endif
