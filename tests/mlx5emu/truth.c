/* SPDX-License-Identifier: MIT */
/*
 * The ground truth: what the devices really did, and every fault at the moment it was injected with the layer that is
 * guilty of it. JSON lines; each is one write() to a file opened for appending, so processes can share it.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"

static int truth_fd = -2;

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool truth_wanted(void)
{
	if (truth_fd == -2) {
		const char *path = getenv("MLX5EMU_LOG");

		truth_fd = path && *path ? real.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	}
	return truth_fd >= 0;
}

void truth(const char *event, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	if (!truth_wanted())
		return;
	n = snprintf(line, sizeof(line), "{\"t_ns\":%llu,\"pid\":%d,\"event\":\"%s\"%s", (unsigned long long)now_ns(),
	        (int)getpid(), event, *fmt ? "," : "");
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n - 2, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 3)
		return; /* no half lines */
	line[n++] = '}';
	line[n++] = '\n';
	if (real.write(truth_fd, line, (size_t)n) != n)
		truth_fd = -1;
}
