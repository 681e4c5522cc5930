/* SPDX-License-Identifier: MIT */
/*
 * Answers about the health of a node, by the parsers of dcbnl, ethtool and devlink. The first byte of an input says
 * which of them reads the rest; see kinds[].
 */
#include "base/cleanup.h"
#include "json/json.h"
#include "source/dcb.h"
#include "source/devlink.h"
#include "source/ethtool.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int (*const of_ethtool[])(const void *, size_t, struct arena *, struct netdev_health *) = { ethtool_parse_pause,
	ethtool_parse_fec, ethtool_parse_module, ethtool_parse_linkstate, ethtool_parse_stats };
enum { DCB = ARRAY_SIZE(of_ethtool), DEVLINK, KINDS };

static void check_qos(const struct qos_facts *qos)
{
	if (qos->priorities.count != PRIORITIES || qos->classes.count > PRIORITIES)
		abort();
	list_each(priority, &qos->priorities)
		if (priority->pause_sent.known && priority->pause_sent.value < 0)
			abort();
}

static void print(const struct health *health)
{
	json_object *object = record_to_json(&health_record, health);
	free(json_text(object, false));
	json_object_put(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autocall(arena_freep) struct arena *arena = arena_new(16 << 20);
	struct health health = { 0 };
	struct netdev_health *netdev = arena ? list_add(arena, &health.netdevs) : NULL;
	if (!netdev || !size)
		return 0;
	/* a copy of its own, which ends where the answer ends */
	autofree uint8_t *answer = malloc(size);
	if (!answer)
		return 0;
	memcpy(answer, data + 1, size - 1);
	unsigned int kind = data[0] % KINDS;
	if (kind == DCB)
		dcb_parse(answer, size - 1, arena, &netdev->qos);
	else if (kind == DEVLINK)
		devlink_parse(answer, size - 1, arena, &health);
	else
		of_ethtool[kind](answer, size - 1, arena, netdev);
	if (netdev->qos)
		check_qos(netdev->qos);
	print(&health);
	return 0;
}
