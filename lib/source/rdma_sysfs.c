/* SPDX-License-Identifier: MIT */
#include "source/rdma_sysfs.h"
#include "source/rdma_words.h"
#include "source/sysfs.h"

#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS "sys/class/infiniband"
#define VIRTUAL "sys/devices/virtual/infiniband"

static int list_names(struct origin *origin, struct host *host, const char *path, struct strings *names)
{
	origin_about(origin, RDMA_LISTS);
	int error = origin_list(origin, host->arena, path, names);
	origin_about(origin, "host");
	return error;
}

int rdma_sysfs_list(struct origin *origin, struct host *host)
{
	struct strings names;
	int error = list_names(origin, host, CLASS, &names);
	for (uint32_t i = 0; !error && i < names.count; i++) {
		struct rdma_device *device = list_add(host->arena, &host->devices);
		if (!device)
			return -ENOMEM;
		device->name = names.items[i];
		if (host_index_device(host, device))
			return -ENOMEM;
	}
	return error;
}

void rdma_sysfs_find_virtual(struct origin *origin, struct host *host)
{
	struct strings names;
	int error = list_names(origin, host, VIRTUAL, &names);
	for (uint32_t i = 0; !error && i < names.count; i++) {
		struct rdma_device *device = host_device(host, names.items[i]);
		if (device)
			device->virtual_path = arena_printf(host->arena, VIRTUAL "/%s", names.items[i]);
	}
}

bool rdma_sysfs_has_no_class(struct origin *origin, struct host *host)
{
	struct strings names;
	int error = list_names(origin, host, CLASS, &names);
	return error == -ENOENT;
}

/* Which devices have a uverbs device is not known when it could not be looked at. */
static void note_unasked(struct host *host, int error)
{
	list_each(device, &host->devices)
		if (!device->from_netlink)
			device->uverbs.asked = error;
}

void rdma_sysfs_uverbs(struct origin *origin, struct host *host)
{
	struct strings names;
	origin_about(origin, RDMA_LISTS);
	int error = origin_list(origin, host->arena, RDMA_VERBS_CLASS, &names);
	if (error)
		note_unasked(host, error);
	for (uint32_t i = 0; !error && i < names.count; i++) {
		errno = 0;
		const char *name = sysfs_text(origin, host->arena, RDMA_VERBS_CLASS "/%s/ibdev", names.items[i]);
		if (!name && errno == ETIMEDOUT)
			note_unasked(host, -ETIMEDOUT);
		struct rdma_device *device = name ? host_device(host, name) : NULL;
		if (device && !device->uverbs.path)
			device->uverbs.path = arena_printf(host->arena, "/dev/infiniband/%s", names.items[i]);
	}
	origin_about(origin, "host");
}

struct num rdma_sysfs_code(const char *text)
{
	char *end;
	if (!text)
		return (struct num){ 0 };
	long code = strtol(text, &end, 10);
	return end != text && (*end == ':' || !*end) ? num(code) : (struct num){ 0 };
}

/* ---- the device itself ---- */

static const char *guid_of(struct origin *origin, struct host *host, const struct rdma_device *device, const char *what)
{
	uint64_t guid;
	char text[GUID_TEXT_SIZE];
	const char *read = sysfs_text(origin, host->arena, CLASS "/%s/%s", device->name, what);
	if (!read || parse_guid(read, &guid)) {
		sysfs_missing(host, what, device->name, read ? EINVAL : errno);
		return NULL;
	}
	format_guid(guid, text);
	return arena_strdup(host->arena, text);
}

static void read_identity(struct origin *origin, struct host *host, struct rdma_device *device)
{
	device->node_guid = guid_of(origin, host, device, "node_guid");
	device->sys_image_guid = guid_of(origin, host, device, "sys_image_guid");
	device->node_type = rdma_sysfs_code(sysfs_text(origin, host->arena, CLASS "/%s/node_type", device->name));
	device->fw_version = sysfs_text(origin, host->arena, CLASS "/%s/fw_ver", device->name);
	if (!device->fw_version)
		sysfs_missing(host, "fw_version", device->name, errno);
}

