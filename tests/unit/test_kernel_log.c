/* SPDX-License-Identifier: MIT */
/* Which messages of the kernel a report takes along. */
#include "host_fixture.h"

#include "report/kernel_log.h"

static void words_and_names_are_looked_for_as_a_whole(void **state)
{
	(void)state;
	struct rdma_device *device = list_add(host->arena, &host->devices);
	struct pci_function *function = arena_new_object(host->arena, struct pci_function);
	struct port *port = list_add(host->arena, &device->ports);
	struct port_netdev *netdev = list_add(host->arena, &port->netdevs);
	device->name = "rocep23s0";
	function->address = "0000:17:00.0";
	device->pci = function;
	netdev->name = "rail0";
	assert_true(kernel_log_is_related(host, "mlx5_core 0000:98:00.0: firmware version: 28.36.1010"));
	assert_true(kernel_log_is_related(host, "pcieport: AER of 0000:17:00.0"));
	assert_true(kernel_log_is_related(host, "rocep23s0: port 1 is down"));
	assert_true(kernel_log_is_related(host, "8021q: adding VLAN 0 to HW filter on device rail0"));
	assert_false(kernel_log_is_related(host, "rail01: link becomes ready"));
	assert_false(kernel_log_is_related(host, "trail0: link becomes ready"));
	assert_false(kernel_log_is_related(host, "sd 0:0:0:0: [sda] Attached SCSI disk"));
	assert_false(kernel_log_is_related(host, "usb 1-1: new high-speed USB device number 2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(words_and_names_are_looked_for_as_a_whole, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
