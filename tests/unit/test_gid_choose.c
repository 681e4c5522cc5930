/* SPDX-License-Identifier: MIT */
/* Which index each consumer takes on tables that were met on real nodes. */
#include "gid_fixture.h"

#include "gid/diff.h"
#include "gid/nccl_conf.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAC "02:00:5e:10:00:02"
#define LINK_LOCAL "fe80::5eff:fe10:2"
#define V1 GID_TYPE_ROCE_V1
#define V2 GID_TYPE_ROCE_V2

struct expected {
	int64_t rdmadiag, nccl, ucx, perftest, mooncake, rdma_cm;
};

static void expect(struct fixture *fixture, struct expected expected)
{
	judge(fixture);
	assert_int_equal(chosen(fixture, gid_choose_rdmadiag, NULL), expected.rdmadiag);
	assert_int_equal(chosen(fixture, gid_choose_nccl, NULL), expected.nccl);
	assert_int_equal(chosen(fixture, gid_choose_ucx, NULL), expected.ucx);
	assert_int_equal(chosen(fixture, gid_choose_perftest, NULL), expected.perftest);
	assert_int_equal(chosen(fixture, gid_choose_mooncake, NULL), expected.mooncake);
	assert_int_equal(chosen(fixture, gid_choose_rdma_cm, NULL), expected.rdma_cm);
	fixture_free(fixture);
}

/* A RoCE port with one netdev that has these addresses. */
static struct fixture roce(const char *netdev, const char *addresses)
{
	struct fixture fixture = fixture_of(TRANSPORT_ROCE, 256);
	set_port_netdev(&fixture, add_netdev(&fixture, netdev, LINK_ETHERNET, MAC, addresses));
	return fixture;
}

static void test_g01_usual_table(void **state)
{
	(void)state;
	struct fixture f = roce("bond0", "192.0.2.6/24 " LINK_LOCAL "/64");
	add_pair(&f, 0, LINK_LOCAL, "bond0");
	add_pair(&f, 2, "192.0.2.6", "bond0");
	expect(&f, (struct expected){ 3, 3, 3, 3, 3, 3 });
}

/* UCX asks slot 0 first and leaves the port alone when it is empty. */
static void test_g04_sparse_table(void **state)
{
	(void)state;
	struct fixture f = roce("net1", "192.0.2.13/24");
	add_pair(&f, 6, "192.0.2.13", "net1");
	add_pair(&f, 8, LINK_LOCAL, "net1");
	expect(&f, (struct expected){ 7, 7, NONE, 7, 7, 7 });
}

static void test_g05_another_index_in_each_pod(void **state)
{
	(void)state;
	struct fixture a = roce("net1", "192.0.2.1/24");
	add_pair(&a, 4, "192.0.2.1", "net1");
	add_pair(&a, 6, "192.0.2.2", NULL);
	expect(&a, (struct expected){ 5, 5, NONE, 5, 5, 5 });
	struct fixture b = roce("net1", "192.0.2.2/24");
	add_pair(&b, 4, "192.0.2.1", NULL);
	add_pair(&b, 6, "192.0.2.2", "net1");
	expect(&b, (struct expected){ 7, 5, NONE, 5, 7, 7 });
}

static void test_g07_first_usable_is_two(void **state)
{
	(void)state;
	struct fixture f = roce("net1", "192.0.2.20/24");
	add_pair(&f, 2, "192.0.2.20", "net1");
	expect(&f, (struct expected){ 3, 3, NONE, 3, 3, 3 });
}

static void test_g13_no_gid(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	add_netdev(&f, "eth0", LINK_VETH, MAC, "10.1.1.1/24");
	expect(&f, (struct expected){ NONE, 0, NONE, NONE, NONE, NONE });
}

static void test_g14_foreign_entry_first(void **state)
{
	(void)state;
	struct fixture f = roce("eth1", "192.0.2.252/24");
	add_gid(&f, 3, "192.0.2.250", V2, NULL);
	add_gid(&f, 7, "192.0.2.252", V2, "eth1");
	expect(&f, (struct expected){ 7, 3, NONE, 3, 7, 7 });
}

static void test_g16_overlay_has_the_lower_index(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	struct netdev *bond = set_port_netdev(&f, add_netdev(&f, "bond1", LINK_BOND, MAC, "192.0.2.7/24"));
	struct netdev *vxlan = add_netdev(&f, "b3.vxlan.30100", LINK_VXLAN, "02:00:5e:10:00:77", "192.0.2.7/24");
	vxlan->lower_ifindex = bond->ifindex;
	add_pair(&f, 0, LINK_LOCAL, "bond1");
	add_pair(&f, 2, "192.0.2.7", "b3.vxlan.30100");
	add_pair(&f, 4, "192.0.2.7", "bond1");
	expect(&f, (struct expected){ 5, 3, 3, 3, 3, 5 });
}

static void test_g17_v1_only_with_vlan(void **state)
{
	(void)state;
	struct fixture f = roce("eth2", "192.0.2.12/24");
	struct netdev *vlan = add_netdev(&f, "eth2.10", LINK_VLAN, MAC, "198.51.100.2/24");
	vlan->vlan_id = num(10);
	vlan->lower_ifindex = f.host->netdevs.items[0]->ifindex;
	add_gid(&f, 0, LINK_LOCAL, V1, "eth2");
	add_gid(&f, 1, "192.0.2.12", V1, "eth2");
	add_gid(&f, 2, "198.51.100.2", V1, "eth2.10");
	expect(&f, (struct expected){ 1, 1, 1, 1, 0, 1 });
}

