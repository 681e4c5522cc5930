/* SPDX-License-Identifier: MIT */
/*
 * rdmadiag's own advice: what works best between nodes. An entry must be usable in this namespace at all; then RoCE v2
 * (the only type that a router forwards), on a netdev whose frames the adapter carries itself, with an address that is
 * good beyond the own link, untagged and on the own netdev of the port where there is a choice, IPv4 before IPv6
 * because that is what the other consumers take, a fixed address before one that may go, and the lowest index among
 * equals. The range of an IPv4 address says nothing: fabrics use private addresses.
 */
#include "gid/choose.h"

#include "base/cleanup.h"
#include "gid/address.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The criteria in the order of their weight; more is better. */
enum criterion { USABLE, VERSION, CARRIED, REACH, FRESH, PLAIN, FAMILY, FIXED, CRITERION_COUNT };

struct rank {
	int value[CRITERION_COUNT];
};

static int usable(const struct gid_entry *entry)
{
	switch ((enum gid_state)entry->state) {
	case GID_STATE_FOREIGN_NETNS:
	case GID_STATE_STALE:
		return 0;
	case GID_STATE_UNKNOWN:
		return entry->unread ? 3 : 2;
	default:
		break;
	}
	bool down = entry->link && (entry->link->admin_up == FLAG_NO || entry->link->carrier == FLAG_NO);
	if (down || entry->pathless || (entry->address && address_is_taken(entry->address)))
		return 1;
	return entry->address && address_doubt(entry->address) && !address_is_deprecated(entry->address) ? 2 : 3;
}

static int version(const struct gid_entry *entry)
{
	return entry->type == GID_TYPE_ROCE_V2 ? 2 : entry->type == GID_TYPE_ROCE_V1 ? 0 : 1;
}

static int reach(const struct gid_entry *entry)
{
	switch ((enum gid_scope)entry->scope) {
	case GID_SCOPE_LOOPBACK:
		return 0;
	case GID_SCOPE_LINK_LOCAL:
		return 1;
	default:
		return 2;
	}
}

/* Named by a member of the bond that has the address: where the bond has an entry too, that of the member is left over.
 */
static bool is_borrowed(const struct gid_entry *entry)
{
	return entry->link && entry->address && !netdev_address(entry->link, entry->bytes);
}

/* 2: the port's own netdev or its bond; 1: what is made beside it, for guests and containers as a rule; 0: tagged. */
static int plain(const struct gid_entry *entry)
{
	if (entry->vlan.known)
		return 0;
	switch (entry->link ? entry->link->kind : LINK_ETHERNET) {
	case LINK_VLAN:
		return 0;
	case LINK_BRIDGE:
	case LINK_DUMMY:
	case LINK_MACVLAN:
	case LINK_IPVLAN:
		return 1;
	default:
		return is_borrowed(entry) ? 1 : 2;
	}
}

/* A port that stands on such a netdev itself is made in software, and sends through whatever it stands on. */
static bool is_carried(const struct gid_port *port, const struct gid_entry *entry)
{
	const struct port *rdma_port = port->table->rdma_port;
	bool encapsulated = entry->link && (netdev_is_overlay(entry->link) || entry->outer_vlan.known);
	return !encapsulated || (rdma_port && port_netdev(rdma_port) == entry->link);
}

static struct rank rank_of(const struct gid_port *port, const struct gid_entry *entry)
{
	return (struct rank){ {
		[USABLE] = usable(entry),
		[VERSION] = version(entry),
		[CARRIED] = is_carried(port, entry),
		[REACH] = reach(entry),
		/* After the scope, as the kernel chooses among its addresses (RFC 6724, section 5, rules 2 and 3). */
		[FRESH] = !entry->address || !address_is_deprecated(entry->address),
		[PLAIN] = plain(entry),
		[FAMILY] = entry->family == GID_FAMILY_IPV4,
		[FIXED] = !entry->address || !address_is_extra(entry->address),
	} };
}

/* The first criterion by which they differ; CRITERION_COUNT: none. */
static enum criterion difference(const struct rank *a, const struct rank *b)
{
	enum criterion criterion = USABLE;
	while (criterion < CRITERION_COUNT && a->value[criterion] == b->value[criterion])
		criterion++;
	return criterion;
}

