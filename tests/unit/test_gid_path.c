/* SPDX-License-Identifier: MIT */
/* gid --to: the parsers of route and neighbour replies, and what follows from them. */
#include "gid_fixture.h"

#include "base/cleanup.h"
#include "gid/path.h"
#include "gid/subnet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

struct reply {
	_Alignas(struct nlmsghdr) unsigned char bytes[2048];
	struct nlmsghdr *message;
	size_t length;
};

static void begin_route(struct reply *reply, int family, int type)
{
	*reply = (struct reply){ 0 };
	reply->message = mnl_nlmsg_put_header(reply->bytes);
	reply->message->nlmsg_type = RTM_NEWROUTE;
	struct rtmsg *route = mnl_nlmsg_put_extra_header(reply->message, sizeof(*route));
	route->rtm_family = (unsigned char)family;
	route->rtm_type = (unsigned char)type;
}

static void put_ip(struct reply *reply, uint16_t type, const char *ip)
{
	uint8_t gid[16];
	assert_int_equal(gid_parse_ip(ip, gid), 0);
	bool ipv4 = gid_is_ipv4(gid);
	mnl_attr_put(reply->message, type, ipv4 ? 4 : 16, ipv4 ? gid + 12 : gid);
}

static void put_neighbour(struct reply *reply, int ifindex, const char *ip, uint16_t state, uint8_t flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(reply->bytes + reply->length);
	message->nlmsg_type = RTM_NEWNEIGH;
	struct ndmsg *neighbour = mnl_nlmsg_put_extra_header(message, sizeof(*neighbour));
	neighbour->ndm_ifindex = ifindex;
	neighbour->ndm_state = state;
	neighbour->ndm_flags = flags;
	reply->message = message;
	put_ip(reply, NDA_DST, ip);
	reply->length += NLMSG_ALIGN(message->nlmsg_len);
}

static void take(struct fixture *f, struct gid_lookup *lookup, const struct reply *reply)
{
	*lookup = (struct gid_lookup){ 0 };
	gid_path_take_route(f->host->arena, lookup, reply->bytes, reply->message->nlmsg_len);
}

static const char *ip_of(const uint8_t gid[static 16])
{
	static char text[IP_TEXT_SIZE];
	gid_format_ip(gid, text);
	return text;
}

/* ---- parsers ---- */

static void a_route_is_read(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	struct reply reply;
	struct gid_lookup lookup;
	begin_route(&reply, AF_INET, RTN_UNICAST);
	mnl_attr_put_u32(reply.message, RTA_OIF, 7);
	put_ip(&reply, RTA_PREFSRC, "192.0.2.1");
	put_ip(&reply, RTA_GATEWAY, "192.0.2.254");
	take(&f, &lookup, &reply);
	assert_true(num_is(lookup.type, RTN_UNICAST));
	assert_true(num_is(lookup.hop.oif, 7));
	assert_true(lookup.has_source);
	assert_string_equal(ip_of(lookup.source), "192.0.2.1");
	assert_true(lookup.hop.has_gateway);
	assert_string_equal(ip_of(lookup.hop.gateway), "192.0.2.254");
	assert_int_equal(lookup.hops.count, 0);
	fixture_free(&f);
}

static void a_gateway_may_be_of_the_other_family(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	struct reply reply;
	struct gid_lookup lookup;
	uint8_t via[18] = { AF_INET6 };
	inet_pton(AF_INET6, "fe80::1", via + 2);
	begin_route(&reply, AF_INET, RTN_UNICAST);
	mnl_attr_put_u32(reply.message, RTA_OIF, 7);
	mnl_attr_put(reply.message, RTA_VIA, sizeof(via), via);
	take(&f, &lookup, &reply);
	assert_true(lookup.hop.has_gateway);
	assert_string_equal(ip_of(lookup.hop.gateway), "fe80::1");
	fixture_free(&f);
}

