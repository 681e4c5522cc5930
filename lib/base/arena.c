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
};

enum { ALIGNMENT = _Alignof(max_align_t) };

struct arena *arena_new(size_t size)
{
	size += sizeof(struct arena);
	struct arena *arena =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena == MAP_FAILED)
		return NULL;
	arena->size = size;
	arena->used = (sizeof(*arena) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return arena;
}

void arena_free(struct arena *arena)
{
	if (arena)
		munmap(arena, arena->size);
}

size_t arena_used(const struct arena *arena)
{
	return arena->used;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	if (size > SIZE_MAX - ALIGNMENT)
		return NULL;
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (size > arena->size - arena->used)
		return NULL;
	void *memory = (char *)arena + arena->used;
	arena->used += size;
	return memory;
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
	va_list again;
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
	if (text)
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
