/* SPDX-License-Identifier: MIT */
#include "gid/judge.h"

#include "gid/address.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct judge {
	struct host *host;
	struct gid_table *table;
	struct gid_entry **entries;
	bool addresses_known;
};

/* Every namespace has an address as soon as its loopback device is up: none at all means that none was read. */
static bool are_addresses_known(const struct host *host)
{
	if (host->addresses_unread)
		return false;
	list_each(netdev, &host->netdevs)
		if (netdev->addresses.count)
			return true;
	return false;
}

static bool has_ip(const struct judge *judge, const struct gid_entry *entry)
{
	if (entry->type == GID_TYPE_ROCE_V1 || entry->type == GID_TYPE_ROCE_V2)
		return true;
	const struct port *port = judge->table->rdma_port;
	return entry->type == GID_TYPE_UNKNOWN && port && port->transport == TRANSPORT_ROCE;
}

static int describe(const struct judge *judge, struct gid_entry *entry)
{
	if (!has_ip(judge, entry)) {
		entry->scope = entry->type == GID_TYPE_IB ? GID_SCOPE_IB_SUBNET : GID_SCOPE_UNKNOWN;
		return 0;
	}
	char text[IP_TEXT_SIZE];
	gid_format_ip(entry->bytes, text);
	entry->ip = arena_strdup(judge->host->arena, text);
	entry->family = gid_is_ipv4(entry->bytes) ? GID_FAMILY_IPV4 : GID_FAMILY_IPV6;
	entry->scope = (int)gid_scope_of(entry->bytes);
	return entry->ip ? 0 : -ENOMEM;
}

/* ---- the netdev ---- */

/* Both the name and the index must fit, as far as they are known. */
static bool is_named(const struct gid_entry *entry, const struct netdev *netdev)
{
	bool has_index = entry->seen_ifindex.known && entry->seen_ifindex.value;
	if (has_index && !num_is(netdev->ifindex, entry->seen_ifindex.value))
		return false;
	if (entry->seen_netdev && strcmp(entry->seen_netdev, netdev->name) != 0)
		return false;
	return has_index || entry->seen_netdev;
}

/* The address may be on a bond while the entry names a member, or the reverse. */
static bool is_named_or_bonded(const struct host *host, const struct gid_entry *entry, const struct netdev *netdev)
{
	if (is_named(entry, netdev))
		return true;
	list_each(other, &host->netdevs) {
		bool bonded = netdev_is_member(other, netdev) || netdev_is_member(netdev, other);
		if (bonded && is_named(entry, other))
			return true;
	}
	return false;
}

static struct netdev *named_netdev(const struct host *host, const struct gid_entry *entry)
{
	struct netdev *netdev = NULL;
	if (entry->seen_ifindex.known && entry->seen_ifindex.value)
		netdev = host_netdev(host, entry->seen_ifindex.value);
	else if (entry->seen_netdev)
		netdev = host_netdev_by_name(host, entry->seen_netdev);
	return netdev && is_named(entry, netdev) ? netdev : NULL;
}

/*
 * A default GID is made from the MAC of the netdev that it belongs to, for a bond from the bond's: the MAC of a member
 * that is not the active one makes no valid GID of the bond (fail_over_mac=active).
 */
static bool has_address(const struct judge *judge, const struct gid_entry *entry, const struct netdev *netdev)
{
	if (netdev_address(netdev, entry->bytes))
		return true;
	if (!gid_is_link_local(entry->bytes, false) || !gid_matches_mac(entry->bytes, netdev))
		return false;
	const struct netdev *master = host_master(judge->host, netdev);
	return is_named(entry, netdev) || !master || !is_named(entry, master);
}

/* Of the port; or, where nothing tells which netdevs are, on the function of the device. */
static bool may_be_of_port(const struct judge *judge, const struct netdev *netdev)
{
	const struct gid_table *table = judge->table;
	if (!table->rdma_port)
		return false;
	enum flag belongs = netdev_belongs_to_port(judge->host, netdev, table->rdma_port);
	return belongs == FLAG_YES || (belongs == FLAG_UNKNOWN && table->rdma_port->netdev_unknown && netdev->pci &&
	                                      table->rdma && table->rdma->pci == netdev->pci);
}

/* The netdev of ours that has the address and that the entry may mean. Its namesake is preferred to its bond. */
static struct netdev *addressed_netdev(const struct judge *judge, const struct gid_entry *entry)
{
	struct netdev *found = named_netdev(judge->host, entry);
	if (found && has_address(judge, entry, found))
		return found;
	found = NULL;
	list_each(netdev, &judge->host->netdevs) {
		if (!has_address(judge, entry, netdev))
			continue;
		bool silent = !entry->seen_netdev && !(entry->seen_ifindex.known && entry->seen_ifindex.value);
		if (is_named_or_bonded(judge->host, entry, netdev) || (silent && may_be_of_port(judge, netdev)))
			found = found ? found : netdev;
	}
	return found;
}