static void test_g19_two_link_local_pairs(void **state)
{
	(void)state;
	struct fixture f = roce("ens1f0", "192.0.2.30/24 fe80::1234:5678:9abc:def0/64");
	add_pair(&f, 0, LINK_LOCAL, "ens1f0");
	add_pair(&f, 2, "fe80::1234:5678:9abc:def0", "ens1f0");
	add_pair(&f, 4, "192.0.2.30", "ens1f0");
	expect(&f, (struct expected){ 5, 5, 5, 5, 5, 5 });
}

static struct fixture ipv6_only(void)
{
	struct fixture f = roce("eth0", LINK_LOCAL "/64 fd00:db8:1::10/64");
	add_pair(&f, 0, LINK_LOCAL, "eth0");
	add_pair(&f, 2, "fd00:db8:1::10", "eth0");
	return f;
}

/* NCCL stays with slot 0 unless it is told to take IPv6. */
static void test_g20_ipv6_only(void **state)
{
	(void)state;
	struct fixture f = ipv6_only();
	judge(&f);
	char *variables[] = { "NCCL_IB_ADDR_FAMILY=AF_INET6", NULL };
	assert_int_equal(chosen(&f, gid_choose_nccl, variables), 3);
	expect(&f, (struct expected){ 3, 0, 3, 3, 3, 3 });
}

static void test_g22_two_of_256(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "192.0.2.1/24");
	add_gid(&f, 0, LINK_LOCAL, V2, "eth0");
	add_gid(&f, 255, "192.0.2.1", V2, "eth0");
	expect(&f, (struct expected){ 255, 255, 255, 255, 255, 255 });
}

static void test_g23_private_fabric(void **state)
{
	(void)state;
	struct fixture f = roce("rdma0", "10.102.3.4/16");
	add_netdev(&f, "docker0", LINK_BRIDGE, NULL, "172.17.0.1/16");
	add_gid(&f, 0, LINK_LOCAL, V2, "rdma0");
	add_gid(&f, 1, "10.102.3.4", V2, "rdma0");
	expect(&f, (struct expected){ 1, 1, 1, 1, 1, 1 });
}

/* Mooncake takes only what is RoCE v2 for certain, and else the first entry. */
static void test_g25_old_kernel(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "192.0.2.100/24");
	add_gid(&f, 0, LINK_LOCAL, GID_TYPE_UNKNOWN, NULL)->seen = FLAG_UNKNOWN;
	add_gid(&f, 1, "192.0.2.100", GID_TYPE_UNKNOWN, NULL)->seen = FLAG_UNKNOWN;
	expect(&f, (struct expected){ 1, 1, 1, 1, 0, 1 });
}

static void test_g26_efa(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_UNSPECIFIED, 1);
	add_gid(&f, 0, "fe80::1:2:3:4", GID_TYPE_UNKNOWN, NULL);
	expect(&f, (struct expected){ 0, NONE, 0, NONE, 0, NONE });
}

static void test_g28_irdma(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "192.0.2.40/24 2001:db8::40/64");
	add_gid(&f, 0, "2001:db8::40", V2, "eth0");
	add_gid(&f, 1, "192.0.2.40", V2, "eth0");
	expect(&f, (struct expected){ 1, 1, 1, 1, 0, 1 });
	f = fixture_of(TRANSPORT_IWARP, 1);
	add_gid(&f, 0, "200:5e10:2::", GID_TYPE_IWARP, NULL);
	judge(&f);
	assert_int_equal(chosen(&f, gid_choose_rdmadiag, NULL), 0);
	assert_int_equal(chosen(&f, gid_choose_rdma_cm, NULL), NONE);
	fixture_free(&f);
}

static void test_g29_stale_first_entry(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "192.0.2.2/24");
	add_gid(&f, 0, "fe80::aaaa:bbbb:cccc:dddd", V2, "eth0");
	add_gid(&f, 1, "192.0.2.2", V2, "eth0");
	expect(&f, (struct expected){ 1, 1, 1, 1, 1, 1 });
}

static void test_g38_vlan_on_bond(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 256);
	struct netdev *bond = set_port_netdev(&f, add_netdev(&f, "bond0", LINK_BOND, MAC, "192.0.2.8/24"));
	struct netdev *vlan = add_netdev(&f, "bond0.100", LINK_VLAN, MAC, "198.51.100.8/24");
	vlan->vlan_id = num(100);
	vlan->lower_ifindex = bond->ifindex;
	add_pair(&f, 0, LINK_LOCAL, "bond0");
	add_pair(&f, 2, "192.0.2.8", "bond0");
	add_pair(&f, 8, "198.51.100.8", "bond0.100");
	expect(&f, (struct expected){ 3, 3, 3, 3, 3, 3 });
}

/* Only the VLAN has an address that goes beyond the link: then it is the VLAN. */
static void test_vlan_if_only_that(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", LINK_LOCAL "/64");
	struct netdev *vlan = add_netdev(&f, "eth0.7", LINK_VLAN, MAC, "198.51.100.8/24");
	vlan->vlan_id = num(7);
	vlan->lower_ifindex = f.host->netdevs.items[0]->ifindex;
	add_pair(&f, 0, LINK_LOCAL, "eth0");
	add_pair(&f, 2, "198.51.100.8", "eth0.7");
	judge(&f);
	assert_int_equal(chosen(&f, gid_choose_rdmadiag, NULL), 3);
	fixture_free(&f);
}

