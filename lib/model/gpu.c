/* SPDX-License-Identifier: MIT */
#include "model/gpu.h"

static const char *ordering_word(struct num code)
{
	if (!code.known)
		return NULL;
	switch (code.value) {
	case GPU_ORDER_NONE:
		return "none";
	case GPU_ORDER_OWNER:
		return "owner";
	case GPU_ORDER_ALL:
		return "all-devices";
	default:
		return NULL;
	}
}

static const char *how_to_flush(struct num options)
{
	bool host = options.known && options.value & GPU_FLUSH_HOST;
	bool memops = options.known && options.value & GPU_FLUSH_MEMOPS;
	if (host && memops)
		return "cuFlushGPUDirectRDMAWrites() on the CPU, or a stream wait with the flush flag";
	if (host)
		return "cuFlushGPUDirectRDMAWrites() on the CPU";
	if (memops)
		return "a stream wait with the flush flag (CU_STREAM_WAIT_VALUE_FLUSH)";
	return options.known ? "no flush that CUDA offers" : "a flush (which ones there are is not known)";
}

static const char *reader_of(struct arena *arena, const struct gpu_facts *gpu)
{
	const char *flush = how_to_flush(gpu->flush_code);
	if (gpu->rdma_supported == FLAG_NO)
		return "adapters cannot write into this GPU's memory; data goes through host memory";
	if (!gpu->ordering_code.known)
		return NULL;
	switch (gpu->ordering_code.value) {
	case GPU_ORDER_ALL:
		return "no flush needed: every CUDA device sees the writes in order once the completion was seen";
	case GPU_ORDER_OWNER:
		return arena_printf(arena,
		        "this GPU needs no flush once the completion was seen; before another CUDA device reads the "
		        "data: %s, scope all devices",
		        flush);
	case GPU_ORDER_NONE:
		return arena_printf(arena,
		        "before this GPU reads the data: %s, scope owner; before another CUDA device does: scope all "
		        "devices",
		        flush);
	default:
		return NULL;
	}
}

void gpu_explain(struct arena *arena, struct gpu_facts *gpu)
{
	gpu->ordering = ordering_word(gpu->ordering_code);
	gpu->reader = reader_of(arena, gpu);
	gpu->flush_options = (struct strings){ 0 };
	if (gpu->flush_code.known && gpu->flush_code.value & GPU_FLUSH_HOST)
		strings_add(arena, &gpu->flush_options, "host");
	if (gpu->flush_code.known && gpu->flush_code.value & GPU_FLUSH_MEMOPS)
		strings_add(arena, &gpu->flush_options, "memops");
}

static const struct field gpu_fields[] = {
	FIELD(TEXT, struct gpu_facts, name, "name by CUDA"),
	FIELD(FLAG, struct gpu_facts, rdma_supported, "may adapters reach its memory (GPUDirect RDMA)"),
	FIELD(FLAG, struct gpu_facts, dmabuf_supported, "can its memory be exported as a dma-buf"),
	FIELD(TEXTS, struct gpu_facts, flush_options, "how writes of an adapter can be flushed: host, memops"),
	FIELD(TEXT, struct gpu_facts, ordering,
	        "for whom they are consistent without a flush: none, owner, all-devices"),
	FIELD(TEXT, struct gpu_facts, reader, "what a reader of data that an adapter wrote has to do"),
};
RECORD(gpu_record, gpu_facts, gpu_fields);

static const struct field recorded_fields[] = {
	FIELD(TEXT, struct gpu_facts, address, "PCI address"),
	FIELD(TEXT, struct gpu_facts, name, "name by CUDA"),
	FIELD(FLAG, struct gpu_facts, rdma_supported, "CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED"),
	FIELD(FLAG, struct gpu_facts, dmabuf_supported, "CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED"),
	FIELD(NUMBER, struct gpu_facts, flush_code, "CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS"),
	FIELD(NUMBER, struct gpu_facts, ordering_code, "CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING"),
};
static RECORD(recorded_record, gpu_facts, recorded_fields);

static const struct field cuda_fields[] = {
	FIELD(NUMBER, struct cuda_answer, driver_version, "cuDriverGetVersion"),
	FIELD_OF(RECORDS, struct cuda_answer, gpus, recorded_record, "devices"),
};
RECORD(cuda_record, cuda_answer, cuda_fields);
