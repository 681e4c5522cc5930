/* SPDX-License-Identifier: MIT */
/*
 * NCCL 2.30.7: ncclIbGetGidIndex() and ncclUpdateGidIndex() in src/transport/net_ib/connect.cc.
 *
 * RoCE: NCCL_IB_GID_INDEX where it is set and not negative, unchecked. Else it starts at slot 0 and goes through the
 * table once. A slot replaces the current one when it is of the wanted family (NCCL_IB_ADDR_FAMILY, AF_INET by default)
 * and of the wanted range (NCCL_IB_ADDR_RANGE) and the current one is not of that family; or, for entries that are not
 * link-local, when it has the wanted version (NCCL_IB_ROCE_VERSION_NUM, 2 by default) and the current one another. So
 * the first good entry wins, whichever netdev or namespace it belongs to; and when nothing fits, slot 0 stays.
 *
 * An empty slot reads as a GID of zeros, which counts as IPv6 that is not valid. Ports that are not active are left out
 * (init.cc). A negative length in NCCL_IB_ADDR_RANGE fits nothing, one that is too long everything. The parameters
 * may also stand in files, see nccl_conf.h.
 *
 * InfiniBand: slot NCCL_IB_ROUTABLE_FLID_GID_INDEX (1 by default) when its GID has a FLID, else 0.
 *
 * NCCL_NET names the one transport to use, of its own or of a plugin (ncclNetInit() in src/plugin/net.cc): "IB" in
 * whatever letters is this one, and any other leaves it out.
 *
 * Parameters go through strtoll() with base 0: an empty string counts as not set, text without digits as 0.
 *
 * Up to 2.20 no entry was looked for: NCCL_IB_GID_INDEX was 0 where it was not set. Where that leads elsewhere, it is
 * told as well.
 */
#include "gid/choose.h"

#include "gid/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VERSION "NCCL 2.30.7"

const char *gid_nccl_get(const struct gid_environment *environment, const char *name)
{
	const char *value = gid_environment_get(environment, name);
	bool dropped = environment && environment->without && !strcmp(environment->without, name);
	const struct strings *lines = environment && !dropped ? environment->nccl_conf : NULL;
	size_t length = strlen(name);
	for (uint32_t i = 0; !value && lines && i < lines->count; i++)
		if (!strncmp(lines->items[i], name, length) && lines->items[i][length] == '=')
			value = lines->items[i] + length + 1;
	return value;
}

struct wish {
	bool ipv4;
	int64_t version;
	uint8_t prefix[16];
	int prefix_length; /* 0: any, negative: none */
	/* Values that are set and passed over; NULL: none. */
	const char *ignored_family, *ignored_range;
};

static int64_t parameter(const struct gid_environment *environment, const char *name, int64_t otherwise)
{
	const char *text = gid_nccl_get(environment, name);
	if (!text || !*text)
		return otherwise;
	errno = 0;
	int64_t value = strtoll(text, NULL, 0);
	return errno ? otherwise : value;
}

/* What is no subnet of the wanted family is passed over. */
static void wish_range(const struct gid_environment *environment, struct wish *wish)
{
	const char *text = gid_nccl_get(environment, "NCCL_IB_ADDR_RANGE");
	wish->ignored_range = text && *text ? text : NULL;
	const char *slash = text ? strchr(text, '/') : NULL;
	char address[128];
	if (!slash || (size_t)(slash - text) >= sizeof(address))
		return;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	uint8_t bytes[16];
	if (inet_pton(wish->ipv4 ? AF_INET : AF_INET6, address, bytes) != 1 || gid_parse_ip(address, wish->prefix))
		return;
	int length = (int)strtol(slash + 1, NULL, 10);
	if (length > (wish->ipv4 ? 32 : 128))
		return;
	wish->prefix_length = length;
	wish->ignored_range = NULL;
}

static struct wish wish_of(const struct gid_environment *environment)
{
	const char *family = gid_nccl_get(environment, "NCCL_IB_ADDR_FAMILY");
	struct wish wish = {
		.ipv4 = !family || strcmp(family, "AF_INET6") != 0,
		.version = parameter(environment, "NCCL_IB_ROCE_VERSION_NUM", 2),
	};
	if (family && *family && strcmp(family, "AF_INET") != 0 && strcmp(family, "AF_INET6") != 0)
		wish.ignored_family = family;
	wish_range(environment, &wish);
	return wish;
}

