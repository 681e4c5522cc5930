/* SPDX-License-Identifier: MIT */
#include "source/genl.h"
#include "source/nl_attr.h"

#include <errno.h>
#include <stdio.h>

struct nlmsghdr *genl_message(void *buffer, int family, uint8_t command, uint8_t version)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = (uint16_t)family;
	message->nlmsg_flags = NLM_F_REQUEST;
	struct genlmsghdr *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	header->cmd = command;
	header->version = version;
	return message;
}

static int take_family(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *table[CTRL_ATTR_FAMILY_NAME + 1];
	struct num *id = context;
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(struct genlmsghdr)))
		return 0;
	nl_attributes(message, sizeof(struct genlmsghdr), table, CTRL_ATTR_FAMILY_NAME);
	*id = nl_u16(table[CTRL_ATTR_FAMILY_ID]);
	return 0;
}

int genl_family(struct origin *origin, const char *name)
{
	_Alignas(struct nlmsghdr) unsigned char buffer[128];
	char request[64];
	struct num id = { 0 };
	struct nlmsghdr *message = genl_message(buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	mnl_attr_put_strz(message, CTRL_ATTR_FAMILY_NAME, name);
	snprintf(request, sizeof(request), "family.%s", name);
	struct nl_request nl = { .name = request, .message = message };
	int result = origin_netlink(origin, NETLINK_GENERIC, &nl, 1);
	if (!result)
		result = nl.error;
	if (!result)
		result = nl_each_message(nl.reply, nl.length, take_family, &id);
	nl_requests_free(&nl, 1);
	return result ? result : id.known ? (int)id.value : -EBADMSG;
}
