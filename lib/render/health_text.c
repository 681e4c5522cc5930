/* SPDX-License-Identifier: MIT */
#include "render/health_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void print_qos(const struct qos_facts *qos, FILE *stream)
{
	const char *separator = " ";
	bool any = false;
	if (qos->trust)
		fprintf(stream, ", trusts %s", qos->trust);
	list_each(priority, &qos->priorities)
		any |= priority->pfc == FLAG_YES;
	if (!any) {
		fputs(", no lossless priority", stream);
		return;
	}
	fputs(", lossless priorities", stream);
	list_each(priority, &qos->priorities) {
		if (priority->pfc != FLAG_YES)
			continue;
		fprintf(stream, "%s%" PRId64, separator, priority->priority.value);
		if (priority->pause_received.known && priority->pause_sent.known)
			fprintf(stream, " (paused %" PRId64 ", pausing %" PRId64 ")", priority->pause_received.value,
			        priority->pause_sent.value);
		separator = ", ";
	}
}

static void print_pause(const struct pause_facts *pause, FILE *stream)
{
	static const char *const words[] = { "?", "off", "on" };
	fprintf(stream, ", pause receive %s transmit %s", words[pause->receive], words[pause->transmit]);
	if (pause->frames_received.known && pause->frames_sent.known)
		fprintf(stream, " (received %" PRId64 ", sent %" PRId64 ")", pause->frames_received.value,
		        pause->frames_sent.value);
}

static void print_counters(const struct health_counter *const *items, uint32_t count, const char *nothing, FILE *stream)
{
	bool any = false;
	for (uint32_t i = 0; i < count; i++)
		if (items[i]->value.value > 0) {
			fprintf(stream, ", %s %" PRId64, items[i]->name, items[i]->value.value);
			any = true;
		}
	if (count && !any)
		fprintf(stream, ", %s", nothing);
}

static void print_netdev(const struct netdev_health *netdev, FILE *stream)
{
	if (netdev->carrier_down.known)
		fprintf(stream, ", carrier lost %" PRId64 " time%s", netdev->carrier_down.value,
		        plural(netdev->carrier_down.value));
	if (netdev->link_problem)
		fprintf(stream, ", no link: %s", netdev->link_problem);
	if (netdev->fec && netdev->fec->active)
		fprintf(stream, ", FEC %s", netdev->fec->active);
	if (netdev->fec && netdev->fec->uncorrectable_blocks.known)
		fprintf(stream, " (%" PRId64 " block%s not correctable)", netdev->fec->uncorrectable_blocks.value,
		        plural(netdev->fec->uncorrectable_blocks.value));
	if (netdev->pause)
		print_pause(netdev->pause, stream);
	if (netdev->qos)
		print_qos(netdev->qos, stream);
	print_counters((const struct health_counter *const *)netdev->counters.items, netdev->counters.count,
	        "no errors or drops counted", stream);
}

/* Runs of service levels with one lane: ", SL 0-1 on VL 0, SL 2-15 on VL 1" */
static void print_lanes(const struct port_health *port, FILE *stream)
{
	for (uint32_t first = 0, next; first < port->sl_to_vl.count; first = next) {
		int64_t lane = port->sl_to_vl.items[first]->value;
		for (next = first + 1; next < port->sl_to_vl.count && port->sl_to_vl.items[next]->value == lane;)
			next++;
		fprintf(stream, next - first > 1 ? ", SL %u-%u" : ", SL %u", first, next - 1);
		fprintf(stream, lane == 15 ? " discarded" : " on VL %" PRId64, lane);
	}
}

/* What each lane may send in one round. */
static void print_turns(const char *priority, const struct vl_weight_list *turns, FILE *stream)
{
	enum { LANES = 16 };
	int64_t weights[LANES] = { 0 };
	list_each(turn, turns)
		weights[turn->vl.value & (LANES - 1)] += turn->weight.value;
	const char *separator = "";
	if (turns->count)
		fprintf(stream, ", %s priority ", priority);
	for (int lane = 0; lane < LANES; lane++) {
		if (!weights[lane])
			continue;
		fprintf(stream, "%sVL %d weight %" PRId64, separator, lane, weights[lane]);
		separator = ", ";
	}
}

static bool says_something(const struct port_health *port)
{
	return port->sm_sl.known || port->sl_to_vl.count || port->default_tos.known || port->traffic_class.known ||
	       port->counters.count;
}

