/* SPDX-License-Identifier: MIT */
#include "gid_fixture.h"

#include "check/gid.h"
#include "gid/read.h"

#define MAC "02:00:5e:10:00:02"
#define OWN_EUI64 "fe80::5eff:fe10:2"

static const struct finding *finding_of(const struct fixture *fixture, const char *id)
{
	list_each(finding, &fixture->host->report.findings)
		if (!strcmp(finding->id, id))
			return finding;
	return NULL;
}

static void test_types_follow_the_transport(void **state)
{
	(void)state;
	assert_int_equal(gid_type_of_text("IB/RoCE v1", TRANSPORT_ROCE), GID_TYPE_ROCE_V1);
	assert_int_equal(gid_type_of_text("RoCE v2", TRANSPORT_ROCE), GID_TYPE_ROCE_V2);
	assert_int_equal(gid_type_of_text("IB/RoCE v1", TRANSPORT_INFINIBAND), GID_TYPE_IB);
	assert_int_equal(gid_type_of_text("IB/RoCE v1", TRANSPORT_IWARP), GID_TYPE_IWARP);
	assert_int_equal(gid_type_of_text("IB/RoCE v1", TRANSPORT_UNSPECIFIED), GID_TYPE_UNKNOWN);
	assert_int_equal(gid_type_of_text("", TRANSPORT_ROCE), GID_TYPE_UNKNOWN);
	assert_int_equal(gid_type_of_number(2, TRANSPORT_ROCE), GID_TYPE_ROCE_V2);
	assert_int_equal(gid_type_of_number(1, TRANSPORT_IWARP), GID_TYPE_IWARP);
	assert_int_equal(gid_type_of_number(9, TRANSPORT_ROCE), GID_TYPE_UNKNOWN);
}

static void test_scopes(void **state)
{
	(void)state;
	static const struct {
		const char *ip;
		enum gid_scope scope;
	} cases[] = {
		{ "192.0.2.1", GID_SCOPE_GLOBAL },
		{ "10.102.1.1", GID_SCOPE_PRIVATE },
		{ "172.16.0.1", GID_SCOPE_PRIVATE },
		{ "172.32.0.1", GID_SCOPE_GLOBAL },
		{ "192.168.9.9", GID_SCOPE_PRIVATE },
		{ "100.64.0.1", GID_SCOPE_PRIVATE },
		{ "100.128.0.1", GID_SCOPE_GLOBAL },
		{ "169.254.1.1", GID_SCOPE_LINK_LOCAL },
		{ "127.0.0.1", GID_SCOPE_LOOPBACK },
		{ "::1", GID_SCOPE_LOOPBACK },
		{ "fe80::1", GID_SCOPE_LINK_LOCAL },
		{ "fd00:db8:1::10", GID_SCOPE_PRIVATE },
		{ "fc00::1", GID_SCOPE_PRIVATE },
		{ "fec0::1", GID_SCOPE_PRIVATE }, /* site-local, which RFC 3879 took back */
		{ "fe00::1", GID_SCOPE_GLOBAL },
		{ "2001:db8::1", GID_SCOPE_GLOBAL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t gid[16];
		assert_int_equal(gid_parse_ip(cases[i].ip, gid), 0);
		assert_int_equal(gid_scope_of(gid), cases[i].scope);
	}
}

static void test_subnets(void **state)
{
	(void)state;
	uint8_t a[16], b[16], c[16];
	gid_parse_ip("10.1.2.3", a);
	gid_parse_ip("10.1.3.3", b);
	gid_parse_ip("fe80::1", c);
	assert_true(gid_same_subnet(a, b, 23));
	assert_false(gid_same_subnet(a, b, 24));
	assert_true(gid_same_subnet(a, b, 0));
	assert_false(gid_same_subnet(a, c, 0));
	assert_true(gid_same_subnet(a, a, 32));
}

static void test_addresses_make_entries_ok(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "192.0.2.1/24 2001:db8::1/64 fe80::77/64"));
	add_pair(&f, 0, OWN_EUI64, "eth0"); /* not an address of eth0, but made from its MAC */
	add_pair(&f, 2, "192.0.2.1", "eth0");
	add_pair(&f, 4, "2001:db8::1", "eth0");
	judge(&f);
	for (int64_t i = 0; i < 6; i++) {
		assert_int_equal(entry_at(&f, i)->state, GID_STATE_OK);
		assert_null(entry_at(&f, i)->state_reason);
		assert_string_equal(entry_at(&f, i)->netdev, "eth0");
		assert_false(entry_at(&f, i)->vlan.known);
	}
	assert_string_equal(entry_at(&f, 2)->ip, "192.0.2.1");
	assert_int_equal(entry_at(&f, 2)->family, GID_FAMILY_IPV4);
	assert_int_equal(entry_at(&f, 0)->family, GID_FAMILY_IPV6);
	/* the same GID under the other type is no duplicate */
	assert_int_equal(entry_at(&f, 2)->same_gid_as.count, 1);
	assert_int_equal(entry_at(&f, 2)->same_gid_as.items[0]->value, 3);
	fixture_free(&f);
}

