/* SPDX-License-Identifier: MIT */
#include "probe/route.h"

#include "gid/address.h"
#include "gid/path.h"
#include "base/cleanup.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <string.h>

/* States in the words of `ip neigh`. */
static const char *neighbour_word(int64_t state)
{
	static const struct {
		int state;
		const char *word;
	} words[] = {
		{ NUD_FAILED, "failed" },
		{ NUD_INCOMPLETE, "incomplete" },
		{ NUD_REACHABLE, "reachable" },
		{ NUD_STALE, "stale" },
		{ NUD_DELAY, "delay" },
		{ NUD_PROBE, "probe" },
		{ NUD_PERMANENT, "permanent" },
		{ NUD_NOARP, "noarp" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (state & words[i].state)
			return words[i].word;
	return "none";
}

static const char *address_text(struct arena *arena, const uint8_t gid[static 16])
{
	char text[IP_TEXT_SIZE];
	gid_format_ip(gid, text);
	return arena_strdup(arena, text);
}

static void keep(struct probe_run *run, const struct gid_path *path, struct endpoint_facts *facts)
{
	char name[IF_NAMESIZE];
	const struct gid_lookup *route = &path->route;
	facts->route_errno = route->error.known ? route->error : num(0);
	if (route->error.known)
		return;
	if (route->hop.oif.known && if_indextoname((unsigned int)route->hop.oif.value, name))
		facts->route_netdev = arena_strdup(run->arena, name);
	if (route->hop.has_gateway)
		facts->route_gateway = address_text(run->arena, route->hop.gateway);
	if (route->has_source)
		facts->route_source = address_text(run->arena, route->source);
	struct num state = gid_path_neighbour(path, &route->hop);
	if (path->has_neighbours)
		facts->neighbour = state.known ? neighbour_word(state.value) : "none";
}

void route_look(struct probe_run *run, struct origin *origin, int side)
{
	struct endpoint_facts *facts = run_facts(run, side);
	const struct endpoint_facts *other = run_facts(run, side == SIDE_LOCAL ? SIDE_REMOTE : SIDE_LOCAL);
	/* The kernel looks for the way through the netdev of the GID (rdma_addr_find_l2_eth_by_grh()). */
	struct gid_path path = { .arena = run->arena, .zone = facts->netdev };
	int mode = run->document.request.mode;
	/* Between addresses of one host the kernel's answer is about its loopback. */
	if ((mode != MODE_PEER && mode != MODE_LISTENER) || (facts->netdev && !strcmp(facts->netdev, "lo")))
		return;
	if (facts->cm_address || other->cm_address)
		return; /* the GIDs of iWARP are MAC addresses */
	if (!facts->link_layer || strcmp(facts->link_layer, "Ethernet") != 0 || !other->gid ||
	        parse_gid(other->gid, path.to) || gid_is_zero(path.to) || !run->survey->host)
		return;
	path.address = address_text(run->arena, path.to);
	run_enter(run, "asking for route and neighbour", STEP_LIMIT_MS);
	int result = gid_path_read(origin, run->survey->host, &path);
	run_leave(run);
	if (result)
		report_missing(
		        &run->report, "route_netdev", facts->device, result, "RTM_GETROUTE: %s", strerror(-result));
	else
		keep(run, &path, facts);
}
