/* SPDX-License-Identifier: MIT */
/* For `--all`: slots without a GID, too. */
#include "gid/read.h"

#include <errno.h>
#include <string.h>

static int add_slots(
        struct arena *arena, const struct gid_table *table, const struct gid_document *from, struct gid_document *to)
{
	uint32_t used = 0;
	int64_t size = table->size.known ? table->size.value : 0;
	int result = 0;
	for (int64_t index = 0; !result && (index < size || used < table->count); index++) {
		struct gid_entry *entry = used < table->count ? from->entries.items[table->first + used] : NULL;
		if (entry && entry->index.value <= index) {
			used++;
			result = list_add_existing(arena, &to->entries, entry);
			continue;
		}
		struct gid_entry *empty = list_add(arena, &to->entries);
		if (!empty)
			return -ENOMEM;
		empty->device = table->device;
		empty->port = table->port;
		empty->index = num(index);
		empty->gid = "0000:0000:0000:0000:0000:0000:0000:0000";
		empty->state_reason = "empty slot";
		empty->empty = FLAG_YES;
	}
	return result;
}

int gid_show_empty(struct arena *arena, struct gid_document *document)
{
	struct gid_document all = { 0 };
	int result = 0;
	for (uint32_t i = 0; !result && i < document->tables.count; i++) {
		struct gid_table *table = document->tables.items[i];
		uint32_t first = all.entries.count;
		result = add_slots(arena, table, document, &all);
		table->first = first;
		table->count = all.entries.count - first;
	}
	if (!result)
		memcpy(&document->entries, &all.entries, sizeof(document->entries));
	return result;
}
