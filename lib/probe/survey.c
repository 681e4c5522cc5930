/* SPDX-License-Identifier: MIT */
#include "probe/survey.h"

#include "gid/address.h"
#include "gid/choose.h"
#include "gid/elsewhere.h"
#include "gid/judge.h"
#include "gid/read.h"
#include "source/collect.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---- */

static int read_gids(struct origin *origin, struct host *host, void *document)
{
	struct gid_read_options options = { .source = GID_SOURCE_BEST };
	*(struct gid_document *)document = (struct gid_document){ 0 };
	return gid_read(origin, host, &options, document);
}

static int advise(struct survey *survey)
{
	struct gid_environment environment = { .variables = environ };
	int result = gid_judge(survey->host, survey->gids);
	if (!result)
		gid_elsewhere_join(survey->host, survey->gids);
	return result ? result : gid_explain(survey->host, &environment, survey->gids);
}

int survey_read(struct survey *survey, struct error *error)
{
	struct origin *origin __attribute__((cleanup(origin_closep))) = origin_live();
	*survey = (struct survey){ .host = host_new() };
	if (survey->host)
		survey->gids = arena_new_object(survey->host->arena, struct gid_document);
	if (!origin || !survey->gids)
		return error_set(error, -ENOMEM, "looking at this host");
	struct collect_options options = { .more = read_gids, .data = survey->gids };
	int result = collect_host(origin, survey->host, &options, &survey->error);
	if (result == -EINTR) {
		*error = survey->error;
		return result;
	}
	if (result)
		return 0; /* survey->error says which device is missing */
	result = advise(survey);
	return result ? error_set(error, result, "choosing GIDs of this host") : 0;
}

static bool is_other_port(const struct rdma_device *device, const struct port *port, const char *name, int number)
{
	bool same = !strcmp(device->name, name) && num_is(port->number, number);
	return !same && port_is_active(port) && device->uverbs.accessible != FLAG_NO;
}

static int transport_of(const struct host *host, const char *name, int number)
{
	const struct rdma_device *device = host_device(host, name);
	list_each(port, device ? &device->ports : &(struct rdma_device){ 0 }.ports)
		if (num_is(port->number, number))
			return port->transport;
	return TRANSPORT_UNKNOWN;
}

void survey_other_ports(
        const struct survey *survey, struct arena *arena, const char *device, int port, struct strings *names)
{
	int transport = transport_of(survey->host, device, port);
	list_each(other, &survey->host->devices)
		list_each(candidate, &other->ports) {
			if (names->count == OTHER_PORTS || transport == TRANSPORT_UNKNOWN ||
			        candidate->transport != transport || !is_other_port(other, candidate, device, port))
				continue;
			const char *name = arena_printf(arena, "%s/%" PRId64, other->name, candidate->number.value);
			if (name)
				strings_add(arena, names, name);
		}
}

void survey_free(struct survey *survey)
{
	host_free(survey->host);
	*survey = (struct survey){ 0 };
}

/* ---- names ---- */

static struct num port_of_netdev(const struct rdma_device *device, const char *name)
{
	list_each(port, &device->ports)
		list_each(netdev, &port->netdevs)
			if (netdev->name && !strcmp(netdev->name, name))
				return port->number;
	return (struct num){ 0 };
}

static int check_port(const struct rdma_device *device, struct num port, struct error *error)
{
	if (!port.known || !device->ports.count || device_port(device, port.value))
		return 0;
	return collect_unknown_port(device, device->name, port.value, -EINVAL, error);
}

int survey_resolve(
        const struct survey *survey, const char *name, const char **device, struct num *port, struct error *error)
{
	const struct rdma_device *found = survey->host ? collect_find_device(survey->host, name) : NULL;
	if (!found && (!survey->host || !survey->host->devices.count))
		return survey_choose(survey, NULL, device, port, error);
	if (!found)
		return collect_unknown_device(survey->host, name, error);
	if (!port->known)
		*port = port_of_netdev(found, name);
	*device = found->name;
	return check_port(found, *port, error);
}

