/* SPDX-License-Identifier: MIT */
#include "gid/path.h"

#include "base/cleanup.h"
#include "gid/address.h"
#include "source/nl_attr.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 2 * IP_TEXT_SIZE + 64, MESSAGE_SIZE = 128, SOURCES_LIMIT = 256 };

static int parse_address(const char *text, uint8_t gid[static 16])
{
	char address[IP_TEXT_SIZE];
	size_t length = strcspn(text, "%");
	if (length >= sizeof(address) || (text[length] && !text[length + 1]))
		return -EINVAL;
	memcpy(address, text, length);
	address[length] = '\0';
	return gid_parse_ip(address, gid);
}

bool gid_path_is_address(const char *text)
{
	uint8_t gid[16];
	return !parse_address(text, gid);
}

int gid_path_parse(struct arena *arena, const char *text, struct gid_path *path)
{
	size_t length = strcspn(text, "%");
	*path = (struct gid_path){ .arena = arena, .address = arena_strdup(arena, text) };
	if (text[length])
		path->zone = arena_strdup(arena, text + length + 1);
	return parse_address(text, path->to);
}

/* ---- parsers ---- */

/* An address attribute in the form of a GID. False: none, or of a length that no address has. */
static bool take_address(const struct nlattr *attribute, uint8_t gid[static 16])
{
	uint16_t length = attribute ? mnl_attr_get_payload_len(attribute) : 0;
	if (length != 4 && length != 16)
		return false;
	struct address address = { .family = length == 4 ? AF_INET : AF_INET6 };
	memcpy(address.bytes, mnl_attr_get_payload(attribute), length);
	gid_from_address(&address, gid);
	return true;
}

/* struct rtvia holds an IPv6 gateway of an IPv4 route. */
static bool take_via(const struct nlattr *attribute, uint8_t gid[static 16])
{
	enum { RTVIA_SIZE = 2 + 16 };
	if (!attribute || mnl_attr_get_payload_len(attribute) != RTVIA_SIZE)
		return false;
	memcpy(gid, (const uint8_t *)mnl_attr_get_payload(attribute) + 2, 16);
	return true;
}

static bool take_gateway(const struct nlattr **attributes, uint8_t gid[static 16])
{
	return take_address(attributes[RTA_GATEWAY], gid) || take_via(attributes[RTA_VIA], gid);
}

/* The attributes behind one struct rtnexthop, as those of a message. */
static void take_next_hop(struct arena *arena, struct gid_lookup *lookup, const struct rtnexthop *next)
{
	const struct nlattr *attributes[RTA_MAX + 1] = { 0 };
	const unsigned char *data = (const unsigned char *)next + sizeof(struct rtnexthop);
	size_t left = next->rtnh_len - sizeof(struct rtnexthop);
	while (left >= sizeof(struct nlattr)) {
		const struct nlattr *attribute = (const struct nlattr *)data;
		size_t size = attribute->nla_len;
		if (size < sizeof(*attribute) || size > left)
			break;
		if (mnl_attr_get_type(attribute) <= RTA_MAX)
			attributes[mnl_attr_get_type(attribute)] = attribute;
		size_t step = NLMSG_ALIGN(size);
		if (step >= left)
			break;
		data += step;
		left -= step;
	}
	struct gid_hop *hop = list_add(arena, &lookup->hops);
	if (!hop)
		return;
	hop->oif = num(next->rtnh_ifindex);
	hop->has_gateway = take_gateway(attributes, hop->gateway);
}

static void take_multipath(struct arena *arena, struct gid_lookup *lookup, const struct nlattr *attribute)
{
	const unsigned char *data = mnl_attr_get_payload(attribute);
	size_t left = mnl_attr_get_payload_len(attribute);
	while (left >= sizeof(struct rtnexthop)) {
		const struct rtnexthop *next = (const struct rtnexthop *)data;
		size_t step = (size_t)RTNH_ALIGN(next->rtnh_len);
		if (next->rtnh_len < sizeof(struct rtnexthop) || next->rtnh_len > left)
			return;
		take_next_hop(arena, lookup, next);
		if (step >= left)
			return;
		data += step;
		left -= step;
	}
}