static void test_netdev_down(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "192.0.2.1/24");
	struct netdev *vlan = add_netdev(&f, "eth0.7", LINK_VLAN, MAC, "198.51.100.8/24");
	vlan->vlan_id = num(7);
	vlan->lower_ifindex = f.host->netdevs.items[0]->ifindex;
	f.host->netdevs.items[0]->admin_up = FLAG_NO;
	add_pair(&f, 0, "192.0.2.1", "eth0");
	add_pair(&f, 2, "198.51.100.8", "eth0.7");
	judge(&f);
	assert_int_equal(chosen(&f, gid_choose_rdmadiag, NULL), 3);
	fixture_free(&f);
}

static void test_g41_zero_node_guid(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "192.0.2.1/24");
	f.device->node_guid = "0000:0000:0000:0000";
	add_pair(&f, 0, "192.0.2.1", "eth0");
	expect(&f, (struct expected){ 1, 1, 1, 1, 1, NONE });
}

static void test_infiniband(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_INFINIBAND, 8);
	struct netdev *ipoib = set_port_netdev(&f, add_netdev(&f, "ib0", LINK_IPOIB, NULL, "192.0.2.1/24"));
	ipoib->mac_length = 20;
	add_gid(&f, 0, "fe80::15:5d00:0:1", GID_TYPE_IB, NULL);
	memcpy(ipoib->mac_bytes + 4, entry_at(&f, 0)->bytes, 16);
	expect(&f, (struct expected){ 0, 0, 0, NONE, 0, 0 });
}

/* NCCL takes slot 1 when its GID has a FLID. */
static void test_infiniband_with_flid(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_INFINIBAND, 8);
	add_gid(&f, 0, "fe80::15:5d00:0:1", GID_TYPE_IB, NULL);
	add_gid(&f, 1, "fe80:0:1234:1:15:5d00:0:1", GID_TYPE_IB, NULL);
	judge(&f);
	char *off[] = { "NCCL_IB_ROUTABLE_FLID_GID_INDEX=0", NULL };
	assert_int_equal(chosen(&f, gid_choose_nccl, NULL), 1);
	assert_int_equal(chosen(&f, gid_choose_nccl, off), 0);
	fixture_free(&f);
}

static struct fixture usual_table(void)
{
	struct fixture f = roce("eth0", "192.0.2.6/24 10.9.0.6/16 " LINK_LOCAL "/64");
	add_pair(&f, 0, LINK_LOCAL, "eth0");
	add_pair(&f, 2, "192.0.2.6", "eth0");
	add_pair(&f, 4, "10.9.0.6", "eth0");
	judge(&f);
	return f;
}

static int64_t with(struct fixture *fixture, gid_rule rule, char *a, char *b)
{
	char *variables[] = { a, b, NULL };
	return chosen(fixture, rule, variables);
}

static void test_nccl_environment(void **state)
{
	(void)state;
	struct fixture f = usual_table();
	gid_rule nccl = gid_choose_nccl;
	assert_int_equal(with(&f, nccl, "NCCL_IB_GID_INDEX=1", NULL), 1);
	assert_int_equal(with(&f, nccl, "NCCL_IB_GID_INDEX=", NULL), 3); /* empty: not set */
	assert_int_equal(with(&f, nccl, "NCCL_IB_GID_INDEX=-1", NULL), 3);
	assert_int_equal(with(&f, nccl, "NCCL_IB_GID_INDEX=none", NULL), 0); /* no digits: 0 */
	assert_int_equal(with(&f, nccl, "NCCL_IB_GID_INDEX=0x4", NULL), 4);
	assert_int_equal(with(&f, nccl, "NCCL_IB_GID_INDEX=77", NULL), 77); /* unchecked */
	assert_int_equal(with(&f, nccl, "NCCL_IB_ROCE_VERSION_NUM=1", NULL), 2);
	assert_int_equal(with(&f, nccl, "NCCL_IB_ADDR_RANGE=10.9.0.0/16", NULL), 5);
	assert_int_equal(with(&f, nccl, "NCCL_IB_ADDR_RANGE=10.9.0.0", NULL), 3);       /* no length: ignored */
	assert_int_equal(with(&f, nccl, "NCCL_IB_ADDR_RANGE=10.9.0.0/64", NULL), 3);    /* too long: ignored */
	assert_int_equal(with(&f, nccl, "NCCL_IB_ADDR_RANGE=203.0.113.0/24", NULL), 0); /* nothing fits */
	assert_int_equal(with(&f, nccl, "NCCL_IB_ADDR_RANGE=10.9.0.0/-1", NULL), 0);    /* negative: nothing fits */
	assert_int_equal(with(&f, nccl, "NCCL_IB_ADDR_RANGE=10.9.0.0/", NULL), 3);      /* no digits: all fit */
	assert_int_equal(with(&f, nccl, "NCCL_IB_ADDR_FAMILY=AF_INET6", NULL), 0);      /* only link-local */
	assert_int_equal(with(&f, nccl, "NCCL_IB_ADDR_FAMILY=", NULL), 3);
	assert_int_equal(with(&f, nccl, "NCCL_IB_GID_INDEX_OTHER=1", NULL), 3);
	fixture_free(&f);
}

