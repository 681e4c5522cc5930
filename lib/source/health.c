/* SPDX-License-Identifier: MIT */
#include "source/health.h"
#include "base/cleanup.h"
#include "source/dcb.h"
#include "source/devlink.h"
#include "source/ethtool.h"
#include "source/genl.h"
#include "source/irq.h"
#include "source/sl_vl.h"
#include "source/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- netdevs ---- */

/* Of struct rtnl_link_stats64, where a driver sums up what was lost. */
static const char *const net_counters[] = { "rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_crc_errors",
	"rx_missed_errors", "rx_fifo_errors", "tx_carrier_errors" };

static void read_counter(struct origin *origin, struct host *host, struct health_counter *counter, const char *path)
{
	counter->source = "sysfs";
	counter->value = sysfs_number(origin, "%s", path);
	if (!counter->value.known && errno != ENOENT)
		sysfs_missing(host, counter->name, origin_subject(origin), errno);
}

static struct num read_carrier(struct origin *origin, struct host *host, const struct netdev_health *health,
        const char *what, const char *file)
{
	struct num number = sysfs_number(origin, "sys/class/net/%s/%s", health->name, file);
	if (number.known)
		return number;
	if (errno == ENOENT)
		report_missing(&host->report, what, origin_subject(origin), -ENOENT, "sysfs has no file %s", file);
	else
		sysfs_missing(host, what, origin_subject(origin), errno);
	return number;
}

static void read_net_files(struct origin *origin, struct host *host, struct netdev_health *health)
{
	char path[SYSFS_PATH_SIZE];
	health->carrier_changes = read_carrier(origin, host, health, "carrier_changes", "carrier_changes");
	/* Since Linux 4.16 (net/core/net-sysfs.c). */
	health->carrier_down = read_carrier(origin, host, health, "carrier_down", "carrier_down_count");
	for (size_t i = 0; i < ARRAY_SIZE(net_counters); i++) {
		struct health_counter counter = { .name = net_counters[i] };
		snprintf(path, sizeof(path), "sys/class/net/%s/statistics/%s", health->name, net_counters[i]);
		read_counter(origin, host, &counter, path);
		struct health_counter *kept = counter.value.known ? list_add(host->arena, &health->counters) : NULL;
		if (kept)
			*kept = counter;
	}
}

static void read_qos(struct origin *origin, struct host *host, struct netdev_health *health)
{
	int result = dcb_read(origin, host->arena, health->netdev->ifindex.value, health);
	if (result == -EOPNOTSUPP)
		report_missing(&host->report, "qos", origin_subject(origin), result, "the driver offers no DCB");
	else if (result)
		report_missing(
		        &host->report, "qos", origin_subject(origin), result, "RTM_GETDCB: %s", strerror(-result));
	else if (!health->qos)
		report_missing(
		        &host->report, "qos", origin_subject(origin), 0, "the driver offers nothing of 802.1Qaz");
}

static int read_netdev(struct origin *origin, struct host *host, int family, struct netdev *netdev)
{
	char subject[64];
	struct netdev_health *health = list_add(host->arena, &host->health->netdevs);
	if (!health)
		return -ENOMEM;
	*health = (struct netdev_health){ .name = netdev->name, .pci_address = netdev->pci_address, .netdev = netdev };
	netdev->health_read = true;
	snprintf(subject, sizeof(subject), "net:%.50s", netdev->name);
	origin_about(origin, subject);
	read_net_files(origin, host, health);
	if (netdev->ifindex.known && family >= 0) {
		int result = ethtool_read(origin, host->arena, family, netdev->ifindex.value, health);
		if (result)
			report_missing(
			        &host->report, "wire", subject, result, "ethtool netlink: %s", strerror(-result));
	}
	if (netdev->ifindex.known && netdev->kind == LINK_ETHERNET)
		read_qos(origin, host, health);
	return 0;
}

static int read_netdevs(struct origin *origin, struct host *host)
{
	origin_about(origin, "host");
	int family = genl_family(origin, "ethtool"), result = 0;
	if (family < 0)
		report_missing(
		        &host->report, "wire", "host", family, "no netlink family ethtool: %s", strerror(-family));
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			list_each(related, &port->netdevs) {
				struct netdev *netdev = related->netdev;
				if (!result && netdev->pci && !netdev->health_read)
					result = read_netdev(origin, host, family, netdev);
			}
	return result;
}