static const struct gid_entry *best_of(const struct gid_port *port)
{
	const struct gid_entry *best = NULL;
	struct rank best_rank = { 0 };
	for (uint32_t i = 0; i < port->count; i++) {
		struct rank rank = rank_of(port, port->entries[i]);
		enum criterion criterion = difference(&rank, &best_rank);
		if (!rank.value[USABLE] || (best && criterion == CRITERION_COUNT))
			continue;
		if (!best || rank.value[criterion] > best_rank.value[criterion]) {
			best = port->entries[i];
			best_rank = rank;
		}
	}
	return best;
}

static const char *netdev_name(const struct gid_entry *entry)
{
	return entry->netdev ? entry->netdev : "its netdev";
}

static void reject(struct arena *arena, struct gid_choice *choice, const struct gid_port *port,
        const struct gid_entry *entry, const struct gid_entry *best)
{
	struct rank rank = rank_of(port, entry), best_rank = { 0 };
	if (best)
		best_rank = rank_of(port, best);
	switch (rank.value[USABLE] ? difference(&rank, &best_rank) : USABLE) {
	case USABLE:
		gid_reject(
		        arena, choice, entry, "%s", entry->state_reason ? entry->state_reason : "its state is unknown");
		break;
	case VERSION:
		gid_reject(arena, choice, entry,
		        entry->type ? "RoCE v1: not routable, same L2 segment only" : "its RoCE version is unknown");
		break;
	case CARRIED:
		if (entry->outer_vlan.known) {
			gid_reject(arena, choice, entry,
			        "VLAN %" PRId64 " on VLAN %" PRId64 ": the adapter puts on the first tag only",
			        entry->vlan.value, entry->outer_vlan.value);
			break;
		}
		gid_reject(arena, choice, entry, "%s is an overlay netdev (%s): the adapter does not encapsulate",
		        netdev_name(entry), entry->link->kind_name ? entry->link->kind_name : "virtual");
		break;
	case REACH:
		gid_reject(arena, choice, entry,
		        entry->scope == GID_SCOPE_LOOPBACK ? "loopback address: this host only"
		                                           : "link-local: same L2 segment only");
		break;
	case FRESH:
		gid_reject(arena, choice, entry, "%s", address_doubt(entry->address));
		break;
	case PLAIN:
		if (entry->vlan.known)
			gid_reject(arena, choice, entry, "tagged with VLAN %" PRId64, entry->vlan.value);
		else if (entry->link && entry->link->kind == LINK_VLAN)
			gid_reject(arena, choice, entry, "tagged: %s is a VLAN", netdev_name(entry));
		else if (is_borrowed(entry))
			gid_reject(arena, choice, entry, "%s is a member of the bond that has the address",
			        netdev_name(entry));
		else
			gid_reject(arena, choice, entry, "%s is virtual%s", netdev_name(entry),
			        entry->address && address_is_extra(entry->address) ? ", and its address may move" : "");
		break;
	case FAMILY:
		gid_reject(arena, choice, entry, "IPv6; the others take IPv4 where there is one");
		break;
	case FIXED:
		gid_reject(arena, choice, entry, "a secondary, temporary or host address, which may move or go");
		break;
	default:
		gid_reject(arena, choice, entry, "as good as index %" PRId64 ", which is lower", best->index.value);
	}
}

/* What the best entry still lacks. */
static const char *caveat(const struct gid_port *port, const struct gid_entry *best)
{
	if (best->state == GID_STATE_UNKNOWN)
		return "; its state could not be decided";
	if (best->link && best->link->admin_up == FLAG_NO)
		return "; its netdev is down";
	if (best->link && best->link->carrier == FLAG_NO)
		return "; its netdev has no carrier";
	if (best->pathless)
		return "; its netdev has no link-local IPv6 address, so that no peer is reached";
	if (best->address && address_is_taken(best->address))
		return "; another node has the address";
	if (best->address && address_is_deprecated(best->address))
		return "; its address is deprecated";
	if (best->address && address_doubt(best->address))
		return "; its address is tentative";
	if (best->type == GID_TYPE_ROCE_V1)
		return "; no RoCE v2 entry is usable, so only peers in the same L2 segment are reached";
	if (!best->type)
		return "; whether it is RoCE v2 is not known";
	if (best->scope == GID_SCOPE_LINK_LOCAL)
		return "; only peers in the same L2 segment are reached";
	if (!is_carried(port, best))
		return best->outer_vlan.known ? "; its VLAN stands on another one, whose tag the adapter leaves out"
		                              : "; its netdev is an overlay";
	return "";
}

