/* SPDX-License-Identifier: MIT */
/*
 * Field tables: one description of a struct, from which JSON is written, read back, checked and documented.
 *
 * A struct that appears in a document has a `struct record` beside it. The order of the fields is the order in the
 * JSON. Every field is always written; what is not known is null (an unknown number or flag, a NULL text, a NULL
 * record). Lists are never null.
 */
#ifndef RDMADIAG_MODEL_RECORD_H
#define RDMADIAG_MODEL_RECORD_H

#include "base/arena.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum field_type {
	FIELD_TEXT,    /* const char * */
	FIELD_NUMBER,  /* struct num */
	FIELD_MILLI,   /* struct num in thousandths of what is shown: 2500 → 2.5 */
	FIELD_FLAG,    /* enum flag: true, false, null */
	FIELD_ENUM,    /* int, an index into names[]; a NULL name is null */
	FIELD_TEXTS,   /* struct strings */
	FIELD_NUMBERS, /* LIST(struct num) */
	FIELD_MAP,     /* LIST(struct map_entry): an object with numbers as keys */
	FIELD_RECORD,  /* pointer to a struct, NULL is null */
	FIELD_INLINE,  /* a struct held by value */
	FIELD_RECORDS, /* LIST(struct) */
};

struct map_entry {
	int64_t key;
	struct num value;
};

struct record;

struct field {
	const char *key;
	enum field_type type;
	uint32_t offset;
	const struct record *record; /* of FIELD_RECORD, FIELD_INLINE, FIELD_RECORDS */
	const char *const *names;    /* of FIELD_ENUM, ended by names_count */
	uint32_t names_count;        /* of FIELD_ENUM */
	const char *help;            /* one line, for the schema and the manual */
};

struct record {
	const char *name; /* of the struct; the schema's definition name */
	size_t size;
	const struct field *fields;
	size_t count;
};

/*
 * Control characters in every text of a struct become "?", before people look at it: names come from the kernel, from
 * files and from peers, and a terminal would obey them. JSON is written of the struct as it was.
 */
void record_for_terminal(struct arena *arena, const struct record *record, void *data);

/* Shorthands for tables: FIELD(TEXT, struct port, state, "…"). The key is the member's name. */
#define FIELD_AS(kind, type_, member, key_, help_)                                                                     \
	{                                                                                                              \
		.key = (key_), .type = FIELD_##kind, .offset = offsetof(type_, member), .help = (help_)                \
	}
#define FIELD(kind, type_, member, help_) FIELD_AS(kind, type_, member, #member, help_)
#define FIELD_OF_NAMES(type_, member, names_, help_)                                                                   \
	{                                                                                                              \
		.key = #member, .type = FIELD_ENUM, .offset = offsetof(type_, member), .names = (names_),              \
		.names_count = sizeof(names_) / sizeof((names_)[0]), .help = (help_)                                   \
	}
#define FIELD_OF(kind, type_, member, record_, help_)                                                                  \
	{                                                                                                              \
		.key = #member, .type = FIELD_##kind, .offset = offsetof(type_, member), .record = &(record_),         \
		.help = (help_)                                                                                        \
	}
#define RECORD(variable, type_, fields_)                                                                               \
	const struct record variable = { .name = #type_,                                                               \
		.size = sizeof(struct type_),                                                                          \
		.fields = (fields_),                                                                                   \
		.count = sizeof(fields_) / sizeof((fields_)[0]) }

#endif
