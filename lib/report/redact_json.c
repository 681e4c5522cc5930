/* SPDX-License-Identifier: MIT */
#include "report/redact_json.h"

#include "base/cleanup.h"
#include "report/redact_text.h"

#include <errno.h>
#include <string.h>

/* Versions of four numbers look like addresses, and words of a host's name may be words of the schema. */
static const char *const kept_keys[] = {
	"schema",
	"tool_version",
	"rdmadiag",
	"fw_version",
	"kernel",
	"libibverbs",
	"libmlx5",
	"librdmacm",
	"rdma_core",
	"origin",
	"severity",
	"outcome",
	"layer",
	"step",
	"role",
	"side",
	"op",
};

static bool is_kept(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept_keys); i++)
		if (!strcmp(kept_keys[i], key))
			return true;
	return false;
}

static int redact_string(struct pseudonyms *pseudonyms, json_object *value)
{
	size_t length;
	autofree char *text = redact_text(pseudonyms, WORDS_ALL, json_object_get_string(value),
	        (size_t)json_object_get_string_len(value), &length);
	return text && json_object_set_string_len(value, text, (int)length) ? 0 : -ENOMEM;
}

int redact_json(struct pseudonyms *pseudonyms, json_object *object)
{
	int result = 0;
	if (json_object_is_type(object, json_type_string))
		return redact_string(pseudonyms, object);
	if (json_object_is_type(object, json_type_array)) {
		size_t count = json_object_array_length(object);
		for (size_t i = 0; i < count && !result; i++)
			result = redact_json(pseudonyms, json_object_array_get_idx(object, i));
	}
	if (!json_object_is_type(object, json_type_object))
		return result;
	json_object_object_foreach(object, key, value)
	{
		if (!result && !is_kept(key))
			result = redact_json(pseudonyms, value);
	}
	return result;
}
