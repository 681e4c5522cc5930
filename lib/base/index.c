/* SPDX-License-Identifier: MIT */
#include "base/index.h"

#include <errno.h>
#include <string.h>

enum { START = 16 };

struct slot {
	uint64_t hash;
	void *element; /* NULL: free */
};

struct index_table {
	size_t size, count; /* a power of two, at most half used */
	struct slot slots[];
};

static struct index_table *table_new(struct arena *arena, size_t size)
{
	struct index_table *table = arena_alloc(arena, sizeof(*table) + size * sizeof(struct slot));
	if (table)
		table->size = size;
	return table;
}

static void insert(struct index_table *table, uint64_t hash, void *element)
{
	size_t at = hash & (table->size - 1);
	while (table->slots[at].element)
		at = (at + 1) & (table->size - 1);
	table->slots[at].hash = hash;
	table->count++;
	/* Stored last: whoever finds the writer dead sees a free slot or a whole one. */
	__atomic_store_n(&table->slots[at].element, element, __ATOMIC_RELEASE);
}

static int grow(struct arena *arena, struct index *index)
{
	const struct index_table *old = index->table;
	struct index_table *larger = table_new(arena, old ? old->size * 2 : START);
	if (!larger)
		return -ENOMEM;
	/* From the start of a chain, so that elements of one hash keep their order. */
	size_t first = 0;
	while (old && old->slots[first].element)
		first = (first + 1) & (old->size - 1);
	for (size_t i = 0; old && i < old->size; i++) {
		const struct slot *slot = &old->slots[(first + i) & (old->size - 1)];
		if (slot->element)
			insert(larger, slot->hash, slot->element);
	}
	__atomic_store_n(&index->table, larger, __ATOMIC_RELEASE);
	return 0;
}

int index_add(struct arena *arena, struct index *index, uint64_t hash, void *element)
{
	if ((!index->table || index->table->count * 2 >= index->table->size) && grow(arena, index))
		return -ENOMEM;
	insert(index->table, hash, element);
	return 0;
}

void *index_find(
        const struct index *index, uint64_t hash, bool (*same)(const void *element, const void *key), const void *key)
{
	const struct index_table *table = index->table;
	if (!table)
		return NULL;
	for (size_t at = hash & (table->size - 1); table->slots[at].element; at = (at + 1) & (table->size - 1))
		if (table->slots[at].hash == hash && same(table->slots[at].element, key))
			return table->slots[at].element;
	return NULL;
}

/* ---- hashes ---- */

/* The address differs in each process, so that no snapshot can be made to put everything into one slot. */
static uint64_t seed(void)
{
	static const char here;
	return (uint64_t)(uintptr_t)&here * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return value ^ value >> 32;
}

uint64_t hash_number(int64_t number)
{
	return mix((uint64_t)number ^ seed());
}

uint64_t hash_text(const char *text)
{
	uint64_t value = seed();
	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return mix(value);
}

uint64_t hash_join(uint64_t a, uint64_t b)
{
	return mix(a * 31 + b);
}
