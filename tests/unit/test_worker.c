/* SPDX-License-Identifier: MIT */
/*
 * Devices that block or crash a driver, in the worker that asks two at a time: whatever happens, the device that did it
 * is named and the others are answered. What stands for libibverbs here knows devices by their names.
 */
#include "unit.h"

#include "base/cleanup.h"
#include "origin/private.h"
#include "origin/worker.h"
#include "source/verbs.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 6 };

/* In memory that worker and parent share. */
struct scene {
	struct arena *arena;
	const char *list; /* "": it is listed; else what happens to the list, as the names of devices */
	struct verbs_call calls[MANY];
	size_t count;
	size_t answered;          /* calls handed on, in their order */
	size_t stop_at;           /* the answer after which no more are wanted; 0: none */
	_Atomic size_t under_way; /* calls at this moment */
	_Atomic size_t most;      /* most of them, of any worker */
	bool crash_beside_file;
	_Atomic bool reading, crashed;
};

static struct scene *scene;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of a driver, for all its devices */

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void wait_for_company(void)
{
	while (scene->most < 2)
		nap();
}

__attribute__((noreturn)) static void block(void)
{
	for (;;)
		pause();
}

/* What runs beside the crash does not come to its end. */
static void linger(void)
{
	if (!scene->crashed)
		block();
}

