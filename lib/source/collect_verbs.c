/* SPDX-License-Identifier: MIT */
/* What only an opened device tells: the calls for all devices, and their answers in the model. */
#include "source/collect_parts.h"
#include "source/verbs.h"

#include <errno.h>

static void take_answer(const struct verbs_answer *answer, struct rdma_device *device)
{
	list_each(known, &answer->ports) {
		struct port *port = known->number.known ? device_port(device, known->number.value) : NULL;
		if (!port)
			continue;
		port->active_mtu = known->active_mtu;
		port->max_mtu = known->max_mtu;
		port->gid_table_length = known->gid_table_length;
	}
}

static void miss_verbs(struct host *host, const struct rdma_device *device, int error, const char *reason)
{
	char subject[PORT_LABEL_SIZE];
	list_each(port, &device->ports) {
		port_label(device->name, port->number, subject);
		if (!port->active_mtu.known)
			report_missing_as(&host->report, "active_mtu", subject, error, reason);
		if (!port->max_mtu.known)
			report_missing_as(&host->report, "max_mtu", subject, error, reason);
	}
}

/* uverbs numbers ports with a byte (ib_user_verbs.h, struct ib_uverbs_query_port). 0 or -ENOMEM. */
static int ask_for_ports(struct host *host, const struct rdma_device *device, struct verbs_question *question)
{
	uint8_t *ports = arena_alloc(host->arena, device->ports.count);
	if (!ports)
		return -ENOMEM;
	question->ports = ports;
	list_each(port, &device->ports)
		if (port->number.value >= 1 && port->number.value <= UINT8_MAX)
			ports[question->port_count++] = (uint8_t)port->number.value;
	return 0;
}

struct verbs_call *collect_verbs_calls(struct host *host, const struct device_list *devices, unsigned int want)
{
	struct verbs_call *calls = arena_alloc(host->arena, devices->count * sizeof(*calls));
	for (uint32_t i = 0; calls && i < devices->count; i++) {
		const struct rdma_device *device = devices->items[i];
		calls[i].device = device->name;
		calls[i].question.want = want;
		calls[i].answer.port_count = device->last_port;
		if (ask_for_ports(host, device, &calls[i].question))
			return NULL;
	}
	return calls;
}

struct verbs_round {
	struct host *host;
	struct device_list devices;
	const struct verbs_call *calls; /* of the devices, in their order */
};

static int take_call(void *data, struct verbs_call *call)
{
	const struct verbs_round *round = data;
	struct host *host = round->host;
	struct rdma_device *device = round->devices.items[call - round->calls];
	const char *why = call->result ? arena_strdup(host->arena, call->error.text) : "ibv_query_port did not tell it";
	if (call->result == -ENODEV)
		device->provider_missing = why;
	take_answer(&call->answer, device);
	miss_verbs(host, device, call->result, why);
	return 0;
}

void collect_ask_devices(struct origin *origin, struct host *host, const struct collect_options *options)
{
	struct verbs_round round = { .host = host };
	struct device_list only = { 0 };
	if (options->device)
		collect_find_devices(host, options->device, &only);
	list_each(device, options->device ? &only : (struct device_list *)&host->devices) {
		if (!options->verbs)
			miss_verbs(host, device, 0, "the device was not opened (--no-verbs)");
		else if (device->uverbs.accessible == FLAG_NO)
			miss_verbs(host, device, 0, device->uverbs.reason);
		else
			(void)list_add_existing(host->arena, &round.devices, device); /* report_exhaustion() tells */
	}
	struct verbs_call *calls = collect_verbs_calls(host, &round.devices, options->verbs);
	round.calls = calls;
	if (calls)
		(void)origin_verbs(origin, host->arena, calls, round.devices.count, take_call, &round);
}
