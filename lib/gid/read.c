/* SPDX-License-Identifier: MIT */
/*
 * Why verbs comes first. Measured in the emulated guest with 256 soft-RoCE devices of 1024 slots (two used), Linux 6.1:
 *
 *	verbs   0.2 to 0.3 s for the whole command (a bare program that lists, opens, asks and closes: about 0.2 s)
 *	sysfs   about 20 s: three system calls a slot, used or not
 *
 * tests/guest/one/long/gid-scale.sh repeats it.
 */
#include "gid/reader.h"

#include "gid/subnet.h"
#include "source/collect.h"
#include "source/rdma_sysfs.h"
#include "source/verbs.h"

#include <errno.h>

static bool wants_device(const struct gid_read_options *options, const struct rdma_device *device)
{
	for (uint32_t i = 0; options->devices && i < options->devices->count; i++)
		if (options->devices->items[i] == device)
			return true;
	return !options->devices;
}

/* Whether one that verbs did not open was given to this container; a brief look has not asked. */
static void read_access(struct gid_reader *reader)
{
	struct uverbs *uverbs = &reader->device->uverbs;
	if (uverbs->accessible || uverbs->reason)
		return;
	if (!uverbs->path && !*reader->uverbs_listed)
		rdma_sysfs_uverbs(reader->origin, reader->host);
	*reader->uverbs_listed = true;
	rdma_sysfs_access(reader->origin, reader->host, reader->device);
}

/* Of a device of which verbs did not tell it. */
static int read_otherwise(struct gid_reader *reader, const struct error *error)
{
	read_access(reader);
	if (error->code == -ENODEV && !reader->device->provider_missing)
		reader->device->provider_missing = arena_strdup(reader->host->arena, error->text);
	if (reader->options->source != GID_SOURCE_VERBS)
		return gid_read_from_sysfs(reader);
	report_missing(&reader->host->report, "entries", reader->device->name, error->code, "%s", error->text);
	return 0;
}

struct reading {
	struct gid_reader reader; /* without a device */
	struct device_list devices;
	const struct verbs_call *calls; /* of the devices, in their order */
};

static struct gid_reader reader_of(const struct reading *reading, uint32_t index)
{
	struct gid_reader reader = reading->reader;
	reader.device = reading->devices.items[index];
	origin_about(reader.origin, reader.device->name);
	return reader;
}

static int take_call(void *data, struct verbs_call *call)
{
	const struct reading *reading = data;
	struct gid_reader reader = reader_of(reading, (uint32_t)(call - reading->calls));
	int result = gid_read_from_verbs(&reader, call);
	return result > 0 ? read_otherwise(&reader, &call->error) : result;
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
		struct gid_reader reader = reader_of(reading, i);
		result = gid_read_from_sysfs(&reader);
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
		        .options = options,
		        .cm_devices = &cm_devices,
		        .uverbs_listed = &uverbs_listed },
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
