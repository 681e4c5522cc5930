/* SPDX-License-Identifier: MIT */
#include "source/rdma_sysfs.h"

#include "base/cleanup.h"
#include "source/rdma_nl.h"
#include "source/rdma_port.h"
#include "source/rdma_words.h"
#include "source/sysfs.h"

#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS "sys/class/infiniband"
#define VIRTUAL "sys/devices/virtual/infiniband"

static const char no_devices[] = "sysfs shows no RDMA device here: it is not mounted, or masked";
static const char other_namespace[] =
        "sysfs does not show it, though netlink does: what is mounted is the sysfs of another network namespace";

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

bool rdma_sysfs_is_hidden(struct origin *origin, struct host *host)
{
	static const char *const always[] = { "sys/class", "sys/bus", "sys/devices" };
	struct strings names;
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		if (list_names(origin, host, always[i], &names) != -ENOENT)
			return false;
	return true;
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
	const char *type = sysfs_text(origin, host->arena, CLASS "/%s/node_type", device->name);
	device->node_type = rdma_sysfs_code(type);
	if (!type)
		sysfs_missing(host, "transport", device->name, errno);
	else if (!device->node_type.known)
		report_missing(
		        &host->report, "transport", device->name, 0, "node_type \"%s\" begins with no code", type);
	device->fw_version = sysfs_text(origin, host->arena, CLASS "/%s/fw_ver", device->name);
	if (!device->fw_version)
		sysfs_missing(host, "fw_version", device->name, errno);
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
	device->board_id = rdma_text_or_null(sysfs_text(origin, host->arena, CLASS "/%s/board_id", device->name));
	if (!device->board_id)
		sysfs_missing(host, "board_id", device->name, errno);
}

/* Nobody answered; other errors are the answer that there is none. */
static bool could_not_ask(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -ENOBUFS || error == -EACCES ||
	       error == -EPERM;
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
	if (!uverbs->path && could_not_ask(uverbs->asked)) {
		uverbs->reason = arena_printf(
		        host->arena, "not known: asking for its uverbs device: %s", strerror(-uverbs->asked));
		report_missing(&host->report, "uverbs", device->name, uverbs->asked, "%s", uverbs->reason);
		return;
	}
	if (!uverbs->path && (host->no_class || device->unseen)) {
		uverbs->reason = host->no_class ? no_devices : other_namespace;
		report_missing(&host->report, "uverbs", device->name, -ENOENT, "%s", uverbs->reason);
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

/*
 * A container is given it by itself. Where the module is not loaded there is no node either, and librdmacm has the
 * kernel load it.
 */
void rdma_sysfs_cm_access(struct origin *origin, struct host *host)
{
	static const char node[] = "/dev/infiniband/rdma_cm";
	origin_about(origin, "host");
	if (!sysfs_number(origin, "sys/class/misc/rdma_cm/abi_version").known)
		return;
	int error = origin_access(origin, node + 1); /* names of an origin begin without a slash */
	if (error == -ENOENT)
		host->cm_refused = arena_printf(host->arena, "no device node %s here", node);
	else if (error && error != -ETIMEDOUT)
		host->cm_refused = arena_printf(host->arena, "%s: %s", node, strerror(-error));
}

static void read_parent(struct origin *origin, struct host *host, struct rdma_device *device)
{
	device->parent_path = sysfs_device_path(origin, host->arena, CLASS, device->name);
	int error = device->parent_path ? 0 : errno;
	/* A shell that entered only the network namespace (nsenter --net) still has the sysfs of another one. */
	if (error == ENOENT && (host->no_class || rdma_sysfs_has_no_class(origin, host))) {
		host->no_class = device->unseen = true;
		report_missing(&host->report, "pci", device->name, -ENOENT, "%s", no_devices);
	} else if (error == ENOENT && rdma_nl_lists(origin, device)) {
		device->unseen = true;
		report_missing(&host->report, "pci", device->name, -ENOENT, "%s", other_namespace);
	} else if (error == ENOENT) {
		report_missing(&host->report, "device", device->name, -ENOENT, "it went away while it was read");
		device->gone = true;
	} else if (error) {
		sysfs_missing(host, "pci", device->name, error);
	}
}

/* Files of a device that was there a moment ago are missing: is it still? */
static void look_again(struct origin *origin, struct host *host, struct rdma_device *device)
{
	list_each(port, &device->ports)
		if (!port->rate_text && device->virtual_path && !device->gone)
			read_parent(origin, host, device);
}

void rdma_sysfs_complete(struct origin *origin, struct host *host, struct rdma_device *device, bool guids)
{
	origin_about(origin, device->name);
	if (!device->virtual_path)
		read_parent(origin, host, device);
	if (!device->from_netlink)
		read_identity(origin, host, device);
	device->fw_version = rdma_text_or_null(device->fw_version);
	read_driver(origin, host, device);
	if (device->software != FLAG_YES) /* software has no board */
		read_board_id(origin, host, device);
	if (!device->ports.count)
		list_ports(origin, host, device);
	list_each(port, &device->ports)
		rdma_port_complete(origin, host, device, port, guids);
	look_again(origin, host, device);
	for (uint32_t i = 0; !device->gone && i < device->ports.count; i++)
		rdma_port_tell_absent(host, device, device->ports.items[i]);
}
