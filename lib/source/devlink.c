/* SPDX-License-Identifier: MIT */
#include "source/devlink.h"
#include "source/genl.h"
#include "source/nl_attr.h"

#include <errno.h>
#include <linux/devlink.h>

struct taking {
	struct arena *arena;
	struct health *health;
};

static struct num count_of(const struct nlattr *attribute)
{
	uint64_t value;
	return nl_u64(attribute, &value) || value > INT64_MAX ? (struct num){ 0 } : num((int64_t)value);
}

static int take(const struct nlmsghdr *message, void *context)
{
	struct taking *taking = context;
	const struct nlattr *table[DEVLINK_ATTR_HEALTH_REPORTER + 1],
	        *reporter[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT + 1];
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(struct genlmsghdr)))
		return 0;
	nl_attributes(message, sizeof(struct genlmsghdr), table, DEVLINK_ATTR_HEALTH_REPORTER);
	nl_nested(table[DEVLINK_ATTR_HEALTH_REPORTER], reporter, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT);
	const char *name = nl_text(reporter[DEVLINK_ATTR_HEALTH_REPORTER_NAME], taking->arena);
	struct reporter_health *found = name ? list_add(taking->arena, &taking->health->reporters) : NULL;
	if (!found)
		return name ? -ENOMEM : 0;
	struct num state = nl_u8(reporter[DEVLINK_ATTR_HEALTH_REPORTER_STATE]);
	*found = (struct reporter_health){ .name = name,
		.bus = nl_text(table[DEVLINK_ATTR_BUS_NAME], taking->arena),
		.address = nl_text(table[DEVLINK_ATTR_DEV_NAME], taking->arena),
		.port = nl_u32(table[DEVLINK_ATTR_PORT_INDEX]),
		/* enum devlink_health_reporter_state, in the kernel only: include/net/devlink.h */
		.state = num_is(state, 0)   ? "healthy"
		         : num_is(state, 1) ? "error"
		                            : NULL,
		.errors = count_of(reporter[DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT]),
		.recoveries = count_of(reporter[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT]) };
	return 0;
}

int devlink_parse(const void *data, size_t length, struct arena *arena, struct health *health)
{
	struct taking taking = { arena, health };
	return nl_each_message(data, length, take, &taking);
}

int devlink_read(struct origin *origin, struct arena *arena, struct health *health)
{
	_Alignas(struct nlmsghdr) unsigned char buffer[64];
	int family = genl_family(origin, DEVLINK_GENL_NAME);
	if (family < 0)
		return family;
	struct nlmsghdr *message = genl_message(buffer, family, DEVLINK_CMD_HEALTH_REPORTER_GET, DEVLINK_GENL_VERSION);
	message->nlmsg_flags |= NLM_F_DUMP;
	struct nl_request nl = { .name = "devlink-health", .message = message };
	int result = origin_netlink(origin, NETLINK_GENERIC, &nl, 1);
	if (!result)
		result = nl.error;
	if (!result && nl.length)
		result = devlink_parse(nl.reply, nl.length, arena, health);
	nl_requests_free(&nl, 1);
	return result;
}
