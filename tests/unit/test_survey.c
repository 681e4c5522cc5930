/* SPDX-License-Identifier: MIT */
/* Which device a probe takes for a name, an address or nothing at all, and what it tells of it. */
#include "host_fixture.h"

#include "gid/address.h"
#include "probe/survey.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

static struct survey survey;

static struct netdev *add_netdev(const char *name, int family, const char *ip)
{
	struct netdev *netdev = list_add(host->arena, &host->netdevs);
	netdev->name = name;
	uint8_t gid[16];
	assert_int_equal(gid_parse_ip(ip, gid), 0);
	struct address *address = list_add(host->arena, &netdev->addresses);
	address->family = (uint8_t)family;
	memcpy(address->bytes, family == AF_INET ? gid + 12 : gid, family == AF_INET ? 4 : 16);
	return netdev;
}

static struct rdma_device *add_device(const char *name)
{
	struct rdma_device *device = list_add(host->arena, &host->devices);
	device->name = name;
	return device;
}

static struct port_netdev *add_port(struct rdma_device *device, int number, const char *state, const char *netdev)
{
	struct port *port = list_add(host->arena, &device->ports);
	port->number = num(number);
	port->state = state;
	struct port_netdev *reference = netdev ? list_add(host->arena, &port->netdevs) : NULL;
	if (reference) {
		reference->name = netdev;
		reference->relation = RELATION_PORT;
	}
	return reference;
}

static void add_gid(const char *device, int port, const char *ip)
{
	struct gid_entry *entry = list_add(host->arena, &survey.gids->entries);
	entry->device = device;
	entry->port = num(port);
	assert_int_equal(gid_parse_ip(ip, entry->bytes), 0);
}

/* Three devices: one that is down, one of two ports, and one of iWARP, whose GID is no address. */
static int begin(void **state)
{
	if (set_up(state))
		return -1;
	survey = (struct survey){ .host = host, .gids = arena_new_object(host->arena, struct gid_document) };
	add_netdev("eth0", AF_INET6, "fe80::1");
	add_netdev("eth1", AF_INET, "192.0.2.1");
	add_netdev("eth2", AF_INET, "198.51.100.1");
	add_port(add_device("mlx5_0"), 1, "DOWN", "eth0");
	struct rdma_device *two = add_device("mlx5_1");
	add_port(two, 1, "ACTIVE", NULL);
	add_port(two, 2, "ACTIVE", "eth1");
	add_port(add_device("siw0"), 1, "ACTIVE", "eth2");
	add_gid("mlx5_0", 1, "fe80::1");
	add_gid("mlx5_1", 2, "192.0.2.1");
	return 0;
}

static struct error error;

static int resolve(const char *name, struct num *port, const char **device)
{
	error = (struct error){ 0 };
	return survey_resolve(&survey, name, device, port, &error);
}

static void a_name_is_a_device_or_a_netdev(void **state)
{
	(void)state;
	const char *device = NULL;
	struct num port = { 0 };
	assert_int_equal(resolve("mlx5_1", &port, &device), 0);
	assert_string_equal(device, "mlx5_1");
	assert_false(port.known);
	assert_int_equal(resolve("eth1", &port, &device), 0);
	assert_string_equal(device, "mlx5_1");
	assert_true(num_is(port, 2));
	port = num(1); /* asked for: it stays */
	assert_int_equal(resolve("eth1", &port, &device), 0);
	assert_true(num_is(port, 1));
}

static void what_is_not_there_is_said_beside_what_is(void **state)
{
	(void)state;
	const char *device = NULL;
	struct num port = num(3);
	assert_int_equal(resolve("mlx5_1", &port, &device), -EINVAL);
	assert_string_equal(error.text, "mlx5_1 has no port 3, only 1 to 2");
	assert_int_equal(resolve("mlx5_0", &port, &device), -EINVAL);
	assert_string_equal(error.text, "mlx5_0 has no port 3, only 1");
	assert_int_equal(resolve("eth7", &port, &device), -ENODEV);
	assert_non_null(strstr(error.text, "there are: mlx5_0, mlx5_1, siw0"));
}

