/* SPDX-License-Identifier: MIT */
#include "source/net_sysfs.h"
#include "base/cleanup.h"
#include "source/link_words.h"
#include "source/sysfs.h"

#include <errno.h>
#include <linux/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS "sys/class/net"

static void about(struct origin *origin, const struct netdev *netdev)
{
	char subject[64];
	snprintf(subject, sizeof(subject), "net:%.50s", netdev->name);
	origin_about(origin, subject);
}

static char *net_text(struct origin *origin, struct host *host, const struct netdev *netdev, const char *file)
{
	return sysfs_text(origin, host->arena, CLASS "/%s/%s", netdev->name, file);
}

static struct num net_number(struct origin *origin, const struct netdev *netdev, const char *file)
{
	return sysfs_number(origin, CLASS "/%s/%s", netdev->name, file);
}

/* The first word of "802.3ad 4". */
static const char *first_word(struct arena *arena, const char *text)
{
	return text ? arena_strndup(arena, text, strcspn(text, " ")) : NULL;
}

/* ---- one netdev without rtnetlink ---- */

static void read_mac(struct netdev *netdev)
{
	const char *at = netdev->mac;
	for (; at && *at && netdev->mac_length < sizeof(netdev->mac_bytes); at += strcspn(at, ":"), at += *at == ':') {
		char *end;
		unsigned long byte = strtoul(at, &end, 16);
		if (end == at || byte > UINT8_MAX)
			return;
		netdev->mac_bytes[netdev->mac_length++] = (uint8_t)byte;
	}
}

/* DEVTYPE is set by the drivers of most stacked netdevs (SET_NETDEV_DEVTYPE). */
static void read_kind(struct origin *origin, struct host *host, struct netdev *netdev)
{
	const char *devtype = NULL;
	char path[SYSFS_PATH_SIZE], uevent[512];
	snprintf(path, sizeof(path), CLASS "/%s/uevent", netdev->name);
	if (origin_read(origin, path, uevent, sizeof(uevent)) > 0 && (devtype = strstr(uevent, "DEVTYPE="))) {
		devtype += strlen("DEVTYPE=");
		devtype = arena_strndup(host->arena, devtype, strcspn(devtype, "\n"));
	}
	enum link_kind kind = link_kind_of(devtype, netdev->arp_type);
	netdev->kind_name = kind == LINK_ETHERNET ? NULL : devtype;
	netdev->kind = (int)kind;
}

static void read_bond(struct origin *origin, struct host *host, struct netdev *netdev)
{
	const char *mode = first_word(host->arena, net_text(origin, host, netdev, "bonding/mode"));
	if (!mode)
		return;
	struct bond_facts *bond = arena_new_object(host->arena, struct bond_facts);
	if (!bond)
		return;
	netdev->kind = LINK_BOND;
	netdev->kind_name = "bond";
	bond->mode = mode;
	if (bond_mode_hashes(mode))
		bond->xmit_hash_policy =
		        first_word(host->arena, net_text(origin, host, netdev, "bonding/xmit_hash_policy"));
	bond->active_name = net_text(origin, host, netdev, "bonding/active_slave");
	bond->miimon_ms = net_number(origin, netdev, "bonding/miimon");
	bond->aggregator_id = net_number(origin, netdev, "bonding/ad_aggregator");
	bond->num_ports = net_number(origin, netdev, "bonding/ad_num_ports");
	bond->partner_mac = net_text(origin, host, netdev, "bonding/ad_partner_mac");
	netdev->bond_facts = bond;
}

static void read_bond_slave(struct origin *origin, struct host *host, struct netdev *netdev)
{
	const char *mii = net_text(origin, host, netdev, "bonding_slave/mii_status");
	if (!mii)
		return;
	struct bond_slave *slave = arena_new_object(host->arena, struct bond_slave);
	if (!slave)
		return;
	slave->mii_status = mii;
	slave->state = net_text(origin, host, netdev, "bonding_slave/state");
	slave->link_failures = net_number(origin, netdev, "bonding_slave/link_failure_count");
	slave->aggregator_id = net_number(origin, netdev, "bonding_slave/ad_aggregator_id");
	slave->actor_port_state = net_number(origin, netdev, "bonding_slave/ad_actor_oper_port_state");
	slave->partner_port_state = net_number(origin, netdev, "bonding_slave/ad_partner_oper_port_state");
	netdev->slave = slave;
}

