/* SPDX-License-Identifier: MIT */
/*
 * libsmartcols would do this too, but asks the locale three times about every character: half of what `gid` takes for
 * the tables of 256 devices.
 */
#include "render/table.h"

#include "base/cleanup.h"
#include "render/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct cell {
	char *text; /* NULL: unknown */
	const char *color;
};

struct row {
	struct row *parent, *first, *last, *next;
	struct cell cells[];
};

struct table {
	struct table_column *columns;
	size_t *widths;
	size_t count;
	struct row *first, *last; /* of the top level */
	struct row *row;          /* the one that is filled; NULL without memory */
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

static void free_rows(struct row *row, size_t columns)
{
	while (row) {
		struct row *next = row->next;
		free_rows(row->first, columns);
		for (size_t i = 0; i < columns; i++)
			free(row->cells[i].text);
		free(row);
		row = next;
	}
}

void table_free(struct table *table)
{
	if (!table)
		return;
	free_rows(table->first, table->count);
	free(table->columns);
	free(table->widths);
	free(table);
}

void *table_row(struct table *table, void *parent)
{
	struct row *above = parent, *row = calloc(1, sizeof(*row) + table->count * sizeof(row->cells[0]));
	table->row = row;
	if (!row)
		return NULL;
	struct row **first = above ? &above->first : &table->first, **last = above ? &above->last : &table->last;
	row->parent = above;
	if (*last)
		(*last)->next = row;
	else
		*first = row;
	*last = row;
	return row;
}

/* How wide another character is depends on the terminal: its bytes are written as \xHH. Takes `text`; NULL without
 * memory. */
static char *only_ascii(char *text)
{
	size_t length = 0, others = 0;
	for (; text && text[length]; length++)
		others += (unsigned char)text[length] >= 0x80;
	if (!others)
		return text;
	char *encoded = malloc(length + 3 * others + 1), *to = encoded;
	for (const char *from = text; encoded && *from; from++) {
		if ((unsigned char)*from >= 0x80)
			to += snprintf(to, sizeof("\\xHH"), "\\x%02x", (unsigned char)*from);
		else
			*to++ = *from;
	}
	if (encoded)
		*to = 0;
	free(text);
	return encoded;
}

void table_cell(struct table *table, size_t column, const char *text)
{
	char *clean = table->row && text && *text ? only_ascii(text_for_terminal(text)) : NULL;
	if (!clean)
		return;
	free(table->row->cells[column].text);
	table->row->cells[column].text = clean;
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
	if (table->color && table->row)
		table->row->cells[column].color = color;
}

/* ---- printing ---- */

static const char *color_code(const char *name)
{
	static const struct {
		const char *name, *code;
	} codes[] = {
		{ "bold", "\033[1m" },
		{ "darkgray", "\033[1;30m" },
		{ "green", "\033[32m" },
		{ "red", "\033[31m" },
		{ "yellow", "\033[33m" },
	};
	for (size_t i = 0; name && i < ARRAY_SIZE(codes); i++)
		if (!strcmp(name, codes[i].name))
			return codes[i].code;
	return NULL;
}

static const char *text_of(const struct row *row, size_t column)
{
	return row->cells[column].text ? row->cells[column].text : "-";
}

static void widen(size_t *width, size_t wanted)
{
	if (*width < wanted)
		*width = wanted;
}

enum { BRANCH = 2 }; /* characters for a level of the tree */

static void measure(struct table *table, const struct row *row, size_t level)
{
	for (; row; row = row->next) {
		for (size_t i = 0; i < table->count; i++)
			widen(&table->widths[i],
			        strlen(text_of(row, i)) + (table->columns[i].tree ? level * BRANCH : 0));
		measure(table, row->first, level + 1);
	}
}

/* Takes from the columns that may be wrapped what the terminal has no room for. */
static void fit(struct table *table, FILE *stream)
{
	enum { LEAST = 8 };
	struct winsize window;
	if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &window) || !window.ws_col)
		return;
	size_t total = table->count - 1;
	for (size_t i = 0; i < table->count; i++)
		total += table->widths[i];
	for (size_t i = 0; i < table->count && total > window.ws_col; i++) {
		size_t excess = total - window.ws_col, width = table->widths[i];
		if (!table->columns[i].shrink || width <= LEAST)
			continue;
		table->widths[i] = width - LEAST > excess ? width - excess : LEAST;
		total -= width - table->widths[i];
	}
}

