/* SPDX-License-Identifier: MIT */
/* A table and its entries, whichever way they are read. */
#include "gid/reader.h"

#include "gid/address.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 160 };

/* ---- types ---- */

static enum gid_type type_outside_roce(enum transport transport)
{
	switch (transport) {
	case TRANSPORT_INFINIBAND:
		return GID_TYPE_IB;
	case TRANSPORT_IWARP:
		return GID_TYPE_IWARP;
	default:
		return GID_TYPE_UNKNOWN;
	}
}

enum gid_type gid_type_of_text(const char *text, enum transport transport)
{
	if (transport != TRANSPORT_ROCE)
		return type_outside_roce(transport);
	if (!strcmp(text, "RoCE v2"))
		return GID_TYPE_ROCE_V2;
	if (!strcmp(text, "IB/RoCE v1") || !strcmp(text, "RoCE v1"))
		return GID_TYPE_ROCE_V1;
	return GID_TYPE_UNKNOWN;
}

enum gid_type gid_type_of_number(int64_t number, enum transport transport)
{
	if (transport != TRANSPORT_ROCE)
		return type_outside_roce(transport);
	switch (number) {
	case 0: /* libraries before the split of IB and RoCE v1 */
	case 1:
		return GID_TYPE_ROCE_V1;
	case 2:
		return GID_TYPE_ROCE_V2;
	default:
		return GID_TYPE_UNKNOWN;
	}
}

/* The transport of a port, from its link layer where the device does not say. */
static enum transport transport_of(const struct rdma_device *device, const struct port *port)
{
	enum transport transport = (enum transport)port->transport;
	if (transport == TRANSPORT_UNKNOWN)
		transport = (enum transport)device->transport;
	if (transport != TRANSPORT_UNKNOWN && transport != TRANSPORT_MIXED)
		return transport;
	return port->link_layer == LINK_LAYER_INFINIBAND ? TRANSPORT_INFINIBAND
	       : port->link_layer == LINK_LAYER_ETHERNET ? TRANSPORT_ROCE
	                                                 : TRANSPORT_UNKNOWN;
}

/* ---- tables ---- */

int gid_begin_table(struct gid_reader *reader, struct port *port, enum gid_source source)
{
	struct gid_table *table = list_add(reader->host->arena, &reader->document->tables);
	if (!table)
		return -ENOMEM;
	*table = (struct gid_table){
		.device = reader->device->name,
		.port = port->number,
		.rdma = reader->device,
		.rdma_port = port,
		.first = reader->document->entries.count,
		.source = (int)source,
	};
	reader->table = table;
	reader->port = port;
	reader->transport = transport_of(reader->device, port);
	snprintf(reader->subject, sizeof(reader->subject), "%s/%" PRId64, reader->device->name, port->number.value);
	return 0;
}

struct gid_entry *gid_add_entry(struct gid_reader *reader, int64_t index, const uint8_t gid[static 16])
{
	struct gid_entry *entry = list_add(reader->host->arena, &reader->document->entries);
	if (!entry)
		return NULL;
	char text[GID_TEXT_SIZE];
	format_gid(gid, text);
	memcpy(entry->bytes, gid, sizeof(entry->bytes));
	entry->device = reader->device->name;
	entry->port = reader->port->number;
	entry->index = num(index);
	entry->gid = arena_strdup(reader->host->arena, text);
	reader->table->count++;
	return entry->gid ? entry : NULL;
}

static int compare_entries(const void *a, const void *b)
{
	const struct gid_entry *left = *(struct gid_entry *const *)a, *right = *(struct gid_entry *const *)b;
	return left->index.value < right->index.value ? -1 : left->index.value > right->index.value;
}

/*
 * The RoCE mode that rdma_cm takes by default. The directory of a device exists only where an administrator made it
 * (Documentation/ABI/testing/configfs-rdma_cm); making it would create kernel objects, so it is only looked at, and
 * only for devices that the directory above lists.
 */
static void read_cm_mode(struct gid_reader *reader)
{
	char path[PATH_SIZE];
	if (!strings_contain(reader->cm_devices, reader->device->name))
		return;
	snprintf(path, sizeof(path), "sys/kernel/config/rdma_cm/%s/ports/%" PRId64 "/default_roce_mode",
	        reader->device->name, reader->port->number.value);
	reader->table->cm_mode = origin_text(reader->origin, reader->host->arena, path);
}

void gid_end_table(struct gid_reader *reader, struct num size)
{
	struct gid_table *table = reader->table;
	struct gid_entry **entries = reader->document->entries.items + table->first;
	if (table->count)
		qsort(entries, table->count, sizeof(struct gid_entry *), compare_entries);
	table->size = size;
	table->used = num(table->count);
	table->holes = num(table->count ? entries[table->count - 1]->index.value + 1 - table->count : 0);
	read_cm_mode(reader);
}