static void without_devices_the_reason_is_that_of_the_survey(void **state)
{
	(void)state;
	const char *device = NULL;
	struct num port = { 0 };
	host->devices.count = 0;
	assert_int_equal(resolve("mlx5_0", &port, &device), -ENODEV);
	assert_string_equal(error.text, "no RDMA device");
	error_say(&survey.error, -ENODEV, "no driver is loaded");
	assert_int_equal(resolve("mlx5_0", &port, &device), -ENODEV);
	assert_string_equal(error.text, "no driver is loaded");
	survey.host = NULL;
	assert_int_equal(survey_choose(&survey, NULL, &device, &port, &error), -ENODEV);
}

static void choose(const char *ip, const char *device, struct num port)
{
	uint8_t gid[16];
	const char *taken = NULL;
	struct num on = { 0 };
	if (ip)
		assert_int_equal(gid_parse_ip(ip, gid), 0);
	assert_int_equal(survey_choose(&survey, ip ? gid : NULL, &taken, &on, &error), 0);
	assert_string_equal(taken, device);
	assert_int_equal(on.known, port.known);
	assert_int_equal(on.value, port.value);
}

static void an_address_leads_to_its_device(void **state)
{
	(void)state;
	choose("192.0.2.1", "mlx5_1", num(2));
	choose("fe80::1", "mlx5_0", num(1));     /* though it is down: it was asked for */
	choose("198.51.100.1", "siw0", num(1));  /* in no GID table */
	choose("203.0.113.1", "mlx5_1", num(1)); /* nobody's: the first that is active */
}

static void without_an_address_the_first_active_port_is_taken(void **state)
{
	(void)state;
	choose(NULL, "mlx5_1", num(1));
	host->devices.items[1]->uverbs.accessible = FLAG_NO;
	choose(NULL, "siw0", num(1));
	host->devices.items[2]->ports.items[0]->state = NULL;
	choose(NULL, "mlx5_0", (struct num){ 0 });
}

static void addresses_of_a_port(void **state)
{
	(void)state;
	uint8_t gid[16], near[16], other[16];
	gid_parse_ip("192.0.2.1", near);
	gid_parse_ip("fe80::1", other);
	assert_true(survey_address(&survey, "mlx5_1", 2, near, gid));
	assert_memory_equal(gid, near, 16);
	assert_true(survey_address(&survey, "mlx5_1", 2, other, gid)); /* not its own: the one it has */
	assert_memory_equal(gid, near, 16);
	assert_true(survey_address(&survey, "mlx5_0", 1, other, gid));
	assert_memory_equal(gid, other, 16);
	assert_false(survey_address(&survey, "mlx5_0", 1, NULL, gid)); /* link-local only by wish */
	assert_false(survey_address(&survey, "mlx5_1", 1, NULL, gid));
	assert_false(survey_address(&survey, "mlx5_9", 1, NULL, gid));
}

static void nodes_have_memory_or_not(void **state)
{
	(void)state;
	assert_int_equal(survey_check_node(&survey, "5", &error), 0); /* nothing is known of nodes */
	for (int i = 0; i < 2; i++) {
		struct numa_node *node = list_add(host->arena, &host->numa_nodes);
		node->id = num(2 * i);
		node->memory_bytes = num(i ? 0 : 1 << 30);
	}
	assert_int_equal(survey_check_node(&survey, "0", &error), 0);
	assert_int_equal(survey_check_node(&survey, "all", &error), 0);
	assert_int_equal(survey_check_node(&survey, "2", &error), -EINVAL);
	assert_string_equal(error.text, "NUMA node 2 has no memory");
	assert_int_equal(survey_check_node(&survey, "1", &error), -EINVAL);
	assert_string_equal(error.text, "this host has no NUMA node 1, only 0, 2");
}

