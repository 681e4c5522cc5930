/* SPDX-License-Identifier: MIT */
/*
 * One column for each function, below each other its bridges, itself, its port and its netdev; columns side by side in
 * their NUMA node, nodes in their package, packages in rows. First everything gets its width, then it is drawn.
 */
#include "render/topo_svg.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "render/places.h"
#include "render/svg.h"
#include "render/topo_svg_sizes.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Readable on light and on dark pages alike: the drawing brings its own ground. */
static const struct svg_style ground = { "#fbfcfe", "#d5dce5", 1, 12 },
                              package_style = { "#eef2f8", "#9fb0c8", 1.2, 10 },
                              node_style = { "#ffffff", "#c3cedc", 1, 8 },
                              bridge_style = { "#e7ebf1", "#8d99a9", 1, 5 },
                              root_style = { "#f5f7fa", "#aab4c1", 1, 5 }, gpu_style = { "#e6f4d7", "#649a22", 1.3, 6 },
                              nvme_style = { "#efe7fb", "#8459c6", 1.3, 6 },
                              nic_style = { "#dfebfc", "#3474cc", 1.3, 6 }, port_style = { "#f3f8ff", "#7aa5de", 1, 5 },
                              netdev_style = { "#fffaf0", "#d0a552", 1, 5 };
static const struct svg_font title_font = { 17, "#1f2a37", "bold", NULL }, frame_font = { 13, "#33415c", "bold", NULL },
                             name_font = { 12.5, "#1f2a37", "bold", "middle" },
                             detail_font = { 10.5, "#4a5666", NULL, "middle" },
                             link_font = { 10, "#5b6776", NULL, "start" },
                             slow_font = { 10, "#b45309", "bold", "start" }, plain_font = { 11, "#4a5666", NULL, NULL };
static const char wire_color[] = "#8793a3", slow_color[] = "#e08a00";
static const char *const bond_colors[] = { "#0f8b8d", "#b5427a", "#7a6a00", "#5b5bd6", "#c2571a", "#3d7a3d" };

struct drawing {
	struct host *host;
	FILE *file;
	uint32_t bond_count;
	const struct port_netdev *bonds[64];
};

/* ---- links ---- */

/* Of a link to a place: down from the bridge above, at the middle of what is below. */
static void draw_link(const struct drawing *drawing, const struct place *place, const struct pci_hop *above, double x,
        double from, double to)
{
	char text[PLACE_LINK_SIZE];
	const struct pci_hop *hop = place->hop;
	if (!hop || !above)
		return;
	bool slow = place_link_is_slow(hop, above);
	double lanes = hop->width.known ? (double)hop->width.value : 4;
	svg_line(drawing->file, x, from, x, to, slow ? slow_color : wire_color, 1 + sqrt(lanes) * 0.9);
	place_link(hop, above, text);
	svg_text(drawing->file, x + 6, to - WIRE / 2.0 + 4, COLUMN - 16, slow ? &slow_font : &link_font, text);
}

/* ---- functions ---- */

static uint32_t bond_number(const struct drawing *drawing, const struct port_netdev *bond)
{
	for (uint32_t i = 0; i < drawing->bond_count; i++)
		if (drawing->bonds[i]->netdev == bond->netdev)
			return i;
	return 0;
}

static const char *bond_color(const struct drawing *drawing, const struct port_netdev *bond)
{
	return bond_colors[bond_number(drawing, bond) % ARRAY_SIZE(bond_colors)];
}

static const char *state_color(const char *state, const char *good)
{
	if (!state)
		return "#9aa4b1";
	if (!strcmp(state, good))
		return "#2e9e44";
	return !strcasecmp(state, "down") ? "#d13b3b" : "#e08a00";
}

