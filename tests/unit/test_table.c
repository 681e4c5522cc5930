/* SPDX-License-Identifier: MIT */
/* Tables: widths, alignment and branches on a pipe, and what a terminal has no room for. */
#include "unit.h"

#include "base/cleanup.h"
#include "render/table.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
	assert_string_equal(text, "NAME              NODE CPUS END\n"
	                          "?[31mred?\\xc3\\xa9    0 -    -\n"
	                          "-                    0 -    -\n");
}

static void colours(void **state)
{
	(void)state;
	struct table *table = table_new(columns, COLUMN_COUNT, true);
	row(table, NULL, "x", 0, "0");
	table_color_cell(table, CPUS, "yellow");
	table_color_cell(table, NAME, "nonsense");
	autofree char *text = print(table);
	assert_string_equal(text, "NAME NODE CPUS END\nx       0 \033[33m0\033[0m    -\n");
	table = table_new(columns, COLUMN_COUNT, false);
	row(table, NULL, "x", 0, "0");
	table_color_cell(table, CPUS, "yellow");
	autofree char *plain = print(table);
	assert_null(strchr(plain, '\033'));
}

static void prints_nothing_when_empty(void **state)
{
	(void)state;
	autofree char *text = print(table_new(columns, COLUMN_COUNT, false));
	assert_string_equal(text, "");
}

/* What a terminal of that width shows; the test is skipped where there are no terminals. */
static void print_on_terminal(struct table *table, unsigned short width, char *out, size_t size)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
		skip();
	int side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	if (side < 0)
		skip();
	struct winsize window = { .ws_row = 24, .ws_col = width };
	assert_int_equal(ioctl(side, TIOCSWINSZ, &window), 0);
	FILE *stream = fdopen(side, "w");
	assert_non_null(stream);
	assert_int_equal(table_print(table, stream), 0);
	assert_int_equal(fflush(stream), 0);
	fclose(stream);
	/* a line at a time, until the other side is gone */
	size_t length = 0;
	for (ssize_t got; length < size - 1 && (got = read(terminal, out + length, size - 1 - length)) > 0;)
		length += (size_t)got;
	out[length] = 0;
	close(terminal);
	table_free(table);
}

static struct table *wide(void)
{
	struct table *table = table_new(columns, COLUMN_COUNT, false);
	void *parent = row(table, NULL, "one", 0, "0-3,8-11,16-19");
	row(table, parent, "two", 1, "4");
	return table;
}

static void wraps_on_narrow_terminals(void **state)
{
	(void)state;
	char text[1024];
	print_on_terminal(wide(), 24, text, sizeof(text));
	assert_string_equal(text, "NAME  NODE CPUS      END\r\n"
	                          "one      0 0-3,8-11, -\r\n"
	                          "           16-19     \r\n"
	                          "`-two    1 4         -\r\n");
	print_on_terminal(wide(), 200, text, sizeof(text));
	assert_non_null(strstr(text, "0-3,8-11,16-19 -\r\n"));
	/* too narrow for anything: nothing is lost */
	print_on_terminal(wide(), 5, text, sizeof(text));
	assert_non_null(strstr(text, " 0-3,     -\r\n"));
	assert_non_null(strstr(text, " 8-11,    "));
	assert_non_null(strstr(text, " 16-19    "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligns),
		cmocka_unit_test(draws_branches),
		cmocka_unit_test(keeps_terminals_safe),
		cmocka_unit_test(colours),
		cmocka_unit_test(prints_nothing_when_empty),
		cmocka_unit_test(wraps_on_narrow_terminals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
