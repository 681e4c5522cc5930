/* SPDX-License-Identifier: MIT */
/* Set-up steps that hang, and a traced process that did not live to the end. */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

/* Waiting for a completion or for the peer is not hanging: other rules judge it. */
static bool is_waiting(const struct stuck_step *stuck)
{
	return !stuck->step || text_has(stuck->step, "wait") || text_has(stuck->step, "poll_cq") ||
	       text_has(stuck->step, "get_cq_event") || text_is(explain_step(stuck->step), "control") ||
	       text_is(stuck->step, "connect");
}

static bool waits_for_firmware(const struct stuck_step *stuck)
{
	/* Names of mlx5's, mlx4's and others' waits for a command (kernel, mlx5/core/cmd.c: wait_func()). */
	return text_has(stuck->wait_channel, "cmd") || text_has(stuck->wait_channel, "wait_func") ||
	       text_has(stuck->stack, "cmd_exec") || text_has(stuck->stack, "wait_func");
}

/* proc_pid_wchan(5): "0" where it does not sleep, or where it may not be read. */
static bool is_readable(const char *wait_channel)
{
	return wait_channel && *wait_channel && strcmp(wait_channel, "0") != 0;
}

/* futex(2): only another thread of the program can end it. */
static bool sleeps_in_user_space(const struct stuck_step *stuck)
{
	return text_has(stuck->system_call, "futex") || (!stuck->system_call && text_has(stuck->wait_channel, "futex"));
}

static bool waits_for_others(const struct stuck_step *stuck)
{
	static const char *const calls[] = { "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "read",
		"recvfrom", "recvmsg", "nanosleep", "clock_nanosleep", "wait4", "waitid" };
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (text_is(stuck->system_call, calls[i]))
			return true;
	return false;
}

/*
 * A process that somebody stopped, whatever it was doing: job control, a debugger, a frozen cgroup (kernel,
 * do_signal_stop() and ptrace_stop() in kernel/signal.c, refrigerator in kernel/freezer.c, kernel/cgroup/freezer.c).
 * What the compiler puts into get_signal() has its name: Linux 6.1 does that with do_freezer_trap().
 */
static bool is_stopped(const struct stuck_step *stuck)
{
	static const char *const channels[] = { "signal_stop", "ptrace_stop", "refrigerator", "freezer", "get_signal" };
	for (size_t i = 0; i < ARRAY_SIZE(channels); i++)
		if (text_has(stuck->wait_channel, channels[i]))
			return true;
	return false;
}

static bool judge_stopped(struct judge *judge)
{
	const struct stuck_step *stuck = judge->evidence->stuck;
	if (!stuck || !stuck->step || !is_stopped(stuck) || judge->failed || judge->flushed)
		return false;
	because(judge, "the traced process sleeps in %s: somebody stopped it, and nobody let it go on",
	        stuck->wait_channel);
	if (success_count(judge))
		because(judge, "%" PRId64 " operation%s had completed successfully before", success_count(judge),
		        plural(success_count(judge)));
	summarize(judge, "the traced process was stopped, and did not go on: %s", stuck->step);
	next_step(judge, "see who stops it: job control (jobs, fg), a debugger, or a frozen cgroup (cgroup.freeze)");
	return undetermined(
	        judge, judge->posted ? OUTCOME_STALLED : OUTCOME_NOT_RUN, L(APPLICATION) | L(CONFIGURATION));
}

/* What comes after it may be its consequence. */
static bool tell_stopped_device(struct judge *judge)
{
	if (!own_event(judge, SIDE_LOCAL, "DEVICE_FATAL"))
		return false;
	tell_events(judge);
	next_step(judge, "%s", explain_event("DEVICE_FATAL")->text.next);
	return true;
}

static bool is_posting(const struct stuck_step *stuck)
{
	return text_has(stuck->step, "post_send") || text_has(stuck->step, "wr_complete");
}

/* rxe sends from within the call that posts, and tries again there while the host's network stack refuses its packets.
 */
