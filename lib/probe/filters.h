/* SPDX-License-Identifier: MIT */
/*
 * What on this host may drop the packets of a software device: nftables rules and policies, tables of iptables-legacy,
 * and queueing disciplines of the netdev. Adapters that put the packets on the wire themselves do not pass any of
 * these.
 */
#ifndef RDMADIAG_PROBE_FILTERS_H
#define RDMADIAG_PROBE_FILTERS_H

#include "origin/origin.h"
#include "probe/run.h"

#include <stddef.h>

/* One kind of finding per line of text: "nft inet t input: 1 rule drops, on UDP port 4791; netem on eth0: loss 100 %".
 */
struct filter_text {
	char text[400];
	size_t used;
};

/* Parse netlink dumps: NFT_MSG_NEWCHAIN, NFT_MSG_NEWRULE, RTM_NEWQDISC of one netdev. 0 or -EBADMSG. */
int filters_parse_chains(const void *data, size_t length, struct filter_text *out);
int filters_parse_rules(const void *data, size_t length, struct filter_text *out);
int filters_parse_qdiscs(const void *data, size_t length, int ifindex, const char *netdev, struct filter_text *out);

/* Fills facts->filter of a software device; what could not be looked at goes to the report. */
void filters_look(struct probe_run *run, struct origin *origin, struct endpoint_facts *facts);

#endif
