/* SPDX-License-Identifier: MIT */
/* Join and findings on hosts made by hand. */
#include "host_fixture.h"

#include "check/topo.h"
#include "source/collect.h"
#include "source/join.h"

#include <errno.h>
#include <stdio.h>

static struct numa_node *add_node(int id, int package, const char *cpus)
{
	struct numa_node *node = list_add(host->arena, &host->numa_nodes);
	node->id = num(id);
	node->package = num(package);
	node->cpus = cpus;
	return node;
}

static struct pci_hop *add_hop(struct pci_function *function, const char *address, enum pci_kind kind, int speed,
        int width, int max_speed, int max_width)
{
	struct pci_hop *hop = list_add(host->arena, &host->pci_hops);
	*hop = (struct pci_hop){ .address = address,
		.kind = (int)kind,
		.speed_mtps = num(speed),
		.width = num(width),
		.max_speed_mtps = num(max_speed),
		.max_width = num(max_width) };
	list_add_existing(host->arena, &function->path, hop);
	return hop;
}

static struct pci_function *add_function(const char *address, int node, const char *cpus)
{
	struct pci_function *function = list_add(host->arena, &host->pci_functions);
	function->address = address;
	function->numa_node = node < 0 ? (struct num){ 0 } : num(node);
	function->without_node = node < 0;
	function->local_cpus = cpus;
	function->vendor = num(0x15b3);
	function->driver = "mlx5_core";
	return function;
}

static struct netdev *add_netdev(int index, const char *name, struct pci_function *function)
{
	struct netdev *netdev = list_add(host->arena, &host->netdevs);
	netdev->name = name;
	netdev->ifindex = num(index);
	netdev->kind = LINK_ETHERNET;
	netdev->pci = function;
	return netdev;
}

static struct rdma_device *add_device(const char *name, struct pci_function *function, int ifindex)
{
	struct rdma_device *device = list_add(host->arena, &host->devices);
	device->name = name;
	device->pci = function;
	device->parent_path = function ? function->address : NULL;
	struct port *port = list_add(host->arena, &device->ports);
	port->number = num(1);
	port->link_layer = LINK_LAYER_ETHERNET;
	port->transport = TRANSPORT_ROCE;
	port->state = "ACTIVE";
	if (ifindex)
		port->netdev_ifindex = num(ifindex);
	return device;
}

static struct netdev *add_bond(int index, const char *name, const char *mode)
{
	struct netdev *bond = add_netdev(index, name, NULL);
	bond->kind = LINK_BOND;
	bond->bond_facts = arena_new_object(host->arena, struct bond_facts);
	bond->bond_facts->mode = mode;
	return bond;
}

static struct netdev *add_member(int index, const char *name, const struct netdev *bond, struct pci_function *function)
{
	struct netdev *member = add_netdev(index, name, function);
	member->master_ifindex = bond->ifindex;
	member->slave = arena_new_object(host->arena, struct bond_slave);
	member->slave->mii_status = "up";
	member->slave->state = "active";
	return member;
}

static const struct finding *find(const char *id, const char *subject)
{
	list_each(finding, &host->report.findings)
		if (!strcmp(finding->id, id) && !strcmp(finding->subject, subject))
			return finding;
	return NULL;
}

static void check(void)
{
	join_host(host);
	check_topo(host, &host->report);
}

static void two_packages(void)
{
	add_node(0, 0, "0-7");
	add_node(1, 0, "8-15");
	add_node(2, 1, "16-23");
}

static void members_on_nodes_of_one_package(void **state)
{
	(void)state;
	two_packages();
	struct netdev *bond = add_bond(9, "bond0", "active-backup");
	add_member(1, "eth0", bond, add_function("0000:17:00.0", 0, "0-7"));
	add_member(2, "eth1", bond, add_function("0000:3a:00.0", 1, "8-15"));
	add_device("mlx5_bond_0", NULL, 9);
	check();
	assert_non_null(find("bond-members-on-different-nodes", "net:bond0"));
	assert_null(find("bond-members-on-different-packages", "net:bond0"));
	assert_int_equal(find("bond-members-on-different-adapters", "net:bond0")->severity, SEVERITY_INFO);
}