static layer_set layers_of_sending(struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	if (!is_posting(judge->evidence->stuck) || !is_software(local) || (local->filter && !*local->filter))
		return 0;
	because(judge, "soft RoCE may send from within this call, and goes on as long as the host refuses its packets");
	tell_filters(judge);
	advise_output(judge);
	return L(CONFIGURATION);
}

/* Steps that wait for others by their nature. */
static bool judge_waiting_step(struct judge *judge)
{
	const char *step = judge->evidence->stuck->step;
	if (text_is(step, "rdma_connect")) {
		because(judge, "the kernel makes the connection in this call, and waits for the peer in it");
		summarize(judge, "the iWARP connection to the peer did not come about in time");
		next_step(judge, "look at packet filters for TCP on %s, and whether the peer still listens",
		        both_hosts(judge));
		return undetermined(judge, OUTCOME_NOT_RUN,
		        L(CONFIGURATION) | L(NETWORK) | L(REMOTE_APPLICATION) | L(REMOTE_DEVICE));
	}
	if (text_is(step, "getaddrinfo")) {
		summarize(judge, "the name of the peer was not resolved in time");
		next_step(judge, "give the address itself, and look at the name servers of this host");
		return undetermined(judge, OUTCOME_NOT_RUN, L(CONFIGURATION) | L(NETWORK));
	}
	return false;
}

static bool is_running(const struct stuck_step *stuck)
{
	return text_is(stuck->system_call, "running");
}

/* NULL: it is in none, or that is not known. */
static const char *system_call_of(const struct stuck_step *stuck)
{
	return is_running(stuck) || text_is(stuck->system_call, "none") ? NULL : stuck->system_call;
}

static bool judge_stuck_device(struct judge *judge, enum outcome outcome)
{
	const struct stuck_step *stuck = judge->evidence->stuck;
	if (!tell_stopped_device(judge))
		return false;
	if (is_readable(stuck->wait_channel))
		because(judge, "it sleeps in %s", stuck->wait_channel);
	summarize(judge, "%s %s, and the adapter stopped working or was removed", stuck->step,
	        is_running(stuck) ? "does not return" : "hangs");
	bool kernel = !sleeps_in_user_space(stuck) && (system_call_of(stuck) || is_readable(stuck->wait_channel));
	return undetermined(judge, outcome,
	        L(DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION) | (kernel ? 0 : L(PROVIDER) | L(APPLICATION)));
}

/* By where it was found: running, in a lock, in a system call, or nowhere that is known. */
static bool judge_place(struct judge *judge, enum outcome outcome)
{
	const struct stuck_step *stuck = judge->evidence->stuck;
	const layer_set below = L(KERNEL) | L(DEVICE) | L(PLATFORM);
	if (is_running(stuck)) {
		because(judge, "it does not sleep in the kernel: it was running when it was looked at");
		return undetermined(judge, outcome, below | L(PROVIDER) | layers_of_sending(judge));
	}
	if (sleeps_in_user_space(stuck)) {
		because(judge, "that is a lock of the program or of its libraries, and no work of the kernel");
		next_step(judge, "see which threads of the program hold locks (gdb, thread apply all bt)");
		return undetermined(judge, outcome, L(APPLICATION) | L(PROVIDER));
	}
	if (waits_for_others(stuck)) {
		because(judge,
		        "that call waits for what somebody else is to say: the library asked, and got no answer");
		return undetermined(judge, outcome, below | L(APPLICATION) | L(PROVIDER));
	}
	if (!system_call_of(stuck) && !is_readable(stuck->wait_channel) && !stuck->stack) {
		not_observed(judge, "where it hangs: %s",
		        stuck->system_call ? "it is in no system call, and its wait channel was not readable"
		                           : "system call and wait channel were not readable");
		/* In a fault of a page, in a lock of the program, or stopped by somebody. */
		return undetermined(judge, outcome, below | L(PROVIDER) | L(APPLICATION) | L(CONFIGURATION));
	}
	if (waits_for_firmware(stuck)) {
		because(judge, "that is where the driver waits for a command of the adapter");
		return undetermined(judge, outcome, below);
	}
	/* Somebody may have stopped it within the call as well. */
	if (!is_readable(stuck->wait_channel) && !stuck->stack) {
		not_observed(judge, "where in the kernel it sleeps, or whether somebody stopped it there");
		return undetermined(judge, outcome, below | L(CONFIGURATION) | L(APPLICATION));
	}
	return likely(judge, outcome, LAYER_KERNEL, L(DEVICE) | L(PLATFORM));
}

