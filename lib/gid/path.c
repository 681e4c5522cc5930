/* SPDX-License-Identifier: MIT */
#include "gid/path.h"

#include "gid/address.h"
#include "gid/choose.h"
#include "gid/subnet.h"
#include "source/rdma_words.h"

#include <errno.h>
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
	/* The route under consideration: */
	const struct gid_lookup *route;
	const struct netdev *out;
	bool by_source;
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

/* ---- addresses that no route is asked for ---- */

static bool is_multicast(const uint8_t gid[static 16])
{
	static const uint8_t broadcast[4] = { 255, 255, 255, 255 };
	if (gid_is_ipv4(gid))
		return (gid[12] & 0xf0) == 0xe0 || !memcmp(gid + 12, broadcast, sizeof(broadcast));
	return gid[0] == 0xff;
}

static bool is_unspecified(const uint8_t gid[static 16])
{
	static const uint8_t zero[16];
	return gid_is_ipv4(gid) ? !memcmp(gid + 12, zero, 4) : !memcmp(gid, zero, sizeof(zero));
}

static bool address_is_no_peer(struct search *search)
{
	const struct gid_path *path = search->path;
	if (is_unspecified(path->to))
		answer_none(search, "%s is no address of a peer", path->address);
	else if (is_multicast(path->to) || num_is(path->route.type, RTN_MULTICAST) ||
	         num_is(path->route.type, RTN_BROADCAST))
		answer_none(search, "%s is a multicast or broadcast address", path->address);
	else if (path->zone && !gid_path_zone(search->host, path))
		answer_none(search, "there is no netdev %s", path->zone);
	else if (!path->zone && !gid_is_ipv4(path->to) && gid_is_link_local(path->to, true))
		answer_none(search, "a link-local address is on every link: say which with %s%%NETDEV", path->address);
	else
		return false;
	return true;
}

/* ---- why no route leads there ---- */

static const char *discarded(int64_t type, int64_t error)
{
	switch (type) {
	case RTN_BLACKHOLE:
		return "of type blackhole";
	case RTN_UNREACHABLE:
		return "of type unreachable";
	case RTN_PROHIBIT:
		return "of type prohibit";
	case RTN_THROW:
		return "of type throw";
	default:
		break;
	}
	/* fib_props[] of net/ipv4/fib_semantics.c: what each type answers instead of a route. */
	return error == EINVAL         ? "of type blackhole"
	       : error == EHOSTUNREACH ? "of type unreachable"
	       : error == EACCES       ? "of type prohibit"
	                               : NULL;
}

static bool route_discards(struct search *search)
{
	const struct gid_lookup *route = &search->path->route;
	const char *type = discarded(
	        route->type.known ? route->type.value : RTN_UNICAST, route->error.known ? route->error.value : 0);
	if (type)
		answer_none(search, "the route to %s is %s: packets are discarded", search->path->address, type);
	else if (route->error.known)
		answer_none(search, "no route to %s", search->path->address);
	return type || route->error.known;
}

struct num gid_path_neighbour(const struct gid_path *path, const struct gid_hop *hop)
{
	const uint8_t *next = hop->has_gateway ? hop->gateway : path->to;
	list_each(neighbour, &path->neighbours)
		if (hop->oif.known && num_is(neighbour->ifindex, hop->oif.value) &&
		        !memcmp(neighbour->ip, next, sizeof(neighbour->ip)))
			return neighbour->state;
	return (struct num){ 0 };
}

static bool neighbour_is_unresolved(struct search *search)
{
	const struct gid_hop *hop = &search->route->hop;
	struct num state = gid_path_neighbour(search->path, &search->route->hop);
	if (!state.known || !(state.value & (NUD_FAILED | NUD_INCOMPLETE)))
		return false;
	answer_none(search, "the neighbour %s on %s is unresolved (%s): nothing answers %s there",
	        ip_text(search, hop->has_gateway ? hop->gateway : search->path->to), search->out->name,
	        state.value & NUD_FAILED ? "FAILED" : "INCOMPLETE",
	        gid_is_ipv4(search->path->to) ? "ARP" : "neighbour discovery");
	return true;
}

/* ---- the entry ---- */

