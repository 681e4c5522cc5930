/* SPDX-License-Identifier: MIT */
/* One management datagram (MAD) to the adapter itself, through /dev/infiniband/umadN. */
#ifndef RDMADIAG_ORIGIN_UMAD_H
#define RDMADIAG_ORIGIN_UMAD_H

#include "origin/origin.h"

/* See origin_mad(). */
int umad_exchange(struct mad_request *request);
/* Fills the 256 bytes of the request: SubnGet by a directed route of no hops. */
void umad_build(const struct mad_request *request, unsigned char mad[static MAD_SIZE]);
/* 0, or -EPROTO for what is no answer to `request`, -EOPNOTSUPP where the adapter refused it. */
int umad_check(const struct mad_request *request, const unsigned char mad[static MAD_SIZE]);

#endif