static void members_on_packages(void **state)
{
	(void)state;
	two_packages();
	struct netdev *bond = add_bond(9, "bond0", "active-backup");
	add_member(1, "eth0", bond, add_function("0000:17:00.0", 0, "0-7"));
	add_member(2, "eth1", bond, add_function("0000:3a:00.0", 2, "16-23"));
	add_device("mlx5_bond_0", NULL, 1); /* the kernel may name a member */
	check();
	assert_non_null(find("bond-members-on-different-packages", "net:bond0"));
	assert_null(find("bond-members-on-different-nodes", "net:bond0"));
}

/* Sixteen ports may be in one team: their places are longer than a line, and what is left out is seen to be. */
static void many_members_on_packages(void **state)
{
	(void)state;
	static char names[16][24], addresses[16][16];
	two_packages();
	struct netdev *bond = add_bond(99, "team0", "802.3ad");
	for (int i = 0; i < 16; i++) {
		snprintf(names[i], sizeof(names[i]), "enp%ds0f%dnp%d", 100 + i, i % 2, i % 2);
		snprintf(addresses[i], sizeof(addresses[i]), "0000:%02x:00.0", 16 + i);
		add_member(i + 1, names[i], bond, add_function(addresses[i], i < 8 ? 0 : 2, i < 8 ? "0-7" : "16-23"));
	}
	add_device("mlx5_bond_0", NULL, 99);
	check();
	const struct finding *finding = find("bond-members-on-different-packages", "net:team0");
	assert_non_null(finding);
	const char *list = strstr(finding->message, "enp100s0f0np0 on node 0 (package 0), enp101s0f1np1 on node 0");
	assert_non_null(list);
	assert_int_equal(strlen(list), 399);
	assert_string_equal(list + strlen(list) - strlen("…"), "…");
}

/* -1 is unknown: neither equal to anything nor different from it. */
static void members_on_unknown_nodes(void **state)
{
	(void)state;
	two_packages();
	struct netdev *bond = add_bond(9, "bond0", "active-backup");
	add_member(1, "eth0", bond, add_function("0000:17:00.0", 0, "0-7"));
	add_member(2, "eth1", bond, add_function("0000:17:00.1", -1, "0-23"));
	add_device("mlx5_bond_0", NULL, 9);
	check();
	assert_null(find("bond-members-on-different-nodes", "net:bond0"));
	assert_null(find("bond-members-on-different-packages", "net:bond0"));
	assert_null(find("bond-members-on-different-adapters", "net:bond0"));
}

static void is_lost(const char *churn, const char *wanted)
{
	struct netdev *bond = add_bond(9, "bond0", "802.3ad");
	bond->bond_facts->aggregator_id = num(2);
	struct netdev *lost = add_member(1, "enp7s0", bond, NULL), *good = add_member(2, "enp8s0", bond, NULL);
	lost->slave->aggregator_id = num(1);
	lost->slave->churn = churn;
	good->slave->aggregator_id = num(2);
	good->slave->actor_port_state = good->slave->partner_port_state = num(61);
	add_device("mlx5_bond_0", NULL, 9);
	check();
	const struct finding *finding = find("bond-member-in-wrong-aggregator", "net:bond0");
	assert_non_null(finding);
	assert_non_null(strstr(finding->message, wanted));
	const struct bond *joined = host->devices.items[0]->ports.items[0]->netdevs.items[0]->bond;
	assert_int_equal(joined->members.items[0]->active, FLAG_NO);
	assert_int_equal(joined->members.items[1]->active, FLAG_YES);
	assert_int_equal(joined->members.items[1]->in_sync, FLAG_YES);
}

static void wrong_aggregator(void **state)
{
	(void)state;
	is_lost("churned", "1 of 2 members active: enp7s0 is in aggregator 1, churn state churned, active is 2");
}

/* The churn state stands in /proc/net/bonding only, which another namespace does not show. */
static void wrong_aggregator_by_netlink_alone(void **state)
{
	(void)state;
	is_lost(NULL, "1 of 2 members active: enp7s0 is in aggregator 1, active is 2");
}

static void lone_member_and_claims(void **state)
{
	(void)state;
	struct netdev *bond = add_bond(9, "bond1", "802.3ad");
	add_member(1, "eth0", bond, NULL);
	add_device("hns_0", NULL, 9);
	add_device("hns_1", NULL, 9);
	check();
	assert_non_null(find("bond-single-member", "net:bond1"));
	const struct finding *finding = find("bond-claimed-by-several-devices", "net:bond1");
	assert_non_null(finding);
	assert_non_null(strstr(finding->message, "hns_0, hns_1"));
}