/* Drivers without firmware give an empty text, or no file. */
/* Drivers write "N/A" as well of what they do not have. */
static const char *unless_empty(const char *text)
{
	return text && *text && strcmp(text, "N/A") != 0 ? text : NULL;
}

/* The words that the software drivers set (rxe_verbs.c, siw_main.c); read only where nothing else names the driver. */
static void read_software_driver(struct origin *origin, struct host *host, struct rdma_device *device)
{
	const char *text = sysfs_text(origin, host->arena, CLASS "/%s/node_desc", device->name);
	if (text && !strcmp(text, "rxe"))
		device->driver = "rdma_rxe";
	else if (text && !strncmp(text, "Software iWARP", 14))
		device->driver = "siw";
	if (device->driver)
		device->software = FLAG_YES;
}

static void read_driver(struct origin *origin, struct host *host, struct rdma_device *device)
{
	const char *name = rdma_driver_name(device->driver_id);
	if (rdma_driver_is_software(device->driver_id))
		device->software = FLAG_YES;
	else if (name || device->parent_path)
		device->software = FLAG_NO;
	device->driver = name; /* the join prefers the driver bound to the function */
	if (!name && !device->parent_path)
		read_software_driver(origin, host, device);
}

static void read_board_id(struct origin *origin, struct host *host, struct rdma_device *device)
{
	errno = 0;
	device->board_id = unless_empty(sysfs_text(origin, host->arena, CLASS "/%s/board_id", device->name));
	if (!device->board_id)
		sysfs_missing(host, "board_id", device->name, errno);
}

void rdma_sysfs_access(struct origin *origin, struct host *host, struct rdma_device *device)
{
	struct uverbs *uverbs = &device->uverbs;
	origin_about(origin, device->name);
	if (!uverbs->path && uverbs->asked == -ETIMEDOUT) {
		uverbs->reason = "not known: asking for its uverbs device did not answer by the deadline";
		report_missing(&host->report, "uverbs", device->name, -ETIMEDOUT, "%s", uverbs->reason);
		return;
	}
	if (!uverbs->path) {
		uverbs->accessible = FLAG_NO;
		uverbs->reason = "the device has no uverbs device: management only, or ib_uverbs is not loaded";
		return;
	}
	int error = origin_access(origin, uverbs->path + 1); /* names of an origin begin without a slash */
	if (error == -ETIMEDOUT) {
		uverbs->reason = "not known: looking at it did not answer by the deadline";
		report_missing(&host->report, "accessible", device->name, error, "%s", uverbs->reason);
		return;
	}
	uverbs->accessible = flag(!error);
	uverbs->refused = error;
	if (error == -ENOENT)
		uverbs->reason = arena_printf(host->arena, "no device node %s here", uverbs->path);
	else if (error)
		uverbs->reason = arena_printf(host->arena, "%s: %s", uverbs->path, strerror(-error));
}

/* ---- ports ---- */

static void list_ports(struct origin *origin, struct host *host, struct rdma_device *device)
{
	char path[SYSFS_PATH_SIZE];
	struct strings names;
	snprintf(path, sizeof(path), CLASS "/%s/ports", device->name);
	int error = origin_list(origin, host->arena, path, &names);
	if (error)
		sysfs_missing(host, "ports", device->name, -error);
	for (uint32_t i = 0; i < names.count; i++) {
		struct num number = parse_num(names.items[i], 10);
		struct port *port = number.known ? list_add(host->arena, &device->ports) : NULL;
		if (port)
			port->number = number;
	}
}

struct reading {
	struct origin *origin;
	struct host *host;
	struct rdma_device *device;
	struct port *port;
	char subject[PORT_LABEL_SIZE];
};

