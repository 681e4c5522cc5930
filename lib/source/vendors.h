/* SPDX-License-Identifier: MIT */
#ifndef RDMADIAG_SOURCE_VENDORS_H
#define RDMADIAG_SOURCE_VENDORS_H

#include "base/text.h"

/* Does this PCI vendor make network adapters that Linux has an RDMA driver for, and nearly no others? */
bool vendor_has_rdma(struct num pci_vendor);

/* Is this the PCI id of a VF? In a virtual machine nothing else tells one: there is no link to its PF. */
bool vendor_id_is_vf(struct num pci_vendor, struct num pci_device);

/* Is this the PCI id that an adapter has whose firmware does not run, so that only its flash can be written? */
bool vendor_id_is_recovery(struct num pci_vendor, struct num pci_device);

#endif
