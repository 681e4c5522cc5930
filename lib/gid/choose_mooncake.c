/* SPDX-License-Identifier: MIT */
/*
 * Mooncake 0.3.12 and 0.3.12.post1: loadGlobalConfig() in mooncake-transfer-engine/src/config.cpp, findBestGidIndex()
 * in src/transport/rdma_transport/rdma_context.cpp and the classes in
 * include/transport/rdma_transport/rdma_gid_probe.h.
 *
 * MC_FORCE_TCP, whatever it holds, ends the use of RDMA (src/transfer_engine_impl.cpp). One port of each device is
 * used: 1, or MC_IB_PORT.
 *
 * MC_GID_INDEX, else NCCL_IB_GID_INDEX, goes through atoi(): an empty string is index 0; numbers outside 0…255 are
 * ignored. Else entries of type RoCE v2 (or InfiniBand) are classed, the lowest index of the best class wins:
 * with a netdev and routable; without a netdev; private IPv4 (10/8, 172.16/12, 100.64/10, but not 192.168/16); with a
 * netdev but link-local, or on a netdev named like an overlay; the last two without a netdev. RoCE v1 only remains as
 * the last resort. A device whose port is not active is not used (openRdmaDevice()). The netdev is what gid_attrs/ndevs
 * shows, of whatever namespace.
 *
 * 0.3.10 and 0.3.11 had another rule in findBestGidIndex(): the table ends at its first empty slot; the first v2 IPv4
 * entry with a netdev wins, else the first IPv4 one, else the first other one with a netdev, else the first other one.
 * Where that leads elsewhere, it is told as well.
 */
#include "gid/choose.h"

#include "gid/address.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "Mooncake 0.3.12"

enum class {
	NETWORK_ROUTABLE,
	NO_NETWORK_ROUTABLE,
	NETWORK_PRIVATE,
	NETWORK_DEGRADED,
	NO_NETWORK_PRIVATE,
	NO_NETWORK_DEGRADED,
	FALLBACK,
};

static const char *const class_names[] = {
	[NETWORK_ROUTABLE] = "routable",
	[NO_NETWORK_ROUTABLE] = "routable, but no netdev",
	[NETWORK_PRIVATE] = "private IPv4",
	[NETWORK_DEGRADED] = "link-local or overlay",
	[NO_NETWORK_PRIVATE] = "private IPv4, no netdev",
	[NO_NETWORK_DEGRADED] = "link-local, no netdev",
	[FALLBACK] = "not RoCE v2: last resort",
};

static const char *shown_netdev(const struct gid_entry *entry)
{
	return entry->seen_netdev ? entry->seen_netdev : entry->netdev;
}

