/* SPDX-License-Identifier: MIT */
#include "probe_ports.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t count_ports_up(const struct host *host)
{
	uint32_t count = 0;
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			count += port_is_active(port);
	return count;
}

int each_port(const struct host *host, visit_port visit, void *data)
{
	int result = 0;
	list_each(device, &host->devices) {
		for (uint32_t i = 0; i < device->ports.count && !result; i++) {
			char subject[96];
			const struct port *port = device->ports.items[i];
			snprintf(subject, sizeof(subject), "%s/%" PRId64, device->name, port->number.value);
			result = visit(data, subject, port);
		}
	}
	return result;
}

/* NULL: none, or more than a line has room for. */
static const char *candidates_of(struct arena *arena, const struct verdict *verdict)
{
	enum { SHOWN = 4 };
	const char *text = NULL;
	if (verdict->candidates.count > SHOWN)
		return NULL;
	list_each(candidate, &verdict->candidates)
		text = text ? arena_printf(arena, "%s or %s", text, candidate) : candidate;
	return text;
}

const char *layer_words(struct arena *arena, const struct verdict *verdict)
{
	const char *layer = layer_names[verdict->layer];
	const char *how = verdict->confidence == CONFIDENCE_NONE ? candidates_of(arena, verdict)
	                                                         : confidence_names[verdict->confidence];
	return arena_printf(
	        arena, "layer %s%s%s%s", layer ? layer : "unknown", how ? " (" : "", how ? how : "", how ? ")" : "");
}