/* Without a link-local address of the netdev there is no route to such peers. RoCE v1 needs none. */
static void test_default_gid_without_ipv6(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "192.0.2.1/24"));
	add_pair(&f, 0, OWN_EUI64, "eth0");
	add_pair(&f, 2, "192.0.2.1", "eth0");
	judge(&f);
	assert_false(entry_at(&f, 0)->pathless);
	assert_null(entry_at(&f, 0)->state_reason);
	assert_true(entry_at(&f, 1)->pathless);
	assert_int_equal(entry_at(&f, 1)->state, GID_STATE_OK);
	assert_string_equal(
	        entry_at(&f, 1)->state_reason, "eth0 has no link-local IPv6 address, and so no route to others");
	assert_false(entry_at(&f, 3)->pathless);
	fixture_free(&f);
}

/* G10: made from a MAC that the netdev no longer has. */
static void test_mac_mismatch_is_stale(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "192.0.2.1/24 " OWN_EUI64 "/64"));
	add_pair(&f, 0, "fe80::5eff:fe10:1", "eth0");
	add_pair(&f, 2, OWN_EUI64, "eth0");
	judge(&f);
	check_gid(f.host, &f.document);
	assert_int_equal(entry_at(&f, 0)->state, GID_STATE_STALE);
	assert_int_equal(entry_at(&f, 1)->state, GID_STATE_STALE);
	assert_int_equal(entry_at(&f, 3)->state, GID_STATE_OK);
	const struct finding *finding = finding_of(&f, "gid-mac-mismatch");
	assert_non_null(finding);
	assert_string_equal(finding->subject, "mlx5_0/1/gid/0");
	assert_non_null(strstr(finding->message, "does not match"));
	fixture_free(&f);
}

/* G19: the second link-local address comes from stable-privacy; it is an address of the netdev, so nothing is stale. */
static void test_stable_privacy_is_ok(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "ens1f0", LINK_ETHERNET, MAC, "192.0.2.30/24 fe80::1234:5678:9abc:def0/64"));
	add_pair(&f, 0, OWN_EUI64, "ens1f0");
	add_pair(&f, 2, "fe80::1234:5678:9abc:def0", "ens1f0");
	add_pair(&f, 4, "192.0.2.30", "ens1f0");
	judge(&f);
	check_gid(f.host, &f.document);
	for (int64_t i = 0; i < 6; i++)
		assert_int_equal(entry_at(&f, i)->state, GID_STATE_OK);
	assert_int_equal(f.host->report.findings.count, 0);
	fixture_free(&f);
}

