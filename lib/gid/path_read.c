/* SPDX-License-Identifier: MIT */
#include "gid/path.h"

#include "gid/address.h"
#include "source/nl_attr.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

int gid_path_parse(struct arena *arena, const char *text, struct gid_path *path)
{
	char address[IP_TEXT_SIZE];
	size_t length = strcspn(text, "%");
	if (length >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, length);
	address[length] = '\0';
	*path = (struct gid_path){ .address = arena_strdup(arena, text) };
	if (text[length])
		path->zone = arena_strdup(arena, text + length + 1);
	return gid_parse_ip(address, path->to);
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

static int take_route(const struct nlmsghdr *message, void *context)
{
	struct gid_path *path = context;
	const struct rtmsg *route = mnl_nlmsg_get_payload(message);
	if (message->nlmsg_type != RTM_NEWROUTE || mnl_nlmsg_get_payload_len(message) < sizeof(*route))
		return 0;
	const struct nlattr *attributes[RTA_MAX + 1];
	nl_attributes(message, sizeof(*route), attributes, RTA_MAX);
	path->route_type = num(route->rtm_type);
	path->oif = nl_u32(attributes[RTA_OIF]);
	path->has_source = take_address(attributes[RTA_PREFSRC], path->source);
	path->has_gateway =
	        take_address(attributes[RTA_GATEWAY], path->gateway) || take_via(attributes[RTA_VIA], path->gateway);
	return 0;
}

void gid_path_take_route(struct gid_path *path, const void *reply, size_t length)
{
	nl_each_message(reply, length, take_route, path);
}

static const uint8_t *next_hop(const struct gid_path *path)
{
	return path->has_gateway ? path->gateway : path->to;
}

static int take_neighbour(const struct nlmsghdr *message, void *context)
{
	struct gid_path *path = context;
	const struct ndmsg *neighbour = mnl_nlmsg_get_payload(message);
	if (message->nlmsg_type != RTM_NEWNEIGH || mnl_nlmsg_get_payload_len(message) < sizeof(*neighbour) ||
	        !num_is(path->oif, neighbour->ndm_ifindex))
		return 0;
	const struct nlattr *attributes[NDA_MAX + 1];
	uint8_t gid[16];
	nl_attributes(message, sizeof(*neighbour), attributes, NDA_MAX);
	if (take_address(attributes[NDA_DST], gid) && !memcmp(gid, next_hop(path), sizeof(gid)))
		path->neighbour = num(neighbour->ndm_state);
	return 0;
}

void gid_path_take_neighbours(struct gid_path *path, const void *reply, size_t length)
{
	nl_each_message(reply, length, take_neighbour, path);
}

/* ---- requests ---- */

static int read_route(struct origin *origin, const struct host *host, struct gid_path *path)
{
	char buffer[256] = { 0 }, name[IP_TEXT_SIZE + 16], ip[IP_TEXT_SIZE];
	bool ipv4 = gid_is_ipv4(path->to);
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = RTM_GETROUTE;
	message->nlmsg_flags = NLM_F_REQUEST;
	struct rtmsg *route = mnl_nlmsg_put_extra_header(message, sizeof(*route));
	route->rtm_family = ipv4 ? AF_INET : AF_INET6;
	route->rtm_dst_len = ipv4 ? 32 : 128;
	mnl_attr_put(message, RTA_DST, ipv4 ? 4 : 16, ipv4 ? path->to + 12 : path->to);
	const struct netdev *zone = path->zone ? host_netdev_by_name(host, path->zone) : NULL;
	if (zone && zone->ifindex.known)
		mnl_attr_put_u32(message, RTA_OIF, (uint32_t)zone->ifindex.value);
	gid_format_ip(path->to, ip);
	snprintf(name, sizeof(name), "route.%s", ip);
	struct nl_request request = { .name = name, .message = message };
	int result = origin_netlink(origin, NETLINK_ROUTE, &request, 1);
	if (!result)
		result = request.error;
	if (!result)
		gid_path_take_route(path, request.reply, request.length);
	nl_requests_free(&request, 1);
	return result;
}

static int read_neighbours(struct origin *origin, struct gid_path *path)
{
	char buffer[128] = { 0 };
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = RTM_GETNEIGH;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	struct ndmsg *neighbour = mnl_nlmsg_put_extra_header(message, sizeof(*neighbour));
	neighbour->ndm_family = gid_is_ipv4(next_hop(path)) ? AF_INET : AF_INET6;
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
	int result = read_route(origin, host, path);
	if (result == -ENOMEM)
		return result;
	if (result) {
		path->error = num(-result);
		return 0;
	}
	result = read_neighbours(origin, path);
	path->has_neighbours = !result;
	if (result)
		report_missing(&host->report, "neighbour", "host", result, "RTM_GETNEIGH: %s", strerror(-result));
	return result == -ENOMEM ? result : 0;
}
