/* SPDX-License-Identifier: MIT */
#include "probe/gid_choice.h"

#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The length of the ioctl's buffer is a 16-bit attribute: more entries of 32 bytes are refused by the kernel. */
enum { TABLE_LIMIT = 2047 };

/* Kernels before 5.10 have no call for the whole table, older libraries neither give a type for one slot. */
static size_t read_slots(
        struct ibv_context *context, uint8_t port, int length, struct ibv_gid_entry *entries, size_t limit)
{
	size_t count = 0;
	for (int i = 0; i < length && count < limit; i++)
		if (!ibv_query_gid_ex(context, port, (uint32_t)i, &entries[count], 0) &&
		        !gid_is_zero(entries[count].gid.raw))
			count++;
	return count;
}

int gid_table_read(struct ibv_context *context, uint8_t port, const struct ibv_port_attr *attr,
        struct ibv_gid_entry **entries, size_t *count)
{
	*entries = calloc(TABLE_LIMIT, sizeof(**entries));
	if (!*entries)
		return -ENOMEM;
	ssize_t got = ibv_query_gid_table(context, *entries, TABLE_LIMIT, 0);
	*count = got >= 0 ? (size_t)got : read_slots(context, port, attr->gid_tbl_len, *entries, TABLE_LIMIT);
	return 0;
}

static bool is_link_local(const union ibv_gid *gid)
{
	static const uint8_t v4[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 169, 254 };
	return (gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80) || !memcmp(gid->raw, v4, sizeof(v4));
}

static int rank(const struct ibv_gid_entry *entry, const uint8_t *address, int type)
{
	int rank = 0;
	if (address && !memcmp(entry->gid.raw, address, sizeof(entry->gid.raw)))
		rank += 16;
	if (type >= 0 && entry->gid_type == (uint32_t)type)
		rank += 8;
	if (!is_link_local(&entry->gid))
		rank += 2;
	if (entry->gid_type == IBV_GID_TYPE_ROCE_V2)
		rank += 3;
	return rank;
}

const struct ibv_gid_entry *gid_choose(
        const struct ibv_gid_entry *entries, size_t count, uint8_t port, const uint8_t *address, int type)
{
	const struct ibv_gid_entry *best = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct ibv_gid_entry *entry = &entries[i];
		if (entry->port_num != port)
			continue;
		int better = best ? rank(entry, address, type) - rank(best, address, type) : 1;
		if (better > 0 || (!better && entry->gid_index < best->gid_index))
			best = entry;
	}
	return best;
}
