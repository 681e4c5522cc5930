/* SPDX-License-Identifier: MIT */
#include "source/ethtool.h"
#include "base/cleanup.h"
#include "source/genl.h"
#include "source/nl_attr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* include/uapi/linux/ethtool_netlink.h; later than the oldest headers that this is compiled with. */
enum { MSG_LINKSTATE_GET = 6, MSG_PAUSE_GET = 21, MSG_FEC_GET = 29, MSG_STATS_GET = 32, MSG_MODULE_GET = 34 };
enum { HEADER_DEV_INDEX = 1, HEADER_FLAGS = 3, FLAG_STATS = 4 };
enum { PAUSE_AUTONEG = 2, PAUSE_RX = 3, PAUSE_TX = 4, PAUSE_STATS = 5, PAUSE_STAT_TX = 2, PAUSE_STAT_RX = 3 };
enum { FEC_ACTIVE = 4, FEC_STATS = 5, FEC_STAT_CORRECTED = 2, FEC_STAT_UNCORR = 3 };
enum { STAT_LIMIT = 3 }; /* of those that are read in such a nest */
enum { MODULE_POWER_MODE = 3, POWER_LOW = 1, POWER_HIGH = 2 };
enum { LINKSTATE_EXT_STATE = 5 };
enum { STATS_GROUPS = 3, STATS_GRP = 4, GRP_ID = 2, GRP_STAT = 4 };
enum { BITSET_NOMASK = 1, BITSET_SIZE = 2, BITSET_VALUE = 4 };
enum { GROUP_PHY = 0, GROUP_MAC = 1, GROUP_RMON = 3 };

static const struct nlattr **sort(const struct nlmsghdr *message, const struct nlattr **table, size_t max)
{
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(struct genlmsghdr)))
		return NULL;
	nl_attributes(message, sizeof(struct genlmsghdr), table, max);
	return table;
}

/* An answer that has its statistics as its last attribute, in a nest. */
static bool sort_with_stats(
        const struct nlmsghdr *message, const struct nlattr **table, size_t max, const struct nlattr **stats)
{
	if (!sort(message, table, max))
		return false;
	nl_nested(table[max], stats, STAT_LIMIT);
	return true;
}

static struct num first_u64(const struct nlattr *attribute)
{
	uint64_t value;
	return nl_u64(attribute, &value) || value > INT64_MAX ? (struct num){ 0 } : num((int64_t)value);
}

static enum flag as_flag(const struct nlattr *attribute)
{
	struct num value = nl_u8(attribute);
	return value.known ? flag(value.value) : FLAG_UNKNOWN;
}

struct taking {
	struct arena *arena;
	struct netdev_health *health;
};

/* ---- pause, FEC, module, link ---- */

static int take_pause(const struct nlmsghdr *message, void *context)
{
	struct taking *taking = context;
	const struct nlattr *table[PAUSE_STATS + 1], *stats[STAT_LIMIT + 1];
	struct pause_facts *pause = sort_with_stats(message, table, PAUSE_STATS, stats)
	                                    ? arena_new_object(taking->arena, struct pause_facts)
	                                    : NULL;
	if (!pause)
		return 0;
	pause->autonegotiated = as_flag(table[PAUSE_AUTONEG]);
	pause->receive = as_flag(table[PAUSE_RX]);
	pause->transmit = as_flag(table[PAUSE_TX]);
	pause->frames_sent = first_u64(stats[PAUSE_STAT_TX]);
	pause->frames_received = first_u64(stats[PAUSE_STAT_RX]);
	taking->health->pause = pause;
	return 0;
}

/* Bits of enum ethtool_link_mode_bit_indices. */
static const char *fec_word(struct num bit)
{
	enum { NONE = 49, RS = 50, BASER = 51, LLRS = 74 };
	if (!bit.known)
		return NULL;
	switch (bit.value) {
	case NONE:
		return "none";
	case RS:
		return "rs";
	case BASER:
		return "baser";
	case LLRS:
		return "llrs";
	default:
		return NULL;
	}
}

