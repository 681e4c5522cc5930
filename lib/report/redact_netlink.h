/* SPDX-License-Identifier: MIT */
/* Pseudonyms in recorded messages of netlink: in place, no size changes. */
#ifndef RDMADIAG_REPORT_REDACT_NETLINK_H
#define RDMADIAG_REPORT_REDACT_NETLINK_H

#include "report/pseudonym.h"

#include <stddef.h>

/*
 * Messages of NETLINK_ROUTE and NETLINK_RDMA. Attributes that are not known to be free of addresses are taken out: type
 * and contents become zero, which readers skip. What is no whole message at the end becomes zeros.
 */
void redact_netlink_route(struct pseudonyms *pseudonyms, unsigned char *messages, size_t length);
void redact_netlink_rdma(struct pseudonyms *pseudonyms, unsigned char *messages, size_t length);

/* Messages of NETLINK_GENERIC; `name` of the request says which family answered. What is not known becomes empty. */
void redact_netlink_generic(struct pseudonyms *pseudonyms, const char *name, unsigned char *messages, size_t length);

/* Messages of another protocol: what is not known may hold anything, so all become empty. */
void redact_netlink_other(struct pseudonyms *pseudonyms, unsigned char *messages, size_t length);

#endif
