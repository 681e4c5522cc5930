/* SPDX-License-Identifier: MIT */
/* What of a drawing no described machine shows: many NUMA nodes that nothing sits on, names that are not plain text. */
#include "host_fixture.h"

#include "base/file.h"
#include "render/topo_svg.h"

#include <stdio.h>
#include <unistd.h>

/* malloc'ed */
static char *draw_host(void)
{
	char path[] = "/tmp/rdmadiag-svg.XXXXXX", *text = NULL;
	struct error error;
	size_t length;
	close(mkstemp(path));
	host->matrix = arena_new_object(host->arena, struct matrix);
	if (topo_svg_write(host, path, &error) || file_read(path, &text, &length, &error))
		fail_msg("%s", error.text);
	unlink(path);
	return text;
}

/* malloc'ed */
static char *draw(int nodes)
{
	host->numa_nodes.count = 0;
	for (int i = 0; i < nodes; i++) {
		struct numa_node *node = list_add(host->arena, &host->numa_nodes);
		*node = (struct numa_node){ .id = num(i), .package = num(0) };
	}
	return draw_host();
}

static void bare_nodes_are_counted_beyond_six(void **state)
{
	(void)state;
	char *six = draw(6), *eight = draw(8);
	assert_non_null(strstr(six, "NUMA node 5"));
	assert_null(strstr(six, "nodes more"));
	assert_non_null(strstr(eight, "NUMA node 4"));
	assert_null(strstr(eight, "NUMA node 5"));
	assert_non_null(strstr(eight, "and 3 nodes more"));
	free(six);
	free(eight);
}

/* A snapshot may call its host anything. */
static void names_are_no_markup(void **state)
{
	(void)state;
	host->facts.hostname = "<g>&\"x";
	char *drawing = draw_host();
	assert_non_null(strstr(drawing, "&lt;g&gt;&amp;&quot;x"));
	assert_null(strstr(drawing, "<g>&"));
	free(drawing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bare_nodes_are_counted_beyond_six, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_are_no_markup, set_up, tear_down),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
