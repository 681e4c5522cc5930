/* SPDX-License-Identifier: MIT */
#include "json/json.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_LIMIT = 32 };

/* The path to the value being read, for messages: "evidence.operations[3].bytes". */
struct place {
	const struct place *above;
	const char *key; /* NULL: an array element */
	size_t index;
};

struct reader {
	struct arena *arena;
	struct error *error;
	struct report *report; /* NULL: the first value that does not fit ends it */
};

static int place_text(const struct place *place, char *out, size_t size)
{
	if (!place)
		return 0;
	int length = place_text(place->above, out, size);
	if (length < 0 || (size_t)length >= size)
		return length;
	if (place->key)
		return length + snprintf(out + length, size - (size_t)length, "%s%s", length ? "." : "", place->key);
	return length + snprintf(out + length, size - (size_t)length, "[%zu]", place->index);
}

static int wrong(struct reader *reader, const struct place *place, const char *expected, json_object *found)
{
	char path[160] = "";
	place_text(place, path, sizeof(path));
	return error_say(reader->error, -EINVAL, "%s: %s expected, found %s", *path ? path : "document", expected,
	        json_type_to_name(json_object_get_type(found)));
}

static int read_record(
        struct reader *reader, const struct place *place, const struct record *record, json_object *object, void *data);

/* A value that does not fit stays unknown, with an entry that says why, where the caller wants it so. */
static int forgive(struct reader *reader, const struct place *place, int result)
{
	char path[160] = "";
	if (result != -EINVAL || !reader->report)
		return result;
	place_text(place, path, sizeof(path));
	report_missing(reader->report, path, "host", result, "%s", reader->error->text);
	return 0;
}

static int read_text(struct reader *reader, const struct place *place, json_object *value, const char **text)
{
	if (!json_object_is_type(value, json_type_string))
		return wrong(reader, place, "a string", value);
	*text = arena_strdup(reader->arena, json_object_get_string(value));
	return *text ? 0 : error_set(reader->error, -ENOMEM, "document");
}

static int read_number(
        struct reader *reader, const struct place *place, json_object *value, int scale, struct num *number)
{
	if (json_object_is_type(value, json_type_int)) {
		int64_t whole = json_object_get_int64(value);
		/* json-c saturates silently, in both directions. */
		bool saturated = whole == INT64_MIN || (whole > 0 && json_object_get_uint64(value) != (uint64_t)whole);
		if (saturated || whole > INT64_MAX / scale || whole < INT64_MIN / scale)
			return wrong(reader, place, "a number in range", value);
		*number = num(whole * scale);
		return 0;
	}
	double real = json_object_get_double(value);
	if (scale == 1 || !json_object_is_type(value, json_type_double) || !(fabs(real) < 1e15))
		return wrong(reader, place, scale == 1 ? "a whole number" : "a number", value);
	*number = num((int64_t)(real * scale + (real < 0 ? -0.5 : 0.5)));
	return 0;
}

static int read_enum(
        struct reader *reader, const struct place *place, const struct field *field, json_object *value, int *out)
{
	const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
	for (uint32_t i = 0; text && i < field->names_count; i++) {
		if (field->names[i] && !strcmp(field->names[i], text)) {
			*out = (int)i;
			return 0;
		}
	}
	char path[160] = "";
	place_text(place, path, sizeof(path));
	return error_say(reader->error, -EINVAL, "%s: unknown word \"%.40s\"", path, text ? text : "(not a string)");
}

static int read_item(struct reader *reader, const struct place *place, const struct field *field, json_object *value,
        struct list *list)
{
	if (field->type == FIELD_TEXTS) {
		const char *text = NULL;
		int result = read_text(reader, place, value, &text);
		return result ? result : list_add_pointer(reader->arena, list, (void *)(uintptr_t)text);
	}
	size_t size = field->type == FIELD_NUMBERS ? sizeof(struct num) : field->record->size;
	void *item = list_add_size(reader->arena, list, size);
	if (!item)
		return error_set(reader->error, -ENOMEM, "document");
	if (field->type == FIELD_NUMBERS)
		return read_number(reader, place, value, 1, item);
	return read_record(reader, place, field->record, value, item);
}

