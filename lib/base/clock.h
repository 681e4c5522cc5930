/* SPDX-License-Identifier: MIT */
/* The clock by which everything is timed: it never goes back. */
#ifndef RDMADIAG_BASE_CLOCK_H
#define RDMADIAG_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline int64_t clock_ms(void)
{
	return (int64_t)(clock_ns() / 1000000);
}

#endif
