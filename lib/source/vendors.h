/* SPDX-License-Identifier: MIT */
#ifndef RDMADIAG_SOURCE_VENDORS_H
#define RDMADIAG_SOURCE_VENDORS_H

#include "base/text.h"

/*
 * Is this a function of a network adapter that Linux has an RDMA driver for? Of vendors only that make nearly no
 * others, and not of functions that have no RDMA beside one that has it.
 */
bool vendor_id_has_rdma(struct num pci_vendor, struct num pci_device);

/* Is this the PCI id of a VF? In a virtual machine nothing else tells one: there is no link to its PF. */
bool vendor_id_is_vf(struct num pci_vendor, struct num pci_device);

/* Is this the PCI id that an adapter has whose firmware does not run, so that only its flash can be written? */
bool vendor_id_is_recovery(struct num pci_vendor, struct num pci_device);

/* Does this driver hand its function to a virtual machine or to a program in user space? NULL: no. */
bool driver_gives_away(const char *driver);

#endif