struct taking {
	struct arena *arena;
	struct gid_lookup *lookup;
};

static int take_route(const struct nlmsghdr *message, void *context)
{
	struct taking *taking = context;
	struct gid_lookup *lookup = taking->lookup;
	const struct rtmsg *route = mnl_nlmsg_get_payload(message);
	if (message->nlmsg_type != RTM_NEWROUTE || mnl_nlmsg_get_payload_len(message) < sizeof(*route))
		return 0;
	const struct nlattr *attributes[RTA_MAX + 1];
	nl_attributes(message, sizeof(*route), attributes, RTA_MAX);
	lookup->type = num(route->rtm_type);
	lookup->hop.oif = nl_u32(attributes[RTA_OIF]);
	lookup->has_source = take_address(attributes[RTA_PREFSRC], lookup->source);
	lookup->hop.has_gateway = take_gateway(attributes, lookup->hop.gateway);
	if (attributes[RTA_MULTIPATH])
		take_multipath(taking->arena, lookup, attributes[RTA_MULTIPATH]);
	if (!lookup->hop.oif.known && lookup->hops.count)
		lookup->hop = *lookup->hops.items[0];
	return 0;
}

void gid_path_take_route(struct arena *arena, struct gid_lookup *lookup, const void *reply, size_t length)
{
	struct taking taking = { .arena = arena, .lookup = lookup };
	nl_each_message(reply, length, take_route, &taking);
}

static int take_neighbour(const struct nlmsghdr *message, void *context)
{
	struct gid_path *path = context;
	const struct ndmsg *neighbour = mnl_nlmsg_get_payload(message);
	if (message->nlmsg_type != RTM_NEWNEIGH || mnl_nlmsg_get_payload_len(message) < sizeof(*neighbour))
		return 0;
	const struct nlattr *attributes[NDA_MAX + 1];
	uint8_t ip[16];
	nl_attributes(message, sizeof(*neighbour), attributes, NDA_MAX);
	/* Proxy entries say for whom this host answers, nothing about the peer. */
	if (neighbour->ndm_flags & NTF_PROXY || !take_address(attributes[NDA_DST], ip))
		return 0;
	struct gid_neighbour *known = list_add(path->arena, &path->neighbours);
	if (!known)
		return -ENOMEM;
	known->ifindex = num(neighbour->ndm_ifindex);
	known->state = num(neighbour->ndm_state);
	memcpy(known->ip, ip, sizeof(ip));
	return 0;
}

void gid_path_take_neighbours(struct gid_path *path, const void *reply, size_t length)
{
	nl_each_message(reply, length, take_neighbour, path);
}

/* ---- requests ---- */

/* One lookup with its request: what goes into it, and where the answer goes. */
struct query {
	char name[NAME_SIZE];
	_Alignas(struct nlmsghdr) unsigned char message[MESSAGE_SIZE];
	struct gid_lookup *lookup;
	uint8_t source[16]; /* of a lookup by source */
};

static void put_address(struct nlmsghdr *message, uint16_t type, const uint8_t gid[static 16])
{
	bool ipv4 = gid_is_ipv4(gid);
	mnl_attr_put(message, type, ipv4 ? 4 : 16, ipv4 ? gid + 12 : gid);
}

