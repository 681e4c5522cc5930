/* SPDX-License-Identifier: MIT */
/*
 * Reads the GID tables of a host's ports, without an opinion on the entries (that is judge.h).
 *
 * Two ways lead to the same table. Verbs: the device is opened and asked with one ioctl (UVERBS_METHOD_QUERY_GID_TABLE)
 * for all used entries of all its ports, however large the tables are. Sysfs: ports/N/gids/I for every slot, and
 * gid_attrs/{types,ndevs}/I for those that hold a GID.
 *
 * Verbs is asked first; sysfs where the device cannot be opened, the kernel or the library lacks the ioctl
 * (kernel 5.10, rdma-core 33), or more than 2047 entries are used (see source/verbs.c). See read.c for what each costs.
 */
#ifndef RDMADIAG_GID_READ_H
#define RDMADIAG_GID_READ_H

#include "model/gid.h"
#include "model/host.h"
#include "origin/origin.h"

enum gid_source { GID_SOURCE_BEST, GID_SOURCE_VERBS, GID_SOURCE_SYSFS };

struct gid_read_options {
	enum gid_source source;
	const struct device_list *devices; /* NULL: all */
	int64_t port;                      /* 0: all */
};

/*
 * Appends a table for each port and its used entries to `document`; everything lies in host->arena. Fields that only
 * the judge can know (netdev, ip, scope, state …) are left unknown. What could not be read is in host->report. 0 or
 * -ENOMEM.
 */
int gid_read(struct origin *origin, struct host *host, const struct gid_read_options *options,
        struct gid_document *document);

/*
 * For `--all`: a new list of entries with one for every slot of a known table; those without a GID have `empty` set. To
 * be called after the judge. 0 or -ENOMEM.
 */
int gid_show_empty(struct arena *arena, struct gid_document *document);

/* The string of gid_attrs/types/N on a port of that transport; `roce` strings only mean RoCE on RoCE ports. */
enum gid_type gid_type_of_text(const char *text, enum transport transport);
/* The number of the ioctl (enum ib_uverbs_gid_type: 0 IB, 1 RoCE v1, 2 RoCE v2). */
enum gid_type gid_type_of_number(int64_t number, enum transport transport);

#endif
