/* SPDX-License-Identifier: MIT */
/* PCI functions and the way to them, from the canonical path of a device and the attributes on it. */
#ifndef RDMADIAG_SOURCE_PCI_H
#define RDMADIAG_SOURCE_PCI_H

#include "model/host.h"
#include "origin/origin.h"

/* The last PCI function in a canonical path, read when it is met first. NULL: there is none in the path. */
struct pci_function *pci_function_of_path(struct origin *origin, struct host *host, const char *path);
/*
 * Looks over all PCI functions for network adapters, so that those without an RDMA device or a driver are known. They
 * are added with identity only.
 */
void pci_scan(struct origin *origin, struct host *host);

/* Ids, class and driver of function->address. */
void pci_read_identity(struct origin *origin, struct host *host, struct pci_function *function);

/* Is this "DDDD:BB:DD.F" with a domain of 4 to 8 hex digits? */
bool pci_is_address(const char *text, size_t length);
/* The nth PCI address in a path, from the root on; its length, 0: there are fewer. */
size_t pci_address_in_path(const char *path, size_t n, const char **address);
/*
 * Configuration space of a function: 64 bytes are given to everyone, 256 or 4096 to CAP_SYS_ADMIN. Fills what can be
 * told from `length` bytes. `capabilities` says whether the capabilities were readable.
 */
void pci_parse_config(
        const uint8_t *config, size_t length, struct arena *arena, struct pci_hop *hop, bool *capabilities);
/* "8.0 GT/s PCIe" → 8000. */
struct num pci_speed_mtps(const char *text);
/* Fills ids, class and driver from the text of `uevent`. */
void pci_parse_uevent(const char *text, struct arena *arena, struct pci_function *function);
/* The total in the text of aer_dev_*; its other lines that are not zero are added to aer->kinds. */
struct num pci_parse_aer(const char *text, enum aer_severity severity, struct arena *arena, struct aer_facts *aer);

#endif
