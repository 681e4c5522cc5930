/* SPDX-License-Identifier: MIT */
#include "render/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree ---- */

static struct place *add_child(struct arena *arena, struct place *parent, enum place_kind kind)
{
	struct place *place = list_add(arena, &parent->children);
	if (place)
		place->kind = kind;
	return place;
}

static struct place *package_place(struct arena *arena, struct place *root, struct num id)
{
	list_each(place, &root->children)
		if (place->id.known == id.known && place->id.value == id.value)
			return place;
	struct place *place = add_child(arena, root, PLACE_PACKAGE);
	if (place)
		place->id = id;
	return place;
}

static struct place *node_place(
        struct arena *arena, struct place *root, struct num package, const struct numa_node *node)
{
	struct place *parent = package_place(arena, root, node && node->package.known ? node->package : package);
	if (!parent)
		return NULL;
	list_each(place, &parent->children)
		if (place->node == node)
			return place;
	struct place *place = add_child(arena, parent, PLACE_NODE);
	if (place)
		place->node = node;
	return place;
}

static struct place *bridge_place(struct arena *arena, struct place *parent, const struct pci_hop *hop)
{
	list_each(place, &parent->children)
		if (place->kind == PLACE_BRIDGE && place->hop == hop)
			return place;
	struct place *place = add_child(arena, parent, PLACE_BRIDGE);
	if (place)
		place->hop = hop;
	return place;
}

/*
 * Functions are put where their own node is; a bridge with functions of two nodes, which only firmware that is wrong
 * tells of, stands in both.
 */
static int add_function(struct host *host, struct place *root, const struct pci_function *function)
{
	const struct numa_node *node = function->numa_node.known ? host_node(host, function->numa_node.value) : NULL;
	struct place *place = node_place(host->arena, root, function->package, node);
	for (uint32_t i = 0; place && i + 1 < function->path.count; i++)
		place = bridge_place(host->arena, place, function->path.items[i]);
	if (!place)
		return -ENOMEM;
	list_each(known, &place->children)
		if (known->function == function)
			return 0;
	struct place *added = add_child(host->arena, place, PLACE_FUNCTION);
	if (!added)
		return -ENOMEM;
	added->function = function;
	added->hop = function->path.count ? function->path.items[function->path.count - 1] : NULL;
	return 0;
}

static const char *address_of(const struct place *place)
{
	return place->function ? place->function->address : place->hop ? place->hop->address : "";
}

static int compare_places(const void *a, const void *b)
{
	const struct place *first = *(struct place *const *)a, *second = *(struct place *const *)b;
	if (first->kind == PLACE_PACKAGE || first->kind == PLACE_NODE) {
		struct num left = first->node ? first->node->id : first->id;
		struct num right = second->node ? second->node->id : second->id;
		if (left.known != right.known)
			return left.known ? -1 : 1;
		return left.value < right.value ? -1 : left.value > right.value;
	}
	return pci_address_compare(address_of(first), address_of(second));
}

static void sort(struct place *place)
{
	if (place->children.count)
		qsort(place->children.items, place->children.count, sizeof(*place->children.items), compare_places);
	list_each(child, &place->children)
		sort(child);
}

struct place *places_build(struct host *host)
{
	struct place *root = arena_new_object(host->arena, struct place);
	if (!root)
		return NULL;
	list_each(node, &host->numa_nodes)
		if (!node_place(host->arena, root, (struct num){ 0 }, node))
			return NULL;
	list_each(device, &host->matrix->devices)
		if (add_function(host, root, device->pci))
			return NULL;
	sort(root);
	return root;
}

/* ---- what is on a function ---- */

