/* SPDX-License-Identifier: MIT */
#include "render/topo_svg_sizes.h"

double topo_place_width(const struct place *place)
{
	double sum = 0;
	if (place->kind == PLACE_FUNCTION)
		return COLUMN;
	list_each(child, &place->children)
		sum += topo_place_width(child);
	return sum;
}

bool topo_is_drawn(const struct place *place)
{
	return place->kind == PLACE_BRIDGE && place->hop->kind != PCI_SWITCH_DOWNSTREAM;
}

static int depth_of(const struct place *place)
{
	int deepest = 0;
	list_each(child, &place->children) {
		int depth = depth_of(child) + topo_is_drawn(child);
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}

double topo_port_height(const struct place_port *port)
{
	return PORT + GAP + (port->netdev ? PORT + GAP : 0);
}

static double ports_on(const struct host *host, const struct pci_function *function)
{
	struct place_ports ports;
	double sum = 0;
	if (!place_ports(host, function, &ports))
		for (uint32_t i = 0; i < ports.count; i++)
			sum += topo_port_height(&ports.items[i]);
	place_ports_free(&ports);
	return sum;
}

static double ports_height(const struct host *host, const struct place *place)
{
	if (place->kind == PLACE_FUNCTION)
		return ports_on(host, place->function);
	double highest = 0;
	list_each(child, &place->children)
		highest = larger(highest, ports_height(host, child));
	return highest;
}

bool topo_has_functions(const struct place *place)
{
	return place->children.count > 0;
}

double topo_node_width(const struct place *node)
{
	return larger(topo_place_width(node) + 2 * PAD - GAP, NODE_LEAST);
}

double topo_package_width(const struct place *package)
{
	double sum = 0;
	list_each(node, &package->children)
		if (topo_has_functions(node))
			sum += topo_node_width(node) + PAD;
	return larger(sum, NODE_LEAST + PAD) + PAD;
}

double topo_functions_top(const struct place *package)
{
	int depth = 0;
	list_each(node, &package->children)
		depth = depth_of(node) > depth ? depth_of(node) : depth;
	return NODE_HEADER + (double)depth * (BRIDGE + WIRE) + 6;
}

double topo_node_height(const struct host *host, const struct place *package)
{
	return topo_functions_top(package) + FUNCTION + ports_height(host, package) + PAD;
}

uint32_t topo_bare_nodes(const struct place *package)
{
	uint32_t count = 0;
	list_each(node, &package->children)
		count += !topo_has_functions(node);
	return count;
}

static double bare_height(const struct place *package)
{
	uint32_t lines = topo_bare_nodes(package);
	return (lines > BARE_LIMIT ? BARE_LIMIT : lines) * BARE_LINE;
}

bool topo_has_columns(const struct place *package)
{
	return topo_bare_nodes(package) < package->children.count;
}

double topo_package_height(const struct host *host, const struct place *package)
{
	double nodes = topo_has_columns(package) ? topo_node_height(host, package) + PAD : 0;
	return HEADER + nodes + bare_height(package) + (topo_bare_nodes(package) ? PAD / 2.0 : 0);
}
