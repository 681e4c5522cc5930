/* SPDX-License-Identifier: MIT */
#include "origin/worker.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/signals.h"
#include "origin/private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* It sleeps in pieces, so that it notices when it could not run. */
enum { NAP_MS = 250, LATE_MS = 250 };
enum { CALL_MS = 2000, OVERALL_MS = 20000, LEAST_MS = 500, LOSS_LIMIT = 64, NS_IN_MS = 1000000 };

/* What worker and parent share besides the job's own data. */
struct shared {
	struct watch lanes[WATCH_LANES];
	int ended; /* `result` and `error` hold */
	int result;
	struct error error;
};

static volatile sig_atomic_t caught;

static void catch_signal(int signal)
{
	caught = signal;
}

struct signals {
	struct sigaction actions[ENDING_SIGNALS]; /* as in ending_signals[] */
	sigset_t mask;
};

/* The signals reach this process only while it waits, so none is missed between looking and waiting. */
static void hold_signals(struct signals *old)
{
	struct sigaction action = { .sa_handler = catch_signal };
	sigset_t set = ending_signal_set();
	caught = 0;
	sigprocmask(SIG_BLOCK, &set, &old->mask);
	for (int i = 0; i < ENDING_SIGNALS; i++) {
		sigaction(ending_signals[i], NULL, &old->actions[i]);
		if (old->actions[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
}

static void release_signals(const struct signals *old)
{
	for (int i = 0; i < ENDING_SIGNALS; i++)
		sigaction(ending_signals[i], &old->actions[i], NULL);
	sigprocmask(SIG_SETMASK, &old->mask, NULL);
}

static unsigned int setting(const char *name, unsigned int otherwise)
{
	int64_t value;
	const char *text = getenv(name);
	return text && !parse_number(text, 10, &value) && value > 0 && value < 3600000 ? (unsigned int)value
	                                                                               : otherwise;
}

unsigned int worker_overall_ms(unsigned int otherwise)
{
	return setting("RDMADIAG_TIMEOUT_MS", otherwise ? otherwise : OVERALL_MS);
}

struct supervisor {
	const struct worker_job *job;
	struct worker_result *result;
	struct shared *shared;
	const struct signals *signals;
	struct watch_skip *skips; /* malloc'ed */
	size_t skip_count;
	size_t lanes; /* of the next worker */
	unsigned int call_ms, overall_ms;
	uint64_t deadline_ns; /* of everything */
	/* The call that will be too late first, as it was last seen. */
	size_t late_lane;
	uint64_t started_ns;
	uint64_t paused_call_ns, paused_ns; /* its start, and for how long nothing ran since then, see note_pause() */
	size_t under_way;                   /* calls at that moment */
	uint64_t busy_ns;                   /* since then every lane of several has a call under way; 0: not so */
	/* Of the worker, when it was last looked at whether it runs at all. */
	uint64_t looked_ns, processor_ns;
};

__attribute__((noreturn)) static void work(const struct supervisor *supervisor, pid_t parent)
{
	const struct worker_job *job = supervisor->job;
	struct shared *shared = supervisor->shared;
	/* The parent alone answers the terminal; the worker goes with it whatever happens. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &supervisor->signals->mask, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	origin_watch(job->origin, shared->lanes, supervisor->lanes);
	for (size_t i = 0; i < supervisor->skip_count; i++)
		if (origin_skip(job->origin, &supervisor->skips[i]))
			_exit(1);
	shared->result = job->run(job->origin, job->data, &shared->error);
	__atomic_store_n(&shared->ended, 1, __ATOMIC_RELEASE);
	_exit(0);
}

enum ending { ENDED, STALLED, STUCK, OVERALL, INTERRUPTED };

static uint64_t started_ns(const struct supervisor *supervisor, size_t lane)
{
	return __atomic_load_n(&supervisor->shared->lanes[lane].started_ns, __ATOMIC_ACQUIRE);
}

/* Counts the calls under way, finds the one that is for the longest time, and since when every lane has one. */
static void see_calls(struct supervisor *supervisor)
{
	uint64_t latest = 0;
	supervisor->started_ns = 0;
	supervisor->under_way = 0;
	for (size_t lane = 0; lane < supervisor->lanes; lane++) {
		uint64_t started = started_ns(supervisor, lane);
		if (!started)
			continue;
		supervisor->under_way++;
		latest = started > latest ? started : latest;
		if (supervisor->started_ns && started >= supervisor->started_ns)
			continue;
		supervisor->started_ns = started;
		supervisor->late_lane = lane;
	}
	bool all = supervisor->lanes > 1 && supervisor->under_way == supervisor->lanes;
	supervisor->busy_ns = all ? latest : 0;
}

/*
 * This process slept much longer than it asked for: job control stopped it, most likely with its worker, or the machine
 * was paused. That time is nobody's.
 */
static void note_pause(struct supervisor *supervisor, uint64_t slept_ns, int64_t asked_ms)
{
	uint64_t asked_ns = (uint64_t)asked_ms * NS_IN_MS;
	if (slept_ns < asked_ns + (uint64_t)LATE_MS * NS_IN_MS)
		return;
	see_calls(supervisor);
	if (supervisor->paused_call_ns != supervisor->started_ns) {
		supervisor->paused_call_ns = supervisor->started_ns;
		supervisor->paused_ns = 0;
	}
	supervisor->paused_ns += slept_ns - asked_ns;
	supervisor->deadline_ns += slept_ns - asked_ns;
}

/* What is left of `allowed_ms` that began at `since_ns`; all of it where nothing began (0). */
static int64_t left_ns(uint64_t since_ns, unsigned int allowed_ms, uint64_t now)
{
	return (int64_t)allowed_ms * NS_IN_MS - (since_ns ? (int64_t)(now - since_ns) : 0);
}

/* Milliseconds until something is to be done about the worker, which is then `ending`; not positive when it is now. */
static int64_t time_left_ms(struct supervisor *supervisor, enum ending *ending)
{
	see_calls(supervisor);
	uint64_t now = clock_ns();
	int64_t left = (int64_t)(supervisor->deadline_ns - now);
	int64_t call = left_ns(supervisor->started_ns, supervisor->call_ms, now);
	if (supervisor->started_ns && supervisor->started_ns == supervisor->paused_call_ns)
		call += (int64_t)supervisor->paused_ns;
	*ending = OVERALL;
	if (call < left) {
		left = call;
		*ending = STUCK;
	}
	/* Neither goes on: one may wait for what the other holds. They are made one after the other then. */
	uint64_t since = supervisor->busy_ns && supervisor->looked_ns > supervisor->busy_ns ? supervisor->looked_ns
	                                                                                    : supervisor->busy_ns;
	int64_t both = left_ns(since, supervisor->call_ms / 4, now);
	if (supervisor->lanes > 1 && both < left) {
		left = both;
		*ending = STALLED;
	}
	return left <= 0 ? 0 : left / NS_IN_MS + 1;
}

/* Has the worker used a processor since it was last asked? Calls that block do not. */
static bool has_run(struct supervisor *supervisor, pid_t pid)
{
	clockid_t clock;
	struct timespec time;
	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return false;
	uint64_t used = (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
	bool ran = used != supervisor->processor_ns;
	supervisor->processor_ns = used;
	supervisor->looked_ns = clock_ns();
	return ran;
}

static bool has_exited(pid_t pid)
{
	siginfo_t info = { 0 };
	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

static enum ending wait_for(struct supervisor *supervisor, pid_t pid, int pipe_end)
{
	for (;;) {
		enum ending ending;
		int64_t left = time_left_ms(supervisor, &ending);
		if (!left && ending == STALLED && has_run(supervisor, pid))
			continue;
		if (!left)
			return ending;
		struct pollfd ready = { .fd = pipe_end, .events = POLLIN };
		sigset_t open = supervisor->signals->mask;
		for (int i = 0; i < ENDING_SIGNALS; i++)
			sigdelset(&open, ending_signals[i]);
		uint64_t asleep_ns = clock_ns();
		left = left < NAP_MS ? left : NAP_MS;
		int result = poll_with_signals(&ready, 1, left, &open);
		note_pause(supervisor, clock_ns() - asleep_ns, left);
		if (result > 0 || (result < 0 && has_exited(pid)))
			return ENDED;
		if (caught)
			return INTERRUPTED;
	}
}

/* `status` is what wait(2) told of the worker, 0 where it was given up. After it, nothing is asked beside anything
 * else: what was answered is answered again, and one call is to blame. */
static int note_loss(struct supervisor *supervisor, size_t lane, unsigned int waited_ms, int status)
{
	supervisor->lanes = 1;
	struct worker_loss *loss = list_add(supervisor->job->arena, &supervisor->result->losses);
	struct watch_skip *skips =
	        reallocarray(supervisor->skips, supervisor->skip_count + 1, sizeof(*supervisor->skips));
	if (skips)
		supervisor->skips = skips;
	if (!loss || !skips)
		return -ENOMEM;
	loss->watch = supervisor->shared->lanes[lane];
	loss->waited_ms = waited_ms;
	loss->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	loss->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	struct watch_skip *skip = &skips[supervisor->skip_count++];
	*skip = (struct watch_skip){ .kind = loss->watch.kind, .died = !waited_ms };
	memcpy(skip->subject, loss->watch.subject, sizeof(skip->subject));
	memcpy(skip->action, loss->watch.action, sizeof(skip->action));
	return 0;
}

/* The worker's end of the pipe closed, so it ends or has ended. */
static int reap(struct supervisor *supervisor, pid_t pid, struct error *error, bool *again)
{
	struct shared *shared = supervisor->shared;
	int status = 0;
	pid_t waited;
	do
		waited = waitpid(pid, &status, 0);
	while (waited < 0 && errno == EINTR);
	if (__atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE)) {
		if (error)
			*error = shared->error;
		return shared->result;
	}
	see_calls(supervisor);
	if (!supervisor->under_way && waited != pid)
		return error_say(error, -ECHILD, "the collecting process ended, and it is not known how");
	if (!supervisor->under_way && WIFSIGNALED(status))
		return error_say(error, -ECHILD, "the collecting process died (signal %d)", WTERMSIG(status));
	if (!supervisor->under_way)
		return error_say(
		        error, -ECHILD, "the collecting process left by itself (status %d)", WEXITSTATUS(status));
	*again = true;
	if (supervisor->under_way == 1)
		return note_loss(supervisor, supervisor->late_lane, 0, status);
	supervisor->lanes = 1; /* which of them it was shows when they are made one after the other */
	return 0;
}

static int give_up(struct supervisor *supervisor, enum ending ending, struct error *error, bool *again)
{
	switch (ending) {
	case STALLED:
		*again = true;
		supervisor->lanes = 1;
		return 0;
	case STUCK:
		*again = true;
		/* It may have gone on just before the signal came: then no call is to blame. */
		if (started_ns(supervisor, supervisor->late_lane) != supervisor->started_ns)
			return 0;
		int lost = note_loss(supervisor, supervisor->late_lane, supervisor->call_ms, 0);
		/* A driver that hangs tends to hang for each of its devices. */
		supervisor->call_ms =
		        supervisor->call_ms / 2 < LEAST_MS ? supervisor->call_ms : supervisor->call_ms / 2;
		return lost;
	case OVERALL:
		supervisor->result->overall_ms = supervisor->overall_ms;
		for (size_t lane = 0, lanes = supervisor->lanes; lane < lanes; lane++)
			if (started_ns(supervisor, lane))
				(void)note_loss(supervisor, lane, supervisor->overall_ms, 0);
		return error_say(
		        error, -ETIMEDOUT, "collecting ended at its deadline of %u ms", supervisor->overall_ms);
	default:
		supervisor->result->interrupted = caught;
		return error_say(error, -EINTR, "interrupted while this host was looked at");
	}
}

static int run_worker(struct supervisor *supervisor, struct error *error, bool *again)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return error_set(error, -errno, "starting the collecting process");
	*supervisor->shared = (struct shared){ 0 };
	supervisor->looked_ns = supervisor->processor_ns = 0;
	if (supervisor->job->reset)
		supervisor->job->reset(supervisor->job->data);
	supervisor->result->workers++;
	pid_t parent = getpid(), pid = fork();
	if (!pid) {
		close(ends[0]);
		work(supervisor, parent);
	}
	int fork_error = pid < 0 ? -errno : 0;
	close(ends[1]);
	autoclose int pipe_end = ends[0];
	if (fork_error)
		return error_set(error, fork_error, "starting the collecting process");
	enum ending ending = wait_for(supervisor, pid, pipe_end);
	if (ending == ENDED)
		return reap(supervisor, pid, error, again);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, WNOHANG);
	return give_up(supervisor, ending, error, again);
}

static int supervise(struct supervisor *supervisor, struct error *error)
{
	supervisor->lanes = WATCH_LANES;
	supervisor->call_ms = setting("RDMADIAG_CALL_TIMEOUT_MS", CALL_MS);
	supervisor->overall_ms = worker_overall_ms(supervisor->job->overall_ms);
	supervisor->deadline_ns = clock_ns() + (uint64_t)supervisor->overall_ms * NS_IN_MS;
	for (;;) {
		bool again = false;
		int result = run_worker(supervisor, error, &again);
		if (result || !again || supervisor->skip_count >= LOSS_LIMIT)
			return result;
	}
}

int worker_run(const struct worker_job *job, struct worker_result *result, struct error *error)
{
	*result = (struct worker_result){ 0 };
	if (strcmp(origin_name(job->origin), "live")) {
		if (job->reset)
			job->reset(job->data);
		return job->run(job->origin, job->data, error);
	}
	struct signals signals;
	struct supervisor supervisor = {
		.job = job, .result = result, .shared = arena_new_object(job->arena, struct shared), .signals = &signals
	};
	if (!supervisor.shared)
		return -ENOMEM;
	hold_signals(&signals);
	int ended = supervise(&supervisor, error);
	release_signals(&signals);
	free(supervisor.skips);
	return ended;
}
