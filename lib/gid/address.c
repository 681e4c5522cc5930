/* SPDX-License-Identifier: MIT */
#include "gid/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <string.h>
#include <sys/socket.h>

/* ---- bytes ---- */

static const uint8_t mapped_prefix[12] = { [10] = 0xff, [11] = 0xff };

bool gid_is_ipv4(const uint8_t gid[static 16])
{
	return !memcmp(gid, mapped_prefix, sizeof(mapped_prefix));
}

bool gid_is_link_local(const uint8_t gid[static 16], bool wide)
{
	static const uint8_t prefix[8] = { 0xfe, 0x80 };
	if (!wide)
		return !memcmp(gid, prefix, sizeof(prefix));
	if (gid_is_ipv4(gid))
		return gid[12] == 169 && gid[13] == 254;
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

bool gid_has_no_guid(const uint8_t gid[static 16])
{
	static const uint8_t zero[8];
	return !memcmp(gid + 8, zero, sizeof(zero));
}

bool gid_has_eui64(const uint8_t gid[static 16])
{
	return gid[11] == 0xff && gid[12] == 0xfe;
}

/* RFC 4291, appendix A: the universal bit inverted, ff:fe in the middle. VLANs do not change it since kernel 4.5. */
bool gid_matches_mac(const uint8_t gid[static 16], const struct netdev *netdev)
{
	if (netdev->mac_length != 6)
		return false;
	const uint8_t *mac = netdev->mac_bytes;
	const uint8_t id[8] = { (uint8_t)(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5] };
	return !memcmp(gid + 8, id, sizeof(id));
}

static enum gid_scope scope_of_ipv4(const uint8_t ip[static 4])
{
	if (ip[0] == 127)
		return GID_SCOPE_LOOPBACK;
	if (ip[0] == 169 && ip[1] == 254)
		return GID_SCOPE_LINK_LOCAL;
	/* RFC 1918, and RFC 6598 for carrier-grade NAT: normal addresses of a fabric. */
	if (ip[0] == 10 || (ip[0] == 172 && (ip[1] & 0xf0) == 16) || (ip[0] == 192 && ip[1] == 168) ||
	        (ip[0] == 100 && (ip[1] & 0xc0) == 64))
		return GID_SCOPE_PRIVATE;
	return GID_SCOPE_GLOBAL;
}

enum gid_scope gid_scope_of(const uint8_t gid[static 16])
{
	static const uint8_t loopback[16] = { [15] = 1 };
	if (gid_is_ipv4(gid))
		return scope_of_ipv4(gid + 12);
	if (!memcmp(gid, loopback, sizeof(loopback)))
		return GID_SCOPE_LOOPBACK;
	if (gid_is_link_local(gid, true))
		return GID_SCOPE_LINK_LOCAL;
	/* fc00::/7: unique local, RFC 4193; fec0::/10: site-local, RFC 3879. */
	bool private = (gid[0] & 0xfe) == 0xfc || (gid[0] == 0xfe && (gid[1] & 0xc0) == 0xc0);
	return private ? GID_SCOPE_PRIVATE : GID_SCOPE_GLOBAL;
}

void gid_format_ip(const uint8_t gid[static 16], char out[static IP_TEXT_SIZE])
{
	if (gid_is_ipv4(gid))
		inet_ntop(AF_INET, gid + 12, out, IP_TEXT_SIZE);
	else
		inet_ntop(AF_INET6, gid, out, IP_TEXT_SIZE);
}

void gid_from_address(const struct address *address, uint8_t gid[static 16])
{
	if (address->family == AF_INET6) {
		memcpy(gid, address->bytes, 16);
		return;
	}
	memcpy(gid, mapped_prefix, sizeof(mapped_prefix));
	memcpy(gid + 12, address->bytes, 4);
}

int gid_parse_ip(const char *text, uint8_t gid[static 16])
{
	uint8_t ipv4[4];
	if (inet_pton(AF_INET, text, ipv4) != 1)
		return inet_pton(AF_INET6, text, gid) == 1 ? 0 : -EINVAL;
	memcpy(gid, mapped_prefix, sizeof(mapped_prefix));
	memcpy(gid + 12, ipv4, sizeof(ipv4));
	return 0;
}

bool gid_same_subnet(const uint8_t a[static 16], const uint8_t b[static 16], unsigned int length)
{
	if (gid_is_ipv4(a) != gid_is_ipv4(b))
		return false;
	unsigned int bits = gid_is_ipv4(a) ? 96 + length : length;
	bits = bits > 128 ? 128 : bits;
	if (memcmp(a, b, bits / 8))
		return false;
	unsigned int rest = bits % 8;
	return !rest || !((a[bits / 8] ^ b[bits / 8]) >> (8 - rest));
}

/* ---- addresses ---- */

bool address_is_taken(const struct address *address)
{
	return address->flags & IFA_F_DADFAILED;
}

bool address_is_deprecated(const struct address *address)
{
	return (address->flags & IFA_F_DEPRECATED) && !(address->flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED));
}

