/* SPDX-License-Identifier: MIT */
#include "report/staging.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int staging_new(struct staging *staging, struct error *error)
{
	const char *parent = secure_getenv("TMPDIR");
	int length = snprintf(
	        staging->path, sizeof(staging->path), "%s/rdmadiag.XXXXXX", parent && *parent ? parent : "/tmp");
	int code = length < 0 || (size_t)length >= sizeof(staging->path) ? -ENAMETOOLONG
	           : mkdtemp(staging->path)                              ? 0
	                                                                 : -errno;
	if (!code)
		return 0;
	error_set(error, code, "%s: a temporary directory", staging->path);
	staging->path[0] = '\0';
	return code;
}

void staging_path(const struct staging *staging, const char *name, char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", staging->path, name);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	remove(path);
	return 0;
}

void staging_remove(struct staging *staging)
{
	enum { DESCRIPTORS = 1 }; /* it may be for want of them that the report ends */
	if (*staging->path)
		nftw(staging->path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
	staging->path[0] = '\0';
}
