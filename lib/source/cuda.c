/* SPDX-License-Identifier: MIT */
#include "source/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The driver API as cuda.h declares it (CUDA 11.3 and later): results and attributes are ints. */
enum {
	ATTRIBUTE_RDMA_SUPPORTED = 116,
	ATTRIBUTE_RDMA_FLUSH_OPTIONS = 117,
	ATTRIBUTE_RDMA_WRITES_ORDERING = 118,
	ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
};

struct library {
	void *handle;
	int (*init)(unsigned int flags);
	int (*driver_version)(int *version);
	int (*device_count)(int *count);
	int (*device_get)(int *device, int ordinal);
	int (*device_name)(char *name, int length, int device);
	int (*device_attribute)(int *value, int attribute, int device);
	int (*device_address)(char *address, int length, int device);
};

static int find(const struct library *library, const char *name, void *function, struct error *error)
{
	void *symbol = dlsym(library->handle, name);
	if (!symbol)
		return error_say(error, -ENOSYS, "libcuda.so.1 has no %s", name);
	memcpy(function, &symbol, sizeof(symbol)); /* C has no conversion from data to functions */
	return 0;
}

static int load(struct library *library, struct error *error)
{
	library->handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return error_say(error, -ENOENT, "%s", dlerror());
	const struct {
		const char *name;
		void *function;
	} functions[] = {
		{ "cuInit", &library->init },
		{ "cuDriverGetVersion", &library->driver_version },
		{ "cuDeviceGetCount", &library->device_count },
		{ "cuDeviceGet", &library->device_get },
		{ "cuDeviceGetName", &library->device_name },
		{ "cuDeviceGetAttribute", &library->device_attribute },
		{ "cuDeviceGetPCIBusId", &library->device_address },
	};
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		int result = find(library, functions[i].name, functions[i].function, error);
		if (result)
			return result;
	}
	return 0;
}

char *cuda_pci_address(struct arena *arena, const char *text)
{
	unsigned int domain, bus, device, function;
	if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return NULL;
	return arena_printf(arena, "%04x:%02x:%02x.%x", domain, bus, device, function);
}

static struct num attribute(const struct library *library, int which, int device)
{
	int value;
	/* An attribute that this CUDA does not know yet is an error. */
	return library->device_attribute(&value, which, device) ? (struct num){ 0 } : num(value);
}

static enum flag as_flag(struct num value)
{
	return value.known ? flag(value.value) : FLAG_UNKNOWN;
}

/* 0, a negative errno, or CUDA's error, which is positive: then nothing is known of the device. */
static int query_device(const struct library *library, struct arena *arena, int ordinal, struct cuda_answer *answer)
{
	char text[128] = "";
	int device, code = library->device_get(&device, ordinal);
	if (!code)
		code = library->device_address(text, sizeof(text), device);
	if (code)
		return code;
	struct gpu_facts *gpu = list_add(arena, &answer->gpus);
	if (!gpu)
		return -ENOMEM;
	gpu->address = cuda_pci_address(arena, text);
	if (!library->device_name(text, sizeof(text), device)) {
		text[sizeof(text) - 1] = '\0';
		gpu->name = arena_strdup(arena, text);
	}
	gpu->rdma_supported = as_flag(attribute(library, ATTRIBUTE_RDMA_SUPPORTED, device));
	gpu->dmabuf_supported = as_flag(attribute(library, ATTRIBUTE_DMA_BUF_SUPPORTED, device));
	gpu->flush_code = attribute(library, ATTRIBUTE_RDMA_FLUSH_OPTIONS, device);
	gpu->ordering_code = attribute(library, ATTRIBUTE_RDMA_WRITES_ORDERING, device);
	return 0;
}

int cuda_query(struct arena *arena, struct cuda_answer *answer, struct error *error)
{
	struct library library = { 0 };
	int count = 0, version;
	int result = load(&library, error); /* stays loaded: its threads may run on */
	if (result)
		return result;
	int code = library.init(0);
	if (code)
		return error_say(error, -EIO, "cuInit: error %d of CUDA", code);
	if (!library.driver_version(&version))
		answer->driver_version = num(version);
	code = library.device_count(&count);
	if (code)
		return error_say(error, -EIO, "cuDeviceGetCount: error %d of CUDA", code);
	for (int i = 0; i < count && result >= 0; i++) {
		result = query_device(&library, arena, i, answer);
		if (result > 0)
			error_say(error, -EIO, "device %d of CUDA does not tell its PCI address: error %d of CUDA", i,
			        result);
	}
	return result < 0 ? result : error->code;
}

/* ---- into the model ---- */

static void give(struct host *host, struct gpu_facts *gpu)
{
	list_each(neighbour, &host->neighbours)
		if (gpu->address && !strcmp(neighbour->pci->address, gpu->address)) {
			gpu_explain(host->arena, gpu);
			neighbour->gpu = gpu;
		}
}

void cuda_read(struct origin *origin, struct host *host)
{
	struct cuda_answer *answer = arena_new_object(host->arena, struct cuda_answer);
	struct error error = { 0 };
	if (!answer)
		return;
	origin_about(origin, "host");
	int result = origin_cuda(origin, host->arena, answer, &error);
	if (result)
		report_missing(&host->report, "gpu", "host", result, "%s", error.text);
	list_each(gpu, &answer->gpus)
		give(host, gpu);
}
