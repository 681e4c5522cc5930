/* SPDX-License-Identifier: MIT */
/*
 * What this host has, read before the traced child is made: which device a name stands for, what it is, and which GID
 * to use. A device that blocks in the kernel costs its own row only (source/collect.h), so a probe of another one runs.
 */
#ifndef RDMADIAG_PROBE_SURVEY_H
#define RDMADIAG_PROBE_SURVEY_H

#include "base/error.h"
#include "model/evidence.h"
#include "model/gid.h"
#include "model/host.h"
#include "origin/origin.h"

struct survey {
	struct host *host;         /* NULL: nothing was read */
	struct gid_document *gids; /* in the host's arena */
	struct error error;        /* why there is no device */
};

/*
 * 0; -EINTR after a signal or -ENOMEM, with `error`. What could not be read is missing: without any device
 * survey_choose() says why.
 */
int survey_read(struct survey *survey, struct error *error);
/* Ports other than that one which a probe could take as well, at most OTHER_PORTS: as DEV/PORT in the arena. */
enum { OTHER_PORTS = 4 };
void survey_other_ports(
        const struct survey *survey, struct arena *arena, const char *device, int port, struct strings *names);
void survey_free(struct survey *survey);

/*
 * The RDMA device that `name` stands for: its own name, or that of a netdev of it (then `port` is set if it was
 * unknown). -ENODEV with `error` that names what exists, -EINVAL where it has no such port. The texts live as long as
 * the survey.
 */
int survey_resolve(
        const struct survey *survey, const char *name, const char **device, struct num *port, struct error *error);
/*
 * The device to take where none was asked for: the one with `address` (16 bytes, NULL: any) in its GID table, else the
 * first with an active port, else the first. -ENODEV with `error`.
 */
int survey_choose(const struct survey *survey, const uint8_t *address, const char **device, struct num *port,
        struct error *error);
/*
 * An IP address of the netdevs of a port, in the form of a GID: `near` if it is one of them (NULL: no wish), else the
 * first that is not link-local. False: there is none.
 */
bool survey_address(
        const struct survey *survey, const char *device, int64_t port, const uint8_t *near, uint8_t gid[static 16]);
/* Is the NUMA node that a buffer was asked for on this host? "nic" and "all" are. 0, or -EINVAL with `error`. */
int survey_check_node(const struct survey *survey, const char *node, struct error *error);
/* The index that `rdmadiag gid` advises for a port; unknown: none. */
struct num survey_gid_index(const struct survey *survey, const char *device, int64_t port);
/* Driver, firmware and NUMA node of facts->device; why one of them is unknown goes to `report`. */
void survey_describe(const struct survey *survey, struct endpoint_facts *facts, struct report *report);

/* The netdev of the chosen GID, its MTU and whether it is up: read anew, for they change. Into facts. */
void describe_netdev(struct origin *origin, struct arena *arena, struct endpoint_facts *facts);

#endif