static size_t put_next_hop(unsigned char *at, int ifindex, const char *gateway)
{
	struct rtnexthop *next = (struct rtnexthop *)at;
	struct nlattr *attribute = (struct nlattr *)(at + sizeof(*next));
	*next = (struct rtnexthop){ .rtnh_len = sizeof(*next) + 8, .rtnh_ifindex = ifindex };
	*attribute = (struct nlattr){ .nla_len = 8, .nla_type = RTA_GATEWAY };
	inet_pton(AF_INET, gateway, attribute + 1);
	return next->rtnh_len;
}

static void several_paths_are_read(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	struct reply reply;
	struct gid_lookup lookup;
	_Alignas(4) unsigned char hops[64];
	size_t length = put_next_hop(hops, 7, "192.0.2.254");
	length += put_next_hop(hops + length, 8, "198.51.100.254");
	begin_route(&reply, AF_INET, RTN_UNICAST);
	mnl_attr_put(reply.message, RTA_MULTIPATH, length, hops);
	take(&f, &lookup, &reply);
	assert_int_equal(lookup.hops.count, 2);
	assert_true(num_is(lookup.hops.items[1]->oif, 8));
	assert_string_equal(ip_of(lookup.hops.items[1]->gateway), "198.51.100.254");
	assert_true(num_is(lookup.hop.oif, 7));
	/* A path whose length lies ends the list; a whole one before it counts. */
	((struct rtnexthop *)(hops + length / 2))->rtnh_len = 60;
	begin_route(&reply, AF_INET, RTN_UNICAST);
	mnl_attr_put(reply.message, RTA_MULTIPATH, length, hops);
	take(&f, &lookup, &reply);
	assert_int_equal(lookup.hops.count, 1);
	((struct rtnexthop *)hops)->rtnh_len = 0;
	begin_route(&reply, AF_INET, RTN_UNICAST);
	mnl_attr_put(reply.message, RTA_MULTIPATH, length, hops);
	take(&f, &lookup, &reply);
	assert_int_equal(lookup.hops.count, 0);
	fixture_free(&f);
}

/* What stands behind a path in the list is the next path: two of eight bytes, the second with flags that look like one.
 */
static void a_path_ends_where_it_says(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	struct reply reply;
	struct gid_lookup lookup;
	struct rtnexthop hops[2] = { { .rtnh_len = sizeof(*hops), .rtnh_ifindex = 7 },
		{ .rtnh_len = sizeof(*hops), .rtnh_flags = RTA_GATEWAY, .rtnh_ifindex = 8 } };
	begin_route(&reply, AF_INET, RTN_UNICAST);
	mnl_attr_put(reply.message, RTA_MULTIPATH, sizeof(hops), hops);
	take(&f, &lookup, &reply);
	assert_int_equal(lookup.hops.count, 2);
	assert_false(lookup.hops.items[0]->has_gateway);
	assert_true(num_is(lookup.hops.items[1]->oif, 8));
	fixture_free(&f);
}

static void broken_replies_tell_nothing(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	struct reply reply;
	struct gid_lookup lookup;
	begin_route(&reply, AF_INET, RTN_UNICAST);
	mnl_attr_put(reply.message, RTA_OIF, 2, "\1\2");
	mnl_attr_put(reply.message, RTA_PREFSRC, 5, "\1\2\3\4\5");
	mnl_attr_put(reply.message, RTA_VIA, 6, "\1\2\3\4\5\6");
	take(&f, &lookup, &reply);
	assert_false(lookup.hop.oif.known);
	assert_false(lookup.has_source);
	assert_false(lookup.hop.has_gateway);
	for (uint32_t length = 0; length < reply.message->nlmsg_len; length++) {
		lookup = (struct gid_lookup){ 0 };
		gid_path_take_route(f.host->arena, &lookup, reply.bytes, length);
		assert_false(lookup.type.known);
	}
	reply.message->nlmsg_type = RTM_NEWLINK;
	take(&f, &lookup, &reply);
	assert_false(lookup.type.known);
	fixture_free(&f);
}

