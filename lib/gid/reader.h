/* SPDX-License-Identifier: MIT */
/* What the two ways of reading a GID table share; everybody else takes read.h. */
#ifndef RDMADIAG_GID_READER_H
#define RDMADIAG_GID_READER_H

#include "gid/read.h"

struct verbs_call;

/* Of one device, and of one port of it at a time. */
struct gid_reader {
	struct origin *origin;
	struct host *host;
	struct gid_document *document;
	const struct gid_read_options *options;
	struct rdma_device *device;
	struct port *port;
	struct gid_table *table;
	enum transport transport;
	char subject[64];                 /* DEV/PORT */
	const struct strings *cm_devices; /* names below configfs's rdma_cm */
	bool *uverbs_listed;              /* their uverbs devices were looked for once */
};

static inline bool gid_wants_port(const struct gid_reader *reader, const struct port *port)
{
	return port->number.known && (!reader->options->port || reader->options->port == port->number.value);
}

/* ---- read_table.c ---- */

/* A new table of the document, of that port; entries go into it until it ends. 0 or -ENOMEM. */
int gid_begin_table(struct gid_reader *reader, struct port *port, enum gid_source source);
/* NULL without memory. */
struct gid_entry *gid_add_entry(struct gid_reader *reader, int64_t index, const uint8_t gid[static 16]);
void gid_end_table(struct gid_reader *reader, struct num size);

/* ---- read_sysfs.c ---- */

/* The tables of the ports that are wanted. 0 or -ENOMEM. */
int gid_read_from_sysfs(struct gid_reader *reader);
/* The name into the entry, and what read(2) said. EINVAL: it has no netdev; ENOENT: the kernel does not tell. */
ssize_t gid_read_netdev_name(struct gid_reader *reader, struct gid_entry *entry);

/* ---- read_verbs.c ---- */

/* As gid_read_from_sysfs(); 1: the tables could not be had this way, the call's error says why. */
int gid_read_from_verbs(struct gid_reader *reader, struct verbs_call *call);

#endif