static char *port_text(struct reading *reading, const char *file)
{
	char path[SYSFS_PATH_SIZE], digits[NUMBER_TEXT_SIZE];
	const char *number = text_number((uint64_t)reading->port->number.value, digits);
	const char *virtual = reading->device->virtual_path; /* a shorter way: the class has links */
	if (text_join(path, sizeof(path), virtual ? virtual : CLASS "/", virtual ? "" : reading->device->name,
	            "/ports/", number, "/", file)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return origin_text(reading->origin, reading->host->arena, path);
}

static struct num port_code(struct reading *reading, const char *file, const char *what)
{
	const char *text = port_text(reading, file);
	if (!text)
		sysfs_missing(reading->host, what, reading->subject, errno);
	return rdma_sysfs_code(text);
}

static void read_state(struct reading *reading)
{
	struct port *port = reading->port;
	if (!port->state_code.known)
		port->state_code = port_code(reading, "state", "state");
	if (!port->physical_state_code.known)
		port->physical_state_code = port_code(reading, "phys_state", "physical_state");
	port->state = rdma_port_state(port->state_code);
	port->physical_state = rdma_physical_state(port->physical_state_code);
	if (!port->state && port->state_code.known)
		report_missing(&reading->host->report, "state", reading->subject, 0, "the code %d is not known here",
		        (int)port->state_code.value);
	if (!port->physical_state && port->physical_state_code.known)
		report_missing(&reading->host->report, "physical_state", reading->subject, 0,
		        "the code %d is not known here", (int)port->physical_state_code.value);
}

static void read_link_layer(struct reading *reading)
{
	struct port *port = reading->port;
	/* The kernel's default for an RNIC (verbs.c, rdma_port_get_link_layer). */
	if (!port->link_layer && num_is(reading->device->node_type, RDMA_NODE_RNIC))
		port->link_layer = LINK_LAYER_ETHERNET;
	if (!port->link_layer) {
		const char *text = port_text(reading, "link_layer");
		if (!text)
			sysfs_missing(reading->host, "link_layer", reading->subject, errno);
		port->link_layer = (int)rdma_link_layer(text);
	}
	port->transport = (int)rdma_transport(reading->device->node_type, (enum link_layer)port->link_layer);
}

static void read_rate(struct reading *reading)
{
	struct port *port = reading->port;
	errno = 0;
	port->rate_text = unless_empty(port_text(reading, "rate"));
	if (port->rate_text)
		port->rate_text += strspn(port->rate_text, " ");
	port->rate_mbps = rdma_rate_mbps(port->rate_text);
	if (!port->rate_text)
		sysfs_missing(reading->host, "rate_gbps", reading->subject, errno ? errno : ENODATA);
	else if (!port->rate_mbps.known)
		report_missing(
		        &reading->host->report, "rate_gbps", reading->subject, 0, "\"%s\" is no rate", port->rate_text);
}

static struct num read_lid(struct reading *reading, const char *file)
{
	const char *text = port_text(reading, file);
	struct num lid = parse_num(text, 16);
	if (!text)
		sysfs_missing(reading->host, file, reading->subject, errno);
	else if (!lid.known)
		report_missing(&reading->host->report, file, reading->subject, 0, "\"%s\" is no LID", text);
	return lid;
}

static void read_lids(struct reading *reading)
{
	struct port *port = reading->port;
	if (port->lid.known || port->link_layer != LINK_LAYER_INFINIBAND)
		return;
	port->lid = read_lid(reading, "lid");
	port->sm_lid = read_lid(reading, "sm_lid");
}

static void read_gid0(struct reading *reading)
{
	const char *text = port_text(reading, "gids/0");
	reading->port->gid0_known = flag(text && !parse_gid(text, reading->port->gid0));
}

/*
 * The netdev that GIDs belong to, where netlink did not name one. Most slots are empty and answer EINVAL, so not all
 * are tried.
 */
static void read_netdev(struct reading *reading)
{
	enum { SLOTS = 32 };
	struct port *port = reading->port;
	char file[64];
	for (int i = 0; i < SLOTS && !port->netdev_name; i++) {
		snprintf(file, sizeof(file), "gid_attrs/ndevs/%d", i);
		errno = 0;
		port->netdev_name = unless_empty(port_text(reading, file));
		if (!port->netdev_name && errno == ENOENT)
			return; /* the end of the table, or a kernel without gid_attrs */
		if (!port->netdev_name && errno == ETIMEDOUT) {
			port->netdev_unknown = true;
			sysfs_missing(reading->host, "netdevs", reading->subject, ETIMEDOUT);
			return;
		}
	}
	if (port->netdev_name)
		port->netdev_source = SOURCE_SYSFS;
}

/* Sysfs has names of other namespaces, too, so this one needs to be proved (join_netdev.c). */
static void read_claim(struct reading *reading)
{
	enum { SLOTS = 8 };
	struct port *port = reading->port;
	char file[64];
	for (int i = 0; i < SLOTS && !port->claimed_netdev; i++) {
		snprintf(file, sizeof(file), "gid_attrs/ndevs/%d", i);
		const char *name = unless_empty(port_text(reading, file));
		snprintf(file, sizeof(file), "gids/%d", i);
		const char *gid = name ? port_text(reading, file) : NULL;
		if (gid && !parse_gid(gid, port->claimed_gid))
			port->claimed_netdev = name;
	}
}

static void complete_port(
        struct origin *origin, struct host *host, struct rdma_device *device, struct port *port, bool guids)
{
	struct reading reading = { origin, host, device, port, "" };
	port_label(device->name, port->number, reading.subject);
	read_state(&reading);
	read_link_layer(&reading);
	read_rate(&reading);
	read_lids(&reading);
	if (port->link_layer == LINK_LAYER_INFINIBAND && guids)
		read_gid0(&reading);
	/* Netlink hides a netdev of another namespace, sysfs does not: its name would mean another netdev here. */
	if (port->link_layer == LINK_LAYER_ETHERNET && port->netdev_source == SOURCE_UNKNOWN)
		read_netdev(&reading);
	else if (port->link_layer == LINK_LAYER_ETHERNET && !host_netlink_names_netdevs(host))
		read_claim(&reading);
}

static void read_parent(struct origin *origin, struct host *host, struct rdma_device *device)
{
	device->parent_path = sysfs_device_path(origin, host->arena, CLASS, device->name);
	if (!device->parent_path && errno == ENOENT) {
		report_missing(&host->report, "device", device->name, -ENOENT, "it went away while it was read");
		device->gone = true;
	}
	if (!device->parent_path)
		sysfs_missing(host, "pci", device->name, errno);
}

/* Files of a device that was there a moment ago are missing: is it still? */
static void look_again(struct origin *origin, struct host *host, struct rdma_device *device)
{
	list_each(port, &device->ports)
		if (!port->rate_text && device->virtual_path && !device->gone)
			read_parent(origin, host, device);
}

/* Every port has these: a file that is not there leaves them unknown, unlike one of what a driver may lack. */
static void tell_absent(struct host *host, const struct rdma_device *device, const struct port *port)
{
	bool infiniband = port->link_layer == LINK_LAYER_INFINIBAND;
	const struct {
		const char *what;
		bool unknown;
	} facts[] = {
		{ "state", !port->state },
		{ "physical_state", !port->physical_state },
		{ "link_layer", !port->link_layer },
		{ "rate_gbps", !port->rate_mbps.known },
		{ "lid", infiniband && !port->lid.known },
		{ "sm_lid", infiniband && !port->sm_lid.known },
	};
	char subject[PORT_LABEL_SIZE];
	port_label(device->name, port->number, subject);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].unknown)
			report_missing(&host->report, facts[i].what, subject, -ENOENT, NULL);
}

void rdma_sysfs_complete(struct origin *origin, struct host *host, struct rdma_device *device, bool guids)
{
	origin_about(origin, device->name);
	if (!device->virtual_path)
		read_parent(origin, host, device);
	if (!device->from_netlink)
		read_identity(origin, host, device);
	device->fw_version = unless_empty(device->fw_version);
	read_driver(origin, host, device);
	if (device->software != FLAG_YES) /* software has no board */
		read_board_id(origin, host, device);
	if (!device->ports.count)
		list_ports(origin, host, device);
	list_each(port, &device->ports)
		complete_port(origin, host, device, port, guids);
	look_again(origin, host, device);
	for (uint32_t i = 0; !device->gone && i < device->ports.count; i++)
		tell_absent(host, device, device->ports.items[i]);
}
