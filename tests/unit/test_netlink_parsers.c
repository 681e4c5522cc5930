/* SPDX-License-Identifier: MIT */
/* RDMA and route netlink replies, right ones and broken ones. */
#include "host_fixture.h"

#include "source/collect.h"
#include "source/link_words.h"
#include "source/rdma_nl.h"
#include "source/rdma_sysfs.h"
#include "source/rdma_words.h"
#include "source/rtnl.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_arp.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

enum { BUFFER_SIZE = 8192 };

struct reply {
	_Alignas(struct nlmsghdr) unsigned char bytes[BUFFER_SIZE];
	size_t length;
};

static struct nlmsghdr *begin(struct reply *reply, int type)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(reply->bytes + reply->length);
	message->nlmsg_type = (uint16_t)type;
	return message;
}

static void end(struct reply *reply, const struct nlmsghdr *message)
{
	reply->length += NLMSG_ALIGN(message->nlmsg_len);
}

static void put_device(struct reply *reply, uint32_t index, const char *name)
{
	struct nlmsghdr *message = begin(reply, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET));
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_DEV_NAME, name);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_NODE_GUID, UINT64_C(0x02005e0000010002));
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, RDMA_NODE_IB_CA);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	end(reply, message);
}

static void put_port(struct reply *reply, uint32_t index, uint32_t port, uint32_t ifindex)
{
	struct nlmsghdr *message = begin(reply, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET));
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_PORT_STATE, 4);
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5);
	if (ifindex)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_NDEV_INDEX, ifindex);
	end(reply, message);
}

static void devices_and_ports(void **state)
{
	(void)state;
	struct reply reply = { .length = 0 };
	put_device(&reply, 3, "mlx5_0");
	put_device(&reply, 9, "mlx5_10");
	assert_int_equal(rdma_nl_parse_devices(reply.bytes, reply.length, host), 0);
	assert_int_equal(host->devices.count, 2);
	struct rdma_device *device = host->devices.items[1];
	assert_string_equal(device->name, "mlx5_10");
	assert_int_equal(device->netlink_index.value, 9);
	assert_string_equal(device->node_guid, "0200:5e00:0001:0002");
	assert_null(device->sys_image_guid);

	struct reply ports = { .length = 0 };
	put_port(&ports, 9, 1, 7);
	put_port(&ports, 9, 67, 0);
	put_port(&ports, 3, 2, 5); /* of another device */
	assert_int_equal(rdma_nl_parse_ports(ports.bytes, ports.length, host, device), 0);
	assert_int_equal(device->ports.count, 2);
	assert_string_equal(device->ports.items[0]->state, "ACTIVE");
	assert_string_equal(device->ports.items[0]->physical_state, "LINK_UP");
	assert_int_equal(device->ports.items[0]->link_layer, LINK_LAYER_ETHERNET);
	assert_int_equal(device->ports.items[0]->netdev_ifindex.value, 7);
	assert_int_equal(device->ports.items[1]->number.value, 67);
	assert_false(device->ports.items[1]->netdev_ifindex.known);
}

static void netns_mode(void **state)
{
	(void)state;
	struct reply reply = { .length = 0 };
	struct nlmsghdr *message = begin(&reply, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET));
	mnl_attr_put_u8(message, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 0);
	end(&reply, message);
	assert_int_equal(rdma_nl_parse_system(reply.bytes, reply.length, host), 0);
	assert_int_equal(host->rdma_netns_mode, NETNS_EXCLUSIVE);
}

static struct nlmsghdr *begin_link(struct reply *reply, int index, const char *name)
{
	struct nlmsghdr *message = begin(reply, RTM_NEWLINK);
	struct ifinfomsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	header->ifi_index = index;
	header->ifi_type = ARPHRD_ETHER;
	mnl_attr_put_strz(message, IFLA_IFNAME, name);
	mnl_attr_put_u8(message, IFLA_OPERSTATE, 6);
	return message;
}

static void put_bond(struct reply *reply)
{
	struct nlmsghdr *message = begin_link(reply, 10, "bond0");
	struct nlattr *info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, "bond");
	struct nlattr *data = mnl_attr_nest_start(message, IFLA_INFO_DATA);
	mnl_attr_put_u8(message, IFLA_BOND_MODE, BOND_MODE_8023AD);
	mnl_attr_put_u8(message, IFLA_BOND_XMIT_HASH_POLICY, 1);
	struct nlattr *ad = mnl_attr_nest_start(message, IFLA_BOND_AD_INFO);
	mnl_attr_put_u16(message, IFLA_BOND_AD_INFO_AGGREGATOR, 2);
	mnl_attr_nest_end(message, ad);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, info);
	end(reply, message);
}

static void put_member(struct reply *reply, int index, const char *name, uint16_t aggregator)
{
	struct nlmsghdr *message = begin_link(reply, index, name);
	mnl_attr_put_u32(message, IFLA_MASTER, 10);
	struct nlattr *info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_SLAVE_KIND, "bond");
	struct nlattr *data = mnl_attr_nest_start(message, IFLA_INFO_SLAVE_DATA);
	mnl_attr_put_u8(message, IFLA_BOND_SLAVE_MII_STATUS, 0);
	mnl_attr_put_u16(message, IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, aggregator);
	mnl_attr_put_u8(message, IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, 61);
	mnl_attr_put_u16(message, IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE, 61);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, info);
	end(reply, message);
}