/* G29, and an IPv4 address that was removed. */
static void test_missing_addresses_are_stale(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 1024);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "192.0.2.2/24"));
	add_gid(&f, 0, "fe80::aaaa:bbbb:cccc:dddd", GID_TYPE_ROCE_V2, "eth0");
	add_gid(&f, 1, "192.0.2.2", GID_TYPE_ROCE_V2, "eth0");
	add_gid(&f, 2, "192.0.2.3", GID_TYPE_ROCE_V2, "eth0");
	judge(&f);
	assert_int_equal(entry_at(&f, 0)->state, GID_STATE_STALE);
	assert_int_equal(entry_at(&f, 1)->state, GID_STATE_OK);
	assert_int_equal(entry_at(&f, 2)->state, GID_STATE_STALE);
	assert_string_equal(entry_at(&f, 2)->state_reason, "192.0.2.3 is not an address of eth0");
	fixture_free(&f);
}

/* G14: no netdev to be seen. And a name that a netdev of ours has by chance: it is not on the port. */
static void test_foreign_namespaces(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth1", LINK_ETHERNET, MAC, "192.0.2.252/24"));
	add_netdev(&f, "eth0", LINK_VETH, "02:00:5e:10:00:09", "10.0.0.9/24");
	add_gid(&f, 3, "192.0.2.250", GID_TYPE_ROCE_V2, NULL);
	add_gid(&f, 5, "192.0.2.251", GID_TYPE_ROCE_V2, "eth0");
	add_gid(&f, 7, "192.0.2.252", GID_TYPE_ROCE_V2, "eth1");
	add_gid(&f, 9, "192.0.2.249", GID_TYPE_ROCE_V2, "net7");
	judge(&f);
	assert_int_equal(entry_at(&f, 3)->state, GID_STATE_FOREIGN_NETNS);
	assert_string_equal(entry_at(&f, 3)->state_reason, "no netdev visible in this network namespace");
	assert_int_equal(entry_at(&f, 5)->state, GID_STATE_FOREIGN_NETNS);
	assert_false(entry_at(&f, 5)->ifindex.known);
	assert_int_equal(entry_at(&f, 7)->state, GID_STATE_OK);
	assert_int_equal(entry_at(&f, 9)->state, GID_STATE_FOREIGN_NETNS);
	fixture_free(&f);
}

/* An index of the ioctl that is a netdev of ours by chance, with an address of another. */
static void test_foreign_ifindex(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth1", LINK_ETHERNET, MAC, "192.0.2.252/24"));
	struct netdev *other = add_netdev(&f, "docker0", LINK_BRIDGE, NULL, "172.17.0.1/16");
	struct gid_entry *entry = add_gid(&f, 0, "192.0.2.250", GID_TYPE_ROCE_V2, "pod0");
	entry->seen_ifindex = other->ifindex;
	judge(&f);
	assert_int_equal(entry->state, GID_STATE_FOREIGN_NETNS);
	assert_string_equal(entry->netdev, "pod0");
	assert_null(entry->link);
	fixture_free(&f);
}

/* Index 0 is none: the entry is then named by its name alone, and may be stale like any other. */
static void test_no_ifindex(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth1", LINK_ETHERNET, MAC, "192.0.2.252/24"));
	struct gid_entry *stale = add_gid(&f, 0, "192.0.2.250", GID_TYPE_ROCE_V2, "eth1");
	struct gid_entry *silent = add_gid(&f, 1, "192.0.2.252", GID_TYPE_ROCE_V2, NULL);
	stale->seen_ifindex = silent->seen_ifindex = num(0);
	judge(&f);
	assert_int_equal(stale->state, GID_STATE_STALE);
	assert_string_equal(stale->netdev, "eth1");
	assert_int_equal(silent->state, GID_STATE_OK);
	assert_string_equal(silent->netdev, "eth1");
	fixture_free(&f);
}

