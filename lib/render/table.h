/* SPDX-License-Identifier: MIT */
/* Text tables through libsmartcols: columns by name, cells as text, "-" for what is unknown or not applicable. */
#ifndef RDMADIAG_RENDER_TABLE_H
#define RDMADIAG_RENDER_TABLE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_column {
	const char *heading;
	bool right;  /* aligned to the right */
	bool shrink; /* may be wrapped when the terminal is narrow; never truncated on a pipe */
	bool tree;   /* carries the branches of a tree */
};

struct table;

struct table *table_new(const struct table_column *columns, size_t count, bool color);
void table_free(struct table *table);
/* Starts a row below `parent` (NULL: top level). Returns a handle for children; NULL without memory. */
void *table_row(struct table *table, void *parent);
/* Sets a cell of the last row; NULL or "" shows "-". */
void table_cell(struct table *table, size_t column, const char *text);
__attribute__((format(printf, 3, 4))) void table_cellf(struct table *table, size_t column, const char *format, ...);
void table_cell_num(struct table *table, size_t column, struct num number);
/* Colours the last row or cell: "red", "yellow", "green", "bold", "darkgray"; nothing without colour. */
void table_color_cell(struct table *table, size_t column, const char *color);
/* Prints everything. 0 or negative errno. */
int table_print(struct table *table, FILE *stream);

#endif