static bool address_of_netdev(const struct netdev *netdev, const uint8_t *near, uint8_t gid[static 16])
{
	list_each(address, &netdev->addresses) {
		gid_from_address(address, gid);
		if (near ? !memcmp(near, gid, 16) : !gid_is_link_local(gid, true))
			return true;
	}
	return false;
}

bool survey_address(
        const struct survey *survey, const char *device, int64_t port, const uint8_t *near, uint8_t gid[static 16])
{
	const struct rdma_device *found = survey->host ? host_device(survey->host, device) : NULL;
	const struct port *on = found ? device_port(found, port) : NULL;
	for (int pass = near ? 0 : 1; on && pass < 2; pass++)
		list_each(reference, &on->netdevs) {
			const struct netdev *netdev = host_netdev_by_name(survey->host, reference->name);
			if (netdev && address_of_netdev(netdev, pass ? NULL : near, gid))
				return true;
		}
	return false;
}

int survey_check_node(const struct survey *survey, const char *node, struct error *error)
{
	struct num wanted = parse_num(node, 10);
	if (!wanted.known || !survey->host || !survey->host->numa_nodes.count)
		return 0;
	const struct numa_node *found = host_node(survey->host, wanted.value);
	if (found && !num_is(found->memory_bytes, 0))
		return 0;
	if (found)
		return error_say(error, -EINVAL, "NUMA node %s has no memory", node);
	char list[64] = "";
	size_t used = 0;
	list_each(each, &survey->host->numa_nodes)
		if (used + 8 < sizeof(list))
			used += (size_t)snprintf(
			        list + used, sizeof(list) - used, "%s%d", used ? ", " : "", (int)each->id.value);
	return error_say(error, -EINVAL, "this host has no NUMA node %s, only %s", node, list);
}

/* ---- a device for those who did not ask for one ---- */

static bool take_by_address(const struct survey *survey, const uint8_t *address, const char **device, struct num *port)
{
	list_each(entry, &survey->gids->entries) {
		if (memcmp(entry->bytes, address, sizeof(entry->bytes)) != 0)
			continue;
		*device = entry->device;
		*port = entry->port;
		return true;
	}
	return false;
}

/* iWARP has its MAC in the GID table; the address is one of its netdev. */
static bool take_by_netdev(const struct survey *survey, const uint8_t *address, const char **device, struct num *port)
{
	uint8_t gid[16];
	list_each(candidate, &survey->host->devices) {
		list_each(found, &candidate->ports) {
			if (!found->number.known ||
			        !survey_address(survey, candidate->name, found->number.value, address, gid) ||
			        memcmp(gid, address, sizeof(gid)) != 0)
				continue;
			*device = candidate->name;
			*port = found->number;
			return true;
		}
	}
	return false;
}

static bool take_active(const struct host *host, const char **device, struct num *port)
{
	list_each(candidate, &host->devices) {
		if (candidate->uverbs.accessible == FLAG_NO)
			continue;
		list_each(found, &candidate->ports) {
			if (!port_is_active(found))
				continue;
			*device = candidate->name;
			*port = found->number;
			return true;
		}
	}
	return false;
}

int survey_choose(
        const struct survey *survey, const uint8_t *address, const char **device, struct num *port, struct error *error)
{
	if (!survey->host || !survey->host->devices.count)
		return error_say(error, survey->error.code ? survey->error.code : -ENODEV, "%s",
		        survey->error.code ? survey->error.text : "no RDMA device");
	if (address &&
	        (take_by_address(survey, address, device, port) || take_by_netdev(survey, address, device, port)))
		return 0;
	if (!take_active(survey->host, device, port))
		*device = survey->host->devices.items[0]->name;
	return 0;
}

struct num survey_gid_index(const struct survey *survey, const char *device, int64_t port)
{
	if (survey->gids)
		list_each(choice, &survey->gids->choices)
			if (!strcmp(choice->consumer, "rdmadiag") && !strcmp(choice->device, device) &&
			        num_is(choice->port, port))
				return choice->index;
	return (struct num){ 0 };
}

/* ---- facts ---- */

/* Of a port without a PCI function of its own: the node that its netdevs and their members share. */
static void share_node(struct num node, struct num *shared, bool *differs)
{
	*differs |= node.known && shared->known && node.value != shared->value;
	if (node.known)
		*shared = node;
}

