/* SPDX-License-Identifier: MIT */
#include "probe/filters.h"

#include "base/cleanup.h"
#include "origin/netlink.h"
#include "source/nft.h"
#include "source/nl_attr.h"
#include "source/qdisc.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void say(struct filter_text *out, const char *format, ...)
{
	size_t left = sizeof(out->text) - out->used;
	if (left < 8)
		return;
	if (out->used)
		out->used += (size_t)snprintf(out->text + out->used, left, "; ");
	left = sizeof(out->text) - out->used;
	va_list args;
	va_start(args, format);
	int length = vsnprintf(out->text + out->used, left, format, args);
	va_end(args);
	out->used += length < 0 ? 0 : (size_t)length < left ? (size_t)length : left - 1;
}

__attribute__((format(printf, 3, 4))) static void keep_count(
        struct filter_text *out, int64_t dropped, const char *format, ...)
{
	if (out->count == FILTER_COUNTS)
		return;
	struct filter_count *count = &out->counts[out->count++];
	va_list args;
	va_start(args, format);
	vsnprintf(count->name, sizeof(count->name), format, args);
	va_end(args);
	count->dropped = dropped;
}

/* ---- nftables (linux/netfilter/nf_tables.h) ---- */

static uint32_t big_endian(const struct nlattr *attribute)
{
	return ntohl((uint32_t)nl_u32(attribute).value);
}

static int take_chain(const struct nlmsghdr *message, void *out)
{
	const struct nlattr *table[NFTA_CHAIN_POLICY + 1], *hook[NFTA_HOOK_HOOKNUM + 1];
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct nfgenmsg))
		return -EBADMSG;
	nl_attributes(message, sizeof(struct nfgenmsg), table, NFTA_CHAIN_POLICY);
	nl_nested(table[NFTA_CHAIN_HOOK], hook, NFTA_HOOK_HOOKNUM);
	bool drops = nl_u32(table[NFTA_CHAIN_POLICY]).known && big_endian(table[NFTA_CHAIN_POLICY]) == NF_DROP;
	bool forwards = hook[NFTA_HOOK_HOOKNUM] && big_endian(hook[NFTA_HOOK_HOOKNUM]) == NF_INET_FORWARD;
	if (drops && !forwards)
		say(out, "nft %s %s %s: policy drop", nft_family_name(message), nft_text(table[NFTA_CHAIN_TABLE]),
		        nft_text(table[NFTA_CHAIN_NAME]));
	return 0;
}

int filters_parse_chains(const void *data, size_t length, struct filter_text *out)
{
	return nl_each_message(data, length, take_chain, out);
}

static int take_rule(const struct nlmsghdr *message, void *out)
{
	struct nft_rule rule;
	int result = nft_rule_parse(message, &rule);
	if (result || !rule.drops)
		return result;
	say(out, "nft %s %s %s: a rule drops%s%s", rule.family, rule.table, rule.chain,
	        rule.names_port ? " UDP port 4791" : "", rule.packets.known ? "" : ", without a counter");
	if (rule.packets.known)
		keep_count(out, rule.packets.value, "nft %s %.32s %.32s rule %" PRIu64 "%s", rule.family, rule.table,
		        rule.chain, rule.handle, rule.names_port ? " (UDP 4791)" : "");
	return 0;
}

int filters_parse_rules(const void *data, size_t length, struct filter_text *out)
{
	return nl_each_message(data, length, take_rule, out);
}

/* ---- queueing disciplines (linux/pkt_sched.h) ---- */

struct qdisc_search {
	struct filter_text *out;
	int ifindex;
	const char *netdev;
};

static int take_qdisc(const struct nlmsghdr *message, void *data)
{
	const struct qdisc_search *search = data;
	struct qdisc qdisc;
	char text[QDISC_TEXT_SIZE];
	int result = qdisc_parse(message, &qdisc);
	if (result || qdisc.ifindex != search->ifindex || qdisc_is_plain(&qdisc))
		return result;
	qdisc_describe(&qdisc, search->netdev, text);
	say(search->out, "%s", text);
	if (qdisc.drops.known)
		keep_count(search->out, qdisc.drops.value, "qdisc %.32s on %.32s handle %x", qdisc.kind, search->netdev,
		        qdisc.handle);
	return 0;
}