static void neighbours_are_read(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	struct gid_path path = { .arena = f.host->arena };
	struct reply reply = { 0 };
	put_neighbour(&reply, 7, "192.0.2.9", NUD_REACHABLE, 0);
	put_neighbour(&reply, 7, "192.0.2.10", NUD_REACHABLE, NTF_PROXY);
	put_neighbour(&reply, 8, "2001:db8::9", NUD_FAILED, 0);
	gid_path_take_neighbours(&path, reply.bytes, reply.length);
	assert_int_equal(path.neighbours.count, 2);
	assert_true(num_is(path.neighbours.items[1]->ifindex, 8));
	assert_true(num_is(path.neighbours.items[1]->state, NUD_FAILED));
	assert_string_equal(ip_of(path.neighbours.items[1]->ip), "2001:db8::9");
	path.neighbours.count = 0;
	gid_path_take_neighbours(&path, reply.bytes, NLMSG_HDRLEN + 3);
	assert_int_equal(path.neighbours.count, 0);
	fixture_free(&f);
}

static void addresses_are_read(void **state)
{
	(void)state;
	static const char *const good[] = { "192.0.2.1", "2001:db8::1", "fe80::1%eth0", "fe80::1%2", "::ffff:192.0.2.1",
		"0000:0000:0000:0000:0000:ffff:c000:0201", "fe80:0000:0000:0000:0000:5eff:fe10:0001" };
	static const char *const bad[] = { "", "%eth0", "fe80::1%", "node1", "192.0.2", "192.0.2.1/24", "mlx5_0",
		"0000:0000:0000:0000:0000:ffff:c000:0201:0001",
		"1111:2222:3333:4444:5555:6666:7777:8888:1111:2222:3333:4444:5555:6666:7777:8888" };
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	struct gid_path path;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(gid_path_is_address(good[i]));
		assert_int_equal(gid_path_parse(f.host->arena, good[i], &path), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(gid_path_is_address(bad[i]));
	assert_int_equal(gid_path_parse(f.host->arena, "fe80::1%eth0", &path), 0);
	assert_string_equal(path.zone, "eth0");
	fixture_free(&f);
}

/* ---- answers ---- */

struct network {
	struct fixture f;
	struct gid_path path;
	struct netdev *eth0, *mgmt0;
};

/* eth0 is the RDMA port's: 0/1 v1 and v2 of 192.0.2.1; mgmt0 is no RDMA device's. */
static struct network network_to(const char *to)
{
	struct network n = { .f = fixture_of(TRANSPORT_ROCE, 16) };
	n.eth0 = add_netdev(&n.f, "eth0", LINK_ETHERNET, "02:00:5e:10:00:01", "192.0.2.1/24");
	n.mgmt0 = add_netdev(&n.f, "mgmt0", LINK_ETHERNET, "02:00:5e:10:00:02", "198.51.100.1/24");
	set_port_netdev(&n.f, n.eth0);
	add_gid(&n.f, 0, "192.0.2.1", GID_TYPE_ROCE_V1, "eth0");
	add_gid(&n.f, 1, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	assert_int_equal(gid_path_parse(n.f.host->arena, to, &n.path), 0);
	n.path.known = true;
	n.path.route.type = num(RTN_UNICAST);
	return n;
}

static struct gid_route *answer(struct network *n)
{
	judge(&n->f);
	struct gid_route *route = gid_path_choose(n->f.host, &n->f.document, &n->path);
	assert_non_null(route);
	assert_non_null(route->reason);
	return route;
}

static void assert_reason(struct network *n, const char *part)
{
	const struct gid_route *route = answer(n);
	if (!strstr(route->reason, part) || route->index.known || route->unknown)
		fail_msg("index %d: %s", (int)route->index.value, route->reason);
	fixture_free(&n->f);
}

static void a_route_finds_its_entry(void **state)
{
	(void)state;
	struct network n = network_to("192.0.2.9");
	n.path.route.hop.oif = n.eth0->ifindex;
	const struct gid_route *route = answer(&n);
	assert_true(num_is(route->index, 1));
	assert_string_equal(route->device, "mlx5_0");
	fixture_free(&n.f);
}

static void a_rule_by_source_leads_there(void **state)
{
	(void)state;
	struct network n = network_to("203.0.113.9");
	n.path.route.hop.oif = n.mgmt0->ifindex;
	struct gid_lookup *source = list_add(n.f.host->arena, &n.path.sources);
	source->type = num(RTN_UNICAST);
	source->hop.oif = n.eth0->ifindex;
	source->hop.has_gateway = true;
	gid_parse_ip("192.0.2.254", source->hop.gateway);
	source->has_source = true;
	gid_parse_ip("192.0.2.1", source->source);
	const struct gid_route *route = answer(&n);
	assert_true(num_is(route->index, 1));
	assert_non_null(strstr(route->reason, "router 192.0.2.254"));
	assert_non_null(strstr(route->reason, "source"));
	fixture_free(&n.f);
	n = network_to("203.0.113.9");
	n.path.route.hop.oif = n.mgmt0->ifindex;
	source = list_add(n.f.host->arena, &n.path.sources);
	source->error = num(ENETUNREACH);
	assert_reason(&n, "mgmt0, which is no netdev of an RDMA device");
}

/* ECMP: the kernel answers with one path, and the route has more; an entry is bound to the netdev of one. */
static void other_paths_of_the_route_are_told(void **state)
{
	(void)state;
	static const struct {
		uint32_t count;
		const char *told;
	} cases[] = { { 0, NULL }, { 1, NULL }, { 2, "; also paths through mgmt0" },
		{ 3, "; also paths through mgmt0, eth2" } };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct network n = network_to("203.0.113.9");
		const struct netdev *ways[] = { n.eth0, n.mgmt0,
			add_netdev(&n.f, "eth2", LINK_ETHERNET, "02:00:5e:10:00:03", "203.0.113.1/25") };
		n.path.route.hop.oif = n.eth0->ifindex;
		for (uint32_t k = 0; k < cases[i].count; k++) {
			struct gid_hop *hop = list_add(n.f.host->arena, &n.path.fib.hops);
			hop->oif = ways[k]->ifindex;
		}
		const struct gid_route *route = answer(&n);
		assert_true(num_is(route->index, 1));
		const char *told = strstr(route->reason, "; also paths");
		if (cases[i].told)
			assert_string_equal(told, cases[i].told);
		else
			assert_null(told);
		fixture_free(&n.f);
	}
}

static void discarding_routes_are_told_apart(void **state)
{
	(void)state;
	static const struct {
		int type, error;
		const char *reason;
	} cases[] = { { RTN_BLACKHOLE, 0, "blackhole" }, { RTN_UNREACHABLE, 0, "unreachable" },
		{ RTN_PROHIBIT, 0, "prohibit" }, { 0, EINVAL, "blackhole" }, { 0, EHOSTUNREACH, "unreachable" },
		{ 0, EACCES, "prohibit" }, { 0, ENETUNREACH, "no route to 203.0.113.9" } };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct network n = network_to("203.0.113.9");
		n.path.route.type = cases[i].type ? num(cases[i].type) : (struct num){ 0 };
		n.path.route.error = cases[i].error ? num(cases[i].error) : (struct num){ 0 };
		assert_reason(&n, cases[i].reason);
	}
}

