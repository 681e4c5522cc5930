/* SPDX-License-Identifier: MIT */
/*
 * UCX 1.23: uct_ib_device_port_check(), uct_ib_device_select_gid() in src/uct/ib/base/ib_device.c and
 * uct_ib_iface_init_roce_gid_info() in ib_iface.c.
 *
 * A port is used only when it is active and slot UCX_IB_GID_INDEX ("auto": slot 0) has a GID whose lower half is not
 * zero. Then, on RoCE with "auto", the table is searched once for each of: v2 IPv4, v2 IPv6 that is not link-local, v2
 * IPv6, v1 IPv4, v1 IPv6 that is not link-local, v1 IPv6. The entry must pass UCX_IB_ROCE_SUBNETS, and an address
 * handle made with it must work; that is not tried here, an entry of another namespace is expected to fail. An entry
 * without a readable type counts as v1. A value of UCX_IB_GID_INDEX that is no number, an empty one too, is a
 * configuration error.
 *
 * On InfiniBand it is slot 1 when that holds a site-local GID with a FLID of the subnet manager's making
 * (uct_ib_iface_gid_index() in ib_iface.c; UCX_IB_FLID_ROUTE=n ends that), else slot 0.
 *
 * UCX_NET_DEVICES is "all", a list of names "mlx5_0:1", or one after "^": all but these. From 1.21 on the port may be
 * left out, and "[0-3]" stands for a range (ucp_is_resource_in_device_list() in src/ucp/core/ucp_context.c,
 * ucs_config_array_expand_range() in src/ucs/config/parser.c).
 *
 * UCX_TLS is "all", a list of transports and of names for several ("rc", "ib"), or one after "^": all but these.
 * Without any transport of InfiniBand and RoCE no port is used (ucp_tl_aliases[] in ucp_context.c).
 *
 * Up to 1.20 IPv6 that is link-local did not come after IPv6 that is not. Where that leads elsewhere, it is told as
 * well.
 */
#include "gid/choose.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "gid/address.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VERSION "UCX 1.23"

enum { SUBNETS = 32 };

struct subnet {
	uint8_t address[16];
	unsigned int length;
};

struct filter {
	enum { FILTER_NONE, FILTER_ALLOW, FILTER_DENY, FILTER_INVALID } mode;
	struct subnet subnets[SUBNETS];
	size_t count;
};

static const struct priority {
	int version;
	bool ipv4, link_local;
	const char *name;
} priorities[] = {
	{ 2, true, true, "v2 IPv4" },
	{ 2, false, false, "v2 routable IPv6" },
	{ 2, false, true, "v2 link-local IPv6" },
	{ 1, true, true, "v1 IPv4" },
	{ 1, false, false, "v1 routable IPv6" },
	{ 1, false, true, "v1 link-local IPv6" },
};