static void tell_done_before(struct judge *judge, bool all)
{
	const struct operation *pending = judge->pending;
	int64_t count = success_count(judge);
	if (all)
		because(judge, "%s had completed successfully before", all_operations(judge, count));
	else if (count)
		because(judge, "%" PRId64 " operation%s had completed successfully before", count, plural(count));
	if (pending && !is_in_post(pending))
		because(judge, "the %s had been posted before, and had no completion by then",
		        request_words(judge, pending->opcode, pending->bytes));
}

bool rule_stuck(struct judge *judge)
{
	const struct stuck_step *stuck = judge->evidence->stuck;
	if (judge_stopped(judge))
		return true;
	if (!stuck || is_waiting(stuck))
		return false;
	/* A hang at the end, after everything went well, does not undo it; who still posts is not at the end. */
	bool done = all_ended_well(judge) && !is_posting(stuck);
	if (done && judge->wrong)
		return false;
	/* The first error wins. */
	if (judge->failed || judge->flushed) {
		because(judge, "afterwards %s did not return before the deadline", stuck->step);
		if (!is_stopped(stuck))
			next_step(judge, "read the kernel log for hung tasks and messages of the adapter's driver");
		return false;
	}
	enum outcome outcome = done ? OUTCOME_DEGRADED : OUTCOME_STALLED;
	because(judge, "%s had not returned when the deadline came", stuck->step);
	if (judge_waiting_step(judge))
		return true;
	tell_done_before(judge, done);
	if (judge_stuck_device(judge, outcome))
		return true;
	const char *call = system_call_of(stuck);
	summarize(judge, "%s %s%s%s", stuck->step, is_running(stuck) ? "does not return" : "hangs",
	        call ? " in system call " : "", call ? call : "");
	if (!sleeps_in_user_space(stuck))
		next_step(judge, "read the kernel log for hung tasks and messages of the adapter's driver");
	if (is_readable(stuck->wait_channel))
		because(judge, "it sleeps in %s", stuck->wait_channel);
	return judge_place(judge, outcome);
}

static void tell_early_end(struct judge *judge, const char *how)
{
	const char *call = unended_call(judge->evidence);
	because(judge, "the traced process %s before it was done", how);
	if (call)
		because(judge, "%s had begun by then, and not ended", call);
	if (success_count(judge))
		because(judge, "%" PRId64 " operation%s had succeeded by then", success_count(judge),
		        plural(success_count(judge)));
	summarize(judge, "the traced process %s", how);
}

static const char *with_number(struct judge *judge, const char *how, int64_t number)
{
	const char *text = arena_printf(judge->arena, "%s %" PRId64, how, number);
	return text ? text : how;
}

/* No kernel and nobody from outside makes a process call exit(3): code in it does, the program's or the provider's. */
static bool judge_left(struct judge *judge, enum outcome outcome)
{
	tell_early_end(
	        judge, with_number(judge, "left by itself with status", judge->evidence->left_with_status.value));
	next_step(judge, "look at what it printed before it left, and at the version of the provider");
	return undetermined(judge, outcome, L(APPLICATION) | L(PROVIDER));
}