static void take_lower_names(struct host *host, struct netdev *netdev, const struct strings *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (!strncmp(names->items[i], "lower_", 6))
			strings_add(host->arena, &netdev->lower_names, names->items[i] + 6);
}

/* iflink names the netdev below, a peer, or the netdev itself; lower_* links are certain, but VLANs have both. */
static void read_stack(struct origin *origin, struct host *host, struct netdev *netdev)
{
	char path[SYSFS_PATH_SIZE];
	snprintf(path, sizeof(path), CLASS "/%s/master", netdev->name);
	netdev->master_name = sysfs_link_name(origin, host->arena, path);
	struct strings names;
	snprintf(path, sizeof(path), CLASS "/%s", netdev->name);
	if (!origin_list(origin, host->arena, path, &names))
		take_lower_names(host, netdev, &names);
}

static void read_one(struct origin *origin, struct host *host, struct netdev *netdev)
{
	about(origin, netdev);
	netdev->ifindex = net_number(origin, netdev, "ifindex");
	netdev->arp_type = net_number(origin, netdev, "type");
	netdev->mtu = net_number(origin, netdev, "mtu");
	if (!netdev->mtu.known)
		sysfs_missing(host, "mtu", origin_subject(origin), errno);
	netdev->operstate = net_text(origin, host, netdev, "operstate");
	struct num flags = net_number(origin, netdev, "flags");
	netdev->admin_up = flags.known ? flag(flags.value & IFF_UP) : FLAG_UNKNOWN;
	/* EINVAL while the netdev is administratively down (net-sysfs.c, carrier_show). */
	struct num carrier = net_number(origin, netdev, "carrier");
	netdev->carrier = carrier.known ? flag(carrier.value) : FLAG_UNKNOWN;
	netdev->mac = net_text(origin, host, netdev, "address");
	read_mac(netdev);
	netdev->phys_port_name = net_text(origin, host, netdev, "phys_port_name");
	netdev->phys_switch_id = net_text(origin, host, netdev, "phys_switch_id");
	read_kind(origin, host, netdev);
	read_bond(origin, host, netdev);
	read_bond_slave(origin, host, netdev);
	read_stack(origin, host, netdev);
}

/*
 * Kinds that stand on several netdevs without being their master (hsr and prp: net/hsr/hsr_slave.c) say so in no
 * attribute that all of them share; the links of sysfs do.
 */
void net_sysfs_lowers(struct origin *origin, struct host *host, struct netdev *netdev)
{
	struct strings names;
	char path[SYSFS_PATH_SIZE];
	about(origin, netdev);
	snprintf(path, sizeof(path), CLASS "/%s", netdev->name);
	if (!origin_list(origin, host->arena, path, &names))
		take_lower_names(host, netdev, &names);
}

static int64_t index_of(const struct host *host, const char *name)
{
	const struct netdev *netdev = name ? host_netdev_by_name(host, name) : NULL;
	return netdev && netdev->ifindex.known ? netdev->ifindex.value : 0;
}

/* Names become the numbers that rtnetlink uses. */
static void number_stack(const struct host *host, struct netdev *netdev)
{
	int64_t master = index_of(host, netdev->master_name);
	if (master)
		netdev->master_ifindex = num(master);
	/* The members of a bond, team or bridge name their master themselves. */
	if (netdev->kind == LINK_BOND || netdev->kind == LINK_TEAM || netdev->kind == LINK_BRIDGE)
		return;
	int64_t lower = netdev->lower_names.count ? index_of(host, netdev->lower_names.items[0]) : 0;
	if (lower)
		netdev->lower_ifindex = num(lower);
	int64_t active = netdev->bond_facts ? index_of(host, netdev->bond_facts->active_name) : 0;
	if (active)
		netdev->bond_facts->active_ifindex = num(active);
}

