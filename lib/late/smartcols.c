/* SPDX-License-Identifier: MIT */
#include "late/late.h"

#include <libsmartcols.h>
#include <stddef.h>

static struct late_library smartcols = { .file = "libsmartcols.so.1" };

/* Callers ask scols_new_table() first: the others need no answer of their own for a missing library. */
/* clang-format off */
LATE(&smartcols, struct libscols_table *, NULL, scols_new_table, (void))
LATE(&smartcols, struct libscols_column *, NULL, scols_table_new_column, (struct libscols_table *table, const char *name,
	double hint, int flags), table, name, hint, flags)
LATE(&smartcols, struct libscols_line *, NULL, scols_table_new_line, (struct libscols_table *table,
	struct libscols_line *parent), table, parent)
LATE(&smartcols, int, -1, scols_line_set_data, (struct libscols_line *line, size_t column, const char *text),
	line, column, text)
LATE(&smartcols, struct libscols_cell *, NULL, scols_line_get_cell, (struct libscols_line *line, size_t column),
	line, column)
LATE(&smartcols, int, -1, scols_cell_set_color, (struct libscols_cell *cell, const char *color), cell, color)
LATE(&smartcols, int, -1, scols_table_enable_colors, (struct libscols_table *table, int enable), table, enable)
LATE(&smartcols, int, -1, scols_table_enable_ascii, (struct libscols_table *table, int enable), table, enable)
LATE(&smartcols, int, -1, scols_table_set_stream, (struct libscols_table *table, FILE *stream), table, stream)
LATE(&smartcols, size_t, 0, scols_table_get_termwidth, (const struct libscols_table *table), table)
LATE(&smartcols, int, -1, scols_print_table, (struct libscols_table *table), table)
LATE_VOID(&smartcols, scols_unref_table, (struct libscols_table *table), table)
