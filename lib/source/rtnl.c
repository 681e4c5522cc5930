/* SPDX-License-Identifier: MIT */
#include "source/rtnl.h"
#include "source/link_words.h"
#include "source/nl_attr.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* Later than the oldest headers that this is compiled with (include/uapi/linux/if_link.h). */
enum { PROP_LIST = 52, ALT_IFNAME = 53, PARENT_DEV_NAME = 56, PARENT_DEV_BUS_NAME = 57, LINK_LAST = 64, INFO_LAST = 8 };

/* ---- links ---- */

static void parse_bond(const struct nlattr *data, struct arena *arena, struct netdev *netdev)
{
	const struct nlattr *table[IFLA_BOND_MAX + 1], *info[IFLA_BOND_AD_INFO_MAX + 1];
	struct bond_facts *bond = arena_new_object(arena, struct bond_facts);
	if (!bond)
		return;
	nl_nested(data, table, IFLA_BOND_MAX);
	nl_nested(table[IFLA_BOND_AD_INFO], info, IFLA_BOND_AD_INFO_MAX);
	bond->mode = bond_mode_name(nl_u8(table[IFLA_BOND_MODE]));
	if (bond_mode_hashes(bond->mode))
		bond->xmit_hash_policy = bond_hash_policy_name(nl_u8(table[IFLA_BOND_XMIT_HASH_POLICY]));
	bond->active_ifindex = nl_u32(table[IFLA_BOND_ACTIVE_SLAVE]);
	bond->miimon_ms = nl_u32(table[IFLA_BOND_MIIMON]);
	bond->aggregator_id = nl_u16(info[IFLA_BOND_AD_INFO_AGGREGATOR]);
	bond->num_ports = nl_u16(info[IFLA_BOND_AD_INFO_NUM_PORTS]);
	bond->actor_key = nl_u16(info[IFLA_BOND_AD_INFO_ACTOR_KEY]);
	bond->partner_key = nl_u16(info[IFLA_BOND_AD_INFO_PARTNER_KEY]);
	bond->partner_mac = nl_hex(info[IFLA_BOND_AD_INFO_PARTNER_MAC], arena, ':');
	netdev->bond_facts = bond;
}

static void parse_bond_slave(const struct nlattr *data, struct arena *arena, struct netdev *netdev)
{
	const struct nlattr *table[IFLA_BOND_SLAVE_MAX + 1];
	struct bond_slave *slave = arena_new_object(arena, struct bond_slave);
	if (!slave)
		return;
	nl_nested(data, table, IFLA_BOND_SLAVE_MAX);
	struct num state = nl_u8(table[IFLA_BOND_SLAVE_STATE]);
	if (state.known)
		slave->state = state.value == BOND_STATE_ACTIVE ? "active" : "backup";
	slave->mii_status = bond_mii_name(nl_u8(table[IFLA_BOND_SLAVE_MII_STATUS]));
	slave->link_failures = nl_u32(table[IFLA_BOND_SLAVE_LINK_FAILURE_COUNT]);
	slave->aggregator_id = nl_u16(table[IFLA_BOND_SLAVE_AD_AGGREGATOR_ID]);
	slave->actor_port_state = nl_u8(table[IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE]);
	slave->partner_port_state = nl_u16(table[IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE]);
	netdev->slave = slave;
}

static bool is_text(const struct nlattr *attribute, const char *text)
{
	size_t length = strlen(text);
	return attribute && mnl_attr_get_payload_len(attribute) >= length && !memcmp(attribute + 1, text, length) &&
	       (mnl_attr_get_payload_len(attribute) == length || !((const char *)(attribute + 1))[length]);
}