static void repeat(FILE *stream, char character, size_t times)
{
	while (times--)
		putc_unlocked(character, stream);
}

/* The branches before a row's text, or before what continues it on another line. Returns their width. */
static size_t print_branches(FILE *stream, const struct row *row, bool continued)
{
	if (!row->parent)
		return 0;
	size_t width = 0;
	const struct row *above[64]; /* nothing nests as deep */
	for (const struct row *at = row; at->parent && width < ARRAY_SIZE(above); at = at->parent)
		above[width++] = at;
	for (size_t i = width; i-- > 1;)
		fputs(above[i]->next ? "| " : "  ", stream);
	if (continued)
		fputs(row->next ? "| " : "  ", stream);
	else
		fputs(row->next ? "|-" : "`-", stream);
	return width * BRANCH;
}

/* What of `text` goes on a line of `width` characters: up to a comma where there is one. */
static size_t piece_of(const char *text, size_t width)
{
	size_t length = strlen(text);
	if (length <= width)
		return length;
	for (size_t i = width; i > 0; i--)
		if (text[i - 1] == ',')
			return i;
	return width;
}

static void print_piece(FILE *stream, const struct table *table, size_t column, const char *text, size_t length,
        size_t branches, const char *color)
{
	size_t used = branches + length, gap = table->widths[column] > used ? table->widths[column] - used : 0;
	if (table->columns[column].right)
		repeat(stream, ' ', gap);
	if (color)
		fputs(color, stream);
	fwrite(text, 1, length, stream);
	if (color)
		fputs("\033[0m", stream);
	if (column + 1 == table->count)
		putc_unlocked('\n', stream);
	else
		repeat(stream, ' ', (table->columns[column].right ? 0 : gap) + 1);
}

/* One line of a row; `rests` is what each cell has left. Is there more? */
static bool print_line(
        FILE *stream, const struct table *table, const struct row *row, const char **rests, bool continued)
{
	bool more = false;
	for (size_t i = 0; i < table->count; i++) {
		bool tree = table->columns[i].tree;
		size_t branches = tree ? print_branches(stream, row, continued) : 0;
		size_t length = piece_of(rests[i], tree ? SIZE_MAX : table->widths[i]);
		print_piece(
		        stream, table, i, rests[i], length, branches, length ? color_code(row->cells[i].color) : NULL);
		rests[i] += length;
		more |= *rests[i] != 0;
	}
	return more;
}

static void print_rows(FILE *stream, const struct table *table, const struct row *row, const char **rests)
{
	for (; row; row = row->next) {
		for (size_t i = 0; i < table->count; i++)
			rests[i] = text_of(row, i);
		for (bool continued = false; print_line(stream, table, row, rests, continued);)
			continued = true;
		print_rows(stream, table, row->first, rests);
	}
}

int table_print(struct table *table, FILE *stream)
{
	if (!table->first)
		return 0;
	autofree const char **rests = malloc(table->count * sizeof(*rests));
	if (!rests)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++)
		table->widths[i] = strlen(table->columns[i].heading);
	measure(table, table->first, 0);
	fit(table, stream);
	for (size_t i = 0; i < table->count; i++)
		print_piece(stream, table, i, table->columns[i].heading, strlen(table->columns[i].heading), 0, NULL);
	print_rows(stream, table, table->first, rests);
	return ferror(stream) ? -EIO : 0;
}
