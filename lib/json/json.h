/* SPDX-License-Identifier: MIT */
/* JSON through field tables and json-c: one walk writes, one reads, one makes the schema. */
#ifndef RDMADIAG_JSON_JSON_H
#define RDMADIAG_JSON_JSON_H

#include "base/arena.h"
#include "base/error.h"
#include "model/host.h"
#include "model/record.h"
#include "model/report.h"

#include <json-c/json.h>

/* A new object with every field of `record`; the caller puts it. NULL without memory. */
json_object *record_to_json(const struct record *record, const void *data);

/*
 * Fills `data` (zeroed by the caller) from an object. Missing keys and nulls stay unknown, unknown keys are ignored; a
 * value of the wrong type is -EINVAL and names its path in `error`. Texts are copied into the arena.
 */
int record_from_json(
        const struct record *record, json_object *object, struct arena *arena, void *data, struct error *error);

/*
 * The same for a document that another program may have written: a value that does not fit (an unknown word, another
 * type, a number beyond 63 bits, an element that is null) stays unknown, and `report` gets one entry for it by its
 * path. -EINVAL only where `object` is none.
 */
int record_from_foreign_json(const struct record *record, json_object *object, struct arena *arena, void *data,
        struct report *report, struct error *error);

/*
 * Parses `length` bytes of foreign JSON: valid UTF-8, one value, depth at most 32, not more than JSON_VALUES_LIMIT
 * values (each takes some 100 bytes, whatever it takes in the text). The caller puts the result. NULL with `error` that
 * names `source`.
 */
enum { JSON_VALUES_LIMIT = 4 << 20 };
json_object *json_parse(const char *text, size_t length, const char *source, struct error *error);

/* How many values a text may hold at most; commas and brackets in strings count too. */
size_t json_values(const char *text, size_t length);

/*
 * A file that the user names (file_read()) into `data`, as record_from_json() does; every `error` names it. `root`, the
 * parsed document, is the caller's to put also after an error, unless it is NULL then.
 */
int json_read_file(const char *path, const struct record *record, struct arena *arena, void *data, json_object **root,
        struct error *error);
/* The same of a text that was read already; `source` names it. */
int json_read_text(const char *text, size_t length, const char *source, const struct record *record,
        struct arena *arena, void *data, json_object **root, struct error *error);

enum { DOCUMENT_VERSION = 1 };
/* The envelope of every document around its own part. */
json_object *document_to_json(const char *schema, const char *origin, const struct host_facts *facts,
        const struct record *record, const void *document, const struct report *report);

/* Compact or pretty text in malloc'ed memory with a line end; NULL without memory. */
char *json_text(json_object *object, bool pretty);

/* JSON Schema (2020-12) of a document; the caller puts it. */
json_object *record_schema(const char *schema, const struct record *record);

/*
 * Puts `value` into the object, whose it is from then on; where it does not go in it is freed. 0 or -ENOMEM, also for
 * NULL, which is a value that there was no memory for.
 */
int json_put_member(json_object *object, const char *key, json_object *value);

extern const struct record host_facts_record;

#endif
