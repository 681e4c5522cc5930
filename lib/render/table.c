/* SPDX-License-Identifier: MIT */
/*
 * What wants a colour or the width of a terminal is libsmartcols' work. It asks the locale several times about every
 * character, which was half of what `gid` took for 256 devices; a table in a file or pipe, or on a host without that
 * library, is laid out here and looks the same.
 */
#include "render/table.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "render/locale.h"

#include <errno.h>
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

struct cell {
	char *text; /* NULL: unknown */
	const char *color;
};

struct row {
	struct row *parent, *next;
	struct row *child, *last_child, *sibling;
	char *lead;                 /* branches in front of it; NULL: none */
	struct libscols_line *line; /* while libsmartcols prints */
	struct cell cells[];
};

struct table {
	struct table_column *columns;
	size_t *widths; /* of plain ones */
	size_t count;
	struct row *first, *last;
	bool color;
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
	free(row->lead);
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
	struct row *above = parent;
	if (above && above->last_child)
		above->last_child->sibling = row;
	else if (above)
		above->child = row;
	if (above)
		above->last_child = row;
	if (table->last)
		table->last->next = row;
	else
		table->first = row;
	table->last = row;
	return row;
}

void table_cell(struct table *table, size_t column, const char *text)
{
	char *clean = table->last && text && *text ? text_for_terminal(text) : NULL;
	if (!clean)
		return;
	free(table->last->cells[column].text);
	table->last->cells[column].text = clean;
}

void table_cellf(struct table *table, size_t column, const char *format, ...)
{
	char brief[128];
	autofree char *text = NULL;
	va_list args;
	va_start(args, format);
	int length = vsnprintf(brief, sizeof(brief), format, args);
	va_end(args);
	if (length >= (int)sizeof(brief)) {
		va_start(args, format);
		length = vasprintf(&text, format, args);
		va_end(args);
	}
	if (length >= 0)
		table_cell(table, column, text ? text : brief);
}

void table_cell_num(struct table *table, size_t column, struct num number)
{
	char digits[NUMBER_TEXT_SIZE];
	if (number.known && number.value >= 0)
		table_cell(table, column, text_number((uint64_t)number.value, digits));
	else if (number.known)
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

/* The character at `*text`, which is UTF-8 without mistakes (table_cell()); moves behind it. */
static wchar_t next_character(const char **text)
{
	const unsigned char *at = (const unsigned char *)*text;
	int more = *at < 0xc0 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
	wchar_t character = more ? *at & (0x3f >> more) : *at;
	for (at++; more && (*at & 0xc0) == 0x80; more--, at++)
		character = character << 6 | (*at & 0x3f);
	*text = (const char *)at;
	return character;
}

/* In columns of a terminal; a locale that does not know a character takes it for one of usual width. */
static size_t width_of(const char *text)
{
	size_t width = 0;
	if (is_ascii(text))
		return strlen(text);
	locale_learn();
	while (*text) {
		int columns = wcwidth(next_character(&text));
		width += columns < 0 ? 1 : (size_t)columns;
	}
	return width;
}

/* What stands in front of the rows below `row`. */
static char *lead_below(const struct row *row)
{
	char *lead;
	const char *bar = !row->parent ? "" : row->sibling ? "| " : "  ";
	const char *above = row->lead ? row->lead : "";
	/* Its own mark, two characters, becomes a bar where more rows follow. */
	int length = row->parent ? (int)strlen(above) - 2 : 0;
	return asprintf(&lead, "%.*s%s", length, above, bar) < 0 ? NULL : lead;
}

/* The row after this one, children first; of a row that is entered its branches are known then. */
static int next_row(struct row **row)
{
	struct row *at = *row;
	if (at->child) {
		autofree char *lead = lead_below(at);
		for (struct row *child = at->child; child; child = child->sibling)
			if (!lead || asprintf(&child->lead, "%s%s", lead, child->sibling ? "|-" : "`-") < 0) {
				child->lead = NULL;
				return -ENOMEM;
			}
		*row = at->child;
		return 0;
	}
	while (at->parent && !at->sibling)
		at = at->parent;
	if (at->parent) {
		*row = at->sibling;
		return 0;
	}
	for (at = at->next; at && at->parent; at = at->next)
		continue;
	*row = at;
	return 0;
}

/* All rows, each below its parent, in memory that the caller frees; the last is NULL. */
static struct row **arrange(struct table *table)
{
	size_t count = 0;
	for (struct row *row = table->first; row; row = row->next)
		count++;
	struct row **order = calloc(count + 1, sizeof(struct row *));
	struct row *row = table->first; /* the first has no parent */
	for (size_t i = 0; order && row && i < count; i++) {
		order[i] = row;
		if (next_row(&row)) {
			free(order);
			return NULL;
		}
	}
	return order;
}

static const char *lead_of(const struct table *table, const struct row *row, size_t column)
{
	return table->columns[column].tree && row->lead ? row->lead : "";
}

static void widen(size_t *width, const char *lead, const char *text)
{
	size_t needed = strlen(lead) + width_of(text);
	if (*width < needed)
		*width = needed;
}

static void pad(size_t count, FILE *stream)
{
	static const char blanks[] = "                                ";
	for (; count; count -= count < sizeof(blanks) ? count : sizeof(blanks) - 1)
		fwrite_unlocked(blanks, 1, count < sizeof(blanks) ? count : sizeof(blanks) - 1, stream);
}

/* By hand: printf(3) took a third of the time of a table of 256 rows. */
static void print_padded(const struct table *table, size_t column, const char *lead, const char *text, FILE *stream)
{
	bool last = column + 1 == table->count, right = table->columns[column].right;
	size_t padding = table->widths[column] - strlen(lead) - width_of(text);
	if (right)
		pad(padding, stream);
	fputs_unlocked(lead, stream);
	fputs_unlocked(text, stream);
	if (!right && !last)
		pad(padding, stream);
	putc_unlocked(last ? '\n' : ' ', stream);
}

/* The rows as arrange() has them, and how wide each column is. */
static struct row **measure(struct table *table)
{
	struct row **order = arrange(table);
	for (size_t i = 0; order && i < table->count; i++) {
		widen(&table->widths[i], "", table->columns[i].heading);
		for (struct row **row = order; *row; row++)
			widen(&table->widths[i], lead_of(table, *row, i), text_of(*row, i));
	}
	return order;
}

static int print_plain(struct table *table, FILE *stream)
{
	autofree struct row **order = measure(table);
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++)
		print_padded(table, i, "", table->columns[i].heading, stream);
	for (struct row **row = order; *row; row++)
		for (size_t i = 0; i < table->count; i++)
			print_padded(table, i, lead_of(table, *row, i), text_of(*row, i), stream);
	return ferror(stream) ? -EIO : 0;
}