static bool has_overlay_name(const char *name)
{
	static const char *const prefixes[] = { "flannel", "cni", "calico", "vxlan", "docker" };
	for (size_t i = 0; name && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return name && !strcmp(name, "tunl0");
}

static bool is_private(const uint8_t gid[static 16])
{
	const uint8_t *ip = gid + 12;
	return gid_is_ipv4(gid) &&
	       (ip[0] == 10 || (ip[0] == 172 && (ip[1] & 0xf0) == 16) || (ip[0] == 100 && (ip[1] & 0xc0) == 64));
}

static enum class class_of(const struct gid_entry *entry) {
	bool network = shown_netdev(entry) != NULL;
	if (entry->type == GID_TYPE_IB || entry->type == GID_TYPE_IWARP) return network ? NETWORK_ROUTABLE
	                                                                                : NO_NETWORK_ROUTABLE;
	if (entry->type != GID_TYPE_ROCE_V2) return FALLBACK;
	bool link_local = !gid_is_ipv4(entry->bytes) && gid_is_link_local(entry->bytes, true);
	if (link_local || has_overlay_name(shown_netdev(entry))) return network ? NETWORK_DEGRADED
	                                                                        : NO_NETWORK_DEGRADED;
	if (is_private(entry->bytes)) return network ? NETWORK_PRIVATE : NO_NETWORK_PRIVATE;
	return network ? NETWORK_ROUTABLE : NO_NETWORK_ROUTABLE;
}

/* Higher is better. */
static int former_rank(const struct gid_entry *entry)
{
	if (entry->type != GID_TYPE_ROCE_V2 && entry->type != GID_TYPE_IB && entry->type != GID_TYPE_IWARP)
		return 0;
	bool ipv4 = entry->type == GID_TYPE_ROCE_V2 && gid_is_ipv4(entry->bytes);
	return 1 + (shown_netdev(entry) != NULL) + 2 * ipv4;
}

static const struct gid_entry *former_choice(const struct gid_port *port)
{
	const struct gid_entry *best = NULL;
	for (uint32_t i = 0; i < port->count && num_is(port->entries[i]->index, i); i++)
		if (former_rank(port->entries[i]) > (best ? former_rank(best) : 0))
			best = port->entries[i];
	return best;
}

static const char *former(struct arena *arena, const struct gid_port *port, const struct gid_entry *best)
{
	const struct gid_entry *taken = former_choice(port);
	if (taken == best)
		return "";
	const char *text = taken ? arena_printf(arena, "; 0.3.10 and 0.3.11: %" PRId64, taken->index.value)
	                         : "; 0.3.10 and 0.3.11: none";
	return text ? text : "";
}

static void scan(struct arena *arena, const struct gid_port *port, struct gid_choice *choice)
{
	const struct gid_entry *best = NULL;
	for (uint32_t i = 0; i < port->count; i++)
		if (!best || class_of(port->entries[i]) < class_of(best))
			best = port->entries[i];
	if (!best) {
		gid_take_none(arena, choice, "the table has no GID (" VERSION ")");
		return;
	}
	const char *warning = best->state == GID_STATE_FOREIGN_NETNS
	                              ? ", though its netdev is in another network namespace"
	                      : best->state == GID_STATE_STALE ? ", though it is stale"
	                                                       : "";
	gid_take(arena, choice, best->index.value, "lowest index of the best class (%s)%s (" VERSION ")%s",
	        class_names[class_of(best)], warning, former(arena, port, best));
	for (uint32_t i = 0; i < port->count; i++) {
		const struct gid_entry *entry = port->entries[i];
		if (entry == best)
			continue;
		if (class_of(entry) == class_of(best))
			gid_reject(
			        arena, choice, entry, "the same class, index %" PRId64 " is lower", best->index.value);
		else
			gid_reject(arena, choice, entry, "%s", class_names[class_of(entry)]);
	}
}

/* 0: not set. */
static int wanted_port(const struct gid_environment *environment)
{
	const char *text = gid_environment_get(environment, "MC_IB_PORT");
	int number = text ? atoi(text) : 0;
	return number > 0 && number <= UINT8_MAX ? number : 0;
}

static void choose(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice)
{
	if (gid_port_inactive(port)) {
		gid_take_none(arena, choice, "the port is %s, so the device is not used (" VERSION ")",
		        gid_port_inactive(port));
		gid_reject_others(arena, choice, port, "the device is not used");
		return;
	}
	const char *name = "MC_GID_INDEX", *text = gid_environment_get(environment, name);
	if (!text)
		text = gid_environment_get(environment, name = "NCCL_IB_GID_INDEX");
	int fixed = text ? atoi(text) : -1;
	if (fixed < 0 || fixed > 255) {
		scan(arena, port, choice);
		return;
	}
	gid_set_by(choice, name, fixed);
	const char *note = *text ? gid_read_as(arena, text, 10) : " (empty counts as 0)";
	if (gid_entry_at(port, fixed))
		gid_take(arena, choice, fixed, "%s=%d%s (" VERSION ")", name, fixed, note);
	else
		gid_take_none(arena, choice, "%s=%d%s: that slot is empty, the device is not used (" VERSION ")", name,
		        fixed, note);
	choice->empty_slot = !choice->index.known;
	gid_reject_others(arena, choice, port, arena_printf(arena, "%s is set", name));
}

void gid_choose_mooncake(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice)
{
	int64_t number = port->table->port.value;
	int wanted = wanted_port(environment);
	if (gid_environment_get(environment, "MC_FORCE_TCP")) {
		gid_take_none(arena, choice, "RDMA is not used: MC_FORCE_TCP is set (" VERSION ")");
		gid_reject_others(arena, choice, port, "no RDMA device is used");
		return;
	}
	if (wanted && wanted != number) {
		gid_take_none(arena, choice, "it uses port %d of each device only: MC_IB_PORT (" VERSION ")", wanted);
		gid_reject_others(arena, choice, port, "the port is not used");
		return;
	}
	choose(arena, port, environment, choice);
	if (!wanted && number != 1 && choice->index.known)
		choice->reason = arena_printf(arena, "%s; only with MC_IB_PORT=%" PRId64, choice->reason, number);
}