static void parse_info(const struct nlattr *link_info, struct arena *arena, struct netdev *netdev)
{
	const struct nlattr *info[INFO_LAST + 1];
	nl_nested(link_info, info, INFO_LAST);
	netdev->kind_name = nl_text(info[IFLA_INFO_KIND], arena);
	if (is_text(info[IFLA_INFO_KIND], "bond"))
		parse_bond(info[IFLA_INFO_DATA], arena, netdev);
	if (is_text(info[IFLA_INFO_SLAVE_KIND], "bond"))
		parse_bond_slave(info[IFLA_INFO_SLAVE_DATA], arena, netdev);
	if (is_text(info[IFLA_INFO_KIND], "vlan")) {
		const struct nlattr *vlan[IFLA_VLAN_MAX + 1];
		nl_nested(info[IFLA_INFO_DATA], vlan, IFLA_VLAN_MAX);
		netdev->vlan_id = nl_u16(vlan[IFLA_VLAN_ID]);
	}
	if (is_text(info[IFLA_INFO_KIND], "vxlan")) {
		/* The netdev below a tunnel is not in IFLA_LINK. */
		const struct nlattr *vxlan[IFLA_VXLAN_MAX + 1];
		nl_nested(info[IFLA_INFO_DATA], vxlan, IFLA_VXLAN_MAX);
		netdev->lower_ifindex = nl_u32(vxlan[IFLA_VXLAN_LINK]);
	}
}

static void parse_mac(const struct nlattr *address, struct arena *arena, struct netdev *netdev)
{
	size_t length = address ? mnl_attr_get_payload_len(address) : 0;
	if (!length || length > sizeof(netdev->mac_bytes))
		return;
	memcpy(netdev->mac_bytes, address + 1, length);
	netdev->mac_length = (uint32_t)length;
	netdev->mac = nl_hex(address, arena, ':');
}

/* IFLA_LINK of a veth is its peer, and with IFLA_LINK_NETNSID a netdev of another namespace: neither is below it. */
static void parse_lower(const struct nlattr **table, struct netdev *netdev)
{
	struct num link = nl_u32(table[IFLA_LINK]);
	if (link.value > 0 && !table[IFLA_LINK_NETNSID] && netdev->kind != LINK_VETH &&
	        !num_is(netdev->ifindex, link.value))
		netdev->lower_ifindex = link;
	netdev->lower_elsewhere = link.value > 0 && table[IFLA_LINK_NETNSID] && netdev->kind != LINK_VETH;
}

static void parse_altnames(const struct nlattr *list, struct arena *arena, struct netdev *netdev)
{
	const char *end;
	for (const struct nlattr *name = list ? nl_first(list, &end) : NULL; name; name = nl_next(name, end)) {
		const char *text = mnl_attr_get_type(name) == ALT_IFNAME ? nl_text(name, arena) : NULL;
		if (text && *text)
			strings_add(arena, &netdev->altnames, text);
	}
}

static int take_link(const struct nlmsghdr *message, void *context)
{
	struct host *host = context;
	const struct nlattr *table[LINK_LAST + 1];
	if (message->nlmsg_type != RTM_NEWLINK || message->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg)))
		return 0;
	const struct ifinfomsg *header = NLMSG_DATA(message);
	nl_attributes(message, sizeof(*header), table, LINK_LAST);
	const char *name = nl_text(table[IFLA_IFNAME], host->arena);
	if (!name || !*name)
		return 0;
	/* The kernel has each once; a recording may have it again. */
	if (host_netdev(host, header->ifi_index) || host_netdev_by_name(host, name))
		return 0;
	struct netdev *netdev = list_add(host->arena, &host->netdevs);
	if (!netdev)
		return -ENOMEM;
	netdev->name = name;
	netdev->ifindex = num(header->ifi_index);
	netdev->arp_type = num(header->ifi_type);
	netdev->admin_up = flag(header->ifi_flags & IFF_UP);
	netdev->operstate = link_operstate(nl_u8(table[IFLA_OPERSTATE]));
	struct num carrier = nl_u8(table[IFLA_CARRIER]);
	netdev->carrier = carrier.known ? flag(carrier.value) : FLAG_UNKNOWN;
	netdev->mtu = nl_u32(table[IFLA_MTU]);
	netdev->master_ifindex = nl_u32(table[IFLA_MASTER]);
	netdev->phys_port_name = nl_text(table[IFLA_PHYS_PORT_NAME], host->arena);
	netdev->phys_switch_id = nl_hex(table[IFLA_PHYS_SWITCH_ID], host->arena, 0);
	if (is_text(table[PARENT_DEV_BUS_NAME], "pci"))
		netdev->parent_name = nl_text(table[PARENT_DEV_NAME], host->arena);
	parse_mac(table[IFLA_ADDRESS], host->arena, netdev);
	parse_info(table[IFLA_LINKINFO], host->arena, netdev);
	netdev->kind = (int)link_kind_of(netdev->kind_name, netdev->arp_type);
	parse_lower(table, netdev);
	parse_altnames(table[PROP_LIST], host->arena, netdev);
	return host_index_netdev(host, netdev);
}