/* Precedence: an entry that is foreign or stale is that, though another has the same GID and type. */
static void test_precedence(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "192.0.2.1/24"));
	add_gid(&f, 0, "192.0.2.9", GID_TYPE_ROCE_V2, "eth0");
	add_gid(&f, 1, "192.0.2.9", GID_TYPE_ROCE_V2, "elsewhere");
	judge(&f);
	assert_int_equal(entry_at(&f, 0)->state, GID_STATE_STALE);
	assert_int_equal(entry_at(&f, 1)->state, GID_STATE_FOREIGN_NETNS);
	assert_int_equal(entry_at(&f, 0)->same_gid_as.count, 1);
	fixture_free(&f);
}

/* G16 */
static void test_duplicates(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	struct netdev *bond = set_port_netdev(&f, add_netdev(&f, "bond1", LINK_BOND, MAC, "192.0.2.7/24"));
	struct netdev *vxlan = add_netdev(&f, "b3.vxlan.30100", LINK_VXLAN, "02:00:5e:10:00:77", "192.0.2.7/24");
	vxlan->lower_ifindex = bond->ifindex;
	add_pair(&f, 0, OWN_EUI64, "bond1");
	add_pair(&f, 2, "192.0.2.7", "b3.vxlan.30100");
	add_pair(&f, 4, "192.0.2.7", "bond1");
	judge(&f);
	check_gid(f.host, &f.document);
	assert_int_equal(entry_at(&f, 1)->state, GID_STATE_OK);
	assert_int_equal(entry_at(&f, 3)->state, GID_STATE_DUPLICATE);
	assert_int_equal(entry_at(&f, 5)->state, GID_STATE_DUPLICATE);
	assert_string_equal(entry_at(&f, 3)->netdev, "b3.vxlan.30100");
	assert_string_equal(entry_at(&f, 5)->netdev, "bond1");
	assert_int_equal(entry_at(&f, 3)->same_gid_as.count, 3);
	const struct finding *finding = finding_of(&f, "gid-duplicate");
	assert_non_null(finding);
	fixture_free(&f);
}

/* The address is on the bond and the entry names the member, or the reverse. */
static void test_bonds(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	struct netdev *bond = add_netdev(&f, "bond0", LINK_BOND, MAC, "192.0.2.6/24");
	struct netdev *member = set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "198.51.100.6/24"));
	struct netdev *backup = add_netdev(&f, "eth1", LINK_ETHERNET, "02:00:5e:10:00:03", "");
	member->master_ifindex = backup->master_ifindex = bond->ifindex;
	add_gid(&f, 0, "192.0.2.6", GID_TYPE_ROCE_V2, "eth0");
	add_gid(&f, 1, "198.51.100.6", GID_TYPE_ROCE_V2, "bond0");
	add_gid(&f, 2, OWN_EUI64, GID_TYPE_ROCE_V2, "bond0");
	/* The MAC of the member that is not active (fail_over_mac): made before the failover. */
	add_gid(&f, 3, "fe80::5eff:fe10:3", GID_TYPE_ROCE_V2, "bond0");
	judge(&f);
	assert_int_equal(entry_at(&f, 0)->state, GID_STATE_OK);
	assert_string_equal(entry_at(&f, 0)->netdev, "eth0");
	assert_int_equal(entry_at(&f, 1)->state, GID_STATE_OK);
	assert_int_equal(entry_at(&f, 2)->state, GID_STATE_OK);
	assert_int_equal(entry_at(&f, 3)->state, GID_STATE_STALE);
	fixture_free(&f);
}

