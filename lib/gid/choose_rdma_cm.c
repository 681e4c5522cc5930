/* SPDX-License-Identifier: MIT */
/*
 * rdma_cm of Linux 6.1: cma_acquire_dev_by_src_ip(), cma_validate_port() and cma_add_one() in
 * drivers/infiniband/core/cma.c, cma_configfs.c.
 *
 * The source address decides: the entry must have that address as its GID, the netdev that has the address, and the
 * port's default type. That is RoCE v2 where the device has it, unless an administrator set
 * /sys/kernel/config/rdma_cm/DEV/ports/N/default_roce_mode. (Through a gateway v2 is taken in any case,
 * cma_route_gid_type().) The address assumed here is the first of the port's netdev, IPv4 before IPv6; a program that
 * binds to another address gets the entry of that one.
 *
 * InfiniBand: the GID in the hardware address of an IPoIB netdev with an address. Devices are told apart by their node
 * GUID.
 */
#include "gid/choose.h"

#include "gid/address.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/if_addr.h>
#include <string.h>
#include <sys/socket.h>

#define VERSION "Linux 6.1"

/* Without configfs, what the entries tell of the device; an empty table, or types that cannot be read, tell nothing. */
static enum gid_type default_type(const struct gid_port *port)
{
	const char *mode = port->table->cm_mode;
	bool all_known = port->count > 0;
	if (mode)
		return strcmp(mode, "RoCE v2") ? GID_TYPE_ROCE_V1 : GID_TYPE_ROCE_V2;
	for (uint32_t i = 0; i < port->count; i++) {
		if (port->entries[i]->type == GID_TYPE_ROCE_V2)
			return GID_TYPE_ROCE_V2;
		all_known &= port->entries[i]->type != GID_TYPE_UNKNOWN;
	}
	return all_known ? GID_TYPE_ROCE_V1 : GID_TYPE_UNKNOWN;
}

/* IPv4 before routable IPv6 before link-local IPv6; the kernel takes no source that is tentative or that failed. */
static int preference(const struct address *address)
{
	uint8_t gid[16];
	const char *doubt = address_doubt(address);
	gid_from_address(address, gid);
	if (doubt && !(address->flags & IFA_F_DEPRECATED))
		return 0;
	int family = address->family == AF_INET ? 3 : gid_scope_of(gid) != GID_SCOPE_LINK_LOCAL ? 2 : 1;
	return 2 * family - (doubt != NULL);
}

static const struct address *source_address(const struct netdev *netdev)
{
	const struct address *best = NULL;
	list_each(address, &netdev->addresses)
		if (preference(address) > (best ? preference(best) : 0))
			best = address;
	return best;
}

static const struct gid_entry *ipoib_entry(const struct gid_port *port, const struct netdev *netdev)
{
	for (uint32_t i = 0; netdev->mac_length == 20 && i < port->count; i++)
		if (!memcmp(port->entries[i]->bytes, netdev->mac_bytes + 4, 16))
			return port->entries[i];
	return NULL;
}

/*
 * Another netdev than the port's that has an address, and the port's GID as hardware address: that of a partition, or
 * an IPoIB bond, which has the hardware address of its active member.
 */
static const struct netdev *other_ipoib(const struct gid_port *port)
{
	const struct port *rdma_port = port->table->rdma_port;
	if (rdma_port)
		list_each(netdev, &rdma_port->netdevs)
			if (ipoib_entry(port, netdev->netdev) && source_address(netdev->netdev))
				return netdev->netdev;
	return NULL;
}

/* The netdev of the port that has an address; that of the port itself is preferred. */
static const struct netdev *source_netdev(const struct gid_port *port)
{
	const struct port *rdma_port = port->table->rdma_port;
	const struct netdev *found = rdma_port ? port_netdev(rdma_port) : NULL;
	if (found && source_address(found))
		return found;
	for (uint32_t i = 0; i < port->count; i++) {
		const struct netdev *link = port->entries[i]->link;
		if (link && source_address(link))
			return link;
	}
	return NULL;
}

static bool is_entry_of(
        const struct gid_entry *entry, const struct netdev *netdev, const struct address *address, enum gid_type type)
{
	uint8_t gid[16];
	gid_from_address(address, gid);
	return (!entry->type || !type || entry->type == (int)type) && entry->link == netdev &&
	       !memcmp(entry->bytes, gid, sizeof(gid));
}