static bool parse_subnet(char *text, struct subnet *subnet)
{
	char *slash = strchr(text, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return !gid_parse_ip(text, subnet->address) && sscanf(slash + 1, "%u", &subnet->length) == 1;
}

/* "all", a list of subnets, or one that begins with "^": all but these; but "^all" is "all", too. */
static struct filter filter_of(const struct gid_environment *environment)
{
	struct filter filter = { 0 };
	const char *text = gid_environment_get(environment, "UCX_IB_ROCE_SUBNETS");
	bool negated = text && *text == '^';
	if (!text || !strcmp(text + negated, "all"))
		return filter;
	filter.mode = negated ? FILTER_DENY : FILTER_ALLOW;
	autofree char *copy = strdup(text + negated);
	char *rest = copy;
	for (char *part; rest && (part = strsep(&rest, ","));) {
		if (!*part)
			continue;
		if (filter.count == SUBNETS || !parse_subnet(part, &filter.subnets[filter.count++]))
			filter.mode = FILTER_INVALID;
	}
	return filter;
}

static bool passes(const struct filter *filter, const struct gid_entry *entry)
{
	if (filter->mode == FILTER_NONE)
		return true;
	for (size_t i = 0; i < filter->count; i++)
		if (gid_same_subnet(filter->subnets[i].address, entry->bytes, filter->subnets[i].length))
			return filter->mode == FILTER_ALLOW;
	return filter->mode == FILTER_DENY;
}

static bool is_valid(const struct gid_entry *entry)
{
	return entry && !gid_has_no_guid(entry->bytes);
}

static bool matches(const struct priority *priority, const struct gid_entry *entry)
{
	bool ipv4 = gid_is_ipv4(entry->bytes);
	bool link_local = !ipv4 && gid_is_link_local(entry->bytes, true);
	int version = entry->type == GID_TYPE_ROCE_V2 ? 2 : 1;
	return priority->version == version && priority->ipv4 == ipv4 && (priority->link_local || !link_local);
}

static size_t priority_of(const struct gid_entry *entry)
{
	size_t i = 0;
	while (i < ARRAY_SIZE(priorities) - 1 && !matches(&priorities[i], entry))
		i++;
	return i;
}

/* Up to 1.20 the scope does not count. */
static size_t former_priority_of(const struct gid_entry *entry)
{
	size_t i = priority_of(entry);
	return !priorities[i].ipv4 && priorities[i].link_local ? i - 1 : i;
}

static bool is_candidate(const struct filter *filter, const struct gid_entry *entry)
{
	return is_valid(entry) && entry->state != GID_STATE_FOREIGN_NETNS && passes(filter, entry);
}

static void reject(struct arena *arena, struct gid_choice *choice, const struct filter *filter,
        const struct gid_entry *entry, size_t taken)
{
	size_t priority = priority_of(entry);
	if (!is_valid(entry))
		gid_reject(arena, choice, entry, "the lower half of the GID is zero");
	else if (entry->state == GID_STATE_FOREIGN_NETNS)
		gid_reject(arena, choice, entry, "its test with an address handle is expected to fail: %s",
		        entry->state_reason);
	else if (!passes(filter, entry))
		gid_reject(arena, choice, entry, "outside UCX_IB_ROCE_SUBNETS");
	else if (priority == taken)
		gid_reject(arena, choice, entry, "index %" PRId64 " was found first", choice->index.value);
	else
		gid_reject(
		        arena, choice, entry, "%s comes after %s", priorities[priority].name, priorities[taken].name);
}

static const char *former(
        struct arena *arena, const struct gid_port *port, const struct filter *filter, const struct gid_entry *best)
{
	const struct gid_entry *taken = NULL;
	for (uint32_t i = 0; i < port->count; i++) {
		const struct gid_entry *entry = port->entries[i];
		if (is_candidate(filter, entry) && (!taken || former_priority_of(entry) < former_priority_of(taken)))
			taken = entry;
	}
	const char *text = taken == best ? "" : arena_printf(arena, "; up to 1.20: %" PRId64, taken->index.value);
	return text ? text : "";
}

static void select_gid(
        struct arena *arena, const struct gid_port *port, const struct filter *filter, struct gid_choice *choice)
{
	const struct gid_entry *best = NULL;
	for (uint32_t i = 0; i < port->count; i++) {
		const struct gid_entry *entry = port->entries[i];
		if (is_candidate(filter, entry) && (!best || priority_of(entry) < priority_of(best)))
			best = entry;
	}
	size_t taken = best ? priority_of(best) : ARRAY_SIZE(priorities) - 1;
	choice->left_out_by = best || filter->mode == FILTER_NONE ? NULL : "UCX_IB_ROCE_SUBNETS";
	if (best)
		gid_take(arena, choice, best->index.value, "first %s entry%s (" VERSION ")%s", priorities[taken].name,
		        best->state == GID_STATE_STALE ? ", though it is stale" : "",
		        former(arena, port, filter, best));
	else if (choice->left_out_by)
		gid_take_none(arena, choice, "no entry passes UCX_IB_ROCE_SUBNETS (" VERSION ")");
	else
		gid_take(arena, choice, 0, "no entry passes, the default remains (" VERSION ")");
	for (uint32_t i = 0; i < port->count; i++)
		if (!choice->index.known || port->entries[i]->index.value != choice->index.value)
			reject(arena, choice, filter, port->entries[i], taken);
}

/*
 * The value of UCX_IB_GID_INDEX, -1: "auto". NULL, or why there is none. It is read as an unsigned number, of which
 * -1 is "inf" and -2 "auto" (ucs_config_sscanf_ulunits() in src/ucs/config/parser.c).
 */
static const char *fixed_index(const struct gid_environment *environment, int64_t *index)
{
	const char *text = gid_environment_get(environment, "UCX_IB_GID_INDEX");
	unsigned long value;
	*index = -1;
	if (!text || !strcasecmp(text, "auto"))
		return NULL;
	bool infinite = !strcasecmp(text, "inf");
	if (!infinite && sscanf(text, "%lu", &value) != 1)
		return "UCX_IB_GID_INDEX is not a number nor auto: configuration error";
	if (!infinite && value == (unsigned long)-2)
		return NULL;
	if (infinite || value > UINT16_MAX)
		return "UCX_IB_GID_INDEX is beyond every table, so it does not use the port";
	*index = (int64_t)value;
	return NULL;
}

/* ---- UCX_NET_DEVICES ---- */

/* "[2-7]" at `*at`, and a number of that range without leading zeros at `*name`: goes behind both. */
static bool take_range(const char **at, const char **name)
{
	unsigned long first, last;
	int length = 0;
	if (sscanf(*at, "[%lu-%lu]%n", &first, &last, &length) != 2 || !length)
		return false;
	char *end;
	unsigned long value = strtoul(*name, &end, 10);
	bool leading = **name == '0' && end - *name > 1;
	if (**name < '0' || **name > '9' || leading || value < first || value > last)
		return false;
	*at += length;
	*name = end;
	return true;
}

/* Is `name` one of those that the first `length` characters of `pattern` stand for? */
static bool stands_for(const char *pattern, size_t length, const char *name)
{
	const char *at = pattern;
	while (at < pattern + length) {
		if (*at == '[' && take_range(&at, &name))
			continue;
		if (*at++ != *name++)
			return false;
	}
	return !*name;
}

bool gid_ucx_lists(const char *list, const char *name)
{
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		size_t length = strcspn(at, ",");
		if (length && stands_for(at, length, name))
			return true;
	}
	return false;
}