static void draw_netdev(const struct drawing *drawing, const struct place_port *place, double x, double y)
{
	const struct netdev *netdev = place->netdev;
	FILE *file = drawing->file;
	double width = COLUMN - GAP, middle = x + width / 2;
	char text[80] = "";
	struct svg_style style = netdev_style;
	if (place->bond) {
		style.stroke = bond_color(drawing, place->bond);
		style.width = 2;
	}
	svg_box(file, x, y, width, PORT, &style);
	svg_circle(file, x + 10, y + 13, 4, state_color(netdev->operstate, "up"));
	svg_text(file, middle, y + 17, width - 34, &name_font, netdev->name);
	if (netdev->speed_mbps.known)
		snprintf(text, sizeof(text), "%g Gb/s", (double)netdev->speed_mbps.value / 1000);
	else
		snprintf(text, sizeof(text), "%.40s", netdev->kind_name ? netdev->kind_name : "");
	if (place->bond)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.40s%s", *text ? " · " : "",
		        place->bond->name, place->member->active == FLAG_NO ? " idle" : "");
	svg_text(file, middle, y + 32, width - 8, &detail_font, text);
}

static void draw_port(const struct drawing *drawing, const struct place_port *place, double x, double y)
{
	char text[120];
	FILE *file = drawing->file;
	double width = COLUMN - GAP, middle = x + width / 2;
	const struct port *port = place->port;
	svg_line(file, middle, y - GAP, middle, y, wire_color, 1.5);
	svg_box(file, x, y, width, PORT, &port_style);
	svg_circle(file, x + 10, y + 13, 4, state_color(port->state, "ACTIVE"));
	snprintf(text, sizeof(text), "%.60s/%d", place->device->name, (int)port->number.value);
	svg_text(file, middle, y + 17, width - 34, &name_font, text);
	snprintf(text, sizeof(text), "%s", port->state ? port->state : "state unknown");
	if (port->rate_mbps.known && port_is_active(port))
		snprintf(text, sizeof(text), "%s %g Gb/s",
		        transport_names[port->transport] ? transport_names[port->transport] : "",
		        (double)port->rate_mbps.value / 1000);
	svg_text(file, middle, y + 32, width - 8, &detail_font, text);
	if (!place->netdev)
		return;
	svg_line(file, middle, y + PORT, middle, y + PORT + GAP, wire_color, 1.5);
	draw_netdev(drawing, place, x, y + PORT + GAP);
}

static void draw_function(const struct drawing *drawing, const struct place *place, double x, double y)
{
	const struct pci_function *function = place->function;
	const struct matrix_device *neighbour = place_neighbour(drawing->host, function);
	const struct svg_style *style = !neighbour                         ? &nic_style
	                                : neighbour->kind == NEIGHBOUR_GPU ? &gpu_style
	                                                                   : &nvme_style;
	double width = COLUMN - GAP, middle = x + width / 2;
	char id[40] = "";
	svg_box(drawing->file, x, y, width, FUNCTION, style);
	svg_text(drawing->file, middle, y + 17, width - 8, &name_font, neighbour ? neighbour->name : "Adapter");
	svg_text(drawing->file, middle, y + 32, width - 8, &detail_font, function->address);
	if (function->vendor.known && function->device.known)
		snprintf(id, sizeof(id), "%04x:%04x", (unsigned int)function->vendor.value,
		        (unsigned int)function->device.value);
	char text[96];
	snprintf(
	        text, sizeof(text), "%.40s%s%s", function->driver ? function->driver : "no driver", *id ? " " : "", id);
	svg_text(drawing->file, middle, y + 47, width - 8, &detail_font, text);
	struct place_ports ports;
	y += FUNCTION + GAP;
	if (!place_ports(drawing->host, function, &ports))
		for (uint32_t i = 0; i < ports.count; i++) {
			draw_port(drawing, &ports.items[i], x, y);
			y += topo_port_height(&ports.items[i]);
		}
	place_ports_free(&ports);
}

/* ---- bridges ---- */

