/* SPDX-License-Identifier: MIT */
/*
 * measure COMMAND... - runs it without output, then prints its wall and CPU seconds, peak memory in KiB, page faults
 * and exit status. A small program of its own, because the peak of a child begins with what its parent held.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void execute(char **command)
{
	int null = open("/dev/null", O_RDWR);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	double start = now();
	pid_t child = fork();
	if (!child)
		execute(argv + 1);
	int status;
	struct rusage usage;
	if (child < 0 || wait4(child, &status, 0, &usage) != child)
		return 1;
	printf("%.6f %.6f %ld %ld %d\n", now() - start, seconds(usage.ru_utime) + seconds(usage.ru_stime),
	        usage.ru_maxrss, usage.ru_minflt, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
