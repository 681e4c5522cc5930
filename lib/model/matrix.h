/* SPDX-License-Identifier: MIT */
/*
 * What lies near an adapter: GPUs, accelerators and NVMe controllers, and how far each is from each other in the words
 * that vendors' tools made known. PCI topology and NUMA alone; no vendor's library is needed.
 */
#ifndef RDMADIAG_MODEL_MATRIX_H
#define RDMADIAG_MODEL_MATRIX_H

#include "base/arena.h"
#include "base/text.h"
#include "model/record.h"

struct pci_function;
struct gpu_facts;

enum neighbour_kind { NEIGHBOUR_UNKNOWN, NEIGHBOUR_NIC, NEIGHBOUR_GPU, NEIGHBOUR_NVME, NEIGHBOUR_KIND_COUNT };

/*
 * The nearest first. PIX: at most one PCI bridge or switch between them; PXB: several, below one root port; PHB: below
 * different root ports of one host bridge; NODE: host bridges of one NUMA node; SYS: of different nodes.
 */
enum relation_word {
	WORD_UNKNOWN, /* different host bridges, and a NUMA node is not known */
	WORD_SELF,
	WORD_PIX,
	WORD_PXB,
	WORD_PHB,
	WORD_NODE,
	WORD_SYS,
	WORD_COUNT
};

/* A PCI function near an adapter that is not one itself. */
struct neighbour {
	const char *name; /* GPU0, in the order of PCI addresses; nvme0, the kernel's name */
	int kind;         /* enum neighbour_kind */
	struct pci_function *pci;
	struct gpu_facts *gpu; /* NULL: not asked, or not a GPU that CUDA knows */
};

struct matrix_relation {
	const char *name;
	int word; /* enum relation_word, "relation" in JSON */
};

struct matrix_device {
	const char *name;
	int kind; /* enum neighbour_kind */
	const char *address;
	const char *id; /* "10de:2330", vendor and device */
	const char *driver;
	struct num numa_node, package;
	const char *local_cpus;
	const struct gpu_facts *gpu;
	LIST(struct matrix_relation) relations; /* to every other one, in the order of the devices */
	const struct pci_function *pci;         /* not in the document */
};

struct matrix {
	LIST(struct matrix_device) devices;
	const char *peer_memory; /* module that registers GPU memory for RDMA: nvidia_peermem, …; NULL: none loaded */
};

extern const char *const neighbour_kind_names[NEIGHBOUR_KIND_COUNT];
extern const char *const relation_words[WORD_COUNT];
extern const struct record matrix_record;

#endif