static const char *bridge_name(const struct pci_hop *hop)
{
	switch (hop->kind) {
	case PCI_ROOT_PORT:
		return "root port";
	case PCI_SWITCH_UPSTREAM:
		return "PCIe switch";
	case PCI_BRIDGE:
		return "PCI bridge";
	default:
		return "";
	}
}

static void draw_bridge(const struct drawing *drawing, const struct place *place, double x, double y, double width)
{
	char text[80];
	const char *name = bridge_name(place->hop);
	/* The second word will do where there is little room: "switch". */
	if (width < COLUMN && strchr(name, ' ') && place->hop->kind != PCI_ROOT_PORT)
		name = strchr(name, ' ') + 1;
	snprintf(text, sizeof(text), "%s %s", name, place->hop->address);
	svg_box(drawing->file, x, y, width, BRIDGE, place->hop->kind == PCI_ROOT_PORT ? &root_style : &bridge_style);
	svg_text(drawing->file, x + width / 2, y + 16, width - 6, &detail_font, text);
}

/* `above` is the hop that the links come from, `from` the lower edge of its box. Functions begin at `bottom`. */
static void draw_children(const struct drawing *drawing, const struct place *parent, const struct pci_hop *above,
        double x, double from, double y, double bottom)
{
	list_each(child, &parent->children) {
		double width = topo_place_width(child) - GAP, middle = x + width / 2;
		if (child->kind == PLACE_FUNCTION) {
			draw_link(drawing, child, above, middle, from, bottom);
			draw_function(drawing, child, x, bottom);
		} else if (topo_is_drawn(child)) {
			draw_link(drawing, child, above, middle, from, y);
			draw_bridge(drawing, child, x, y, width);
			draw_children(drawing, child, child->hop, x, y + BRIDGE, y + BRIDGE + WIRE, bottom);
		} else {
			draw_children(drawing, child, child->hop, x, from, y, bottom);
		}
		x += width + GAP;
	}
}

/* ---- frames ---- */

static void memory_text(const struct numa_node *node, char *text, size_t size)
{
	text[0] = '\0';
	if (node->memory_bytes.known && !node->memory_bytes.value)
		snprintf(text, size, " · no memory");
	else if (node->memory_bytes.known)
		snprintf(text, size, " · %.0f GiB", (double)node->memory_bytes.value / (1 << 30));
}

static void node_name(const struct numa_node *node, char *text, size_t size)
{
	if (node)
		snprintf(text, size, "NUMA node %d", (int)node->id.value);
	else
		snprintf(text, size, "NUMA node unknown");
}

/* CPUs and memory. */
static void node_details(const struct numa_node *node, char *text, size_t size)
{
	char memory[40];
	text[0] = '\0';
	if (!node)
		return;
	memory_text(node, memory, sizeof(memory));
	if (node->cpus && *node->cpus)
		snprintf(text, size, "CPUs %.120s%s", node->cpus, memory);
	else
		snprintf(text, size, "%s%s", node->cpus ? "no CPUs" : "CPUs unknown", memory);
}

static void draw_node(
        const struct drawing *drawing, const struct place *node, double x, double y, double height, double bottom)
{
	char text[200];
	double width = topo_node_width(node);
	svg_box(drawing->file, x, y, width, height, &node_style);
	node_name(node->node, text, sizeof(text));
	svg_text(drawing->file, x + PAD, y + 18, width - 2 * PAD, &frame_font, text);
	node_details(node->node, text, sizeof(text));
	svg_text(drawing->file, x + PAD, y + 34, width - 2 * PAD, &plain_font, text);
	draw_children(drawing, node, NULL, x + PAD, y + NODE_HEADER, y + NODE_HEADER, y + bottom);
}

static void bare_line(const struct numa_node *node, char *text, size_t size)
{
	char details[160];
	node_name(node, text, size);
	node_details(node, details, sizeof(details));
	snprintf(text + strlen(text), size - strlen(text), "%s%s", *details ? " · " : "", details);
}

