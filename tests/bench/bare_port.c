/* SPDX-License-Identifier: MIT */
/* The least that any program reading MTUs through verbs does: list, open, query each port, close. */
#include <infiniband/verbs.h>
#include <stdio.h>

int main(void)
{
	int count = 0;
	unsigned int active = 0;
	struct ibv_device **devices = ibv_get_device_list(&count);
	for (int i = 0; devices && i < count; i++) {
		struct ibv_context *context = ibv_open_device(devices[i]);
		struct ibv_device_attr device = { 0 };
		struct ibv_port_attr port;
		if (context && !ibv_query_device(context, &device))
			for (uint8_t number = 1; number <= device.phys_port_cnt; number++)
				active += !ibv_query_port(context, number, &port) && port.state == IBV_PORT_ACTIVE;
		if (context)
			ibv_close_device(context);
	}
	printf("%d devices, %u active ports\n", count, active);
	if (devices)
		ibv_free_device_list(devices);
	return 0;
}
