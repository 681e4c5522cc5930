/* SPDX-License-Identifier: MIT */
#include "late/late.h"

#include <numa.h>
#include <numaif.h>
#include <stddef.h>

static struct late_library numa = { .file = "libnuma.so.1" };

/* Callers ask numa_available() first: the others need no answer of their own for a missing library. */
/* clang-format off */
LATE(&numa, int, -1, numa_available, (void))
LATE(&numa, int, -1, numa_run_on_node, (int node), node)
LATE(&numa, struct bitmask *, NULL, numa_allocate_nodemask, (void))
LATE(&numa, struct bitmask *, mask, numa_bitmask_setbit, (struct bitmask *mask, unsigned int bit), mask, bit)
LATE(&numa, long, -1, mbind, (void *start, unsigned long length, int mode, const unsigned long *mask,
	unsigned long max_node, unsigned int flags), start, length, mode, mask, max_node, flags)
LATE(&numa, long, -1, set_mempolicy, (int mode, const unsigned long *mask, unsigned long max_node),
	mode, mask, max_node)
LATE(&numa, long, -1, move_pages, (int pid, unsigned long count, void **pages, const int *nodes, int *status,
	int flags), pid, count, pages, nodes, status, flags)
LATE_VOID(&numa, numa_bitmask_free, (struct bitmask *mask), mask)
/* clang-format on */

/*
 * numa(3): a program may have these of its own. What libnuma thinks of /sys and of nodes is told by what its calls
 * return; on standard error it would stand among the program's own messages.
 */
void numa_warn(int number, char *where, ...)
{
	(void)number, (void)where;
}

void numa_error(char *where)
{
	(void)where;
}
