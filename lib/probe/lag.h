/* SPDX-License-Identifier: MIT */
/*
 * The members of a RoCE LAG one after the other: a queue pair is bound to one port of the bond, so a probe that works
 * says nothing about the others.
 */
#ifndef RDMADIAG_PROBE_LAG_H
#define RDMADIAG_PROBE_LAG_H

#include "probe/endpoint.h"

enum { LAG_MEMBERS_LIMIT = 8 };

/* How many ports the device bonds; 0: none, or this is no mlx5 device. */
uint32_t lag_members(struct ibv_context *context);
/* Binds a connected queue pair to a member, from 1. 0 or negative errno. */
int lag_bind(struct ibv_qp *qp, uint32_t member);
/* The member of a queue pair, and the one that carries its packets now. 0 or negative errno: of no LAG. */
int lag_query(struct ibv_qp *qp, uint32_t *given, uint32_t *used);

/* What came of the requests that `run` made over that member, into the record of the whole. */
void lag_conclude(struct probe_run *run, struct lag_member *member);

#endif
