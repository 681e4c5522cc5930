/* SPDX-License-Identifier: MIT */
/* One device of the host: what else of the host belongs to it. */
#include "source/collect.h"
#include "model/health.h"
#include "source/join.h"

#include <inttypes.h>
#include <stdarg.h>
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
		return device_reaches(device, subject + 4);
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

__attribute__((format(printf, 2, 3))) static bool concern_as(const struct device_list *devices, const char *format, ...)
{
	char subject[128];
	va_list args;
	va_start(args, format);
	vsnprintf(subject, sizeof(subject), format, args);
	va_end(args);
	return concern(devices, subject);
}

static void keep_health(struct health *health, const struct device_list *devices)
{
	uint32_t kept = 0;
	list_each(netdev, &health->netdevs)
		if (concern_as(devices, "net:%s", netdev->name))
			health->netdevs.items[kept++] = netdev;
	health->netdevs.count = kept;
	kept = 0;
	list_each(port, &health->ports)
		if (concern_as(devices, "%s/%" PRId64, port->device, port->number.value))
			health->ports.items[kept++] = port;
	health->ports.count = kept;
	kept = 0;
	list_each(function, &health->functions)
		if (concern_as(devices, "pci:%s", function->address))
			health->functions.items[kept++] = function;
	health->functions.count = kept;
	kept = 0;
	list_each(reporter, &health->reporters)
		if (concern_as(devices, "pci:%s", reporter->address))
			health->reporters.items[kept++] = reporter;
	health->reporters.count = kept;
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
	if (host->health)
		keep_health(host->health, devices);
	kept = 0;
	list_each(device, devices)
		if (!port || device->ports.count)
			host->devices.items[kept++] = device;
	host->devices.count = kept;
}
