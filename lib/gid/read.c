/* SPDX-License-Identifier: MIT */
/*
 * Why verbs comes first. Measured in the emulated guest with 256 soft-RoCE devices of 1024 slots (two used), Linux 6.1:
 *
 *	verbs   0.5 to 0.8 s for the whole command (a bare program that lists, opens, asks and closes: 0.3 to 0.4 s)
 *	sysfs   about 20 s: three system calls a slot, used or not
 *
 * tests/guest/one/long/gid-scale.sh repeats it.
 */
#include "gid/read.h"

#include "gid/address.h"
#include "gid/subnet.h"
#include "source/collect.h"
#include "source/rdma_sysfs.h"
#include "source/sysfs.h"
#include "source/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 160, TEXT_SIZE = 64 };

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

/* ---- what both ways share ---- */

struct reader {
	struct origin *origin;
	struct host *host;
	struct gid_document *document;
	struct rdma_device *device;
	struct port *port;
	struct gid_table *table;
	enum transport transport;
	char subject[TEXT_SIZE];
	const struct strings *cm_devices; /* names below configfs's rdma_cm */
	bool *uverbs_listed;              /* their uverbs devices were looked for once */
};

static int begin_table(struct reader *reader, struct port *port, enum gid_source source)
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

static struct gid_entry *add_entry(struct reader *reader, int64_t index, const uint8_t gid[static 16])
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

static void end_table(struct reader *reader, struct num size)
{
	struct gid_table *table = reader->table;
	struct gid_entry **entries = reader->document->entries.items + table->first;
	if (table->count)
		qsort(entries, table->count, sizeof(struct gid_entry *), compare_entries);
	table->size = size;
	table->used = num(table->count);
	table->holes = num(table->count ? entries[table->count - 1]->index.value + 1 - table->count : 0);
}

/*
 * The RoCE mode that rdma_cm takes by default. The directory of a device exists only where an administrator made it
 * (Documentation/ABI/testing/configfs-rdma_cm); making it would create kernel objects, so it is only looked at, and
 * only for devices that the directory above lists.
 */
static void read_cm_mode(struct reader *reader)
{
	char path[PATH_SIZE];
	if (!strings_contain(reader->cm_devices, reader->device->name))
		return;
	snprintf(path, sizeof(path), "sys/kernel/config/rdma_cm/%s/ports/%" PRId64 "/default_roce_mode",
	        reader->device->name, reader->port->number.value);
	reader->table->cm_mode = origin_text(reader->origin, reader->host->arena, path);
}

static bool wants_device(const struct gid_read_options *options, const struct rdma_device *device)
{
	for (uint32_t i = 0; options->devices && i < options->devices->count; i++)
		if (options->devices->items[i] == device)
			return true;
	return !options->devices;
}

static bool wants_port(const struct gid_read_options *options, const struct port *port)
{
	return port->number.known && (!options->port || options->port == port->number.value);
}

/* ---- sysfs ---- */

static ssize_t read_attribute(struct reader *reader, const char *kind, int64_t index, char *text, size_t size)
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
static void read_type(struct reader *reader, struct gid_entry *entry)
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

/* The name into the entry, and what read(2) said. EINVAL: it has no netdev; ENOENT: the kernel does not tell. */
static ssize_t read_netdev_name(struct reader *reader, struct gid_entry *entry)
{
	char text[TEXT_SIZE];
	ssize_t length = read_attribute(reader, "gid_attrs/ndevs", entry->index.value, text, sizeof(text));
	entry->seen_netdev = length > 0 && text[0] ? arena_strdup(reader->host->arena, text) : NULL;
	bool out_of_memory = length > 0 && text[0] && !entry->seen_netdev;
	if (out_of_memory || (length < 0 && length != -EINVAL))
		sysfs_missing(reader->host, "netdev", reader->subject, out_of_memory ? ENOMEM : (int)-length);
	return length;
}

static void read_netdev(struct reader *reader, struct gid_entry *entry)
{
	ssize_t length = read_netdev_name(reader, entry);
	entry->seen = length >= 0 || length == -EINVAL ? FLAG_YES : FLAG_UNKNOWN;
}

/* 1: the device does not answer any more. */
static int read_slot(struct reader *reader, int64_t index)
{
	char text[TEXT_SIZE];
	uint8_t gid[16];
	ssize_t length = read_attribute(reader, "gids", index, text, sizeof(text));
	if (length == -ETIMEDOUT)
		return 1;
	/* Kernels of about 4.14 and before fail for an empty slot, later ones print zeros. */
	if (length < 0 || parse_gid(text, gid) || gid_is_zero(gid))
		return 0;
	struct gid_entry *entry = add_entry(reader, index, gid);
	if (!entry)
		return -ENOMEM;
	read_type(reader, entry);
	read_netdev(reader, entry);
	return 0;
}

