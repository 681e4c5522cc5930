/* SPDX-License-Identifier: MIT */
/*
 * Finds elements of the model by a name or a number without walking lists: a snapshot may hold a million of them. Lies
 * in an arena, and like a list it is consistent at any moment (see arena.h). Zeroed is empty.
 */
#ifndef RDMADIAG_BASE_INDEX_H
#define RDMADIAG_BASE_INDEX_H

#include "base/arena.h"

#include <stdbool.h>

struct index {
	struct index_table *table; /* NULL: empty */
};

/* 0 or -ENOMEM. The element is not looked at; several may have one hash. */
int index_add(struct arena *arena, struct index *index, uint64_t hash, void *element);
/* The first added element of that hash for which same(element, key) holds; NULL: none. */
void *index_find(
        const struct index *index, uint64_t hash, bool (*same)(const void *element, const void *key), const void *key);

uint64_t hash_number(int64_t number);
uint64_t hash_text(const char *text);
/* Of a pair. */
uint64_t hash_join(uint64_t a, uint64_t b);

#endif
