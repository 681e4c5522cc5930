/* SPDX-License-Identifier: MIT */
#include "report/redact_binary.h"

#include "report/redact_text.h"

#include <endian.h>
#include <linux/dcbnl.h>
#include <linux/devlink.h>
#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/pci_regs.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

/* NLA_HDRLEN without the sign. */
#define ATTRIBUTE_HEADER sizeof(struct nlattr)

/* What an attribute holds. */
enum content {
	DROP, /* not known, or not to be shown */
	KEEP,
	TEXT,
	LINK_ADDRESS, /* also of an identifier of 8 bytes */
	IP,           /* 4 or 16 bytes */
	VIA,          /* struct rtvia: a family before the address */
	HOST_GUID,    /* eight bytes in host order */
	NEXT_HOPS,    /* struct rtnexthop with attributes */
	NEST,         /* attributes, by `below` */
	LINK_INFO,    /* attributes, those of data by the kind */
};

struct attribute_rule {
	unsigned short type;
	enum content content;
	const struct attribute_table *below;
};

struct attribute_table {
	enum content otherwise;
	const struct attribute_rule *rules;
	size_t count;
};

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
static const struct attribute_table route = TABLE(DROP, route_rules);

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

/* ---- one attribute ---- */

static void redact_attributes(
        struct pseudonyms *pseudonyms, const struct attribute_table *table, unsigned char *data, size_t length);

/* Names made of a MAC keep their length; what does not is taken out. */
static void redact_text_in_place(struct pseudonyms *pseudonyms, unsigned char *data, size_t length)
{
	size_t used = strnlen((const char *)data, length), now = 0;
	char *text = redact_text(pseudonyms, WORDS_NONE, (const char *)data, used, &now);
	memset(data, 0, length);
	if (text && now <= length)
		memcpy(data, text, now);
	free(text);
}

static void redact_ip(struct pseudonyms *pseudonyms, unsigned char *data, size_t length)
{
	if (length == 4 || length == 16)
		pseudonym_link_address(pseudonyms, data, length);
	else
		memset(data, 0, length);
}

static void redact_host_guid(struct pseudonyms *pseudonyms, unsigned char *data, size_t length)
{
	uint64_t guid;
	uint8_t bytes[8];
	if (length != sizeof(guid)) {
		memset(data, 0, length);
		return;
	}
	memcpy(&guid, data, sizeof(guid));
	guid = htobe64(guid);
	memcpy(bytes, &guid, sizeof(bytes));
	pseudonym_guid(pseudonyms, bytes);
	memcpy(&guid, bytes, sizeof(bytes));
	guid = be64toh(guid);
	memcpy(data, &guid, sizeof(guid));
}

static void redact_next_hops(struct pseudonyms *pseudonyms, unsigned char *data, size_t length)
{
	while (length >= sizeof(struct rtnexthop)) {
		struct rtnexthop hop;
		memcpy(&hop, data, sizeof(hop));
		if (hop.rtnh_len < sizeof(hop) || hop.rtnh_len > length)
			break;
		redact_attributes(pseudonyms, &route, data + sizeof(hop), hop.rtnh_len - sizeof(hop));
		size_t next = RTNH_ALIGN(hop.rtnh_len);
		data += next < length ? next : length;
		length -= next < length ? next : length;
	}
	memset(data, 0, length);
}

/* ---- attributes ---- */

static unsigned short type_of(const struct nlattr *header)
{
	return (unsigned short)(header->nla_type & (unsigned int)NLA_TYPE_MASK);
}

/* The attribute at `data`: its header, and how far the next one is. False: there is none. */
static bool next_attribute(const unsigned char *data, size_t length, struct nlattr *header, size_t *step)
{
	if (length < ATTRIBUTE_HEADER)
		return false;
	memcpy(header, data, sizeof(*header));
	size_t aligned = (header->nla_len + 3u) & ~3u;
	*step = aligned < length ? aligned : length;
	return header->nla_len >= ATTRIBUTE_HEADER && header->nla_len <= length;
}

