/* SPDX-License-Identifier: MIT */
/* The least that any program reading GID tables through verbs does: list, open, query, close. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 2047 }; /* the kernel's 16-bit attribute length allows no more in a call */

int main(void)
{
	int count = 0;
	ssize_t used = 0;
	struct ibv_device **devices = ibv_get_device_list(&count);
	struct ibv_gid_entry *entries = calloc(ENTRIES, sizeof(*entries));
	for (int i = 0; devices && entries && i < count; i++) {
		struct ibv_context *context = ibv_open_device(devices[i]);
		ssize_t got = context ? ibv_query_gid_table(context, entries, ENTRIES, 0) : 0;
		used += got > 0 ? got : 0;
		if (context)
			ibv_close_device(context);
	}
	printf("%d devices, %zd GIDs\n", count, used);
	free(entries);
	if (devices)
		ibv_free_device_list(devices);
	return 0;
}