static const char *nccl_reason(struct fixture *fixture, char *variable)
{
	char *variables[] = { variable, NULL };
	struct gid_environment environment = { .variables = variables };
	fixture->document.choices.count = 0;
	assert_int_equal(gid_explain(fixture->host, &environment, &fixture->document), 0);
	return fixture->document.choices.items[1]->reason; /* the second consumer */
}

/* The device is mlx5_0, port 1. */
static void test_nccl_devices(void **state)
{
	(void)state;
	static const char *const used[] = { "mlx5_0", "mlx5", "mlx5_9,mlx5_0:1", "=mlx5_0", "^mlx5_1", "^=mlx5", "",
		"=", "mlx5_0:-1", "^mlx5_0:2", "mlx5_0:", "=mlx5_0:1:0:2", "mlx5_0::3", ",,=,mlx5_0", ":2" };
	static const char *const unused[] = { "mlx5_1", "=mlx5", "=mlx5_00", "^mlx5", "^=mlx5_0", "mlx5_0:2",
		"bnxt,irdma", "mlx5_00", "^", "=mlx5_0:2:1", "^mlx5_0:", "mlx5_1,:1", "MLX5_0", " mlx5_0" };
	struct fixture f = usual_table();
	char variable[64];
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		snprintf(variable, sizeof(variable), "NCCL_IB_HCA=%s", used[i]);
		assert_int_equal(with(&f, gid_choose_nccl, variable, NULL), 3);
	}
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
		snprintf(variable, sizeof(variable), "NCCL_IB_HCA=%s", unused[i]);
		assert_non_null(strstr(nccl_reason(&f, variable), "not used by NCCL: NCCL_IB_HCA="));
		assert_non_null(strstr(nccl_reason(&f, variable), " fits no port of any device here ("));
	}
	struct rdma_device *other = list_add(f.host->arena, &f.host->devices);
	other->name = "mlx5_1";
	struct port *port = list_add(f.host->arena, &other->ports);
	port->number = num(1);
	assert_null(strstr(nccl_reason(&f, "NCCL_IB_HCA=mlx5_1"), " fits no port"));
	assert_non_null(strstr(nccl_reason(&f, "NCCL_IB_HCA=mlx5_7"), " fits no port"));
	other->ports.count = 0; /* which it has is not known */
	assert_null(strstr(nccl_reason(&f, "NCCL_IB_HCA=mlx5_7"), " fits no port"));
	assert_non_null(strstr(nccl_reason(&f, "NCCL_IB_DISABLE=1"), "NCCL_IB_DISABLE"));
	assert_int_equal(with(&f, gid_choose_nccl, "NCCL_IB_DISABLE=0", NULL), 3);
	assert_int_equal(with(&f, gid_choose_nccl, "NCCL_NET=ib", NULL), 3);
	assert_int_equal(with(&f, gid_choose_nccl, "NCCL_NET=Socket", NULL), NONE);
	assert_int_equal(with(&f, gid_choose_nccl, "NCCL_NET=", NULL), NONE); /* a transport without a name */
	assert_non_null(strstr(nccl_reason(&f, "NCCL_NET=AWS Libfabric"), "not used: NCCL_NET=AWS Libfabric ("));
	/* what is passed over, and what was not kept */
	assert_non_null(strstr(nccl_reason(&f, "NCCL_IB_ADDR_FAMILY=IPv6"), ", NCCL_IB_ADDR_FAMILY=IPv6 is ignored"));
	assert_null(strstr(nccl_reason(&f, "NCCL_IB_ADDR_FAMILY="), "ignored"));
	assert_null(strstr(nccl_reason(&f, "NCCL_IB_ADDR_RANGE="), "ignored"));
	assert_null(strstr(nccl_reason(&f, "NCCL_IB_ADDR_RANGE=192.0.2.0/24"), "ignored"));
	assert_non_null(strstr(nccl_reason(&f, "NCCL_IB_ADDR_RANGE=192.0.2.0"), "is ignored: no IPv4 subnet"));
	assert_non_null(strstr(nccl_reason(&f, "NCCL_IB_ADDR_RANGE=192.0.2.0/33"), "is ignored: no IPv4 subnet"));
	assert_non_null(strstr(nccl_reason(&f, "NCCL_IB_ADDR_RANGE=fd00::/8"), "is ignored: no IPv4 subnet"));
	assert_non_null(strstr(nccl_reason(&f, "NCCL_IB_ADDR_RANGE=203.0.113.0/24"), "family, NCCL_IB_ADDR_RANGE and"));
	assert_non_null(strstr(nccl_reason(&f, "NCCL_IB_GID_INDEX=abc"), "=0 (\"abc\" is read as that number)"));
	assert_null(strstr(nccl_reason(&f, "NCCL_IB_GID_INDEX=0x3"), "is read as"));
	/* IPv4 is there: another family is no remedy for a version that was asked for */
	assert_non_null(strstr(
	        nccl_reason(&f, "NCCL_IB_ADDR_FAMILY=AF_INET6"), "; set NCCL_IB_GID_INDEX=3 to get the advised index"));
	assert_null(strstr(nccl_reason(&f, "NCCL_IB_ADDR_FAMILY=AF_INET6"), "NCCL_IB_ADDR_FAMILY=AF_INET6 to get"));
	/* an index that was set is taken unchecked: what is wrong with it is said here */
	assert_non_null(strstr(nccl_reason(&f, "NCCL_IB_GID_INDEX=0"),
	        "; no router forwards RoCE v1; set NCCL_IB_GID_INDEX=3 to get the advised index"));
	const char *empty = nccl_reason(&f, "NCCL_IB_GID_INDEX=200");
	assert_non_null(strstr(empty, "taken unchecked: the slot is empty"));
	assert_non_null(strstr(empty, "); set NCCL_IB_GID_INDEX=3 to get the advised index"));
	assert_null(strstr(nccl_reason(&f, "NCCL_IB_GID_INDEX=3"), "to get the advised"));
	fixture_free(&f);
}

