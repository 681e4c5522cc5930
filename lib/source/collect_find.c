/* SPDX-License-Identifier: MIT */
/* Devices by the names that people give: their own, or those of netdevs that reach them. */
#include "source/collect.h"

#include "base/nearest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MEANT_SIZE = 256 };

/* With its domain, or as lspci(8) shows it. */
static bool is_address_of(const struct rdma_device *device, const char *name)
{
	enum { WITHOUT_DOMAIN = sizeof("00:00.0") - 1 };
	const char *address = device->pci ? device->pci->address : NULL;
	size_t length = strlen(name), whole = address ? strlen(address) : 0;
	return length >= WITHOUT_DOMAIN && length <= whole && !strcasecmp(address + whole - length, name);
}

/* "; is it mlx5_0? There", "; write mlx5_0/1, there", "; that is where mlx5_0 is, there", or "; there". */
static void meant_device(const struct host *host, const char *name, char meant[static MEANT_SIZE])
{
	struct nearest nearest = { .typed = name };
	const char *colon = strrchr(name, ':');
	list_each(device, &host->devices) {
		size_t length = strlen(device->name);
		if (colon && colon == name + length && !strncmp(name, device->name, length)) {
			snprintf(meant, MEANT_SIZE, "; write %.63s/%.16s, there", device->name, colon + 1);
			return;
		}
		if (is_address_of(device, name)) {
			snprintf(meant, MEANT_SIZE, "; that is where %.63s is, there", device->name);
			return;
		}
		nearest_try(&nearest, device->name, NULL);
	}
	const char *text = nearest_text(&nearest);
	snprintf(meant, MEANT_SIZE, "%s%s", text, *text ? " There" : "; there");
}

int collect_unknown_device(const struct host *host, const char *name, struct error *error)
{
	char known[200] = "";
	list_each(device, &host->devices) {
		size_t used = strlen(known);
		if (used + strlen(device->name) + 8 > sizeof(known)) {
			snprintf(known + used, sizeof(known) - used, ", …");
			break;
		}
		snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "", device->name);
	}
	if (host_netdev_called(host, name))
		return error_say(error, -ENODEV, "no RDMA device%s reaches the netdev %s; there are: %s",
		        host->rdma_netns_mode == NETNS_EXCLUSIVE ? " of this namespace (rdma netns mode exclusive)"
		                                                 : "",
		        name, known);
	char meant[MEANT_SIZE];
	meant_device(host, name, meant);
	return error_say(
	        error, -ENODEV, "no RDMA device or netdev of one is called '%s'%s are: %s", name, meant, known);
}

static const char *netdev_name(const struct host *host, const char *name)
{
	const struct netdev *netdev = host_netdev_called(host, name);
	return netdev ? netdev->name : name;
}

struct rdma_device *collect_find_device(const struct host *host, const char *name)
{
	struct rdma_device *device = host_device(host, name);
	if (device)
		return device;
	name = netdev_name(host, name);
	struct rdma_device *related = NULL;
	list_each(candidate, &host->devices)
		list_each(port, &candidate->ports)
			list_each(netdev, &port->netdevs) {
				if (strcmp(netdev->name, name))
					continue;
				if (netdev->relation == RELATION_PORT)
					return candidate;
				if (!related)
					related = candidate;
			}
	return related;
}

int collect_unknown_port(
        const struct rdma_device *device, const char *name, int64_t port, int code, struct error *error)
{
	uint32_t count = device ? device->ports.count : 0;
	if (!count)
		return error_say(error, code, "%s has no port %" PRId64, name, port);
	int64_t first = device->ports.items[0]->number.value, last = device->ports.items[count - 1]->number.value;
	char begin[32] = "";
	if (count > 1)
		snprintf(begin, sizeof(begin), "%" PRId64 " to ", first);
	return error_say(error, code, "%s has no port %" PRId64 ", only %s%" PRId64, name, port, begin, last);
}

int collect_find_devices(const struct host *host, const char *name, struct device_list *found)
{
	*found = (struct device_list){ 0 };
	struct rdma_device *named = host_device(host, name);
	if (named)
		return list_add_existing(host->arena, found, named);
	int result = 0;
	name = netdev_name(host, name);
	for (uint32_t i = 0; !result && i < host->devices.count; i++)
		if (device_reaches(host->devices.items[i], name))
			result = list_add_existing(host->arena, found, host->devices.items[i]);
	return result;
}

bool collect_has_port(const struct device_list *devices, int64_t port)
{
	list_each(device, devices)
		if (device_port(device, port))
			return true;
	return false;
}
