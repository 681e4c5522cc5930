/* SPDX-License-Identifier: MIT */
#include "gid/path.h"

#include "gid/address.h"
#include "gid/choose.h"

#include <inttypes.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

struct search {
	struct host *host;
	const struct gid_document *document;
	const struct gid_path *path;
	struct gid_route *answer;
	const struct netdev *out;
};

__attribute__((format(printf, 2, 3))) static void answer_none(struct search *search, const char *reason, ...)
{
	va_list args;
	va_start(args, reason);
	search->answer->reason = arena_vprintf(search->host->arena, reason, args);
	va_end(args);
}

static const char *ip_text(struct search *search, const uint8_t gid[static 16])
{
	char text[IP_TEXT_SIZE];
	gid_format_ip(gid, text);
	const char *copy = arena_strdup(search->host->arena, text);
	return copy ? copy : "";
}

uint32_t netdevs_in_subnet(const struct host *host, const struct netdev *netdev, const struct address *address)
{
	uint8_t own[16];
	gid_from_address(address, own);
	uint32_t count = 0;
	list_each(other, &host->netdevs) {
		bool in_subnet = false;
		list_each(theirs, &other->addresses) {
			uint8_t gid[16];
			gid_from_address(theirs, gid);
			in_subnet = in_subnet || (theirs->family == address->family &&
			                                 theirs->prefix_length == address->prefix_length &&
			                                 gid_same_subnet(own, gid, address->prefix_length));
		}
		count += in_subnet && (other == netdev || other->admin_up != FLAG_NO);
	}
	return count;
}

/* ---- why no route leads there ---- */

static bool route_is_unusable(struct search *search)
{
	const struct gid_path *path = search->path;
	if (path->zone && !host_netdev_by_name(search->host, path->zone)) {
		answer_none(search, "there is no netdev %s", path->zone);
		return true;
	}
	if (!path->zone && !gid_is_ipv4(path->to) && gid_is_link_local(path->to, true)) {
		answer_none(search, "a link-local address is on every link: say which with %s%%NETDEV", path->address);
		return true;
	}
	if (path->error.known) {
		answer_none(search, "no route to %s: %s", path->address, strerror((int)path->error.value));
		return true;
	}
	switch (path->route_type.known ? path->route_type.value : RTN_UNICAST) {
	case RTN_BLACKHOLE:
	case RTN_UNREACHABLE:
	case RTN_PROHIBIT:
	case RTN_THROW:
		answer_none(search, "the route to %s discards packets", path->address);
		return true;
	case RTN_MULTICAST:
	case RTN_BROADCAST:
		answer_none(search, "%s is a multicast or broadcast address", path->address);
		return true;
	default:
		return false;
	}
}

static bool neighbour_is_unresolved(struct search *search)
{
	const struct gid_path *path = search->path;
	if (!path->neighbour.known || !(path->neighbour.value & (NUD_FAILED | NUD_INCOMPLETE)))
		return false;
	const char *hop = ip_text(search, path->has_gateway ? path->gateway : path->to);
	answer_none(search, "the neighbour %s on %s is unresolved (%s): nothing answers %s there", hop,
	        search->out->name, path->neighbour.value & NUD_FAILED ? "FAILED" : "INCOMPLETE",
	        gid_is_ipv4(path->to) ? "ARP" : "neighbour discovery");
	return true;
}

/* ---- the entry ---- */

/* Does the entry send through the netdev of the route? The entry may name a member of the bond that the route names. */
static bool sends_through(const struct search *search, const struct gid_entry *entry)
{
	const struct netdev *link = entry->link, *out = search->out;
	if (!link)
		return false;
	return link == out || (link->master_ifindex.known && num_is(out->ifindex, link->master_ifindex.value)) ||
	       (out->master_ifindex.known && num_is(link->ifindex, out->master_ifindex.value));
}

static bool is_usable(const struct gid_entry *entry)
{
	return entry->state != GID_STATE_STALE && entry->state != GID_STATE_FOREIGN_NETNS;
}

/* More is better: the route's own source address, then RoCE v2, then the netdev of the route itself. */
static int fitness(const struct search *search, const struct gid_entry *entry)
{
	const struct gid_path *path = search->path;
	if (!sends_through(search, entry) || !is_usable(entry) || gid_is_ipv4(entry->bytes) != gid_is_ipv4(path->to))
		return 0;
	int fit = 1;
	fit += path->has_source && !memcmp(entry->bytes, path->source, sizeof(path->source)) ? 8 : 0;
	fit += entry->type == GID_TYPE_ROCE_V2 ? 4 : 0;
	fit += entry->scope != GID_SCOPE_LINK_LOCAL || gid_is_link_local(path->to, true) ? 2 : 0;
	return fit + (entry->link == search->out);
}

static const struct gid_entry *best_entry(const struct search *search)
{
	const struct gid_entry *best = NULL;
	int best_fit = 0;
	list_each(entry, &search->document->entries) {
		int fit = fitness(search, entry);
		if (fit > best_fit) {
			best_fit = fit;
			best = entry;
		}
	}
	return best;
}

static bool is_on_port(const struct search *search, const struct gid_table *table)
{
	return table->rdma_port && netdev_belongs_to_port(search->host, search->out, table->rdma_port) == FLAG_YES;
}