static void bonds(void **state)
{
	(void)state;
	struct reply reply = { .length = 0 };
	put_member(&reply, 4, "reth0", 2);
	put_bond(&reply);
	assert_int_equal(rtnl_parse_links(reply.bytes, reply.length, host), 0);
	struct netdev *bond = host_netdev_by_name(host, "bond0"), *member = host_netdev(host, 4);
	assert_int_equal(bond->kind, LINK_BOND);
	assert_string_equal(bond->bond_facts->mode, "802.3ad");
	assert_string_equal(bond->bond_facts->xmit_hash_policy, "layer3+4");
	assert_int_equal(bond->bond_facts->aggregator_id.value, 2);
	assert_int_equal(member->kind, LINK_ETHERNET);
	assert_string_equal(member->slave->mii_status, "up");
	assert_int_equal(member->slave->aggregator_id.value, 2);
	assert_int_equal(member->master_ifindex.value, 10);
	assert_string_equal(member->operstate, "up");
}

/* The number of a veth's peer or of a netdev of another namespace is no netdev below. */
static void links_that_are_not_below(void **state)
{
	(void)state;
	struct reply reply = { .length = 0 };
	struct nlmsghdr *message = begin_link(&reply, 2, "eth0");
	mnl_attr_put_u32(message, IFLA_LINK, 7);
	mnl_attr_put_u32(message, IFLA_LINK_NETNSID, 0);
	end(&reply, message);
	message = begin_link(&reply, 3, "veth0");
	mnl_attr_put_u32(message, IFLA_LINK, 2);
	struct nlattr *info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, "veth");
	mnl_attr_nest_end(message, info);
	end(&reply, message);
	message = begin_link(&reply, 5, "mv0");
	mnl_attr_put_u32(message, IFLA_LINK, 2);
	end(&reply, message);
	assert_int_equal(rtnl_parse_links(reply.bytes, reply.length, host), 0);
	assert_false(host_netdev(host, 2)->lower_ifindex.known);
	assert_false(host_netdev(host, 3)->lower_ifindex.known);
	assert_int_equal(host_netdev(host, 5)->lower_ifindex.value, 2);
}

static void parse_all(const void *bytes, size_t length)
{
	struct rdma_device device = { .name = "x", .netlink_index = num(3) };
	rdma_nl_parse_system(bytes, length, host);
	rdma_nl_parse_devices(bytes, length, host);
	rdma_nl_parse_ports(bytes, length, host, &device);
	rdma_nl_parse_chardev(bytes, length, host, &device);
	rtnl_parse_links(bytes, length, host);
	rtnl_parse_addresses(bytes, length, host);
}

/* Every truncation, and every byte changed: sanitizers watch the memory. */
static void broken_replies(void **state)
{
	(void)state;
	struct reply reply = { .length = 0 };
	put_device(&reply, 3, "mlx5_0");
	put_port(&reply, 3, 1, 7);
	put_member(&reply, 4, "reth0", 2);
	put_bond(&reply);
	for (size_t length = 0; length <= reply.length; length++) {
		unsigned char *copy = malloc(length + 1);
		memcpy(copy, reply.bytes, length);
		parse_all(copy, length);
		free(copy);
	}
	for (size_t at = 0; at < reply.length; at++) {
		unsigned char *copy = malloc(reply.length);
		memcpy(copy, reply.bytes, reply.length);
		copy[at] ^= 0xff;
		parse_all(copy, reply.length);
		free(copy);
	}
}

static void too_short_message(void **state)
{
	(void)state;
	struct nlmsghdr message = { .nlmsg_len = sizeof(message) + 100, .nlmsg_type = RTM_NEWLINK };
	assert_int_equal(rtnl_parse_links(&message, sizeof(message), host), -EBADMSG);
	message.nlmsg_len = 4;
	assert_int_equal(rtnl_parse_links(&message, sizeof(message), host), -EBADMSG);
}

static void words(void **state)
{
	(void)state;
	assert_int_equal(rdma_rate_mbps("100 Gb/sec (2X HDR)").value, 100000);
	assert_int_equal(rdma_rate_mbps("2.5 Gb/sec (1X SDR)").value, 2500);
	assert_false(rdma_rate_mbps("").known);
	assert_false(rdma_rate_mbps("fast").known);
	assert_int_equal(rdma_sysfs_code("4: ACTIVE").value, 4);
	assert_int_equal(rdma_sysfs_code("9: UNKNOWN").value, 9);
	assert_false(rdma_sysfs_code("ACTIVE").known);
	assert_null(rdma_port_state(num(9)));
	assert_null(rdma_physical_state(num(0)));
	assert_int_equal(rdma_transport(num(RDMA_NODE_UNSPECIFIED), LINK_LAYER_UNSPECIFIED), TRANSPORT_UNSPECIFIED);
	assert_int_equal(rdma_transport(num(RDMA_NODE_RNIC), LINK_LAYER_ETHERNET), TRANSPORT_IWARP);
	assert_int_equal(rdma_transport(num(RDMA_NODE_IB_CA), LINK_LAYER_ETHERNET), TRANSPORT_ROCE);
	assert_int_equal(rdma_link_layer("Unknown"), LINK_LAYER_UNSPECIFIED);
	assert_int_equal(link_kind_of("team", num(ARPHRD_ETHER)), LINK_TEAM);
	assert_int_equal(link_kind_of("wireguard", num(ARPHRD_NONE)), LINK_OTHER);
	assert_int_equal(link_kind_of(NULL, num(ARPHRD_INFINIBAND)), LINK_IPOIB);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(devices_and_ports),
		TEST(netns_mode),
		TEST(bonds),
		TEST(links_that_are_not_below),
		TEST(broken_replies),
		TEST(too_short_message),
		TEST(words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