static void what_was_not_asked_is_unknown(void **state)
{
	(void)state;
	struct network n = network_to("203.0.113.9");
	n.path.known = false;
	n.path.route.type = (struct num){ 0 };
	n.path.route.error = num(ENOENT);
	const struct gid_route *route = answer(&n);
	assert_true(route->unknown);
	assert_null(route->device);
	assert_false(route->index.known);
	assert_int_equal(n.f.host->report.not_collected.count, 1);
	assert_string_equal(n.f.host->report.not_collected.items[0]->what, "to");
	fixture_free(&n.f);
}

static void some_addresses_are_no_peers(void **state)
{
	(void)state;
	static const char *const groups[] = { "224.0.0.1", "239.1.2.3", "255.255.255.255", "ff02::1" };
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct network n = network_to(groups[i]);
		n.path.route.hop.oif = n.eth0->ifindex;
		assert_reason(&n, "multicast or broadcast");
	}
	struct network n = network_to("0.0.0.0");
	assert_reason(&n, "no address of a peer");
	n = network_to("::");
	assert_reason(&n, "no address of a peer");
	n = network_to("fe80::9");
	assert_reason(&n, "on every link");
	n = network_to("fe80::9%nonsense");
	assert_reason(&n, "no netdev nonsense");
}

static void an_unresolved_neighbour_hinders(void **state)
{
	(void)state;
	static const struct {
		int state;
		bool reached;
	} cases[] = { { NUD_FAILED, false }, { NUD_INCOMPLETE, false }, { NUD_PERMANENT, true }, { NUD_NOARP, true },
		{ NUD_STALE, true }, { NUD_NONE, true } };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct network n = network_to("192.0.2.9");
		n.path.route.hop.oif = n.eth0->ifindex;
		n.path.has_neighbours = true;
		struct gid_neighbour *neighbour = list_add(n.f.host->arena, &n.path.neighbours);
		neighbour->ifindex = n.eth0->ifindex;
		neighbour->state = num(cases[i].state);
		gid_parse_ip("192.0.2.9", neighbour->ip);
		assert_int_equal(answer(&n)->index.known, cases[i].reached);
		fixture_free(&n.f);
	}
}