const char *address_doubt(const struct address *address)
{
	if (address_is_taken(address))
		return "duplicate address detection failed: another node has the address";
	if (address->flags & IFA_F_TENTATIVE && !(address->flags & IFA_F_OPTIMISTIC))
		return "the address is tentative: duplicate address detection has not ended";
	if (address->flags & IFA_F_DEPRECATED)
		return "the address is deprecated: its preferred lifetime is over";
	return NULL;
}

bool address_is_extra(const struct address *address)
{
	/* IFA_F_SECONDARY of IPv4 and IFA_F_TEMPORARY of IPv6 are the same bit. */
	return address->flags & IFA_F_SECONDARY || address->prefix_length == (address->family == AF_INET6 ? 128 : 32);
}

/* ---- netdevs ---- */

const struct address *netdev_address(const struct netdev *netdev, const uint8_t gid[static 16])
{
	list_each(address, &netdev->addresses) {
		uint8_t own[16];
		gid_from_address(address, own);
		if (!memcmp(own, gid, sizeof(own)))
			return address;
	}
	return NULL;
}

static bool begins_with(const char *text, const char *prefix)
{
	return text && !strncmp(text, prefix, strlen(prefix));
}

enum { STACK_DEPTH = 8 }; /* MAX_NEST_DEV of the kernel */

static bool is_overlay(const struct netdev *netdev, int depth);

/*
 * A bridge leads out through its ports: an administrator's has an adapter among them, whatever its name; those of
 * container engines and hypervisors have veth pairs and taps only. The name tells where there is no port.
 */
static bool bridge_is_overlay(const struct netdev *bridge, int depth)
{
	static const char *const names[] = { "docker", "br-", "cni", "virbr", "podman", "lxcbr", "nerdctl" };
	for (size_t i = 0; !bridge->lowers.count && i < sizeof(names) / sizeof(*names); i++)
		if (begins_with(bridge->name, names[i]))
			return true;
	list_each(port, &bridge->lowers)
		if (depth >= STACK_DEPTH || !is_overlay(port, depth + 1))
			return false;
	return bridge->lowers.count > 0;
}

static bool is_overlay(const struct netdev *netdev, int depth)
{
	static const char *const kinds[] = { "vxlan", "geneve", "gre", "gretap", "erspan", "ip6gre", "ip6gretap",
		"ipip", "sit", "ip6tnl", "vti", "vti6", "wireguard", "veth", "tun", "ifb", "bareudp", "xfrm" };
	if (netdev->kind == LINK_VXLAN || netdev->kind == LINK_VETH)
		return true;
	for (size_t i = 0; netdev->kind_name && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(netdev->kind_name, kinds[i]))
			return true;
	return netdev->kind == LINK_BRIDGE && bridge_is_overlay(netdev, depth);
}

bool netdev_is_overlay(const struct netdev *netdev)
{
	return is_overlay(netdev, 0);
}

static bool is_below(const struct netdev *upper, const struct netdev *candidate)
{
	return (upper->lower_ifindex.known && num_is(candidate->ifindex, upper->lower_ifindex.value)) ||
	       netdev_is_member(candidate, upper);
}

/* The netdev itself, else the first VLAN that is found below it; NULL: there is none. */
static const struct netdev *vlan_below(const struct host *host, const struct netdev *netdev, int depth)
{
	if (netdev->kind == LINK_VLAN && netdev->vlan_id.known)
		return netdev;
	for (uint32_t i = 0; depth && i < host->netdevs.count; i++) {
		const struct netdev *lower = host->netdevs.items[i];
		if (lower == netdev || !is_below(netdev, lower))
			continue;
		const struct netdev *vlan = vlan_below(host, lower, depth - 1);
		if (vlan)
			return vlan;
	}
	return NULL;
}

/* rdma_read_gid_l2_fields(), drivers/infiniband/core/cache.c: the netdev's own tag, else the first found below it. */
static const struct netdev *vlan_of(const struct host *host, const struct netdev *netdev)
{
	bool plain = !netdev->lower_ifindex.known && netdev->kind != LINK_BOND && netdev->kind != LINK_BRIDGE &&
	             netdev->kind != LINK_TEAM;
	return vlan_below(host, netdev, plain ? 0 : STACK_DEPTH);
}