static void draw_bare(const struct drawing *drawing, const struct place *package, double x, double y, double width)
{
	char text[200];
	uint32_t count = 0, all = topo_bare_nodes(package);
	list_each(node, &package->children) {
		if (topo_has_functions(node))
			continue;
		if (++count == BARE_LIMIT && all > BARE_LIMIT)
			snprintf(text, sizeof(text), "and %u nodes more", all - BARE_LIMIT + 1);
		else if (count <= BARE_LIMIT)
			bare_line(node->node, text, sizeof(text));
		else
			return;
		svg_text(drawing->file, x + PAD, y + (count - 1) * BARE_LINE + 12, width - 2 * PAD, &plain_font, text);
	}
}

static void draw_package(
        const struct drawing *drawing, const struct place *package, double x, double y, double width, double height)
{
	char text[80];
	double inner = topo_node_height(drawing->host, package), top = topo_functions_top(package), at = x + PAD;
	svg_box(drawing->file, x, y, width, height, &package_style);
	if (package->id.known)
		snprintf(text, sizeof(text), "Package %d", (int)package->id.value);
	else
		snprintf(text, sizeof(text), "Package unknown");
	svg_text(drawing->file, x + PAD, y + 19, 0, &frame_font, text);
	list_each(node, &package->children)
		if (topo_has_functions(node)) {
			draw_node(drawing, node, at, y + HEADER, inner, top);
			at += topo_node_width(node) + PAD;
		}
	draw_bare(drawing, package, x, y + HEADER + (topo_has_columns(package) ? inner + PAD / 2.0 : 0), width);
}

/* ---- bonds ---- */

static void find_bonds(struct drawing *drawing)
{
	list_each(device, &drawing->host->devices)
		list_each(port, &device->ports)
			list_each(netdev, &port->netdevs) {
				bool known = !netdev->bond || drawing->bond_count == ARRAY_SIZE(drawing->bonds);
				for (uint32_t i = 0; i < drawing->bond_count && !known; i++)
					known = drawing->bonds[i]->netdev == netdev->netdev;
				if (!known)
					drawing->bonds[drawing->bond_count++] = netdev;
			}
}

static void draw_bond(const struct drawing *drawing, const struct port_netdev *netdev, double x, double y)
{
	const struct bond *bond = netdev->bond;
	struct svg_style style = { "#ffffff", bond_color(drawing, netdev), 2.2, 8 };
	struct svg_font name = name_font, detail = detail_font;
	char text[200];
	uint32_t active = 0;
	list_each(member, &bond->members)
		active += member->active == FLAG_YES;
	name.color = style.stroke;
	name.anchor = detail.anchor = "start";
	svg_box(drawing->file, x, y, BOND_WIDTH, BOND, &style);
	svg_circle(drawing->file, x + 14, y + 15, 4.5, state_color(netdev->operstate, "up"));
	snprintf(text, sizeof(text), "%.60s · %u of %u member%s active", netdev->name, active, bond->members.count,
	        plural(bond->members.count));
	svg_text(drawing->file, x + 26, y + 19, BOND_WIDTH - 32, &name, text);
	snprintf(text, sizeof(text), "%s%s%s", bond->mode ? bond->mode : "mode unknown",
	        bond->xmit_hash_policy ? " " : "", bond->xmit_hash_policy ? bond->xmit_hash_policy : "");
	if (netdev->speed_mbps.known)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " · %g Gb/s",
		        (double)netdev->speed_mbps.value / 1000);
	svg_text(drawing->file, x + 26, y + 36, BOND_WIDTH - 32, &detail, text);
}

/* ---- the whole ---- */

struct row {
	double width, height;
};