static void routers_do_not_forward_v1(void **state)
{
	(void)state;
	struct network n = network_to("203.0.113.9");
	n.f.table->count = 1; /* v1 only */
	n.f.document.entries.count = 1;
	n.path.route.hop.oif = n.eth0->ifindex;
	n.path.route.hop.has_gateway = true;
	gid_parse_ip("192.0.2.254", n.path.route.hop.gateway);
	assert_reason(&n, "does not forward RoCE v1");
}

static void tunnels_carry_no_roce(void **state)
{
	(void)state;
	struct network n = network_to("203.0.113.9");
	struct netdev *wg0 = add_netdev(&n.f, "wg0", LINK_OTHER, NULL, "10.9.0.1/24");
	wg0->kind_name = "wireguard";
	n.path.route.hop.oif = wg0->ifindex;
	assert_reason(&n, "wg0 (wireguard)");
}

static void assert_transport(enum transport transport, const char *reason)
{
	struct network n = { .f = fixture_of(transport, 16) };
	n.eth0 = add_netdev(&n.f, "eth0", LINK_ETHERNET, "02:00:5e:10:00:01", "192.0.2.1/24");
	set_port_netdev(&n.f, n.eth0);
	assert_int_equal(gid_path_parse(n.f.host->arena, "192.0.2.9", &n.path), 0);
	n.path.known = true;
	n.path.route.type = num(RTN_UNICAST);
	n.path.route.hop.oif = n.eth0->ifindex;
	assert_reason(&n, reason);
}

static void not_every_transport_connects_by_gid(void **state)
{
	(void)state;
	assert_transport(TRANSPORT_IWARP, "iWARP connects by IP address, without a GID index");
	assert_transport(TRANSPORT_INFINIBAND, "InfiniBand addresses by LID");
}

/* ---- ARP flux ---- */

