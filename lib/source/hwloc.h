/* SPDX-License-Identifier: MIT */
/* hwloc on this host: a second witness of which CPUs a package has. */
#ifndef RDMADIAG_SOURCE_HWLOC_H
#define RDMADIAG_SOURCE_HWLOC_H

#include "base/error.h"
#include "model/host.h"

/*
 * Adds the packages that hwloc finds, with their physical ids. The library is loaded by this call: with what it needs
 * it takes some ten milliseconds, more than all of `topo` on a small host. 0, -ENOPKG where there is no libhwloc, or
 * another negative errno, with `error`.
 */
int hwloc_read_packages(struct arena *arena, struct package_list *packages, struct error *error);

#endif
