/* SPDX-License-Identifier: MIT */
#include "render/topo_tree.h"
#include "base/cleanup.h"
#include "render/places.h"
#include "render/table.h"

#include <errno.h>
#include <string.h>

enum column { PLACE, WHAT, LINK, STATE, DETAIL, COLUMN_COUNT };

static const struct table_column columns[COLUMN_COUNT] = {
	[PLACE] = { .heading = "PLACE", .tree = true },
	[WHAT] = { .heading = "WHAT" },
	[LINK] = { .heading = "LINK" },
	[STATE] = { .heading = "STATE" },
	[DETAIL] = { .heading = "DETAIL" },
};

struct printing {
	struct table *table;
	const struct host *host;
	bool color;
};

static void put_state(struct printing *printing, const char *state, const char *good)
{
	table_cell(printing->table, STATE, state);
	if (state && printing->color)
		table_color_cell(printing->table, STATE, strcmp(state, good) ? "yellow" : "green");
}

static void put_link(struct printing *printing, const struct pci_hop *hop, const struct pci_hop *above)
{
	char text[PLACE_LINK_SIZE];
	/* The link of a root port or of a switch's downstream port is told at the hop below. */
	if (!hop || hop->kind == PCI_ROOT_PORT || hop->kind == PCI_SWITCH_DOWNSTREAM)
		return;
	place_link(hop, above, text);
	table_cell(printing->table, LINK, text);
	if (place_link_is_slow(hop, above))
		table_color_cell(printing->table, LINK, "yellow");
}

/* ---- ports and netdevs ---- */

static void put_netdev(struct printing *printing, void *parent, const struct place_port *place)
{
	static const char *const words[] = {
		[FLAG_UNKNOWN] = "member", [FLAG_NO] = "idle member", [FLAG_YES] = "active member"
	};
	const struct netdev *netdev = place->netdev;
	table_row(printing->table, parent);
	table_cell(printing->table, PLACE, netdev->name);
	table_cell(printing->table, WHAT, netdev->kind_name ? netdev->kind_name : link_kind_names[netdev->kind]);
	put_state(printing, netdev->operstate, "up");
	if (netdev->speed_mbps.known)
		table_cellf(printing->table, LINK, "%g Gb/s", (double)netdev->speed_mbps.value / 1000);
	if (place->bond)
		table_cellf(printing->table, DETAIL, "%s of %s", words[place->member->active], place->bond->name);
	else if (port_netdev(place->port) && port_netdev(place->port) != netdev)
		table_cellf(printing->table, DETAIL, "below %s", port_netdev(place->port)->name);
}

static void put_port(struct printing *printing, void *parent, const struct place_port *place)
{
	const struct port *port = place->port;
	void *row = table_row(printing->table, parent);
	char label[PORT_LABEL_SIZE];
	table_cell(printing->table, PLACE, port_label(place->device->name, port->number, label));
	table_cell(printing->table, WHAT, transport_names[port->transport]);
	put_state(printing, port->state, "ACTIVE");
	table_cell(printing->table, LINK, port->rate_mbps.known ? port->rate_text : NULL);
	if (place->device->software == FLAG_YES)
		table_cell(printing->table, DETAIL, "in software");
	else if (port_has_lid(port) && port->link_layer == LINK_LAYER_INFINIBAND)
		table_cellf(printing->table, DETAIL, "LID %d", (int)port->lid.value);
	else if (!place->netdev && port->netdevs.count && !port_netdev(port))
		table_cellf(printing->table, DETAIL, "below %s", port->netdevs.items[0]->name);
	if (place->netdev)
		put_netdev(printing, row, place);
}

static void put_function(struct printing *printing, void *row, const struct pci_function *function)
{
	struct place_ports ports;
	if (!place_ports(printing->host, function, &ports))
		for (uint32_t i = 0; i < ports.count; i++)
			put_port(printing, row, &ports.items[i]);
	place_ports_free(&ports);
}

/* ---- places ---- */

static void put_package(struct printing *printing, const struct place *place)
{
	if (place->id.known)
		table_cellf(printing->table, PLACE, "package %d", (int)place->id.value);
	else
		table_cell(printing->table, PLACE, "package unknown");
}

