/* SPDX-License-Identifier: MIT */
/* Ports that are meant to be down (check --expect-down). */
#include "check_expected.h"

#include "cmd.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

const struct port *check_port_called(const struct host *host, const char *subject)
{
	list_each(device, &host->devices)
		for (uint32_t i = 0; i < device->ports.count; i++) {
			char label[PORT_LABEL_SIZE];
			if (!strcmp(port_label(device->name, device->ports.items[i]->number, label), subject))
				return device->ports.items[i];
		}
	return NULL;
}

static void note_unused(struct host *host, const char *label, const struct port *port, struct strings *unused)
{
	const struct netdev *netdev = port_netdev(port);
	const char *subject = netdev ? arena_printf(host->arena, "net:%s", netdev->name) : NULL;
	(void)strings_add(host->arena, unused, label);
	if (subject)
		(void)strings_add(host->arena, unused, subject);
}

/* The port of this device that DEV/PORT means, where DEV may be a netdev that the device reaches; NULL: none. */
static const struct port *port_meant(const struct rdma_device *device, const char *name)
{
	char of[IF_NAMESIZE];
	int64_t number;
	size_t length = strcspn(name, "/");
	if (length >= sizeof(of) || !name[length] || parse_number(name + length + 1, 10, &number))
		return NULL;
	memcpy(of, name, length);
	of[length] = '\0';
	return device_reaches(device, of) ? device_port(device, number) : NULL;
}

static void expect(struct finding_filter *filter, struct host *host, const char *label, const struct port *port)
{
	if (port_is_active(port))
		complain("--expect-down %s: this port is ACTIVE", label);
	else
		note_unused(host, label, port, &filter->unused);
}

/* The ports of all devices that reach the netdev. Their number. */
static uint32_t expect_netdev(struct finding_filter *filter, struct host *host, const char *name)
{
	uint32_t found = 0;
	list_each(device, &host->devices) {
		char text[PORT_LABEL_SIZE];
		const struct port *port = port_meant(device, name);
		const char *label =
		        port ? arena_strdup(host->arena, port_label(device->name, port->number, text)) : NULL;
		if (!label)
			continue;
		expect(filter, host, label, port);
		found++;
	}
	return found;
}

/* A mistyped port would have its own fault reported for ever, or hide none. */
int check_expected(struct finding_filter *filter, struct host *host, struct error *error)
{
	for (uint32_t i = 0; i < filter->expect_down.count; i++) {
		const char *name = filter->expect_down.items[i];
		const struct port *port = check_port_called(host, name);
		if (port)
			expect(filter, host, name, port);
		else if (!expect_netdev(filter, host, name))
			return error_say(error, -ENODEV, "--expect-down: there is no port '%s'", name);
	}
	return 0;
}
