/* SPDX-License-Identifier: MIT */
#include "gid/subnet.h"

#include "base/cleanup.h"
#include "gid/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PATH_SIZE = 128 };

/* ---- addresses in order of their subnets ---- */

struct place {
	int64_t vrf; /* ifindex of the VRF, 0: none */
	uint32_t network;
	uint8_t length;
	uint32_t order; /* of the netdev in the host's list */
	struct subnet_member member;
};

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_subnets(const struct place *a, const struct place *b)
{
	int result = compare_numbers(a->vrf, b->vrf);
	if (!result)
		result = compare_numbers(a->length, b->length);
	return result ? result : compare_numbers(a->network, b->network);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	int result = compare_subnets(left, right);
	return result ? result : compare_numbers(left->order, right->order);
}

int64_t gid_vrf_of(const struct host *host, const struct netdev *netdev)
{
	const struct netdev *master = host_master(host, netdev);
	bool vrf = master && master->kind_name && !strcmp(master->kind_name, "vrf");
	return vrf ? master->ifindex.value : 0;
}

static bool counts(const struct address *address)
{
	uint8_t gid[16];
	gid_from_address(address, gid);
	enum gid_scope scope = gid_scope_of(gid);
	return address->family == AF_INET && address->prefix_length && address->prefix_length < 32 &&
	       scope != GID_SCOPE_LINK_LOCAL && scope != GID_SCOPE_LOOPBACK;
}

static uint32_t network_of(const struct address *address)
{
	uint32_t ip;
	memcpy(&ip, address->bytes, sizeof(ip));
	return ntohl(ip) & (UINT32_MAX << (32 - address->prefix_length));
}

/* What arrives at a member of a bond is the bond's, whatever address the member has of its own (topo_bonds.c). */
static bool is_bonded(const struct host *host, const struct netdev *netdev)
{
	const struct netdev *master = host_master(host, netdev);
	return master && master->kind == LINK_BOND;
}

static size_t collect(const struct host *host, struct place *places)
{
	size_t count = 0;
	uint32_t order = 0;
	list_each(netdev, &host->netdevs) {
		order++;
		if (netdev->admin_up == FLAG_NO || netdev_is_overlay(netdev) || is_bonded(host, netdev))
			continue;
		list_each(address, &netdev->addresses) {
			if (counts(address))
				places[count++] = (struct place){
					.vrf = gid_vrf_of(host, netdev),
					.network = network_of(address),
					.length = address->prefix_length,
					.order = order,
					.member = { .netdev = netdev, .address = address },
				};
		}
	}
	qsort(places, count, sizeof(*places), compare_places);
	return count;
}

static size_t address_count(const struct host *host)
{
	size_t count = 0;
	list_each(netdev, &host->netdevs)
		count += netdev->addresses.count;
	return count;
}

/* ---- those that belong to several adapters ---- */

static bool is_new_adapter(const struct host *host, const struct shared_subnet *subnet, const struct netdev *netdev)
{
	list_each(member, &subnet->members)
		if (netdev_base(host, member->netdev) == netdev_base(host, netdev))
			return false;
	return true;
}

static int add_members(struct arena *arena, const struct host *host, const struct place *places, size_t count,
        struct shared_subnet *subnet)
{
	for (size_t i = 0; i < count; i++) {
		if (!is_new_adapter(host, subnet, places[i].member.netdev))
			continue;
		struct subnet_member *member = list_add(arena, &subnet->members);
		if (!member)
			return -ENOMEM;
		*member = places[i].member;
	}
	return 0;
}

static int add_subnet(struct arena *arena, const struct host *host, const struct place *places, size_t count,
        struct shared_subnets *subnets)
{
	struct shared_subnet *subnet = arena_new_object(arena, struct shared_subnet);
	int result = subnet ? add_members(arena, host, places, count, subnet) : -ENOMEM;
	return result || subnet->members.count < 2 ? result : list_add_existing(arena, subnets, subnet);
}

