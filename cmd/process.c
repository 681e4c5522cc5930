/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* open(2) takes the lowest free descriptor. Opened the other way round, its use still fails with EBADF. */
static void fill_streams(void)
{
	static const int modes[] = {
		[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY
	};
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", modes[fd]);
}

void process_prepare(void)
{
	fill_streams();
	signal(SIGXFSZ, SIG_IGN);
	/* Who starts this program may have ignored it, and its children would vanish instead of being waited for. */
	signal(SIGCHLD, SIG_DFL);
}