/*
 * An entry named by its member is shown with that member: the netdev that the kernel names is kept, whatever holds the
 * address.
 */
static void join(const struct judge *judge, struct gid_entry *entry, struct netdev *addressed)
{
	struct netdev *named = named_netdev(judge->host, entry);
	entry->link = named ? named : addressed;
	entry->netdev = entry->link->name;
	entry->ifindex = entry->link->ifindex;
	entry->vlan = netdev_vlan(judge->host, entry->link);
	entry->outer_vlan = netdev_outer_vlan(judge->host, entry->link);
	entry->vlan_hidden = netdev_vlan_is_hidden(judge->host, entry->link);
}

/* ---- the state ---- */

__attribute__((format(printf, 4, 5))) static void set_state(
        const struct judge *judge, struct gid_entry *entry, enum gid_state state, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	entry->state_reason = arena_vprintf(judge->host->arena, format, args);
	va_end(args);
	entry->state = (int)state;
}

static void judge_foreign(const struct judge *judge, struct gid_entry *entry)
{
	entry->netdev = entry->seen_netdev;
	if (entry->seen_netdev)
		set_state(judge, entry, GID_STATE_FOREIGN_NETNS,
		        "netdev %s of the entry is in another network namespace", entry->seen_netdev);
	else
		set_state(judge, entry, GID_STATE_FOREIGN_NETNS, "no netdev visible in this network namespace");
}

static void judge_stale(const struct judge *judge, struct gid_entry *entry, struct netdev *named)
{
	join(judge, entry, named);
	if (!gid_is_link_local(entry->bytes, false))
		set_state(judge, entry, GID_STATE_STALE, "%s is not an address of %s", entry->ip, named->name);
	else if (gid_has_eui64(entry->bytes) && named->mac)
		set_state(judge, entry, GID_STATE_STALE,
		        "its EUI-64 does not match the MAC of %s (%s), and it is not an address of it", named->name,
		        named->mac);
	else
		set_state(judge, entry, GID_STATE_STALE, "not an address of %s, nor made from its MAC", named->name);
}

/*
 * Is it known that the port's own netdev is in another namespace? PORT_GET then hides it, so that the port has none;
 * from sysfs alone a port without netdevs means nothing.
 */
static bool port_is_elsewhere(const struct judge *judge)
{
	const struct gid_table *table = judge->table;
	return table->rdma && table->rdma->netlink_index.known && table->rdma_port && !port_netdev(table->rdma_port);
}

static void judge_same_name(const struct judge *judge, struct gid_entry *entry, const struct netdev *named)
{
	entry->netdev = named->name;
	if (port_is_elsewhere(judge))
		set_state(judge, entry, GID_STATE_FOREIGN_NETNS,
		        "%s here does not have the address: a netdev of the same name in another network namespace",
		        named->name);
	else
		set_state(judge, entry, GID_STATE_UNKNOWN,
		        "%s does not have the address: stale, or a netdev of the same name in another network "
		        "namespace",
		        named->name);
}

/* No netdev of ours that may be meant has the address. */
static void judge_unaddressed(const struct judge *judge, struct gid_entry *entry)
{
	const struct port *port = judge->table->rdma_port;
	struct netdev *named = named_netdev(judge->host, entry);
	enum flag belongs = !named ? FLAG_NO : port ? netdev_belongs_to_port(judge->host, named, port) : FLAG_UNKNOWN;
	if (named && !judge->addresses_known) {
		join(judge, entry, named);
		set_state(judge, entry, GID_STATE_UNKNOWN, "the addresses of %s are not known", named->name);
		entry->unread = true;
	} else if (belongs == FLAG_YES) {
		judge_stale(judge, entry, named);
	} else if (belongs == FLAG_UNKNOWN) {
		judge_same_name(judge, entry, named);
	} else if (entry->seen == FLAG_YES) {
		judge_foreign(judge, entry);
	} else {
		set_state(judge, entry, GID_STATE_UNKNOWN, "the kernel does not tell the netdev of the entry");
		entry->unread = !judge->addresses_known;
	}
}

static bool has_link_local(const struct netdev *netdev)
{
	uint8_t gid[16];
	list_each(address, &netdev->addresses) {
		gid_from_address(address, gid);
		if (gid_is_link_local(gid, false))
			return true;
	}
	return false;
}

