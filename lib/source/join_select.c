/* SPDX-License-Identifier: MIT */
/* One device of the host: what else of the host belongs to it. */
#include "source/collect.h"
#include "source/join.h"

#include <stdio.h>
#include <string.h>

static bool concerns_path(const struct pci_function *function, const char *address)
{
	if (function)
		list_each(hop, &function->path)
			if (hop->address && !strcmp(hop->address, address))
				return true;
	return false;
}

static bool concerns_netdev(const struct rdma_device *device, const char *name)
{
	list_each(port, &device->ports)
		list_each(netdev, &port->netdevs)
			if (!strcmp(netdev->name, name))
				return true;
	return false;
}

static bool concerns_pci(const struct rdma_device *device, const char *address)
{
	if (concerns_path(device->pci, address))
		return true;
	list_each(port, &device->ports)
		list_each(netdev, &port->netdevs)
			if (concerns_path(netdev->netdev->pci, address))
				return true;
	return false;
}

static bool concerns_port(const struct rdma_device *device, const char *slash)
{
	int64_t number;
	size_t digits = strspn(slash + 1, "0123456789");
	char text[16];
	snprintf(text, sizeof(text), "%.*s", (int)digits, slash + 1);
	return parse_number(text, 10, &number) || device_port(device, number);
}

static bool concerns(const struct rdma_device *device, const char *subject)
{
	size_t length = strlen(device->name);
	if (!strncmp(subject, device->name, length) && (!subject[length] || subject[length] == '/'))
		return !subject[length] || concerns_port(device, subject + length);
	if (!strncmp(subject, "net:", 4))
		return concerns_netdev(device, subject + 4);
	if (!strncmp(subject, "pci:", 4))
		return concerns_pci(device, subject + 4);
	return !strcmp(subject, "host") || !strncmp(subject, "node:", 5);
}

static bool concern(const struct device_list *devices, const char *subject)
{
	list_each(device, devices)
		if (concerns(device, subject))
			return true;
	return false;
}

static void keep_port(struct rdma_device *device, int64_t number)
{
	struct port *port = device_port(device, number);
	device->ports.count = 0;
	if (port)
		device->ports.items[device->ports.count++] = port;
}

void join_select(struct host *host, const struct device_list *devices, int64_t port)
{
	struct report *report = &host->report;
	uint32_t kept = 0;
	if (port)
		list_each(device, devices)
			keep_port(device, port);
	for (uint32_t i = 0; i < report->findings.count; i++)
		if (concern(devices, report->findings.items[i]->subject))
			report->findings.items[kept++] = report->findings.items[i];
	report->findings.count = kept;
	kept = 0;
	for (uint32_t i = 0; i < report->not_collected.count; i++)
		if (concern(devices, report->not_collected.items[i]->subject))
			report->not_collected.items[kept++] = report->not_collected.items[i];
	report->not_collected.count = kept;
	kept = 0;
	list_each(device, devices)
		if (!port || device->ports.count)
			host->devices.items[kept++] = device;
	host->devices.count = kept;
}