static int read_port_from_sysfs(struct reader *reader, struct port *port)
{
	char path[PATH_SIZE];
	struct strings slots = { 0 };
	int result = begin_table(reader, port, GID_SOURCE_SYSFS);
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
	end_table(reader, num(slots.count));
	if (result) { /* what was read is shown, but it is not all */
		reader->table->used = reader->table->holes = (struct num){ 0 };
		report_missing(&reader->host->report, "entries", reader->subject, -ETIMEDOUT,
		        "/%s: a slot did not answer; the table is not complete", path);
	}
	read_cm_mode(reader);
	return 0;
}

static int read_from_sysfs(struct reader *reader, const struct gid_read_options *options)
{
	int result = 0;
	for (uint32_t i = 0; !result && i < reader->device->ports.count; i++)
		if (wants_port(options, reader->device->ports.items[i]))
			result = read_port_from_sysfs(reader, reader->device->ports.items[i]);
	return result;
}

/* ---- verbs ---- */

static const struct verbs_port *verbs_port_of(const struct verbs_answer *answer, int64_t number)
{
	list_each(port, &answer->ports)
		if (num_is(port->number, number))
			return port;
	return NULL;
}

/*
 * The ioctl tells the index of the netdev in the netdev's own namespace, and small indexes are taken in every
 * namespace. So the index is believed only when that netdev of ours stands on the port and has the address; in doubt
 * sysfs is asked for the name too, which costs three system calls for such entries only.
 */
static bool is_surely_ours(struct reader *reader, const struct gid_entry *entry, const struct netdev *netdev)
{
	return netdev && netdev_belongs_to_port(reader->host, netdev, reader->port) == FLAG_YES &&
	       (netdev_address(netdev, entry->bytes) ||
	               (gid_is_link_local(entry->bytes, false) && gid_matches_mac(entry->bytes, netdev)));
}

static void set_verbs_netdev(struct reader *reader, struct gid_entry *entry, const struct verbs_gid *gid)
{
	entry->seen = FLAG_YES;
	entry->seen_ifindex = gid->ifindex;
	if (!gid->ifindex.known || !gid->ifindex.value)
		return;
	const struct netdev *netdev = host_netdev(reader->host, gid->ifindex.value);
	if (is_surely_ours(reader, entry, netdev)) {
		entry->seen_netdev = netdev->name;
		return;
	}
	read_netdev_name(reader, entry);
}

static int add_verbs_gid(struct reader *reader, const struct verbs_gid *gid)
{
	uint8_t bytes[16];
	if (!gid->index.known || !gid->gid || parse_gid(gid->gid, bytes) || gid_is_zero(bytes))
		return 0;
	struct gid_entry *entry = add_entry(reader, gid->index.value, bytes);
	if (!entry)
		return -ENOMEM;
	entry->type = (int)gid_type_of_number(gid->type.known ? gid->type.value : -1, reader->transport);
	if (!entry->type && reader->transport == TRANSPORT_ROCE)
		report_missing(&reader->host->report, "type", reader->subject, 0, "unknown type of the ioctl");
	set_verbs_netdev(reader, entry, gid);
	return 0;
}

static int read_port_from_verbs(struct reader *reader, struct port *port, const struct verbs_answer *answer)
{
	int result = begin_table(reader, port, GID_SOURCE_VERBS);
	if (result)
		return result;
	for (uint32_t i = 0; !result && i < answer->gids.count; i++)
		if (num_is(answer->gids.items[i]->port, port->number.value))
			result = add_verbs_gid(reader, answer->gids.items[i]);
	const struct verbs_port *told = verbs_port_of(answer, port->number.value);
	end_table(reader, told ? told->gid_table_length : (struct num){ 0 });
	if (!told || !told->gid_table_length.known)
		report_missing(&reader->host->report, "size", reader->subject, 0, "ibv_query_port did not answer");
	read_cm_mode(reader);
	return result;
}

/* 1: the table could not be had this way, the call's error says why. */
static int read_from_verbs(struct reader *reader, const struct gid_read_options *options, struct verbs_call *call)
{
	int result = call->result;
	/* A device may answer so, too: that is its own trouble. */
	if (result == -ENOMEM && arena_exhausted(reader->host->arena))
		return result;
	if (result)
		return 1;
	const struct verbs_answer *answer = &call->answer;
	if (answer->gid_error.known) {
		error_set(&call->error, -(int)answer->gid_error.value, "%s: ibv_query_gid_table", reader->device->name);
		return 1;
	}
	for (uint32_t i = 0; !result && i < reader->device->ports.count; i++)
		if (wants_port(options, reader->device->ports.items[i]))
			result = read_port_from_verbs(reader, reader->device->ports.items[i], answer);
	return result;
}

/* ---- all devices ---- */

