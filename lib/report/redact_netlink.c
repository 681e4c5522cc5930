/* SPDX-License-Identifier: MIT */
#include "report/redact_netlink.h"

#include "report/redact_rules.h"
#include "report/redact_text.h"

#include <endian.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

/* NLA_HDRLEN without the sign. */
#define ATTRIBUTE_HEADER sizeof(struct nlattr)

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
		redact_attributes(pseudonyms, &redact_route_attributes, data + sizeof(hop), hop.rtnh_len - sizeof(hop));
		size_t next = (size_t)RTNH_ALIGN(hop.rtnh_len);
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

/* What is data of the link, or of the link as a member, by the kind that stands beside it. */
static const struct attribute_table *data_of_kind(const unsigned char *info, size_t length, bool of_member)
{
	struct nlattr header;
	for (size_t at = 0, step; next_attribute(info + at, length - at, &header, &step); at += step)
		if (type_of(&header) == (of_member ? IFLA_INFO_SLAVE_KIND : IFLA_INFO_KIND))
			return redact_link_data((const char *)info + at + ATTRIBUTE_HEADER,
			        header.nla_len - ATTRIBUTE_HEADER, of_member);
	return redact_link_data("", 0, of_member);
}

static void redact_link_info(struct pseudonyms *pseudonyms, unsigned char *data, size_t length)
{
	const struct attribute_rule rules[] = {
		{ IFLA_INFO_KIND, KEEP, NULL },
		{ IFLA_INFO_SLAVE_KIND, KEEP, NULL },
		{ IFLA_INFO_DATA, NEST, data_of_kind(data, length, false) },
		{ IFLA_INFO_SLAVE_DATA, NEST, data_of_kind(data, length, true) },
	};
	const struct attribute_table info = { DROP, rules, sizeof(rules) / sizeof(rules[0]) };
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

void redact_netlink_route(struct pseudonyms *pseudonyms, unsigned char *messages, size_t length)
{
	redact_messages(pseudonyms, messages, length, redact_route_rule);
}

void redact_netlink_rdma(struct pseudonyms *pseudonyms, unsigned char *messages, size_t length)
{
	redact_messages(pseudonyms, messages, length, redact_rdma_rule);
}

void redact_netlink_generic(struct pseudonyms *pseudonyms, const char *name, unsigned char *messages, size_t length)
{
	redact_messages(pseudonyms, messages, length, redact_generic_rules(name));
}

void redact_netlink_other(struct pseudonyms *pseudonyms, unsigned char *messages, size_t length)
{
	redact_messages(pseudonyms, messages, length, redact_no_rule);
}