static void mixed_speeds(void **state)
{
	(void)state;
	struct netdev *bond = add_bond(9, "bond0", "active-backup");
	add_member(1, "eth0", bond, NULL)->speed_mbps = num(25000);
	add_member(2, "eth1", bond, NULL)->speed_mbps = num(10000);
	add_device("mlx5_bond_0", NULL, 9);
	check();
	assert_non_null(find("bond-mixed-speeds", "net:bond0"));
}

static void downtrained_link(void **state)
{
	(void)state;
	struct pci_function *function = add_function("0000:19:00.0", 0, "0-7");
	add_hop(function, "0000:16:01.0", PCI_ROOT_PORT, 16000, 16, 16000, 16);
	add_hop(function, "0000:17:00.0", PCI_SWITCH_UPSTREAM, 16000, 16, 16000, 16);
	add_hop(function, "0000:18:00.0", PCI_SWITCH_DOWNSTREAM, 8000, 8, 16000, 16);
	add_hop(function, "0000:19:00.0", PCI_ENDPOINT, 8000, 8, 16000, 16);
	add_device("mlx5_0", function, 0);
	check();
	const struct finding *finding = find("pcie-link-downtrained", "pci:0000:19:00.0");
	assert_non_null(finding);
	assert_non_null(strstr(finding->message, "x8 at 8 GT/s of x16 at 16 GT/s, the narrowest of the path"));
	assert_null(find("pcie-link-downtrained", "pci:0000:18:00.0")); /* the same link, told once */
	assert_null(find("pcie-link-downtrained", "pci:0000:17:00.0"));
}

static void slot_limits(void **state)
{
	(void)state;
	struct pci_function *function = add_function("0000:17:00.0", 0, "0-7");
	add_hop(function, "0000:16:01.0", PCI_ROOT_PORT, 8000, 8, 8000, 8);
	add_hop(function, "0000:17:00.0", PCI_ENDPOINT, 8000, 8, 16000, 16);
	add_device("mlx5_0", function, 0);
	check();
	assert_non_null(find("pcie-slot-limits-adapter", "pci:0000:17:00.0"));
	assert_null(find("pcie-link-downtrained", "pci:0000:17:00.0"));
}

static void process_elsewhere(void **state)
{
	(void)state;
	two_packages();
	add_device("mlx5_0", add_function("0000:17:00.0", 0, "0-7"), 0);
	host->process.cpus = "16-23";
	host->process.memory_policy = "bind";
	host->process.memory_nodes = "2";
	check();
	assert_non_null(strstr(find("process-on-another-node", "mlx5_0")->message, "node 2 only, mlx5_0 is on node 0"));
	assert_non_null(find("memory-policy-elsewhere", "mlx5_0"));
}

static void process_on_cpus_of_no_node(void **state)
{
	(void)state;
	two_packages();
	add_device("mlx5_0", add_function("0000:17:00.0", 0, "0-7"), 0);
	host->process.cpus = "100-101";
	check();
	const char *message = find("process-on-another-node", "mlx5_0")->message;
	assert_non_null(strstr(message, "CPUs 100-101 only, which are of no node that is known"));
	assert_null(strstr(message, "package"));
}

static void memory_policies(void **state)
{
	(void)state;
	static const char *const policies[] = { "interleave", "weighted-interleave", "preferred-many" };
	two_packages();
	host->process.memory_nodes = "2";
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		char name[16];
		snprintf(name, sizeof(name), "mlx5_%zu", i);
		host->process.memory_policy = policies[i];
		host->devices.count = 0;
		add_device(arena_strdup(host->arena, name), add_function("0000:17:00.0", 0, "0-7"), 0);
		check();
		assert_non_null(find("memory-policy-elsewhere", name));
	}
	host->process.memory_policy = "local";
	host->devices.count = 0;
	add_device("mlx5_9", add_function("0000:17:00.0", 0, "0-7"), 0);
	check();
	assert_null(find("memory-policy-elsewhere", "mlx5_9"));
}

