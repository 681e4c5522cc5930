/* SPDX-License-Identifier: MIT */
#include "base/room.h"

#include <errno.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* A directory, a file in it, a netlink socket, and a library that is loaded for another one. */
enum { FILES = 8, BYTES = 32 << 20 };

static int room_for_files(void)
{
	int files[FILES], count = 0, result = 0;
	for (; count < FILES && !result; count++) {
		files[count] = eventfd(0, EFD_CLOEXEC);
		result = files[count] < 0 && (errno == EMFILE || errno == ENFILE) ? -errno : 0;
	}
	while (count--)
		if (files[count] >= 0)
			close(files[count]);
	return result;
}

int process_room(void)
{
	int result = room_for_files();
	if (result)
		return result;
	void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	munmap(memory, BYTES);
	return 0;
}