/* ---- RDMA ports ---- */

/* Of ports/N/counters (ib_core); InfiniBand's PortCounters, on RoCE what the driver makes of them. */
static const char *const port_counters[] = { "link_downed", "link_error_recovery", "symbol_error", "port_rcv_errors",
	"port_xmit_discards", "port_rcv_constraint_errors", "port_xmit_constraint_errors",
	"local_link_integrity_errors", "excessive_buffer_overrun_errors", "VL15_dropped", "port_xmit_wait" };

/* "Global tclass=106", of drivers that do not come with the kernel. */
static struct num forced_class(struct origin *origin, const char *device, int number)
{
	char path[SYSFS_PATH_SIZE], text[256];
	unsigned int value;
	snprintf(path, sizeof(path), "sys/class/infiniband/%s/tc/%d/traffic_class", device, number);
	if (origin_read(origin, path, text, sizeof(text)) <= 0)
		return (struct num){ 0 };
	const char *at = strstr(text, "Global tclass=");
	return at && sscanf(at, "Global tclass=%u", &value) == 1 && value < 256 ? num(value) : (struct num){ 0 };
}

static int read_port(
        struct origin *origin, struct host *host, const struct rdma_device *device, const struct port *port)
{
	char subject[PORT_LABEL_SIZE], path[SYSFS_PATH_SIZE];
	int number = (int)port->number.value;
	struct port_health *health = list_add(host->arena, &host->health->ports);
	if (!health)
		return -ENOMEM;
	health->device = device->name;
	health->number = port->number;
	origin_about(origin, port_label(device->name, port->number, subject));
	if (port->link_layer == LINK_LAYER_INFINIBAND) {
		health->sm_sl = sysfs_number(origin, "sys/class/infiniband/%s/ports/%d/sm_sl", device->name, number);
		sl_vl_read(origin, host, subject, health);
	}
	/* Only where an administrator made the directory: making it would change the kernel's state. */
	health->default_tos =
	        sysfs_number(origin, "sys/kernel/config/rdma_cm/%s/ports/%d/default_roce_tos", device->name, number);
	health->traffic_class = forced_class(origin, device->name, number);
	for (size_t i = 0; i < ARRAY_SIZE(port_counters); i++) {
		struct health_counter counter = { .name = port_counters[i] };
		snprintf(path, sizeof(path), "sys/class/infiniband/%s/ports/%d/counters/%s", device->name, number,
		        port_counters[i]);
		read_counter(origin, host, &counter, path);
		struct health_counter *kept = counter.value.known ? list_add(host->arena, &health->counters) : NULL;
		if (kept)
			*kept = counter;
	}
	return 0;
}

/* ---- packet filters ---- */

/* Adapters that put packets on the wire themselves pass neither filters nor queueing disciplines. */
static bool has_software_device(const struct host *host)
{
	list_each(device, &host->devices)
		if (device->driver && (!strcmp(device->driver, "rdma_rxe") || !strcmp(device->driver, "siw")))
			return true;
	return false;
}

static void read_filters(struct origin *origin, struct host *host)
{
	struct error error = { 0 };
	int result = origin_filters(origin, host->arena, &host->health->filters, &error);
	if (result)
		report_missing(&host->report, "filters", "host", result, "%s", error.text);
}

/* ---- all ---- */

int health_read(struct origin *origin, struct host *host)
{
	host->health = arena_new_object(host->arena, struct health);
	if (!host->health)
		return -ENOMEM;
	int result = read_netdevs(origin, host);
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			if (!result)
				result = read_port(origin, host, device, port);
	origin_about(origin, "host");
	if (has_software_device(host))
		read_filters(origin, host);
	int failed = devlink_read(origin, host->arena, host->health);
	if (failed && failed != -ENOENT)
		report_missing(&host->report, "reporters", "host", failed, "devlink: %s", strerror(-failed));
	failed = irq_read(origin, host, host->health);
	if (failed)
		report_missing(&host->report, "interrupts", "host", failed, "proc/interrupts: %s", strerror(-failed));
	return result;
}
