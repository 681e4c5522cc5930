/* SPDX-License-Identifier: MIT */
#include "source/dcb.h"
#include "source/nl_attr.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

static const char *algorithm_name(uint8_t code)
{
	switch (code) {
	case IEEE_8021QAZ_TSA_STRICT:
		return "strict";
	case IEEE_8021QAZ_TSA_CB_SHAPER:
		return "credit";
	case IEEE_8021QAZ_TSA_ETS:
		return "ets";
	case 255: /* IEEE_8021QAZ_TSA_VENDOR, Linux 5.10 */
		return "vendor";
	default:
		return NULL;
	}
}

static int prepare(struct arena *arena, struct qos_facts *qos)
{
	for (int i = 0; i < PRIORITIES; i++) {
		struct qos_priority *priority = list_add(arena, &qos->priorities);
		if (!priority)
			return -ENOMEM;
		priority->priority = num(i);
	}
	return 0;
}

static void take_ets(const struct nlattr *attribute, struct arena *arena, struct qos_facts *qos)
{
	struct ieee_ets ets;
	if (!attribute || mnl_attr_get_payload_len(attribute) < sizeof(ets))
		return;
	memcpy(&ets, mnl_attr_get_payload(attribute), sizeof(ets));
	for (int i = 0; i < PRIORITIES; i++) {
		qos->priorities.items[i]->traffic_class = num(ets.prio_tc[i]);
		/* A driver fills as many classes as it has (ets_cap; 0 stands for all eight). */
		if (ets.ets_cap && i >= ets.ets_cap)
			continue;
		struct qos_class *class = list_add(arena, &qos->classes);
		if (!class)
			return;
		class->number = num(i);
		class->algorithm = algorithm_name(ets.tc_tsa[i]);
		if (ets.tc_tsa[i] == IEEE_8021QAZ_TSA_ETS)
			class->bandwidth_percent = num(ets.tc_tx_bw[i]);
	}
}

static struct num frames(uint64_t value)
{
	return value <= INT64_MAX ? num((int64_t)value) : (struct num){ 0 };
}

static void take_pfc(const struct nlattr *attribute, struct qos_facts *qos)
{
	struct ieee_pfc pfc;
	if (!attribute || mnl_attr_get_payload_len(attribute) < sizeof(pfc))
		return;
	memcpy(&pfc, mnl_attr_get_payload(attribute), sizeof(pfc));
	for (int i = 0; i < PRIORITIES; i++) {
		qos->priorities.items[i]->pfc = flag(pfc.pfc_en >> i & 1);
		qos->priorities.items[i]->pause_sent = frames(pfc.requests[i]);
		qos->priorities.items[i]->pause_received = frames(pfc.indications[i]);
	}
}

/* Entries of the table that are for DSCP (selector 5); the table may hold several attributes of one type. */
static void take_dscp(const struct nlattr *table, struct arena *arena, struct qos_facts *qos)
{
	struct dcb_app app;
	const char *end;
	for (const struct nlattr *attribute = nl_first(table, &end); attribute; attribute = nl_next(attribute, end)) {
		if (mnl_attr_get_type(attribute) != DCB_ATTR_IEEE_APP ||
		        mnl_attr_get_payload_len(attribute) < sizeof(app))
			continue;
		memcpy(&app, mnl_attr_get_payload(attribute), sizeof(app));
		struct map_entry *entry =
		        app.selector == IEEE_8021QAZ_APP_SEL_DSCP ? list_add(arena, &qos->dscp) : NULL;
		if (!entry)
			continue;
		entry->key = app.protocol;
		entry->value = num(app.priority);
	}
	/* Drivers trust DSCP as soon as such an entry is there (mlx5/core/en_dcbnl.c, mlxsw, bnxt). */
	qos->trust = qos->dscp.count ? "dscp" : "priority";
}

struct taking {
	struct arena *arena;
	struct qos_facts **qos;
};

static int take(const struct nlmsghdr *message, void *context)
{
	struct taking *taking = context;
	const struct nlattr *table[DCB_ATTR_IEEE + 1], *ieee[DCB_ATTR_IEEE_APP_TABLE + 1];
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(struct dcbmsg)))
		return 0;
	nl_attributes(message, sizeof(struct dcbmsg), table, DCB_ATTR_IEEE);
	if (!table[DCB_ATTR_IEEE])
		return 0;
	nl_nested(table[DCB_ATTR_IEEE], ieee, DCB_ATTR_IEEE_APP_TABLE);
	struct qos_facts *qos = arena_new_object(taking->arena, struct qos_facts);
	if (!qos || prepare(taking->arena, qos))
		return -ENOMEM;
	take_ets(ieee[DCB_ATTR_IEEE_ETS], taking->arena, qos);
	take_pfc(ieee[DCB_ATTR_IEEE_PFC], qos);
	if (ieee[DCB_ATTR_IEEE_APP_TABLE])
		take_dscp(ieee[DCB_ATTR_IEEE_APP_TABLE], taking->arena, qos);
	*taking->qos = qos;
	return 0;
}

int dcb_parse(const void *data, size_t length, struct arena *arena, struct qos_facts **qos)
{
	struct taking taking = { arena, qos };
	return nl_each_message(data, length, take, &taking);
}

int dcb_read(struct origin *origin, struct arena *arena, int64_t ifindex, struct netdev_health *health)
{
	_Alignas(struct nlmsghdr) unsigned char buffer[128];
	char name[48];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = RTM_GETDCB;
	message->nlmsg_flags = NLM_F_REQUEST;
	struct dcbmsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	header->dcb_family = AF_UNSPEC;
	header->cmd = DCB_CMD_IEEE_GET;
	mnl_attr_put_strz(message, DCB_ATTR_IFNAME, health->name);
	snprintf(name, sizeof(name), "dcb.%" PRId64, ifindex);
	struct nl_request nl = { .name = name, .message = message };
	int result = origin_netlink(origin, NETLINK_ROUTE, &nl, 1);
	if (!result)
		result = nl.error;
	if (!result)
		result = dcb_parse(nl.reply, nl.length, arena, &health->qos);
	nl_requests_free(&nl, 1);
	return result;
}