enum { LAST_VLAN = 4094 }; /* IEEE 802.1Q; scanf(3) takes a sign, too */

/* "eth2.10  VID: 10	 REORDER_HDR: 1  dev->priv_flags: 1021" (vlandev_seq_show() in net/8021q/vlanproc.c). */
static int read_vlan(struct origin *origin, struct netdev *netdev)
{
	char path[SYSFS_PATH_SIZE], text[512];
	unsigned int id;
	snprintf(path, sizeof(path), "proc/net/vlan/%s", netdev->name);
	ssize_t length = origin_read(origin, path, text, sizeof(text));
	if (length < 0)
		return (int)length;
	const char *at = strstr(text, " VID: ");
	if (!at || sscanf(at, " VID: %u", &id) != 1 || id > LAST_VLAN)
		return -EINVAL;
	netdev->vlan_id = num(id);
	return 0;
}

/* Each has a file of its own beside config. */
static void read_each_vlan(struct origin *origin, struct host *host)
{
	char subject[IFNAMSIZ + 8];
	list_each(netdev, &host->netdevs) {
		int error = netdev->kind == LINK_VLAN ? read_vlan(origin, netdev) : 0;
		snprintf(subject, sizeof(subject), "net:%s", netdev->name);
		if (error)
			report_missing(&host->report, "vlan", subject, error, "proc/net/vlan: %s", strerror(-error));
	}
}

/* "eth2.10        | 10  | eth2" (net/8021q/vlanproc.c). */
static void read_vlans(struct origin *origin, struct host *host)
{
	autofree char *text = NULL;
	size_t length;
	if (origin_read_all(origin, "proc/net/vlan/config", &text, &length)) {
		read_each_vlan(origin, host);
		return;
	}
	char name[IFNAMSIZ];
	unsigned int id;
	for (char *save = NULL, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct netdev *netdev =
		        sscanf(line, "%15s | %u", name, &id) == 2 ? host_netdev_by_name(host, name) : NULL;
		if (netdev && id <= LAST_VLAN)
			netdev->vlan_id = num(id);
	}
}

int net_sysfs_list(struct origin *origin, struct host *host)
{
	struct strings names;
	origin_about(origin, "host");
	int error = origin_list(origin, host->arena, CLASS, &names);
	if (error)
		return error;
	bool vlans = false;
	for (uint32_t i = 0; i < names.count; i++) {
		if (!strcmp(names.items[i], "bonding_masters"))
			continue; /* a file of the bonding driver among the netdevs */
		struct netdev *netdev = list_add(host->arena, &host->netdevs);
		if (!netdev)
			return -ENOMEM;
		netdev->name = names.items[i];
		read_one(origin, host, netdev);
		if (host_index_netdev(host, netdev))
			return -ENOMEM;
		vlans |= netdev->kind == LINK_VLAN;
	}
	list_each(netdev, &host->netdevs)
		number_stack(host, netdev);
	origin_about(origin, "host");
	if (vlans)
		read_vlans(origin, host);
	return 0;
}

/* ---- what netlink does not tell ---- */

void net_sysfs_locate(struct origin *origin, struct host *host, struct netdev *netdev)
{
	/* Kinds made by software have no device; whatever is called otherwise may have one. */
	bool stacked = netdev->kind != LINK_ETHERNET && netdev->kind != LINK_IPOIB && netdev->kind != LINK_OTHER;
	if (netdev->sysfs_path || netdev->located || stacked)
		return;
	about(origin, netdev);
	netdev->located = true;
	netdev->sysfs_path = sysfs_device_path(origin, host->arena, CLASS, netdev->name);
	/* The child of a pkey has no device of its own, though it may be listed as one. */
	if (!netdev->sysfs_path && errno)
		sysfs_missing(host, "pci_address", origin_subject(origin), errno);
}

