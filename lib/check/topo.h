/* SPDX-License-Identifier: MIT */
/* Findings about how RDMA devices reach wires, memory and CPUs. The host is only read. */
#ifndef RDMADIAG_CHECK_TOPO_H
#define RDMADIAG_CHECK_TOPO_H

#include "model/host.h"

/* All of those below. */
void check_topo(const struct host *host, struct report *report);

void check_bonds(const struct host *host, struct report *report);
/* Is this bond or team, which ports use, down itself? Its finding names its members' state too. */
bool check_bond_state(const struct netdev *netdev, const char *subject, struct report *report);
/* What to look at for the members that have no link; in `arena`, NULL: all have one, or none is known. */
const char *bond_members_advice(struct arena *arena, const struct netdev *netdev);
void check_functions(const struct host *host, struct report *report);
void check_ports(const struct host *host, struct report *report);
void check_links(const struct host *host, struct report *report);
void check_pci(const struct host *host, struct report *report);
void check_numa(const struct host *host, struct report *report);
/* Of host->health, where it was asked for. */
void check_health(const struct host *host, struct report *report);

#endif
