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

bool vendor_id_is_vf(struct num pci_vendor, struct num pci_device)
{
	/* Those that the tables of mlx4_core and mlx5_core mark as VFs (main.c, MLX5_PCI_DEV_IS_VF). */
	static const int devices[] = {
		0x1002, /* ConnectX-2 */
		0x1004, /* ConnectX-3 */
		0x1012, /* Connect-IB */
		0x1014, /* ConnectX-4 */
		0x1016, /* ConnectX-4 Lx */
		0x1018, /* ConnectX-5 */
		0x101a, /* ConnectX-5 Ex */
		0x101c, /* ConnectX-6 */
		0x101e, /* all later ones */
	};
	for (size_t i = 0; num_is(pci_vendor, 0x15b3) && i < sizeof(devices) / sizeof(devices[0]); i++)
		if (num_is(pci_device, devices[i]))
			return true;
	return false;
}
