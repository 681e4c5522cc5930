/* SPDX-License-Identifier: MIT */
#include "source/nl_attr.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

int nl_each_message(
        const void *data, size_t length, int (*take)(const struct nlmsghdr *message, void *context), void *context)
{
	const char *at = data;
	while (length >= sizeof(struct nlmsghdr)) {
		const struct nlmsghdr *message = (const struct nlmsghdr *)at;
		if (message->nlmsg_len < sizeof(*message) || message->nlmsg_len > length)
			return -EBADMSG;
		int error = take(message, context);
		if (error)
			return error;
		size_t step = NLMSG_ALIGN(message->nlmsg_len);
		if (step >= length)
			return 0;
		at += step;
		length -= step;
	}
	return length ? -EBADMSG : 0;
}

static void sort_attributes(const char *at, size_t length, const struct nlattr **table, size_t max)
{
	memset(table, 0, (max + 1) * sizeof(*table));
	while (length >= sizeof(struct nlattr)) {
		const struct nlattr *attribute = (const struct nlattr *)at;
		if (attribute->nla_len < sizeof(*attribute) || attribute->nla_len > length)
			return;
		uint16_t type = mnl_attr_get_type(attribute);
		if (type <= max)
			table[type] = attribute;
		size_t step = (size_t)NLA_ALIGN(attribute->nla_len);
		if (step >= length)
			return;
		at += step;
		length -= step;
	}
}

void nl_attributes(const struct nlmsghdr *message, size_t header, const struct nlattr **table, size_t max)
{
	size_t skip = NLMSG_HDRLEN + NLMSG_ALIGN(header);
	size_t length = message->nlmsg_len > skip ? message->nlmsg_len - skip : 0;
	sort_attributes((const char *)message + skip, length, table, max);
}

static size_t payload(const struct nlattr *attribute)
{
	return attribute ? attribute->nla_len - sizeof(*attribute) : 0;
}

void nl_nested(const struct nlattr *attribute, const struct nlattr **table, size_t max)
{
	sort_attributes(attribute ? (const char *)(attribute + 1) : NULL, payload(attribute), table, max);
}

struct num nl_u8(const struct nlattr *attribute)
{
	return payload(attribute) ? num(*(const uint8_t *)(attribute + 1)) : (struct num){ 0 };
}

struct num nl_u16(const struct nlattr *attribute)
{
	uint16_t value;
	if (payload(attribute) < sizeof(value))
		return (struct num){ 0 };
	memcpy(&value, attribute + 1, sizeof(value));
	return num(value);
}

struct num nl_u32(const struct nlattr *attribute)
{
	uint32_t value;
	if (payload(attribute) < sizeof(value))
		return (struct num){ 0 };
	memcpy(&value, attribute + 1, sizeof(value));
	return num(value);
}

int nl_u64(const struct nlattr *attribute, uint64_t *value)
{
	if (payload(attribute) < sizeof(*value))
		return -ENODATA;
	memcpy(value, attribute + 1, sizeof(*value));
	return 0;
}

char *nl_text(const struct nlattr *attribute, struct arena *arena)
{
	return attribute ? arena_strndup(arena, (const char *)(attribute + 1), payload(attribute)) : NULL;
}

char *nl_hex(const struct nlattr *attribute, struct arena *arena, char separator)
{
	enum { LIMIT = 64 };
	size_t length = payload(attribute);
	if (!length || length > LIMIT)
		return NULL;
	char text[LIMIT * 3 + 1];
	format_hex(attribute + 1, length, 1, separator, text);
	return arena_strdup(arena, text);
}

static const struct nlattr *whole(const char *at, const char *end)
{
	const struct nlattr *attribute = (const struct nlattr *)at;
	if (end - at < (ptrdiff_t)sizeof(*attribute) || attribute->nla_len < sizeof(*attribute) ||
	        attribute->nla_len > end - at)
		return NULL;
	return attribute;
}

const struct nlattr *nl_first(const struct nlattr *nest, const char **end)
{
	*end = (const char *)nest + nest->nla_len;
	return whole((const char *)nest + sizeof(*nest), *end);
}

const struct nlattr *nl_first_of(const struct nlmsghdr *message, size_t header, const char **end)
{
	size_t skip = NLMSG_LENGTH(NLMSG_ALIGN(header));
	*end = (const char *)message + message->nlmsg_len;
	return message->nlmsg_len < skip ? NULL : whole((const char *)message + skip, *end);
}

const struct nlattr *nl_next(const struct nlattr *attribute, const char *end)
{
	size_t step = (size_t)NLA_ALIGN(attribute->nla_len);
	const char *at = (const char *)attribute;
	return step >= (size_t)(end - at) ? NULL : whole(at + step, end);
}
