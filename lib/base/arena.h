/* SPDX-License-Identifier: MIT */
/*
 * Memory of the model: one shared mapping that only grows and is freed at once.
 *
 * The mapping is made before the collecting worker is forked and is MAP_SHARED, so pointers into it hold in both
 * processes and what a worker stored survives its death (see lib/origin/worker.h). Memory comes zeroed, and zero means
 * "unknown" everywhere in the model. Writers publish: an element is reachable before it is filled, and a list's count
 * is stored last, so a reader that finds the writer dead sees a consistent model.
 */
#ifndef RDMADIAG_BASE_ARENA_H
#define RDMADIAG_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/*
 * Reserves address space (not memory) for `size` bytes, or less where the process may not have that much. NULL with
 * errno set where the mapping is refused.
 */
struct arena *arena_new(size_t size);
void arena_free(struct arena *arena);
static inline void arena_freep(struct arena **arena)
{
	arena_free(*arena);
}
/* Of the whole mapping, in bytes. */
size_t arena_size(const struct arena *arena);
/* Has it refused anything? What was to lie there is unknown, and somebody should say so (report_exhaustion()). */
bool arena_exhausted(const struct arena *arena);
/* Opens the last pages, which are kept back so that there is room for saying so. */
void arena_open_reserve(struct arena *arena);

/*
 * All of these return zeroed or filled memory that lives as long as the arena, or NULL when it is exhausted. Threads
 * may take memory at the same time; a list belongs to one of them.
 */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text); /* NULL stays NULL */
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *arena, const char *format, ...);
__attribute__((format(printf, 2, 0))) char *arena_vprintf(struct arena *arena, const char *format, va_list args);

#define arena_new_object(arena, type) ((type *)arena_alloc((arena), sizeof(type)))

/*
 * A growing list of pointers to elements; elements never move. LIST(type) declares one with typed items that has the
 * layout of struct list (the project is compiled with -fno-strict-aliasing for this).
 */
struct list {
	void **items;
	uint32_t count;
	uint32_t capacity;
};

#define LIST(type)                                                                                                     \
	struct {                                                                                                       \
		type **items;                                                                                          \
		uint32_t count;                                                                                        \
		uint32_t capacity;                                                                                     \
	}

/* A list of strings; the same layout again. */
struct strings {
	const char **items;
	uint32_t count;
	uint32_t capacity;
};

/* Appends a zeroed element of `size` bytes and returns it; NULL when the arena is exhausted. */
void *list_add_size(struct arena *arena, struct list *list, size_t size);
/* Appends an existing pointer. 0 or -ENOMEM. */
int list_add_pointer(struct arena *arena, struct list *list, void *element);
int strings_add(struct arena *arena, struct strings *strings, const char *text);
int strings_contain(const struct strings *strings, const char *text);

#define list_add(arena, to)                                                                                            \
	((__typeof__(*(to)->items))list_add_size((arena), (struct list *)(to), sizeof(**(to)->items)))
#define list_add_existing(arena, to, element) list_add_pointer((arena), (struct list *)(to), (void *)(element))

/* for each: `item` is a pointer variable of the element's type, declared by the macro. */
#define list_each(item, in)                                                                                            \
	for (uint32_t item##_index = 0, item##_more = 1; item##_more && item##_index < (in)->count; item##_index++)    \
		for (__typeof__(*(in)->items) item = (in)->items[item##_index];                                        \
		        item##_more && item && (item##_more = 0, 1); item##_more = 1, item = NULL)

#endif