int rtnl_parse_links(const void *data, size_t length, struct host *host)
{
	return nl_each_message(data, length, take_link, host);
}

/* ---- addresses ---- */

static int take_address(const struct nlmsghdr *message, void *context)
{
	struct host *host = context;
	const struct nlattr *table[IFA_MAX + 1];
	if (message->nlmsg_type != RTM_NEWADDR || message->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifaddrmsg)))
		return 0;
	const struct ifaddrmsg *header = NLMSG_DATA(message);
	nl_attributes(message, sizeof(*header), table, IFA_MAX);
	/* IFA_LOCAL is this end of a point-to-point link, where there is one. */
	const struct nlattr *bytes = table[IFA_LOCAL] ? table[IFA_LOCAL] : table[IFA_ADDRESS];
	size_t size = header->ifa_family == AF_INET ? 4 : header->ifa_family == AF_INET6 ? 16 : 0;
	struct netdev *netdev = host_netdev(host, header->ifa_index);
	if (!netdev || !size || !bytes || mnl_attr_get_payload_len(bytes) < size)
		return 0;
	struct address *address = list_add(host->arena, &netdev->addresses);
	if (!address)
		return -ENOMEM;
	address->family = header->ifa_family;
	address->prefix_length = header->ifa_prefixlen;
	memcpy(address->bytes, bytes + 1, size);
	struct num flags = nl_u32(table[IFA_FLAGS]);
	address->flags = flags.known ? (uint32_t)flags.value : header->ifa_flags;
	return 0;
}

int rtnl_parse_addresses(const void *data, size_t length, struct host *host)
{
	return nl_each_message(data, length, take_address, host);
}

/* ---- requests ---- */

typedef int (*parse_reply)(const void *data, size_t length, struct host *host);

static int dump(struct origin *origin, struct host *host, const char *name, struct nlmsghdr *message, parse_reply parse)
{
	struct nl_request nl = { .name = name, .message = message };
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	origin_about(origin, "host");
	int result = origin_netlink(origin, NETLINK_ROUTE, &nl, 1);
	if (!result)
		result = nl.error;
	if (!result)
		result = parse(nl.reply, nl.length, host);
	nl_requests_free(&nl, 1);
	return result;
}

int rtnl_read_links(struct origin *origin, struct host *host)
{
	_Alignas(struct nlmsghdr) unsigned char buffer[128];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = RTM_GETLINK;
	struct ifinfomsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	header->ifi_family = AF_UNSPEC;
	mnl_attr_put_u32(message, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return dump(origin, host, "link", message, rtnl_parse_links);
}

int rtnl_read_addresses(struct origin *origin, struct host *host)
{
	_Alignas(struct nlmsghdr) unsigned char buffer[128];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = RTM_GETADDR;
	struct ifaddrmsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	header->ifa_family = AF_UNSPEC;
	return dump(origin, host, "addr", message, rtnl_parse_addresses);
}
