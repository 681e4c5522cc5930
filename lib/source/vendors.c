/* SPDX-License-Identifier: MIT */
#include "source/vendors.h"

#include <stddef.h>
#include <string.h>

/*
 * Chelsio: the third digit of an id is the kind of function, 4 of the one that has all ports and RDMA, 0 of those that
 * are there for their VFs, 8 of VFs (t4_pci_id_tbl.h of cxgb4). Pensando: 1004 is the way to the card's management.
 */
static bool is_function_without_rdma(struct num pci_vendor, struct num pci_device)
{
	enum {
		CHELSIO = 0x1425,
		CHELSIO_T4 = 0x4000,
		CHELSIO_KIND = 0xf00,
		CHELSIO_UNIFIED = 0x400,
		PENSANDO = 0x1dd8,
		MELLANOX = 0x15b3,
		MELLANOX_SWITCHES = 0xc700
	};
	if (num_is(pci_vendor, CHELSIO) && pci_device.known && pci_device.value >= CHELSIO_T4)
		return (pci_device.value & CHELSIO_KIND) != CHELSIO_UNIFIED;
	if (num_is(pci_vendor, MELLANOX))
		return pci_device.value >= MELLANOX_SWITCHES;
	return num_is(pci_vendor, PENSANDO) && num_is(pci_device, 0x1004);
}

bool vendor_id_has_rdma(struct num pci_vendor, struct num pci_device)
{
	/* Vendors that mostly make plain Ethernet (Intel, Broadcom's tg3) would be found in every server. */
	static const int vendors[] = {
		0x15b3, /* Mellanox, NVIDIA networking */
		0x1425, /* Chelsio */
		0x1dd8, /* Pensando, AMD */
		0x1ded, /* Alibaba erdma */
		0x1fc1, /* QLogic InfiniBand */
	};
	if (is_function_without_rdma(pci_vendor, pci_device))
		return false;
	for (size_t i = 0; pci_vendor.known && i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (pci_vendor.value == vendors[i])
			return true;
	return false;
}

bool vendor_id_is_vf(struct num pci_vendor, struct num pci_device)
{
	/* Those that pci.ids calls virtual functions, and that the tables of the drivers mark as such. */
	static const struct {
		int vendor, device;
	} functions[] = {
		/* mlx4_core, mlx5_core (main.c, MLX5_PCI_DEV_IS_VF) */
		{ 0x15b3, 0x1002 }, /* ConnectX-2 */
		{ 0x15b3, 0x1004 }, /* ConnectX-3 */
		{ 0x15b3, 0x1012 }, /* Connect-IB */
		{ 0x15b3, 0x1014 }, /* ConnectX-4 */
		{ 0x15b3, 0x1016 }, /* ConnectX-4 Lx */
		{ 0x15b3, 0x1018 }, /* ConnectX-5 */
		{ 0x15b3, 0x101a }, /* ConnectX-5 Ex */
		{ 0x15b3, 0x101c }, /* ConnectX-6 */
		{ 0x15b3, 0x101e }, /* all later ones */
		{ 0x15b3, 0xa2d3 }, /* BlueField */
		/* bnxt_en (bnxt.c): NetXtreme-E and -C, BCM5745x, BCM5750x, BCM5760x */
		{ 0x14e4, 0x1606 },
		{ 0x14e4, 0x1609 },
		{ 0x14e4, 0x16c1 },
		{ 0x14e4, 0x16cb },
		{ 0x14e4, 0x16d3 },
		{ 0x14e4, 0x16dc },
		{ 0x14e4, 0x16e1 },
		{ 0x14e4, 0x16e5 },
		{ 0x14e4, 0x1806 },
		{ 0x14e4, 0x1807 },
		{ 0x14e4, 0x1808 },
		{ 0x14e4, 0x1809 },
		{ 0x14e4, 0x1819 },
		/* iavf (iavf_main.c) */
		{ 0x8086, 0x154c },
		{ 0x8086, 0x1889 },
		{ 0x8086, 0x37cd },
		/* qede (qede_main.c) */
		{ 0x1077, 0x1664 },
		{ 0x1077, 0x8090 },
		/* hns3 (hclgevf_main.c) */
		{ 0x19e5, 0xa22e },
		{ 0x19e5, 0xa22f },
		/* ionic (ionic_bus_pci.c) */
		{ 0x1dd8, 0x1003 },
		/* mana (gdma_main.c) */
		{ 0x1414, 0x00ba },
	};
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (num_is(pci_vendor, functions[i].vendor) && num_is(pci_device, functions[i].device))
			return true;
	return false;
}

/* pci.ids, "Flash Recovery" and "Secure Flash Recovery" of vendor 15b3, adapters only. */
bool vendor_id_is_recovery(struct num pci_vendor, struct num pci_device)
{
	static const struct {
		int first, last;
	} ids[] = {
		{ 0x0191, 0x0191 }, /* first ConnectX */
		{ 0x01f6, 0x01f8 }, /* ConnectX-3 */
		{ 0x01ff, 0x01ff }, /* Connect-IB */
		{ 0x0209, 0x0221 }, /* ConnectX-4 to 8, BlueField */
	};
	if (!num_is(pci_vendor, 0x15b3) || !pci_device.known)
		return false;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (pci_device.value >= ids[i].first && pci_device.value <= ids[i].last)
			return true;
	return false;
}

bool driver_gives_away(const char *driver)
{
	static const char *const others[] = { "pci-stub", "uio_pci_generic", "igb_uio", "pciback", "xen-pciback" };
	for (size_t i = 0; driver && i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(driver, others[i]))
			return true;
	return driver && strstr(driver, "vfio"); /* vfio-pci and what vendors make of it: mlx5_vfio_pci, pds-vfio-pci */
}