/* What NCCL reads in gid_attrs/types; 0: nothing. */
static int version_of(const struct gid_entry *entry)
{
	return !entry || !entry->type ? 0 : entry->type == GID_TYPE_ROCE_V2 ? 2 : 1;
}

static bool is_ipv4(const struct gid_entry *entry)
{
	return entry && gid_is_ipv4(entry->bytes);
}

static bool is_valid(const struct gid_entry *entry)
{
	return entry && !gid_is_link_local(entry->bytes, false);
}

static bool in_range(const struct wish *wish, const struct gid_entry *entry)
{
	if (wish->prefix_length <= 0)
		return !wish->prefix_length;
	return entry && gid_same_subnet(wish->prefix, entry->bytes, (unsigned int)wish->prefix_length);
}

static bool replaces(const struct wish *wish, const struct gid_entry *current, const struct gid_entry *candidate)
{
	if (is_ipv4(candidate) != wish->ipv4 || !in_range(wish, candidate))
		return false;
	if (is_ipv4(current) != wish->ipv4)
		return true;
	if (!is_valid(candidate))
		return false;
	return (version_of(current) != version_of(candidate) || !is_valid(current)) &&
	       version_of(candidate) == wish->version;
}

static void reject(
        struct arena *arena, struct gid_choice *choice, const struct wish *wish, const struct gid_entry *entry)
{
	if (is_ipv4(entry) != wish->ipv4)
		gid_reject(arena, choice, entry, "%s, wanted is %s (NCCL_IB_ADDR_FAMILY)",
		        is_ipv4(entry) ? "IPv4" : "IPv6", wish->ipv4 ? "AF_INET" : "AF_INET6");
	else if (!in_range(wish, entry))
		gid_reject(arena, choice, entry, "outside NCCL_IB_ADDR_RANGE");
	else if (!is_valid(entry))
		gid_reject(arena, choice, entry, "link-local");
	else if (!entry->type)
		gid_reject(arena, choice, entry, "its type cannot be read");
	else if (version_of(entry) != wish->version)
		gid_reject(arena, choice, entry, "RoCE v%d, wanted is v%" PRId64 " (NCCL_IB_ROCE_VERSION_NUM)",
		        version_of(entry), wish->version);
	else
		gid_reject(arena, choice, entry, "index %" PRId64 " was found first", choice->index.value);
}

static const char *warning(const struct gid_entry *entry)
{
	if (!entry)
		return ": the slot is empty, ibv_modify_qp will fail with ENODATA";
	if (entry->state == GID_STATE_FOREIGN_NETNS)
		return ", though its netdev is in another network namespace";
	if (entry->state == GID_STATE_STALE)
		return ", though it is stale";
	return "";
}

struct found {
	int64_t index;
	const struct gid_entry *entry; /* NULL: an empty slot */
	bool unreadable;               /* a type that had to be known is not */
};

static struct found find(const struct gid_port *port, struct wish wish)
{
	const struct gid_entry *current = gid_entry_at(port, 0);
	bool unreadable = false;
	int64_t taken = 0;
	uint32_t next = 0;
	for (int64_t index = 1; index < gid_port_size(port); index++) {
		while (next < port->count && port->entries[next]->index.value < index)
			next++;
		bool used = next < port->count && num_is(port->entries[next]->index, index);
		const struct gid_entry *candidate = used ? port->entries[next] : NULL;
		bool compares = is_ipv4(current) == is_ipv4(candidate) && is_ipv4(candidate) == wish.ipv4 &&
		                is_valid(candidate) && in_range(&wish, candidate);
		unreadable = unreadable || (compares && !candidate->type);
		if (replaces(&wish, current, candidate)) {
			current = candidate;
			taken = index;
		}
	}
	return (struct found){ taken, current, unreadable };
}

