/* SPDX-License-Identifier: MIT */
/* Which netdev is that of a port, where the kernel does not say: by the PCI function, the port's number or its GUID. */
#include "source/join_parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

bool join_is_representor(const struct netdev *netdev)
{
	/* Uplinks are "p0"; "pf0", "pf0vf3", "pf0sf88" stand for functions, with "cN" before it for another
	 * controller's. */
	const char *name = netdev->phys_port_name;
	if (name && name[0] == 'c' && name[1] >= '0' && name[1] <= '9')
		name += 1 + strspn(name + 1, "0123456789");
	return name && !strncmp(name, "pf", 2);
}

bool join_is_on_subfunction(const char *path)
{
	return path && strstr(path, ".sf.");
}

bool join_shares_function(const struct rdma_device *device, const struct netdev *netdev)
{
	if (!device->parent_path || !netdev->sysfs_path || join_is_representor(netdev))
		return false;
	if (join_is_on_subfunction(device->parent_path) || join_is_on_subfunction(netdev->sysfs_path))
		return !strcmp(device->parent_path, netdev->sysfs_path);
	return device->pci && netdev->pci == device->pci;
}

enum { GUID = 8 };

/* VFs without a GUID have all the same zeros. */
static bool is_guid_known(const struct port *port)
{
	static const uint8_t none[GUID];
	return port->gid0_known == FLAG_YES && memcmp(port->gid0 + 16 - GUID, none, GUID) != 0;
}

/* The GUID of an IPoIB netdev's port stands in the last 8 bytes of its hardware address (RFC 4391, 9.1.1). */
static bool has_port_guid(const struct netdev *netdev, const struct port *port)
{
	enum { IPOIB_MAC = 20 };
	return is_guid_known(port) && netdev->mac_length == IPOIB_MAC &&
	       !memcmp(netdev->mac_bytes + IPOIB_MAC - GUID, port->gid0 + 16 - GUID, GUID);
}

const char *join_companion_of(const struct host *host, const struct rdma_device *device)
{
	static const char suffix[] = "_dma";
	char name[64];
	size_t length = strlen(device->name), end = sizeof(suffix) - 1;
	if (length <= end || length - end >= sizeof(name) || strcmp(device->name + length - end, suffix) != 0)
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)(length - end), device->name);
	const struct rdma_device *other = host_device(host, name);
	bool same = other && device->node_guid && other->node_guid && !strcmp(device->node_guid, other->node_guid);
	return same ? other->name : NULL;
}

static struct netdev *ipoib_of(const struct host *host, const struct rdma_device *device, const struct port *port)
{
	struct netdev *by_place = NULL;
	if (join_companion_of(host, device)) /* the netdev with their GUID is the other one's */
		return NULL;
	list_each(netdev, &host->netdevs) {
		if (netdev->kind != LINK_IPOIB || netdev->lower_ifindex.known) /* that of a partition stands on it */
			continue;
		if (has_port_guid(netdev, port))
			return netdev;
		if (!is_guid_known(port) && join_shares_function(device, netdev) &&
		        num_is(netdev->dev_port, port->number.value - 1))
			by_place = netdev;
	}
	return by_place;
}

static struct netdev *only_or_by_port(
        const struct host *host, const struct rdma_device *device, const struct port *port)
{
	char uplink[16];
	struct netdev *only = NULL, *by_dev_port = NULL, *by_name = NULL;
	int count = 0, ports = 0;
	snprintf(uplink, sizeof(uplink), "p%d", (int)port->number.value - 1);
	list_each(netdev, &host->netdevs) {
		if (netdev->kind == LINK_IPOIB || !join_shares_function(device, netdev))
			continue;
		only = netdev;
		count++;
		if (num_is(netdev->dev_port, port->number.value - 1)) {
			by_dev_port = netdev;
			ports++;
		}
		if (netdev->phys_port_name && !strcmp(netdev->phys_port_name, uplink))
			by_name = netdev;
	}
	if (count == 1 && device->ports.count == 1)
		return only;
	return ports == 1 ? by_dev_port : by_name;
}

/* The modified EUI-64 of RFC 4291, appendix A, as in a default GID. */
static bool is_made_from_mac(const uint8_t gid[static 16], const struct netdev *netdev)
{
	enum { ETHERNET_MAC = 6 };
	const uint8_t *mac = netdev->mac_bytes;
	const uint8_t made[16] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4],
		mac[5] };
	return netdev->mac_length == ETHERNET_MAC && !memcmp(gid, made, sizeof(made));
}

static bool is_gid_of(const uint8_t gid[static 16], const struct address *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	if (address->family == AF_INET)
		return !memcmp(gid, mapped, sizeof(mapped)) && !memcmp(gid + sizeof(mapped), address->bytes, 4);
	return !memcmp(gid, address->bytes, 16);
}

/* What containers get stands on the port's netdev, which is elsewhere. */
static bool may_stand_elsewhere(const struct netdev *netdev)
{
	return netdev->kind == LINK_MACVLAN || netdev->kind == LINK_IPVLAN ||
	       (netdev->kind == LINK_VLAN && !netdev->lowers.count);
}

/* A netdev of that name is here; it is the one meant when the GID is its own. */
static struct netdev *claimed_netdev(const struct host *host, const struct port *port)
{
	struct netdev *netdev = port->claimed_netdev ? host_netdev_by_name(host, port->claimed_netdev) : NULL;
	if (!netdev || may_stand_elsewhere(netdev))
		return NULL;
	if (is_made_from_mac(port->claimed_gid, netdev))
		return netdev;
	list_each(address, &netdev->addresses)
		if (is_gid_of(port->claimed_gid, address))
			return netdev;
	return NULL;
}

bool join_has_candidates(const struct host *host, const struct rdma_device *device)
{
	int count = 0;
	list_each(netdev, &host->netdevs)
		count += netdev->kind != LINK_IPOIB && join_shares_function(device, netdev);
	return count > 1;
}

struct netdev *join_port_netdev(const struct host *host, const struct rdma_device *device, const struct port *port)
{
	struct netdev *netdev = NULL;
	if (port->netdev_ifindex.known)
		netdev = host_netdev(host, port->netdev_ifindex.value);
	if (!netdev && port->netdev_name)
		netdev = host_netdev_by_name(host, port->netdev_name);
	if (!netdev)
		netdev = claimed_netdev(host, port);
	if (netdev)
		return netdev;
	if (port->link_layer == LINK_LAYER_INFINIBAND)
		return ipoib_of(host, device, port);
	return port->link_layer == LINK_LAYER_ETHERNET ? only_or_by_port(host, device, port) : NULL;
}