/* G17, G37: each row has its own netdev and VLAN. */
static void test_vlans(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 128);
	struct netdev *eth2 = set_port_netdev(&f, add_netdev(&f, "eth2", LINK_ETHERNET, MAC, "192.0.2.12/24"));
	struct netdev *vlan = add_netdev(&f, "eth2.10", LINK_VLAN, MAC, "198.51.100.2/24");
	vlan->vlan_id = num(10);
	vlan->lower_ifindex = eth2->ifindex;
	struct netdev *macvlan = add_netdev(&f, "mv0", LINK_MACVLAN, "02:00:5e:10:00:55", "198.51.100.3/24");
	macvlan->lower_ifindex = vlan->ifindex;
	add_gid(&f, 0, OWN_EUI64, GID_TYPE_ROCE_V1, "eth2");
	add_gid(&f, 1, "192.0.2.12", GID_TYPE_ROCE_V1, "eth2");
	add_gid(&f, 2, "198.51.100.2", GID_TYPE_ROCE_V1, "eth2.10");
	add_gid(&f, 3, "198.51.100.3", GID_TYPE_ROCE_V1, "mv0");
	judge(&f);
	check_gid(f.host, &f.document);
	assert_false(entry_at(&f, 1)->vlan.known);
	assert_true(num_is(entry_at(&f, 2)->vlan, 10));
	assert_string_equal(entry_at(&f, 2)->netdev, "eth2.10");
	assert_int_equal(entry_at(&f, 2)->state, GID_STATE_OK);
	assert_true(num_is(entry_at(&f, 3)->vlan, 10));
	assert_non_null(finding_of(&f, "gid-roce-v1-only"));
	fixture_free(&f);
}

/* G25: no gid_attrs. The address alone tells the netdev. */
static void test_old_kernel(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "192.0.2.100/24"));
	add_gid(&f, 0, OWN_EUI64, GID_TYPE_UNKNOWN, NULL)->seen = FLAG_UNKNOWN;
	add_gid(&f, 1, "192.0.2.100", GID_TYPE_UNKNOWN, NULL)->seen = FLAG_UNKNOWN;
	add_gid(&f, 2, "192.0.2.101", GID_TYPE_UNKNOWN, NULL)->seen = FLAG_UNKNOWN;
	judge(&f);
	check_gid(f.host, &f.document);
	assert_int_equal(entry_at(&f, 0)->state, GID_STATE_OK);
	assert_int_equal(entry_at(&f, 1)->state, GID_STATE_OK);
	assert_string_equal(entry_at(&f, 1)->netdev, "eth0");
	assert_int_equal(entry_at(&f, 2)->state, GID_STATE_UNKNOWN);
	assert_null(finding_of(&f, "gid-roce-v1-only"));
	fixture_free(&f);
}

/* Without any address read nothing can be called stale. */
static void test_unknown_addresses(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, ""));
	add_gid(&f, 0, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	judge(&f);
	assert_int_equal(entry_at(&f, 0)->state, GID_STATE_UNKNOWN);
	assert_string_equal(entry_at(&f, 0)->netdev, "eth0");
	fixture_free(&f);
}

static void test_not_roce(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_INFINIBAND, 8);
	add_gid(&f, 0, "fe80::15:5d00:0:1", GID_TYPE_IB, NULL);
	judge(&f);
	check_gid(f.host, &f.document);
	assert_int_equal(entry_at(&f, 0)->scope, GID_SCOPE_IB_SUBNET);
	assert_int_equal(entry_at(&f, 0)->state, GID_STATE_OK);
	assert_null(entry_at(&f, 0)->ip);
	assert_int_equal(f.host->report.findings.count, 0);
	fixture_free(&f);
}

/* G13, G35 */
static void test_empty_and_full_tables(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	add_netdev(&f, "eth0", LINK_VETH, MAC, "10.1.1.1/24");
	judge(&f);
	check_gid(f.host, &f.document);
	assert_non_null(finding_of(&f, "gid-none"));
	fixture_free(&f);

	f = fixture_of(TRANSPORT_ROCE, 2);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "10.1.1.1/24"));
	add_pair(&f, 0, "10.1.1.1", "eth0");
	judge(&f);
	check_gid(f.host, &f.document);
	assert_string_equal(finding_of(&f, "gid-table-full")->message, "GID table 2/2 used: new addresses get no GID");
	fixture_free(&f);

	f = fixture_of(TRANSPORT_ROCE, 0);
	judge(&f);
	check_gid(f.host, &f.document);
	assert_null(finding_of(&f, "gid-table-full"));
	fixture_free(&f);
}