enum { FULL_NAME_SIZE = 80 };

/* "mlx5_0:1" */
static void full_name(const struct gid_port *port, char name[static FULL_NAME_SIZE])
{
	snprintf(name, FULL_NAME_SIZE, "%.60s:%" PRId64, port->table->device, port->table->port.value);
}

static bool is_listed(const char *list, const struct gid_port *port)
{
	char full[FULL_NAME_SIZE];
	full_name(port, full);
	return gid_ucx_lists(list, full) || gid_ucx_lists(list, port->table->device);
}

/* A port that is listed in a way of 1.21 only: those before it pass it over. */
static void tell_former_lists(
        struct arena *arena, const struct gid_port *port, const char *devices, struct gid_choice *choice)
{
	char full[FULL_NAME_SIZE];
	full_name(port, full);
	if (!choice->index.known || !devices || *devices == '^' || !strcmp(devices, "all") ||
	        text_lists(devices, full, ","))
		return;
	const char *reason =
	        arena_printf(arena, "%s; up to 1.20 only where UCX_NET_DEVICES names %s", choice->reason, full);
	choice->reason = reason ? reason : choice->reason;
}

static bool is_excluded(const struct gid_port *port, const char *devices)
{
	if (!devices || !strcmp(devices, "all"))
		return false;
	return *devices == '^' ? is_listed(devices + 1, port) : !is_listed(devices, port);
}

/* ---- UCX_TLS ---- */

/* "rc", a transport "rc_mlx5", one for connecting only "ud:aux", or the exact name "\rc_mlx5". */
static bool is_rdma_transport(const char *name, size_t length)
{
	static const char *const kinds[] = { "ib", "rc", "ud", "dc", "gga", "srd" };
	bool exact = *name == '\\';
	name += exact;
	length -= exact;
	size_t kind = strcspn(name, "_:,");
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && kind <= length; i++)
		if (strlen(kinds[i]) == kind && !strncmp(name, kinds[i], kind))
			return true;
	return false;
}

/* Is it certain that no transport of RDMA is left? What is after "^" says so only with all of them. */
static bool leaves_no_transport(const char *list)
{
	bool negated = list && *list == '^';
	if (!list || !*list || !strncmp(list + negated, "all", 3))
		return false;
	for (const char *at = list + negated; *at; at += strcspn(at, ","), at += *at == ',') {
		size_t length = strcspn(at, ",");
		if (negated ? length == 2 && !strncmp(at, "ib", length) : is_rdma_transport(at, length))
			return negated;
	}
	return !negated;
}

/* ---- the choice ---- */

/* Site-local, a FLID, and the OUI of OpenIB. */
static bool is_flid(const struct gid_entry *entry)
{
	static const uint8_t site_local[4] = { 0xfe, 0xc0 }, openib[3] = { 0x00, 0x14, 0x05 };
	return entry && !memcmp(entry->bytes, site_local, sizeof(site_local)) && (entry->bytes[4] || entry->bytes[5]) &&
	       !memcmp(entry->bytes + 8, openib, sizeof(openib));
}