static void reject(struct arena *arena, struct gid_choice *choice, const struct gid_entry *entry, enum gid_type type)
{
	if (entry->type && type && entry->type != (int)type)
		gid_reject(arena, choice, entry, "%s, the default mode is %s", gid_type_names[entry->type],
		        gid_type_names[type]);
	else if (entry->state == GID_STATE_FOREIGN_NETNS || entry->state == GID_STATE_STALE)
		gid_reject(arena, choice, entry, "%s", entry->state_reason);
	else
		gid_reject(arena, choice, entry, "taken only with source address %s on %s", entry->ip ? entry->ip : "?",
		        entry->netdev ? entry->netdev : "its netdev");
}

static void choose_roce(struct arena *arena, const struct gid_port *port, struct gid_choice *choice)
{
	enum gid_type type = default_type(port);
	const char *where = port->table->cm_mode ? "default_roce_mode" : "the default";
	const struct netdev *netdev = source_netdev(port);
	const struct address *address = netdev ? source_address(netdev) : NULL;
	const struct gid_entry *found = NULL;
	for (uint32_t i = 0; address && !found && i < port->count; i++)
		if (is_entry_of(port->entries[i], netdev, address, type))
			found = port->entries[i];
	if (found && type)
		gid_take(arena, choice, found->index.value, "source address %s of %s, %s is %s (" VERSION ")",
		        found->ip, netdev->name, where, gid_type_names[type]);
	else if (found)
		gid_take(arena, choice, found->index.value,
		        "source address %s of %s, which type is the default is not known (" VERSION ")", found->ip,
		        netdev->name);
	else if (address)
		gid_take_none(arena, choice, "no %s%sentry for the address of %s (" VERSION ")",
		        type ? gid_type_names[type] : "", type ? " " : "", netdev->name);
	else
		gid_take_none(arena, choice, "%s (" VERSION ")",
		        port->host->addresses_unread ? "the addresses here are not known"
		                                     : "no netdev of the port has an address here");
	for (uint32_t i = 0; i < port->count; i++)
		if (port->entries[i] != found)
			reject(arena, choice, port->entries[i], type);
}

static void choose_infiniband(struct arena *arena, const struct gid_port *port, struct gid_choice *choice)
{
	const struct netdev *netdev = source_netdev(port);
	netdev = netdev ? netdev : other_ipoib(port);
	const struct gid_entry *found = netdev && source_address(netdev) ? ipoib_entry(port, netdev) : NULL;
	if (found)
		gid_take(arena, choice, found->index.value, "hardware address of %s (" VERSION ")", netdev->name);
	else
		gid_take_none(arena, choice, "%s (" VERSION ")",
		        port->host->addresses_unread ? "the addresses here are not known"
		                                     : "no IPoIB netdev with an address on this port");
	gid_reject_others(arena, choice, port, "not the GID of an IPoIB netdev with an address");
}

void gid_choose_rdma_cm(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice)
{
	(void)environment;
	const struct rdma_device *device = port->table->rdma;
	enum transport transport = gid_port_transport(port);
	if (transport == TRANSPORT_UNSPECIFIED || transport == TRANSPORT_IWARP) {
		gid_take_none(arena, choice, "%s (" VERSION ")",
		        transport == TRANSPORT_IWARP ? "iWARP connects by IP address, without a GID index"
		                                     : "the device has no connection manager");
		gid_reject_others(arena, choice, port, "no GID index is used");
	} else if (port->host->cm_refused) {
		gid_take_none(arena, choice, "it cannot open the connection manager: %s", port->host->cm_refused);
		gid_reject_others(arena, choice, port, "rdma_cm cannot be used");
	} else if (device && device->node_guid && !strcmp(device->node_guid, "0000:0000:0000:0000")) {
		gid_take_none(arena, choice,
		        "node_guid is zero: librdmacm cannot tell devices apart; verbs with a GID index work");
		gid_reject_others(arena, choice, port, "node_guid is zero");
	} else if (transport == TRANSPORT_INFINIBAND) {
		choose_infiniband(arena, port, choice);
	} else {
		choose_roce(arena, port, choice);
	}
}
