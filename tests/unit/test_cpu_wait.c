/* SPDX-License-Identifier: MIT */
/* What the scheduler tells of a thread and its cgroup, in the kernel's words. */
#include "unit.h"

#include "origin/origin.h"
#include "probe/cpu_wait.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/cpu-wait-XXXXXX";

/* With the directories above it; NULL: it goes away. */
static void place(const char *path, const char *text)
{
	char name[256];
	snprintf(name, sizeof(name), "%s/%s", root, path);
	if (!text) {
		unlink(name);
		return;
	}
	for (char *slash = strchr(name + sizeof(root), '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(name, 0755);
		*slash = '/';
	}
	FILE *file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static struct cpu_facts read_facts(void)
{
	struct error error = { 0 };
	struct origin *origin = origin_snapshot(root, &error);
	struct cpu_facts facts;
	assert_non_null(origin);
	cpu_wait_read(origin, &facts);
	origin_close(origin);
	return facts;
}

static void both_are_read(void **state)
{
	(void)state;
	place("proc/thread-self/schedstat", "5000000 1234567 89\n");
	place("proc/thread-self/cgroup", "4:cpu,cpuacct:/old\n0::/system.slice/x.service\n");
	place("sys/fs/cgroup/system.slice/x.service/cpu.stat",
	        "usage_usec 100\nnr_periods 7\nnr_throttled 3\nthrottled_usec 2500\n");
	struct cpu_facts facts = read_facts();
	assert_true(num_is(facts.waited_ns, 1234567));
	assert_true(num_is(facts.throttled_ns, 2500000));
}

static void the_root_group(void **state)
{
	(void)state;
	place("proc/thread-self/cgroup", "0::/\n");
	place("sys/fs/cgroup/cpu.stat", "usage_usec 100\nthrottled_usec 4\n");
	assert_true(num_is(read_facts().throttled_ns, 4000));
}

static void nothing_is_told(void **state)
{
	(void)state;
	place("proc/thread-self/schedstat", "0\n");
	place("proc/thread-self/cgroup", "4:cpu,cpuacct:/old\n");
	struct cpu_facts facts = read_facts();
	assert_false(facts.waited_ns.known);
	assert_false(facts.throttled_ns.known);
	place("proc/thread-self/schedstat", NULL);
	place("proc/thread-self/cgroup", "0::/gone\n");
	facts = read_facts();
	assert_false(facts.waited_ns.known);
	assert_false(facts.throttled_ns.known);
}

static void what_was_added(void **state)
{
	(void)state;
	struct error error = { 0 };
	struct cpu_facts before = { .waited_ns = num(1000), .throttled_ns = num(9000) }, added;
	place("proc/thread-self/schedstat", "5000000 1500 89\n");
	place("proc/thread-self/cgroup", "0::/\n");
	place("sys/fs/cgroup/cpu.stat", "throttled_usec 4\n");
	struct origin *origin = origin_snapshot(root, &error);
	assert_true(cpu_wait_since(origin, &before, &added));
	assert_true(num_is(added.waited_ns, 500));
	/* It went back: another group. */
	assert_false(added.throttled_ns.known);
	before = (struct cpu_facts){ 0 };
	assert_false(cpu_wait_since(origin, &before, &added));
	origin_close(origin);
}

static int drop(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_are_read),
		cmocka_unit_test(the_root_group),
		cmocka_unit_test(nothing_is_told),
		cmocka_unit_test(what_was_added),
	};
	if (!mkdtemp(root))
		return 1;
	int result = cmocka_run_group_tests(tests, NULL, NULL);
	nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
	return result;
}
