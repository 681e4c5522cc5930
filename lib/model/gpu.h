/* SPDX-License-Identifier: MIT */
/*
 * What libcuda tells of a GPU about data that an adapter writes into its memory (CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_*
 * of cuda.h), and what follows for whoever reads that data.
 */
#ifndef RDMADIAG_MODEL_GPU_H
#define RDMADIAG_MODEL_GPU_H

#include "base/arena.h"
#include "base/text.h"
#include "model/record.h"

/* CUflushGPUDirectRDMAWritesOptions: how remote writes can be flushed. */
enum { GPU_FLUSH_HOST = 1, GPU_FLUSH_MEMOPS = 2 };
/* CUGPUDirectRDMAWritesOrdering: for whom the writes are consistent without a flush. */
enum { GPU_ORDER_NONE = 0, GPU_ORDER_OWNER = 100, GPU_ORDER_ALL = 200 };

struct gpu_facts {
	const char *address; /* PCI address as sysfs writes it */
	const char *name;
	enum flag rdma_supported, dmabuf_supported;
	struct strings flush_options; /* "host", "memops" */
	const char *ordering;         /* "none", "owner", "all-devices" */
	const char *reader;           /* what a reader of written data has to do */
	/* not in the document: */
	struct num flush_code, ordering_code;
};

/* The answer of libcuda. */
struct cuda_answer {
	struct num driver_version; /* of cuDriverGetVersion: 12040 is 12.4 */
	LIST(struct gpu_facts) gpus;
};

/* Fills words and what follows from the codes. */
void gpu_explain(struct arena *arena, struct gpu_facts *gpu);

extern const struct record gpu_record;
/* Of struct cuda_answer, which a snapshot records. */
extern const struct record cuda_record;

#endif