/*
 * A default GID is there without IPv6, too. The route to link-local addresses comes with one of the netdev, and RoCE v2
 * goes by routes: without it ibv_modify_qp() to RTR answers ENETUNREACH (seen on Linux 6.1). RoCE v1 takes the peer's
 * MAC out of the GID (ib_resolve_unicast_gid_dmac() in drivers/infiniband/core/verbs.c).
 */
static bool is_pathless(const struct judge *judge, const struct gid_entry *entry, const struct netdev *netdev)
{
	return entry->type == GID_TYPE_ROCE_V2 && gid_is_link_local(entry->bytes, false) && judge->addresses_known &&
	       netdev->admin_up == FLAG_YES && netdev->carrier == FLAG_YES && !netdev->master_ifindex.known &&
	       !has_link_local(netdev);
}

static void judge_addressed(const struct judge *judge, struct gid_entry *entry, struct netdev *addressed)
{
	join(judge, entry, addressed);
	entry->state = GID_STATE_OK;
	entry->address = netdev_address(addressed, entry->bytes);
	const char *doubt = entry->address ? address_doubt(entry->address) : NULL;
	if (addressed->admin_up == FLAG_NO)
		entry->state_reason = arena_printf(judge->host->arena, "netdev %s is down", addressed->name);
	else if (addressed->carrier == FLAG_NO)
		entry->state_reason = arena_printf(judge->host->arena, "netdev %s has no carrier", addressed->name);
	else if (doubt)
		entry->state_reason = arena_strdup(judge->host->arena, doubt);
	entry->pathless = is_pathless(judge, entry, addressed);
	if (entry->pathless)
		entry->state_reason = arena_printf(judge->host->arena,
		        "%s has no link-local IPv6 address, and so no route to others", addressed->name);
}

static void judge_entry(const struct judge *judge, struct gid_entry *entry)
{
	if (!has_ip(judge, entry)) {
		entry->state = GID_STATE_OK;
		if (entry->type == GID_TYPE_IB && gid_has_no_guid(entry->bytes))
			set_state(judge, entry, GID_STATE_UNKNOWN,
			        "the port has no GUID: a VF gets one from its physical function or the subnet manager");
		return;
	}
	struct netdev *addressed = addressed_netdev(judge, entry);
	if (addressed)
		judge_addressed(judge, entry, addressed);
	else
		judge_unaddressed(judge, entry);
}

/* ---- the same GID at other indexes ---- */

static int find_same(const struct judge *judge, uint32_t at)
{
	struct gid_entry *entry = judge->entries[at];
	bool duplicate = false;
	for (uint32_t i = 0; i < judge->table->count; i++) {
		struct gid_entry *other = judge->entries[i];
		if (i == at || memcmp(other->bytes, entry->bytes, sizeof(entry->bytes)))
			continue;
		struct num *index = list_add(judge->host->arena, &entry->same_gid_as);
		if (!index)
			return -ENOMEM;
		*index = other->index;
		/* Of a kernel that tells no types they may be RoCE v1 and v2. */
		if (other->type != entry->type || !entry->type || duplicate)
			continue;
		duplicate = true;
		if (entry->state == GID_STATE_OK)
			set_state(judge, entry, GID_STATE_DUPLICATE, "the same GID and type at index %" PRId64 "%s%s",
			        other->index.value, other->netdev ? " with netdev " : "",
			        other->netdev ? other->netdev : "");
	}
	return 0;
}

static int judge_table(struct judge *judge)
{
	int result = 0;
	for (uint32_t i = 0; !result && i < judge->table->count; i++)
		result = describe(judge, judge->entries[i]);
	for (uint32_t i = 0; !result && i < judge->table->count; i++)
		judge_entry(judge, judge->entries[i]);
	for (uint32_t i = 0; !result && i < judge->table->count; i++)
		result = find_same(judge, i);
	return result;
}

int gid_judge(struct host *host, struct gid_document *document)
{
	int result = 0;
	bool addresses_known = are_addresses_known(host);
	for (uint32_t i = 0; !result && i < document->tables.count; i++) {
		struct gid_table *table = document->tables.items[i];
		struct judge judge = {
			.host = host,
			.table = table,
			.entries = document->entries.items + table->first,
			.addresses_known = addresses_known,
		};
		result = judge_table(&judge);
	}
	return result;
}

/* The kernel tags frames with the first VLAN below the netdev (rdma_read_gid_l2_fields()), in whatever namespace. */
void gid_tell_hidden_vlans(struct host *host, const struct gid_document *document)
{
	char subject[GID_SUBJECT_SIZE];
	list_each(entry, &document->entries) {
		if (!entry->vlan_hidden)
			continue;
		gid_entry_subject(entry, subject);
		report_missing(&host->report, "vlan", subject, 0,
		        "%s stands on a netdev of another network namespace, which may be a VLAN", entry->link->name);
	}
}
