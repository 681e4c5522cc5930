/* SPDX-License-Identifier: MIT */
#include "model/matrix.h"
#include "model/gpu.h"

const char *const neighbour_kind_names[NEIGHBOUR_KIND_COUNT] = {
	[NEIGHBOUR_NIC] = "nic",
	[NEIGHBOUR_GPU] = "gpu",
	[NEIGHBOUR_NVME] = "nvme",
};

const char *const relation_words[WORD_COUNT] = {
	[WORD_SELF] = "X",
	[WORD_PIX] = "PIX",
	[WORD_PXB] = "PXB",
	[WORD_PHB] = "PHB",
	[WORD_NODE] = "NODE",
	[WORD_SYS] = "SYS",
};

static const struct field relation_fields[] = {
	FIELD(TEXT, struct matrix_relation, name, "the other device"),
	{ .key = "relation",
	        .type = FIELD_ENUM,
	        .offset = offsetof(struct matrix_relation, word),
	        .names = relation_words,
	        .names_count = WORD_COUNT,
	        .help = "PIX below one PCI switch or root port, PXB several switches below one root port, PHB "
	                "different root ports of one host bridge, NODE different host bridges of one NUMA node, SYS "
	                "different nodes; null where a node is unknown; X, the device itself, is never told here" },
};
static RECORD(relation_record, matrix_relation, relation_fields);

static const struct field device_fields[] = {
	FIELD(TEXT, struct matrix_device, name, "RDMA device, netdev, GPUn in the order of PCI addresses, or nvmeN"),
	FIELD_OF_NAMES(struct matrix_device, kind, neighbour_kind_names, "nic, gpu (accelerators included) or nvme"),
	FIELD(TEXT, struct matrix_device, address, "PCI address"),
	FIELD(TEXT, struct matrix_device, id, "PCI vendor and device"),
	FIELD(TEXT, struct matrix_device, driver, "kernel driver"),
	FIELD(NUMBER, struct matrix_device, numa_node, "NUMA node"),
	FIELD(NUMBER, struct matrix_device, package, "physical package id"),
	FIELD(TEXT, struct matrix_device, local_cpus, "local CPUs"),
	FIELD_OF(RECORD, struct matrix_device, gpu, gpu_record,
	        "what libcuda tells of a GPU, null: not asked or unknown"),
	FIELD_OF(RECORDS, struct matrix_device, relations, relation_record, "to every other device"),
};
static RECORD(device_record, matrix_device, device_fields);

static const struct field matrix_fields[] = {
	FIELD_OF(RECORDS, struct matrix, devices, device_record, "adapters, GPUs and NVMe controllers"),
	FIELD(TEXT, struct matrix, peer_memory, "loaded module that lets adapters reach GPU memory, null: none"),
};
RECORD(matrix_record, matrix, matrix_fields);