static int read_list(struct reader *reader, const struct place *place, const struct field *field, json_object *value,
        struct list *list)
{
	if (!json_object_is_type(value, json_type_array))
		return wrong(reader, place, "an array", value);
	size_t length = json_object_array_length(value);
	for (size_t i = 0; i < length; i++) {
		struct place item = { .above = place, .index = i };
		uint32_t before = list->count;
		int result = read_item(reader, &item, field, json_object_array_get_idx(value, i), list);
		if (result)
			list->count = before;
		result = forgive(reader, &item, result);
		if (result)
			return result;
	}
	return 0;
}

static int read_map(struct reader *reader, const struct place *place, json_object *value, struct list *list)
{
	if (!json_object_is_type(value, json_type_object))
		return wrong(reader, place, "an object", value);
	json_object_object_foreach(value, key, number)
	{
		struct place item = { .above = place, .key = key };
		struct map_entry *entry = list_add_size(reader->arena, list, sizeof(*entry));
		if (!entry)
			return error_set(reader->error, -ENOMEM, "document");
		if (parse_number(key, 10, &entry->key))
			return wrong(reader, &item, "a number as key", number);
		int result = number ? read_number(reader, &item, number, 1, &entry->value) : 0;
		if (result)
			return result;
	}
	return 0;
}

static int read_pointer(
        struct reader *reader, const struct place *place, const struct field *field, json_object *value, void **member)
{
	void *data = arena_alloc(reader->arena, field->record->size);
	if (!data)
		return error_set(reader->error, -ENOMEM, "document");
	int result = read_record(reader, place, field->record, value, data);
	if (!result)
		*member = data;
	return result;
}

static int read_field(
        struct reader *reader, const struct place *place, const struct field *field, json_object *value, void *member)
{
	switch (field->type) {
	case FIELD_TEXT:
		return read_text(reader, place, value, member);
	case FIELD_NUMBER:
		return read_number(reader, place, value, 1, member);
	case FIELD_MILLI:
		return read_number(reader, place, value, 1000, member);
	case FIELD_FLAG:
		if (!json_object_is_type(value, json_type_boolean))
			return wrong(reader, place, "true or false", value);
		*(enum flag *)member = flag(json_object_get_boolean(value));
		return 0;
	case FIELD_ENUM:
		return read_enum(reader, place, field, value, member);
	case FIELD_TEXTS:
	case FIELD_NUMBERS:
	case FIELD_RECORDS:
		return read_list(reader, place, field, value, member);
	case FIELD_MAP:
		return read_map(reader, place, value, member);
	case FIELD_RECORD:
		return read_pointer(reader, place, field, value, member);
	case FIELD_INLINE:
		return read_record(reader, place, field->record, value, member);
	}
	return -EINVAL;
}

static int read_record(
        struct reader *reader, const struct place *place, const struct record *record, json_object *object, void *data)
{
	if (!json_object_is_type(object, json_type_object))
		return wrong(reader, place, "an object", object);
	for (size_t i = 0; i < record->count; i++) {
		const struct field *field = &record->fields[i];
		json_object *value;
		if (!json_object_object_get_ex(object, field->key, &value) || !value)
			continue;
		struct place here = { .above = place, .key = field->key };
		int result = read_field(reader, &here, field, value, (char *)data + field->offset);
		result = forgive(reader, &here, result);
		if (result)
			return result;
	}
	return 0;
}

int record_from_json(
        const struct record *record, json_object *object, struct arena *arena, void *data, struct error *error)
{
	struct reader reader = { .arena = arena, .error = error };
	return read_record(&reader, NULL, record, object, data);
}

int record_from_foreign_json(const struct record *record, json_object *object, struct arena *arena, void *data,
        struct report *report, struct error *error)
{
	struct reader reader = { .arena = arena, .error = error, .report = report };
	return read_record(&reader, NULL, record, object, data);
}

/* The text of json_parse() need not end with a NUL. */
static bool is_blank(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!text[i] || !strchr(" \t\r\n", text[i]))
			return false;
	return true;
}

size_t json_values(const char *text, size_t length)
{
	size_t count = 1;
	for (size_t i = 0; i < length; i++)
		count += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return count;
}

/* Where a parser stopped, and why. */
struct parsed {
	json_object *object;
	enum json_tokener_error status;
	size_t end;
};

