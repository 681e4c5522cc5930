/* SPDX-License-Identifier: MIT */
#include "gid/elsewhere.h"

#include "gid/judge.h"
#include "source/collect.h"
#include "source/join.h"

/* What it stands on is not to be seen here. */
static bool stands_elsewhere(const struct netdev *netdev)
{
	bool stacked = netdev->kind == LINK_MACVLAN || netdev->kind == LINK_IPVLAN || netdev->kind == LINK_VLAN;
	return stacked && !netdev->lowers.count;
}

static bool has_candidate(const struct host *host)
{
	list_each(netdev, &host->netdevs)
		if (stands_elsewhere(netdev))
			return true;
	return false;
}

static bool lacks_netdev(const struct port *port)
{
	return port->link_layer == LINK_LAYER_ETHERNET && !port->netdevs.count && !port->netdev_unknown;
}

static bool has_such_port(const struct rdma_device *device)
{
	list_each(port, &device->ports)
		if (lacks_netdev(port))
			return true;
	return false;
}

void gid_elsewhere_join(struct host *host, const struct gid_document *document)
{
	list_each(table, &document->tables) {
		/* Decided before the first one is added. */
		bool lacks = table->rdma_port && lacks_netdev(table->rdma_port);
		for (uint32_t i = 0; lacks && i < table->count; i++) {
			const struct gid_entry *entry = document->entries.items[table->first + i];
			bool ours = entry->state == GID_STATE_OK || entry->state == GID_STATE_DUPLICATE;
			if (ours && entry->link && stands_elsewhere(entry->link))
				join_netdev_above(host, table->rdma, table->rdma_port, entry->link);
		}
	}
}

int gid_elsewhere(struct origin *origin, struct host *host, enum gid_source source)
{
	enum { DEVICES = 64 }; /* a container is given some; each is opened */
	struct gid_document document = { 0 };
	int result = 0, count = 0;
	if (!has_candidate(host))
		return 0;
	for (uint32_t i = 0; !result && i < host->devices.count && count < DEVICES; i++) {
		struct device_list one = { .items = &host->devices.items[i], .count = 1 };
		struct gid_read_options options = { .source = source, .devices = &one };
		if (!has_such_port(host->devices.items[i]))
			continue;
		count++;
		result = gid_read(origin, host, &options, &document);
	}
	result = result ? result : gid_judge(host, &document);
	if (!result)
		gid_elsewhere_join(host, &document);
	return result;
}