static void the_advised_index_is_that_of_the_port(void **state)
{
	(void)state;
	static const struct {
		const char *consumer, *device;
		int port, index;
	} choices[] = { { "nccl", "mlx5_1", 2, 9 }, { "rdmadiag", "mlx5_0", 2, 8 }, { "rdmadiag", "mlx5_1", 1, 7 },
		{ "rdmadiag", "mlx5_1", 2, 3 } };
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		struct gid_choice *choice = list_add(host->arena, &survey.gids->choices);
		choice->consumer = choices[i].consumer;
		choice->device = choices[i].device;
		choice->port = num(choices[i].port);
		choice->index = num(choices[i].index);
	}
	assert_true(num_is(survey_gid_index(&survey, "mlx5_1", 2), 3));
	assert_false(survey_gid_index(&survey, "siw0", 1).known);
	survey.gids = NULL;
	assert_false(survey_gid_index(&survey, "mlx5_1", 2).known);
}

static struct endpoint_facts describe(const char *device, int port, struct report *report)
{
	struct endpoint_facts facts = { .device = device, .port = num(port) };
	*report = (struct report){ .arena = host->arena };
	survey_describe(&survey, &facts, report);
	return facts;
}

static void the_node_is_that_of_the_function_or_what_the_netdevs_share(void **state)
{
	(void)state;
	struct report report;
	struct pci_function function = { .numa_node = num(1) };
	struct bond bond = { 0 };
	struct port_netdev *netdev = host->devices.items[1]->ports.items[1]->netdevs.items[0];
	netdev->bond = &bond;
	struct bond_member *members[2];
	for (int i = 0; i < 2; i++) {
		members[i] = list_add(host->arena, &bond.members);
		members[i]->numa_node = num(1);
	}
	assert_true(num_is(describe("mlx5_1", 2, &report).numa_node, 1));
	members[1]->numa_node = num(0);
	assert_false(describe("mlx5_1", 2, &report).numa_node.known);
	members[1]->numa_node = (struct num){ 0 };
	assert_true(num_is(describe("mlx5_1", 2, &report).numa_node, 1));
	netdev->numa_node = num(0);
	assert_false(describe("mlx5_1", 2, &report).numa_node.known);
	host->devices.items[1]->pci = &function;
	assert_true(num_is(describe("mlx5_1", 2, &report).numa_node, 1));
	host->devices.items[1]->driver = "mlx5_core";
	assert_string_equal(describe("mlx5_1", 2, &report).driver, "mlx5_core");
	assert_int_equal(report.not_collected.count, 0);
}

/* What the survey could not read is told of this device only, and of what the document has. */
static void what_is_missing_is_told(void **state)
{
	(void)state;
	struct report report;
	host->devices.items[1]->driver = "mlx5_core";
	report_missing(&host->report, "fw_version", "mlx5_1", -EACCES, NULL);
	report_missing(&host->report, "fw_version", "mlx5_10", -EACCES, NULL);
	report_missing(&host->report, "rate_gbps", "mlx5_1/2", -EINVAL, NULL);
	describe("mlx5_1", 2, &report);
	assert_int_equal(report.not_collected.count, 1);
	assert_string_equal(report.not_collected.items[0]->subject, "mlx5_1");
	assert_true(num_is(report.not_collected.items[0]->error, EACCES));
	describe("siw0", 1, &report);
	assert_int_equal(report.not_collected.count, 1);
	assert_string_equal(report.not_collected.items[0]->what, "driver");
	describe("mlx5_9", 1, &report);
	assert_int_equal(report.not_collected.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_is_a_device_or_a_netdev),
		TEST(what_is_not_there_is_said_beside_what_is),
		TEST(without_devices_the_reason_is_that_of_the_survey),
		TEST(an_address_leads_to_its_device),
		TEST(without_an_address_the_first_active_port_is_taken),
		TEST(addresses_of_a_port),
		TEST(nodes_have_memory_or_not),
		TEST(the_advised_index_is_that_of_the_port),
		TEST(the_node_is_that_of_the_function_or_what_the_netdevs_share),
		TEST(what_is_missing_is_told),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
