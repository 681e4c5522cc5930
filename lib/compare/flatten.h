/* SPDX-License-Identifier: MIT */
/* Documents side by side: a row for each path, with the value that each document has there. */
#ifndef RDMADIAG_COMPARE_FLATTEN_H
#define RDMADIAG_COMPARE_FLATTEN_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * What stands for a list with elements and for an object in the rows of their own: their members have rows as well.
 */
extern const char filled_list[], filled_object[];

/*
 * An object from path to row: an array with a text for each document (the value as compact JSON, null: not there), and
 * behind them the row of the object that it is part of, or null. What differs between healthy nodes by nature has no
 * row. NULL without memory; the caller puts it.
 */
json_object *flatten_documents(json_object *const *documents, size_t count);

/* Does `document`, one of `count`, have what this row is part of? A device that is not there has no firmware either. */
bool row_has_say(json_object *values, size_t document, size_t count);

#endif
