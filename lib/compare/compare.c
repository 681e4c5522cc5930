/* SPDX-License-Identifier: MIT */
#include "compare/compare.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands for a list with elements in the row of the list itself: they have rows of their own. */
static const char filled_list[] = "[...]";

static const struct field compared_value_fields[] = {
	FIELD(TEXT, struct compared_value, value, "the value as JSON, null: not there"),
	FIELD(TEXTS, struct compared_value, documents, "documents that have it"),
};
static RECORD(compared_value_record, compared_value, compared_value_fields);

static const struct field difference_fields[] = {
	FIELD(TEXT, struct difference, path, "what differs"),
	FIELD_OF(RECORDS, struct difference, values, compared_value_record, "its values, most frequent first"),
	FIELD(TEXT, struct difference, odd_one_out, "the one document that disagrees with all others"),
};
static RECORD(difference_record, difference, difference_fields);

static const struct field compared_document_fields[] = {
	FIELD(TEXT, struct compared_document, name, "name used in this comparison"),
	FIELD(TEXT, struct compared_document, file, "file"),
	FIELD(TEXT, struct compared_document, hostname, "host name in it"),
	FIELD(NUMBER, struct compared_document, odd, "differences in which it is the odd one out"),
};
static RECORD(compared_document_record, compared_document, compared_document_fields);

static const struct field comparison_fields[] = {
	FIELD_OF(RECORDS, struct comparison, documents, compared_document_record, "what was compared"),
	FIELD_OF(RECORDS, struct comparison, differences, difference_record, "what differs"),
	FIELD(TEXT, struct comparison, odd_one_out, "the document that most often disagrees with all others"),
};
RECORD(comparison_record, comparison, comparison_fields);

/* ---- flattening: path → one value for each document ---- */

/* Keys whose values differ between healthy nodes by nature. */
static const char *const ignored_keys[] = { "hostname", "origin", "process", "node_guid", "sys_image_guid", "gid", "ip",
	"ifindex", "lid", "partner_mac", "mac", "pid", "qpn", "psn", "sq_psn", "rq_psn", "rkey", "lkey",
	"buffer_address", "wr_id", "clock", "tcp", "statistics", "evidence_items", "before", "after",
	"remote_address" };

/* Of a finding, besides what it is and of what: these speak of this node's addresses and numbers. */
static const char *const ignored_in_findings[] = { "message", "evidence", "advice" };

/* Of a choice of a GID index: these speak of addresses, and of the other entries of the table. */
static const char *const ignored_in_choices[] = { "reason", "rejected" };

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && !strcmp(text + length - end_length, end);
}

static bool is_one_of(const char *key, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}

static bool is_ignored(const char *path, const char *key)
{
	static const char findings[] = "findings[";
	if (!strncmp(path, findings, strlen(findings)) &&
	        is_one_of(key, ignored_in_findings, ARRAY_SIZE(ignored_in_findings)))
		return true;
	static const char choices[] = "choices[";
	if (!strncmp(path, choices, strlen(choices)) &&
	        is_one_of(key, ignored_in_choices, ARRAY_SIZE(ignored_in_choices)))
		return true;
	return is_one_of(key, ignored_keys, ARRAY_SIZE(ignored_keys)) || ends_with(key, "_ns") ||
	       ends_with(key, "_psn");
}

struct flattener {
	json_object *table; /* path → array with a string (or null) for each document */
	size_t document, count;
	bool failed;
};

static void flatten(struct flattener *flattener, const char *path, json_object *value);

static json_object *row(struct flattener *flattener, const char *path)
{
	json_object *values;
	if (json_object_object_get_ex(flattener->table, path, &values))
		return values;
	values = json_object_new_array_ext((int)flattener->count);
	if (!values || json_object_object_add(flattener->table, path, values)) {
		json_object_put(values);
		return NULL;
	}
	return values;
}

static void put_value(struct flattener *flattener, const char *path, const char *value)
{
	json_object *values = row(flattener, path);
	json_object *text = json_object_new_string(value);
	if (!values || !text || json_object_array_put_idx(values, flattener->document, text)) {
		json_object_put(text);
		flattener->failed = true;
	}
}