static void print_port(const struct port_health *port, FILE *stream)
{
	if (port->sm_sl.known)
		fprintf(stream, ", SL %" PRId64 " to the subnet manager", port->sm_sl.value);
	print_lanes(port, stream);
	print_turns("high", &port->vl_arbitration_high, stream);
	print_turns("low", &port->vl_arbitration_low, stream);
	if (port->default_tos.known)
		fprintf(stream, ", rdma_cm default type of service %" PRId64 " (DSCP %" PRId64 ")",
		        port->default_tos.value, port->default_tos.value >> 2);
	if (port->traffic_class.known)
		fprintf(stream, ", forced traffic class %" PRId64, port->traffic_class.value);
	print_counters((const struct health_counter *const *)port->counters.items, port->counters.count,
	        "no port errors counted", stream);
}

/* Of netdev or port: what the two functions above say begins with a comma each; nothing, where they say nothing. */
struct line {
	char *text;
	size_t length;
	FILE *stream;
};

static bool begin_line(struct line *line)
{
	*line = (struct line){ 0 };
	line->stream = open_memstream(&line->text, &line->length);
	return line->stream;
}

__attribute__((format(printf, 3, 4))) static void end_line(struct line *line, FILE *stream, const char *subject, ...)
{
	va_list args;
	fclose(line->stream);
	if (line->text && line->length > strlen(", ")) {
		va_start(args, subject);
		vfprintf(stream, subject, args);
		va_end(args);
		fprintf(stream, ": %s\n", line->text + strlen(", "));
	}
	free(line->text);
}

/* Of a device that has no line of its own. */
static bool has_line(const struct host *host, const struct rdma_device *device)
{
	list_each(function, &host->health->functions)
		if (device->pci && function->pci == device->pci)
			return true;
	list_each(port, &host->health->ports)
		if (!strcmp(port->device, device->name) && says_something(port))
			return true;
	list_each(port, &device->ports)
		for (uint32_t i = 0; i < port->netdevs.count; i++)
			list_each(netdev, &host->health->netdevs)
				if (port->netdevs.items[i]->netdev &&
				        !strcmp(netdev->name, port->netdevs.items[i]->netdev->name))
					return true;
	return false;
}

static void print_nothing(const struct host *host, const struct rdma_device *device, FILE *stream)
{
	uint32_t netdevs = 0;
	list_each(port, &device->ports)
		netdevs += port->netdevs.count;
	fprintf(stream, "%s: no interrupts, quality of service or wire: %s\n", device->name,
	        netdevs && !device->pci            ? "it is no PCI function, and none of its netdevs has hardware"
	        : !device->pci                     ? "it is no PCI function, and no netdev of it is here"
	        : host->report.not_collected.count ? "what was asked for did not answer, see below"
	                                           : "the kernel has nothing of them for this device");
}

static void print_interrupts(const struct function_interrupts *function, FILE *stream)
{
	if (!function->interrupts.count) {
		fprintf(stream, "%s: no interrupts\n", function->address);
		return;
	}
	fprintf(stream, "%s: %u interrupt%s, ", function->address, function->interrupts.count,
	        plural(function->interrupts.count));
	if (!function->completions.known) {
		fputs("not known how many for completions\n", stream);
		return;
	}
	fprintf(stream, "%" PRId64 " for completions, ", function->completions.value);
	if (function->remote.known)
		fprintf(stream, "%" PRId64 " of these on other nodes\n", function->remote.value);
	else
		fputs("not known how many of these on other nodes\n", stream);
}

void health_print(const struct host *host, FILE *stream)
{
	const struct health *health = host->health;
	struct line line;
	list_each(netdev, &health->netdevs)
		if (begin_line(&line)) {
			print_netdev(netdev, line.stream);
			end_line(&line, stream, "%s", netdev->name);
		}
	list_each(port, &health->ports)
		if (begin_line(&line)) {
			print_port(port, line.stream);
			end_line(&line, stream, "%s/%" PRId64, port->device, port->number.value);
		}
	list_each(function, &health->functions)
		print_interrupts(function, stream);
	if (health->reporters.count)
		fprintf(stream, "%u devlink health reporter%s\n", health->reporters.count,
		        plural(health->reporters.count));
	list_each(rule, &health->filters.rules) {
		fprintf(stream, "%s: drops UDP port 4791", rule->name ? rule->name : "a rule");
		if (rule->packets.known)
			fprintf(stream, ", %" PRId64 " packet%s so far", rule->packets.value,
			        plural(rule->packets.value));
		fputc('\n', stream);
	}
	list_each(qdisc, &health->filters.qdiscs) {
		fputs(qdisc->text ? qdisc->text : "netem", stream);
		if (qdisc->drops.known)
			fprintf(stream, ", %" PRId64 " packet%s dropped so far", qdisc->drops.value,
			        plural(qdisc->drops.value));
		fputc('\n', stream);
	}
	list_each(device, &host->devices)
		if (!has_line(host, device))
			print_nothing(host, device, stream);
}
