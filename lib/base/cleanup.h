/* SPDX-License-Identifier: MIT */
/* Cleanup attributes for locals: `autofree char *text = …;`, `autoclose int fd = open(…);` */
#ifndef RDMADIAG_BASE_CLEANUP_H
#define RDMADIAG_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define autofree __attribute__((cleanup(cleanup_free)))
#define autoclose __attribute__((cleanup(cleanup_close)))
#define autofclose __attribute__((cleanup(cleanup_fclose)))
#define autocall(function) __attribute__((cleanup(function)))

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
