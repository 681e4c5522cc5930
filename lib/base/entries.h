/* SPDX-License-Identifier: MIT */
/* Names in a directory. */
#ifndef RDMADIAG_BASE_ENTRIES_H
#define RDMADIAG_BASE_ENTRIES_H

#include <dirent.h>
#include <errno.h>
#include <string.h>

/* The next one but "." and "..". NULL: that was all, or reading failed, and `result` is a negative errno then. */
static inline const struct dirent *next_entry(DIR *stream, int *result)
{
	const struct dirent *entry;
	errno = 0;
	while ((entry = readdir(stream)) && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")))
		continue;
	if (!entry && errno)
		*result = -errno;
	return entry;
}

#endif