int gid_subnets_find(struct arena *arena, const struct host *host, struct shared_subnets *subnets)
{
	autofree struct place *places = calloc(address_count(host) + 1, sizeof(*places));
	if (!places)
		return -ENOMEM;
	size_t count = collect(host, places), end;
	int result = 0;
	for (size_t start = 0; start < count && !result; start = end) {
		end = start + 1;
		while (end < count && !compare_subnets(&places[start], &places[end]))
			end++;
		if (end - start > 1)
			result = add_subnet(arena, host, &places[start], end - start, subnets);
	}
	return result;
}

const struct shared_subnet *gid_subnet_of(
        const struct shared_subnets *subnets, const struct netdev *netdev, const struct address *address)
{
	list_each(subnet, subnets)
		list_each(member, &subnet->members)
			if (member->netdev == netdev && member->address->prefix_length == address->prefix_length &&
			        address->family == AF_INET && network_of(member->address) == network_of(address))
				return subnet;
	return NULL;
}

/* ---- settings ---- */

static struct num read_setting(struct origin *origin, const char *netdev, const char *name)
{
	char path[PATH_SIZE];
	snprintf(path, sizeof(path), "proc/sys/net/ipv4/conf/%s/%s", netdev, name);
	return origin_number(origin, path, 10);
}

/* include/linux/inetdevice.h: arp_ignore, arp_announce and rp_filter are the larger of the two, arp_filter is either.
 */
static struct num larger(struct num all, struct num own)
{
	if (!all.known || !own.known)
		return (struct num){ 0 };
	return all.value > own.value ? all : own;
}

static int read_netdev(
        struct origin *origin, struct arena *arena, const struct arp_settings *all, struct netdev *netdev)
{
	struct arp_settings *arp = arena_new_object(arena, struct arp_settings);
	if (!arp)
		return -ENOMEM;
	arp->ignore = larger(all->ignore, read_setting(origin, netdev->name, "arp_ignore"));
	arp->announce = larger(all->announce, read_setting(origin, netdev->name, "arp_announce"));
	arp->filter = larger(all->filter, read_setting(origin, netdev->name, "arp_filter"));
	arp->rp_filter = larger(all->rp_filter, read_setting(origin, netdev->name, "rp_filter"));
	netdev->arp = arp;
	return 0;
}

int gid_subnets_read(struct origin *origin, struct host *host)
{
	struct shared_subnets subnets = { 0 };
	int result = gid_subnets_find(host->arena, host, &subnets);
	if (result || !subnets.count)
		return result;
	origin_about(origin, "host");
	struct arp_settings all = {
		.ignore = read_setting(origin, "all", "arp_ignore"),
		.announce = read_setting(origin, "all", "arp_announce"),
		.filter = read_setting(origin, "all", "arp_filter"),
		.rp_filter = read_setting(origin, "all", "rp_filter"),
	};
	for (uint32_t i = 0; i < subnets.count && !result; i++)
		list_each(member, &subnets.items[i]->members) {
			struct netdev *netdev = host_netdev_by_name(host, member->netdev->name);
			if (netdev && !netdev->arp && !result)
				result = read_netdev(origin, host->arena, &all, netdev);
		}
	return result;
}

/*
 * arp_ignore from 1 on answers for addresses of the netdev itself only; arp_filter asks the routing, with the address
 * asked for as the source, and whoever sets it has the rules for it.
 */
bool gid_subnet_answers_for_others(const struct subnet_member *member)
{
	const struct arp_settings *arp = member->netdev->arp;
	return !arp || !((arp->ignore.known && arp->ignore.value > 0) || (arp->filter.known && arp->filter.value > 0));
}

bool gid_subnet_has_flux(const struct shared_subnet *subnet)
{
	list_each(member, &subnet->members)
		if (gid_subnet_answers_for_others(member))
			return true;
	return false;
}