static void test_nccl_files(void **state)
{
	(void)state;
	struct fixture f = usual_table();
	struct strings lines = { 0 };
	const char *user = "# NCCL_IB_GID_INDEX=1\r\nNCCL_IB_ROCE_VERSION_NUM=1\r\nNCCL_DEBUG\n\nNCCL_IB_GID_INDEX =4";
	assert_int_equal(nccl_conf_parse(f.host->arena, user, &lines), 0);
	assert_int_equal(lines.count, 2);
	assert_int_equal(nccl_conf_parse(f.host->arena, "NCCL_IB_ROCE_VERSION_NUM=2\n", &lines), 0);
	struct gid_port port = gid_port_of(f.host, &f.document, f.table);
	struct gid_environment files = { .nccl_conf = &lines };
	struct gid_choice choice = { 0 };
	gid_choose_nccl(f.host->arena, &port, &files, &choice);
	assert_true(num_is(choice.index, 2)); /* v1: the first file counts, a blank belongs to the name */
	char *variables[] = { "NCCL_IB_ROCE_VERSION_NUM=2", NULL };
	files.variables = variables;
	choice = (struct gid_choice){ 0 };
	gid_choose_nccl(f.host->arena, &port, &files, &choice);
	assert_true(num_is(choice.index, 3));
	choice = (struct gid_choice){ 0 };
	gid_choose_ucx(f.host->arena, &port, &files, &choice);
	assert_true(num_is(choice.index, 3));
	fixture_free(&f);
}

static void write_text(const char *directory, const char *name, const char *text)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* The first line of what is read of this host with these variables; NULL: nothing. */
static void nccl_reads(char **variables, const char *first)
{
	struct host *host = host_new();
	struct strings lines = { 0 };
	const struct gid_environment environment = { .variables = variables };
	assert_int_equal(nccl_conf_read(host->arena, &environment, &lines), 0);
	assert_int_equal(lines.count, first ? 1 : 0);
	if (first)
		assert_string_equal(lines.items[0], first);
	host_free(host);
}

/* The file that NCCL_CONF_FILE names instead of that in the home directory; none of the system is here. */
static void test_places_of_nccl_files(void **state)
{
	(void)state;
	char directory[] = "/tmp/rdmadiag-nccl.XXXXXX", home[PATH_MAX], named[PATH_MAX];
	if (!access("/etc/nccl.conf", F_OK))
		skip();
	assert_non_null(mkdtemp(directory));
	snprintf(home, sizeof(home), "HOME=%s", directory);
	snprintf(named, sizeof(named), "NCCL_CONF_FILE=%s/other", directory);
	char *nothing[] = { NULL }, *at_home[] = { home, NULL }, *both[] = { home, named, NULL };
	nccl_reads(nothing, NULL);
	nccl_reads(at_home, NULL);
	write_text(directory, ".nccl.conf", "NCCL_IB_GID_INDEX=5\n");
	nccl_reads(at_home, "NCCL_IB_GID_INDEX=5");
	nccl_reads(both, NULL); /* it is not there, and the other one is not looked at */
	write_text(directory, "other", "# for one job\nNCCL_IB_GID_INDEX=7\n");
	nccl_reads(both, "NCCL_IB_GID_INDEX=7");
	nccl_reads(nothing, NULL);
	static const char *const files[] = { ".nccl.conf", "other", "" };
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(home, sizeof(home), "%s/%s", directory, files[i]);
		assert_int_equal(remove(home), 0);
	}
}

/* Up to 6.28 a higher version replaces a lower one, whatever its family. */
static void test_perftest_of_before(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "192.0.2.6/24 " LINK_LOCAL "/64");
	add_gid(&f, 1, "192.0.2.6", V1, "eth0");
	add_gid(&f, 2, LINK_LOCAL, V2, "eth0");
	judge(&f);
	struct gid_port port = gid_port_of(f.host, &f.document, f.table);
	struct gid_choice choice = { 0 };
	gid_choose_perftest(f.host->arena, &port, NULL, &choice);
	assert_true(num_is(choice.index, 1));
	assert_non_null(strstr(choice.reason, "up to 6.28: 2"));
	fixture_free(&f);
}

/* Slot 0 is empty, so that nothing but IPv4 replaces it. */
static void test_perftest_of_before_takes_empty_slots(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "2001:db8::6/64");
	add_gid(&f, 4, "2001:db8::6", V2, "eth0");
	judge(&f);
	struct gid_port port = gid_port_of(f.host, &f.document, f.table);
	struct gid_choice choice = { 0 };
	gid_choose_perftest(f.host->arena, &port, NULL, &choice);
	assert_true(num_is(choice.index, 4));
	assert_non_null(strstr(choice.reason, "up to 6.28: 0, which is empty"));
	fixture_free(&f);
}

