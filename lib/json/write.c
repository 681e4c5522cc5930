/* SPDX-License-Identifier: MIT */
#include "json/json.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#ifndef JSON_C_OBJECT_ADD_CONSTANT_KEY /* its name before json-c 0.16 */
#define JSON_C_OBJECT_ADD_CONSTANT_KEY JSON_C_OBJECT_KEY_IS_CONSTANT
#endif

/* json-c has no way to tell "null" from "no memory", so values go through a status. */
struct writer {
	bool failed;
};

static json_object *check(struct writer *writer, json_object *object)
{
	if (!object)
		writer->failed = true;
	return object;
}

static json_object *write_text(struct writer *writer, const char *text)
{
	if (!text)
		return NULL;
	autofree char *clean = utf8_clean(text);
	return check(writer, clean ? json_object_new_string(clean) : NULL);
}

static json_object *write_number(struct writer *writer, struct num number)
{
	return number.known ? check(writer, json_object_new_int64(number.value)) : NULL;
}

static json_object *write_milli(struct writer *writer, struct num number)
{
	if (!number.known)
		return NULL;
	if (number.value % 1000 == 0)
		return check(writer, json_object_new_int64(number.value / 1000));
	char text[32];
	int length = snprintf(text, sizeof(text), "%s%" PRId64 ".%03d", number.value < 0 ? "-" : "",
	        number.value < 0 ? -(number.value / 1000) : number.value / 1000, abs((int)(number.value % 1000)));
	while (text[length - 1] == '0')
		text[--length] = '\0';
	return check(writer, json_object_new_double_s((double)number.value / 1000.0, text));
}

static json_object *write_record(struct writer *writer, const struct record *record, const void *data);

static void append(struct writer *writer, json_object *array, json_object *item)
{
	if (json_object_array_add(array, item)) {
		json_object_put(item);
		writer->failed = true;
	}
}

static json_object *write_list(struct writer *writer, const struct field *field, const struct list *list)
{
	json_object *array = check(writer, json_object_new_array_ext((int)(list->count ? list->count : 1)));
	for (uint32_t i = 0; array && !writer->failed && i < list->count; i++) {
		if (field->type == FIELD_TEXTS)
			append(writer, array, write_text(writer, list->items[i]));
		else if (field->type == FIELD_NUMBERS)
			append(writer, array, write_number(writer, *(const struct num *)list->items[i]));
		else
			append(writer, array, write_record(writer, field->record, list->items[i]));
	}
	return array;
}

static void set(struct writer *writer, json_object *object, const char *key, json_object *value, unsigned int options)
{
	if (json_object_object_add_ex(object, key, value, options | JSON_C_OBJECT_ADD_KEY_IS_NEW)) {
		json_object_put(value);
		writer->failed = true;
	}
}

int json_put_member(json_object *object, const char *key, json_object *value)
{
	if (value && !json_object_object_add(object, key, value))
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

static json_object *write_map(struct writer *writer, const struct list *list)
{
	json_object *object = check(writer, json_object_new_object());
	for (uint32_t i = 0; object && !writer->failed && i < list->count; i++) {
		const struct map_entry *entry = list->items[i];
		char key[24];
		snprintf(key, sizeof(key), "%" PRId64, entry->key);
		set(writer, object, key, write_number(writer, entry->value), 0);
	}
	return object;
}

static json_object *write_field(struct writer *writer, const struct field *field, const void *member)
{
	switch (field->type) {
	case FIELD_TEXT:
		return write_text(writer, *(const char *const *)member);
	case FIELD_NUMBER:
		return write_number(writer, *(const struct num *)member);
	case FIELD_MILLI:
		return write_milli(writer, *(const struct num *)member);
	case FIELD_FLAG:
		if (*(const enum flag *)member == FLAG_UNKNOWN)
			return NULL;
		return check(writer, json_object_new_boolean(*(const enum flag *)member == FLAG_YES));
	case FIELD_ENUM: {
		int value = *(const int *)member;
		bool named = value >= 0 && (uint32_t)value < field->names_count;
		return write_text(writer, named ? field->names[value] : NULL);
	}
	case FIELD_TEXTS:
	case FIELD_NUMBERS:
	case FIELD_RECORDS:
		return write_list(writer, field, member);
	case FIELD_MAP:
		return write_map(writer, member);
	case FIELD_RECORD:
		return *(void *const *)member ? write_record(writer, field->record, *(void *const *)member) : NULL;
	case FIELD_INLINE:
		return write_record(writer, field->record, member);
	}
	return NULL;
}

static void write_fields(struct writer *writer, json_object *object, const struct record *record, const void *data)
{
	for (size_t i = 0; i < record->count && !writer->failed; i++) {
		const struct field *field = &record->fields[i];
		json_object *value = write_field(writer, field, (const char *)data + field->offset);
		set(writer, object, field->key, value, JSON_C_OBJECT_ADD_CONSTANT_KEY);
	}
}

static json_object *write_record(struct writer *writer, const struct record *record, const void *data)
{
	json_object *object = check(writer, json_object_new_object());
	if (object)
		write_fields(writer, object, record, data);
	return object;
}

json_object *record_to_json(const struct record *record, const void *data)
{
	struct writer writer = { 0 };
	json_object *object = write_record(&writer, record, data);
	if (writer.failed) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

/* ---- documents ---- */

static const struct field host_facts_fields[] = {
	FIELD(TEXT, struct host_facts, hostname, "host name"),
	FIELD(TEXT, struct host_facts, kernel, "kernel release"),
	FIELD(TEXT, struct host_facts, architecture, "machine"),
};
RECORD(host_facts_record, host_facts, host_facts_fields);

static const struct field report_fields[] = {
	FIELD_OF(RECORDS, struct report, findings, finding_record, "what is the matter"),
	FIELD_OF(RECORDS, struct report, not_collected, not_collected_record, "what is unknown and why"),
};
static RECORD(report_record, report, report_fields);

json_object *document_to_json(const char *schema, const char *origin, const struct host_facts *facts,
        const struct record *record, const void *document, const struct report *report)
{
	static const struct report empty;
	struct writer writer = { 0 };
	json_object *object = json_object_new_object();
	if (!object)
		return NULL;
	set(&writer, object, "schema", write_text(&writer, schema), 0);
	set(&writer, object, "version", check(&writer, json_object_new_int(DOCUMENT_VERSION)), 0);
	set(&writer, object, "tool_version", write_text(&writer, RDMADIAG_VERSION), 0);
	set(&writer, object, "origin", write_text(&writer, origin), 0);
	set(&writer, object, "host", facts ? write_record(&writer, &host_facts_record, facts) : NULL, 0);
	if (record)
		write_fields(&writer, object, record, document);
	write_fields(&writer, object, &report_record, report ? report : &empty);
	if (!writer.failed)
		return object;
	json_object_put(object);
	return NULL;
}

char *json_text(json_object *object, bool pretty)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	flags |= pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED : JSON_C_TO_STRING_PLAIN;
	const char *text = json_object_to_json_string_ext(object, flags);
	char *copy = NULL;
	if (text && asprintf(&copy, "%s\n", text) < 0)
		return NULL;
	return copy;
}