static int add_port(struct place_ports *ports, const struct place_port *port)
{
	if (ports->count == ports->capacity) {
		uint32_t capacity = ports->capacity ? 2 * ports->capacity : 8;
		struct place_port *items = reallocarray(ports->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		ports->items = items;
		ports->capacity = capacity;
	}
	ports->items[ports->count++] = *port;
	return 0;
}

/* The netdev of the port that is on the function: its own, a member of the bond that it is or is below, or below it. */
static bool find_netdev(const struct pci_function *function, const struct port *port, struct place_port *found)
{
	list_each(netdev, &port->netdevs) {
		if (netdev->bond)
			list_each(member, &netdev->bond->members)
				if (member->netdev->pci == function) {
					found->netdev = member->netdev;
					found->bond = netdev;
					found->member = member;
					return true;
				}
	}
	list_each(netdev, &port->netdevs)
		if (netdev->relation == RELATION_PORT && netdev->netdev->pci == function) {
			found->netdev = netdev->netdev;
			return true;
		}
	/* A device in software sends through whatever its bridge, team or VLAN stands on. */
	list_each(netdev, &port->netdevs)
		if (!found->device->pci && netdev->relation == RELATION_BELOW && netdev->netdev->pci == function) {
			found->netdev = netdev->netdev;
			return true;
		}
	return false;
}

/* A device in software is where its netdev is, the device of a RoCE LAG on every function of it that has no other. */
static bool is_elsewhere(const struct rdma_device *device, const struct pci_function *function)
{
	return device->pci && function->has_device;
}

static int add_ports(const struct host *host, const struct pci_function *function, bool own, struct place_ports *ports)
{
	list_each(device, &host->devices) {
		if ((device->pci == function) != own || (!own && is_elsewhere(device, function)))
			continue;
		list_each(port, &device->ports) {
			struct place_port found = { .device = device, .port = port };
			if (!find_netdev(function, port, &found) && !own)
				continue;
			if (add_port(ports, &found))
				return -ENOMEM;
		}
	}
	return 0;
}

int place_ports(const struct host *host, const struct pci_function *function, struct place_ports *ports)
{
	*ports = (struct place_ports){ 0 };
	int result = add_ports(host, function, true, ports);
	return result ? result : add_ports(host, function, false, ports);
}

void place_ports_free(struct place_ports *ports)
{
	free(ports->items);
}

const struct matrix_device *place_neighbour(const struct host *host, const struct pci_function *function)
{
	list_each(device, &host->matrix->devices)
		if (device->pci == function && device->kind != NEIGHBOUR_NIC)
			return device;
	return NULL;
}

/* ---- links ---- */

static struct num lesser(struct num a, struct num b)
{
	if (!a.known || !b.known)
		return a.known ? a : b;
	return a.value < b.value ? a : b;
}

static bool is_less(struct num a, struct num b)
{
	return a.known && b.known && a.value < b.value;
}

static struct num able_width(const struct pci_hop *hop, const struct pci_hop *above)
{
	return lesser(hop->max_width, above ? above->max_width : (struct num){ 0 });
}

static struct num able_speed(const struct pci_hop *hop, const struct pci_hop *above)
{
	return lesser(hop->max_speed_mtps, above ? above->max_speed_mtps : (struct num){ 0 });
}

bool place_link_is_slow(const struct pci_hop *hop, const struct pci_hop *above)
{
	return is_less(hop->width, able_width(hop, above)) || is_less(hop->speed_mtps, able_speed(hop, above));
}

static void append(char text[static PLACE_LINK_SIZE], const char *more)
{
	snprintf(text + strlen(text), PLACE_LINK_SIZE - strlen(text), "%s", more);
}

void place_link(const struct pci_hop *hop, const struct pci_hop *above, char text[static PLACE_LINK_SIZE])
{
	char part[24];
	text[0] = '\0';
	if (hop->width.known) {
		snprintf(part, sizeof(part), "x%d", (int)hop->width.value);
		append(text, part);
		if (is_less(hop->width, able_width(hop, above))) {
			snprintf(part, sizeof(part), " of x%d", (int)able_width(hop, above).value);
			append(text, part);
		}
	}
	if (hop->speed_mtps.known) {
		snprintf(part, sizeof(part), "%s%g", *text ? " " : "", (double)hop->speed_mtps.value / 1000);
		append(text, part);
		if (is_less(hop->speed_mtps, able_speed(hop, above))) {
			snprintf(part, sizeof(part), " of %g", (double)able_speed(hop, above).value / 1000);
			append(text, part);
		}
		append(text, " GT/s");
	}
}
