/* SPDX-License-Identifier: MIT */
#include "run_command.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process's status where its output could not be written: with the errno behind it, above all others. */
enum { UNWRITTEN = 131 };

__attribute__((noreturn)) static void leave_unwritten(const char *path, int error)
{
	complain("%s: %s", path, strerror(error));
	_exit(UNWRITTEN + error);
}

/* Longer than a command gives its own worker (origin/worker.c) and a probe its set-up. */
enum { USUAL_MS = 60000 };

static volatile sig_atomic_t interrupted;
/* Their default is the end as well, and temporary files would stay. */
static const int other_signals[] = { SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU };

static void on_signal(int number)
{
	interrupted = number;
}

void run_command_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	catch_ending_signals(on_signal);
	for (size_t i = 0; i < ARRAY_SIZE(other_signals); i++)
		sigaction(other_signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* What is ignored stays so. */
static void stop_catching(int number)
{
	struct sigaction action;
	if (!sigaction(number, NULL, &action) && action.sa_handler == on_signal)
		signal(number, SIG_DFL);
}

bool run_command_interrupted(void)
{
	return interrupted;
}

/* Where a process's output goes. */
struct streams {
	int output, errors;
};

static int open_stream(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void redirect(int fd, const char *name, int descriptor)
{
	if (fd < 0 || dup2(fd, descriptor) < 0)
		leave_unwritten(name, errno);
}

/* `memory`: where the output goes, NULL: into the files of `run`. */
__attribute__((noreturn)) static void work(
        const struct command_run *run, const struct common_options *common, const struct streams *memory)
{
	const char *output = memory ? "memory for the output" : run->output;
	const char *errors = memory ? "memory for the messages" : run->errors;
	struct common_options own = *common;
	char *arguments[RUN_ARGUMENTS_LIMIT + 2] = { (char *)(uintptr_t)run->command->name };
	int count = 1;
	for (const char *const *argument = run->arguments; *argument; argument++)
		arguments[count++] = (char *)(uintptr_t)*argument;
	for (int i = 0; i < ENDING_SIGNALS; i++)
		stop_catching(ending_signals[i]);
	for (size_t i = 0; i < ARRAY_SIZE(other_signals); i++)
		stop_catching(other_signals[i]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	redirect(memory ? memory->errors : open_stream(run->errors), errors, STDERR_FILENO);
	redirect(memory ? memory->output : open_stream(run->output), output, STDOUT_FILENO);
	optind = 0; /* GNU getopt: start anew */
	int status = run->command->run(run->command, count, arguments, &own);
	if (fflush(NULL) || ferror(stdout))
		leave_unwritten(output, errno);
	_exit(status);
}

/* Without descriptors of processes (Linux 5.3, valgrind) it is looked at now and then. */
static int wait_without_pidfd(pid_t pid, int64_t deadline)
{
	for (;;) {
		siginfo_t info = { 0 };
		if (interrupted)
			return -EINTR;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT))
			return -errno;
		if (info.si_pid == pid)
			return 0;
		if (clock_ms() >= deadline)
			return -ETIMEDOUT;
		poll(NULL, 0, 5);
	}
}

/* 0 when the process has ended. */
static int wait_for(pid_t pid, int pidfd, int64_t deadline)
{
	if (pidfd < 0)
		return wait_without_pidfd(pid, deadline);
	for (;;) {
		int64_t left = deadline - clock_ms();
		struct pollfd ready = { .fd = pidfd, .events = POLLIN };
		int count = left > 0 ? poll(&ready, 1, (int)left) : 0;
		if (interrupted)
			return -EINTR;
		if (!count)
			return -ETIMEDOUT;
		if (count > 0)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

static int run_in_process(
        const struct command_run *run, const struct common_options *common, const struct streams *memory)
{
	int64_t deadline = run->deadline_ms ? run->deadline_ms : clock_ms() + USUAL_MS;
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		work(run, common, memory);
	autoclose int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int status = 0, result = wait_for(pid, pidfd, deadline - run->grace_ms);
	if (result == -ETIMEDOUT && run->grace_ms && !kill(pid, SIGINT))
		result = wait_for(pid, pidfd, deadline);
	if (result) {
		kill(pid, SIGKILL);
		/* One in uninterruptible sleep is not waited for. */
		waitpid(pid, NULL, WNOHANG);
		return result;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (!WIFEXITED(status))
		return -EIO;
	return WEXITSTATUS(status) > UNWRITTEN ? UNWRITTEN - WEXITSTATUS(status) : WEXITSTATUS(status);
}

int run_command_in_process(const struct command_run *run, const struct common_options *common)
{
	return run_in_process(run, common, NULL);
}

int run_command_in_memory(
        const struct command_run *run, const struct common_options *common, char **text, size_t *length)
{
	struct error error = { 0 };
	autoclose int output = memfd_create("output", MFD_CLOEXEC);
	autoclose int errors = output < 0 ? -1 : memfd_create("messages", MFD_CLOEXEC);
	*text = NULL;
	*length = 0;
	if (errors < 0)
		return -errno;
	int status = run_in_process(run, common, &(struct streams){ output, errors });
	if (status < 0)
		return status;
	if (lseek(output, 0, SEEK_SET))
		return -errno;
	int result = file_read_descriptor(output, "output", text, length, &error);
	return result ? result : status;
}

const char *run_command_failure(int status)
{
	return status == -ETIMEDOUT ? "did not end in time"
	       : status == -EIO     ? "died before it was done"
	       : status == -EINTR   ? "was interrupted"
	                            : strerror(-status);
}
