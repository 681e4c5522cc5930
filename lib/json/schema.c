/* SPDX-License-Identifier: MIT */
/* JSON Schema of the documents, from the same field tables that write them. */
#include "json/json.h"

#include <stdio.h>
#include <string.h>

static json_object *text(const char *value)
{
	return json_object_new_string(value);
}

static json_object *type_or_null(const char *type)
{
	json_object *schema = json_object_new_object(), *types = json_object_new_array();
	json_object_array_add(types, text(type));
	json_object_array_add(types, text("null"));
	(void)json_put_member(schema, "type", types);
	return schema;
}

static json_object *reference(const struct record *record)
{
	char path[96];
	snprintf(path, sizeof(path), "#/$defs/%s", record->name);
	json_object *schema = json_object_new_object();
	(void)json_put_member(schema, "$ref", text(path));
	return schema;
}

static json_object *reference_or_null(const struct record *record)
{
	json_object *schema = json_object_new_object(), *choices = json_object_new_array(),
	            *null = json_object_new_object();
	(void)json_put_member(null, "type", text("null"));
	json_object_array_add(choices, reference(record));
	json_object_array_add(choices, null);
	(void)json_put_member(schema, "anyOf", choices);
	return schema;
}

static json_object *array_of(json_object *items)
{
	json_object *schema = json_object_new_object();
	(void)json_put_member(schema, "type", text("array"));
	(void)json_put_member(schema, "items", items);
	return schema;
}

static json_object *one_of_names(const struct field *field)
{
	json_object *schema = json_object_new_object(), *names = json_object_new_array();
	bool nullable = false;
	for (uint32_t i = 0; i < field->names_count; i++) {
		if (field->names[i])
			json_object_array_add(names, text(field->names[i]));
		else
			nullable = true;
	}
	if (nullable)
		json_object_array_add(names, NULL);
	(void)json_put_member(schema, "enum", names);
	return schema;
}

static json_object *map_of_numbers(void)
{
	json_object *schema = json_object_new_object();
	(void)json_put_member(schema, "type", text("object"));
	(void)json_put_member(schema, "additionalProperties", type_or_null("integer"));
	return schema;
}

static json_object *field_schema(const struct field *field)
{
	switch (field->type) {
	case FIELD_TEXT:
		return type_or_null("string");
	case FIELD_NUMBER:
		return type_or_null("integer");
	case FIELD_MILLI:
		return type_or_null("number");
	case FIELD_FLAG:
		return type_or_null("boolean");
	case FIELD_ENUM:
		return one_of_names(field);
	case FIELD_TEXTS:
		return array_of(type_or_null("string"));
	case FIELD_NUMBERS:
		return array_of(type_or_null("integer"));
	case FIELD_MAP:
		return map_of_numbers();
	case FIELD_RECORD:
		return reference_or_null(field->record);
	case FIELD_INLINE:
		return reference(field->record);
	case FIELD_RECORDS:
		return array_of(reference(field->record));
	}
	return NULL;
}

static void add_property(
        json_object *properties, json_object *required, const char *key, json_object *schema, const char *help)
{
	if (help)
		(void)json_put_member(schema, "description", text(help));
	(void)json_put_member(properties, key, schema);
	json_object_array_add(required, text(key));
}

static void add_properties(json_object *properties, json_object *required, const struct record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct field *field = &record->fields[i];
		add_property(properties, required, field->key, field_schema(field), field->help);
	}
}

static void define(json_object *definitions, const struct record *record);

static void define_children(json_object *definitions, const struct record *record)
{
	for (size_t i = 0; i < record->count; i++)
		if (record->fields[i].record)
			define(definitions, record->fields[i].record);
}

static json_object *object_schema(json_object *properties, json_object *required)
{
	json_object *schema = json_object_new_object();
	(void)json_put_member(schema, "type", text("object"));
	(void)json_put_member(schema, "properties", properties);
	(void)json_put_member(schema, "required", required);
	return schema;
}

static void define(json_object *definitions, const struct record *record)
{
	if (json_object_object_get_ex(definitions, record->name, NULL))
		return;
	json_object *properties = json_object_new_object(), *required = json_object_new_array();
	add_properties(properties, required, record);
	(void)json_put_member(definitions, record->name, object_schema(properties, required));
	define_children(definitions, record);
}

static void add_constant(json_object *properties, json_object *required, const char *key, json_object *value)
{
	json_object *schema = json_object_new_object();
	(void)json_put_member(schema, "const", value);
	add_property(properties, required, key, schema, NULL);
}

json_object *record_schema(const char *name, const struct record *record)
{
	json_object *properties = json_object_new_object(), *required = json_object_new_array(),
	            *definitions = json_object_new_object();
	add_constant(properties, required, "schema", text(name));
	add_constant(properties, required, "version", json_object_new_int(1));
	add_property(properties, required, "tool_version", type_or_null("string"), "version of rdmadiag that wrote it");
	add_property(properties, required, "origin", type_or_null("string"), "live, or snapshot: a recorded host");
	add_property(properties, required, "host", reference_or_null(&host_facts_record),
	        "the host it is about, null: not known, or about none");
	define(definitions, &host_facts_record);
	if (record) {
		add_properties(properties, required, record);
		define_children(definitions, record);
	}
	add_property(properties, required, "findings", array_of(reference(&finding_record)),
	        "what is the matter, or worth to be known");
	add_property(properties, required, "not_collected", array_of(reference(&not_collected_record)),
	        "what is not known, and why");
	define(definitions, &finding_record);
	define(definitions, &not_collected_record);

	json_object *schema = object_schema(properties, required);
	(void)json_put_member(schema, "$schema", text("https://json-schema.org/draft/2020-12/schema"));
	(void)json_put_member(schema, "title", text(name));
	(void)json_put_member(schema, "$defs", definitions);
	return schema;
}
