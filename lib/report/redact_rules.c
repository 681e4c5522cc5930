/* SPDX-License-Identifier: MIT */
#include "report/redact_rules.h"

#include <linux/dcbnl.h>
#include <linux/devlink.h>
#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#define TABLE(otherwise_, rules_)                                                                                      \
	{                                                                                                              \
		.otherwise = (otherwise_), .rules = (rules_), .count = sizeof(rules_) / sizeof((rules_)[0])            \
	}

/* ---- rtnetlink: links ---- */

static const struct attribute_rule list_of_ip_rules[] = { { 0, IP, NULL } };
static const struct attribute_table list_of_ip = TABLE(IP, list_of_ip_rules);
static const struct attribute_rule ad_info_rules[] = { { IFLA_BOND_AD_INFO_PARTNER_MAC, LINK_ADDRESS, NULL } };
static const struct attribute_table ad_info = TABLE(KEEP, ad_info_rules);

enum { BOND_NS_IP6_TARGET = 31 }; /* IFLA_BOND_NS_IP6_TARGET, since Linux 5.18 */
static const struct attribute_rule bond_rules[] = {
	{ IFLA_BOND_ARP_IP_TARGET, NEST, &list_of_ip },
	{ BOND_NS_IP6_TARGET, NEST, &list_of_ip },
	{ IFLA_BOND_AD_INFO, NEST, &ad_info },
	{ IFLA_BOND_AD_ACTOR_SYSTEM, LINK_ADDRESS, NULL },
};
static const struct attribute_table bond = TABLE(KEEP, bond_rules);
static const struct attribute_rule bond_slave_rules[] = { { IFLA_BOND_SLAVE_PERM_HWADDR, LINK_ADDRESS, NULL } };
static const struct attribute_table bond_slave = TABLE(KEEP, bond_slave_rules);

static const struct attribute_rule vxlan_rules[] = {
	{ IFLA_VXLAN_GROUP, IP, NULL },
	{ IFLA_VXLAN_GROUP6, IP, NULL },
	{ IFLA_VXLAN_LOCAL, IP, NULL },
	{ IFLA_VXLAN_LOCAL6, IP, NULL },
};
static const struct attribute_table vxlan = TABLE(KEEP, vxlan_rules);
static const struct attribute_table vlan = { .otherwise = KEEP };
static const struct attribute_rule macvlan_rules[] = {
	{ IFLA_MACVLAN_MODE, KEEP, NULL },
	{ IFLA_MACVLAN_FLAGS, KEEP, NULL },
};
static const struct attribute_table macvlan = TABLE(DROP, macvlan_rules);
static const struct attribute_table drop_all = { .otherwise = DROP };

enum { PROPERTY_NAME = 53, PERMANENT_ADDRESS = 54, PARENT_NAME = 56, PARENT_BUS = 57, LIST_OF_NAMES = 52 };
static const struct attribute_rule names_rules[] = { { PROPERTY_NAME, TEXT, NULL } };
static const struct attribute_table names = TABLE(DROP, names_rules);
static const struct attribute_rule link_rules[] = {
	{ IFLA_ADDRESS, LINK_ADDRESS, NULL },
	{ IFLA_BROADCAST, LINK_ADDRESS, NULL },
	{ IFLA_IFNAME, TEXT, NULL },
	{ IFLA_MTU, KEEP, NULL },
	{ IFLA_LINK, KEEP, NULL },
	{ IFLA_QDISC, TEXT, NULL },
	{ IFLA_STATS, KEEP, NULL },
	{ IFLA_MASTER, KEEP, NULL },
	{ IFLA_TXQLEN, KEEP, NULL },
	{ IFLA_MAP, KEEP, NULL },
	{ IFLA_OPERSTATE, KEEP, NULL },
	{ IFLA_LINKMODE, KEEP, NULL },
	{ IFLA_LINKINFO, LINK_INFO, NULL },
	{ IFLA_NUM_VF, KEEP, NULL },
	{ IFLA_STATS64, KEEP, NULL },
	{ IFLA_GROUP, KEEP, NULL },
	{ IFLA_PROMISCUITY, KEEP, NULL },
	{ IFLA_NUM_TX_QUEUES, KEEP, NULL },
	{ IFLA_NUM_RX_QUEUES, KEEP, NULL },
	{ IFLA_CARRIER, KEEP, NULL },
	{ IFLA_PHYS_PORT_ID, LINK_ADDRESS, NULL },
	{ IFLA_CARRIER_CHANGES, KEEP, NULL },
	{ IFLA_PHYS_SWITCH_ID, LINK_ADDRESS, NULL },
	{ IFLA_LINK_NETNSID, KEEP, NULL },
	{ IFLA_PHYS_PORT_NAME, TEXT, NULL },
	{ IFLA_PROTO_DOWN, KEEP, NULL },
	{ IFLA_CARRIER_UP_COUNT, KEEP, NULL },
	{ IFLA_CARRIER_DOWN_COUNT, KEEP, NULL },
	{ IFLA_MIN_MTU, KEEP, NULL },
	{ IFLA_MAX_MTU, KEEP, NULL },
	{ LIST_OF_NAMES, NEST, &names },
	{ PROPERTY_NAME, TEXT, NULL },
	{ PERMANENT_ADDRESS, LINK_ADDRESS, NULL },
	{ PARENT_NAME, TEXT, NULL },
	{ PARENT_BUS, TEXT, NULL },
};
static const struct attribute_table link = TABLE(DROP, link_rules);