static void cut_short(void **state)
{
	(void)state;
	two_packages();
	report_missing(&host->report, "verbs", "host", -ETIMEDOUT, "one call");
	check();
	assert_null(find("collecting-cut-short", "host"));
	report_missing(&host->report, "everything after this", "host", -ETIMEDOUT,
	        "collecting ended at its deadline of 14000 ms");
	check();
	const struct finding *finding = find("collecting-cut-short", "host");
	assert_non_null(finding);
	assert_int_equal(finding->severity, SEVERITY_WARNING);
	assert_string_equal(finding->message,
	        "collecting ended at its deadline of 14000 ms: what came after that was not looked at");
}

static void unknown_node(void **state)
{
	(void)state;
	two_packages();
	add_device("mlx5_0", add_function("0000:17:00.0", -1, "0-23"), 0);
	host->process.cpus = "16-23";
	check();
	assert_non_null(find("numa-node-unknown", "mlx5_0"));
	assert_null(find("process-on-another-node", "mlx5_0"));
}

static void crossing_map(void **state)
{
	(void)state;
	add_node(0, 0, "0-31,64-95");
	add_node(1, 0, "32-63,96-127");
	for (int i = 0; i < 2; i++) {
		struct package *package = list_add(host->arena, &host->packages);
		package->id = num(i);
		package->cpus = i ? "64-127" : "0-63";
	}
	check();
	assert_non_null(find("numa-nodes-cross-packages", "host"));
}

static void ports(void **state)
{
	(void)state;
	struct rdma_device *infiniband = add_device("mlx5_1", NULL, 0), *down = add_device("mlx5_2", NULL, 0);
	infiniband->ports.items[0]->link_layer = LINK_LAYER_INFINIBAND;
	infiniband->ports.items[0]->state = "INIT";
	down->ports.items[0]->state = "DOWN";
	down->node_guid = "0000:0000:0000:0000";
	down->uverbs.accessible = FLAG_NO;
	down->uverbs.reason = "none";
	add_netdev(1, "lo", NULL);
	check();
	assert_non_null(find("port-waits-for-subnet-manager", "mlx5_1/1"));
	assert_null(find("port-down", "mlx5_1/1"));
	assert_non_null(find("port-down", "mlx5_2/1"));
	assert_non_null(find("node-guid-zero", "mlx5_2"));
	assert_non_null(find("uverbs-missing", "mlx5_2"));
	assert_non_null(find("port-without-netdev", "mlx5_2/1"));
	assert_null(find("port-without-netdev", "mlx5_1/1"));
}

static void port_that_is_neither_up_nor_down(void **state)
{
	(void)state;
	add_netdev(7, "eth7", NULL);
	struct port *iwarp = add_device("siw0", NULL, 7)->ports.items[0];
	struct port *deferred = add_device("mlx5_0", NULL, 0)->ports.items[0];
	iwarp->transport = TRANSPORT_IWARP;
	iwarp->link_layer = LINK_LAYER_ETHERNET;
	iwarp->state = "INIT";
	deferred->link_layer = LINK_LAYER_INFINIBAND;
	deferred->state = "ACTIVE_DEFER";
	check();
	assert_non_null(strstr(find("port-not-ready", "siw0/1")->advice, "Give eth7 an IPv4 address"));
	assert_null(find("port-waits-for-subnet-manager", "siw0/1"));
	assert_non_null(strstr(find("port-not-ready", "mlx5_0/1")->message, "ACTIVE_DEFER"));
	assert_null(find("port-not-ready", "mlx5_0/1")->advice);
}

static void board_on_two_paths(void **state)
{
	(void)state;
	two_packages();
	add_device("mlx5_0", add_function("0002:01:00.0", 0, "0-7"), 0)->sys_image_guid = "0200:5e00:0000:0001";
	add_device("mlx5_1", add_function("0006:01:00.0", 2, "16-23"), 0)->sys_image_guid = "0200:5e00:0000:0001";
	add_device("mlx5_2", add_function("0007:01:00.0", 2, "16-23"), 0)->sys_image_guid = "0200:5e00:0000:0002";
	add_device("mlx5_3", add_function("0007:01:00.1", 2, "16-23"), 0)->sys_image_guid = "0200:5e00:0000:0002";
	check();
	assert_non_null(strstr(find("adapter-on-several-pci-paths", "mlx5_1")->message, "NUMA nodes 0 and 2"));
	assert_null(find("adapter-on-several-pci-paths", "mlx5_3"));
}

