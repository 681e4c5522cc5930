/* SPDX-License-Identifier: MIT */
/*
 * Stands in for libcuda.so.1: five devices of the machine hgx-eight-gpus, each with another answer. CUDA_STAND_IN=init:
 * cuInit fails as it does without a device; CUDA_STAND_IN=address: the third device does not tell where it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NO_DEVICE = 100, COUNT = 5 };

static const struct {
	const char *address;
	int rdma, flush, ordering, dmabuf;
} devices[COUNT] = {
	{ "00000000:9C:00.0", 1, 1, 200, 1 },
	{ "00000000:1A:00.0", 1, 3, 100, 1 },
	{ "00000000:2C:00.0", 1, 2, 0, 0 },
	{ "00000000:3C:00.0", 0, 0, 0, 0 },
	{ "00000000:5F:00.0", -1, -1, -1, -1 },
};

int cuInit(unsigned int flags)
{
	const char *how = getenv("CUDA_STAND_IN");
	return flags ? INVALID_VALUE : how && !strcmp(how, "init") ? NO_DEVICE : SUCCESS;
}

int cuDriverGetVersion(int *version)
{
	*version = 12040;
	return SUCCESS;
}

int cuDeviceGetCount(int *count)
{
	*count = COUNT;
	return SUCCESS;
}

int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal >= 0 && ordinal < COUNT ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetName(char *name, int length, int device)
{
	snprintf(name, (size_t)length, "Stand-in %d", device);
	return SUCCESS;
}

int cuDeviceGetPCIBusId(char *text, int length, int device)
{
	const char *how = getenv("CUDA_STAND_IN");
	if (how && !strcmp(how, "address") && device == 2)
		return INVALID_VALUE;
	snprintf(text, (size_t)length, "%s", devices[device].address);
	return SUCCESS;
}

/* cuda.h, enum CUdevice_attribute. */
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	switch (attribute) {
	case 116:
		*value = devices[device].rdma;
		break;
	case 117:
		*value = devices[device].flush;
		break;
	case 118:
		*value = devices[device].ordering;
		break;
	case 124:
		*value = devices[device].dmabuf;
		break;
	default:
		return INVALID_VALUE;
	}
	return *value < 0 ? INVALID_VALUE : SUCCESS;
}
