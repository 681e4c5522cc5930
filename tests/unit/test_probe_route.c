/* SPDX-License-Identifier: MIT */
/* The kernel's way to the peer as facts of an end: route, gateway and the gateway's neighbour entry. */
#include "host_fixture.h"

#include "gid/address.h"
#include "origin/private.h"
#include "probe/route.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

enum { LOOPBACK_INDEX = 1 }; /* the one netdev that every namespace has */

static int refusal; /* what a route lookup answers instead */
static uint16_t neighbour_state;

static void put_ipv4(struct nlmsghdr *message, uint16_t type, const char *ip)
{
	struct in_addr address;
	assert_int_equal(inet_pton(AF_INET, ip, &address), 1);
	mnl_attr_put(message, type, sizeof(address), &address);
}

static void answer_route(struct nlmsghdr *message)
{
	message->nlmsg_type = RTM_NEWROUTE;
	struct rtmsg *route = mnl_nlmsg_put_extra_header(message, sizeof(*route));
	route->rtm_family = AF_INET;
	route->rtm_type = RTN_UNICAST;
	put_ipv4(message, RTA_GATEWAY, "192.0.2.254");
	put_ipv4(message, RTA_PREFSRC, "192.0.2.1");
	mnl_attr_put_u32(message, RTA_OIF, LOOPBACK_INDEX);
}

static void answer_neighbour(struct nlmsghdr *message)
{
	message->nlmsg_type = RTM_NEWNEIGH;
	struct ndmsg *neighbour = mnl_nlmsg_put_extra_header(message, sizeof(*neighbour));
	neighbour->ndm_ifindex = LOOPBACK_INDEX;
	neighbour->ndm_state = neighbour_state;
	put_ipv4(message, NDA_DST, "192.0.2.254");
}

static int netlink(struct origin *origin, int protocol, struct nl_request *requests, size_t count)
{
	(void)origin, (void)protocol;
	for (size_t i = 0; i < count; i++) {
		bool neighbours = requests[i].message->nlmsg_type == RTM_GETNEIGH;
		requests[i].error = neighbours ? 0 : refusal;
		if (requests[i].error)
			continue;
		requests[i].reply = calloc(1, 256);
		struct nlmsghdr *message = mnl_nlmsg_put_header(requests[i].reply);
		if (neighbours)
			answer_neighbour(message);
		else
			answer_route(message);
		requests[i].length = message->nlmsg_len;
	}
	return refusal;
}

static struct endpoint_facts look(int mode, const char *netdev, const char *gid)
{
	static const struct origin_ops ops = { .name = "test", .netlink = netlink };
	struct origin origin = { .ops = &ops };
	struct probe_settings settings;
	struct survey survey = { .host = host };
	settings_init(&settings);
	settings.request.mode = mode;
	struct probe_run *run = run_new(host->arena, &settings, &survey);
	assert_non_null(run);
	*run_facts(run, SIDE_LOCAL) = (struct endpoint_facts){ .link_layer = "Ethernet", .netdev = netdev };
	run_facts(run, SIDE_REMOTE)->gid = gid;
	route_look(run, &origin, SIDE_LOCAL);
	return *run_facts(run, SIDE_LOCAL);
}

static const char peer[] = "0000:0000:0000:0000:0000:ffff:c633:6409"; /* 198.51.100.9 */

static void the_way_to_a_peer_is_a_fact(void **state)
{
	(void)state;
	static const struct {
		uint16_t state;
		const char *word;
	} words[] = { { NUD_REACHABLE, "reachable" }, { NUD_FAILED, "failed" }, { NUD_PERMANENT, "permanent" } };
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		neighbour_state = words[i].state;
		struct endpoint_facts facts = look(MODE_PEER, NULL, peer);
		assert_true(num_is(facts.route_errno, 0));
		assert_string_equal(facts.route_netdev, "lo");
		assert_string_equal(facts.route_gateway, "192.0.2.254");
		assert_string_equal(facts.route_source, "192.0.2.1");
		assert_string_equal(facts.neighbour, words[i].word);
	}
	assert_true(num_is(look(MODE_LISTENER, NULL, peer).route_errno, 0));
}

static void no_route_is_one_too(void **state)
{
	(void)state;
	refusal = -ENETUNREACH;
	struct endpoint_facts facts = look(MODE_PEER, NULL, peer);
	refusal = 0;
	assert_true(num_is(facts.route_errno, ENETUNREACH));
	assert_null(facts.route_netdev);
	assert_null(facts.neighbour);
}

/* Within one host the kernel's answer is about its loopback, and an empty GID leads nowhere. */
static void elsewhere_nobody_asks(void **state)
{
	(void)state;
	assert_false(look(MODE_LOOPBACK, NULL, peer).route_errno.known);
	assert_false(look(MODE_TWO_DEVICES, NULL, peer).route_errno.known);
	assert_false(look(MODE_PEER, "lo", peer).route_errno.known);
	assert_false(look(MODE_PEER, NULL, NULL).route_errno.known);
	assert_false(look(MODE_PEER, NULL, "0000:0000:0000:0000:0000:0000:0000:0000").route_errno.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_way_to_a_peer_is_a_fact, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_route_is_one_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(elsewhere_nobody_asks, set_up, tear_down),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
