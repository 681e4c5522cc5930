/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct arena {
	size_t size; /* of the mapping, this header included */
	size_t used; /* from the start of the mapping */
	size_t reserve;
	size_t populated; /* up to here pages are there already */
	bool exhausted;
};

enum { ALIGNMENT = _Alignof(max_align_t), RESERVE = 4096, STEP = 1 << 16 /* the largest page there is */ };

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/*
 * Pages by the dozen: each would be a fault of its own otherwise. A kernel that cannot leaves it at that. Two threads
 * may do the same.
 */
static void populate(struct arena *arena, size_t used)
{
	size_t begin = __atomic_load_n(&arena->populated, __ATOMIC_RELAXED), end = (used + STEP - 1) / STEP * STEP;
	if (used <= begin)
		return;
	if (madvise((char *)arena + begin, end - begin, MADV_POPULATE_WRITE))
		end = arena->size;
	__atomic_store_n(&arena->populated, end, __ATOMIC_RELAXED);
}

static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Where address space is short (RLIMIT_AS) the half of what there is, so that the rest of the process has some too. */
static void *map_less(size_t *size)
{
	enum { LEAST = 1 << 20 };
	void *memory = NULL;
	while (!memory && *size / 2 >= LEAST) {
		*size /= 2;
		memory = map(*size);
	}
	if (!memory || *size / 2 < LEAST)
		return memory;
	munmap((char *)memory + *size / 2, *size - *size / 2);
	*size /= 2;
	return memory;
}

struct arena *arena_new(size_t size)
{
	size = (size + sizeof(struct arena) + RESERVE + STEP - 1) / STEP * STEP;
	struct arena *arena = map(size);
	if (!arena)
		arena = map_less(&size);
	if (!arena)
		return NULL;
	arena->size = size;
	arena->reserve = RESERVE;
	arena->used = (sizeof(*arena) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return arena;
}

void arena_free(struct arena *arena)
{
	if (arena)
		munmap(arena, arena->size);
}

void arena_open_reserve(struct arena *arena)
{
	arena->reserve = 0;
}

size_t arena_size(const struct arena *arena)
{
	return arena->size;
}

bool arena_exhausted(const struct arena *arena)
{
	return arena->exhausted;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t at = __atomic_load_n(&arena->used, __ATOMIC_RELAXED), end;
	do {
		size_t left = arena->size - at;
		left = left > arena->reserve ? (left - arena->reserve) / ALIGNMENT * ALIGNMENT : 0;
		if (size > left) {
			__atomic_store_n(&arena->exhausted, true, __ATOMIC_RELAXED);
			return NULL;
		}
		end = at + (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	} while (!__atomic_compare_exchange_n(&arena->used, &at, end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	populate(arena, end);
	return (char *)arena + at;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	length = strnlen(text, length);
	char *copy = arena_alloc(arena, length + 1);
	if (copy)
		memcpy(copy, text, length);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	char most[256]; /* nearly every text: printed once, not measured first */
	va_list again;
	va_copy(again, args);
	int length = vsnprintf(most, sizeof(most), format, args);
	char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
	if (text && (size_t)length < sizeof(most))
		memcpy(text, most, (size_t)length);
	else if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}

static int list_reserve(struct arena *arena, struct list *list)
{
	if (list->count < list->capacity)
		return 0;
	uint32_t capacity = list->capacity ? list->capacity * 2 : 4;
	void **items = arena_alloc(arena, capacity * sizeof(*items));
	if (!items)
		return -ENOMEM;
	if (list->count)
		memcpy(items, list->items, list->count * sizeof(*items));
	list->items = items;
	list->capacity = capacity;
	return 0;
}

int list_add_pointer(struct arena *arena, struct list *list, void *element)
{
	if (list_reserve(arena, list))
		return -ENOMEM;
	list->items[list->count] = element;
	/* Stored last: whoever finds the writer dead reads only complete entries. */
	__atomic_store_n(&list->count, list->count + 1, __ATOMIC_RELEASE);
	return 0;
}

void *list_add_size(struct arena *arena, struct list *list, size_t size)
{
	void *element = arena_alloc(arena, size);
	return element && !list_add_pointer(arena, list, element) ? element : NULL;
}

int strings_add(struct arena *arena, struct strings *strings, const char *text)
{
	char *copy = arena_strdup(arena, text);
	return copy ? list_add_pointer(arena, (struct list *)strings, copy) : -ENOMEM;
}

int strings_contain(const struct strings *strings, const char *text)
{
	for (uint32_t i = 0; text && i < strings->count; i++)
		if (!strcmp(strings->items[i], text))
			return true;
	return false;
}