static void test_ucx_environment(void **state)
{
	(void)state;
	struct fixture f = usual_table();
	gid_rule ucx = gid_choose_ucx;
	assert_int_equal(with(&f, ucx, "UCX_IB_GID_INDEX=auto", NULL), 3);
	assert_int_equal(with(&f, ucx, "UCX_IB_GID_INDEX=1", NULL), 1);
	assert_int_equal(with(&f, ucx, "UCX_IB_GID_INDEX=", NULL), NONE);
	assert_int_equal(with(&f, ucx, "UCX_IB_GID_INDEX=9", NULL), NONE); /* an empty slot */
	assert_int_equal(with(&f, ucx, "UCX_IB_ROCE_SUBNETS=10.9.0.0/16", NULL), 5);
	assert_int_equal(with(&f, ucx, "UCX_IB_ROCE_SUBNETS=^192.0.2.0/24", NULL), 5);
	assert_int_equal(with(&f, ucx, "UCX_IB_ROCE_SUBNETS=all", NULL), 3);
	assert_int_equal(with(&f, ucx, "UCX_IB_ROCE_SUBNETS=203.0.113.0/24", NULL), NONE);
	assert_int_equal(with(&f, ucx, "UCX_IB_ROCE_SUBNETS=nonsense/24", NULL), NONE);
	assert_int_equal(with(&f, ucx, "UCX_IB_ROCE_SUBNETS=192.0.2.6", NULL), NONE); /* a length is needed */
	assert_int_equal(with(&f, ucx, "UCX_IB_ROCE_SUBNETS=10.9.0.0/16", "UCX_IB_GID_INDEX=3"), NONE);
	f.port->state = "DOWN";
	assert_int_equal(chosen(&f, ucx, NULL), NONE);
	fixture_free(&f);
}

static void test_mooncake_environment(void **state)
{
	(void)state;
	struct fixture f = usual_table();
	gid_rule mooncake = gid_choose_mooncake;
	assert_int_equal(with(&f, mooncake, "MC_GID_INDEX=5", NULL), 5);
	assert_int_equal(with(&f, mooncake, "MC_IB_PORT=1", NULL), 3);
	assert_int_equal(with(&f, mooncake, "MC_IB_PORT=2", NULL), NONE);
	assert_int_equal(with(&f, mooncake, "MC_IB_PORT=0", NULL), 3); /* ignored */
	assert_int_equal(with(&f, mooncake, "MC_IB_PORT=-1", NULL), 3);
	assert_int_equal(with(&f, mooncake, "MC_IB_PORT=256", NULL), 3);
	assert_int_equal(with(&f, mooncake, "MC_GID_INDEX=", NULL), 0); /* empty: atoi() gives 0 */
	assert_int_equal(with(&f, mooncake, "NCCL_IB_GID_INDEX=1", NULL), 1);
	assert_int_equal(with(&f, mooncake, "NCCL_IB_GID_INDEX=1", "MC_GID_INDEX=4"), 4);
	assert_int_equal(with(&f, mooncake, "MC_GID_INDEX=300", NULL), 3);
	assert_int_equal(with(&f, mooncake, "MC_GID_INDEX=-1", NULL), 3);
	assert_int_equal(with(&f, mooncake, "MC_GID_INDEX=9", NULL), NONE);
	fixture_free(&f);
}

/* Up to 1.20 the first IPv6 entry was as good as one that is routable. */
/* The device is mlx5_0, port 1. */
static void test_ucx_transports(void **state)
{
	(void)state;
	static const char *const used[] = { "", "all", "rc", "sm,rc_x,tcp", "ib", "ud_verbs", "\\dc_mlx5", "rc:aux",
		"^tcp", "^rc,ud", "^ib:aux", "self,srd" };
	static const char *const unused[] = { "tcp", "self,sm,tcp", "^ib", "^tcp,ib", "cuda_copy,shm", "rcx" };
	struct fixture f = usual_table();
	char variable[64];
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		snprintf(variable, sizeof(variable), "UCX_TLS=%s", used[i]);
		assert_int_equal(with(&f, gid_choose_ucx, variable, NULL), 3);
	}
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
		snprintf(variable, sizeof(variable), "UCX_TLS=%s", unused[i]);
		assert_int_equal(with(&f, gid_choose_ucx, variable, NULL), NONE);
	}
	fixture_free(&f);
}

static void test_ucx_devices(void **state)
{
	(void)state;
	static const char *const used[] = { "all", "mlx5_0:1", "mlx5_0", "eth0,mlx5_0:1", "^mlx5_1", "^mlx5_0:2",
		"mlx5_[0-3]:1", "mlx5_[0-3]", "mlx5_0:[1-2]", ",mlx5_0:1", "^mlx5_[1-3]:1" };
	static const char *const unused[] = { "", "mlx5", "mlx5_0:2", "mlx5_1:1", "^mlx5_0", "^mlx5_0:1",
		"mlx5_[1-3]:1", "mlx5_[0-3]:2", "mlx5_[3-0]:1", "mlx5_[0-]:1", "mlx5_0:1x", "eth0" };
	struct fixture f = usual_table();
	char variable[64];
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		snprintf(variable, sizeof(variable), "UCX_NET_DEVICES=%s", used[i]);
		assert_int_equal(with(&f, gid_choose_ucx, variable, NULL), 3);
	}
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
		snprintf(variable, sizeof(variable), "UCX_NET_DEVICES=%s", unused[i]);
		assert_int_equal(with(&f, gid_choose_ucx, variable, NULL), NONE);
	}
	fixture_free(&f);
}

