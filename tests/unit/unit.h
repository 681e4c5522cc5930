/* SPDX-License-Identifier: MIT */
/* cmocka with the headers it wants before it, and what several unit tests share. */
#ifndef RDMADIAG_TESTS_UNIT_H
#define RDMADIAG_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static inline struct arena *test_arena(void)
{
	struct arena *arena = arena_new(16u << 20);
	assert_non_null(arena);
	return arena;
}

#endif