/* ---- rtnetlink: what links hold by their kind ---- */

/* What IFLA_INFO_DATA holds, by IFLA_INFO_KIND. */
static const struct {
	const char *kind;
	const struct attribute_table *data;
} kinds[] = {
	{ "bond", &bond },
	{ "vlan", &vlan },
	{ "vxlan", &vxlan },
	{ "macvlan", &macvlan },
	{ "macvtap", &macvlan },
	{ "ipvlan", &vlan },
	{ "ipoib", &vlan },
};

const struct attribute_table *redact_link_data(const char *kind, size_t size, bool of_member)
{
	const struct attribute_table *found = &drop_all;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strnlen(kind, size) == strlen(kinds[i].kind) && !memcmp(kind, kinds[i].kind, strlen(kinds[i].kind)))
			found = kinds[i].data;
	if (!of_member)
		return found;
	return found == &bond ? &bond_slave : &drop_all;
}

/* ---- rtnetlink: addresses, routes, neighbours ---- */

static const struct attribute_rule address_rules[] = {
	{ IFA_ADDRESS, IP, NULL },
	{ IFA_LOCAL, IP, NULL },
	{ IFA_LABEL, TEXT, NULL },
	{ IFA_BROADCAST, IP, NULL },
	{ IFA_ANYCAST, IP, NULL },
	{ IFA_MULTICAST, IP, NULL },
	{ IFA_CACHEINFO, KEEP, NULL },
	{ IFA_FLAGS, KEEP, NULL },
};
static const struct attribute_table address = TABLE(DROP, address_rules);

static const struct attribute_rule route_rules[] = {
	{ RTA_DST, IP, NULL },
	{ RTA_SRC, IP, NULL },
	{ RTA_GATEWAY, IP, NULL },
	{ RTA_PREFSRC, IP, NULL },
	{ RTA_VIA, VIA, NULL },
	{ RTA_MULTIPATH, NEXT_HOPS, NULL },
	{ RTA_IIF, KEEP, NULL },
	{ RTA_OIF, KEEP, NULL },
	{ RTA_PRIORITY, KEEP, NULL },
	{ RTA_METRICS, KEEP, NULL },
	{ RTA_FLOW, KEEP, NULL },
	{ RTA_CACHEINFO, KEEP, NULL },
	{ RTA_TABLE, KEEP, NULL },
	{ RTA_PREF, KEEP, NULL },
};
const struct attribute_table redact_route_attributes = TABLE(DROP, route_rules);

static const struct attribute_rule neighbour_rules[] = {
	{ NDA_DST, IP, NULL },
	{ NDA_LLADDR, LINK_ADDRESS, NULL },
	{ NDA_CACHEINFO, KEEP, NULL },
	{ NDA_PROBES, KEEP, NULL },
	{ NDA_IFINDEX, KEEP, NULL },
	{ NDA_VLAN, KEEP, NULL },
};
static const struct attribute_table neighbour = TABLE(DROP, neighbour_rules);

static const struct attribute_rule rule_rules[] = {
	{ FRA_DST, IP, NULL },
	{ FRA_SRC, IP, NULL },
	{ FRA_IIFNAME, TEXT, NULL },
	{ FRA_OIFNAME, TEXT, NULL },
};
static const struct attribute_table rule = TABLE(KEEP, rule_rules);

/* ---- rdma netlink ---- */

static const struct attribute_rule rdma_rules[] = {
	{ RDMA_NLDEV_ATTR_DEV_NAME, TEXT, NULL },
	{ RDMA_NLDEV_ATTR_NODE_GUID, HOST_GUID, NULL },
	{ RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, HOST_GUID, NULL },
	{ RDMA_NLDEV_ATTR_SUBNET_PREFIX, DROP, NULL },
	{ RDMA_NLDEV_ATTR_NDEV_NAME, TEXT, NULL },
	{ RDMA_NLDEV_ATTR_RES_CM_ID, DROP, NULL },
	{ RDMA_NLDEV_ATTR_RES_SRC_ADDR, DROP, NULL },
	{ RDMA_NLDEV_ATTR_RES_DST_ADDR, DROP, NULL },
	{ RDMA_NLDEV_ATTR_RES_KERN_NAME, TEXT, NULL },
	{ RDMA_NLDEV_ATTR_CHARDEV_NAME, TEXT, NULL },
};
static const struct attribute_table rdma = TABLE(KEEP, rdma_rules);

/* ---- settings of ports: numbers, and the name of the netdev ---- */