static bool warns_of_flux(int64_t ignore0, int64_t ignore1, bool routed)
{
	struct network n = network_to("192.0.2.9");
	struct netdev *eth1 = add_netdev(&n.f, "eth1", LINK_ETHERNET, "02:00:5e:10:00:03", "192.0.2.2/24");
	struct arp_settings settings[2] = { { .ignore = num(ignore0) }, { .ignore = num(ignore1) } };
	n.eth0->arp = ignore0 < 0 ? NULL : &settings[0];
	eth1->arp = ignore1 < 0 ? NULL : &settings[1];
	n.path.route.hop.oif = n.eth0->ifindex;
	n.path.route.hop.has_gateway = routed;
	const struct gid_route *route = answer(&n);
	assert_true(num_is(route->index, 1));
	bool warns = strstr(route->reason, "ARP flux") != NULL;
	fixture_free(&n.f);
	return warns;
}

static void arp_settings_decide_on_flux(void **state)
{
	(void)state;
	assert_true(warns_of_flux(0, 0, false));
	assert_true(warns_of_flux(-1, -1, false)); /* not known: the kernel's default */
	assert_true(warns_of_flux(1, 0, false));
	assert_false(warns_of_flux(1, 1, false));
	assert_false(warns_of_flux(2, 8, false));
	assert_false(warns_of_flux(0, 0, true)); /* the peer answers the router */
}

static uint32_t subnets_with(enum link_kind kind, const char *kind_name, bool on_eth0, const char *addresses)
{
	struct network n = network_to("192.0.2.9");
	struct netdev *other = add_netdev(&n.f, "other0", kind, "02:00:5e:10:00:04", addresses);
	struct shared_subnets subnets = { 0 };
	other->kind_name = kind_name;
	if (on_eth0)
		other->lower_ifindex = n.eth0->ifindex;
	assert_int_equal(gid_subnets_find(n.f.host->arena, n.f.host, &subnets), 0);
	uint32_t count = subnets.count;
	fixture_free(&n.f);
	return count;
}

static void only_other_adapters_share_a_subnet(void **state)
{
	(void)state;
	assert_int_equal(subnets_with(LINK_ETHERNET, NULL, false, "192.0.2.7/24"), 1);
	assert_int_equal(subnets_with(LINK_ETHERNET, NULL, false, "192.0.2.7/25"), 0);
	assert_int_equal(subnets_with(LINK_ETHERNET, NULL, false, "192.0.2.7/32"), 0);
	assert_int_equal(subnets_with(LINK_ETHERNET, NULL, false, "192.0.3.7/24"), 0);
	assert_int_equal(subnets_with(LINK_MACVLAN, "macvlan", true, "192.0.2.7/24"), 0);
	assert_int_equal(subnets_with(LINK_VXLAN, "vxlan", false, "192.0.2.7/24"), 0);
	assert_int_equal(subnets_with(LINK_OTHER, "wireguard", false, "192.0.2.7/24"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_route_is_read),
		cmocka_unit_test(a_gateway_may_be_of_the_other_family),
		cmocka_unit_test(several_paths_are_read),
		cmocka_unit_test(a_path_ends_where_it_says),
		cmocka_unit_test(broken_replies_tell_nothing),
		cmocka_unit_test(neighbours_are_read),
		cmocka_unit_test(addresses_are_read),
		cmocka_unit_test(a_route_finds_its_entry),
		cmocka_unit_test(a_rule_by_source_leads_there),
		cmocka_unit_test(other_paths_of_the_route_are_told),
		cmocka_unit_test(discarding_routes_are_told_apart),
		cmocka_unit_test(what_was_not_asked_is_unknown),
		cmocka_unit_test(some_addresses_are_no_peers),
		cmocka_unit_test(an_unresolved_neighbour_hinders),
		cmocka_unit_test(routers_do_not_forward_v1),
		cmocka_unit_test(tunnels_carry_no_roce),
		cmocka_unit_test(not_every_transport_connects_by_gid),
		cmocka_unit_test(arp_settings_decide_on_flux),
		cmocka_unit_test(only_other_adapters_share_a_subnet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
