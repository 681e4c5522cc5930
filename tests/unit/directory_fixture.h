/* SPDX-License-Identifier: MIT */
/* A directory of its own for each test, and files in it. */
#ifndef RDMADIAG_TESTS_DIRECTORY_FIXTURE_H
#define RDMADIAG_TESTS_DIRECTORY_FIXTURE_H

#include "unit.h"

#include "base/cleanup.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* Until it is called again. */
static inline const char *below(const char *path)
{
	static char full[PATH_MAX];
	snprintf(full, sizeof(full), "%s/%s", root, path);
	return full;
}

/* The file, and the directories that lead to it. */
static inline void put(const char *path, const char *text)
{
	char full[PATH_MAX];
	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(!mkdir(full, 0777) || errno == EEXIST);
		*slash = '/';
	}
	autofclose FILE *file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
}

static inline int make_root(void)
{
	strcpy(root, "/tmp/rdmadiag-test.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status, (void)type, (void)walk;
	return remove(path);
}

static inline int remove_root(void)
{
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
