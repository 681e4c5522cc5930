/* SPDX-License-Identifier: MIT */
#include "gid/diff.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "model/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct diff {
	struct arena *arena;
	const struct gid_document *before;
	struct gid_document *now;
	uint8_t *before_matched, *now_matched;
};

static bool same_port(const struct gid_entry *a, const struct gid_entry *b)
{
	return text_same(a->device, b->device) && a->port.value == b->port.value;
}

/* A VLAN that is not known may be the same one, and null says that as well as that there is none. */
static bool other_vlan(const struct gid_entry *a, const struct gid_entry *b)
{
	return a->vlan.known && b->vlan.known && a->vlan.value != b->vlan.value;
}

static bool same_entry(const struct gid_entry *a, const struct gid_entry *b)
{
	return same_port(a, b) && a->type == b->type && text_same(a->gid, b->gid) && !other_vlan(a, b);
}

/* ---- pairs ---- */

enum strictness { SAME_INDEX, SAME_NETDEV, SAME_GID };

static bool pairs(const struct gid_entry *a, const struct gid_entry *b, enum strictness strictness)
{
	if (!same_entry(a, b))
		return false;
	if (strictness == SAME_INDEX)
		return a->index.value == b->index.value;
	return strictness == SAME_GID || text_same(a->netdev, b->netdev);
}

/* The entry that is at an index of a port now; NULL: it is empty. */
static const struct gid_entry *entry_now(const struct diff *diff, const struct gid_entry *like)
{
	list_each(entry, &diff->now->entries)
		if (entry->empty != FLAG_YES && same_port(entry, like) && entry->index.value == like->index.value)
			return entry;
	return NULL;
}

/* The device is not there, or has another name now: then its GID tells which. */
static const char *effect_of_gone_port(const struct diff *diff, const struct gid_entry *before)
{
	list_each(entry, &diff->now->entries)
		if (entry->empty != FLAG_YES && entry->type == before->type && text_same(entry->gid, before->gid))
			return arena_printf(diff->arena,
			        "there is no %s/%" PRId64 " any more; its GID is at index %" PRId64 " of %s/%" PRId64
			        " now",
			        before->device, before->port.value, entry->index.value, entry->device,
			        entry->port.value);
	return arena_printf(diff->arena, "there is no %s/%" PRId64 " any more", before->device, before->port.value);
}

static const char *effect_on(const struct diff *diff, const struct gid_entry *before, const struct gid_entry *moved)
{
	if (!moved && !gid_table_of(diff->now, before->device, before->port))
		return effect_of_gone_port(diff, before);
	const struct gid_entry *there = entry_now(diff, before);
	if (there && other_vlan(there, before) && text_same(there->gid, before->gid))
		return arena_printf(diff->arena, "index %" PRId64 " sends with VLAN %" PRId64 " now, not %" PRId64,
		        before->index.value, there->vlan.value, before->vlan.value);
	const char *what = !there ? "is now empty" : "now holds another GID";
	if (moved)
		return arena_printf(diff->arena, "index %" PRId64 " %s; its GID moved to %" PRId64, before->index.value,
		        what, moved->index.value);
	return arena_printf(diff->arena, "index %" PRId64 " %s; its GID is gone", before->index.value, what);
}

static int add_change(struct diff *diff, const char *kind, const struct gid_entry *before, const struct gid_entry *now)
{
	struct gid_change *change = list_add(diff->arena, &diff->now->changes);
	if (!change)
		return -ENOMEM;
	const struct gid_entry *either = before ? before : now;
	change->device = either->device;
	change->port = either->port;
	change->kind = kind;
	change->gid = either->gid;
	change->type = either->type;
	change->from = before ? before->index : (struct num){ 0 };
	change->to = now ? now->index : (struct num){ 0 };
	change->effect = before ? effect_on(diff, before, now) : NULL;
	return before && !change->effect ? -ENOMEM : 0;
}

static int match(struct diff *diff, enum strictness strictness)
{
	int result = 0;
	for (uint32_t i = 0; i < diff->before->entries.count && !result; i++) {
		const struct gid_entry *before = diff->before->entries.items[i];
		for (uint32_t j = 0; j < diff->now->entries.count && !diff->before_matched[i] && !result; j++) {
			const struct gid_entry *now = diff->now->entries.items[j];
			if (diff->now_matched[j] || !pairs(before, now, strictness))
				continue;
			diff->before_matched[i] = diff->now_matched[j] = 1;
			if (strictness != SAME_INDEX)
				result = add_change(diff, "moved", before, now);
		}
	}
	return result;
}

