/* SPDX-License-Identifier: MIT */
/* Counters of ports: whichever process made them move, all see them. */
#include <string.h>

#include "emu.h"
#include "mlx5emu.h"

void count_hw(const struct fab_qp *qp, enum hw_counter c)
{
	atomic_fetch_add_explicit(&qp_port(qp)->hc[c], 1, memory_order_relaxed);
}

bool counter_by_name(const struct fab_port *p, const char *name, uint64_t *value)
{
	for (int i = 0; i < PC_COUNT; i++)
		if (!strcmp(port_counter_name[i], name)) {
			*value = p->pc[i];
			return true;
		}
	for (int i = 0; i < HC_COUNT; i++)
		if (!strcmp(hw_counter_name[i], name)) {
			*value = p->hc[i];
			return true;
		}
	return false;
}

EXPORT uint64_t mlx5emu_counter(const char *device, unsigned int port, const char *name)
{
	struct fab_dev *list[MAX_DEVS];
	unsigned int n = emu_init() ? 0 : host_devices(list);
	uint64_t v;

	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(list[i]->name, device) && port >= 1 && port <= list[i]->nports &&
		        counter_by_name(&list[i]->port[port - 1], name, &v))
			return v;
	return UINT64_MAX;
}
