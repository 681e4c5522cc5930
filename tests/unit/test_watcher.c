/* SPDX-License-Identifier: MIT */
/* Signals: one that comes before the traced process could prepare for it, and those that it dies of. */
#include "base/arena.h"
#include "probe/run.h"
#include "probe/settings.h"
#include "probe/watcher.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 40 };

static int wait_to_be_stopped(struct probe_run *run, int fd)
{
	(void)fd;
	for (int i = 0; i < 1000 && !run_stopped(run); i++)
		usleep(1000);
	return 0;
}

/* It is pending when the child is made, and delivered to the parent with its first look at the child. */
static void run_with_pending(int number)
{
	static const struct survey survey;
	static struct probe_settings settings;
	struct arena *arena = arena_new(64 << 20);
	settings_init(&settings);
	struct probe_run *run = run_new(arena, &settings, &survey);
	assert_non_null(run);
	assert_int_equal(watcher_signals(), 0);
	raise(number);
	assert_int_equal(watcher_run(run, wait_to_be_stopped, -1), 0);
	assert_int_equal(watcher_signal(), number);
	assert_int_equal(run->stop, number);
	assert_false(run->document.evidence.died_of_signal.known);
	assert_int_equal(run->document.evidence.interrupted, FLAG_YES);
	assert_true(run->finished);
	arena_free(arena);
}

static void test_stopped_at_once(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		run_with_pending(SIGTERM);
}

static void test_hangup(void **state)
{
	(void)state;
	run_with_pending(SIGHUP);
}

/* nohup(1) */
static void test_hangup_ignored(void **state)
{
	(void)state;
	struct sigaction action;
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(watcher_signals(), 0);
	assert_int_equal(sigaction(SIGHUP, NULL, &action), 0);
	assert_ptr_equal(action.sa_handler, SIG_IGN);
	assert_int_equal(watcher_signal(), 0);
}

/* ---- the traced process dies ---- */

static int die(struct probe_run *run, int fd)
{
	(void)fd;
	run_enter(run, "ibv_reg_mr", 15000);
	raise(SIGKILL);
	return 0;
}

static int die_between_steps(struct probe_run *run, int fd)
{
	(void)run, (void)fd;
	raise(SIGTERM); /* ignored: the other process decides */
	raise(SIGKILL);
	return 0;
}

/* As by the kernel's out-of-memory killer, while the exit gives back what the devices hold. */
static int die_at_exit(struct probe_run *run, int fd)
{
	(void)fd;
	__atomic_store_n(&run->finished, 1, __ATOMIC_RELEASE);
	raise(SIGKILL);
	return 0;
}

/* A provider that calls exit(3). */
static int leave(struct probe_run *run, int fd)
{
	(void)fd;
	run_enter(run, "ibv_create_cq", 15000);
	_exit(7);
}

static void test_leaving(void **state)
{
	(void)state;
	static const struct survey survey;
	static struct probe_settings settings;
	settings_init(&settings);
	struct arena *arena = arena_new(64 << 20);
	struct probe_run *run = run_new(arena, &settings, &survey);
	assert_non_null(run);
	watcher_run(run, leave, -1);
	const struct evidence *evidence = &run->document.evidence;
	assert_true(evidence->left_with_status.known);
	assert_int_equal(evidence->left_with_status.value, 7);
	assert_false(evidence->died_of_signal.known);
	assert_int_equal(run->report.not_collected.count, 1);
	assert_string_equal(run->error.text, "the traced process left by itself (status 7) in ibv_create_cq");
	arena_free(arena);
}

/* Who ignores SIGCHLD has nobody to wait for: that a process is gone is seen, and not how. */
static void test_unseen_end(void **state)
{
	(void)state;
	static const struct survey survey;
	static struct probe_settings settings;
	settings_init(&settings);
	struct arena *arena = arena_new(64 << 20);
	struct probe_run *run = run_new(arena, &settings, &survey);
	assert_non_null(run);
	signal(SIGCHLD, SIG_IGN);
	watcher_run(run, die, -1);
	signal(SIGCHLD, SIG_DFL);
	const struct evidence *evidence = &run->document.evidence;
	assert_int_equal(evidence->ended_unseen, FLAG_YES);
	assert_false(evidence->died_of_signal.known);
	assert_null(evidence->stuck);
	arena_free(arena);
}

static void test_death(void **state)
{
	(void)state;
	static const struct {
		int (*job)(struct probe_run *run, int fd);
		const char *where; /* NULL: nothing is lost, and nothing said */
	} cases[] = { { die, "in ibv_reg_mr" }, { die_between_steps, "between two steps" }, { die_at_exit, NULL } };
	static const struct survey survey;
	static struct probe_settings settings;
	settings_init(&settings);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arena *arena = arena_new(64 << 20);
		struct probe_run *run = run_new(arena, &settings, &survey);
		assert_non_null(run);
		watcher_run(run, cases[i].job, -1);
		const struct evidence *evidence = &run->document.evidence;
		assert_int_equal(evidence->died_of_signal.known, cases[i].where != NULL);
		assert_int_equal(run->report.not_collected.count, cases[i].where != NULL);
		if (cases[i].where) {
			assert_int_equal(evidence->died_of_signal.value, SIGKILL);
			assert_non_null(strstr(run->error.text, "died of signal 9 (Killed) "));
			assert_non_null(strstr(run->error.text, cases[i].where));
		}
		assert_null(evidence->stuck);
		arena_free(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stopped_at_once),
		cmocka_unit_test(test_hangup),
		cmocka_unit_test(test_hangup_ignored),
		cmocka_unit_test(test_unseen_end),
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_leaving),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