/* -1 and EINVAL are the kernel's "unknown" (net-sysfs.c, speed_show): no link, or no such thing. */
void net_sysfs_complete(struct origin *origin, struct host *host, struct netdev *netdev)
{
	if (netdev->speed_mbps.known || netdev->kind == LINK_DUMMY || netdev->kind == LINK_LOOPBACK)
		return;
	about(origin, netdev);
	struct num speed = net_number(origin, netdev, "speed");
	if (speed.known && speed.value > 0 && speed.value != UINT32_MAX)
		netdev->speed_mbps = speed;
	else if (!speed.known && errno != EINVAL && errno != EOPNOTSUPP)
		sysfs_missing(host, "speed_mbps", origin_subject(origin), errno);
}

void net_sysfs_dev_port(struct origin *origin, struct netdev *netdev)
{
	if (netdev->dev_port.known)
		return;
	about(origin, netdev);
	netdev->dev_port = net_number(origin, netdev, "dev_port");
}

/* ---- proc/net/bonding ---- */

/* The value of "  name: value", NULL: another line. */
static const char *value_of(const char *line, const char *name)
{
	line += strspn(line, " \t");
	size_t length = strlen(name);
	if (strncmp(line, name, length) || line[length] != ':')
		return NULL;
	line += length + 1;
	return line + strspn(line, " \t");
}

struct bonding_parse {
	struct host *host;
	struct netdev *member; /* whose block this is, NULL: the bond's own */
	bool partner;          /* in the block about the partner */
};

static void take_line(struct bonding_parse *parse, const char *line)
{
	struct arena *arena = parse->host->arena;
	const char *value;
	if ((value = value_of(line, "Slave Interface"))) {
		parse->member = host_netdev_by_name(parse->host, value);
		parse->partner = false;
		return;
	}
	struct bond_slave *slave = parse->member ? parse->member->slave : NULL;
	if (!slave)
		return;
	if (value_of(line, "details actor lacp pdu") || value_of(line, "details partner lacp pdu"))
		parse->partner = strstr(line, "partner") != NULL;
	else if ((value = value_of(line, "Actor Churn State")))
		slave->churn = arena_strdup(arena, value);
	else if ((value = value_of(line, "Aggregator ID")) && !slave->aggregator_id.known)
		slave->aggregator_id = parse_num(value, 10);
	else if ((value = value_of(line, "MII Status")) && !slave->mii_status)
		slave->mii_status = arena_strdup(arena, value);
	else if ((value = value_of(line, "system mac address")) && parse->partner)
		slave->partner_mac = arena_strdup(arena, value);
	else if ((value = value_of(line, "port state")) && !slave->actor_port_state.known && !parse->partner)
		slave->actor_port_state = parse_num(value, 10);
	else if ((value = value_of(line, "port state")) && !slave->partner_port_state.known && parse->partner)
		slave->partner_port_state = parse_num(value, 10);
}

void net_bonding_parse(const char *text, size_t length, struct host *host, struct netdev *bond)
{
	(void)bond;
	struct bonding_parse parse = { .host = host };
	char line[256];
	for (const char *end = text + length; text < end;) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t size = (size_t)((stop ? stop : end) - text);
		snprintf(line, sizeof(line), "%.*s", (int)(size < sizeof(line) ? size : sizeof(line)), text);
		take_line(&parse, trim_end(line));
		text += size + 1;
	}
}

/* Has it members, and is of none known who the partner is? (bond_info_show_slave() in bond_procfs.c) */
static bool lacks_partners(const struct host *host, const struct netdev *bond)
{
	bool has_members = false;
	list_each(netdev, &host->netdevs) {
		if (!netdev_is_member(netdev, bond))
			continue;
		has_members = true;
		if (netdev->slave && netdev->slave->partner_mac)
			return false;
	}
	return has_members;
}

void net_bonding_complete(struct origin *origin, struct host *host, struct netdev *bond)
{
	char path[SYSFS_PATH_SIZE];
	autofree char *text = NULL;
	size_t length;
	snprintf(path, sizeof(path), "proc/net/bonding/%s", bond->name);
	about(origin, bond);
	int error = origin_read_all(origin, path, &text, &length);
	if (!error)
		net_bonding_parse(text, length, host, bond);
	if (lacks_partners(host, bond))
		report_missing(&host->report, "partner_mac", origin_subject(origin), error, "%s",
		        error ? strerror(-error) : "proc/net/bonding tells it with CAP_NET_ADMIN only");
}