static int take_fec(const struct nlmsghdr *message, void *context)
{
	struct taking *taking = context;
	const struct nlattr *table[FEC_STATS + 1], *stats[STAT_LIMIT + 1];
	struct fec_facts *fec = sort_with_stats(message, table, FEC_STATS, stats)
	                                ? arena_new_object(taking->arena, struct fec_facts)
	                                : NULL;
	if (!fec)
		return 0;
	fec->active = fec_word(nl_u32(table[FEC_ACTIVE]));
	/* The total comes first, then one for each lane. */
	fec->corrected_blocks = first_u64(stats[FEC_STAT_CORRECTED]);
	fec->uncorrectable_blocks = first_u64(stats[FEC_STAT_UNCORR]);
	taking->health->fec = fec;
	return 0;
}

static int take_module(const struct nlmsghdr *message, void *context)
{
	struct taking *taking = context;
	const struct nlattr *table[MODULE_POWER_MODE + 1];
	if (!sort(message, table, MODULE_POWER_MODE))
		return 0;
	struct num mode = nl_u8(table[MODULE_POWER_MODE]);
	if (num_is(mode, POWER_LOW) || num_is(mode, POWER_HIGH))
		taking->health->module_power = num_is(mode, POWER_LOW) ? "low" : "high";
	return 0;
}

static int take_linkstate(const struct nlmsghdr *message, void *context)
{
	/* enum ethtool_link_ext_state */
	static const char *const words[] = { "autonegotiation", "link training failed", "logical mismatch",
		"bad signal integrity", "no cable", "cable issue", "EEPROM issue", "calibration failed",
		"power budget exceeded", "overheat", "module" };
	struct taking *taking = context;
	const struct nlattr *table[LINKSTATE_EXT_STATE + 1];
	if (!sort(message, table, LINKSTATE_EXT_STATE))
		return 0;
	struct num state = nl_u8(table[LINKSTATE_EXT_STATE]);
	if (state.known && state.value < (int64_t)ARRAY_SIZE(words))
		taking->health->link_problem = words[state.value];
	return 0;
}

/* ---- statistics ---- */

/* Those of errors; numbers and names of the standard's attributes as the kernel gives them. */
static const struct {
	int group, id;
	const char *name, *source;
} known_stats[] = {
	{ GROUP_PHY, 0, "SymbolErrorDuringCarrier", "ethtool eth-phy" },
	{ GROUP_MAC, 4, "FrameCheckSequenceErrors", "ethtool eth-mac" },
	{ GROUP_MAC, 5, "AlignmentErrors", "ethtool eth-mac" },
	{ GROUP_MAC, 10, "FramesLostDueToIntMACXmitError", "ethtool eth-mac" },
	{ GROUP_MAC, 11, "CarrierSenseErrors", "ethtool eth-mac" },
	{ GROUP_MAC, 13, "FramesLostDueToIntMACRcvError", "ethtool eth-mac" },
	{ GROUP_MAC, 19, "InRangeLengthErrors", "ethtool eth-mac" },
	{ GROUP_MAC, 20, "OutOfRangeLengthField", "ethtool eth-mac" },
	{ GROUP_MAC, 21, "FrameTooLongErrors", "ethtool eth-mac" },
	{ GROUP_RMON, 0, "etherStatsUndersizePkts", "ethtool rmon" },
	{ GROUP_RMON, 1, "etherStatsOversizePkts", "ethtool rmon" },
	{ GROUP_RMON, 2, "etherStatsFragments", "ethtool rmon" },
	{ GROUP_RMON, 3, "etherStatsJabbers", "ethtool rmon" },
};

static void add_stat(struct taking *taking, int64_t group, const struct nlattr *stat)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_stats); i++) {
		if (known_stats[i].group != group || known_stats[i].id != mnl_attr_get_type(stat))
			continue;
		struct num value = first_u64(stat);
		struct health_counter *counter =
		        value.known ? list_add(taking->arena, &taking->health->counters) : NULL;
		if (counter)
			*counter = (struct health_counter){ known_stats[i].name, known_stats[i].source, value };
	}
}

static void take_group(struct taking *taking, const struct nlattr *group)
{
	const struct nlattr *table[GRP_STAT + 1];
	const char *end, *stat_end;
	nl_nested(group, table, GRP_STAT);
	struct num id = nl_u32(table[GRP_ID]);
	if (!id.known)
		return;
	for (const struct nlattr *at = nl_first(group, &end); at; at = nl_next(at, end)) {
		if (mnl_attr_get_type(at) != GRP_STAT)
			continue;
		/* A pad may stand before the number, where the machine wants it aligned. */
		for (const struct nlattr *stat = nl_first(at, &stat_end); stat; stat = nl_next(stat, stat_end))
			add_stat(taking, id.value, stat);
	}
}

