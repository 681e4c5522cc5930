/* SPDX-License-Identifier: MIT */
#include "render/topo_text.h"
#include "base/cleanup.h"
#include "render/health_text.h"
#include "render/report_text.h"
#include "render/table.h"
#include "render/topo_details.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum column {
	NAME,
	TRANSPORT,
	STATE,
	PHYSICAL,
	RATE,
	NETDEV,
	NETDEV_STATE,
	NODE,
	PACKAGE,
	CPUS,
	ADDRESS,
	COLUMN_COUNT
};

static const struct table_column columns[COLUMN_COUNT] = {
	[NAME] = { .heading = "DEVICE/PORT", .tree = true },
	[TRANSPORT] = { .heading = "TRANSPORT" },
	[STATE] = { .heading = "STATE" },
	[PHYSICAL] = { .heading = "PHYSICAL" },
	[RATE] = { .heading = "Gb/s", .right = true },
	[NETDEV] = { .heading = "NETDEV" },
	[NETDEV_STATE] = { .heading = "NETDEV STATE" },
	[NODE] = { .heading = "NODE", .right = true },
	[PACKAGE] = { .heading = "PKG", .right = true },
	[CPUS] = { .heading = "CPUS", .shrink = true },
	[ADDRESS] = { .heading = "PCI" },
};

struct printing {
	struct table *table;
	const struct topo_text_options *options;
};

static void put_place(
        struct printing *printing, struct num node, struct num package, const char *cpus, const char *address)
{
	table_cell_num(printing->table, NODE, node);
	table_cell_num(printing->table, PACKAGE, package);
	table_cell(printing->table, CPUS, cpus);
	table_cell(printing->table, ADDRESS, address);
}

static void put_speed(struct printing *printing, struct num mbps)
{
	if (mbps.known && mbps.value % 1000)
		table_cellf(printing->table, RATE, "%.1f", (double)mbps.value / 1000);
	else if (mbps.known)
		table_cellf(printing->table, RATE, "%d", (int)(mbps.value / 1000));
}

static void color_state(struct printing *printing, enum column column, const char *state, const char *good)
{
	if (state && printing->options->color)
		table_color_cell(printing->table, column, strcmp(state, good) ? "yellow" : "green");
}

/* ---- bonds ---- */

static void put_member(struct printing *printing, void *parent, const struct bond_member *member)
{
	static const char *const words[] = {
		[FLAG_UNKNOWN] = "member", [FLAG_NO] = "not active", [FLAG_YES] = "active"
	};
	table_row(printing->table, parent);
	table_cell(printing->table, NAME, member->name);
	if (member->aggregator_id.known)
		table_cellf(printing->table, NETDEV, "%s, aggregator %d", words[member->active],
		        (int)member->aggregator_id.value);
	else
		table_cell(printing->table, NETDEV, words[member->active]);
	table_cellf(printing->table, NETDEV_STATE, "%s", member->mii_status ? member->mii_status : "");
	put_speed(printing, member->netdev->speed_mbps);
	put_place(printing, member->numa_node, member->package, member->local_cpus, member->pci_address);
}

static bool is_member(const struct port *port, const struct port_netdev *netdev)
{
	list_each(other, &port->netdevs)
		if (other->bond)
			list_each(member, &other->bond->members)
				if (member->netdev == netdev->netdev)
					return true;
	return false;
}

static void put_netdev(struct printing *printing, void *parent, const struct port_netdev *netdev)
{
	void *row = table_row(printing->table, parent);
	table_cell(printing->table, NAME, netdev->name);
	if (netdev->bond && netdev->bond->mode)
		table_cellf(printing->table, NETDEV, "bond %s%s%s", netdev->bond->mode,
		        netdev->bond->xmit_hash_policy ? " " : "",
		        netdev->bond->xmit_hash_policy ? netdev->bond->xmit_hash_policy : "");
	else if (netdev->netdev->vlan_id.known)
		table_cellf(printing->table, NETDEV, "vlan %d", (int)netdev->netdev->vlan_id.value);
	else
		table_cell(printing->table, NETDEV, netdev->kind);
	table_cell(printing->table, NETDEV_STATE, netdev->operstate);
	put_speed(printing, netdev->speed_mbps);
	put_place(printing, netdev->numa_node, netdev->package, netdev->local_cpus, netdev->pci_address);
	if (netdev->bond)
		list_each(member, &netdev->bond->members)
			put_member(printing, row, member);
}

/* ---- ports ---- */

static bool needs_row(const struct rdma_device *device, const struct port *port, const struct port_netdev *netdev)
{
	if (netdev->relation != RELATION_PORT)
		return !is_member(port, netdev);
	bool same_place = device->pci && netdev->netdev->pci == device->pci;
	return netdev->bond || (netdev->pci_address && !same_place);
}

/* "100 (2X HDR)": the kernel's own words tell lanes and generation. */
static void put_rate(struct printing *printing, const struct port *port)
{
	/* What is no rate is told below, with its words. */
	const char *words = port->rate_text && port->rate_mbps.known ? strchr(port->rate_text, '(') : NULL;
	if (words && port->rate_mbps.value % 1000 == 0)
		table_cellf(printing->table, RATE, "%" PRId64 " %s", port->rate_mbps.value / 1000, words);
	else if (words)
		table_cellf(printing->table, RATE, "%g %s", (double)port->rate_mbps.value / 1000, words);
	else
		put_speed(printing, port->rate_mbps);
}