/* signal(7). */
static const struct ending {
	int number;
	const char *name;
	const char *meaning; /* NULL: there are many reasons, and none is given */
	const char *next;    /* NULL: look for a core dump */
	layer_set more;      /* than may end any process */
	bool is_limit;       /* somebody set a limit, and the kernel sends it for nothing else */
} endings[] = {
	{ SIGHUP, "SIGHUP", NULL, NULL, 0, false },
	{ SIGILL, "SIGILL", "It came to an instruction that this CPU does not have.", NULL, L(PLATFORM), false },
	{ SIGABRT, "SIGABRT", "The program or a library of it gave up by itself.", NULL, 0, false },
	/* Memory behind a mapping went away: registers of a device that was removed, or broken memory. */
	{ SIGBUS, "SIGBUS", NULL, NULL, L(DEVICE) | L(PLATFORM), false },
	{ SIGKILL, "SIGKILL", "The kernel sends it where memory runs out; else a program or a person did.",
	        "look for the out-of-memory killer in the kernel's log and in memory.events of the cgroup, then for "
	        "who ends processes here",
	        0, false },
	{ SIGSEGV, "SIGSEGV", NULL, NULL, 0, false },
	{ SIGTERM, "SIGTERM", NULL, NULL, 0, false },
	{ SIGXCPU, "SIGXCPU", "The limit of CPU time was used up (RLIMIT_CPU).",
	        "raise the limit of CPU time: ulimit -t, LimitCPU= of the service", 0, true },
	{ SIGXFSZ, "SIGXFSZ", "A file would have become larger than the limit allows (RLIMIT_FSIZE).",
	        "raise the limit of file sizes: ulimit -f, LimitFSIZE= of the service", 0, true },
	{ SIGSYS, "SIGSYS", "A filter of system calls (seccomp) sends it for a call that it does not allow.",
	        "look at the seccomp profile of the container, SystemCallFilter= of the service, and the kernel's "
	        "audit log",
	        0, true },
};

static const struct ending *find_ending(int64_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (endings[i].number == number)
			return &endings[i];
	return NULL;
}

/*
 * What a dead process had still to do is unknown, and who killed it as well: its own code, the provider in it, the
 * kernel (memory), or a person.
 */
static bool judge_dead(struct judge *judge, enum outcome outcome, const char *how, const struct ending *ending)
{
	tell_early_end(judge, how);
	if (ending && ending->meaning)
		because(judge, "%s", ending->meaning);
	next_step(judge, "%s",
	        ending && ending->next ? ending->next
	                               : "look for a core dump, and for the out-of-memory killer in the kernel's log");
	layer_set set = L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(CONFIGURATION) | (ending ? ending->more : 0);
	if (tell_stopped_device(judge))
		set |= L(DEVICE) | L(PLATFORM);
	return ending && ending->is_limit ? likely(judge, outcome, LAYER_CONFIGURATION, set)
	                                  : undetermined(judge, outcome, set);
}

static const char *death_words(struct judge *judge, int64_t number, const struct ending *ending)
{
	const char *text = with_number(judge, "died of signal", number);
	const char *named = ending ? arena_printf(judge->arena, "%s (%s)", text, ending->name) : NULL;
	return named ? named : text;
}

bool rule_died(struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	struct num died = evidence->died_of_signal;
	/* At the end, after everything went well, it does not undo that. */
	const char *call = unended_call(evidence);
	bool done = call && is_teardown(call) && all_ended_well(judge) && !judge->wrong;
	enum outcome outcome = done ? OUTCOME_DEGRADED : judge->posted ? OUTCOME_FAILED : OUTCOME_NOT_RUN;
	if (!died.known && evidence->left_with_status.known)
		return judge_left(judge, outcome);
	if (!died.known && evidence->ended_unseen != FLAG_YES)
		return false;
	if (!died.known)
		not_observed(judge, "how the traced process ended: by a signal, or by itself");
	const struct ending *ending = died.known ? find_ending(died.value) : NULL;
	return judge_dead(judge, outcome, died.known ? death_words(judge, died.value, ending) : "ended", ending);
}
