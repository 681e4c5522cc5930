/* SPDX-License-Identifier: MIT */
/*
 * Packet filters and netem of this host, and whose packets they meet: those of devices that send through the network
 * stack, however deep below the port's netdev the queue is. An adapter's own packets pass none of them.
 */
#include "host_fixture.h"

#include "base/cleanup.h"
#include "check/topo.h"
#include "model/health.h"

#include <stdio.h>

static struct health *health;

static int set_up_health(void **state)
{
	if (set_up(state))
		return -1;
	health = arena_new_object(host->arena, struct health);
	host->health = health;
	return 0;
}

static struct netdev *add_netdev(const char *name)
{
	struct netdev *netdev = list_add(host->arena, &host->netdevs);
	netdev->name = name;
	return netdev;
}

static void add_device(const char *name, const char *driver, struct netdev *netdev)
{
	struct rdma_device *device = list_add(host->arena, &host->devices);
	device->name = name;
	device->driver = driver;
	struct port *port = list_add(host->arena, &device->ports);
	port->number = num(1);
	if (netdev)
		*(struct port_netdev *)list_add(host->arena, &port->netdevs) =
		        (struct port_netdev){ .name = netdev->name, .relation = RELATION_PORT, .netdev = netdev };
}

static void add_rule(const char *name, struct num packets)
{
	struct filter_rule *rule = list_add(host->arena, &health->filters.rules);
	*rule = (struct filter_rule){ .name = name, .packets = packets };
}

static void add_netem(const char *netdev, struct num drops)
{
	struct filter_qdisc *qdisc = list_add(host->arena, &health->filters.qdiscs);
	*qdisc = (struct filter_qdisc){ .netdev = netdev, .text = "netem on it: loss 10 %", .drops = drops };
}

/* The one of that kind; NULL: none. Two are a failure. */
static const struct finding *find(const char *id)
{
	const struct finding *found = NULL;
	list_each(finding, &host->report.findings) {
		if (strcmp(finding->id, id) != 0)
			continue;
		assert_null(found);
		found = finding;
	}
	return found;
}

static const struct finding *check(const char *id)
{
	check_health(host, &host->report);
	return find(id);
}

static void a_rule_meets_soft_roce(void **state)
{
	(void)state;
	add_device("mlx5_0", "mlx5_core", add_netdev("rail0"));
	add_device("rxe0", "rdma_rxe", add_netdev("eth0"));
	add_rule("nft inet probe rocev2 rule 2", num(7));
	add_rule("nft ip filter input rule 9", (struct num){ 0 });
	const struct finding *finding = check("roce-port-filtered");
	assert_non_null(finding);
	assert_string_equal(finding->subject, "host");
	assert_string_equal(finding->message, "nft inet probe rocev2 rule 2 drops packets of UDP port 4791, 7 so far; "
	                                      "those of rxe0 pass it, and get no answer where it matches");
	assert_int_equal(finding->evidence.count, 2);
	assert_string_equal(finding->evidence.items[0]->value, "7 packets dropped");
	assert_string_equal(finding->evidence.items[1]->name, "nft ip filter input rule 9");
	assert_string_equal(finding->evidence.items[1]->value, "without a counter");
}

static void devices_beyond_four_are_counted(void **state)
{
	(void)state;
	static const char *const names[] = { "rxe0", "rxe1", "rxe2", "rxe3", "rxe4", "rxe5" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		add_device(names[i], "rdma_rxe", NULL);
	add_rule("nft inet probe rocev2 rule 2", (struct num){ 0 });
	const struct finding *finding = check("roce-port-filtered");
	assert_non_null(finding);
	assert_non_null(strstr(finding->message, "4791; those of rxe0, rxe1, rxe2, rxe3 and 2 more pass it"));
}

/* siw is TCP, so the UDP port is nothing to it. */
static void a_rule_does_not_meet_others(void **state)
{
	(void)state;
	add_device("mlx5_0", "mlx5_core", add_netdev("rail0"));
	add_device("siw0", "siw", add_netdev("eth0"));
	add_device("unknown0", NULL, NULL);
	add_rule("nft inet probe rocev2 rule 2", num(7));
	assert_null(check("roce-port-filtered"));
}

/* bond0.7 on bond0 on eth0 and eth1 */
static struct netdev *add_stack(void)
{
	struct netdev *vlan = add_netdev("bond0.7"), *bond = add_netdev("bond0");
	list_add_existing(host->arena, &vlan->lowers, bond);
	list_add_existing(host->arena, &bond->lowers, add_netdev("eth0"));
	list_add_existing(host->arena, &bond->lowers, add_netdev("eth1"));
	return vlan;
}

static void netem_below_the_netdev_of_a_port(void **state)
{
	(void)state;
	add_device("mlx5_0", "mlx5_core", add_netdev("rail0"));
	add_device("rxe0", "rdma_rxe", add_stack());
	add_netem("eth1", num(12));
	const struct finding *finding = check("netem-on-roce-netdev");
	assert_non_null(finding);
	assert_string_equal(finding->subject, "net:eth1");
	assert_string_equal(finding->message, "netem on it: loss 10 %: packets of rxe0 pass it");
	assert_int_equal(finding->evidence.count, 1);
	assert_string_equal(finding->evidence.items[0]->value, "12");
	assert_non_null(strstr(finding->advice, "tc qdisc del dev eth1 root"));
}

static void netem_and_soft_iwarp(void **state)
{
	(void)state;
	add_device("siw0", "siw", add_netdev("eth0"));
	add_netem("eth0", (struct num){ 0 });
	const struct finding *finding = check("netem-on-roce-netdev");
	assert_non_null(finding);
	assert_int_equal(finding->evidence.count, 0);
}

static void netem_that_meets_nobody(void **state)
{
	(void)state;
	add_device("mlx5_0", "mlx5_core", add_netdev("rail0"));
	add_device("rxe0", "rdma_rxe", add_netdev("eth0"));
	add_device("rxe1", "rdma_rxe", NULL);
	add_netem("rail0", num(1)); /* an adapter puts RDMA on the wire by itself */
	add_netem("eth7", num(1));
	add_netem(NULL, num(1));
	assert_null(check("netem-on-roce-netdev"));
}

/* As netlink could say of namespaces that name each other's netdevs. */
static void netdevs_that_stand_on_each_other(void **state)
{
	(void)state;
	struct netdev *one = add_netdev("veth0"), *other = add_netdev("veth1");
	list_add_existing(host->arena, &one->lowers, other);
	list_add_existing(host->arena, &other->lowers, one);
	add_device("rxe0", "rdma_rxe", one);
	add_netem("eth0", num(1));
	assert_null(check("netem-on-roce-netdev"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_rule_meets_soft_roce, set_up_health, tear_down),
		cmocka_unit_test_setup_teardown(devices_beyond_four_are_counted, set_up_health, tear_down),
		cmocka_unit_test_setup_teardown(a_rule_does_not_meet_others, set_up_health, tear_down),
		cmocka_unit_test_setup_teardown(netem_below_the_netdev_of_a_port, set_up_health, tear_down),
		cmocka_unit_test_setup_teardown(netem_and_soft_iwarp, set_up_health, tear_down),
		cmocka_unit_test_setup_teardown(netem_that_meets_nobody, set_up_health, tear_down),
		cmocka_unit_test_setup_teardown(netdevs_that_stand_on_each_other, set_up_health, tear_down),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
