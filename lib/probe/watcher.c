/* SPDX-License-Identifier: MIT */
#include "probe/watcher.h"

#include "base/cleanup.h"
#include "base/signals.h"
#include "probe/listener.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	TICK_MS = 20,
	GRACE_MS = 2000, /* for an orderly end after a signal: the child gives its objects back and asks its peer */
	KILL_MS = 1000,  /* for the kernel to end a killed child */
	TEXT_SIZE = 4096,
};

/* ---- signals ---- */

static volatile sig_atomic_t caught;

static void note(int signal)
{
	caught = signal;
}

/* The signals stay blocked but in ppoll(), so that none comes between a look at `caught` and the wait. */
int watcher_signals(void)
{
	sigset_t set = ending_signal_set();
	caught = 0;
	int result = catch_ending_signals(note);
	if (result)
		return result;
	signal(SIGPIPE, SIG_IGN);
	return sigprocmask(SIG_BLOCK, &set, NULL) ? -errno : 0;
}

int watcher_signal(void)
{
	return caught;
}

/* With the signals open; a negative time is none. */
static int poll_open(struct pollfd *entries, size_t count, int timeout_ms)
{
	sigset_t none;
	sigemptyset(&none);
	return poll_with_signals(entries, count, timeout_ms, &none);
}

int watcher_wait(struct pollfd *entries, size_t count, int timeout_ms)
{
	return caught ? -EINTR : poll_open(entries, count, timeout_ms);
}

/* ---- the child ---- */

static void stop_child(int signal)
{
	(void)signal; /* it interrupts system calls; what to do is in run->stop */
}

/* What ended the job before it could say so: there was no memory for its first step. */
static void note_unsaid(struct probe_run *run, int result)
{
	struct error error = { 0 };
	if (result != -ENOMEM || run->error.code)
		return;
	resource_end(run, resource_begin(run, SIDE_LOCAL, "calloc"), result);
	error_set(&error, result, "the probe cannot start");
	run_failed(run, result, &error);
}

/* SIGUSR1 is blocked at first: the parent may send it before there is a handler. */
_Noreturn static void child_main(struct probe_run *run, int (*job)(struct probe_run *run, int fd), int fd, pid_t parent)
{
	/* A terminal sends SIGINT and SIGHUP to both: the parent decides, and says so with SIGUSR1. */
	sigset_t set = ending_signal_set();
	for (int i = 0; i < ENDING_SIGNALS; i++)
		signal(ending_signals[i], SIG_IGN);
	struct sigaction action = { .sa_handler = stop_child };
	sigaction(SIGUSR1, &action, NULL);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		note_unsaid(run, job(run, fd));
	__atomic_store_n(&run->finished, 1, __ATOMIC_RELEASE);
	_exit(0);
}

/* ---- what the kernel says of a child that does not come back ---- */

static char *read_proc(struct arena *arena, pid_t pid, const char *name)
{
	char path[64], text[TEXT_SIZE];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	autofclose FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[length] = '\0';
	trim_end(text);
	return *text ? arena_strdup(arena, text) : NULL;
}

/* proc_pid_syscall(5): the number first, -1 outside of any, or "running". */
static const char *name_system_call(struct arena *arena, const char *text)
{
	static const struct {
		long number;
		const char *name;
	} calls[] = {
		{ SYS_ioctl, "ioctl" },
		{ SYS_read, "read" },
		{ SYS_write, "write" },
		{ SYS_openat, "openat" },
		{ SYS_close, "close" },
		{ SYS_mmap, "mmap" },
		{ SYS_munmap, "munmap" },
		{ SYS_madvise, "madvise" },
		{ SYS_mbind, "mbind" },
		{ SYS_move_pages, "move_pages" },
		{ SYS_sendto, "sendto" },
		{ SYS_recvfrom, "recvfrom" },
		{ SYS_recvmsg, "recvmsg" },
		{ SYS_sendmsg, "sendmsg" },
		{ SYS_futex, "futex" },
		{ SYS_ppoll, "ppoll" },
		{ SYS_pselect6, "pselect6" },
		{ SYS_epoll_pwait, "epoll_pwait" },
		{ SYS_nanosleep, "nanosleep" },
		{ SYS_clock_nanosleep, "clock_nanosleep" },
		{ SYS_wait4, "wait4" },
		{ SYS_waitid, "waitid" },
		{ SYS_mprotect, "mprotect" },
		{ SYS_mremap, "mremap" },
		{ SYS_pread64, "pread64" },
#ifdef SYS_poll /* not on architectures that are newer than their successors */
		{ SYS_poll, "poll" },
		{ SYS_select, "select" },
		{ SYS_epoll_wait, "epoll_wait" },
#endif
		{ SYS_exit_group, "exit_group" },
	};
	char *end;
	long number = text ? strtol(text, &end, 10) : 0;
	if (!text || end == text || number < 0)
		return text && number < 0 ? "none" : text;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].number == number)
			return calls[i].name;
	return arena_printf(arena, "number %ld", number);
}

static const char *known_wait_channel(const char *text)
{
	return text && strcmp(text, "0") != 0 ? text : NULL;
}

static void describe_stuck(struct probe_run *run, pid_t pid, const struct run_step *step)
{
	struct stuck_step *stuck = arena_new_object(run->arena, struct stuck_step);
	if (!stuck)
		return;
	stuck->step = step->name;
	stuck->started_ns = num(step->started_ns);
	stuck->pid = num(pid);
	stuck->system_call = name_system_call(run->arena, read_proc(run->arena, pid, "syscall"));
	stuck->wait_channel = known_wait_channel(read_proc(run->arena, pid, "wchan"));
	stuck->stack = read_proc(run->arena, pid, "stack");
	if (!stuck->stack)
		report_missing(&run->report, "stuck.stack", "host", 0, "/proc/%d/stack is for root only", (int)pid);
	run_evidence(run)->stuck = stuck;
}

