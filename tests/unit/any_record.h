/* SPDX-License-Identifier: MIT */
/* Any values in a struct that has a field table: each member is as often unknown as known, lists are short. */
#ifndef RDMADIAG_TESTS_ANY_RECORD_H
#define RDMADIAG_TESTS_ANY_RECORD_H

#include "model/record.h"

#include <stdbool.h>

/* xorshift64*: the same sequence everywhere. */
static inline uint32_t any_below(uint64_t *state, uint32_t below)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * UINT64_C(2685821657736338717)) >> 33) % below;
}

static inline const char *any_text(uint64_t *state)
{
	static const char *const texts[] = { "", "x", "total", "span", "connect", "ok", "ibv_reg_mr", "RTR", "ACTIVE",
		"Ethernet", "RoCE v2", "mlx5_core", "rdma_rxe", "poll", "all", "nic", "CQ_ERR", "out_of_sequence",
		"\x1b[1m\n", "\xe2\x80\xae",
		/* a C1 control character before a digit that would belong to it */
		("\xc2\x9b"
		 "1m") };
	return texts[any_below(state, sizeof(texts) / sizeof(texts[0]))];
}

static inline struct num any_num(uint64_t *state)
{
	static const int64_t numbers[] = { INT64_MIN, -1, 0, 1, 2, 3, 12, 64, 100, 4096, 1000000, INT64_MAX };
	return num(numbers[any_below(state, sizeof(numbers) / sizeof(numbers[0]))]);
}

static inline void any_record(uint64_t *state, struct arena *arena, const struct record *record, void *data);

static inline void any_item(uint64_t *state, struct arena *arena, const struct field *field, struct list *list)
{
	if (field->type == FIELD_TEXTS) {
		strings_add(arena, (struct strings *)list, any_text(state));
	} else if (field->type == FIELD_NUMBERS) {
		*(struct num *)list_add_size(arena, list, sizeof(struct num)) = any_num(state);
	} else if (field->type == FIELD_MAP) {
		struct map_entry *entry = list_add_size(arena, list, sizeof(*entry));
		*entry = (struct map_entry){ .key = any_num(state).value, .value = any_num(state) };
	} else {
		any_record(state, arena, field->record, list_add_size(arena, list, field->record->size));
	}
}

static inline void any_value(uint64_t *state, struct arena *arena, const struct field *field, void *member)
{
	switch (field->type) {
	case FIELD_TEXT:
		*(const char **)member = any_text(state);
		break;
	case FIELD_NUMBER:
	case FIELD_MILLI:
		*(struct num *)member = any_num(state);
		break;
	case FIELD_FLAG:
		*(enum flag *)member = any_below(state, 2) ? FLAG_YES : FLAG_NO;
		break;
	case FIELD_ENUM:
		*(int *)member = (int)any_below(state, field->names_count);
		break;
	case FIELD_INLINE:
		any_record(state, arena, field->record, member);
		break;
	case FIELD_RECORD:
		*(void **)member = arena_alloc(arena, field->record->size);
		any_record(state, arena, field->record, *(void **)member);
		break;
	default:
		for (uint32_t i = any_below(state, 4); i; i--)
			any_item(state, arena, field, member);
	}
}

/* `data` is zeroed by the caller. */
static inline void any_record(uint64_t *state, struct arena *arena, const struct record *record, void *data)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct field *field = &record->fields[i];
		if (field->type == FIELD_INLINE || any_below(state, 2))
			any_value(state, arena, field, (char *)data + field->offset);
	}
}

#endif