/* Whether one that verbs did not open was given to this container; a brief look has not asked. */
static void read_access(struct reader *reader)
{
	struct uverbs *uverbs = &reader->device->uverbs;
	if (uverbs->accessible || uverbs->reason)
		return;
	if (!uverbs->path && !*reader->uverbs_listed)
		rdma_sysfs_uverbs(reader->origin, reader->host);
	*reader->uverbs_listed = true;
	rdma_sysfs_access(reader->origin, reader->host, reader->device);
}

/* Of a device that verbs did not give it of. */
static int read_otherwise(struct reader *reader, const struct gid_read_options *options, const struct error *error)
{
	read_access(reader);
	if (error->code == -ENODEV && !reader->device->provider_missing)
		reader->device->provider_missing = arena_strdup(reader->host->arena, error->text);
	if (options->source != GID_SOURCE_VERBS)
		return read_from_sysfs(reader, options);
	report_missing(&reader->host->report, "entries", reader->device->name, error->code, "%s", error->text);
	return 0;
}

struct reading {
	struct reader reader; /* without a device */
	const struct gid_read_options *options;
	struct device_list devices;
	const struct verbs_call *calls; /* of the devices, in their order */
};

static struct reader reader_of(const struct reading *reading, uint32_t index)
{
	struct reader reader = reading->reader;
	reader.device = reading->devices.items[index];
	origin_about(reader.origin, reader.device->name);
	return reader;
}

static int take_call(void *data, struct verbs_call *call)
{
	const struct reading *reading = data;
	struct reader reader = reader_of(reading, (uint32_t)(call - reading->calls));
	int result = read_from_verbs(&reader, reading->options, call);
	return result > 0 ? read_otherwise(&reader, reading->options, &call->error) : result;
}

static int read_all_from_verbs(struct reading *reading)
{
	struct host *host = reading->reader.host;
	struct verbs_call *calls = collect_verbs_calls(host, &reading->devices, VERBS_PORTS | VERBS_GIDS);
	reading->calls = calls;
	return calls ? origin_verbs(
	                       reading->reader.origin, host->arena, calls, reading->devices.count, take_call, reading)
	             : -ENOMEM;
}

static int read_all_from_sysfs(const struct reading *reading)
{
	int result = 0;
	for (uint32_t i = 0; !result && i < reading->devices.count; i++) {
		struct reader reader = reader_of(reading, i);
		result = read_from_sysfs(&reader, reading->options);
	}
	return result;
}

int gid_read(
        struct origin *origin, struct host *host, const struct gid_read_options *options, struct gid_document *document)
{
	int result = 0;
	bool uverbs_listed = false;
	struct strings cm_devices = { 0 };
	struct reading reading = {
		.reader = { .origin = origin,
		        .host = host,
		        .document = document,
		        .cm_devices = &cm_devices,
		        .uverbs_listed = &uverbs_listed },
		.options = options,
	};
	origin_about(origin, "host");
	origin_list(origin, host->arena, "sys/kernel/config/rdma_cm", &cm_devices); /* usually there is none */
	list_each(device, &host->devices)
		if (!result && wants_device(options, device))
			result = list_add_existing(host->arena, &reading.devices, device);
	if (!result)
		result = options->source == GID_SOURCE_SYSFS ? read_all_from_sysfs(&reading)
		                                             : read_all_from_verbs(&reading);
	return result ? result : gid_subnets_read(origin, host);
}

/* ---- --all ---- */

static int add_slots(
        struct arena *arena, const struct gid_table *table, const struct gid_document *from, struct gid_document *to)
{
	uint32_t used = 0;
	int64_t size = table->size.known ? table->size.value : 0;
	int result = 0;
	for (int64_t index = 0; !result && (index < size || used < table->count); index++) {
		struct gid_entry *entry = used < table->count ? from->entries.items[table->first + used] : NULL;
		if (entry && entry->index.value <= index) {
			used++;
			result = list_add_existing(arena, &to->entries, entry);
			continue;
		}
		struct gid_entry *empty = list_add(arena, &to->entries);
		if (!empty)
			return -ENOMEM;
		empty->device = table->device;
		empty->port = table->port;
		empty->index = num(index);
		empty->gid = "0000:0000:0000:0000:0000:0000:0000:0000";
		empty->state_reason = "empty slot";
		empty->empty = FLAG_YES;
	}
	return result;
}

int gid_show_empty(struct arena *arena, struct gid_document *document)
{
	struct gid_document all = { 0 };
	int result = 0;
	for (uint32_t i = 0; !result && i < document->tables.count; i++) {
		struct gid_table *table = document->tables.items[i];
		uint32_t first = all.entries.count;
		result = add_slots(arena, table, document, &all);
		table->first = first;
		table->count = all.entries.count - first;
	}
	if (!result)
		memcpy(&document->entries, &all.entries, sizeof(document->entries));
	return result;
}
