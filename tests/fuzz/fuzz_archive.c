/* SPDX-License-Identifier: MIT */
/* An archive given to --from: any bytes are a snapshot or an error, and nothing of them reaches the file system. */
#include "base/cleanup.h"
#include "origin/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64], target[256];
	struct error error = { 0 };
	autoclose int fd = memfd_create("archive", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	autocall(origin_closep) struct origin *origin = origin_snapshot(path, &error);
	if (!origin) {
		if (!error.code || !*error.text)
			abort(); /* an error without a word */
		return 0;
	}
	struct arena *arena = arena_new(1 << 20);
	struct strings names = { 0 };
	origin_list(origin, arena, "sys", &names);
	for (uint32_t i = 0; i < names.count; i++) {
		snprintf(path, sizeof(path), "sys/%.50s", names.items[i]);
		origin_text(origin, arena, path);
		origin_readlink(origin, path, target, sizeof(target));
		if (!origin_realpath(origin, path, target, sizeof(target)) && strstr(target, ".."))
			abort();
	}
	arena_free(arena);
	return 0;
}