static void flatten_leaf(struct flattener *flattener, const char *path, json_object *value)
{
	put_value(flattener, path,
	        json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* ---- lists ---- */

enum { NAME_KEYS = 3 };

static bool has_keys(json_object *element, const char *const keys[NAME_KEYS])
{
	for (size_t i = 0; i < NAME_KEYS && keys[i]; i++) {
		json_object *part;
		if (!json_object_object_get_ex(element, keys[i], &part) || !part)
			return false;
	}
	return true;
}

/* What names an element of a list, by the keys that the documents use: malloc'ed, NULL: only its position does. */
static char *element_name(json_object *element)
{
	static const char *const keys[][NAME_KEYS] = { { "device", "port", "consumer" }, { "device", "port", "index" },
		{ "device", "port" }, { "id", "subject" }, { "what", "subject" }, { "side", "name" }, { "name" },
		{ "number" }, { "id" }, { "side", "step" }, { "side", "to" }, { "step" }, { "address" }, { "path" },
		{ "index" } };
	size_t i = 0;
	while (i < ARRAY_SIZE(keys) && !has_keys(element, keys[i]))
		i++;
	if (i == ARRAY_SIZE(keys))
		return NULL;
	char *name = NULL;
	size_t length;
	FILE *stream = open_memstream(&name, &length);
	for (size_t k = 0; stream && k < NAME_KEYS && keys[i][k]; k++)
		fprintf(stream, "%s%s", k ? "/" : "",
		        json_object_get_string(json_object_object_get(element, keys[i][k])));
	if (stream)
		fclose(stream);
	return name;
}

/* The row that this element may have: a second of the same name is called name#2. */
static char *free_place(struct flattener *flattener, const char *path, const char *name)
{
	for (size_t i = 1;; i++) {
		char *place;
		json_object *values;
		int length =
		        i == 1 ? asprintf(&place, "%s[%s]", path, name) : asprintf(&place, "%s[%s#%zu]", path, name, i);
		if (length < 0)
			return NULL;
		if (!json_object_object_get_ex(flattener->table, place, &values) ||
		        flattener->document >= json_object_array_length(values) ||
		        !json_object_array_get_idx(values, flattener->document))
			return place;
		free(place);
	}
}

static void flatten_element(struct flattener *flattener, const char *path, json_object *element, size_t index)
{
	char number[32];
	snprintf(number, sizeof(number), "%zu", index);
	autofree char *name = element_name(element);
	autofree char *below = free_place(flattener, path, name ? name : number);
	if (!below) {
		flattener->failed = true;
		return;
	}
	flatten_leaf(flattener, below, NULL); /* its presence is a fact of its own */
	flatten(flattener, below, element);
}

static void flatten_list(struct flattener *flattener, const char *path, json_object *list)
{
	size_t length = json_object_array_length(list);
	if (!length || !json_object_is_type(json_object_array_get_idx(list, 0), json_type_object)) {
		flatten_leaf(flattener, path, list);
		return;
	}
	put_value(flattener, path, filled_list);
	for (size_t i = 0; i < length && !flattener->failed; i++)
		flatten_element(flattener, path, json_object_array_get_idx(list, i), i);
}

static void flatten_object(struct flattener *flattener, const char *path, json_object *object)
{
	json_object_object_foreach(object, key, value)
	{
		if (flattener->failed || is_ignored(path, key))
			continue;
		char *below;
		if (asprintf(&below, "%s%s%s", path, *path ? "." : "", key) < 0) {
			flattener->failed = true;
			return;
		}
		flatten(flattener, below, value);
		free(below);
	}
}

static void flatten(struct flattener *flattener, const char *path, json_object *value)
{
	if (json_object_is_type(value, json_type_object))
		flatten_object(flattener, path, value);
	else if (json_object_is_type(value, json_type_array))
		flatten_list(flattener, path, value);
	else
		flatten_leaf(flattener, path, value);
}

/* ---- differences ---- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static int by_frequency(const void *a, const void *b)
{
	const struct compared_value *one = *(struct compared_value *const *)a,
	                            *two = *(struct compared_value *const *)b;
	if (one->documents.count != two->documents.count)
		return one->documents.count > two->documents.count ? -1 : 1;
	return strcmp(one->documents.items[0], two->documents.items[0]);
}

static int group_value(struct difference *difference, struct arena *arena, const char *text, const char *document)
{
	struct compared_value *group = NULL;
	list_each(value, &difference->values)
		if (same_text(value->value, text))
			group = value;
	if (!group) {
		group = list_add(arena, &difference->values);
		if (!group)
			return -ENOMEM;
		group->value = arena_strdup(arena, text);
	}
	return strings_add(arena, &group->documents, document);
}

/* An empty list and one with elements: the elements tell. */
static bool are_lists(const struct difference *difference)
{
	list_each(value, &difference->values)
		if (!same_text(value->value, "[]") && !same_text(value->value, filled_list))
			return false;
	return true;
}

static int add_difference(struct comparison *comparison, struct arena *arena, const char *path, json_object *values)
{
	struct difference difference = { 0 };
	list_each(document, &comparison->documents) {
		json_object *value = json_object_array_get_idx(values, document_index);
		int result =
		        group_value(&difference, arena, value ? json_object_get_string(value) : NULL, document->name);
		if (result)
			return result;
	}
	if (difference.values.count < 2 || are_lists(&difference))
		return 0;
	qsort(difference.values.items, difference.values.count, sizeof(*difference.values.items), by_frequency);
	struct compared_value *last = difference.values.items[difference.values.count - 1];
	if (comparison->documents.count > 2 && difference.values.count == 2 && last->documents.count == 1)
		difference.odd_one_out = last->documents.items[0];
	difference.path = arena_strdup(arena, path);
	struct difference *added = list_add(arena, &comparison->differences);
	if (!added)
		return -ENOMEM;
	*added = difference;
	return 0;
}

static void find_odd_one(struct comparison *comparison)
{
	int64_t most = 0;
	list_each(document, &comparison->documents) {
		document->odd = num(0);
		list_each(difference, &comparison->differences)
			document->odd.value += same_text(difference->odd_one_out, document->name);
		if (document->odd.value == most)
			comparison->odd_one_out = NULL;
		if (document->odd.value > most) {
			most = document->odd.value;
			comparison->odd_one_out = document->name;
		}
	}
}

/* ---- documents ---- */

static const char *text_of(json_object *object, const char *key)
{
	json_object *value;
	return json_object_object_get_ex(object, key, &value) && value ? json_object_get_string(value) : NULL;
}

static int check_kind(json_object *const *documents, const char *const *files, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		const char *schema = text_of(documents[i], "schema"), *version = text_of(documents[i], "version");
		if (!schema || !version || strncmp(schema, "rdmadiag.", 9))
			return error_say(error, -EINVAL, "%s: not a document of rdmadiag (no \"schema\")", files[i]);
		const char *first = text_of(documents[0], "schema");
		if (strcmp(schema, first) || strcmp(version, text_of(documents[0], "version")))
			return error_say(error, -EINVAL, "%s is %s version %s, but %s is %s version %s", files[i],
			        schema, version, files[0], first, text_of(documents[0], "version"));
	}
	return 0;
}

static bool hostnames_differ(const struct comparison *comparison)
{
	list_each(document, &comparison->documents) {
		if (!document->hostname)
			return false;
		list_each(other, &comparison->documents)
			if (other != document && same_text(other->hostname, document->hostname))
				return false;
	}
	return true;
}

static int name_documents(json_object *const *documents, const char *const *files, size_t count, struct arena *arena,
        struct comparison *comparison)
{
	for (size_t i = 0; i < count; i++) {
		struct compared_document *document = list_add(arena, &comparison->documents);
		if (!document)
			return -ENOMEM;
		json_object *host;
		if (json_object_object_get_ex(documents[i], "host", &host))
			document->hostname = arena_strdup(arena, text_of(host, "hostname"));
		document->file = document->name = arena_strdup(arena, files[i]);
		if (!document->file)
			return -ENOMEM;
	}
	if (hostnames_differ(comparison))
		list_each(document, &comparison->documents)
			document->name = document->hostname;
	return 0;
}

int compare_documents(json_object *const *documents, const char *const *files, size_t count, struct arena *arena,
        struct comparison *comparison, struct error *error)
{
	int result = check_kind(documents, files, count, error);
	if (result)
		return result;
	struct flattener flattener = { .table = json_object_new_object(), .count = count };
	flattener.failed = !flattener.table;
	for (; !flattener.failed && flattener.document < count; flattener.document++)
		flatten(&flattener, "", documents[flattener.document]);
	result = flattener.failed ? -ENOMEM : name_documents(documents, files, count, arena, comparison);
	if (!result) {
		json_object_object_foreach(flattener.table, path, values)
		{
			result = add_difference(comparison, arena, path, values);
			if (result)
				break;
		}
	}
	json_object_put(flattener.table);
	find_odd_one(comparison);
	return result ? error_set(error, result, "comparing") : 0;
}