static void put_node(struct printing *printing, const struct numa_node *node)
{
	struct table *table = printing->table;
	if (!node) {
		table_cell(table, PLACE, "node unknown");
		table_cell(table, DETAIL, "the firmware does not tell it");
		return;
	}
	table_cellf(table, PLACE, "node %d", (int)node->id.value);
	char memory[40] = "memory unknown";
	if (node->memory_bytes.known && !node->memory_bytes.value)
		snprintf(memory, sizeof(memory), "no memory");
	else if (node->memory_bytes.known)
		snprintf(memory, sizeof(memory), "%.1f GiB", (double)node->memory_bytes.value / (1 << 30));
	const char *cpus = !node->cpus ? "CPUs unknown" : !*node->cpus ? "no CPUs" : node->cpus;
	table_cellf(table, DETAIL, "%s%s, %s", node->cpus && *node->cpus ? "CPUs " : "", cpus, memory);
}

static void put_place(struct printing *printing, void *parent, const struct place *place, const struct pci_hop *above)
{
	void *row = table_row(printing->table, parent);
	const struct matrix_device *neighbour;
	switch (place->kind) {
	case PLACE_HOST:
		break;
	case PLACE_PACKAGE:
		put_package(printing, place);
		break;
	case PLACE_NODE:
		put_node(printing, place->node);
		break;
	case PLACE_BRIDGE:
		table_cell(printing->table, PLACE, place->hop->address);
		table_cell(printing->table, WHAT, pci_kind_names[place->hop->kind]);
		break;
	case PLACE_FUNCTION:
		neighbour = place_neighbour(printing->host, place->function);
		table_cell(printing->table, PLACE, place->function->address);
		table_cell(printing->table, WHAT, neighbour ? neighbour->name : "adapter");
		table_cell(printing->table, DETAIL, place->function->driver);
		break;
	}
	put_link(printing, place->hop, above);
	if (place->kind == PLACE_FUNCTION)
		put_function(printing, row, place->function);
	list_each(child, &place->children)
		put_place(printing, row, child, place->hop);
}

/* ---- what has no place ---- */

static bool has_place(const struct rdma_device *device)
{
	if (device->pci)
		return true;
	list_each(port, &device->ports)
		list_each(netdev, &port->netdevs)
			if (netdev->netdev->pci)
				return true;
	return false;
}

static bool is_first(const struct host *host, const struct port_netdev *bond, const struct port *wanted)
{
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			list_each(netdev, &port->netdevs) {
				if (port == wanted)
					return true;
				if (netdev->netdev == bond->netdev)
					return false;
			}
	return true;
}

static void print_bond(const struct port_netdev *netdev, FILE *stream)
{
	const struct bond *bond = netdev->bond;
	fprintf(stream, "%s: bond %s%s%s, %s:", netdev->name, bond->mode ? bond->mode : "of unknown mode",
	        bond->xmit_hash_policy ? " " : "", bond->xmit_hash_policy ? bond->xmit_hash_policy : "",
	        netdev->operstate ? netdev->operstate : "state unknown");
	list_each(member, &bond->members)
		fprintf(stream, " %s%s", member->name,
		        member->active == FLAG_YES  ? " (active)"
		        : member->active == FLAG_NO ? " (not active)"
		                                    : "");
	fputc('\n', stream);
}

static void print_team(const struct port_netdev *netdev, FILE *stream)
{
	fprintf(stream, "%s: team, %s:", netdev->name, netdev->operstate ? netdev->operstate : "state unknown");
	list_each(member, &netdev->netdev->lowers)
		fprintf(stream, " %s", member->name);
	fputc('\n', stream);
}

static void print_rest(const struct host *host, FILE *stream)
{
	fputc('\n', stream);
	list_each(device, &host->devices) {
		list_each(port, &device->ports)
			list_each(netdev, &port->netdevs)
				if (netdev->bond && is_first(host, netdev, port))
					print_bond(netdev, stream);
				else if (netdev->netdev->kind == LINK_TEAM && is_first(host, netdev, port))
					print_team(netdev, stream);
		if (!has_place(device))
			fprintf(stream, "%s: on no PCI function\n", device->name);
	}
}

int topo_tree_print(struct host *host, bool color, FILE *stream)
{
	struct place *root = places_build(host);
	struct printing printing = { .host = host, .color = color };
	printing.table = root ? table_new(columns, COLUMN_COUNT, color) : NULL;
	if (!printing.table)
		return -ENOMEM;
	list_each(place, &root->children)
		put_place(&printing, NULL, place, NULL);
	int result = table_print(printing.table, stream);
	table_free(printing.table);
	if (!result)
		print_rest(host, stream);
	return result;
}