static struct num node_of_port(const struct port *port)
{
	struct num shared = { 0 };
	bool differs = false;
	list_each(netdev, &port->netdevs) {
		share_node(netdev->numa_node, &shared, &differs);
		if (netdev->bond)
			list_each(member, &netdev->bond->members)
				share_node(member->numa_node, &shared, &differs);
	}
	return differs ? (struct num){ 0 } : shared;
}

/* Of what the survey could not find out, the facts that this document has. */
static bool is_ours(const struct not_collected *entry, const char *device)
{
	size_t length = strlen(device);
	bool about =
	        !strncmp(entry->subject, device, length) && (!entry->subject[length] || entry->subject[length] == '/');
	return about && (!strcmp(entry->what, "driver") || !strcmp(entry->what, "fw_version") ||
	                        !strcmp(entry->what, "numa_node"));
}

static void tell_missing(const struct survey *survey, const struct endpoint_facts *facts, struct report *report)
{
	list_each(entry, &survey->host->report.not_collected)
		if (is_ours(entry, facts->device))
			report_missing(
			        report, entry->what, entry->subject, (int)-entry->error.value, "%s", entry->reason);
	if (!facts->driver)
		report_missing(report, "driver", facts->device, 0, "the kernel does not tell it");
}

void survey_describe(const struct survey *survey, struct endpoint_facts *facts, struct report *report)
{
	const struct rdma_device *device = survey->host ? host_device(survey->host, facts->device) : NULL;
	if (!device)
		return;
	facts->driver = device->driver;
	facts->fw_version = device->fw_version;
	const struct port *port = facts->port.known ? device_port(device, facts->port.value) : NULL;
	if (device->pci)
		facts->numa_node = device->pci->numa_node;
	else if (port)
		facts->numa_node = node_of_port(port);
	tell_missing(survey, facts, report);
}

/* What a VLAN lies on; NULL: it is none, or that is not known. */
static const char *below_vlan(struct origin *origin, struct arena *arena, const char *netdev)
{
	static const char lower[] = "lower_";
	char path[PATH_MAX], uevent[256];
	struct strings names = { 0 };
	snprintf(path, sizeof(path), "sys/class/net/%s/uevent", netdev);
	bool vlan = origin_read(origin, path, uevent, sizeof(uevent)) > 0 && strstr(uevent, "DEVTYPE=vlan");
	snprintf(path, sizeof(path), "sys/class/net/%s", netdev);
	if (!vlan || origin_list(origin, arena, path, &names))
		return NULL;
	for (uint32_t i = 0; i < names.count; i++)
		if (!strncmp(names.items[i], lower, strlen(lower)))
			return names.items[i] + strlen(lower);
	return NULL;
}

/* The port follows what lies below all VLANs. */
static const char *without_vlans(struct origin *origin, struct arena *arena, const char *netdev)
{
	enum { DEPTH = 4 };
	const char *found = netdev, *next;
	for (int i = 0; i < DEPTH && (next = below_vlan(origin, arena, found)); i++)
		found = next;
	return found;
}

void describe_netdev(struct origin *origin, struct arena *arena, struct endpoint_facts *facts)
{
	char path[PATH_MAX];
	if (!facts->gid_index.known)
		return;
	snprintf(path, sizeof(path), "sys/class/infiniband/%s/ports/%d/gid_attrs/ndevs/%d", facts->device,
	        (int)facts->port.value, (int)facts->gid_index.value);
	const char *netdev = origin_text(origin, arena, path);
	if (netdev)
		facts->netdev = netdev;
	if (!facts->netdev)
		return;
	snprintf(path, sizeof(path), "sys/class/net/%s/mtu", facts->netdev);
	facts->netdev_mtu = origin_number(origin, path, 10);
	const char *port = without_vlans(origin, arena, facts->netdev);
	facts->port_netdev = port == facts->netdev ? NULL : port;
	snprintf(path, sizeof(path), "sys/class/net/%s/flags", port);
	struct num flags = origin_number(origin, path, 16);
	if (flags.known)
		facts->netdev_up = flag(flags.value & IFF_UP);
}
