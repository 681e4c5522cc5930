/* SPDX-License-Identifier: MIT */
#include "source/vendors.h"

#include <stddef.h>

bool vendor_has_rdma(struct num pci_vendor)
{
	/* Vendors that mostly make plain Ethernet (Intel, Broadcom's tg3) would be found in every server. */
	static const int vendors[] = {
		0x15b3, /* Mellanox, NVIDIA networking */
		0x1425, /* Chelsio */
		0x1dd8, /* Pensando, AMD */
		0x1ded, /* Alibaba erdma */
		0x1fc1, /* QLogic InfiniBand */
	};
	for (size_t i = 0; pci_vendor.known && i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (pci_vendor.value == vendors[i])
			return true;
	return false;
}
