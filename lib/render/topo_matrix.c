/* SPDX-License-Identifier: MIT */
#include "render/topo_matrix.h"
#include "base/cleanup.h"
#include "model/gpu.h"
#include "render/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Behind the columns of the devices. */
enum { AFTER_NODE, AFTER_PACKAGE, AFTER_CPUS, AFTER_ADDRESS, AFTER_DRIVER, AFTER_COUNT };

static const struct table_column after[AFTER_COUNT] = {
	[AFTER_NODE] = { .heading = "NODE", .right = true },
	[AFTER_PACKAGE] = { .heading = "PKG", .right = true },
	[AFTER_CPUS] = { .heading = "CPUS" },
	[AFTER_ADDRESS] = { .heading = "PCI" },
	[AFTER_DRIVER] = { .heading = "DRIVER" },
};

static const char *color_of(int word)
{
	switch (word) {
	case WORD_PIX:
	case WORD_PXB:
		return "green";
	case WORD_SYS:
		return "yellow";
	default:
		return NULL;
	}
}

static void put_relation(struct table *table, size_t column, int word)
{
	table_cell(table, column, word == WORD_UNKNOWN ? "?" : relation_words[word]);
	if (color_of(word))
		table_color_cell(table, column, color_of(word));
}

static void put_device(struct table *table, const struct matrix_device *device, uint32_t own, uint32_t count)
{
	uint32_t next = 0;
	table_row(table, NULL);
	table_cell(table, 0, device->name);
	for (uint32_t i = 0; i < count; i++)
		put_relation(table, 1 + i, i == own ? (int)WORD_SELF : device->relations.items[next++]->word);
	table_cell_num(table, 1 + count + AFTER_NODE, device->numa_node);
	table_cell_num(table, 1 + count + AFTER_PACKAGE, device->package);
	table_cell(table, 1 + count + AFTER_CPUS, device->local_cpus);
	table_cell(table, 1 + count + AFTER_ADDRESS, device->address);
	table_cell(table, 1 + count + AFTER_DRIVER, device->driver);
}

static struct table *new_table(const struct matrix *matrix, bool color)
{
	uint32_t count = matrix->devices.count;
	autofree struct table_column *columns = calloc(1 + count + AFTER_COUNT, sizeof(*columns));
	if (!columns)
		return NULL;
	columns[0] = (struct table_column){ .heading = "" };
	for (uint32_t i = 0; i < count; i++)
		columns[1 + i].heading = matrix->devices.items[i]->name;
	memcpy(&columns[1 + count], after, sizeof(after));
	return table_new(columns, 1 + count + AFTER_COUNT, color);
}

static void print_legend(const struct matrix *matrix, FILE *stream)
{
	bool unknown = false, gpus = false;
	list_each(device, &matrix->devices) {
		gpus |= device->kind == NEIGHBOUR_GPU;
		list_each(relation, &device->relations)
			unknown |= relation->word == WORD_UNKNOWN;
	}
	fputs("\nPIX  below one PCI switch, or functions behind one root port\n"
	      "PXB  several PCI switches, one root port\n"
	      "PHB  different root ports of one host bridge\n"
	      "NODE different host bridges, one NUMA node\n"
	      "SYS  different NUMA nodes\n",
	        stream);
	if (unknown)
		fputs("?    different host bridges, and the firmware tells no NUMA node\n", stream);
	if (gpus)
		fprintf(stream, "GPUs are numbered by their PCI addresses. Peer memory module: %s\n",
		        matrix->peer_memory ? matrix->peer_memory : "none loaded (dma-buf needs none)");
}

static void print_gpus(const struct matrix *matrix, const struct matrix_device *row, FILE *stream)
{
	list_each(device, &matrix->devices) {
		const struct gpu_facts *gpu = device->gpu;
		static const char *const words[] = { "unknown", "no", "yes" };
		if (!gpu || (row && device != row))
			continue;
		fprintf(stream, "\n%s: %s, GPUDirect RDMA %s, dma-buf %s", device->name,
		        gpu->name ? gpu->name : "a GPU of CUDA", words[gpu->rdma_supported],
		        words[gpu->dmabuf_supported]);
		fprintf(stream, ", writes ordered for: %s\n", gpu->ordering ? gpu->ordering : "unknown");
		if (gpu->reader)
			fprintf(stream, "    %s\n", gpu->reader);
	}
}

bool topo_matrix_is_neighbour(const char *name)
{
	size_t letters = !strncasecmp(name, "gpu", 3) ? 3 : !strncasecmp(name, "nvme", 4) ? 4 : 0;
	return letters && name[letters] && !name[letters + strspn(name + letters, "0123456789")];
}

const struct matrix_device *topo_matrix_row(const struct host *host, const char *name)
{
	list_each(device, &host->matrix->devices)
		if (!strcasecmp(device->name, name))
			return device;
	return NULL;
}

int topo_matrix_print(const struct host *host, const struct topo_matrix_options *options, FILE *stream)
{
	const struct matrix_device *row = options->row ? topo_matrix_row(host, options->row) : NULL;
	const struct matrix *matrix = host->matrix;
	if (!matrix->devices.count) {
		fputs("no adapter, GPU or NVMe controller on PCI\n", stream);
		return 0;
	}
	struct table *table = new_table(matrix, options->color);
	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < matrix->devices.count; i++)
		if (row ? matrix->devices.items[i] == row
		        : !options->adapters_only || matrix->devices.items[i]->kind == NEIGHBOUR_NIC)
			put_device(table, matrix->devices.items[i], i, matrix->devices.count);
	int result = table_print(table, stream);
	table_free(table);
	if (result)
		return result;
	print_legend(matrix, stream);
	print_gpus(matrix, row, stream);
	return 0;
}