static int take_stats(const struct nlmsghdr *message, void *context)
{
	const char *end;
	for (const struct nlattr *at = nl_first_of(message, GENL_HDRLEN, &end); at; at = nl_next(at, end))
		if (mnl_attr_get_type(at) == STATS_GRP)
			take_group(context, at);
	return 0;
}

#define PARSER(subject)                                                                                                \
	int ethtool_parse_##subject(                                                                                   \
	        const void *data, size_t length, struct arena *arena, struct netdev_health *health)                    \
	{                                                                                                              \
		struct taking taking = { arena, health };                                                              \
		return nl_each_message(data, length, take_##subject, &taking);                                         \
	}
PARSER(pause)
PARSER(fec)
PARSER(module)
PARSER(linkstate)
PARSER(stats)

/* ---- requests ---- */

typedef int (*parser)(const void *data, size_t length, struct arena *arena, struct netdev_health *health);

static const struct {
	const char *name;
	uint8_t command;
	uint32_t flags;
	parser parse;
} questions[] = {
	{ "linkstate", MSG_LINKSTATE_GET, 0, ethtool_parse_linkstate },
	{ "pause", MSG_PAUSE_GET, FLAG_STATS, ethtool_parse_pause },
	{ "fec", MSG_FEC_GET, FLAG_STATS, ethtool_parse_fec },
	{ "module", MSG_MODULE_GET, 0, ethtool_parse_module },
	{ "stats", MSG_STATS_GET, 0, ethtool_parse_stats },
};

static void put_groups(struct nlmsghdr *message)
{
	enum { GROUPS = 1 << GROUP_PHY | 1 << GROUP_MAC | 1 << GROUP_RMON, GROUP_COUNT = 4 };
	struct nlattr *nest = mnl_attr_nest_start(message, STATS_GROUPS);
	mnl_attr_put(message, BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(message, BITSET_SIZE, GROUP_COUNT);
	mnl_attr_put_u32(message, BITSET_VALUE, GROUPS);
	mnl_attr_nest_end(message, nest);
}

/* The header's attribute is 1 everywhere but in STATS_GET, which has a pad before it. */
static struct nlmsghdr *question(void *buffer, int family, size_t which, int64_t ifindex)
{
	struct nlmsghdr *message = genl_message(buffer, family, questions[which].command, 1);
	bool stats = questions[which].command == MSG_STATS_GET;
	struct nlattr *nest = mnl_attr_nest_start(message, stats ? 2 : 1);
	mnl_attr_put_u32(message, HEADER_DEV_INDEX, (uint32_t)ifindex);
	if (questions[which].flags)
		mnl_attr_put_u32(message, HEADER_FLAGS, questions[which].flags);
	mnl_attr_nest_end(message, nest);
	if (stats)
		put_groups(message);
	return message;
}

int ethtool_read(struct origin *origin, struct arena *arena, int family, int64_t ifindex, struct netdev_health *health)
{
	enum { COUNT = ARRAY_SIZE(questions), SIZE = 128 };
	_Alignas(struct nlmsghdr) unsigned char buffers[COUNT][SIZE];
	char names[COUNT][48];
	struct nl_request requests[COUNT] = { 0 };
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(names[i], sizeof(names[i]), "ethtool-%s.%" PRId64, questions[i].name, ifindex);
		requests[i].name = names[i];
		requests[i].message = question(buffers[i], family, i, ifindex);
	}
	int result = origin_netlink(origin, NETLINK_GENERIC, requests, COUNT);
	for (size_t i = 0; i < COUNT && result != -ETIMEDOUT; i++)
		if (!requests[i].error && requests[i].length)
			questions[i].parse(requests[i].reply, requests[i].length, arena, health);
	nl_requests_free(requests, COUNT);
	/* None answered: no driver behind it offers any of them. */
	return result == -EOPNOTSUPP || result == -EINVAL ? 0 : result;
}
