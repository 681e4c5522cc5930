/* SPDX-License-Identifier: MIT */
/* GID tables from sysfs: a file for each slot, and for each used one its type and netdev. */
#include "gid/reader.h"

#include "gid/address.h"
#include "source/sysfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 160, TEXT_SIZE = 64 };

static ssize_t read_attribute(struct gid_reader *reader, const char *kind, int64_t index, char *text, size_t size)
{
	char path[PATH_SIZE];
	snprintf(path, sizeof(path), "sys/class/infiniband/%s/ports/%" PRId64 "/%s/%" PRId64, reader->device->name,
	        reader->port->number.value, kind, index);
	ssize_t length = origin_read(reader->origin, path, text, size);
	if (length >= 0)
		trim_end(text);
	return length;
}

/*
 * A used slot always has a type where the kernel knows types at all: EINVAL then only means that the entry vanished
 * meanwhile, ENOENT that there is no gid_attrs directory (kernel before 4.5).
 */
static void read_type(struct gid_reader *reader, struct gid_entry *entry)
{
	char text[TEXT_SIZE];
	ssize_t length = read_attribute(reader, "gid_attrs/types", entry->index.value, text, sizeof(text));
	entry->type = (int)gid_type_of_text(length > 0 ? text : "", reader->transport);
	if (reader->transport != TRANSPORT_ROCE || entry->type)
		return;
	if (length == -ENOENT)
		report_missing(&reader->host->report, "type", reader->subject, -ENOENT, "the kernel has no gid_attrs");
	else if (length < 0)
		report_missing(&reader->host->report, "type", reader->subject, (int)length, NULL);
	else
		report_missing(&reader->host->report, "type", reader->subject, 0, "unknown type '%s'", text);
}

ssize_t gid_read_netdev_name(struct gid_reader *reader, struct gid_entry *entry)
{
	char text[TEXT_SIZE];
	ssize_t length = read_attribute(reader, "gid_attrs/ndevs", entry->index.value, text, sizeof(text));
	entry->seen_netdev = length > 0 && text[0] ? arena_strdup(reader->host->arena, text) : NULL;
	bool out_of_memory = length > 0 && text[0] && !entry->seen_netdev;
	if (out_of_memory || (length < 0 && length != -EINVAL))
		sysfs_missing(reader->host, "netdev", reader->subject, out_of_memory ? ENOMEM : (int)-length);
	return length;
}

static void read_netdev(struct gid_reader *reader, struct gid_entry *entry)
{
	ssize_t length = gid_read_netdev_name(reader, entry);
	entry->seen = length >= 0 || length == -EINVAL ? FLAG_YES : FLAG_UNKNOWN;
}

/* 1: the device does not answer any more. */
static int read_slot(struct gid_reader *reader, int64_t index)
{
	char text[TEXT_SIZE];
	uint8_t gid[16];
	ssize_t length = read_attribute(reader, "gids", index, text, sizeof(text));
	if (length == -ETIMEDOUT)
		return 1;
	/* Kernels of about 4.14 and before fail for an empty slot, later ones print zeros. */
	if (length < 0 || parse_gid(text, gid) || gid_is_zero(gid))
		return 0;
	struct gid_entry *entry = gid_add_entry(reader, index, gid);
	if (!entry)
		return -ENOMEM;
	read_type(reader, entry);
	read_netdev(reader, entry);
	return 0;
}

static int read_port_from_sysfs(struct gid_reader *reader, struct port *port)
{
	char path[PATH_SIZE];
	struct strings slots = { 0 };
	int result = gid_begin_table(reader, port, GID_SOURCE_SYSFS);
	if (result)
		return result;
	snprintf(path, sizeof(path), "sys/class/infiniband/%s/ports/%" PRId64 "/gids", reader->device->name,
	        port->number.value);
	int listed = origin_list(reader->origin, reader->host->arena, path, &slots);
	if (listed) {
		report_missing(
		        &reader->host->report, "entries", reader->subject, listed, "/%s: %s", path, strerror(-listed));
		return 0;
	}
	for (uint32_t i = 0; !result && i < slots.count; i++) {
		struct num index = parse_num(slots.items[i], 10);
		if (index.known)
			result = read_slot(reader, index.value);
	}
	if (result < 0)
		return result;
	gid_end_table(reader, num(slots.count));
	if (result) { /* what was read is shown, but it is not all */
		reader->table->used = reader->table->holes = (struct num){ 0 };
		report_missing(&reader->host->report, "entries", reader->subject, -ETIMEDOUT,
		        "/%s: a slot did not answer; the table is not complete", path);
	}
	return 0;
}

int gid_read_from_sysfs(struct gid_reader *reader)
{
	int result = 0;
	for (uint32_t i = 0; !result && i < reader->device->ports.count; i++)
		if (gid_wants_port(reader, reader->device->ports.items[i]))
			result = read_port_from_sysfs(reader, reader->device->ports.items[i]);
	return result;
}
