/* SPDX-License-Identifier: MIT */
/*
 * perftest 6.29 without -x: compute_gid_score() and get_best_gid_index() in src/perftest_communication.c.
 *
 * Each used slot gets 100 for the wanted family (IPv4; IPv6 with --ipv6), 10 when it is not link-local (fe80::/10,
 * 169.254/16), 2 for v2 or 1 for v1; the first with the highest sum wins. Netdev and namespace are not looked at.
 * Without an Ethernet link layer no GID is used unless -x asks for one. perftest has no environment variable for this.
 * A port that is not active ends it (perftest_resources.c, set_link_layer).
 *
 * Up to 6.28 (released as 26.01; Debian 12 has 6.06 as 4.5+0.17) the rule was another one, in
 * check_better_roce_version() and get_best_gid_index() of the same file: slot 0 stays until an IPv4 entry replaces one
 * that is not, or a higher RoCE version replaces a lower one, be it IPv4 or not. Where that leads elsewhere, it is told
 * as well.
 */
#include "gid/choose.h"

#include "gid/address.h"

#include <inttypes.h>

#define VERSION "perftest 6.29"

static int score_of(const struct gid_entry *entry)
{
	int score = gid_is_ipv4(entry->bytes) ? 100 : 0;
	if (!gid_is_link_local(entry->bytes, true))
		score += 10;
	return score + (entry->type == GID_TYPE_ROCE_V2 ? 2 : entry->type == GID_TYPE_ROCE_V1 ? 1 : 0);
}

static const char *warning(const struct gid_entry *entry)
{
	if (entry->state == GID_STATE_FOREIGN_NETNS)
		return ", though its netdev is in another network namespace";
	return entry->state == GID_STATE_STALE ? ", though it is stale" : "";
}

static int version_of(const struct gid_entry *entry)
{
	return entry->type == GID_TYPE_ROCE_V2 ? 2 : entry->type == GID_TYPE_ROCE_V1 ? 1 : -1;
}

/* Empty slots are no entries; slot 0 is where it begins even when it is one. */
static int64_t former_index(const struct gid_port *port)
{
	const struct gid_entry *current = gid_entry_at(port, 0);
	for (uint32_t i = 0; i < port->count; i++) {
		const struct gid_entry *entry = port->entries[i];
		bool family = gid_is_ipv4(entry->bytes) && !(current && gid_is_ipv4(current->bytes));
		if (entry != current && (family || (current && version_of(entry) > version_of(current))))
			current = entry;
	}
	return current ? current->index.value : 0;
}

static const char *former(struct arena *arena, const struct gid_port *port, int64_t index)
{
	int64_t taken = former_index(port);
	if (taken == index)
		return "";
	const char *text = arena_printf(
	        arena, "; up to 6.28: %" PRId64 "%s", taken, gid_entry_at(port, taken) ? "" : ", which is empty");
	return text ? text : "";
}

static void choose(struct arena *arena, const struct gid_port *port, struct gid_choice *choice)
{
	const struct gid_entry *best = NULL;
	for (uint32_t i = 0; i < port->count; i++)
		if (!best || score_of(port->entries[i]) > score_of(best))
			best = port->entries[i];
	if (!best) {
		gid_take_none(arena, choice, "the table has no GID (" VERSION ")");
		return;
	}
	gid_take(arena, choice, best->index.value, "highest score: %d%s (" VERSION ")%s", score_of(best), warning(best),
	        former(arena, port, best->index.value));
	for (uint32_t i = 0; i < port->count; i++) {
		const struct gid_entry *entry = port->entries[i];
		if (entry == best)
			continue;
		if (score_of(entry) < score_of(best))
			gid_reject(arena, choice, entry, "score %d: %s, %s%s", score_of(entry),
			        gid_is_ipv4(entry->bytes) ? "IPv4" : "IPv6",
			        gid_is_link_local(entry->bytes, true) ? "link-local, " : "",
			        entry->type ? gid_type_names[entry->type] : "unknown type");
		else
			gid_reject(
			        arena, choice, entry, "the same score, index %" PRId64 " is lower", best->index.value);
	}
}

void gid_choose_perftest(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice)
{
	(void)environment;
	enum transport transport = gid_port_transport(port);
	if (gid_port_inactive(port)) {
		gid_take_none(
		        arena, choice, "the port is %s, with which it ends (" VERSION ")", gid_port_inactive(port));
		gid_reject_others(arena, choice, port, "the port is not used");
		return;
	}
	if (transport == TRANSPORT_ROCE || transport == TRANSPORT_IWARP || transport == TRANSPORT_UNKNOWN) {
		choose(arena, port, choice);
		return;
	}
	gid_take_none(arena, choice, "%s (" VERSION ")",
	        transport == TRANSPORT_INFINIBAND ? "InfiniBand: addressed by LID, no GID without -x"
	                                          : "not Ethernet: no GID without -x 0");
	gid_reject_others(arena, choice, port, "no GID is used");
}
