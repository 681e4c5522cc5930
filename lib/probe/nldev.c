/* SPDX-License-Identifier: MIT */
#include "probe/nldev.h"

#include "source/nl_attr.h"

#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

struct nlmsghdr *nldev_request(char buffer[NLDEV_REQUEST_BYTES], int command, unsigned int flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	message->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	return message;
}

int nldev_ask(struct origin *origin, const char *name, struct nlmsghdr *message,
        int (*take)(const struct nlmsghdr *message, void *context), void *context)
{
	struct nl_request request = { .name = name, .message = message };
	int result = origin_netlink(origin, NETLINK_RDMA, &request, 1);
	result = result ? result : request.error;
	result = result ? result : nl_each_message(request.reply, request.length, take, context);
	nl_requests_free(&request, 1);
	return result;
}

struct device_search {
	const char *name;
	struct num index;
};

static int match_device(const struct nlmsghdr *message, void *data)
{
	struct device_search *search = data;
	const struct nlattr *table[RDMA_NLDEV_ATTR_DEV_NAME + 1];
	nl_attributes(message, 0, table, RDMA_NLDEV_ATTR_DEV_NAME);
	const struct nlattr *name = table[RDMA_NLDEV_ATTR_DEV_NAME];
	if (name && !mnl_attr_validate(name, MNL_TYPE_NUL_STRING) && !strcmp(mnl_attr_get_str(name), search->name))
		search->index = nl_u32(table[RDMA_NLDEV_ATTR_DEV_INDEX]);
	return 0;
}

int nldev_index(struct origin *origin, const char *device, uint32_t *index)
{
	char buffer[NLDEV_REQUEST_BYTES];
	struct device_search search = { .name = device };
	int result = nldev_ask(
	        origin, "rdma/dev", nldev_request(buffer, RDMA_NLDEV_CMD_GET, NLM_F_DUMP), match_device, &search);
	*index = (uint32_t)search.index.value;
	return result ? result : search.index.known ? 0 : -ENODEV;
}