static void put_port(struct printing *printing, const struct rdma_device *device, const struct port *port)
{
	struct table *table = printing->table;
	void *row = table_row(table, NULL);
	char label[PORT_LABEL_SIZE];
	table_cell(table, NAME, port_label(device->name, port->number, label));
	table_cell(table, TRANSPORT, transport_names[port->transport]);
	table_cell(table, STATE, port->state);
	color_state(printing, STATE, port->state, "ACTIVE");
	table_cell(table, PHYSICAL, port->physical_state);
	put_rate(printing, port);
	list_each(netdev, &port->netdevs)
		if (netdev->relation == RELATION_PORT) {
			table_cell(table, NETDEV, netdev->name);
			table_cell(table, NETDEV_STATE, netdev->operstate);
			color_state(printing, NETDEV_STATE, netdev->operstate, "up");
		}
	if (device->pci)
		put_place(printing, device->pci->numa_node, device->pci->package, device->pci->local_cpus,
		        device->pci->address);
	list_each(netdev, &port->netdevs)
		if (needs_row(device, port, netdev))
			put_netdev(printing, row, netdev);
}

static void put_device(struct printing *printing, const struct rdma_device *device)
{
	list_each(port, &device->ports)
		put_port(printing, device, port);
	if (device->ports.count)
		return;
	table_row(printing->table, NULL);
	table_cell(printing->table, NAME, device->name);
	if (device->pci)
		put_place(printing, device->pci->numa_node, device->pci->package, device->pci->local_cpus,
		        device->pci->address);
}

static bool is_collapsed(
        const struct host *host, const struct rdma_device *device, const struct topo_text_options *options)
{
	/* A VF in a guest has no PF here, and a VF alone was asked for by its name. */
	if (options->virtual_functions || device->function.kind != FUNCTION_VF || host->devices.count == 1)
		return false;
	list_each(other, &host->devices)
		if (other->pci && device->function.parent && !strcmp(other->pci->address, device->function.parent))
			return true;
	return false;
}

/* ---- lines below the table ---- */

static void print_functions(const struct host *host, const struct topo_text_options *options, FILE *stream)
{
	list_each(device, &host->devices) {
		if (device->function.kind == FUNCTION_PF && device->virtual_functions.value > 0)
			fprintf(stream, "%s: %d virtual function%s%s\n", device->name,
			        (int)device->virtual_functions.value, plural(device->virtual_functions.value),
			        options->virtual_functions ? "" : " (--vfs shows those with an RDMA device)");
		if (device->roce_lag)
			fprintf(stream, "%s: %s %s%s%s\n", device->name, lag_kind_name(device->roce_lag),
			        device->roce_lag->state, device->roce_lag->port_sel_mode ? ", " : "",
			        device->roce_lag->port_sel_mode ? device->roce_lag->port_sel_mode : "");
		if (device->representors.count)
			fprintf(stream, "%s: switchdev mode, %u representor%s\n", device->name,
			        device->representors.count, plural(device->representors.count));
	}
}

static void print_node(const struct numa_node *node, FILE *stream)
{
	fprintf(stream, "Node %d: ", (int)node->id.value);
	if (node->package.known)
		fprintf(stream, "package %d, ", (int)node->package.value);
	if (node->cpus && *node->cpus)
		fprintf(stream, "CPU%s %s", plural_list(node->cpus), node->cpus);
	else
		fprintf(stream, "%s", node->cpus ? "no CPUs" : "CPUs unknown");
	if (node->memory_bytes.known && !node->memory_bytes.value)
		fprintf(stream, ", no memory");
	else if (node->memory_bytes.known)
		fprintf(stream, ", %.1f GiB", (double)node->memory_bytes.value / (1 << 30));
	if (node->distances.count > 1) {
		fprintf(stream, ", distances");
		list_each(entry, &node->distances)
			fprintf(stream, " %d", (int)entry->value.value);
	}
	fputc('\n', stream);
}

static void print_process(const struct process_facts *process, FILE *stream)
{
	if (!process->cpus)
		return;
	fprintf(stream, "This process: CPU%s %s", plural_list(process->cpus), process->cpus);
	if (process->memory_policy)
		fprintf(stream, ", memory policy %s", process->memory_policy);
	if (process->memory_nodes && *process->memory_nodes)
		fprintf(stream, " on node%s %s", plural_list(process->memory_nodes), process->memory_nodes);
	fputc('\n', stream);
}

int topo_print(const struct host *host, const struct topo_text_options *options, FILE *stream)
{
	struct printing printing = { .options = options };
	printing.table = table_new(columns, COLUMN_COUNT, options->color);
	if (!printing.table)
		return -ENOMEM;
	list_each(device, &host->devices)
		if (!is_collapsed(host, device, options))
			put_device(&printing, device);
	int result = table_print(printing.table, stream);
	table_free(printing.table);
	if (result)
		return result;
	fputc('\n', stream);
	if (options->details) {
		result = topo_details_print(host, stream);
		fputc('\n', stream);
	}
	print_functions(host, options, stream);
	list_each(node, &host->numa_nodes)
		print_node(node, stream);
	print_process(&host->process, stream);
	if (host->health) {
		fputc('\n', stream);
		health_print(host, stream);
	}
	if (host->report.findings.count) {
		fputc('\n', stream);
		(void)report_print_findings(&host->report, stream, options->color);
	}
	if (host->report.not_collected.count) {
		fputc('\n', stream);
		report_print_not_collected(&host->report, stream);
	}
	return result;
}
