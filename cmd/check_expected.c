/* SPDX-License-Identifier: MIT */
/* Ports that are meant to be down (check --expect-down). */
#include "check_expected.h"

#include "cmd.h"

#include <errno.h>
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

/* A mistyped port would have its own fault reported for ever, or hide none. */
int check_expected(struct finding_filter *filter, struct host *host, struct error *error)
{
	const struct strings *expected = &filter->expect_down;
	for (uint32_t i = 0; i < expected->count; i++) {
		const struct port *port = check_port_called(host, expected->items[i]);
		if (!port)
			return error_say(error, -ENODEV, "--expect-down: there is no port '%s'", expected->items[i]);
		if (port_is_active(port))
			complain("--expect-down %s: this port is ACTIVE", expected->items[i]);
		else
			note_unused(host, expected->items[i], port, &filter->unused);
	}
	return 0;
}
