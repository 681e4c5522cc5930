/* SPDX-License-Identifier: MIT */
#include "probe/filters.h"

#include "base/cleanup.h"
#include "origin/netlink.h"
#include "source/nl_attr.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ROCE_PORT = 4791 };

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

static const char *family_name(const struct nlmsghdr *message)
{
	const struct nfgenmsg *head = mnl_nlmsg_get_payload(message);
	switch (head->nfgen_family) {
	case NFPROTO_INET:
		return "inet";
	case NFPROTO_IPV4:
		return "ip";
	case NFPROTO_IPV6:
		return "ip6";
	case NFPROTO_NETDEV:
		return "netdev";
	case NFPROTO_BRIDGE:
		return "bridge";
	default:
		return "?";
	}
}

static uint32_t big_endian(const struct nlattr *attribute)
{
	return ntohl((uint32_t)nl_u32(attribute).value);
}

static const char *text_of(const struct nlattr *attribute)
{
	return attribute && !mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) ? mnl_attr_get_str(attribute) : "?";
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
		say(out, "nft %s %s %s: policy drop", family_name(message), text_of(table[NFTA_CHAIN_TABLE]),
		        text_of(table[NFTA_CHAIN_NAME]));
	return 0;
}

int filters_parse_chains(const void *data, size_t length, struct filter_text *out)
{
	return nl_each_message(data, length, take_chain, out);
}

/* What the expressions of one rule say. */
struct rule_facts {
	bool drops;
	bool names_port;    /* compares two bytes with the port of RoCE v2 */
	struct num packets; /* that passed all of its matches; unknown: it has no counter behind them */
};

static struct num packets_of(const struct nlattr *data)
{
	const struct nlattr *counter[NFTA_COUNTER_PACKETS + 1];
	uint64_t packets;
	nl_nested(data, counter, NFTA_COUNTER_PACKETS);
	if (nl_u64(counter[NFTA_COUNTER_PACKETS], &packets))
		return (struct num){ 0 };
	return num((int64_t)(be64toh(packets) & INT64_MAX));
}

static bool is_drop(const struct nlattr *data)
{
	const struct nlattr *immediate[NFTA_IMMEDIATE_DATA + 1], *value[NFTA_DATA_VERDICT + 1],
	        *verdict[NFTA_VERDICT_CODE + 1];
	nl_nested(data, immediate, NFTA_IMMEDIATE_DATA);
	nl_nested(immediate[NFTA_IMMEDIATE_DATA], value, NFTA_DATA_VERDICT);
	nl_nested(value[NFTA_DATA_VERDICT], verdict, NFTA_VERDICT_CODE);
	return nl_u32(verdict[NFTA_VERDICT_CODE]).known && big_endian(verdict[NFTA_VERDICT_CODE]) == NF_DROP;
}

static bool compares_port(const struct nlattr *data)
{
	const struct nlattr *compare[NFTA_CMP_DATA + 1], *value[NFTA_DATA_VALUE + 1];
	nl_nested(data, compare, NFTA_CMP_DATA);
	nl_nested(compare[NFTA_CMP_DATA], value, NFTA_DATA_VALUE);
	const struct nlattr *bytes = value[NFTA_DATA_VALUE];
	const uint16_t port = htons(ROCE_PORT);
	return bytes && mnl_attr_get_payload_len(bytes) == sizeof(port) &&
	       !memcmp(mnl_attr_get_payload(bytes), &port, sizeof(port));
}

static int take_expression(const struct nlattr *element, void *data)
{
	const struct nlattr *table[NFTA_EXPR_DATA + 1];
	struct rule_facts *facts = data;
	nl_nested(element, table, NFTA_EXPR_DATA);
	const char *name = text_of(table[NFTA_EXPR_NAME]);
	if (!strcmp(name, "immediate"))
		facts->drops |= is_drop(table[NFTA_EXPR_DATA]);
	else if (!strcmp(name, "reject"))
		facts->drops = true;
	else if (!strcmp(name, "counter"))
		facts->packets = packets_of(table[NFTA_EXPR_DATA]);
	else
		facts->packets = (struct num){ 0 }; /* what was counted may not match this */
	if (!strcmp(name, "cmp"))
		facts->names_port |= compares_port(table[NFTA_EXPR_DATA]);
	return MNL_CB_OK;
}

static int take_rule(const struct nlmsghdr *message, void *out)
{
	const struct nlattr *table[NFTA_RULE_EXPRESSIONS + 1];
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct nfgenmsg))
		return -EBADMSG;
	nl_attributes(message, sizeof(struct nfgenmsg), table, NFTA_RULE_EXPRESSIONS);
	struct rule_facts facts = { 0 };
	if (table[NFTA_RULE_EXPRESSIONS])
		mnl_attr_parse_nested(table[NFTA_RULE_EXPRESSIONS], take_expression, &facts);
	if (facts.drops)
		say(out, "nft %s %s %s: a rule drops%s%s", family_name(message), text_of(table[NFTA_RULE_TABLE]),
		        text_of(table[NFTA_RULE_CHAIN]), facts.names_port ? " UDP port 4791" : "",
		        facts.packets.known ? "" : ", without a counter");
	uint64_t handle = 0;
	if (table[NFTA_RULE_HANDLE])
		nl_u64(table[NFTA_RULE_HANDLE], &handle);
	if (facts.drops && facts.packets.known)
		keep_count(out, facts.packets.value, "nft %s %.32s %.32s rule %" PRIu64 "%s", family_name(message),
		        text_of(table[NFTA_RULE_TABLE]), text_of(table[NFTA_RULE_CHAIN]), be64toh(handle),
		        facts.names_port ? " (UDP 4791)" : "");
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