int filters_parse_qdiscs(const void *data, size_t length, int ifindex, const char *netdev, struct filter_text *out)
{
	struct qdisc_search search = { .out = out, .ifindex = ifindex, .netdev = netdev };
	return nl_each_message(data, length, take_qdisc, &search);
}

/* ---- asking ---- */

static int look_at_nftables(struct filter_text *out)
{
	struct nl_request requests[NFT_DUMPS];
	int result = nft_dump(requests);
	result = result ? result : filters_parse_chains(requests[NFT_CHAINS].reply, requests[NFT_CHAINS].length, out);
	result = result ? result : filters_parse_rules(requests[NFT_RULES].reply, requests[NFT_RULES].length, out);
	nl_requests_free(requests, NFT_DUMPS);
	return result == -EOPNOTSUPP ? 0 : result;
}

static int look_at_qdiscs(const char *netdev, struct filter_text *out)
{
	unsigned int ifindex = if_nametoindex(netdev);
	autocall(nl_socket_close) struct nl_socket socket = NL_SOCKET_CLOSED;
	struct nl_request request;
	if (!ifindex)
		return 0;
	int result = qdisc_dump(&socket, &request);
	result = result ? result : filters_parse_qdiscs(request.reply, request.length, (int)ifindex, netdev, out);
	nl_requests_free(&request, 1);
	return result;
}

/* The rules of iptables-legacy are not told by netlink; that there are tables, procfs tells. */
static int look_at_iptables(struct origin *origin, struct filter_text *out)
{
	char names[128];
	ssize_t length = origin_read(origin, "proc/net/ip_tables_names", names, sizeof(names));
	if (length < 0)
		return length == -ENOENT ? 0 : (int)length;
	for (char *at = names; *at; at++)
		if (*at == '\n')
			*at = at[1] ? ' ' : '\0';
	if (*names)
		say(out, "iptables-legacy has tables (%s) whose rules were not read", names);
	return 0;
}

static bool passes_the_stack(const struct endpoint_facts *facts)
{
	return facts->driver && (!strcmp(facts->driver, "rdma_rxe") || !strcmp(facts->driver, "siw"));
}

/* A rule that is new at the second look is left out: since when it drops is not known. */
static void keep_counts(struct probe_run *run, int side, const struct filter_text *found, bool first)
{
	struct evidence *evidence = run_evidence(run);
	for (size_t i = 0; i < found->count; i++) {
		const struct filter_count *count = &found->counts[i];
		struct counter_change *change = first ? list_add(run->arena, &evidence->counters) : NULL;
		if (change)
			*change = (struct counter_change){ .side = side,
				.name = arena_strdup(run->arena, count->name),
				.before = num(count->dropped),
				.after = num(count->dropped) };
		list_each(known, &evidence->counters)
			if (!first && known->side == side && known->name && !strcmp(known->name, count->name))
				known->after = num(count->dropped);
	}
}

/*
 * What was found is a fact; that nothing more is there only if all was looked at. What somebody added during the run
 * may have dropped what is missing, and so may what was taken away.
 */
static void keep_text(struct probe_run *run, struct endpoint_facts *facts, const struct filter_text *found, int result)
{
	const char *before = facts->filter;
	if (!before ? result && !found->used : !found->used || !strcmp(before, found->text))
		return;
	facts->filter = before ? arena_printf(run->arena, "%s%sat the end of the run: %s", before, *before ? "; " : "",
	                                 found->text)
	                       : arena_strdup(run->arena, found->text);
}

void filters_look(struct probe_run *run, struct origin *origin, int side)
{
	struct endpoint_facts *facts = run_facts(run, side);
	bool first = !facts->filter;
	struct filter_text found = { 0 };
	if (!passes_the_stack(facts))
		return;
	run_enter(run, "reading packet filters", STEP_LIMIT_MS);
	int result = look_at_nftables(&found);
	result = result ? result : look_at_iptables(origin, &found);
	if (!result && facts->netdev)
		result = look_at_qdiscs(facts->netdev, &found);
	run_leave(run);
	if (result)
		report_missing(&run->report, "filter", "host", result, "packet filters and queueing disciplines: %s",
		        strerror(-result));
	keep_counts(run, side, &found, first);
	keep_text(run, facts, &found, result);
}