static void crash(void)
{
	scene->crashed = true;
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static int list_verbs(struct origin *origin)
{
	(void)origin;
	while (scene->crash_beside_file && !scene->reading)
		nap();
	if (!strcmp(scene->list, "crashes"))
		crash();
	if (!strcmp(scene->list, "leaves")) /* as a library does; the thread sanitizer keeps a thread from _exit(2) */
		syscall(SYS_exit_group, 7);
	if (!strcmp(scene->list, "blocks"))
		block();
	return strcmp(scene->list, "fails") ? 0 : -ENOSYS;
}

static int verbs(struct origin *origin, struct arena *arena, const char *device, const struct verbs_question *question,
        struct verbs_answer *answer, struct error *error)
{
	(void)origin, (void)arena, (void)question, (void)error;
	if (!strcmp(device, "blocks_with_lock"))
		pthread_mutex_lock(&lock);
	size_t now = ++scene->under_way;
	if (now > scene->most)
		scene->most = now;
	if (!strcmp(device, "waits_for_lock")) {
		wait_for_company();
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	if (!strncmp(device, "meets", 5) || !strcmp(device, "crashes"))
		wait_for_company();
	if (!strcmp(device, "crashes"))
		crash();
	if (!strcmp(device, "lingers"))
		linger();
	if (!strncmp(device, "blocks", 6))
		block();
	answer->port_count = num(1);
	scene->under_way--;
	return 0;
}

static ssize_t read_file(struct origin *origin, const char *path, char *buffer, size_t size)
{
	(void)origin, (void)path, (void)size;
	scene->reading = true;
	if (scene->crash_beside_file)
		linger();
	buffer[0] = '1';
	return 1;
}

static void close_nothing(struct origin *origin)
{
	(void)origin;
}

static int take_answer(void *data, struct verbs_call *call)
{
	(void)data;
	assert_ptr_equal(call, &scene->calls[scene->answered]);
	scene->answered++;
	return scene->answered == scene->stop_at ? -ECANCELED : 0;
}

static void reset(void *data)
{
	(void)data;
	scene->answered = 0;
	scene->under_way = 0;
	for (size_t i = 0; i < scene->count; i++)
		scene->calls[i] = (struct verbs_call){ .device = scene->calls[i].device };
}

static int run(struct origin *origin, void *data, struct error *error)
{
	(void)data, (void)error;
	char text[8];
	origin_expect_verbs(origin);
	origin_about(origin, "other");
	(void)origin_read(origin, "sys/file", text, sizeof(text));
	return origin_verbs(origin, scene->arena, scene->calls, scene->count, take_answer, NULL);
}

static const struct origin_ops ops = {
	.name = "live", .read = read_file, .list_verbs = list_verbs, .verbs = verbs, .close = close_nothing
};

static struct worker_result play(const char *list, const char *const *devices, int expected)
{
	scene->list = list;
	for (scene->count = 0; devices[scene->count]; scene->count++)
		scene->calls[scene->count].device = devices[scene->count];
	struct origin origin = { .ops = &ops };
	struct worker_job job = { .origin = &origin, .arena = scene->arena, .reset = reset, .run = run };
	struct worker_result result;
	struct error error = { 0 };
	assert_int_equal(worker_run(&job, &result, &error), expected);
	return result;
}

/* valgrind looks for leaks before a process dies of a signal. */
static bool is_under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");
	return preloaded && strstr(preloaded, "vgpreload");
}

static int begin(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	scene = arena_new_object(arena, struct scene);
	scene->arena = arena;
	setenv("RDMADIAG_CALL_TIMEOUT_MS", is_under_valgrind() ? "3000" : "300", 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unsetenv("RDMADIAG_CALL_TIMEOUT_MS");
	arena_free(scene->arena);
	return 0;
}

static void assert_answered(size_t index)
{
	assert_int_equal(scene->calls[index].result, 0);
	assert_true(num_is(scene->calls[index].answer.port_count, 1));
}

static void assert_lost(const struct worker_result *result, uint32_t index, const char *subject, int signal)
{
	assert_true(index < result->losses.count);
	assert_string_equal(result->losses.items[index]->watch.subject, subject);
	assert_int_equal(result->losses.items[index]->watch.kind, WATCH_VERBS);
	assert_int_equal(result->losses.items[index]->signal, signal);
	assert_int_equal(
	        result->losses.items[index]->waited_ms == 0, signal || result->losses.items[index]->exit_status);
}

static void two_are_asked_at_a_time(void **state)
{
	(void)state;
	static const char *const devices[] = { "meets_0", "meets_1", "c", "d", NULL };
	struct worker_result result = play("", devices, 0);
	assert_int_equal(result.workers, 1);
	assert_int_equal(result.losses.count, 0);
	assert_int_equal(scene->most, 2);
	assert_int_equal(scene->answered, 4);
	for (size_t i = 0; i < 4; i++)
		assert_answered(i);
}

static void nothing_more_is_handed_on_than_is_wanted(void **state)
{
	(void)state;
	static const char *const devices[] = { "a", "b", "c", "d", "e", NULL };
	scene->stop_at = 2;
	(void)play("", devices, -ECANCELED);
	assert_int_equal(scene->answered, 2);
}

static void the_one_that_blocks_is_named(void **state)
{
	(void)state;
	static const char *const devices[] = { "a", "blocks", "c", "d", NULL };
	struct worker_result result = play("", devices, 0);
	assert_int_equal(result.losses.count, 1);
	assert_lost(&result, 0, "blocks", 0);
	assert_int_equal(scene->answered, 4);
	assert_answered(0);
	assert_int_equal(scene->calls[1].result, -ETIMEDOUT);
	assert_string_equal(scene->calls[1].error.text,
	        "blocks: opening and querying it did not return in time, so it is not done again");
	assert_answered(2);
	assert_answered(3);
}

/* The first worker dies with both calls under way: neither is blamed until they are made one after the other. */
static void the_one_that_crashes_is_named_and_not_its_neighbour(void **state)
{
	(void)state;
	static const char *const devices[] = { "lingers", "crashes", "c", NULL };
	struct worker_result result = play("", devices, 0);
	assert_int_equal(result.losses.count, 1);
	assert_lost(&result, 0, "crashes", SIGSEGV);
	assert_answered(0);
	assert_int_equal(scene->calls[1].result, -ECHILD);
	assert_string_equal(scene->calls[1].error.text,
	        "crashes: opening and querying it ended the process that did, so it is not done again");
	assert_answered(2);
}

/* Made one after the other, it answers. */
static void who_waits_for_the_one_that_blocks_is_not_named(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* The sanitizer has a thread that uses the processor, so no worker stands still. */
#endif
	static const char *const devices[] = { "waits_for_lock", "blocks_with_lock", "c", NULL };
	struct worker_result result = play("", devices, 0);
	assert_int_equal(result.losses.count, 1);
	assert_lost(&result, 0, "blocks_with_lock", 0);
	assert_answered(0);
	assert_answered(2);
}

static void two_that_block_are_both_named(void **state)
{
	(void)state;
	static const char *const devices[] = { "blocks_0", "blocks_1", "c", NULL };
	struct worker_result result = play("", devices, 0);
	assert_int_equal(result.losses.count, 2);
	/* whose turn comes first is a matter of the scheduler */
	bool in_order = result.losses.count && !strcmp(result.losses.items[0]->watch.subject, "blocks_0");
	assert_lost(&result, !in_order, "blocks_0", 0);
	assert_lost(&result, in_order, "blocks_1", 0);
	assert_answered(2);
}

static void assert_not_listed(const struct worker_result *result, int signal, int code)
{
	assert_int_equal(result->losses.count, 1);
	assert_lost(result, 0, "host", signal);
	assert_string_equal(result->losses.items[0]->watch.action, "listing the devices of libibverbs");
	assert_int_equal(scene->answered, 2);
	assert_int_equal(scene->calls[0].result, code);
	assert_string_equal(scene->calls[0].error.text, "a: not opened, libibverbs did not list devices before");
}

static void a_list_that_blocks_is_no_fault_of_a_device(void **state)
{
	(void)state;
	static const char *const devices[] = { "a", "b", NULL };
	struct worker_result result = play("blocks", devices, 0);
	assert_not_listed(&result, 0, -ETIMEDOUT);
}

/* The library crashes in a thread while a file is read: the file is not to blame. */
static void a_list_that_crashes_is_no_fault_of_what_is_read_meanwhile(void **state)
{
	(void)state;
	static const char *const devices[] = { "a", "b", NULL };
	scene->crash_beside_file = true;
	struct worker_result result = play("crashes", devices, 0);
	assert_not_listed(&result, SIGSEGV, -ECHILD);
}

static void a_library_that_calls_exit_is_told_with_its_status(void **state)
{
	(void)state;
	static const char *const devices[] = { "a", "b", NULL };
	struct worker_result result = play("leaves", devices, 0);
	assert_not_listed(&result, 0, -ECHILD);
	assert_int_equal(result.losses.items[0]->exit_status, 7);
}

static void a_list_that_fails_is_told_of_each_device(void **state)
{
	(void)state;
	static const char *const devices[] = { "a", "b", NULL };
	struct worker_result result = play("fails", devices, 0);
	assert_int_equal(result.losses.count, 0);
	assert_int_equal(scene->calls[1].result, -ENOSYS);
	assert_string_equal(scene->calls[1].error.text, "b: ibv_get_device_list: Function not implemented");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_are_asked_at_a_time, begin, end),
		cmocka_unit_test_setup_teardown(nothing_more_is_handed_on_than_is_wanted, begin, end),
		cmocka_unit_test_setup_teardown(the_one_that_blocks_is_named, begin, end),
		cmocka_unit_test_setup_teardown(the_one_that_crashes_is_named_and_not_its_neighbour, begin, end),
		cmocka_unit_test_setup_teardown(who_waits_for_the_one_that_blocks_is_not_named, begin, end),
		cmocka_unit_test_setup_teardown(two_that_block_are_both_named, begin, end),
		cmocka_unit_test_setup_teardown(a_list_that_blocks_is_no_fault_of_a_device, begin, end),
		cmocka_unit_test_setup_teardown(a_list_that_crashes_is_no_fault_of_what_is_read_meanwhile, begin, end),
		cmocka_unit_test_setup_teardown(a_library_that_calls_exit_is_told_with_its_status, begin, end),
		cmocka_unit_test_setup_teardown(a_list_that_fails_is_told_of_each_device, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