static struct nl_request begin(struct query *query, const struct gid_path *path, unsigned int flags)
{
	bool ipv4 = gid_is_ipv4(path->to);
	char ip[IP_TEXT_SIZE];
	struct nlmsghdr *message = mnl_nlmsg_put_header(query->message);
	message->nlmsg_type = RTM_GETROUTE;
	message->nlmsg_flags = NLM_F_REQUEST;
	struct rtmsg *route = mnl_nlmsg_put_extra_header(message, sizeof(*route));
	route->rtm_family = ipv4 ? AF_INET : AF_INET6;
	route->rtm_dst_len = ipv4 ? 32 : 128;
	route->rtm_flags = flags;
	put_address(message, RTA_DST, path->to);
	gid_format_ip(path->to, ip);
	snprintf(query->name, sizeof(query->name), "%s.%s", flags ? "fib" : "route", ip);
	return (struct nl_request){ .name = query->name, .message = message };
}

static void take_answers(
        struct arena *arena, struct query *queries, const struct nl_request *requests, size_t count, int result)
{
	for (size_t i = 0; i < count; i++) {
		int error = result ? result : requests[i].error;
		if (error)
			queries[i].lookup->error = num(-error);
		else
			gid_path_take_route(arena, queries[i].lookup, requests[i].reply, requests[i].length);
	}
}

/* Answers of the kernel's routing (net/ipv4/fib_semantics.c, fib_props; net/ipv6/route.c), not failures to ask it. */
static bool is_answer(const struct gid_lookup *lookup)
{
	switch (lookup->error.known ? lookup->error.value : 0) {
	case 0:
	case ENETUNREACH:
	case EHOSTUNREACH:
	case EACCES:
	case EINVAL:
		return true;
	default:
		return false;
	}
}

const struct netdev *gid_path_zone(const struct host *host, const struct gid_path *path)
{
	const struct netdev *netdev = path->zone ? host_netdev_called(host, path->zone) : NULL;
	int64_t ifindex;
	if (!netdev && path->zone && !parse_number(path->zone, 10, &ifindex))
		netdev = host_netdev(host, ifindex);
	return netdev;
}

static int read_route(struct origin *origin, const struct host *host, struct gid_path *path)
{
	struct query queries[2] = { { .lookup = &path->route }, { .lookup = &path->fib } };
	struct nl_request requests[2] = { begin(&queries[0], path, 0), begin(&queries[1], path, RTM_F_FIB_MATCH) };
	const struct netdev *zone = gid_path_zone(host, path);
	for (size_t i = 0; zone && zone->ifindex.known && i < 2; i++)
		mnl_attr_put_u32(requests[i].message, RTA_OIF, (uint32_t)zone->ifindex.value);
	int result = origin_netlink(origin, NETLINK_ROUTE, requests, 2);
	take_answers(path->arena, queries, requests, 2, result);
	nl_requests_free(requests, 2);
	path->known = is_answer(&path->route);
	return result == -ENOMEM ? result : 0;
}

static bool is_on_rdma(const struct host *host, const struct netdev *netdev)
{
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			if (netdev_belongs_to_port(host, netdev, port) == FLAG_YES)
				return true;
	return false;
}

static bool leads_to_rdma(const struct host *host, const struct gid_path *path)
{
	const struct netdev *out = path->route.hop.oif.known ? host_netdev(host, path->route.hop.oif.value) : NULL;
	return num_is(path->route.type, RTN_LOCAL) || (out && is_on_rdma(host, out));
}

static bool may_be_source(const struct gid_path *path, const struct address *address, uint8_t gid[static 16])
{
	gid_from_address(address, gid);
	enum gid_scope scope = gid_scope_of(gid);
	return gid_is_ipv4(gid) == gid_is_ipv4(path->to) && scope != GID_SCOPE_LOOPBACK &&
	       scope != GID_SCOPE_LINK_LOCAL;
}

struct source_queries {
	struct query *queries;
	struct nl_request *requests;
	size_t count;
};

static void free_queries(struct source_queries *all)
{
	if (all->requests)
		nl_requests_free(all->requests, all->count);
	free(all->requests);
	free(all->queries);
}