static const struct attribute_table *table_of_kind(
        const unsigned char *info, size_t length, unsigned short wanted, const struct attribute_table *fallback)
{
	struct nlattr header;
	for (size_t at = 0, step; next_attribute(info + at, length - at, &header, &step); at += step) {
		const char *kind = (const char *)info + at + ATTRIBUTE_HEADER;
		size_t size = header.nla_len - ATTRIBUTE_HEADER;
		for (size_t i = 0; type_of(&header) == wanted && i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (strnlen(kind, size) == strlen(kinds[i].kind) &&
			        !memcmp(kind, kinds[i].kind, strlen(kinds[i].kind)))
				return kinds[i].data;
	}
	return fallback;
}

static void redact_link_info(struct pseudonyms *pseudonyms, unsigned char *data, size_t length)
{
	const struct attribute_table *own = table_of_kind(data, length, IFLA_INFO_KIND, &drop_all);
	const struct attribute_table *master = table_of_kind(data, length, IFLA_INFO_SLAVE_KIND, &drop_all);
	const struct attribute_rule rules[] = {
		{ IFLA_INFO_KIND, KEEP, NULL },
		{ IFLA_INFO_SLAVE_KIND, KEEP, NULL },
		{ IFLA_INFO_DATA, NEST, own },
		{ IFLA_INFO_SLAVE_DATA, NEST, master == &bond ? &bond_slave : &drop_all },
	};
	const struct attribute_table info = TABLE(DROP, rules);
	redact_attributes(pseudonyms, &info, data, length);
}

static const struct attribute_rule *find_rule(const struct attribute_table *table, unsigned short type)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->rules[i].type == type)
			return &table->rules[i];
	return NULL;
}

/* False: the attribute is taken out. */
static bool redact_payload(struct pseudonyms *pseudonyms, enum content content, const struct attribute_table *below,
        unsigned char *data, size_t length)
{
	switch (content) {
	case KEEP:
		return true;
	case TEXT:
		redact_text_in_place(pseudonyms, data, length);
		return true;
	case LINK_ADDRESS:
		pseudonym_link_address(pseudonyms, data, length);
		return true;
	case IP:
		redact_ip(pseudonyms, data, length);
		return true;
	case VIA:
		if (length > 2)
			redact_ip(pseudonyms, data + 2, length - 2);
		return true;
	case HOST_GUID:
		redact_host_guid(pseudonyms, data, length);
		return true;
	case NEXT_HOPS:
		redact_next_hops(pseudonyms, data, length);
		return true;
	case NEST:
		redact_attributes(pseudonyms, below, data, length);
		return true;
	case LINK_INFO:
		redact_link_info(pseudonyms, data, length);
		return true;
	case DROP:
		break;
	}
	return false;
}

static void redact_attributes(
        struct pseudonyms *pseudonyms, const struct attribute_table *table, unsigned char *data, size_t length)
{
	struct nlattr header;
	size_t step;
	while (next_attribute(data, length, &header, &step)) {
		size_t size = header.nla_len - ATTRIBUTE_HEADER;
		const struct attribute_rule *found = find_rule(table, type_of(&header));
		enum content content = found ? found->content : table->otherwise;
		if (!redact_payload(pseudonyms, content, found ? found->below : NULL, data + ATTRIBUTE_HEADER, size)) {
			header.nla_type = 0;
			memcpy(data, &header, sizeof(header));
			memset(data + ATTRIBUTE_HEADER, 0, size);
		}
		data += step;
		length -= step;
	}
	memset(data, 0, length);
}

/* ---- messages ---- */

struct message_rule {
	unsigned short type;
	unsigned short header; /* bytes before the attributes, without addresses */
	const struct attribute_table *attributes;
};

static const struct message_rule route_messages[] = {
	{ RTM_NEWLINK, sizeof(struct ifinfomsg), &link }, { RTM_NEWADDR, sizeof(struct ifaddrmsg), &address },
	{ RTM_NEWROUTE, sizeof(struct rtmsg), &route }, { RTM_NEWNEIGH, sizeof(struct ndmsg), &neighbour },
	{ RTM_NEWRULE, sizeof(struct rtmsg), &rule },
	{ RTM_GETDCB, sizeof(struct dcbmsg), &dcb }, /* the answer has the request's type */
};