/* The packages that stand in one row with the one at `first`: how many, and their size. */
static uint32_t row_of(const struct drawing *drawing, const struct place *root, uint32_t first, struct row *row)
{
	uint32_t count = 0;
	*row = (struct row){ 0 };
	for (uint32_t i = first; i < root->children.count; i++) {
		double width = topo_package_width(root->children.items[i]) + (count ? PAD : 0);
		if (count && row->width + width > ROW_WIDTH)
			break;
		row->width += width;
		row->height = larger(row->height, topo_package_height(drawing->host, root->children.items[i]));
		count++;
	}
	return count;
}

static void measure(const struct drawing *drawing, const struct place *root, struct row *whole)
{
	struct row row;
	*whole = (struct row){ .width = 360 };
	for (uint32_t i = 0; i < root->children.count; i += row_of(drawing, root, i, &row)) {
		row_of(drawing, root, i, &row);
		whole->width = larger(whole->width, row.width);
		whole->height += row.height + PAD;
	}
}

static uint32_t bonds_in_row(double width)
{
	uint32_t count = (uint32_t)((width + PAD) / (BOND_WIDTH + PAD));
	return count ? count : 1;
}

static void draw_title(const struct drawing *drawing)
{
	const struct host_facts *facts = &drawing->host->facts;
	char text[200];
	snprintf(text, sizeof(text), "%.80s", facts->hostname ? facts->hostname : "host");
	svg_text(drawing->file, MARGIN, MARGIN + 14, 0, &title_font, text);
	snprintf(text, sizeof(text), "Linux %.60s · %u RDMA devices", facts->kernel ? facts->kernel : "?",
	        drawing->host->devices.count);
	svg_text(drawing->file, MARGIN, MARGIN + 32, 0, &plain_font, text);
}

static void draw(const struct drawing *drawing, const struct place *root)
{
	enum { TITLE = 44 };
	struct row whole, row;
	measure(drawing, root, &whole);
	uint32_t each = bonds_in_row(whole.width), rows = (drawing->bond_count + each - 1) / each;
	double width = whole.width + 2 * MARGIN, y = MARGIN + TITLE;
	double height = y + whole.height + rows * (BOND + PAD) + MARGIN - PAD;
	svg_begin(drawing->file, width, height, drawing->host->facts.hostname ? drawing->host->facts.hostname : "host");
	svg_box(drawing->file, 0.5, 0.5, width - 1, height - 1, &ground);
	draw_title(drawing);
	uint32_t count;
	for (uint32_t i = 0; i < root->children.count; i += count, y += row.height + PAD) {
		double x = MARGIN;
		count = row_of(drawing, root, i, &row);
		for (uint32_t j = i; j < i + count; j++) {
			double own = topo_package_width(root->children.items[j]);
			draw_package(drawing, root->children.items[j], x, y, own, row.height);
			x += own + PAD;
		}
	}
	for (uint32_t i = 0; i < drawing->bond_count; i++) {
		uint32_t column = i % each, line = i / each;
		draw_bond(drawing, drawing->bonds[i], MARGIN + column * (BOND_WIDTH + PAD), y + line * (BOND + PAD));
	}
	svg_end(drawing->file);
}

int topo_svg_write(struct host *host, const char *path, struct error *error)
{
	struct drawing drawing = { .host = host };
	struct place *root = places_build(host);
	if (!root)
		return error_set(error, -ENOMEM, "%s", path);
	autofree char *text = NULL;
	size_t length = 0;
	drawing.file = open_memstream(&text, &length);
	if (!drawing.file)
		return error_set(error, -errno, "%s", path);
	find_bonds(&drawing);
	draw(&drawing, root);
	int failed = ferror(drawing.file);
	if (fclose(drawing.file) || failed)
		return error_set(error, -ENOMEM, "%s", path);
	if (strcmp(path, "-"))
		return file_write(path, text, length, error);
	fwrite(text, 1, length, stdout); /* whoever prints there looks for errors at the end */
	return 0;
}