/* ---- what is compared ---- */

static bool is_wanted(const struct strings *only, const char *device)
{
	return !only || strings_contain(only, device);
}

/* A table that could not be read may hold anything: nothing is gone from it, and nothing new in it. */
static bool is_known(const struct diff *diff, const char *device, struct num port)
{
	const struct gid_table *before = gid_table_of(diff->before, device, port),
	                       *now = gid_table_of(diff->now, device, port);
	if (before && !before->used.known)
		return false;
	return now ? now->used.known : !device || !strings_contain(&diff->now->devices, device);
}

static int note_uncompared(struct diff *diff, const char *device, struct num port)
{
	char label[PORT_LABEL_SIZE];
	port_label(device ? device : "", port, label);
	if (strings_contain(&diff->now->uncompared, label))
		return 0;
	const char *text = arena_strdup(diff->arena, label);
	return text ? strings_add(diff->arena, &diff->now->uncompared, text) : -ENOMEM;
}

static bool is_compared(const struct gid_entry *entry, const struct strings *only, int64_t only_port)
{
	return entry->empty != FLAG_YES && entry->gid && strspn(entry->gid, "0:") != strlen(entry->gid) &&
	       is_wanted(only, entry->device) && (!only_port || entry->port.value == only_port);
}

/* One byte an entry: what is left out counts as matched. */
static uint8_t *leave_out(
        struct diff *diff, const struct gid_document *document, const struct strings *only, int64_t only_port)
{
	uint8_t *matched = calloc(document->entries.count + 1, 1);
	for (uint32_t i = 0; matched && i < document->entries.count; i++) {
		const struct gid_entry *entry = document->entries.items[i];
		matched[i] = !is_compared(entry, only, only_port) || !is_known(diff, entry->device, entry->port);
	}
	return matched;
}

static int note_unknown(
        struct diff *diff, const struct gid_document *document, const struct strings *only, int64_t only_port)
{
	int result = 0;
	list_each(table, &document->tables)
		if (!result && is_wanted(only, table->device) && (!only_port || table->port.value == only_port) &&
		        !is_known(diff, table->device, table->port))
			result = note_uncompared(diff, table->device, table->port);
	return result;
}

/* An entry that the file holds twice is still there. */
static bool is_still_there(const struct diff *diff, const struct gid_entry *before)
{
	const struct gid_entry *there = entry_now(diff, before);
	return there && same_entry(there, before);
}

static int add_unmatched(struct diff *diff)
{
	int result = 0;
	for (uint32_t i = 0; i < diff->before->entries.count && !result; i++)
		if (!diff->before_matched[i] && !is_still_there(diff, diff->before->entries.items[i]))
			result = add_change(diff, "gone", diff->before->entries.items[i], NULL);
	for (uint32_t i = 0; i < diff->now->entries.count && !result; i++)
		if (!diff->now_matched[i])
			result = add_change(diff, "new", NULL, diff->now->entries.items[i]);
	return result;
}

static int add_resized(struct diff *diff, const struct strings *only, int64_t only_port)
{
	list_each(table, &diff->now->tables) {
		const struct gid_table *before = gid_table_of(diff->before, table->device, table->port);
		bool compared =
		        before && is_wanted(only, table->device) && (!only_port || table->port.value == only_port);
		if (!compared || !table->size.known || !before->size.known || table->size.value == before->size.value)
			continue;
		struct gid_resize *resize = list_add(diff->arena, &diff->now->resized);
		if (!resize)
			return -ENOMEM;
		*resize = (struct gid_resize){
			.device = table->device, .port = table->port, .from = before->size, .to = table->size
		};
	}
	return 0;
}

int gid_diff(struct arena *arena, const struct gid_document *before, struct gid_document *now,
        const struct strings *only, int64_t only_port)
{
	struct diff diff = { .arena = arena, .before = before, .now = now };
	autofree uint8_t *before_matched = leave_out(&diff, before, only, only_port);
	autofree uint8_t *now_matched = leave_out(&diff, now, only, only_port);
	if (!before_matched || !now_matched)
		return -ENOMEM;
	diff.before_matched = before_matched;
	diff.now_matched = now_matched;
	int unknown = note_unknown(&diff, before, only, only_port);
	unknown = unknown ? unknown : note_unknown(&diff, now, only, only_port);
	if (unknown)
		return unknown;
	int result = add_resized(&diff, only, only_port);
	for (enum strictness strictness = SAME_INDEX; strictness <= SAME_GID && !result; strictness++)
		result = match(&diff, strictness);
	return result ? result : add_unmatched(&diff);
}
