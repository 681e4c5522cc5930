/* SPDX-License-Identifier: MIT */
/*
 * What wants a tree, a colour, the width of a terminal or of other than ASCII characters is libsmartcols' work. It asks
 * the locale several times about every character, which was half of what `gid` took for 256 devices; a plain table in a
 * file or pipe needs padding only.
 */
#include "render/table.h"

#include "base/cleanup.h"
#include "render/json.h"

#include <errno.h>
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cell {
	char *text; /* NULL: unknown */
	const char *color;
};

struct row {
	struct row *parent, *next;
	struct libscols_line *line; /* while libsmartcols prints */
	struct cell cells[];
};

struct table {
	struct table_column *columns;
	size_t *widths; /* of plain ones */
	size_t count;
	struct row *first, *last;
	bool color, has_tree, has_others; /* a row below another one; characters other than ASCII */
};

struct table *table_new(const struct table_column *columns, size_t count, bool color)
{
	struct table *table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->columns = malloc(count * sizeof(*columns));
	table->widths = calloc(count, sizeof(*table->widths));
	table->count = count;
	table->color = color;
	if (!table->columns || !table->widths) {
		table_free(table);
		return NULL;
	}
	memcpy(table->columns, columns, count * sizeof(*columns));
	return table;
}

static void free_row(struct row *row, size_t columns)
{
	for (size_t i = 0; i < columns; i++)
		free(row->cells[i].text);
	free(row);
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (struct row *row = table->first, *next; row; row = next) {
		next = row->next;
		free_row(row, table->count);
	}
	free(table->columns);
	free(table->widths);
	free(table);
}

void *table_row(struct table *table, void *parent)
{
	struct row *row = calloc(1, sizeof(*row) + table->count * sizeof(row->cells[0]));
	if (!row)
		return NULL;
	row->parent = parent;
	table->has_tree |= parent != NULL;
	if (table->last)
		table->last->next = row;
	else
		table->first = row;
	table->last = row;
	return row;
}

static bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

void table_cell(struct table *table, size_t column, const char *text)
{
	char *clean = table->last && text && *text ? text_for_terminal(text) : NULL;
	if (!clean)
		return;
	table->has_others |= !is_ascii(clean);
	free(table->last->cells[column].text);
	table->last->cells[column].text = clean;
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
	if (table->color && table->last)
		table->last->cells[column].color = color;
}

static const char *text_of(const struct row *row, size_t column)
{
	return row->cells[column].text ? row->cells[column].text : "-";
}

/* ---- plain ---- */

static void widen(size_t *width, const char *text)
{
	size_t length = strlen(text);
	if (*width < length)
		*width = length;
}

static void print_padded(const struct table *table, size_t column, const char *text, FILE *stream)
{
	int width = (int)table->widths[column];
	bool last = column + 1 == table->count;
	if (table->columns[column].right)
		fprintf(stream, "%*s", width, text);
	else if (last)
		fputs(text, stream);
	else
		fprintf(stream, "%-*s", width, text);
	putc(last ? '\n' : ' ', stream);
}

static int print_plain(struct table *table, FILE *stream)
{
	for (size_t i = 0; i < table->count; i++) {
		widen(&table->widths[i], table->columns[i].heading);
		for (const struct row *row = table->first; row; row = row->next)
			widen(&table->widths[i], text_of(row, i));
	}
	for (size_t i = 0; i < table->count; i++)
		print_padded(table, i, table->columns[i].heading, stream);
	for (const struct row *row = table->first; row; row = row->next)
		for (size_t i = 0; i < table->count; i++)
			print_padded(table, i, text_of(row, i), stream);
	return ferror(stream) ? -EIO : 0;
}

/* ---- through libsmartcols ---- */

static int add_column(struct libscols_table *scols, const struct table_column *column)
{
	int flags = (column->right ? SCOLS_FL_RIGHT : 0) | (column->tree ? SCOLS_FL_TREE : 0) |
	            (column->shrink ? SCOLS_FL_WRAP : 0);
	return scols_table_new_column(scols, column->heading, 0, flags) ? 0 : -ENOMEM;
}

static int add_row(struct libscols_table *scols, const struct table *table, struct row *row)
{
	row->line = scols_table_new_line(scols, row->parent ? row->parent->line : NULL);
	for (size_t i = 0; row->line && i < table->count; i++) {
		if (scols_line_set_data(row->line, i, text_of(row, i)))
			return -ENOMEM;
		if (row->cells[i].color)
			scols_cell_set_color(scols_line_get_cell(row->line, i), row->cells[i].color);
	}
	return row->line ? 0 : -ENOMEM;
}

static int print_by(struct libscols_table *scols, struct table *table, FILE *stream)
{
	int result = 0;
	for (size_t i = 0; !result && i < table->count; i++)
		result = add_column(scols, &table->columns[i]);
	for (struct row *row = table->first; !result && row; row = row->next)
		result = add_row(scols, table, row);
	if (result)
		return result;
	scols_table_enable_colors(scols, table->color);
	scols_table_set_stream(scols, stream);
	return scols_print_table(scols) ? -EIO : 0;
}

int table_print(struct table *table, FILE *stream)
{
	if (!table->first)
		return 0;
	bool plain = !table->color && !table->has_tree && !table->has_others && !isatty(fileno(stream));
	struct libscols_table *scols = plain ? NULL : scols_new_table();
	/* A host without the library still gets what it asked for, only less well laid out. */
	int result = scols ? print_by(scols, table, stream) : print_plain(table, stream);
	if (scols)
		scols_unref_table(scols);
	return result;
}
