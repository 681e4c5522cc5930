/* SPDX-License-Identifier: MIT */
/*
 * Which index each consumer would take, and why the other entries lost.
 *
 * One pure function a consumer: entries of one port, environment and kernel facts in, choice out. Each implements the
 * rule of one version, which its file and the reason in the result name; other versions may choose differently.
 */
#ifndef RDMADIAG_GID_CHOOSE_H
#define RDMADIAG_GID_CHOOSE_H

#include "model/gid.h"
#include "model/host.h"

/* Variables of the form NAME=VALUE, ended by NULL, as environ; NULL: no variable is set. */
struct gid_environment {
	char *const *variables;
	const struct strings *nccl_conf; /* lines of NCCL's files, the first that sets something counts; NULL: none */
	const char *without;             /* a name that counts as not set anywhere; NULL: none */
	const char *with;                /* NAME=VALUE that comes before all others; NULL: none */
};

/* NULL: not set. */
const char *gid_environment_get(const struct gid_environment *environment, const char *name);

/* What a rule may look at: one port and its judged entries in order of index. */
struct gid_port {
	const struct host *host;
	const struct gid_table *table;
	struct gid_entry *const *entries;
	uint32_t count;
};

typedef void (*gid_rule)(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice);

void gid_choose_rdmadiag(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice);
void gid_choose_nccl(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice);
void gid_choose_ucx(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice);
/* As NCCL looks for its settings: the environment, then its files. NULL: not set. */
const char *gid_nccl_get(const struct gid_environment *environment, const char *name);
/* Is it one of those that a list such as UCX_NET_DEVICES names, by itself or in a range such as eth[0-3]? */
bool gid_ucx_lists(const char *list, const char *name);
void gid_choose_perftest(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice);
void gid_choose_mooncake(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice);
void gid_choose_rdma_cm(struct arena *arena, const struct gid_port *port, const struct gid_environment *environment,
        struct gid_choice *choice);

/* What the consumers take of one table, rdmadiag first. */
struct gid_choices {
	struct gid_choice **items;
	uint32_t count;
};

struct gid_choices gid_choices_of(const struct gid_document *document, const struct gid_table *table);
struct gid_port gid_port_of(
        const struct host *host, const struct gid_document *document, const struct gid_table *table);
/* Fills document->choices with what rdmadiag itself would take, the advice of each table. 0 or -ENOMEM. */
int gid_advise(struct host *host, struct gid_document *document);
/* Fills document->choices for all ports and consumers. 0 or -ENOMEM. */
int gid_explain(struct host *host, const struct gid_environment *environment, struct gid_document *document);

/* ---- for the rules ---- */

enum transport gid_port_transport(const struct gid_port *port);
/* The state of a port that is known not to be active; NULL: it is, or that is not known. */
const char *gid_port_inactive(const struct gid_port *port);
/* Why no program here opens the device (EACCES is a matter of who runs it); NULL: nothing speaks against it. */
const char *gid_why_unopened(const struct rdma_device *device);
/* The used entry at an index; NULL: the slot is empty or does not exist. */
const struct gid_entry *gid_entry_at(const struct gid_port *port, int64_t index);
/* Why packets with this GID as their source do not get everywhere; NULL: nothing is known against it. */
const char *gid_entry_trouble(const struct gid_entry *entry);
/* Slots of the table; when that is not known, up to the last used one. */
int64_t gid_port_size(const struct gid_port *port);

__attribute__((format(printf, 4, 5))) void gid_take(
        struct arena *arena, struct gid_choice *choice, int64_t index, const char *reason, ...);
/* A note that `text`, of which a number was read, is not written as one; "": it is. `base` as of strtoll(). */
const char *gid_read_as(struct arena *arena, const char *text, int base);
/* The index stands in a variable, whatever it leads to. */
void gid_set_by(struct gid_choice *choice, const char *variable, int64_t index);
/* No index at all. */
__attribute__((format(printf, 3, 4))) void gid_take_none(
        struct arena *arena, struct gid_choice *choice, const char *reason, ...);
__attribute__((format(printf, 4, 5))) void gid_reject(
        struct arena *arena, struct gid_choice *choice, const struct gid_entry *entry, const char *reason, ...);
/* Rejects every used entry but the chosen one for the same reason. */
void gid_reject_others(struct arena *arena, struct gid_choice *choice, const struct gid_port *port, const char *reason);

#endif
