/* SPDX-License-Identifier: MIT */
/* The GID that the probe uses on its port, from the table as verbs gives it. */
#ifndef RDMADIAG_PROBE_GID_CHOICE_H
#define RDMADIAG_PROBE_GID_CHOICE_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/* Used entries of `port`, malloc'ed. 0 or negative errno. */
int gid_table_read(struct ibv_context *context, uint8_t port, const struct ibv_port_attr *attr,
        struct ibv_gid_entry **entries, size_t *count);

/*
 * The best entry of `port`, NULL when it has none: first the one of `address` (16 bytes; NULL: any), then the type that
 * the peer uses (a value of enum ibv_gid_type, -1: any), then RoCE v2 before v1, addresses that can be routed before
 * link-local ones, and the lower index.
 */
const struct ibv_gid_entry *gid_choose(
        const struct ibv_gid_entry *entries, size_t count, uint8_t port, const uint8_t *address, int type);

#endif
