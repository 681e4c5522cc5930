/* SPDX-License-Identifier: MIT */
#include "source/mlx5_debugfs.h"

#include "source/sysfs.h"

#include <errno.h>
#include <string.h>

static bool is_mlx5_pf(const struct rdma_device *device)
{
	const struct pci_function *pci = device->pci;
	return pci && pci->driver && !strcmp(pci->driver, "mlx5_core") && device->function.kind == FUNCTION_PF;
}

/* Only the driver knows whether it formed a LAG: a bond's name or its members say nothing about that. */
static void read_roce_lag(struct origin *origin, struct host *host, struct rdma_device *device)
{
	const struct pci_function *pci = device->pci;
	if (!is_mlx5_pf(device))
		return;
	origin_about(origin, device->name);
	const char *state = sysfs_text(origin, host->arena, "sys/kernel/debug/mlx5/%s/lag/state", pci->address);
	struct lag_facts *lag = state ? arena_new_object(host->arena, struct lag_facts) : NULL;
	if (!lag) {
		sysfs_missing(host, "roce_lag", device->name, errno);
		return;
	}
	lag->state = state;
	lag->type = sysfs_text(origin, host->arena, "sys/kernel/debug/mlx5/%s/lag/type", pci->address);
	lag->port_sel_mode =
	        sysfs_text(origin, host->arena, "sys/kernel/debug/mlx5/%s/lag/port_sel_mode", pci->address);
	device->roce_lag = lag;
}

/*
 * Multi-PF: functions of one board that mlx5 drives as one, so that the others have neither netdev nor RDMA device
 * ("ADDRESS vhca N"; drivers/net/ethernet/mellanox/mlx5/core/lib/sd.c, dev_read()).
 */
static void read_secondaries(struct origin *origin, struct host *host, struct rdma_device *device)
{
	enum { GROUP = 8 }; /* MLX5_SD_MAX_GROUP_SZ is 2 */
	const struct pci_function *pci = device->pci;
	if (!is_mlx5_pf(device))
		return;
	for (int i = 0; i < GROUP; i++) {
		char *text = sysfs_text(
		        origin, host->arena, "sys/kernel/debug/mlx5/%s/multi-pf/secondary_%d", pci->address, i);
		if (!text)
			return;
		text[strcspn(text, " ")] = '\0';
		strings_add(host->arena, &device->secondaries, text);
		struct pci_function *other = host_function(host, text);
		const char *node =
		        other ? sysfs_text(origin, host->arena, "sys/bus/pci/devices/%s/numa_node", text) : NULL;
		if (node && !other->numa_node.known && *node != '-')
			other->numa_node = parse_num(node, 10);
	}
}

void mlx5_debugfs_read(struct origin *origin, struct host *host)
{
	list_each(device, &host->devices) {
		read_roce_lag(origin, host, device);
		read_secondaries(origin, host, device);
	}
}
