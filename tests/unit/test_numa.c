/* SPDX-License-Identifier: MIT */
/* What hwloc says of packages, and what is said when it says nothing. */
#include "host_fixture.h"

#include "origin/private.h"
#include "source/numa.h"

#include <dlfcn.h>
#include <errno.h>
#include <numa.h>
#include <string.h>
#include <unistd.h>

static int answer;

static int packages(struct origin *origin, struct arena *arena, struct package_list *list, struct error *error)
{
	(void)origin;
	struct package *package = answer ? NULL : list_add(arena, list);
	if (!package)
		return error_set(error, answer, "hwloc");
	package->id = num(3);
	package->cpus = "0-3";
	return 0;
}

static void ask(int result)
{
	static const struct origin_ops ops = { .name = "test", .packages = packages };
	struct origin origin = { .ops = &ops };
	answer = result;
	numa_cross_check(&origin, host);
}

static struct numa_node *add_node(struct num package)
{
	struct numa_node *node = list_add(host->arena, &host->numa_nodes);
	*node = (struct numa_node){ .id = num(0), .package = package, .cpus = "0-3" };
	return node;
}

static void hwloc_fills_what_is_unknown(void **state)
{
	(void)state;
	struct numa_node *node = add_node((struct num){ 0 }), *known = add_node(num(7));
	ask(0);
	assert_true(num_is(node->package, 3) && num_is(node->hwloc_package, 3));
	assert_true(num_is(known->package, 7) && num_is(known->hwloc_package, 3));
	assert_int_equal(host->report.not_collected.count, 0);
}

/* As a second witness it may be missing; as the only one its absence is told, and so is every other trouble. */
static void its_absence_is_told_where_it_matters(void **state)
{
	(void)state;
	struct numa_node *node = add_node(num(0));
	ask(-ENOPKG);
	assert_int_equal(host->report.not_collected.count, 0);
	node->package = (struct num){ 0 };
	ask(-ENOPKG);
	assert_int_equal(host->report.not_collected.count, 1);
	assert_string_equal(host->report.not_collected.items[0]->what, "package");
}

static void other_trouble_is_told(void **state)
{
	(void)state;
	add_node(num(0));
	ask(-EIO);
	assert_int_equal(host->report.not_collected.count, 1);
}

/* "9999" is a node that no host has, which libnuma warns of. */
static void libnuma_is_silent(void **state)
{
	(void)state;
	int ends[2];
	char said[256];
	if (numa_available() < 0)
		skip();
	void *library = dlopen("libnuma.so.1", RTLD_NOW | RTLD_LOCAL);
	struct bitmask *(*parse)(const char *text) = NULL;
	void *address = library ? dlsym(library, "numa_parse_nodestring") : NULL;
	assert_non_null(address);
	memcpy(&parse, &address, sizeof(parse));
	assert_int_equal(pipe(ends), 0);
	int before = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	struct bitmask *mask = parse("9999");
	dup2(before, STDERR_FILENO);
	close(before);
	close(ends[1]);
	ssize_t length = read(ends[0], said, sizeof(said));
	close(ends[0]);
	dlclose(library);
	assert_null(mask);
	assert_int_equal(length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hwloc_fills_what_is_unknown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(its_absence_is_told_where_it_matters, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_trouble_is_told, set_up, tear_down),
		cmocka_unit_test(libnuma_is_silent),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