static void choose_infiniband(struct arena *arena, const struct gid_port *port,
        const struct gid_environment *environment, struct gid_choice *choice)
{
	const char *route = gid_environment_get(environment, "UCX_IB_FLID_ROUTE");
	bool routes = !route || !strchr("nN0", *route);
	if (routes && is_flid(gid_entry_at(port, 1)))
		gid_take(arena, choice, 1, "InfiniBand GID with a FLID (" VERSION ")");
	else
		gid_take(arena, choice, 0, "not RoCE: slot 0 (" VERSION ")");
	gid_reject_others(arena, choice, port, choice->index.value ? "slot 1 has a FLID" : "not RoCE: slot 0 is taken");
}

static void none(struct arena *arena, const struct gid_port *port, struct gid_choice *choice, const char *why)
{
	gid_take_none(arena, choice, "%s (" VERSION ")", why);
	gid_reject_others(arena, choice, port, "the port is not used");
}

/* A GID of which the lower half is zero counts as none; iWARP has such (a MAC with zeros behind it). */
static void refuse_slot(struct arena *arena, const struct gid_port *port, struct gid_choice *choice, int64_t fixed)
{
	const char *slot = fixed < 0 ? "slot 0" : "the slot of UCX_IB_GID_INDEX";
	bool used = gid_entry_at(port, fixed < 0 ? 0 : fixed);
	bool beyond = port->table->size.known && fixed >= port->table->size.value;
	none(arena, port, choice,
	        arena_printf(arena, "%s %s, so it does not use the port", slot,
	                used     ? "has a GID whose lower half is zero"
	                : beyond ? "is beyond the table"
	                         : "is empty"));
	choice->empty_slot = !used;
}

void gid_choose_ucx(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice)
{
	struct filter filter = filter_of(environment);
	int64_t fixed;
	const char *unfit = fixed_index(environment, &fixed);
	const char *devices = gid_environment_get(environment, "UCX_NET_DEVICES");
	const char *transports = gid_environment_get(environment, "UCX_TLS");
	bool used = !leaves_no_transport(transports) && !is_excluded(port, devices) && !gid_port_inactive(port);
	if (!unfit && used && fixed >= 0)
		gid_set_by(choice, "UCX_IB_GID_INDEX", fixed);
	if (leaves_no_transport(transports)) {
		none(arena, port, choice, arena_printf(arena, "no port is used by UCX: UCX_TLS=%.80s", transports));
	} else if (is_excluded(port, devices)) {
		choice->left_out_by = "UCX_NET_DEVICES";
		none(arena, port, choice, arena_printf(arena, "not used by UCX: UCX_NET_DEVICES=%.80s", devices));
	} else if (unfit) {
		choice->left_out_by = "UCX_IB_GID_INDEX";
		none(arena, port, choice, unfit);
	} else if (gid_port_inactive(port)) {
		none(arena, port, choice, "the port is not active");
	} else if (!is_valid(gid_entry_at(port, fixed < 0 ? 0 : fixed))) {
		refuse_slot(arena, port, choice, fixed);
	} else if (fixed >= 0 && filter.mode != FILTER_NONE) {
		choice->left_out_by = "UCX_IB_ROCE_SUBNETS";
		none(arena, port, choice, "UCX_IB_GID_INDEX and UCX_IB_ROCE_SUBNETS exclude each other");
	} else if (filter.mode == FILTER_INVALID) {
		choice->left_out_by = "UCX_IB_ROCE_SUBNETS";
		none(arena, port, choice, "UCX_IB_ROCE_SUBNETS is not a list of subnets");
	} else if (fixed >= 0) {
		gid_take(arena, choice, fixed, "UCX_IB_GID_INDEX=%" PRId64 "%s (" VERSION ")", fixed,
		        gid_read_as(arena, gid_environment_get(environment, "UCX_IB_GID_INDEX"), 10));
		gid_reject_others(arena, choice, port, "UCX_IB_GID_INDEX is set");
	} else if (gid_port_transport(port) != TRANSPORT_ROCE) {
		choose_infiniband(arena, port, environment, choice);
	} else {
		select_gid(arena, port, &filter, choice);
	}
	tell_former_lists(arena, port, devices, choice);
}