/* Goes through routers, and nothing speaks against it. */
static bool is_routable(const struct gid_entry *entry)
{
	bool sound = entry && (entry->state == GID_STATE_OK || entry->state == GID_STATE_DUPLICATE);
	return sound && entry->type == GID_TYPE_ROCE_V2 && entry->scope != GID_SCOPE_LINK_LOCAL &&
	       entry->scope != GID_SCOPE_LOOPBACK;
}

/* The other family has an entry that goes through routers, and this one has none; NULL. (By index: remedy.c.) */
static const char *alternative(const struct gid_port *port, const struct wish *wish, const struct gid_entry *current)
{
	bool local = current && (current->type == GID_TYPE_ROCE_V1 || !is_valid(current));
	struct wish other = { .ipv4 = false, .version = wish->version };
	bool family = wish->ipv4 && !wish->prefix_length && is_routable(find(port, other).entry);
	return local && family ? "NCCL_IB_ADDR_FAMILY=AF_INET6" : NULL;
}

static const char *ignored(struct arena *arena, const struct wish *wish)
{
	const char *family = wish->ignored_family
	                             ? arena_printf(arena,
	                                       ", NCCL_IB_ADDR_FAMILY=%.40s is ignored: neither AF_INET nor "
	                                       "AF_INET6",
	                                       wish->ignored_family)
	                             : "";
	const char *range = wish->ignored_range
	                            ? arena_printf(arena, "%s, NCCL_IB_ADDR_RANGE=%.60s is ignored: no %s subnet",
	                                      family ? family : "", wish->ignored_range, wish->ipv4 ? "IPv4" : "IPv6")
	                            : family;
	return range ? range : "";
}

static const char *former(const struct gid_port *port, int64_t index)
{
	return !index ? "" : gid_entry_at(port, 0) ? "; up to 2.20: 0" : "; up to 2.20: 0, which is empty";
}

static void scan(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice)
{
	struct wish wish = wish_of(environment);
	struct found found = find(port, wish);
	const struct gid_entry *current = found.entry;
	bool fits =
	        current && is_ipv4(current) == wish.ipv4 && version_of(current) == wish.version && is_valid(current);
	if (found.unreadable)
		gid_take_none(arena, choice, "cannot read gid_attrs/types, which ends its set-up (" VERSION ")");
	else if (fits)
		gid_take(arena, choice, current->index.value, "first %s RoCE v%" PRId64 " entry%s%s (" VERSION ")%s",
		        wish.ipv4 ? "IPv4" : "IPv6", wish.version, warning(current), ignored(arena, &wish),
		        former(port, current->index.value));
	else
		gid_take(arena, choice, found.index,
		        "no better entry of the wanted family%s version%s%s (" VERSION ")%s",
		        wish.prefix_length ? ", NCCL_IB_ADDR_RANGE and" : " and", warning(current),
		        ignored(arena, &wish), former(port, found.index));
	choice->alternative = fits || found.unreadable ? NULL : alternative(port, &wish, current);
	for (uint32_t i = 0; i < port->count; i++)
		if (!choice->index.known || port->entries[i]->index.value != choice->index.value)
			reject(arena, choice, &wish, port->entries[i]);
}

static void choose_infiniband(struct arena *arena, const struct gid_port *port,
        const struct gid_environment *environment, struct gid_choice *choice)
{
	int64_t routable = parameter(environment, "NCCL_IB_ROUTABLE_FLID_GID_INDEX", 1);
	const struct gid_entry *entry = routable < gid_port_size(port) ? gid_entry_at(port, routable) : NULL;
	if (entry && (entry->bytes[4] || entry->bytes[5]))
		gid_take(arena, choice, routable, "InfiniBand GID with a FLID (" VERSION ")");
	else
		gid_take(arena, choice, 0, "InfiniBand without a routable FLID (" VERSION ")");
	gid_reject_others(arena, choice, port, "not looked at on InfiniBand");
}

/* ---- NCCL_IB_HCA ---- */

/*
 * A list "NAME[:PORT[:RAIL[:PLANE]]],…" of the devices to use: beginnings of names, after "=" whole names, after "^"
 * those that are not to be used; "^=" for both. A port that is -1, left out or (from 2.30 on) empty stands for all, a
 * list without a name for all devices; 32 names count (ncclIbInitDevices() in src/transport/net_ib/init.cc,
 * parseStringList() and matchIfList() in src/misc/utils.cc).
 */