/* The second GID of a port that a subnet manager made routable. */
static void test_ucx_flid(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_INFINIBAND, 8);
	add_gid(&f, 0, "fe80::5aa2:e103:7:1", GID_TYPE_IB, NULL);
	add_gid(&f, 1, "fec0:0:c005:0:2:c900:0:1", GID_TYPE_IB, NULL);
	judge(&f);
	assert_int_equal(chosen(&f, gid_choose_ucx, NULL), 0); /* the OUI is another */
	assert_int_equal(chosen(&f, gid_choose_nccl, NULL), 1);
	fixture_free(&f);
	f = fixture_of(TRANSPORT_INFINIBAND, 8);
	add_gid(&f, 0, "fe80::5aa2:e103:7:1", GID_TYPE_IB, NULL);
	add_gid(&f, 1, "fec0:0:c005:0:14:500:0:1", GID_TYPE_IB, NULL);
	judge(&f);
	assert_int_equal(chosen(&f, gid_choose_ucx, NULL), 1);
	assert_int_equal(with(&f, gid_choose_ucx, "UCX_IB_FLID_ROUTE=n", NULL), 0);
	fixture_free(&f);
}

static void test_ucx_of_before(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "2001:db8::6/64 " LINK_LOCAL "/64");
	add_pair(&f, 0, LINK_LOCAL, "eth0");
	add_pair(&f, 2, "2001:db8::6", "eth0");
	judge(&f);
	struct gid_port port = gid_port_of(f.host, &f.document, f.table);
	struct gid_choice choice = { 0 };
	gid_choose_ucx(f.host->arena, &port, NULL, &choice);
	assert_true(num_is(choice.index, 3));
	assert_non_null(strstr(choice.reason, "; up to 1.20: 1"));
	fixture_free(&f);
}

static struct gid_choice choice_of_mooncake(struct fixture *f)
{
	judge(f);
	struct gid_port port = gid_port_of(f->host, &f->document, f->table);
	struct gid_choice choice = { 0 };
	gid_choose_mooncake(f->host->arena, &port, NULL, &choice);
	return choice;
}

/* 0.3.11 stopped at the first empty slot, and took IPv4 whatever its range. */
static void test_mooncake_of_before(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "10.9.0.6/16 2001:db8::6/64 " LINK_LOCAL "/64");
	add_pair(&f, 0, LINK_LOCAL, "eth0");
	add_pair(&f, 2, "10.9.0.6", "eth0");
	add_pair(&f, 5, "2001:db8::6", "eth0");
	struct gid_choice choice = choice_of_mooncake(&f);
	assert_true(num_is(choice.index, 6));
	assert_non_null(strstr(choice.reason, "; 0.3.10 and 0.3.11: 3"));
	fixture_free(&f);
}

/* Those versions preferred an entry whose netdev is shown. */
static void test_mooncake_of_before_wants_a_netdev(void **state)
{
	(void)state;
	struct fixture f = roce("eth0", "10.9.0.7/16");
	add_pair(&f, 0, "10.9.0.6", NULL); /* an address that no netdev has */
	add_pair(&f, 2, "10.9.0.7", "eth0");
	struct gid_choice choice = choice_of_mooncake(&f);
	assert_true(num_is(choice.index, 3));
	assert_null(strstr(choice.reason, "0.3.10"));
	fixture_free(&f);
}

static void test_rdma_cm_mode(void **state)
{
	(void)state;
	struct fixture f = usual_table();
	f.table->cm_mode = "IB/RoCE v1";
	assert_int_equal(chosen(&f, gid_choose_rdma_cm, NULL), 2);
	f.table->cm_mode = "RoCE v2";
	assert_int_equal(chosen(&f, gid_choose_rdma_cm, NULL), 3);
	fixture_free(&f);
}

/* ---- G08, G11: an index that moved ---- */

static void test_diff(void **state)
{
	(void)state;
	struct fixture before = roce("eth0", "192.0.2.6/24"), now = roce("eth0", "192.0.2.6/24");
	add_pair(&before, 0, LINK_LOCAL, "eth0");
	add_pair(&before, 2, "192.0.2.6", "eth0");
	add_gid(&before, 9, "192.0.2.9", V2, "eth0");
	add_gid(&now, 0, LINK_LOCAL, V1, "eth0");
	add_gid(&now, 1, LINK_LOCAL, V2, "eth0");
	add_gid(&now, 2, "192.0.2.6", V1, "eth0");
	add_gid(&now, 4, "192.0.2.6", V2, "eth0");
	add_gid(&now, 9, "2001:db8::9", V2, "eth0");
	assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, NULL, 0), 0);
	assert_int_equal(now.document.changes.count, 3);
	struct gid_change **changes = now.document.changes.items;
	assert_string_equal(changes[0]->kind, "moved");
	assert_true(num_is(changes[0]->from, 3) && num_is(changes[0]->to, 4));
	assert_string_equal(changes[0]->effect, "index 3 is now empty; its GID moved to 4");
	assert_string_equal(changes[1]->kind, "gone");
	assert_string_equal(changes[1]->effect, "index 9 now holds another GID; its GID is gone");
	assert_false(changes[1]->to.known);
	assert_string_equal(changes[2]->kind, "new");
	assert_false(changes[2]->from.known);
	fixture_free(&before);
	fixture_free(&now);
}

