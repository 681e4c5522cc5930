/* SPDX-License-Identifier: MIT */
/* The devices and ports that were named, out of the whole host. */
#include "source/collect.h"

#include "source/join.h"

#include <errno.h>

static bool has(const struct device_list *devices, const struct rdma_device *device)
{
	list_each(item, devices)
		if (item == device)
			return true;
	return false;
}

/* What each of `wanted` stands for, in an array of its own; NULL with `error`: nothing, or no memory. */
static struct device_list *find_wanted(const struct host *host, const struct wanted_ports *wanted, struct error *error)
{
	struct device_list *found = arena_alloc(host->arena, wanted->items.count * sizeof(*found));
	if (!found) {
		error_set(error, -ENOMEM, "the devices");
		return NULL;
	}
	list_each(item, &wanted->items) {
		struct device_list *devices = &found[item_index];
		if (collect_find_devices(host, item->device, devices)) {
			error_set(error, -ENOMEM, "%s", item->device);
			return NULL;
		}
		if (!devices->count) {
			collect_unknown_device(host, item->device, error);
			return NULL;
		}
		if (item->port && !collect_has_port(devices, item->port)) {
			collect_unknown_port(devices->count == 1 ? devices->items[0] : NULL, item->device, item->port,
			        -ENODEV, error);
			return NULL;
		}
	}
	return found;
}

static bool is_wanted(const struct wanted_ports *wanted, const struct device_list *found,
        const struct rdma_device *device, const struct port *port)
{
	list_each(item, &wanted->items)
		if (has(&found[item_index], device) && (!item->port || item->port == port->number.value))
			return true;
	return false;
}

/* A device of which a port is named has only that one from now on. */
static void keep_wanted_ports(
        const struct wanted_ports *wanted, const struct device_list *found, struct rdma_device *device)
{
	uint32_t kept = 0;
	list_each(port, &device->ports)
		if (is_wanted(wanted, found, device, port))
			device->ports.items[kept++] = port;
	device->ports.count = kept;
}

/* A device without ports that is named as a whole stays. */
static bool stays(const struct wanted_ports *wanted, const struct device_list *found, const struct rdma_device *device)
{
	list_each(item, &wanted->items)
		if (has(&found[item_index], device) && (!item->port || device->ports.count))
			return true;
	return false;
}

int collect_select(struct host *host, const struct wanted_ports *wanted, struct error *error)
{
	if (!wanted->items.count)
		return 0;
	struct device_list *found = find_wanted(host, wanted, error);
	if (!found)
		return error->code;
	struct device_list kept = { 0 };
	list_each(device, &host->devices) {
		keep_wanted_ports(wanted, found, device);
		if (stays(wanted, found, device) && list_add_existing(host->arena, &kept, device))
			return error_set(error, -ENOMEM, "the devices");
	}
	join_select(host, &kept, 0);
	return 0;
}
