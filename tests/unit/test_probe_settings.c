/* SPDX-License-Identifier: MIT */
/* From the words of the command line to numbers within limits. */
#include "unit.h"

#include "probe/settings.h"

#include <errno.h>

static int set_up(void **state)
{
	struct arena *arena = test_arena();
	struct probe_settings *settings = arena_new_object(arena, struct probe_settings);
	settings_init(settings);
	*state = settings;
	return 0;
}

static struct arena *arena;
static struct error error;

static void sizes_have_units(void **state)
{
	struct probe_settings *settings = *state;
	assert_int_equal(settings_sizes(settings, arena, "64,4K,1m,2G", &error), 0);
	static const int64_t expected[] = { 64, 4096, 1 << 20, INT64_C(2) << 30 };
	assert_int_equal(settings->request.sizes.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(settings->request.sizes.items[i]->value, expected[i]);
	/* The last option wins. */
	assert_int_equal(settings_sizes(settings, arena, "8", &error), 0);
	assert_int_equal(settings->request.sizes.count, 1);
}

static void wrong_sizes_are_refused(void **state)
{
	static const char *const wrong[] = { "", ",", "64,", ",64", "0", "-1", "+1", " 1", "1.5", "K", "4KK", "3G",
		"2147483649", "9999999999999999999", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(settings_sizes(*state, arena, wrong[i], &error), -EINVAL);
}

static void devices_may_name_a_port(void **state)
{
	(void)state;
	struct device_choice choice;
	assert_int_equal(settings_device(&choice, "mlx5_0", &error), 0);
	assert_string_equal(choice.name, "mlx5_0");
	assert_false(choice.port.known);
	assert_int_equal(settings_device(&choice, "mlx5_bond_0/2", &error), 0);
	assert_string_equal(choice.name, "mlx5_bond_0");
	assert_true(num_is(choice.port, 2));
	static const char *const wrong[] = { "", "/", "/1", "mlx5_0/", "mlx5_0/0", "mlx5_0/256", "mlx5_0/x",
		"mlx5_0/1/2", "..", "0123456789012345678901234567890123456789012345678901234567890123" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(settings_device(&choice, wrong[i], &error), -EINVAL);
}

static void peers_are_hosts_with_ports(void **state)
{
	struct probe_settings *settings = *state;
	static const struct {
		const char *text, *host;
		uint16_t port;
	} right[] = {
		{ "node2", "node2", PROBE_PORT },
		{ "node2:99", "node2", 99 },
		{ "192.0.2.1:1", "192.0.2.1", 1 },
		{ "2001:db8::1", "2001:db8::1", PROBE_PORT },
		{ "[2001:db8::1]", "2001:db8::1", PROBE_PORT },
		{ "[fe80::1%eth0]:65535", "fe80::1%eth0", 65535 },
	};
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		settings_init(settings);
		assert_int_equal(settings_peer(settings, arena, right[i].text, &error), 0);
		assert_string_equal(settings->host, right[i].host);
		assert_int_equal(settings->tcp_port, right[i].port);
		assert_int_equal(settings->request.mode, MODE_PEER);
		assert_string_equal(settings->request.peer, right[i].text);
	}
	static const char *const wrong[] = { "", ":5", "node2:", "node2:0", "node2:65536", "node2:x", "[::1", "[::1]x",
		"[::1]:" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(settings_peer(settings, arena, wrong[i], &error), -EINVAL);
}

static void listeners_bind_where_they_are_told(void **state)
{
	struct probe_settings *settings = *state;
	static const struct {
		const char *text, *host;
		uint16_t port;
	} right[] = {
		{ NULL, "", PROBE_PORT },
		{ "", "", PROBE_PORT },
		{ ":0", "", 0 },
		{ "10.0.0.1", "10.0.0.1", PROBE_PORT },
		{ "10.0.0.1:7", "10.0.0.1", 7 },
		{ "[::]:7", "::", 7 },
	};
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		settings_init(settings);
		assert_int_equal(settings_listen(settings, right[i].text, &error), 0);
		assert_string_equal(settings->host, right[i].host);
		assert_int_equal(settings->tcp_port, right[i].port);
		assert_int_equal(settings->request.mode, MODE_LISTENER);
	}
}

static void what_does_not_go_together(void **state)
{
	struct probe_settings *settings = *state;
	assert_int_equal(settings_check(settings, &error), 0);
	settings->keep = true;
	assert_int_equal(settings_check(settings, &error), -EINVAL);
	settings_listen(settings, NULL, &error);
	assert_int_equal(settings_check(settings, &error), 0);
	settings_peer(settings, arena, "a", &error);
	assert_int_equal(settings_check(settings, &error), -EINVAL);
	settings_init(settings);
	settings_peer(settings, arena, "a", &error);
	settings_device(&settings->target, "b", &error);
	assert_int_equal(settings_check(settings, &error), -EINVAL);
	settings_init(settings);
	settings_peer(settings, arena, "a", &error);
	settings_sizes(settings, arena, "64M,64M", &error);
	assert_int_equal(settings_check(settings, &error), -EINVAL);
}

static void words_and_numbers(void **state)
{
	struct probe_settings *settings = *state;
	struct num value = { 0 };
	assert_int_equal(settings_operation(settings, "write-imm", &error), 0);
	assert_int_equal(settings->request.op, OP_WRITE_IMM);
	assert_int_equal(settings_operation(settings, "atomic", &error), -EINVAL);
	assert_int_equal(settings_buffer_node(settings, arena, "nic", &error), 0);
	assert_int_equal(settings_buffer_node(settings, arena, "3", &error), 0);
	assert_string_equal(settings->request.buffer_node, "3");
	assert_int_equal(settings_buffer_node(settings, arena, "far", &error), -EINVAL);
	assert_int_equal(settings_number("7", 1, 7, &value, &error), 0);
	assert_true(num_is(value, 7));
	assert_int_equal(settings_number("8", 1, 7, &value, &error), -EINVAL);
	assert_int_equal(settings_number("7x", 1, 7, &value, &error), -EINVAL);
	assert_true(num_is(value, 7));
}

int main(void)
{
	arena = test_arena();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sizes_have_units, set_up),
		cmocka_unit_test_setup(wrong_sizes_are_refused, set_up),
		cmocka_unit_test_setup(devices_may_name_a_port, set_up),
		cmocka_unit_test_setup(peers_are_hosts_with_ports, set_up),
		cmocka_unit_test_setup(listeners_bind_where_they_are_told, set_up),
		cmocka_unit_test_setup(what_does_not_go_together, set_up),
		cmocka_unit_test_setup(words_and_numbers, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