struct num netdev_vlan(const struct host *host, const struct netdev *netdev)
{
	const struct netdev *vlan = vlan_of(host, netdev);
	return vlan ? vlan->vlan_id : (struct num){ 0 };
}

struct num netdev_outer_vlan(const struct host *host, const struct netdev *netdev)
{
	const struct netdev *vlan = vlan_of(host, netdev), *lower = vlan ? host_lower(host, vlan) : NULL;
	return lower ? netdev_vlan(host, lower) : (struct num){ 0 };
}

static bool is_below_elsewhere(const struct host *host, const struct netdev *netdev, int depth)
{
	if (netdev->lower_elsewhere || !depth)
		return netdev->lower_elsewhere;
	const struct netdev *lower = host_lower(host, netdev);
	return lower && is_below_elsewhere(host, lower, depth - 1);
}

bool netdev_vlan_is_hidden(const struct host *host, const struct netdev *netdev)
{
	return !netdev_vlan(host, netdev).known && is_below_elsewhere(host, netdev, STACK_DEPTH);
}

/* Has it, or anything that stands on it? */
static bool has_address_above(const struct netdev *netdev, int depth)
{
	if (netdev->addresses.count)
		return true;
	list_each(upper, &netdev->uppers)
		if (depth && has_address_above(upper, depth - 1))
			return true;
	return false;
}

const struct netdev *address_holder(const struct host *host, const struct netdev *netdev)
{
	const struct netdev *master = host_master(host, netdev);
	bool holds = master && (master->kind == LINK_BOND || master->kind == LINK_TEAM || master->kind == LINK_BRIDGE);
	return holds ? master : NULL;
}

const struct netdev *netdev_wanting(const struct host *host, const struct netdev *netdev)
{
	const struct netdev *master = address_holder(host, netdev);
	if (!master || netdev->admin_up == FLAG_NO || netdev->addresses.count)
		return netdev;
	bool bare = !host->addresses_unread && !has_address_above(master, STACK_DEPTH);
	return master->admin_up == FLAG_NO || bare ? master : netdev;
}

const char *netdev_lacks(const struct host *host, const struct netdev *netdev)
{
	const struct netdev *wanting = netdev_wanting(host, netdev);
	if (wanting != netdev)
		return arena_printf(host->arena, "is a member of %s, which %s", wanting->name,
		        wanting->admin_up == FLAG_NO ? "is down" : "has no address");
	if (netdev->admin_up == FLAG_NO)
		return "is down";
	const struct netdev *holder = address_holder(host, netdev);
	if (host->addresses_unread)
		return arena_printf(
		        host->arena, "is up, and whether %s has an address is not known", holder ? holder->name : "it");
	if (!netdev->addresses.count && holder)
		return arena_printf(host->arena, "is a member of %s and has none of its GIDs", holder->name);
	if (!netdev->addresses.count)
		return "has no address";
	return netdev->carrier == FLAG_NO ? "has no carrier" : NULL;
}

const struct netdev *netdev_base(const struct host *host, const struct netdev *netdev)
{
	for (int depth = STACK_DEPTH; depth; depth--) {
		const struct netdev *lower = host_lower(host, netdev);
		if (!lower || lower == netdev)
			break;
		netdev = lower;
	}
	return netdev;
}

static bool is_of_port(const struct netdev *netdev, const struct port *port)
{
	if (port->netdev_ifindex.known && num_is(netdev->ifindex, port->netdev_ifindex.value))
		return true;
	list_each(known, &port->netdevs)
		if (known->netdev == netdev || (known->ifindex.known && num_is(netdev->ifindex, known->ifindex.value)))
			return true;
	return false;
}

static bool stands_on_port(const struct host *host, const struct netdev *netdev, const struct port *port, int depth)
{
	if (is_of_port(netdev, port))
		return true;
	for (uint32_t i = 0; depth && i < host->netdevs.count; i++) {
		const struct netdev *lower = host->netdevs.items[i];
		if (lower != netdev && is_below(netdev, lower) && stands_on_port(host, lower, port, depth - 1))
			return true;
	}
	return false;
}

enum flag netdev_belongs_to_port(const struct host *host, const struct netdev *netdev, const struct port *port)
{
	if (stands_on_port(host, netdev, port, STACK_DEPTH))
		return FLAG_YES;
	const struct netdev *master = host_master(host, netdev);
	if (master && is_of_port(master, port))
		return FLAG_YES;
	return port_netdev(port) ? FLAG_NO : FLAG_UNKNOWN;
}