/* ---- watching ---- */

struct child {
	struct probe_run *run;
	pid_t pid;
	int pidfd;
	bool ended;
	bool unknown; /* how it ended: the kernel did not let it be waited for */
	int status;
};

/* Who ignores SIGCHLD has no children to wait for (ECHILD), and a sandbox may refuse to wait at all. */
static bool has_gone(const struct child *child, int error)
{
	struct pollfd entry = { .fd = child->pidfd, .events = POLLIN };
	return error == ECHILD || poll(&entry, 1, 0) > 0 || __atomic_load_n(&child->run->finished, __ATOMIC_ACQUIRE);
}

static bool has_ended(struct child *child)
{
	if (child->ended)
		return true;
	pid_t pid = waitpid(child->pid, &child->status, WNOHANG);
	child->unknown = pid < 0 && errno != EINTR && has_gone(child, errno);
	child->ended = pid == child->pid || child->unknown;
	return child->ended;
}

/* Waits until the child has ended, `ms` at most; returns early on a signal. */
static void wait_child(struct child *child, int ms)
{
	struct pollfd entry = { .fd = child->pidfd, .events = POLLIN };
	poll_open(&entry, 1, ms);
	has_ended(child);
}

static void wait_until_dead(struct child *child, int ms)
{
	int64_t end = run_now(child->run) + ms * INT64_C(1000000);
	while (!has_ended(child) && run_now(child->run) < end)
		wait_child(child, TICK_MS);
}

/* The step the child is in, and whether its time is over. */
static bool is_late(const struct child *child, struct run_step *step)
{
	const struct run_step *shared = &child->run->step;
	step->name = __atomic_load_n(&shared->name, __ATOMIC_ACQUIRE);
	step->started_ns = __atomic_load_n(&shared->started_ns, __ATOMIC_RELAXED);
	step->limit_ns = __atomic_load_n(&shared->limit_ns, __ATOMIC_RELAXED);
	bool same = __atomic_load_n(&shared->name, __ATOMIC_ACQUIRE) == step->name;
	return step->name && same && run_now(child->run) > step->limit_ns;
}

/* Killed, but not waited for where the kernel does not let it go: what it holds goes with it when it comes back. */
static void give_up(struct child *child)
{
	kill(child->pid, SIGKILL);
	wait_until_dead(child, KILL_MS);
}

static void ask_to_stop(struct child *child)
{
	__atomic_store_n(&child->run->stop, caught, __ATOMIC_RELEASE);
	run_evidence(child->run)->interrupted = FLAG_YES;
	kill(child->pid, SIGUSR1);
}

static void follow(struct child *child)
{
	struct run_step step;
	int64_t stop_limit = 0;
	while (!has_ended(child)) {
		if (child->run->listener)
			listener_look(child->run->listener);
		if (caught && !child->run->stop) {
			ask_to_stop(child);
			stop_limit = run_now(child->run) + GRACE_MS * INT64_C(1000000);
		}
		bool late = is_late(child, &step) || (stop_limit && run_now(child->run) > stop_limit);
		if (late) {
			if (step.name)
				describe_stuck(child->run, child->pid, &step);
			give_up(child);
			return;
		}
		wait_child(child, TICK_MS);
		if (child->run->progress)
			child->run->progress(child->run);
	}
}

static void say_ended(struct probe_run *run, const char *how)
{
	const char *name = run->step.name;
	error_say(&run->error, -EIO, "the traced process %s %s%s", how, name ? "in " : "between two steps",
	        name ? name : "");
	report_missing(&run->report, "evidence", "host", 0, "%s", run->error.text);
}

/* Before its job was done: by a signal, or since a library called exit(3). */
static void note_early_end(const struct child *child)
{
	struct probe_run *run = child->run;
	char how[96];
	if (!child->ended || run->finished || run_evidence(run)->stuck)
		return;
	if (child->unknown) {
		snprintf(how, sizeof(how), "ended, it is not known how,");
		run_evidence(run)->ended_unseen = FLAG_YES;
	} else if (WIFSIGNALED(child->status)) {
		int number = WTERMSIG(child->status);
		snprintf(how, sizeof(how), "died of signal %d (%s)", number, strsignal(number));
		run_evidence(run)->died_of_signal = num(number);
	} else {
		snprintf(how, sizeof(how), "left by itself (status %d)", WEXITSTATUS(child->status));
		run_evidence(run)->left_with_status = num(WEXITSTATUS(child->status));
	}
	say_ended(run, how);
}

int watcher_run(struct probe_run *run, int (*job)(struct probe_run *run, int fd), int fd)
{
	sigset_t stop, old;
	sigemptyset(&stop);
	sigaddset(&stop, SIGUSR1);
	sigprocmask(SIG_BLOCK, &stop, &old);
	pid_t parent = getpid(), pid = fork();
	int code = pid < 0 ? -errno : 0;
	if (!pid)
		child_main(run, job, fd, parent);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (code)
		return code;
	struct child child = { .run = run, .pid = pid };
	child.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	follow(&child);
	note_early_end(&child);
	if (child.pidfd >= 0)
		close(child.pidfd);
	struct evidence *evidence = run_evidence(run);
	evidence->ended_ns = num(run_now(run));
	/* Also of a child that did not come to its end. */
	int64_t listed = evidence->operations.count;
	if (evidence->operations_posted.known && evidence->operations_posted.value > listed)
		evidence->operations_omitted = num(evidence->operations_posted.value - listed);
	return 0;
}