static const struct attribute_rule dcb_rules[] = {
	{ DCB_ATTR_IFNAME, TEXT, NULL },
	{ DCB_ATTR_IEEE, KEEP, NULL },
	{ DCB_ATTR_DCBX, KEEP, NULL },
};
static const struct attribute_table dcb = TABLE(DROP, dcb_rules);

/* ---- generic netlink, what is asked of each family ---- */

static const struct attribute_rule family_rules[] = {
	{ CTRL_ATTR_FAMILY_ID, KEEP, NULL },
	{ CTRL_ATTR_FAMILY_NAME, KEEP, NULL },
	{ CTRL_ATTR_VERSION, KEEP, NULL },
};
static const struct attribute_table family = TABLE(DROP, family_rules);

/* The first attribute of every answer is the header, in which the second is the name; others are numbers and bits. */
static const struct attribute_rule ethtool_header_rules[] = { { 1, KEEP, NULL }, { 2, TEXT, NULL }, { 3, KEEP, NULL } };
static const struct attribute_table ethtool_header = TABLE(DROP, ethtool_header_rules);
static const struct attribute_rule ethtool_rules[] = {
	{ 1, NEST, &ethtool_header },
	{ 2, KEEP, NULL },
	{ 3, KEEP, NULL },
	{ 4, KEEP, NULL },
	{ 5, KEEP, NULL },
};
static const struct attribute_table ethtool = TABLE(DROP, ethtool_rules);
/* But for statistics, which have a pad before it. */
static const struct attribute_rule ethtool_stats_rules[] = {
	{ 2, NEST, &ethtool_header },
	{ 3, KEEP, NULL },
	{ 4, KEEP, NULL },
};
static const struct attribute_table ethtool_stats = TABLE(DROP, ethtool_stats_rules);

static const struct attribute_rule reporter_rules[] = {
	{ DEVLINK_ATTR_HEALTH_REPORTER_NAME, TEXT, NULL },
	{ DEVLINK_ATTR_HEALTH_REPORTER_STATE, KEEP, NULL },
	{ DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, KEEP, NULL },
	{ DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, KEEP, NULL },
};
static const struct attribute_table reporter = TABLE(DROP, reporter_rules);
static const struct attribute_rule devlink_rules[] = {
	{ DEVLINK_ATTR_BUS_NAME, TEXT, NULL },
	{ DEVLINK_ATTR_DEV_NAME, TEXT, NULL },
	{ DEVLINK_ATTR_PORT_INDEX, KEEP, NULL },
	{ DEVLINK_ATTR_HEALTH_REPORTER, NEST, &reporter },
};
static const struct attribute_table devlink = TABLE(DROP, devlink_rules);

/* ---- messages ---- */

static const struct message_rule route_messages[] = {
	{ RTM_NEWLINK, sizeof(struct ifinfomsg), &link }, { RTM_NEWADDR, sizeof(struct ifaddrmsg), &address },
	{ RTM_NEWROUTE, sizeof(struct rtmsg), &redact_route_attributes },
	{ RTM_NEWNEIGH, sizeof(struct ndmsg), &neighbour }, { RTM_NEWRULE, sizeof(struct rtmsg), &rule },
	{ RTM_GETDCB, sizeof(struct dcbmsg), &dcb }, /* the answer has the request's type */
};

const struct message_rule *redact_route_rule(unsigned short type)
{
	for (size_t i = 0; i < sizeof(route_messages) / sizeof(route_messages[0]); i++)
		if (route_messages[i].type == type)
			return &route_messages[i];
	return NULL;
}

const struct message_rule *redact_rdma_rule(unsigned short type)
{
	static const struct message_rule nldev = { 0, 0, &rdma };
	return RDMA_NL_GET_CLIENT(type) == RDMA_NL_NLDEV ? &nldev : NULL;
}

const struct message_rule *redact_no_rule(unsigned short type)
{
	(void)type;
	return NULL;
}

/* Types of generic netlink are numbers of families, which differ from boot to boot; below them are control messages. */
#define GENERIC(family_)                                                                                               \
	static const struct message_rule *find_##family_##_message(unsigned short type)                                \
	{                                                                                                              \
		static const struct message_rule how = { 0, GENL_HDRLEN, &(family_) };                                 \
		return type >= NLMSG_MIN_TYPE ? &how : NULL;                                                           \
	}
GENERIC(family)
GENERIC(ethtool)
GENERIC(ethtool_stats)
GENERIC(devlink)

find_message redact_generic_rules(const char *name)
{
	static const struct {
		const char *begin;
		find_message find;
	} requests[] = {
		/* the last that fits */
		{ "family.", find_family_message },
		{ "ethtool-", find_ethtool_message },
		{ "ethtool-stats", find_ethtool_stats_message },
		{ "devlink-", find_devlink_message },
	};
	find_message find = redact_no_rule;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (!strncmp(name, requests[i].begin, strlen(requests[i].begin)))
			find = requests[i].find;
	return find;
}