static int parse(const char *text, size_t length, int flags, struct parsed *parsed)
{
	json_tokener *tokener = json_tokener_new_ex(DEPTH_LIMIT);
	if (!tokener)
		return -ENOMEM;
	json_tokener_set_flags(tokener, flags);
	parsed->object = json_tokener_parse_ex(tokener, text, (int)length);
	parsed->status = json_tokener_get_error(tokener);
	parsed->end = json_tokener_get_parse_end(tokener);
	if (parsed->status == json_tokener_continue && length) {
		/* A number or a word is at its end only when something follows it: a blank tells whether it was whole.
		 */
		parsed->object = json_tokener_parse_ex(tokener, " ", 1);
		parsed->status = json_tokener_get_error(tokener);
		parsed->end = length;
	}
	json_tokener_free(tokener);
	return 0;
}

/* From 0.17 on json-c takes no integer beyond 64 bits in its strict mode; the reader calls only that value unknown. */
static bool stopped_at_long_integer(const char *text, const struct parsed *parsed)
{
	enum { DIGITS = 19 }; /* of INT64_MAX */
	size_t digits = 0;
	while (digits < parsed->end && isdigit((unsigned char)text[parsed->end - digits - 1]))
		digits++;
	return parsed->status == json_tokener_error_parse_number && digits >= DIGITS;
}

static bool begins_with(const char *text, size_t length, const char *start)
{
	return length >= strlen(start) && !memcmp(text, start, strlen(start));
}

/* What it is that is no text of JSON, as what follows "it is"; NULL: it may be some. */
static const char *other_form(const char *text, size_t length)
{
	if (begins_with(text, length, "\xff\xfe") || begins_with(text, length, "\xfe\xff"))
		return "UTF-16, as some programs on Windows write, and JSON is UTF-8";
	if (begins_with(text, length, "\x1f\x8b") || begins_with(text, length, "\x28\xb5\x2f\xfd") ||
	        begins_with(text, length,
	                "\xfd"
	                "7zXZ") ||
	        begins_with(text, length, "BZh") || begins_with(text, length, "PK\x03\x04"))
		return "packed, and must be unpacked first";
	return NULL;
}

json_object *json_parse(const char *text, size_t length, const char *source, struct error *error)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	struct parsed parsed;
	const char *form = other_form(text, length);
	if (form) {
		error_say(error, -EINVAL, "%s: not valid JSON: it is %s", source, form);
		return NULL;
	}
	if (begins_with(text, length, byte_order_mark)) {
		text += strlen(byte_order_mark);
		length -= strlen(byte_order_mark);
	}
	if (length > INT32_MAX) {
		error_say(error, -EFBIG, "%s: more than 2 GiB of JSON", source);
		return NULL;
	}
	if (json_values(text, length) > JSON_VALUES_LIMIT) {
		error_say(error, -EFBIG, "%s: more than %d values of JSON", source, JSON_VALUES_LIMIT);
		return NULL;
	}
	int result = parse(text, length, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8, &parsed);
	if (!result && stopped_at_long_integer(text, &parsed))
		result = parse(text, length, JSON_TOKENER_VALIDATE_UTF8, &parsed);
	if (result) {
		error_set(error, result, "%s", source);
		return NULL;
	}
	/* A whole value, nothing but blanks behind it, and not the bare "null" that json-c gives as a NULL pointer. */
	bool whole = parsed.status == json_tokener_success;
	bool trailing = whole && !is_blank(text + parsed.end, length - parsed.end);
	if (whole && parsed.object && !trailing)
		return parsed.object;
	const char *reason = is_blank(text, length)                   ? "it is empty"
	                     : parsed.status == json_tokener_continue ? "ends in the middle"
	                     : !whole                                 ? json_tokener_error_desc(parsed.status)
	                     : trailing                               ? "something follows the document"
	                                                              : "not an object";
	error_say(error, -EINVAL, "%s: not valid JSON at byte %zu: %s", source, parsed.end, reason);
	json_object_put(parsed.object);
	return NULL;
}

int json_read_text(const char *text, size_t length, const char *source, const struct record *record,
        struct arena *arena, void *data, json_object **root, struct error *error)
{
	struct error inner = { 0 };
	*root = json_parse(text, length, source, error);
	if (!*root)
		return error->code;
	int result = record_from_json(record, *root, arena, data, &inner);
	return result ? error_say(error, result, "%s: %s", source, inner.text) : 0;
}

int json_read_file(const char *path, const struct record *record, struct arena *arena, void *data, json_object **root,
        struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;
	*root = NULL;
	int result = file_read(path, &text, &length, error);
	return result ? result : json_read_text(text, length, path, record, arena, data, root, error);
}