static void choose_roce(struct arena *arena, const struct gid_port *port, struct gid_choice *choice)
{
	const struct gid_entry *best = best_of(port);
	const struct netdev *own = port->table->rdma_port ? port_netdev(port->table->rdma_port) : NULL;
	const char *lacks = own && !port->count ? netdev_lacks(port->host, own) : NULL;
	if (best)
		gid_take(arena, choice, best->index.value, "%s, %s address %s on %s%s%s",
		        best->type ? gid_type_names[best->type] : "unknown type",
		        best->scope ? gid_scope_names[best->scope] : "", best->ip ? best->ip : best->gid,
		        netdev_name(best), best->vlan.known ? " (VLAN)" : "", caveat(port, best));
	else if (port->count)
		gid_take_none(arena, choice, "no entry is usable in this network namespace");
	else if (num_is(port->table->size, 0))
		gid_take_none(arena, choice, "the device has no RoCE on this port: its table has no slots");
	else if (own)
		gid_take_none(arena, choice, "the table has no GID: its netdev %s %s", own->name,
		        lacks ? lacks : "has addresses, but no entry for them");
	else
		gid_take_none(arena, choice,
		        "the table has no GID in this network namespace: no RoCE netdev with an address here");
	for (uint32_t i = 0; i < port->count; i++)
		if (port->entries[i] != best)
			reject(arena, choice, port, port->entries[i], best);
}

static void choose_first(struct arena *arena, const struct gid_port *port, struct gid_choice *choice,
        const char *reason, const char *others)
{
	if (!port->count)
		gid_take_none(arena, choice,
		        gid_port_transport(port) == TRANSPORT_IWARP
		                ? "iWARP connects by IP address; the table has no GID"
		                : "the table has no GID");
	else if (port->entries[0]->type == GID_TYPE_IB && port->entries[0]->state == GID_STATE_UNKNOWN)
		gid_take_none(arena, choice, "%s", port->entries[0]->state_reason);
	else
		gid_take(arena, choice, port->entries[0]->index.value, "%s", reason);
	gid_reject_others(arena, choice, port, others);
}

/* Routers take GIDs that are not link-local; a subnet manager adds one of them with a FLID (fec0::/10). */
static const char *across_subnets(struct arena *arena, const struct gid_port *port)
{
	const char *text = "InfiniBand: the port GUID; needed across subnets only";
	for (uint32_t i = 1; i < port->count; i++) {
		const struct gid_entry *entry = port->entries[i];
		if (!gid_is_link_local(port->entries[0]->bytes, true) || gid_is_link_local(entry->bytes, true))
			continue;
		const char *other = arena_printf(arena,
		        "InfiniBand: the port GUID; a GID is needed across subnets only, where it is index %" PRId64,
		        entry->index.value);
		return other ? other : text;
	}
	return text;
}

void gid_choose_rdmadiag(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice)
{
	(void)environment;
	switch (gid_port_transport(port)) {
	case TRANSPORT_INFINIBAND:
		choose_first(arena, port, choice, across_subnets(arena, port),
		        "InfiniBand: the first entry is the port GUID, others are aliases");
		break;
	case TRANSPORT_IWARP:
		choose_first(arena, port, choice, "iWARP connects by IP address and has one GID", "iWARP has one GID");
		break;
	case TRANSPORT_UNSPECIFIED:
		choose_first(arena, port, choice, "the only addressing of this device (no RoCE types)",
		        "the device uses its first entry");
		break;
	default:
		choose_roce(arena, port, choice);
	}
	const char *unopened = port->table->rdma ? gid_why_unopened(port->table->rdma) : NULL;
	if (unopened && choice->index.known)
		choice->reason =
		        arena_printf(arena, "%s; but no program here opens the device: %s", choice->reason, unopened);
	/* The index is right all the same; but for entries whose netdev says so already. */
	const char *inactive = gid_port_inactive(port);
	const struct gid_entry *taken = choice->index.known ? gid_entry_at(port, choice->index.value) : NULL;
	if (inactive && taken &&
	        !(taken->link && (taken->link->admin_up == FLAG_NO || taken->link->carrier == FLAG_NO)))
		choice->reason = arena_printf(arena, "%s; but the port is %s", choice->reason, inactive);
}
