/* SPDX-License-Identifier: MIT */
#include "model/record.h"

#include "base/cleanup.h"
#include "base/utf8.h"

static const char *clean(struct arena *arena, const char *text)
{
	if (!text || is_plain(text)) /* nearly always: no memory for a copy */
		return text;
	autofree char *plain = text_for_terminal(text);
	const char *kept = plain ? arena_strdup(arena, plain) : NULL;
	return kept ? kept : "?";
}

static void clean_items(struct arena *arena, const struct field *field, const struct list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (field->type == FIELD_TEXTS)
			list->items[i] = (void *)(uintptr_t)clean(arena, list->items[i]);
		else
			record_for_terminal(arena, field->record, list->items[i]);
	}
}

void record_for_terminal(struct arena *arena, const struct record *record, void *data)
{
	for (size_t i = 0; data && i < record->count; i++) {
		const struct field *field = &record->fields[i];
		void *member = (char *)data + field->offset;
		if (field->type == FIELD_TEXT)
			*(const char **)member = clean(arena, *(const char **)member);
		else if (field->type == FIELD_INLINE)
			record_for_terminal(arena, field->record, member);
		else if (field->type == FIELD_RECORD)
			record_for_terminal(arena, field->record, *(void **)member);
		else if (field->type == FIELD_TEXTS || field->type == FIELD_RECORDS)
			clean_items(arena, field, member);
	}
}
