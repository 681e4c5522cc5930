/* SPDX-License-Identifier: MIT */
#include "compare/compare.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "compare/flatten.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct field compared_value_fields[] = {
	FIELD(TEXT, struct compared_value, value,
	        "the value as JSON, null: not there; {...} and [...]: there, its members have rows"),
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

/* ---- differences ---- */

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
		if (text_same(value->value, text))
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
		if (!text_same(value->value, "[]") && !text_same(value->value, filled_list))
			return false;
	return true;
}

/* ---- what it is that some lack ---- */

/* By these an operator knows it again: the type and netdev of a GID, the driver and place of a device. */
static const struct {
	const char *key, *word;
} telling_members[] = {
	{ "transport", "" },
	{ "type", "" },
	{ "kind", "" },
	{ "severity", "" },
	{ "driver", "" },
	{ "pci.address", "" },
	{ "netdev", "netdev " },
	{ "vlan", "VLAN " },
	{ "size", "size " },
	{ "state", "state " },
	{ "reason", "" },
};

static const char *value_at(json_object *values, size_t document)
{
	json_object *value = values ? json_object_array_get_idx(values, document) : NULL;
	return value ? json_object_get_string(value) : NULL;
}

/* What every document that has the object at `objects` says of its member; NULL: they differ, or do not know. */
static const char *common_member(json_object *objects, json_object *members, size_t count)
{
	const char *common = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!text_same(value_at(objects, i), filled_object))
			continue;
		const char *value = value_at(members, i);
		if (!value || !strcmp(value, "null") || (common && strcmp(common, value) != 0))
			return NULL;
		common = value;
	}
	return common;
}

/* A JSON text without its quotes. */
static const char *add_trait(struct arena *arena, const char *traits, const char *word, const char *value)
{
	size_t length = strlen(value);
	bool quoted = *value == '"' && length >= 2;
	return arena_printf(arena, "%s%s%s%.*s", traits ? traits : "", traits ? ", " : "", word,
	        (int)(quoted ? length - 2 : length), value + quoted);
}

static const char *find_traits(
        json_object *table, const char *path, json_object *objects, size_t count, struct arena *arena)
{
	const char *traits = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(telling_members); i++) {
		const char *row_path = arena_printf(arena, "%s.%s", path, telling_members[i].key);
		json_object *members = NULL;
		if (!row_path || !json_object_object_get_ex(table, row_path, &members))
			continue;
		const char *value = common_member(objects, members, count);
		if (value)
			traits = add_trait(arena, traits, telling_members[i].word, value);
	}
	return traits;
}

/* ---- a difference ---- */

static int add_difference(
        struct comparison *comparison, struct arena *arena, const char *path, json_object *values, json_object *table)
{
	struct difference difference = { 0 };
	uint32_t saying = 0;
	list_each(document, &comparison->documents) {
		json_object *value = json_object_array_get_idx(values, document_index);
		if (!row_has_say(values, document_index, comparison->documents.count))
			continue;
		saying++;
		int result =
		        group_value(&difference, arena, value ? json_object_get_string(value) : NULL, document->name);
		if (result)
			return result;
	}
	if (difference.values.count < 2 || are_lists(&difference))
		return 0;
	qsort(difference.values.items, difference.values.count, sizeof(*difference.values.items), by_frequency);
	struct compared_value *last = difference.values.items[difference.values.count - 1];
	if (saying > 2 && difference.values.count == 2 && last->documents.count == 1)
		difference.odd_one_out = last->documents.items[0];
	difference.path = arena_strdup(arena, path);
	list_each(value, &difference.values)
		if (text_same(value->value, filled_object))
			value->traits = find_traits(table, path, values, comparison->documents.count, arena);
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
			document->odd.value += text_same(difference->odd_one_out, document->name);
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
			if (other != document && text_same(other->hostname, document->hostname))
				return false;
	}
	return true;
}

/* "host-" and eight digits, as report --redact calls a host: nobody knows which file that is. */
static bool is_pseudonym(const char *hostname)
{
	static const char begin[] = "host-";
	return !strncmp(hostname, begin, strlen(begin)) && strspn(hostname + strlen(begin), "0123456789abcdef") == 8;
}

static bool any_redacted(const struct comparison *comparison)
{
	list_each(document, &comparison->documents)
		if (is_pseudonym(document->hostname))
			return true;
	return false;
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
	if (hostnames_differ(comparison) && !any_redacted(comparison))
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
	json_object *table = flatten_documents(documents, count);
	result = table ? name_documents(documents, files, count, arena, comparison) : -ENOMEM;
	if (!result) {
		json_object_object_foreach(table, path, values)
		{
			result = add_difference(comparison, arena, path, values, table);
			if (result)
				break;
		}
	}
	json_object_put(table);
	find_odd_one(comparison);
	return result ? error_set(error, result, "comparing") : 0;
}