static bool is_named_port(const char *text, int64_t port)
{
	return *text == ',' || *text == ':' || !*text || strtol(text, NULL, 10) == -1 || strtol(text, NULL, 10) == port;
}

static bool is_listed(const char *list, bool exact, const char *device, int64_t port)
{
	enum { NAMES = 32 }; /* MAX_IB_DEVS */
	int names = 0;
	for (const char *at = list; *at && names < NAMES; at += strcspn(at, ","), at += *at == ',') {
		size_t length = strcspn(at, ":,");
		if (!length)
			continue;
		names++;
		bool same = !strncmp(at, device, length) && (!exact || !device[length]);
		if (same && (at[length] != ':' || is_named_port(at + length + 1, port)))
			return true;
	}
	return !names;
}

static bool is_excluded(const char *device, int64_t port, const struct gid_environment *environment)
{
	const char *list = gid_nccl_get(environment, "NCCL_IB_HCA");
	if (!list)
		return false;
	bool negated = *list == '^';
	list += negated;
	bool exact = *list == '=';
	list += exact;
	return is_listed(list, exact, device, port) == negated;
}

/* A slip in the list, most often. Of a device whose ports are not known nothing is said. */
static bool excludes_all(const struct host *host, const struct gid_environment *environment)
{
	list_each(device, &host->devices) {
		if (!device->ports.count)
			return false;
		list_each(port, &device->ports)
			if (!is_excluded(device->name, port->number.value, environment))
				return false;
	}
	return true;
}

void gid_choose_nccl(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice)
{
	int64_t fixed = parameter(environment, "NCCL_IB_GID_INDEX", -1);
	const char *net = gid_nccl_get(environment, "NCCL_NET");
	if (net && strcasecmp(net, "IB") != 0) {
		gid_take_none(arena, choice, "its own RDMA transport is not used: NCCL_NET=%.40s (" VERSION ")", net);
		gid_reject_others(arena, choice, port, "no RDMA device is used");
	} else if (parameter(environment, "NCCL_IB_DISABLE", 0)) {
		gid_take_none(arena, choice, "not used by NCCL: NCCL_IB_DISABLE is set (" VERSION ")");
		gid_reject_others(arena, choice, port, "no RDMA device is used");
	} else if (is_excluded(port->table->device, port->table->port.value, environment)) {
		choice->left_out_by = "NCCL_IB_HCA";
		gid_take_none(arena, choice, "not used by NCCL: NCCL_IB_HCA=%.80s%s (" VERSION ")",
		        gid_nccl_get(environment, "NCCL_IB_HCA"),
		        excludes_all(port->host, environment) ? " fits no port of any device here" : "");
		gid_reject_others(arena, choice, port, "the port is not used");
	} else if (gid_port_inactive(port)) {
		gid_take_none(arena, choice, "the port is %s, and only active ones are used (" VERSION ")",
		        gid_port_inactive(port));
		gid_reject_others(arena, choice, port, "the port is not used");
	} else if (gid_port_transport(port) == TRANSPORT_INFINIBAND) {
		choose_infiniband(arena, port, environment, choice);
	} else if (gid_port_transport(port) == TRANSPORT_UNSPECIFIED) {
		gid_take_none(arena, choice, "its own transport does not drive this device (" VERSION ")");
		gid_reject_others(arena, choice, port, "device not used");
	} else if (fixed >= 0) {
		gid_set_by(choice, "NCCL_IB_GID_INDEX", fixed);
		bool beyond = port->table->size.known && fixed >= port->table->size.value;
		gid_take(arena, choice, fixed, "NCCL_IB_GID_INDEX=%" PRId64 "%s, taken unchecked%s (" VERSION ")",
		        fixed, gid_read_as(arena, gid_nccl_get(environment, "NCCL_IB_GID_INDEX"), 0),
		        beyond ? ": the table ends before, ibv_query_gid will fail"
		               : warning(gid_entry_at(port, fixed)));
		gid_reject_others(arena, choice, port, "NCCL_IB_GID_INDEX is set");
	} else {
		scan(arena, port, environment, choice);
	}
}
