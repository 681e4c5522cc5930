/* SPDX-License-Identifier: MIT */
#include "redacted.h"

#include "base/cleanup.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

/* "report/report.json" stands beside the snapshot (cmd_report.c); other snapshots have none. */
static bool is_redacted(struct origin *origin)
{
	autofree char *text = NULL;
	size_t length = 0;
	struct error ignored = { 0 };
	json_object *member = NULL;
	if (origin_read_all(origin, "report/report.json", &text, &length))
		return false;
	json_object *object = json_parse(text, length, "report.json", &ignored);
	bool redacted = object && json_object_is_type(object, json_type_object) &&
	                json_object_object_get_ex(object, "redacted", &member) && json_object_get_boolean(member);
	json_object_put(object);
	return redacted;
}

void tell_redacted(struct origin *origin, const struct common_options *common)
{
	if (common->from && !common->json && is_redacted(origin))
		puts("\nThis report is redacted: its GUIDs, MACs, addresses, host names and serial numbers are "
		     "pseudonyms.");
}