/* Does the entry send through the netdev of the route? The entry may name a member of the bond that the route names. */
static bool sends_through(const struct search *search, const struct gid_entry *entry)
{
	const struct netdev *link = entry->link, *out = search->out;
	if (!link)
		return false;
	return link == out || netdev_is_member(link, out) || netdev_is_member(out, link);
}

static bool is_usable(const struct gid_entry *entry)
{
	return entry->state != GID_STATE_STALE && entry->state != GID_STATE_FOREIGN_NETNS;
}

/* A device in software may share the netdev of an adapter, and has the same entries. */
static bool is_hardware(const struct search *search, const struct gid_entry *entry)
{
	const struct gid_table *table = gid_table_of(search->document, entry->device, entry->port);
	const struct rdma_device *device = table ? table->rdma : NULL;
	return device && device->software != FLAG_YES && !rdma_driver_is_software(device->driver_id);
}

/* More is better: the route's own source address, then RoCE v2, then the netdev of the route, then an adapter. */
static int fitness(const struct search *search, const struct gid_entry *entry)
{
	const struct gid_path *path = search->path;
	const struct gid_lookup *route = search->route;
	if (!sends_through(search, entry) || !is_usable(entry) || gid_is_ipv4(entry->bytes) != gid_is_ipv4(path->to))
		return 0;
	bool source = route->has_source && !memcmp(entry->bytes, route->source, sizeof(route->source));
	if (search->by_source && !source)
		return 0;
	int fit = source ? 9 : 1;
	fit += entry->type == GID_TYPE_ROCE_V2 ? 4 : 0;
	fit += entry->scope != GID_SCOPE_LINK_LOCAL || gid_is_link_local(path->to, true) ? 2 : 0;
	return 2 * (fit + (entry->link == search->out)) + is_hardware(search, entry);
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

/* The netdev that packets leave by: below a bond in active-backup its active member; of others the lowest one known. */
static const struct netdev *leaving_netdev(const struct host *host, const struct netdev *netdev)
{
	enum { NESTING = 8 }; /* MAX_NEST_DEV in include/linux/netdevice.h */
	for (int i = 0; i < NESTING; i++) {
		const struct bond_facts *bond = netdev->bond_facts;
		const struct netdev *lower = bond && bond->active_ifindex.known
		                                     ? host_netdev(host, bond->active_ifindex.value)
		                             : netdev->lowers.count == 1 ? netdev->lowers.items[0]
		                                                         : NULL;
		if (!lower)
			break;
		netdev = lower;
	}
	return netdev;
}

/* The port that the route's netdev stands on, whatever its entries say; of several that which packets leave by. */
static const struct gid_table *table_of_route(const struct search *search)
{
	const struct netdev *leaving = leaving_netdev(search->host, search->out);
	list_each(table, &search->document->tables)
		if (table->rdma_port && port_netdev(table->rdma_port) == leaving)
			return table;
	list_each(table, &search->document->tables)
		if (is_on_port(search, table))
			return table;
	return NULL;
}

static const char *overlay_kind(const struct netdev *netdev)
{
	return netdev->kind_name ? netdev->kind_name : "a tunnel";
}

/* The netdev that has the source address of the route; NULL: it is that of the route, or not known. */
static const struct netdev *other_holder_of_source(const struct search *search)
{
	if (!search->route->has_source || netdev_address(search->out, search->route->source))
		return NULL;
	list_each(netdev, &search->host->netdevs)
		if (netdev_address(netdev, search->route->source))
			return netdev;
	return NULL;
}

/* What keeps programs from the port itself, whatever the netdev is like. */
static const char *port_note(struct search *search, const struct gid_table *table)
{
	struct gid_port port = gid_port_of(search->host, search->document, table);
	const char *unopened = gid_why_unopened(table->rdma), *inactive = gid_port_inactive(&port);
	const char *text = unopened   ? arena_printf(search->host->arena, "; but programs here cannot open %s: %s",
	                                        table->device, unopened)
	                   : inactive ? arena_printf(search->host->arena, "; but the port is %s", inactive)
	                              : "";
	return text ? text : "";
}

static const char *carrier_note(const struct search *search)
{
	return search->out->carrier == FLAG_NO ? ", which has no carrier" : "";
}

static void answer_without_entry(struct search *search)
{
	const struct gid_table *table = table_of_route(search);
	if (netdev_is_overlay(search->out)) {
		answer_none(search, "the route goes through %s (%s), through which no adapter sends RoCE",
		        search->out->name, overlay_kind(search->out));
		return;
	}
	if (!table) {
		bool switched = search->out->kind_name && !strcmp(search->out->kind_name, "openvswitch");
		bool elsewhere = search->host->rdma_netns_mode == NETNS_EXCLUSIVE && search->out->parent_name;
		answer_none(search, "the route goes through %s, which is no netdev of an RDMA device%s",
		        search->out->name,
		        switched    ? ": an address of an Open vSwitch bridge makes no GID, whatever ports it has"
		        : elsewhere ? " here (each is visible in one namespace only: rdma netns mode exclusive)"
		                    : "");
		return;
	}
	struct gid_port port = gid_port_of(search->host, search->document, table);
	enum transport transport = gid_port_transport(&port);
	if (transport == TRANSPORT_IWARP || transport == TRANSPORT_INFINIBAND) {
		search->answer->device = table->device;
		search->answer->port = table->port;
		if (transport == TRANSPORT_INFINIBAND && port.count)
			search->answer->index = port.entries[0]->index;
		answer_none(search, "through %s%s; %s%s", search->out->name, carrier_note(search),
		        transport == TRANSPORT_IWARP ? "iWARP connects by IP address, without a GID index"
		                                     : "InfiniBand addresses by LID, by GID across subnets only",
		        port_note(search, table));
		return;
	}
	const struct netdev *holder = other_holder_of_source(search);
	const char *source = "";
	if (holder)
		source = arena_printf(search->host->arena,
		        "; its source address %s is on %s, of which the port makes no GID",
		        ip_text(search, search->route->source), holder->name);
	answer_none(search, "the route goes through %s of %s/%" PRId64 ", which has no usable %s GID for it%s",
	        search->out->name, table->device, table->port.value, gid_is_ipv4(search->path->to) ? "IPv4" : "IPv6",
	        source ? source : "");
}

/* Such a port is made in software, and sends through whatever it stands on. */
static bool is_port_netdev(const struct search *search, const struct netdev *netdev)
{
	list_each(table, &search->document->tables)
		if (table->rdma_port && port_netdev(table->rdma_port) == netdev)
			return true;
	return false;
}

/* Why the best entry does not get there all the same. */
static bool entry_is_unfit(struct search *search, const struct gid_entry *entry)
{
	const struct gid_path *path = search->path;
	const struct gid_hop *hop = &search->route->hop;
	if (netdev_is_overlay(search->out) && !is_port_netdev(search, search->out)) {
		answer_none(search, "the route goes through %s (%s): the adapter does not encapsulate RoCE",
		        search->out->name, overlay_kind(search->out));
		return true;
	}
	if (entry->outer_vlan.known && !is_port_netdev(search, search->out)) {
		answer_none(search,
		        "the route goes through %s, VLAN %" PRId64 " on VLAN %" PRId64
		        ": an adapter puts only the first of these tags on RoCE packets",
		        search->out->name, entry->vlan.value, entry->outer_vlan.value);
		return true;
	}
	if (hop->has_gateway && entry->type == GID_TYPE_ROCE_V1) {
		answer_none(search,
		        "the route goes through the router %s, which does not forward RoCE v1, and %s has no RoCE v2 "
		        "entry",
		        ip_text(search, hop->gateway), search->out->name);
		return true;
	}
	if (entry->scope == GID_SCOPE_LINK_LOCAL && (hop->has_gateway || !gid_is_link_local(path->to, true))) {
		answer_none(search, "%s is in another subnet, and the only entry of %s for it is link-local",
		        path->address, search->out->name);
		return true;
	}
	return false;
}

static const char *flux_warning(struct search *search, const struct gid_entry *entry)
{
	struct shared_subnets subnets = { 0 };
	const struct address *address = netdev_address(search->out, entry->bytes);
	if (!address || search->route->hop.has_gateway || gid_subnets_find(search->host->arena, search->host, &subnets))
		return "";
	const struct shared_subnet *subnet = gid_subnet_of(&subnets, search->out, address);
	if (!subnet || !gid_subnet_has_flux(subnet))
		return "";
	const char *text = arena_printf(search->host->arena,
	        "; %u netdevs have addresses in this subnet, so the peer's answers may arrive at another one (ARP "
	        "flux)",
	        subnet->members.count);
	return text ? text : "";
}

/* An entry is bound to its netdev, so each path of the route has entries of its own. */
static const char *other_paths(struct search *search)
{
	const struct gid_lookup *fib = &search->path->fib;
	if (search->by_source || fib->hops.count < 2)
		return "";
	const char *text = "";
	list_each(hop, &fib->hops) {
		const struct netdev *netdev = hop->oif.known ? host_netdev(search->host, hop->oif.value) : NULL;
		if (netdev && netdev != search->out && text)
			text = arena_printf(search->host->arena, "%s%s%s", text, *text ? ", " : "; also paths through ",
			        netdev->name);
	}
	return text ? text : "";
}

static const char *neighbour_note(const struct search *search)
{
	struct num state = gid_path_neighbour(search->path, &search->route->hop);
	if (!search->path->has_neighbours || (state.known && state.value != NUD_NONE))
		return "";
	return "; the neighbour has not been asked for yet";
}

/* rdma_cm would look for a GID of the route's own source address, unless the program binds to another. */
static const char *source_note(struct search *search, const struct gid_entry *entry)
{
	const struct netdev *holder = other_holder_of_source(search);
	if (search->by_source || !holder || !memcmp(entry->bytes, search->route->source, sizeof(entry->bytes)))
		return "";
	const char *text = arena_printf(search->host->arena,
	        "; bind to that address: the route's own source %s is on %s, of which the port makes no GID",
	        ip_text(search, search->route->source), holder->name);
	return text ? text : "";
}

static void answer_entry(struct search *search, const struct gid_entry *entry)
{
	const struct gid_hop *hop = &search->route->hop;
	struct gid_route *answer = search->answer;
	const char *via = hop->has_gateway ? arena_printf(search->host->arena, " and the router %s",
	                                             ip_text(search, hop->gateway))
	                                   : "";
	answer->device = entry->device;
	answer->port = entry->port;
	answer->index = entry->index;
	const struct gid_table *table = gid_table_of(search->document, entry->device, entry->port);
	const char *vlan =
	        entry->vlan.known ? arena_printf(search->host->arena, " (VLAN %" PRId64 ")", entry->vlan.value) : "";
	answer->reason =
	        arena_printf(search->host->arena, "through %s%s%s%s, source %s%s, %s%s%s%s%s%s", search->out->name,
	                vlan ? vlan : "", carrier_note(search), via ? via : "", entry->ip ? entry->ip : entry->gid,
	                search->by_source ? " (only from there: rule by source, or VRF)" : "",
	                entry->type ? gid_type_names[entry->type] : "unknown type", source_note(search, entry),
	                table ? port_note(search, table) : "", neighbour_note(search), flux_warning(search, entry),
	                other_paths(search));
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

/* False: the route leads to no entry. */
static bool answer_by(struct search *search, const struct gid_lookup *route)
{
	search->route = route;
	search->out = route->hop.oif.known ? host_netdev(search->host, route->hop.oif.value) : NULL;
	const struct gid_entry *entry = search->out ? best_entry(search) : NULL;
	if (!entry)
		return false;
	if (!neighbour_is_unresolved(search) && !entry_is_unfit(search, entry))
		answer_entry(search, entry);
	return true;
}

/* The first source whose route gets through; what hinders the others is of interest only when none does. */
static bool answer_by_source(struct search *search)
{
	search->by_source = true;
	bool found = false;
	list_each(source, &search->path->sources)
		if (!search->answer->device && !source->error.known && num_is(source->type, RTN_UNICAST))
			found = answer_by(search, source) || found;
	search->by_source = false;
	return found;
}

/* ---- GIDs of InfiniBand, to which no route of IP leads ---- */

/* Slot 0 of a port of InfiniBand, which has the prefix of its subnet; NULL: it is another port. */
static const struct gid_entry *subnet_entry(const struct search *search, const struct gid_table *table)
{
	struct gid_port port = gid_port_of(search->host, search->document, table);
	return gid_port_transport(&port) == TRANSPORT_INFINIBAND ? gid_entry_at(&port, 0) : NULL;
}

static bool is_in_subnet(const struct search *search, const struct gid_table *table)
{
	enum { PREFIX = 8 };
	const struct gid_entry *entry = subnet_entry(search, table);
	return entry && !memcmp(entry->bytes, search->path->to, PREFIX);
}

static bool has_own_gid(const struct search *search, const struct gid_table *table)
{
	const struct gid_entry *entry = subnet_entry(search, table);
	return entry && !memcmp(entry->bytes, search->path->to, sizeof(search->path->to));
}

/* The port that has the GID itself before an active one of the subnet, that before others; NULL: there is none here. */
static const struct gid_table *table_of_subnet(const struct search *search)
{
	const struct gid_table *found = NULL;
	int best = 0;
	list_each(table, &search->document->tables) {
		if (!is_in_subnet(search, table))
			continue;
		struct gid_port port = gid_port_of(search->host, search->document, table);
		int rank = has_own_gid(search, table) ? 3 : gid_port_inactive(&port) ? 1 : 2;
		if (rank > best) {
			found = table;
			best = rank;
		}
	}
	return found;
}

static bool has_roce(const struct search *search)
{
	list_each(table, &search->document->tables) {
		struct gid_port port = gid_port_of(search->host, search->document, table);
		if (gid_port_transport(&port) == TRANSPORT_ROCE)
			return true;
	}
	return false;
}

/* "; mlx5_1/1 is in such a subnet too": ports of subnets with one prefix are not told apart by it. */
static const char *others_of_subnet(struct search *search, const struct gid_table *found)
{
	char label[PORT_LABEL_SIZE];
	const char *text = "";
	uint32_t count = 0;
	list_each(table, &search->document->tables)
		if (table != found && is_in_subnet(search, table) && text) {
			text = arena_printf(search->host->arena, "%s%s%s", text,
			        count ? ", " : "; of that prefix too: ", port_label(table->device, table->port, label));
			count++;
		}
	return text ? text : "";
}

/* The prefix of a subnet that nobody gave one is that of link-local addresses, which RoCE has as well. */
static bool answer_subnet(struct search *search)
{
	const struct gid_path *path = search->path;
	const struct gid_table *table = table_of_subnet(search);
	const struct gid_entry *entry = table ? subnet_entry(search, table) : NULL;
	if (!entry || path->zone || (gid_is_link_local(path->to, true) && has_roce(search)))
		return false;
	bool own = has_own_gid(search, table);
	search->answer->device = table->device;
	search->answer->port = table->port;
	search->answer->index = entry->index;
	answer_none(search, "%s; InfiniBand addresses by LID, by GID across subnets only%s%s",
	        own ? "the GID of this port: loopback" : "a GID with the prefix of its subnet",
	        port_note(search, table), own ? "" : others_of_subnet(search, table));
	return true;
}

/* ENOENT is what a snapshot answers to what it has no recording of. */
static const char *why_unknown(const struct gid_path *path)
{
	return num_is(path->route.error, ENOENT) ? "the snapshot holds no lookup of the route to"
	                                         : "RTM_GETROUTE failed for";
}

static void choose(struct search *search)
{
	const struct gid_lookup *route = &search->path->route;
	if (answer_subnet(search) || address_is_no_peer(search))
		return;
	if (!search->path->known) {
		search->answer->unknown = true;
		answer_none(search, "not known: %s %s", why_unknown(search->path), search->path->address);
	} else if (num_is(route->type, RTN_LOCAL)) {
		answer_local(search);
	} else if (!answer_by(search, route) && !answer_by_source(search) && !route_discards(search)) {
		search->route = route;
		search->out = route->hop.oif.known ? host_netdev(search->host, route->hop.oif.value) : NULL;
		if (search->out)
			answer_without_entry(search);
		else
			answer_none(search, "the route to %s names no netdev of this namespace", search->path->address);
	}
}

struct gid_route *gid_path_choose(struct host *host, const struct gid_document *document, const struct gid_path *path)
{
	struct gid_route *answer = arena_new_object(host->arena, struct gid_route);
	if (!answer)
		return NULL;
	answer->address = path->address;
	struct search search = {
		.host = host, .document = document, .path = path, .answer = answer, .route = &path->route
	};
	choose(&search);
	if (answer->unknown) {
		int error = path->route.error.known ? (int)path->route.error.value : 0;
		report_missing(&host->report, "to", "host", -error, "%s %s", why_unknown(path), path->address);
	}
	return answer;
}