static void redact_message(
        struct pseudonyms *pseudonyms, const struct message_rule *how, unsigned char *message, size_t length)
{
	size_t header = NLMSG_HDRLEN + (how ? NLMSG_ALIGN(how->header) : 0);
	if (how && length >= header) {
		redact_attributes(pseudonyms, how->attributes, message + header, length - header);
		return;
	}
	struct nlmsghdr empty = { .nlmsg_len = (uint32_t)length, .nlmsg_type = NLMSG_NOOP };
	memset(message, 0, length);
	memcpy(message, &empty, sizeof(empty));
}

typedef const struct message_rule *(*find_message)(unsigned short type);

static void redact_messages(struct pseudonyms *pseudonyms, unsigned char *data, size_t length, find_message find)
{
	while (length >= NLMSG_HDRLEN) {
		struct nlmsghdr header;
		memcpy(&header, data, sizeof(header));
		if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > length)
			break;
		redact_message(pseudonyms, find(header.nlmsg_type), data, header.nlmsg_len);
		size_t step = NLMSG_ALIGN(header.nlmsg_len) < length ? NLMSG_ALIGN(header.nlmsg_len) : length;
		data += step;
		length -= step;
	}
	memset(data, 0, length);
}

static const struct message_rule *find_route_message(unsigned short type)
{
	for (size_t i = 0; i < sizeof(route_messages) / sizeof(route_messages[0]); i++)
		if (route_messages[i].type == type)
			return &route_messages[i];
	return NULL;
}

static const struct message_rule *find_rdma_message(unsigned short type)
{
	static const struct message_rule nldev = { 0, 0, &rdma };
	return RDMA_NL_GET_CLIENT(type) == RDMA_NL_NLDEV ? &nldev : NULL;
}

void redact_netlink_route(struct pseudonyms *pseudonyms, unsigned char *messages, size_t length)
{
	redact_messages(pseudonyms, messages, length, find_route_message);
}

void redact_netlink_rdma(struct pseudonyms *pseudonyms, unsigned char *messages, size_t length)
{
	redact_messages(pseudonyms, messages, length, find_rdma_message);
}

static const struct message_rule *find_no_message(unsigned short type)
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

void redact_netlink_generic(struct pseudonyms *pseudonyms, const char *name, unsigned char *messages, size_t length)
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
	find_message find = find_no_message;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (!strncmp(name, requests[i].begin, strlen(requests[i].begin)))
			find = requests[i].find;
	redact_messages(pseudonyms, messages, length, find);
}

void redact_netlink_other(struct pseudonyms *pseudonyms, unsigned char *messages, size_t length)
{
	redact_messages(pseudonyms, messages, length, find_no_message);
}

/* ---- PCI ---- */

static uint32_t long_at(const unsigned char *config, size_t at)
{
	uint32_t value;
	memcpy(&value, config + at, sizeof(value));
	return le32toh(value);
}

/* The lower half stands first, and each half in little endian: the EUI-64 from its end (PCIe, 7.9.3). */
static void redact_serial(struct pseudonyms *pseudonyms, unsigned char *serial)
{
	uint8_t guid[8];
	for (size_t i = 0; i < sizeof(guid); i++)
		guid[i] = serial[7 - i];
	pseudonym_guid(pseudonyms, guid);
	for (size_t i = 0; i < sizeof(guid); i++)
		serial[7 - i] = guid[i];
}

void redact_pci_config(struct pseudonyms *pseudonyms, unsigned char *config, size_t length)
{
	enum { EXTENDED = 0x100, CAPABILITIES_LIMIT = 1024, SERIAL_SIZE = 12 };
	size_t at = EXTENDED;
	for (int i = 0; i < CAPABILITIES_LIMIT && at >= EXTENDED && at + SERIAL_SIZE <= length; i++) {
		uint32_t header = long_at(config, at);
		if (PCI_EXT_CAP_ID(header) == PCI_EXT_CAP_ID_DSN)
			redact_serial(pseudonyms, config + at + 4);
		at = PCI_EXT_CAP_NEXT(header);
	}
}
