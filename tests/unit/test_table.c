/* SPDX-License-Identifier: MIT */
/* Tables: widths, alignment and branches on a pipe, and what a terminal has no room for. */
#include "unit.h"

#include "base/cleanup.h"
#include "render/table.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct table_column columns[] = {
	{ .heading = "NAME", .tree = true },
	{ .heading = "NODE", .right = true },
	{ .heading = "CPUS", .shrink = true },
	{ .heading = "END" },
};
enum { NAME, NODE, CPUS, END, COLUMN_COUNT };

static void *row(struct table *table, void *parent, const char *name, int node, const char *cpus)
{
	void *row = table_row(table, parent);
	assert_non_null(row);
	table_cell(table, NAME, name);
	table_cell_num(table, NODE, node < 0 ? (struct num){ 0 } : num(node));
	table_cell(table, CPUS, cpus);
	return row;
}

static char *print(struct table *table)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	assert_int_equal(table_print(table, stream), 0);
	fclose(stream);
	table_free(table);
	return text;
}

static void aligns(void **state)
{
	(void)state;
	struct table *table = table_new(columns, COLUMN_COUNT, false);
	row(table, NULL, "a-long-name", 10, "0-3");
	table_cell(table, END, "last");
	row(table, NULL, "b", -1, NULL);
	autofree char *text = print(table);
	assert_string_equal(text, "NAME        NODE CPUS END\n"
	                          "a-long-name   10 0-3  last\n"
	                          "b              - -    -\n");
}

/* Without colours it is laid out here, with them by libsmartcols: nobody sees which. */
static void both_ways_look_the_same(void **state)
{
	(void)state;
	char *texts[2];
	for (int by_library = 0; by_library < 2; by_library++) {
		struct table *table = table_new(columns, COLUMN_COUNT, by_library);
		void *first = row(table, NULL, "n", 1, "0-3,16-19");
		row(table, NULL, "a-longer-name", 100000, NULL);
		table_cell(table, END, "the last is not padded");
		void *below = row(table, first, "m", 2, NULL);
		row(table, below, "\u6f22", 3, NULL); /* two columns wide */
		row(table, first, "\u00e9", -1, "7");
		row(table, row(table, NULL, "", -1, "7"), "end", 0, NULL);
		texts[by_library] = print(table);
	}
	assert_string_equal(texts[0], texts[1]);
	assert_non_null(strstr(texts[0], "\n| `-\u6f22             3 -         -\n"));
	assert_non_null(strstr(texts[0], "\n`-\u00e9                - 7         -\n"));
	free(texts[0]);
	free(texts[1]);
}

/* Rows may come in any order: children stand below their parent. */
static void draws_branches(void **state)
{
	(void)state;
	struct table *table = table_new(columns, COLUMN_COUNT, false);
	void *first = row(table, NULL, "first", 0, NULL);
	row(table, NULL, "second", 1, NULL);
	void *below = row(table, first, "below", 0, NULL);
	row(table, below, "deep", 0, NULL);
	void *last = row(table, first, "last", 0, NULL);
	row(table, last, "end", 0, NULL);
	autofree char *text = print(table);
	assert_string_equal(text, "NAME     NODE CPUS END\n"
	                          "first       0 -    -\n"
	                          "|-below     0 -    -\n"
	                          "| `-deep    0 -    -\n"
	                          "`-last      0 -    -\n"
	                          "  `-end     0 -    -\n"
	                          "second      1 -    -\n");
}

static void keeps_terminals_safe(void **state)
{
	(void)state;
	struct table *table = table_new(columns, COLUMN_COUNT, false);
	row(table, NULL, "\033[31mred\n\u00e9", 0, NULL);
	row(table, NULL, "", 0, NULL);
	autofree char *text = print(table);
	assert_string_equal(text, "NAME       NODE CPUS END\n"
	                          "?[31mred?\u00e9    0 -    -\n"
	                          "-             0 -    -\n");
}

static void prints_nothing_when_empty(void **state)
{
	(void)state;
	autofree char *text = print(table_new(columns, COLUMN_COUNT, false));
	assert_string_equal(text, "");
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8"); /* as commands set what the environment says */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligns),
		cmocka_unit_test(both_ways_look_the_same),
		cmocka_unit_test(draws_branches),
		cmocka_unit_test(keeps_terminals_safe),
		cmocka_unit_test(prints_nothing_when_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