/* The port that the route's netdev stands on, whatever its entries say. */
static const struct gid_table *table_of_route(const struct search *search)
{
	list_each(table, &search->document->tables)
		if (is_on_port(search, table))
			return table;
	return NULL;
}

static void answer_without_entry(struct search *search)
{
	const struct gid_table *table = table_of_route(search);
	if (!table) {
		answer_none(
		        search, "the route goes through %s, which is no netdev of an RDMA device", search->out->name);
		return;
	}
	struct gid_port port = gid_port_of(search->host, search->document, table);
	enum transport transport = gid_port_transport(&port);
	if (transport == TRANSPORT_IWARP || transport == TRANSPORT_INFINIBAND) {
		search->answer->device = table->device;
		search->answer->port = table->port;
		if (transport == TRANSPORT_INFINIBAND && port.count)
			search->answer->index = port.entries[0]->index;
		answer_none(search, "through %s; %s", search->out->name,
		        transport == TRANSPORT_IWARP ? "iWARP connects by IP address, without a GID index"
		                                     : "InfiniBand addresses by LID, by GID across subnets only");
		return;
	}
	answer_none(search, "the route goes through %s of %s/%" PRId64 ", which has no usable %s GID for it",
	        search->out->name, table->device, table->port.value, gid_is_ipv4(search->path->to) ? "IPv4" : "IPv6");
}

/* Why the best entry does not get there all the same. */
static bool entry_is_unfit(struct search *search, const struct gid_entry *entry)
{
	const struct gid_path *path = search->path;
	if (path->has_gateway && entry->type == GID_TYPE_ROCE_V1) {
		answer_none(search,
		        "the route goes through the router %s, which does not forward RoCE v1, and %s has no RoCE v2 "
		        "entry",
		        ip_text(search, path->gateway), search->out->name);
		return true;
	}
	if (entry->scope == GID_SCOPE_LINK_LOCAL && (path->has_gateway || !gid_is_link_local(path->to, true))) {
		answer_none(search, "%s is in another subnet, and the only entry of %s for it is link-local",
		        path->address, search->out->name);
		return true;
	}
	return false;
}

static const char *flux_warning(struct search *search, const struct gid_entry *entry)
{
	const struct address *address = netdev_address(search->out, entry->bytes);
	uint32_t count = address ? netdevs_in_subnet(search->host, search->out, address) : 1;
	if (count < 2)
		return "";
	const char *text = arena_printf(search->host->arena,
	        "; %u netdevs have addresses in this subnet, so the peer's answers may arrive at another one (ARP "
	        "flux)",
	        count);
	return text ? text : "";
}

static void answer_entry(struct search *search, const struct gid_entry *entry)
{
	const struct gid_path *path = search->path;
	struct gid_route *answer = search->answer;
	const char *via = path->has_gateway ? arena_printf(search->host->arena, " and the router %s",
	                                              ip_text(search, path->gateway))
	                                    : "";
	answer->device = entry->device;
	answer->port = entry->port;
	answer->index = entry->index;
	answer->reason = arena_printf(search->host->arena, "through %s%s, source %s, %s%s%s", search->out->name,
	        via ? via : "", entry->ip ? entry->ip : entry->gid,
	        entry->type ? gid_type_names[entry->type] : "unknown type",
	        path->has_neighbours && !path->neighbour.known ? "; the neighbour has not been asked for yet" : "",
	        flux_warning(search, entry));
}

/* An address of this host: the entry that has it. */
static void answer_local(struct search *search)
{
	const struct gid_entry *best = NULL;
	list_each(entry, &search->document->entries) {
		bool same = !memcmp(entry->bytes, search->path->to, sizeof(entry->bytes)) && is_usable(entry);
		if (same && (!best || (best->type != GID_TYPE_ROCE_V2 && entry->type == GID_TYPE_ROCE_V2)))
			best = entry;
	}
	if (!best) {
		answer_none(search, "%s is an address of this host, but of no RDMA device", search->path->address);
		return;
	}
	search->answer->device = best->device;
	search->answer->port = best->port;
	search->answer->index = best->index;
	answer_none(search, "%s is an address of this host: loopback", search->path->address);
}

static void choose(struct search *search)
{
	if (route_is_unusable(search))
		return;
	if (num_is(search->path->route_type, RTN_LOCAL)) {
		answer_local(search);
		return;
	}
	search->out = search->path->oif.known ? host_netdev(search->host, search->path->oif.value) : NULL;
	if (!search->out) {
		answer_none(search, "the route to %s names no netdev of this namespace", search->path->address);
		return;
	}
	const struct gid_entry *entry = best_entry(search);
	if (!entry)
		answer_without_entry(search);
	else if (!neighbour_is_unresolved(search) && !entry_is_unfit(search, entry))
		answer_entry(search, entry);
}

struct gid_route *gid_path_choose(struct host *host, const struct gid_document *document, const struct gid_path *path)
{
	struct gid_route *answer = arena_new_object(host->arena, struct gid_route);
	if (!answer)
		return NULL;
	answer->address = path->address;
	struct search search = { .host = host, .document = document, .path = path, .answer = answer };
	choose(&search);
	return answer;
}