static void test_diff_of_equal_tables(void **state)
{
	(void)state;
	struct fixture before = usual_table(), now = usual_table();
	assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, NULL, 0), 0);
	assert_int_equal(now.document.changes.count, 0);
	now.document.entries.count = 0;
	struct strings other = { 0 }, mlx5_0 = { 0 };
	strings_add(now.host->arena, &other, "other");
	strings_add(now.host->arena, &mlx5_0, "mlx5_0");
	assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, &other, 0), 0);
	assert_int_equal(now.document.changes.count, 0);
	assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, &mlx5_0, 1), 0);
	assert_int_equal(now.document.changes.count, 6);
	fixture_free(&before);
	fixture_free(&now);
}

static void test_inactive_ports(void **state)
{
	(void)state;
	static const gid_rule rules[] = { gid_choose_nccl, gid_choose_ucx, gid_choose_perftest, gid_choose_mooncake };
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
		set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, "02:00:5e:10:00:01", "192.0.2.1/24"));
		add_pair(&f, 0, "192.0.2.1", "eth0");
		judge(&f);
		assert_int_equal(chosen(&f, rules[i], NULL), 1);
		f.port->state = "DOWN";
		assert_int_equal(chosen(&f, rules[i], NULL), NONE);
		f.port->state = NULL; /* not known */
		assert_int_equal(chosen(&f, rules[i], NULL), 1);
		fixture_free(&f);
	}
}

/* An empty slot reads as zeros, which NCCL takes for an IPv6 GID: better than the IPv4 one, worse than a valid one. */
static void test_nccl_takes_holes_for_ipv6(void **state)
{
	(void)state;
	char *const wants_ipv6[] = { (char *)"NCCL_IB_ADDR_FAMILY=AF_INET6", NULL };
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	set_port_netdev(&f, add_netdev(&f, "eth0", LINK_ETHERNET, "02:00:5e:10:00:01", "192.0.2.1/24 2001:db8::1/64"));
	add_gid(&f, 0, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	judge(&f);
	assert_int_equal(chosen(&f, gid_choose_nccl, wants_ipv6), 1);
	add_gid(&f, 3, "2001:db8::1", GID_TYPE_ROCE_V2, "eth0");
	judge(&f);
	assert_int_equal(chosen(&f, gid_choose_nccl, wants_ipv6), 3);
	fixture_free(&f);
}

/* A port in software sends through the netdev that it stands on, be it a veth; what stands above is an overlay. */
static void test_own_netdev_is_no_overlay(void **state)
{
	(void)state;
	struct fixture f = fixture_of(TRANSPORT_ROCE, 16);
	set_port_netdev(&f, add_netdev(&f, "veth0", LINK_VETH, "02:00:5e:10:00:01", "192.0.2.1/24"));
	add_gid(&f, 0, "192.0.2.1", GID_TYPE_ROCE_V2, "veth0");
	judge(&f);
	struct gid_port port = gid_port_of(f.host, &f.document, f.table);
	struct gid_choice choice = { 0 };
	gid_choose_rdmadiag(f.host->arena, &port, NULL, &choice);
	assert_true(num_is(choice.index, 0));
	assert_null(strstr(choice.reason, "overlay"));
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inactive_ports),
		cmocka_unit_test(test_nccl_takes_holes_for_ipv6),
		cmocka_unit_test(test_own_netdev_is_no_overlay),
		cmocka_unit_test(test_g01_usual_table),
		cmocka_unit_test(test_g04_sparse_table),
		cmocka_unit_test(test_g05_another_index_in_each_pod),
		cmocka_unit_test(test_g07_first_usable_is_two),
		cmocka_unit_test(test_g13_no_gid),
		cmocka_unit_test(test_g14_foreign_entry_first),
		cmocka_unit_test(test_g16_overlay_has_the_lower_index),
		cmocka_unit_test(test_g17_v1_only_with_vlan),
		cmocka_unit_test(test_g19_two_link_local_pairs),
		cmocka_unit_test(test_g20_ipv6_only),
		cmocka_unit_test(test_g22_two_of_256),
		cmocka_unit_test(test_g23_private_fabric),
		cmocka_unit_test(test_g25_old_kernel),
		cmocka_unit_test(test_g26_efa),
		cmocka_unit_test(test_g28_irdma),
		cmocka_unit_test(test_g29_stale_first_entry),
		cmocka_unit_test(test_g38_vlan_on_bond),
		cmocka_unit_test(test_vlan_if_only_that),
		cmocka_unit_test(test_netdev_down),
		cmocka_unit_test(test_g41_zero_node_guid),
		cmocka_unit_test(test_infiniband),
		cmocka_unit_test(test_infiniband_with_flid),
		cmocka_unit_test(test_nccl_environment),
		cmocka_unit_test(test_nccl_devices),
		cmocka_unit_test(test_nccl_files),
		cmocka_unit_test(test_places_of_nccl_files),
		cmocka_unit_test(test_mooncake_of_before),
		cmocka_unit_test(test_mooncake_of_before_wants_a_netdev),
		cmocka_unit_test(test_ucx_of_before),
		cmocka_unit_test(test_perftest_of_before),
		cmocka_unit_test(test_perftest_of_before_takes_empty_slots),
		cmocka_unit_test(test_ucx_environment),
		cmocka_unit_test(test_ucx_devices),
		cmocka_unit_test(test_ucx_transports),
		cmocka_unit_test(test_ucx_flid),
		cmocka_unit_test(test_mooncake_environment),
		cmocka_unit_test(test_rdma_cm_mode),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_diff_of_equal_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
