/* SPDX-License-Identifier: MIT */
#include "render/table.h"

#include "base/cleanup.h"
#include "render/json.h"

#include <errno.h>
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct table {
	struct libscols_table *table;
	struct libscols_line *line; /* the last row */
	size_t columns;
	bool color;
};

/* Cells of the last row that nobody set. A table may have thousands of rows, so each cell is stored once. */
static void fill_row(struct table *table)
{
	for (size_t i = 0; table->line && i < table->columns; i++) {
		struct libscols_cell *cell = scols_line_get_cell(table->line, i);
		if (cell && !scols_cell_get_data(cell))
			scols_cell_set_data(cell, "-");
	}
	table->line = NULL;
}

static int add_column(struct table *table, const struct table_column *column)
{
	int flags = (column->right ? SCOLS_FL_RIGHT : 0) | (column->tree ? SCOLS_FL_TREE : 0) |
	            (column->shrink ? SCOLS_FL_WRAP : 0);
	struct libscols_column *added = scols_table_new_column(table->table, column->heading, 0, flags);
	return added ? 0 : -ENOMEM;
}

struct table *table_new(const struct table_column *columns, size_t count, bool color)
{
	struct table *table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->table = scols_new_table();
	table->columns = count;
	table->color = color;
	int result = table->table ? 0 : -ENOMEM;
	for (size_t i = 0; !result && i < count; i++)
		result = add_column(table, &columns[i]);
	if (result) {
		table_free(table);
		return NULL;
	}
	scols_table_enable_colors(table->table, color);
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->table);
	free(table);
}

void *table_row(struct table *table, void *parent)
{
	fill_row(table);
	table->line = scols_table_new_line(table->table, parent);
	return table->line;
}

void table_cell(struct table *table, size_t column, const char *text)
{
	autofree char *clean = text && *text ? text_for_terminal(text) : NULL;
	if (table->line && clean && !scols_line_refer_data(table->line, column, clean))
		clean = NULL; /* the table's now */
}

void table_cellf(struct table *table, size_t column, const char *format, ...)
{
	autofree char *text = NULL;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		text = NULL;
	table_cell(table, column, text);
}

void table_cell_num(struct table *table, size_t column, struct num number)
{
	if (number.known)
		table_cellf(table, column, "%" PRId64, number.value);
}

void table_color_cell(struct table *table, size_t column, const char *color)
{
	struct libscols_cell *cell = table->color && table->line ? scols_line_get_cell(table->line, column) : NULL;
	if (cell)
		scols_cell_set_color(cell, color);
}

int table_print(struct table *table, FILE *stream)
{
	fill_row(table);
	if (scols_table_is_empty(table->table))
		return 0;
	scols_table_set_stream(table->table, stream);
	return scols_print_table(table->table) ? -EIO : 0;
}
