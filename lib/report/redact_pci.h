/* SPDX-License-Identifier: MIT */
/* Pseudonyms in PCI configuration space: in place. */
#ifndef RDMADIAG_REPORT_REDACT_PCI_H
#define RDMADIAG_REPORT_REDACT_PCI_H

#include "report/pseudonym.h"

#include <stddef.h>

/* The device's serial number (PCIe capability 3, an EUI-64) in a file "config" of sysfs. */
void redact_pci_config(struct pseudonyms *pseudonyms, unsigned char *config, size_t length);

#endif
