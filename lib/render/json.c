/* SPDX-License-Identifier: MIT */
#include "render/json.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_LIMIT = 32 };

/* ---- UTF-8 ---- */

/* Bytes of the well-formed sequence at `text` (Unicode 15, table 3-7), 0 if it is none. */
static size_t utf8_length(const unsigned char *text)
{
	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	size_t length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	unsigned char low = text[0] == 0xe0 ? 0xa0 : text[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char high = text[0] == 0xed ? 0x9f : text[0] == 0xf4 ? 0x8f : 0xbf;
	if (text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

char *utf8_clean(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	if (text && is_ascii(text))
		return strdup(text);
	char *clean = text ? malloc(strlen(text) * 3 + 1) : NULL, *to = clean;
	if (!clean)
		return NULL;
	while (*text) {
		if ((unsigned char)*text < 0x80) {
			*to++ = *text++;
			continue;
		}
		size_t length = utf8_length((const unsigned char *)text);
		if (length)
			to = mempcpy(to, text, length);
		else
			to = mempcpy(to, replacement, 3);
		text += length ? length : 1;
	}
	*to = '\0';
	return clean;
}

char *text_for_terminal(const char *text)
{
	char *clean = utf8_clean(text);
	for (unsigned char *at = (unsigned char *)clean; at && *at; at++) {
		if (*at < ' ' || *at == 0x7f)
			*at = '?';
		if (*at == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) /* C1: U+0080 to U+009F */
			at[0] = at[1] = '?';
	}
	return clean;
}

/* ---- writing ---- */

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

/* ---- reading ---- */

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

json_object *json_parse(const char *text, size_t length, const char *source, struct error *error)
{
	if (length > INT32_MAX) {
		error_say(error, -EFBIG, "%s: more than 2 GiB of JSON", source);
		return NULL;
	}
	if (json_values(text, length) > JSON_VALUES_LIMIT) {
		error_say(error, -EFBIG, "%s: more than %d values of JSON", source, JSON_VALUES_LIMIT);
		return NULL;
	}
	json_tokener *tokener = json_tokener_new_ex(DEPTH_LIMIT);
	if (!tokener) {
		error_set(error, -ENOMEM, "%s", source);
		return NULL;
	}
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	json_object *object = json_tokener_parse_ex(tokener, text, (int)length);
	enum json_tokener_error status = json_tokener_get_error(tokener);
	size_t end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	/* A whole value, nothing but blanks behind it, and not the bare "null" that json-c gives as a NULL pointer. */
	bool trailing = status == json_tokener_success && !is_blank(text + end, length - end);
	if (status == json_tokener_success && object && !trailing)
		return object;
	const char *reason = status == json_tokener_continue  ? "ends in the middle"
	                     : status != json_tokener_success ? json_tokener_error_desc(status)
	                     : trailing                       ? "something follows the document"
	                                                      : "not an object";
	error_say(error, -EINVAL, "%s: not valid JSON at byte %zu: %s", source, end, reason);
	json_object_put(object);
	return NULL;
}

int json_read_file(const char *path, const struct record *record, struct arena *arena, void *data, json_object **root,
        struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;
	struct error inner = { 0 };
	*root = NULL;
	int result = file_read(path, &text, &length, error);
	if (result)
		return result;
	*root = json_parse(text, length, path, error);
	if (!*root)
		return error->code;
	result = record_from_json(record, *root, arena, data, &inner);
	return result ? error_say(error, result, "%s: %s", path, inner.text) : 0;
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