/* G34 */
static void test_same_subnet(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "192.0.2.1/24"));
	struct netdev *second = add_netdev(&f, "eth1", LINK_ETHERNET, "02:00:5e:10:00:03", "192.0.2.2/24");
	add_gid(&f, 0, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	judge(&f);
	check_gid(f.host, &f.document);
	assert_string_equal(finding_of(&f, "gid-same-subnet")->subject, "net:eth0");
	f.host->report.findings.count = 0;
	second->admin_up = FLAG_NO;
	check_gid(f.host, &f.document);
	assert_null(finding_of(&f, "gid-same-subnet"));
	fixture_free(&f);
}

static void test_show_empty(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 8);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, MAC, "192.0.2.1/24"));
	add_gid(&f, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	judge(&f);
	assert_int_equal(gid_show_empty(f.host->arena, &f.document), 0);
	assert_int_equal(f.document.entries.count, 8);
	assert_int_equal(f.table->count, 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_true(num_is(f.document.entries.items[i]->index, i));
		assert_int_equal(f.document.entries.items[i]->empty == FLAG_YES, i != 3);
	}
	fixture_free(&f);
}

static const char *message_of_none(const char *addresses, enum flag up)
{
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	static char message[200];
	struct netdev *eth0 = add_netdev(&f, "eth0", LINK_ETHERNET, "02:00:5e:10:00:01", addresses);
	eth0->admin_up = up;
	set_port_netdev(&f, eth0);
	judge(&f);
	check_gid(f.host, &f.document);
	snprintf(message, sizeof(message), "%s", finding_of(&f, "gid-none")->message);
	fixture_free(&f);
	return message;
}

static void test_no_gid_says_what_the_netdev_lacks(void **state)
{
	(void)state;
	assert_string_equal(message_of_none("", FLAG_NO), "the port has no GID: its netdev eth0 is down");
	assert_string_equal(message_of_none("", FLAG_YES), "the port has no GID: its netdev eth0 has no address");
	assert_string_equal(message_of_none("192.0.2.1/24", FLAG_YES),
	        "the port has no GID: its netdev eth0 has addresses, none of which is in the table");
}

static void test_a_port_without_guid(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_INFINIBAND, 8);
	add_gid(&f, 0, "fe80::", GID_TYPE_IB, NULL);
	judge(&f);
	assert_int_equal(entry_at(&f, 0)->state, GID_STATE_UNKNOWN);
	assert_non_null(strstr(entry_at(&f, 0)->state_reason, "no GUID"));
	assert_int_equal(chosen(&f, gid_choose_rdmadiag, NULL), NONE);
	fixture_free(&f);
	f = fixture_of(TRANSPORT_INFINIBAND, 8);
	add_gid(&f, 0, "fe80::200:5e00:0:10", GID_TYPE_IB, NULL);
	judge(&f);
	assert_int_equal(entry_at(&f, 0)->state, GID_STATE_OK);
	assert_int_equal(chosen(&f, gid_choose_rdmadiag, NULL), 0);
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_gid_says_what_the_netdev_lacks),
		cmocka_unit_test(test_a_port_without_guid),
		cmocka_unit_test(test_types_follow_the_transport),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_subnets),
		cmocka_unit_test(test_addresses_make_entries_ok),
		cmocka_unit_test(test_default_gid_without_ipv6),
		cmocka_unit_test(test_mac_mismatch_is_stale),
		cmocka_unit_test(test_stable_privacy_is_ok),
		cmocka_unit_test(test_missing_addresses_are_stale),
		cmocka_unit_test(test_foreign_namespaces),
		cmocka_unit_test(test_foreign_ifindex),
		cmocka_unit_test(test_no_ifindex),
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_bonds),
		cmocka_unit_test(test_vlans),
		cmocka_unit_test(test_old_kernel),
		cmocka_unit_test(test_unknown_addresses),
		cmocka_unit_test(test_not_roce),
		cmocka_unit_test(test_empty_and_full_tables),
		cmocka_unit_test(test_same_subnet),
		cmocka_unit_test(test_show_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