/* Those that drop only when the queue of the netdev is full. */
static bool is_plain(const char *kind)
{
	static const char *const plain[] = { "noqueue", "pfifo_fast", "pfifo", "bfifo", "fq", "fq_codel", "codel", "mq",
		"mqprio", "prio", "sfq", "multiq" };
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (!strcmp(kind, plain[i]))
			return true;
	return false;
}

static uint32_t netem_loss(const struct nlattr *options)
{
	struct tc_netem_qopt qopt;
	if (!options || mnl_attr_get_payload_len(options) < sizeof(qopt))
		return 0;
	memcpy(&qopt, mnl_attr_get_payload(options), sizeof(qopt));
	return qopt.loss;
}

/* struct tc_stats of linux/pkt_sched.h. */
static struct num qdisc_drops(const struct nlattr *stats)
{
	struct tc_stats values;
	if (!stats || mnl_attr_get_payload_len(stats) < offsetof(struct tc_stats, drops) + sizeof(values.drops))
		return (struct num){ 0 };
	memcpy(&values.drops, (const char *)mnl_attr_get_payload(stats) + offsetof(struct tc_stats, drops),
	        sizeof(values.drops));
	return num(values.drops);
}

static int take_qdisc(const struct nlmsghdr *message, void *data)
{
	const struct qdisc_search *search = data;
	const struct nlattr *table[TCA_STATS + 1];
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct tcmsg))
		return -EBADMSG;
	const struct tcmsg *head = mnl_nlmsg_get_payload(message);
	nl_attributes(message, sizeof(*head), table, TCA_STATS);
	const char *kind = text_of(table[TCA_KIND]);
	if (head->tcm_ifindex != search->ifindex || is_plain(kind))
		return 0;
	/* The share is scaled to the whole range of 32 bits. */
	uint32_t loss = !strcmp(kind, "netem") ? netem_loss(table[TCA_OPTIONS]) : 0;
	if (loss)
		say(search->out, "netem on %s: loss %.3g %%", search->netdev, (double)loss * 100.0 / UINT32_MAX);
	else
		say(search->out, "queueing discipline %s on %s", kind, search->netdev);
	struct num drops = qdisc_drops(table[TCA_STATS]);
	if (drops.known)
		keep_count(search->out, drops.value, "qdisc %.32s on %.32s handle %x", kind, search->netdev,
		        head->tcm_handle);
	return 0;
}

int filters_parse_qdiscs(const void *data, size_t length, int ifindex, const char *netdev, struct filter_text *out)
{
	struct qdisc_search search = { .out = out, .ifindex = ifindex, .netdev = netdev };
	return nl_each_message(data, length, take_qdisc, &search);
}

/* ---- asking ---- */

static void close_socket(struct nl_socket *socket)
{
	nl_socket_close(socket);
}

static struct nlmsghdr *put_dump(char *buffer, int type, size_t head)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = (uint16_t)type;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(message, head);
	return message;
}

static bool is_absent(int error)
{
	return error == -EOPNOTSUPP || error == -EPROTONOSUPPORT || error == -EINVAL || error == -ENOENT;
}

/* 0, also where the kernel has no nftables. */
static int look_at_nftables(struct filter_text *out)
{
	struct nl_socket socket __attribute__((cleanup(close_socket))) = NL_SOCKET_CLOSED;
	_Alignas(struct nlmsghdr) char chains[64], rules[64];
	int subsystem = NFNL_SUBSYS_NFTABLES << 8;
	struct nl_request requests[] = {
		{ .name = "chain", .message = put_dump(chains, subsystem | NFT_MSG_GETCHAIN, sizeof(struct nfgenmsg)) },
		{ .name = "rule", .message = put_dump(rules, subsystem | NFT_MSG_GETRULE, sizeof(struct nfgenmsg)) },
	};
	int result = nl_exchange(&socket, NETLINK_NETFILTER, requests, ARRAY_SIZE(requests));
	for (size_t i = 0; i < ARRAY_SIZE(requests) && !result; i++)
		result = requests[i].error;
	result = result ? result : filters_parse_chains(requests[0].reply, requests[0].length, out);
	result = result ? result : filters_parse_rules(requests[1].reply, requests[1].length, out);
	nl_requests_free(requests, ARRAY_SIZE(requests));
	return is_absent(result) ? 0 : result;
}

static int look_at_qdiscs(const char *netdev, struct filter_text *out)
{
	struct nl_socket socket __attribute__((cleanup(close_socket))) = NL_SOCKET_CLOSED;
	_Alignas(struct nlmsghdr) char buffer[64];
	unsigned int ifindex = if_nametoindex(netdev);
	struct nl_request request = { .name = "qdisc",
		.message = put_dump(buffer, RTM_GETQDISC, sizeof(struct tcmsg)) };
	if (!ifindex)
		return 0;
	int result = nl_exchange(&socket, NETLINK_ROUTE, &request, 1);
	result = result ? result : request.error;
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
	/* What was found is a fact; that nothing more is there only if all was looked at. */
	if (first && (!result || found.used))
		facts->filter = arena_strdup(run->arena, found.text);
}
