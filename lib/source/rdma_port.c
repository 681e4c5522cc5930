/* SPDX-License-Identifier: MIT */
#include "source/rdma_port.h"

#include "base/text.h"
#include "source/rdma_sysfs.h"
#include "source/rdma_words.h"
#include "source/sysfs.h"

#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS "sys/class/infiniband"

struct num rdma_sysfs_code(const char *text)
{
	char *end;
	if (!text)
		return (struct num){ 0 };
	long code = strtol(text, &end, 10);
	return end != text && (*end == ':' || !*end) ? num(code) : (struct num){ 0 };
}

/* Drivers without firmware give an empty text, no file, or "N/A". */
const char *rdma_text_or_null(const char *text)
{
	return text && *text && strcmp(text, "N/A") != 0 ? text : NULL;
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
	struct num code = rdma_sysfs_code(text);
	if (!text)
		sysfs_missing(reading->host, what, reading->subject, errno);
	else if (!code.known)
		report_missing(&reading->host->report, what, reading->subject, 0, "\"%s\" begins with no code", text);
	return code;
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
		if (text && !port->link_layer)
			report_missing(&reading->host->report, "link_layer", reading->subject, 0,
			        "\"%s\" is no link layer known here", text);
	}
	port->transport = (int)rdma_transport(reading->device->node_type, (enum link_layer)port->link_layer);
}

static void read_rate(struct reading *reading)
{
	struct port *port = reading->port;
	port->rate_text = rdma_text_or_null(port_text(reading, "rate"));
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
		port->netdev_name = rdma_text_or_null(port_text(reading, file));
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
		const char *name = rdma_text_or_null(port_text(reading, file));
		snprintf(file, sizeof(file), "gids/%d", i);
		const char *gid = name ? port_text(reading, file) : NULL;
		if (gid && !parse_gid(gid, port->claimed_gid))
			port->claimed_netdev = name;
	}
}

void rdma_port_complete(
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

/* Every port has these: a file that is not there leaves them unknown, unlike one of what a driver may lack. */
void rdma_port_tell_absent(struct host *host, const struct rdma_device *device, const struct port *port)
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
