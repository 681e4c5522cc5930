/* SPDX-License-Identifier: MIT */
/* nftables: what its rules drop (linux/netfilter/nf_tables.h). */
#ifndef RDMADIAG_SOURCE_NFT_H
#define RDMADIAG_SOURCE_NFT_H

#include "base/error.h"
#include "model/health.h"
#include "origin/origin.h"

#include <libmnl/libmnl.h>

struct nft_rule {
	const char *family, *table, *chain; /* as long as the message is there */
	uint64_t handle;
	bool drops;
	bool names_port;    /* compares two bytes with the port of RoCE v2 */
	struct num packets; /* that passed all of its matches; unknown: it has no counter behind them */
};

/* Of NFT_MSG_NEWRULE; 0 or -EBADMSG. */
int nft_rule_parse(const struct nlmsghdr *message, struct nft_rule *rule);
/* inet, ip, …; "?" */
const char *nft_family_name(const struct nlmsghdr *message);
/* "?" where it is no text. */
const char *nft_text(const struct nlattr *attribute);

enum { NFT_CHAINS, NFT_RULES, NFT_DUMPS };
/*
 * Dumps of all chains and rules of this network namespace, which need CAP_NET_ADMIN; to be freed with
 * nl_requests_free(). 0 or negative errno; -EOPNOTSUPP: this kernel has no nftables.
 */
int nft_dump(struct nl_request requests[static NFT_DUMPS]);

/* The rules that drop packets of the port of RoCE v2. 0, also without nftables, or negative errno with `error`. */
int nft_read_drops(struct arena *arena, struct filter_answer *answer, struct error *error);
/* The same of a dump of rules. */
int nft_parse_drops(struct arena *arena, const void *data, size_t length, struct filter_answer *answer);

#endif
