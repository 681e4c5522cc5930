/* SPDX-License-Identifier: MIT */
/* What may hold an address or a name in messages of netlink, by protocol, message and attribute: tables only. */
#ifndef RDMADIAG_REPORT_REDACT_RULES_H
#define RDMADIAG_REPORT_REDACT_RULES_H

#include <stdbool.h>
#include <stddef.h>

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

/* How messages of one type are gone through. */
struct message_rule {
	unsigned short type;
	unsigned short header; /* bytes before the attributes, without addresses */
	const struct attribute_table *attributes;
};

/* The rule of a type of message; NULL: nothing is known of it. */
typedef const struct message_rule *(*find_message)(unsigned short type);
const struct message_rule *redact_route_rule(unsigned short type);
const struct message_rule *redact_rdma_rule(unsigned short type);
const struct message_rule *redact_no_rule(unsigned short type);
/* Of NETLINK_GENERIC: `name` of the request says which family answered. */
find_message redact_generic_rules(const char *name);

/* Of a route, and of each next hop in its RTA_MULTIPATH. */
extern const struct attribute_table redact_route_attributes;
/* What IFLA_INFO_DATA holds by the text of IFLA_INFO_KIND, or, of a member, IFLA_INFO_SLAVE_DATA by its master's. */
const struct attribute_table *redact_link_data(const char *kind, size_t size, bool of_member);

#endif
