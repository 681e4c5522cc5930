/* SPDX-License-Identifier: MIT */
/* Quality of service of a netdev through RTM_GETDCB (net/dcb/dcbnl.c): IEEE 802.1Qaz ETS, PFC and priorities of DSCP.
 */
#ifndef RDMADIAG_SOURCE_DCB_H
#define RDMADIAG_SOURCE_DCB_H

#include "model/health.h"
#include "origin/origin.h"

/* Fills health->qos. 0 or negative errno: -EOPNOTSUPP where the driver offers no DCB. */
int dcb_read(struct origin *origin, struct arena *arena, int64_t ifindex, struct netdev_health *health);
/* The answer; *qos stays as it is where it holds nothing of 802.1Qaz. 0 or -EBADMSG. */
int dcb_parse(const void *data, size_t length, struct arena *arena, struct qos_facts **qos);

#endif