static void functions_without_device(void **state)
{
	(void)state;
	add_device("mlx5_0", add_function("0000:17:00.0", 0, "0-7"), 0);
	struct pci_function *other = add_function("0000:17:00.1", 0, "0-7"),
	                    *bare = add_function("0000:18:00.0", 0, "0-7");
	struct pci_function *given = add_function("0000:19:00.0", 0, "0-7");
	bare->driver = NULL;
	given->driver = "vfio-pci";
	add_netdev(3, "ens1", other);
	host->rdma_netns_mode = NETNS_EXCLUSIVE;
	check();
	assert_null(find("function-without-rdma-device", "pci:0000:17:00.0"));
	const struct finding *finding = find("function-without-rdma-device", "pci:0000:17:00.1");
	assert_non_null(strstr(finding->message, "ens1 has the driver mlx5_core"));
	assert_non_null(strstr(finding->message, "exclusive"));
	assert_non_null(find("function-without-driver", "pci:0000:18:00.0"));
	assert_null(find("function-without-rdma-device", "pci:0000:19:00.0"));
}

static void representors(void **state)
{
	(void)state;
	struct pci_function *function = add_function("0000:81:00.0", 0, "0-7");
	add_netdev(1, "eth0", function)->phys_port_name = "pf0vf0";
	add_netdev(2, "eth5", function)->phys_port_name = "c1pf0sf88";
	struct netdev *uplink = add_netdev(3, "pf0", function);
	uplink->phys_port_name = "p0";
	list_each(netdev, &host->netdevs)
		netdev->sysfs_path = "sys/devices/pci0000:80/0000:81:00.0";
	struct rdma_device *device = add_device("mlx5_0", function, 0);
	join_host(host);
	assert_ptr_equal(port_netdev(device->ports.items[0]), uplink);
	assert_int_equal(device->representors.count, 2);
}

static void ipoib_by_port_guid(void **state)
{
	(void)state;
	static const uint8_t gid[16] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5e, 0, 0, 1, 0, 2 };
	struct rdma_device *device = add_device("mlx5_0", NULL, 0);
	struct port *port = device->ports.items[0];
	port->link_layer = LINK_LAYER_INFINIBAND;
	port->rate_mbps = num(200000);
	port->gid0_known = FLAG_YES;
	memcpy(port->gid0, gid, sizeof(gid));
	add_netdev(1, "ib0", NULL);
	struct netdev *right = add_netdev(2, "ib1", NULL);
	list_each(netdev, &host->netdevs) {
		netdev->kind = LINK_IPOIB;
		netdev->mac_length = 20;
	}
	memcpy(right->mac_bytes + 12, gid + 8, 8);
	join_host(host);
	assert_ptr_equal(port_netdev(port), right);
	assert_int_equal(port->netdevs.items[0]->speed_mbps.value, 200000);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* IB_DEVICE_NAME_MAX is 64: names of that length must not be cut, or two ports would become one. */
static void a_ports_label_has_the_whole_name(void **state)
{
	(void)state;
	char label[PORT_LABEL_SIZE];
	const char *name = "a23456789b123456789c123456789d123456789e123456789f123456789g123";
	assert_string_equal(
	        port_label(name, num(2), label), "a23456789b123456789c123456789d123456789e123456789f123456789g123/2");
	assert_string_equal(port_label("mlx5_0", num(1), label), "mlx5_0/1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ports_label_has_the_whole_name),
		TEST(members_on_nodes_of_one_package),
		TEST(members_on_packages),
		TEST(many_members_on_packages),
		TEST(members_on_unknown_nodes),
		TEST(wrong_aggregator),
		TEST(wrong_aggregator_by_netlink_alone),
		TEST(lone_member_and_claims),
		TEST(mixed_speeds),
		TEST(downtrained_link),
		TEST(slot_limits),
		TEST(process_elsewhere),
		TEST(process_on_cpus_of_no_node),
		TEST(memory_policies),
		TEST(cut_short),
		TEST(unknown_node),
		TEST(crossing_map),
		TEST(ports),
		TEST(port_that_is_neither_up_nor_down),
		TEST(board_on_two_paths),
		TEST(functions_without_device),
		TEST(representors),
		TEST(ipoib_by_port_guid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
