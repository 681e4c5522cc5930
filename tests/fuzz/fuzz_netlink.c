/* SPDX-License-Identifier: MIT */
/*
 * Replies of netlink, each by its own parser: RDMA devices, ports and counters, links, addresses, routes, neighbours,
 * packet filters and queueing disciplines. The first byte of an input says which of them reads the rest; see parsers[].
 */
#include "base/cleanup.h"
#include "gid/path.h"
#include "probe/counters.h"
#include "probe/filters.h"
#include "json/json.h"
#include "source/collect.h"
#include "source/nft.h"
#include "source/rdma_nl.h"
#include "source/rtnl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void system_reply(const void *reply, size_t length, struct host *host)
{
	rdma_nl_parse_system(reply, length, host);
}

static void devices(const void *reply, size_t length, struct host *host)
{
	rdma_nl_parse_devices(reply, length, host);
}

static void ports(const void *reply, size_t length, struct host *host)
{
	struct rdma_device *device = list_add(host->arena, &host->devices);
	device->name = "dev0";
	rdma_nl_parse_ports(reply, length, host, device);
}

static void chardev(const void *reply, size_t length, struct host *host)
{
	struct rdma_device *device = list_add(host->arena, &host->devices);
	device->name = "dev0";
	rdma_nl_parse_chardev(reply, length, host, device);
}

static void links(const void *reply, size_t length, struct host *host)
{
	rtnl_parse_links(reply, length, host);
}

static void addresses(const void *reply, size_t length, struct host *host)
{
	struct netdev *netdev = list_add(host->arena, &host->netdevs);
	netdev->name = "net0";
	netdev->ifindex = num(2);
	rtnl_parse_addresses(reply, length, host);
}

static void counters(const void *reply, size_t length, struct host *host)
{
	(void)host;
	autofree struct counter_set *set = calloc(1, sizeof(*set));
	if (!set)
		return;
	counters_parse(reply, length, set);
	if (set->count > COUNTERS_LIMIT)
		abort();
	for (size_t i = 0; i < set->count; i++)
		if (!memchr(set->values[i].name, '\0', COUNTER_NAME_SIZE))
			abort();
}

static void route(const void *reply, size_t length, struct host *host)
{
	struct gid_lookup lookup = { 0 };
	gid_path_take_route(host->arena, &lookup, reply, length);
}

static void neighbours(const void *reply, size_t length, struct host *host)
{
	struct gid_path path = { .arena = host->arena };
	gid_path_take_neighbours(&path, reply, length);
}

static void check_filters(const struct filter_text *out)
{
	if (out->used >= sizeof(out->text) || out->text[out->used] || out->count > FILTER_COUNTS)
		abort();
	for (size_t i = 0; i < out->count; i++)
		if (out->counts[i].dropped < 0)
			abort();
}

static void chains(const void *reply, size_t length, struct host *host)
{
	(void)host;
	struct filter_text out = { 0 };
	filters_parse_chains(reply, length, &out);
	check_filters(&out);
}

static void rules(const void *reply, size_t length, struct host *host)
{
	struct filter_text out = { 0 };
	struct filter_answer drops = { 0 };
	nft_parse_drops(host->arena, reply, length, &drops);
	filters_parse_rules(reply, length, &out);
	check_filters(&out);
}

static void qdiscs(const void *reply, size_t length, struct host *host)
{
	(void)host;
	struct filter_text out = { 0 };
	filters_parse_qdiscs(reply, length, 2, "net0", &out);
	check_filters(&out);
}

/* tests/fuzz/seeds knows their order. */
static void (*const parsers[])(const void *, size_t, struct host *) = { system_reply, devices, ports, chardev, links,
	addresses, counters, route, neighbours, chains, rules, qdiscs };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autocall(host_freep) struct host *host = size ? host_new() : NULL;
	/* a copy of its own, which ends where the reply ends */
	autofree uint8_t *reply = host ? malloc(size) : NULL;
	if (!reply)
		return 0;
	memcpy(reply, data + 1, size - 1);
	parsers[data[0] % ARRAY_SIZE(parsers)](reply, size - 1, host);
	json_object *object = record_to_json(&topo_record, host);
	free(json_text(object, false));
	json_object_put(object);
	return 0;
}
