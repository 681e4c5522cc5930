/* SPDX-License-Identifier: MIT */
/* What would have a consumer take the entry that is advised, where its own choice is worse than that. */
#ifndef RDMADIAG_GID_REMEDY_H
#define RDMADIAG_GID_REMEDY_H

#include "gid/choose.h"

struct gid_consumer {
	const char *name;
	gid_rule choose;
	const char *setting;     /* what an index is given to it with; NULL: it goes by addresses */
	bool for_all_ports;      /* the setting is one of the process, whichever ports it uses */
	bool also_on_infiniband; /* and a port whose slot is empty is left alone there too */
	const char *iwarp;       /* what keeps it from connecting a queue pair of iWARP */
};

/*
 * Adds remedies to document->choices: `count` of each table in the order of `consumers`, the first is the advice. 0 or
 * -ENOMEM.
 */
int gid_tell_remedies(struct host *host, const struct gid_environment *environment, struct gid_document *document,
        const struct gid_consumer *consumers, uint32_t count);

#endif