/* ---- through libsmartcols ---- */

enum { SHRUNK = 12 };

/*
 * Does the table fit into the terminal with its lists wrapped to something that can still be read? Otherwise the
 * terminal breaks the lines anyway, and lists cut into four letters a line make it only longer.
 */
static bool fits_wrapped(const struct table *table, size_t terminal)
{
	size_t width = 0;
	for (size_t i = 0; i < table->count; i++) {
		bool shrinks = table->columns[i].shrink && table->widths[i] > SHRUNK;
		width += (i ? 1 : 0) + (shrinks ? SHRUNK : table->widths[i]);
	}
	return width <= terminal;
}

static int add_column(struct libscols_table *scols, const struct table_column *column, bool wrap)
{
	int flags = (column->right ? SCOLS_FL_RIGHT : 0) | (column->tree ? SCOLS_FL_TREE : 0) |
	            (column->shrink && wrap ? SCOLS_FL_WRAP : 0);
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
	autofree struct row **order = measure(table);
	int result = order ? 0 : -ENOMEM;
	bool wrap = order && fits_wrapped(table, scols_table_get_termwidth(scols));
	for (size_t i = 0; !result && i < table->count; i++)
		result = add_column(scols, &table->columns[i], wrap);
	for (struct row *row = table->first; !result && row; row = row->next)
		result = add_row(scols, table, row);
	if (result)
		return result;
	scols_table_enable_colors(scols, table->color);
	scols_table_enable_ascii(scols, 1); /* the same branches everywhere */
	scols_table_set_stream(scols, stream);
	return scols_print_table(scols) ? -EIO : 0;
}

int table_print(struct table *table, FILE *stream)
{
	if (!table->first)
		return 0;
	bool plain = !table->color && !isatty(fileno(stream));
	if (!plain)
		locale_learn();
	struct libscols_table *scols = plain ? NULL : scols_new_table();
	int result = scols ? print_by(scols, table, stream) : print_plain(table, stream);
	if (scols)
		scols_unref_table(scols);
	return result;
}