static int add_source(
        struct source_queries *all, struct gid_path *path, const struct netdev *netdev, const uint8_t source[static 16])
{
	struct query *query = &all->queries[all->count];
	char ip[IP_TEXT_SIZE];
	query->lookup = list_add(path->arena, &path->sources);
	if (!query->lookup)
		return -ENOMEM;
	struct nl_request *request = &all->requests[all->count++];
	*request = begin(query, path, RTM_F_FIB_MATCH);
	memcpy(query->source, source, sizeof(query->source));
	put_address(request->message, RTA_SRC, source);
	((struct rtmsg *)mnl_nlmsg_get_payload(request->message))->rtm_src_len = gid_is_ipv4(source) ? 32 : 128;
	mnl_attr_put_u32(request->message, RTA_OIF, (uint32_t)netdev->ifindex.value);
	gid_format_ip(source, ip);
	size_t length = strlen(query->name);
	snprintf(query->name + length, sizeof(query->name) - length, ".%s.%s", ip, netdev->name);
	return 0;
}

static int add_sources(
        struct source_queries *all, const struct host *host, struct gid_path *path, const struct netdev *netdev)
{
	int result = 0;
	uint8_t gid[16];
	list_each(address, &netdev->addresses)
		if (!result && all->count < SOURCES_LIMIT && may_be_source(path, address, gid) &&
		        is_on_rdma(host, netdev))
			result = add_source(all, path, netdev, gid);
	return result;
}

static int read_sources(struct origin *origin, const struct host *host, struct gid_path *path)
{
	autocall(free_queries) struct source_queries all = {
		.queries = calloc(SOURCES_LIMIT, sizeof(struct query)),
		.requests = calloc(SOURCES_LIMIT, sizeof(struct nl_request)),
	};
	int result = all.queries && all.requests ? 0 : -ENOMEM;
	for (uint32_t i = 0; !result && i < host->netdevs.count; i++)
		if (host->netdevs.items[i]->ifindex.known && host->netdevs.items[i]->admin_up != FLAG_NO)
			result = add_sources(&all, host, path, host->netdevs.items[i]);
	if (result || !all.count)
		return result;
	result = origin_netlink(origin, NETLINK_ROUTE, all.requests, all.count);
	take_answers(path->arena, all.queries, all.requests, all.count, result);
	for (size_t i = 0; i < all.count; i++) { /* the preferred source does not matter where one is given */
		memcpy(all.queries[i].lookup->source, all.queries[i].source, sizeof(all.queries[i].source));
		all.queries[i].lookup->has_source = true;
	}
	return result == -ENOMEM ? result : 0;
}

static int read_neighbours(struct origin *origin, struct gid_path *path)
{
	char buffer[MESSAGE_SIZE] = { 0 };
	const struct gid_hop *hop = &path->route.hop;
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = RTM_GETNEIGH;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	struct ndmsg *neighbour = mnl_nlmsg_put_extra_header(message, sizeof(*neighbour));
	neighbour->ndm_family = gid_is_ipv4(hop->has_gateway ? hop->gateway : path->to) ? AF_INET : AF_INET6;
	struct nl_request request = { .name = "neigh", .message = message };
	int result = origin_netlink(origin, NETLINK_ROUTE, &request, 1);
	if (!result)
		result = request.error;
	if (!result)
		gid_path_take_neighbours(path, request.reply, request.length);
	nl_requests_free(&request, 1);
	return result;
}

int gid_path_read(struct origin *origin, struct host *host, struct gid_path *path)
{
	origin_about(origin, "host");
	path->route = path->fib = (struct gid_lookup){ 0 };
	path->sources.count = path->neighbours.count = 0;
	int result = read_route(origin, host, path);
	if (!result && !leads_to_rdma(host, path) && !path->zone)
		result = read_sources(origin, host, path);
	if (result)
		return result;
	result = read_neighbours(origin, path);
	path->has_neighbours = !result;
	if (result)
		report_missing(&host->report, "neighbour", "host", result, "RTM_GETNEIGH: %s", strerror(-result));
	return result == -ENOMEM ? result : 0;
}
