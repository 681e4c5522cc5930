/* SPDX-License-Identifier: MIT */
#include "compare/flatten.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char filled_list[] = "[...]", filled_object[] = "{...}";

/* Keys whose values differ between healthy nodes by nature. */
static const char *const ignored_keys[] = { "hostname", "origin", "process", "node_guid", "sys_image_guid", "gid", "ip",
	"ifindex", "lid", "partner_mac", "mac", "pid", "qpn", "psn", "sq_psn", "rq_psn", "rkey", "lkey",
	"buffer_address", "wr_id", "clock", "tcp", "statistics", "evidence_items", "before", "after",
	"remote_address" };

/* Of a finding, besides what it is and of what: these speak of this node's addresses and numbers. */
static const char *const ignored_in_findings[] = { "message", "evidence", "advice" };

/* Of a choice of a GID index: these speak of addresses, and of the other entries of the table. */
static const char *const ignored_in_choices[] = { "reason", "rejected" };

/* Of topo --health, besides settings: what was counted, where interrupts go, and what findings tell. */
static const char *const ignored_in_health[] = { "counters", "carrier_changes", "carrier_down", "link_problem",
	"frames_received", "frames_sent", "corrected_blocks", "uncorrectable_blocks", "pause_received", "pause_sent",
	"reporters", "functions", "filters" };

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
	if (!strncmp(path, "health", strlen("health")) &&
	        is_one_of(key, ignored_in_health, ARRAY_SIZE(ignored_in_health)))
		return true;
	if (ends_with(path, ".uverbs") && !strcmp(key, "path")) /* numbered in the order in which drivers came */
		return true;
	return is_one_of(key, ignored_keys, ARRAY_SIZE(ignored_keys)) || ends_with(key, "_ns") ||
	       ends_with(key, "_psn");
}

struct flattener {
	json_object *table;
	json_object *inside; /* the row of the object whose members are being looked at, NULL: the document itself */
	size_t document, count;
	bool failed;
};

static void flatten(struct flattener *flattener, const char *path, json_object *value);

static json_object *row(struct flattener *flattener, const char *path)
{
	json_object *values;
	if (json_object_object_get_ex(flattener->table, path, &values))
		return values;
	values = json_object_new_array_ext((int)flattener->count + 1);
	if (!values || json_object_object_add(flattener->table, path, values)) {
		json_object_put(values);
		return NULL;
	}
	/* Behind the documents' values stands the row of what it is part of. */
	if (json_object_array_put_idx(values, flattener->count, json_object_get(flattener->inside))) {
		json_object_put(flattener->inside);
		return NULL;
	}
	return values;
}

/* `value`: NULL: there was no memory for it. */
static void put_value(struct flattener *flattener, const char *path, const char *value)
{
	json_object *values = row(flattener, path);
	json_object *text = value ? json_object_new_string(value) : NULL;
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
static char *element_name(struct flattener *flattener, json_object *element)
{
	static const char *const keys[][NAME_KEYS] = { { "device", "port", "consumer" }, { "device", "port", "index" },
		{ "device", "port" }, { "device", "number" }, { "id", "subject" }, { "what", "subject" },
		{ "side", "name" }, { "name" }, { "number" }, { "id" }, { "side", "step" }, { "side", "to" },
		{ "step" }, { "address" }, { "path" }, { "index" } };
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
	if (!stream || fclose(stream))
		flattener->failed = true; /* By its position it would be another one. */
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

static const char *member_text(json_object *element, const char *key)
{
	json_object *value;
	return json_object_object_get_ex(element, key, &value) && value ? json_object_get_string(value) : NULL;
}

/* The row PREFIX[DEVICE], or PREFIX[DEVICE]MIDDLE[PORT]; NULL: there is none. */
static json_object *row_of(
        struct flattener *flattener, const char *prefix, const char *device, const char *middle, const char *port)
{
	char *path;
	json_object *values = NULL;
	if (asprintf(&path, "%s[%s%s%s]", prefix, device, middle, port) < 0) {
		flattener->failed = true;
		return NULL;
	}
	json_object_object_get_ex(flattener->table, path, &values);
	free(path);
	return values;
}

/* Of topo --health: the first place in the tree that has this netdev. */
static json_object *netdev_row(struct flattener *flattener, json_object *element)
{
	char *end;
	const char *name = member_text(element, "name");
	if (!name || asprintf(&end, "].netdevs[%s]", name) < 0) {
		flattener->failed |= name != NULL;
		return NULL;
	}
	json_object *found = NULL;
	json_object_object_foreach(flattener->table, path, values)
	{
		if (!found && ends_with(path, end))
			found = values;
	}
	free(end);
	return found;
}

/*
 * What an element of a list of the document belongs to, by what it says: a GID entry to its table, a table to its port.
 * Where one node lacks that, nothing more is to be said of it. NULL: to nothing that has a row.
 */
static json_object *owner_row(struct flattener *flattener, const char *path, json_object *element)
{
	if (!strcmp(path, "health.netdevs"))
		return netdev_row(flattener, element);
	const char *device = member_text(element, "device");
	const char *port = member_text(element, strcmp(path, "health.ports") ? "port" : "number");
	const char *about = strcmp(path, "not_collected") ? NULL : member_text(element, "subject");
	char subject[128], *rest = subject;
	if (about) {
		snprintf(subject, sizeof(subject), "%s", about); /* DEV, DEV/PORT or DEV/PORT/gid/N */
		device = strsep(&rest, "/");
		port = strsep(&rest, "/");
	}
	if (!device || strchr(path, '['))
		return NULL;
	json_object *row = port && strcmp(path, "tables") != 0 ? row_of(flattener, "tables", device, "/", port) : NULL;
	if (!row && port)
		row = row_of(flattener, "devices", device, "].ports[", port);
	return row ? row : row_of(flattener, "devices", device, "", "");
}

static void flatten_element(struct flattener *flattener, const char *path, json_object *element, size_t index)
{
	char number[32];
	snprintf(number, sizeof(number), "%zu", index);
	autofree char *name = element_name(flattener, element);
	autofree char *below = free_place(flattener, path, name ? name : number);
	if (!below) {
		flattener->failed = true;
		return;
	}
	json_object *outer = flattener->inside, *owner = owner_row(flattener, path, element);
	flattener->inside = owner ? owner : outer;
	flatten(flattener, below, element);
	flattener->inside = outer;
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

static void flatten_members(struct flattener *flattener, const char *path, json_object *object)
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

/* That it is there is a fact of its own, and its members are compared between those that have it. */
static void flatten_object(struct flattener *flattener, const char *path, json_object *object)
{
	json_object *outer = flattener->inside;
	if (*path) {
		put_value(flattener, path, filled_object);
		flattener->inside = row(flattener, path);
	}
	flatten_members(flattener, path, object);
	flattener->inside = outer;
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

json_object *flatten_documents(json_object *const *documents, size_t count)
{
	struct flattener flattener = { .table = json_object_new_object(), .count = count };
	flattener.failed = !flattener.table;
	for (; !flattener.failed && flattener.document < count; flattener.document++)
		flatten(&flattener, "", documents[flattener.document]);
	if (!flattener.failed)
		return flattener.table;
	json_object_put(flattener.table);
	return NULL;
}

bool row_has_say(json_object *values, size_t document, size_t count)
{
	json_object *whole = json_object_array_get_idx(values, count);
	json_object *value = whole ? json_object_array_get_idx(whole, document) : NULL;
	return !whole || (value && !strcmp(json_object_get_string(value), filled_object));
}
