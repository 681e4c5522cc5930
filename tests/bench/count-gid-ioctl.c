/* SPDX-License-Identifier: MIT */
/*
 * Preloaded, appends a line to the file $COUNT_FILE for each ioctl of uverbs devices: "table" for those that ask for
 * the GID table, "other" for the rest. At once, because a worker leaves with _exit(2). strace does not decode these
 * requests.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void count(const char *line)
{
	const char *path = getenv("COUNT_FILE");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		abort();
	close(fd);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, void *);
	va_list args;
	va_start(args, request);
	void *argument = va_arg(args, void *);
	va_end(args);
	if (!next)
		next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	if (request == RDMA_VERBS_IOCTL) {
		const struct ib_uverbs_ioctl_hdr *header = argument;
		count(header->object_id == UVERBS_OBJECT_DEVICE && header->method_id == UVERBS_METHOD_QUERY_GID_TABLE
		                ? "table\n"
		                : "other\n");
	}
	return next(fd, request, argument);
}
