/* SPDX-License-Identifier: MIT */
/*
 * The opinion on GID entries: what each is as an address, whose netdev it has, and whether it can still be used.
 *
 * A name or an index of a netdev is only good in that netdev's own namespace, and both kernel interfaces show those of
 * other namespaces too. So an entry is joined with the netdevs of this namespace on its address first; a name or an
 * index alone counts only when that netdev stands on the entry's own port.
 */
#ifndef RDMADIAG_GID_JUDGE_H
#define RDMADIAG_GID_JUDGE_H

#include "model/gid.h"
#include "model/host.h"

/* Fills netdev, ifindex, ip, family, scope, vlan, state, state_reason and same_gid_as of all entries. 0 or -ENOMEM. */
int gid_judge(struct host *host, struct gid_document *document);
/* Entries whose VLAN is not known, in host->report. */
void gid_tell_hidden_vlans(struct host *host, const struct gid_document *document);

#endif
