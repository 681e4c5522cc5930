/* SPDX-License-Identifier: MIT */
/*
 * Goes into a copy of the kernel's rdma_rxe (see extra-modules). The stock driver registers its ib_device without a
 * parent, so it lives below /sys/devices/virtual. With the NIC's PCI function as its parent it looks like an adapter's
 * device: /sys/class/infiniband/NAME/device, numa_node, local_cpulist.
 */
#include <linux/pci.h>

static struct device *pci_function_of(struct net_device *netdev)
{
	struct device *device = netdev->dev.parent;

	/* virtio-net has a virtio device in between */
	while (device && !dev_is_pci(device))
		device = device->parent;
	return device;
}
