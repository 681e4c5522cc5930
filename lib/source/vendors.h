/* SPDX-License-Identifier: MIT */
#ifndef RDMADIAG_SOURCE_VENDORS_H
#define RDMADIAG_SOURCE_VENDORS_H

#include "base/text.h"

/* Does this PCI vendor make network adapters that Linux has an RDMA driver for, and nearly no others? */
bool vendor_has_rdma(struct num pci_vendor);

#endif
