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

enum { FILTER_COUNTS = 16, FILTER_NAME_SIZE = 120 };

/* One kind of finding per line of text: "nft inet t input: 1 rule drops, on UDP port 4791; netem on eth0: loss 100 %".
 */
struct filter_text {
	char text[400];
	size_t used;
	/* What those that count have dropped since they were made. */
	struct filter_count {
		char name[FILTER_NAME_SIZE];
		int64_t dropped;
	} counts[FILTER_COUNTS];
	size_t count;
};

/* Parse netlink dumps: NFT_MSG_NEWCHAIN, NFT_MSG_NEWRULE, RTM_NEWQDISC of one netdev. 0 or -EBADMSG. */
int filters_parse_chains(const void *data, size_t length, struct filter_text *out);
int filters_parse_rules(const void *data, size_t length, struct filter_text *out);
int filters_parse_qdiscs(const void *data, size_t length, int ifindex, const char *netdev, struct filter_text *out);

/*
 * Fills the filter of the facts of this side, a software device, at the first look, adds what the next one finds
 * besides, and puts what it has dropped into the counters: before at the first look, after at the next. What could not
 * be looked at goes to the report.
 */
void filters_look(struct probe_run *run, struct origin *origin, int side);

#endif
