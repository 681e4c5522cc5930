/* SPDX-License-Identifier: MIT */
/* A signal that comes at once: the traced process is asked to stop before it could prepare for that. */
#include "base/arena.h"
#include "probe/run.h"
#include "probe/settings.h"
#include "probe/watcher.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stopped_at_once),
		cmocka_unit_test(test_hangup),
		cmocka_unit_test(test_hangup_ignored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
