/* SPDX-License-Identifier: MIT */
#include "source/nft.h"

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
#include <string.h>

enum { ROCE_PORT = 4791 };

/* ---- one rule ---- */

const char *nft_family_name(const struct nlmsghdr *message)
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

const char *nft_text(const struct nlattr *attribute)
{
	return attribute && !mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) ? mnl_attr_get_str(attribute) : "?";
}

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
	struct nft_rule *rule = data;
	nl_nested(element, table, NFTA_EXPR_DATA);
	const char *name = nft_text(table[NFTA_EXPR_NAME]);
	if (!strcmp(name, "immediate"))
		rule->drops |= is_drop(table[NFTA_EXPR_DATA]);
	else if (!strcmp(name, "reject"))
		rule->drops = true;
	else if (!strcmp(name, "counter"))
		rule->packets = packets_of(table[NFTA_EXPR_DATA]);
	else
		rule->packets = (struct num){ 0 }; /* what was counted may not match this */
	if (!strcmp(name, "cmp"))
		rule->names_port |= compares_port(table[NFTA_EXPR_DATA]);
	return MNL_CB_OK;
}

int nft_rule_parse(const struct nlmsghdr *message, struct nft_rule *rule)
{
	const struct nlattr *table[NFTA_RULE_EXPRESSIONS + 1];
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct nfgenmsg))
		return -EBADMSG;
	nl_attributes(message, sizeof(struct nfgenmsg), table, NFTA_RULE_EXPRESSIONS);
	uint64_t handle = 0;
	if (table[NFTA_RULE_HANDLE])
		nl_u64(table[NFTA_RULE_HANDLE], &handle);
	*rule = (struct nft_rule){ .family = nft_family_name(message),
		.table = nft_text(table[NFTA_RULE_TABLE]),
		.chain = nft_text(table[NFTA_RULE_CHAIN]),
		.handle = be64toh(handle) };
	if (table[NFTA_RULE_EXPRESSIONS])
		mnl_attr_parse_nested(table[NFTA_RULE_EXPRESSIONS], take_expression, rule);
	return 0;
}

/* ---- asking ---- */

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

int nft_dump(struct nl_request requests[static NFT_DUMPS])
{
	static const int types[NFT_DUMPS] = { [NFT_CHAINS] = NFT_MSG_GETCHAIN, [NFT_RULES] = NFT_MSG_GETRULE };
	static const char *const names[NFT_DUMPS] = { [NFT_CHAINS] = "chain", [NFT_RULES] = "rule" };
	autocall(nl_socket_close) struct nl_socket socket = NL_SOCKET_CLOSED;
	_Alignas(struct nlmsghdr) char buffers[NFT_DUMPS][64];
	for (size_t i = 0; i < NFT_DUMPS; i++)
		requests[i] = (struct nl_request){ .name = names[i],
			.message =
			        put_dump(buffers[i], NFNL_SUBSYS_NFTABLES << 8 | types[i], sizeof(struct nfgenmsg)) };
	int result = nl_exchange(&socket, NETLINK_NETFILTER, requests, NFT_DUMPS);
	for (size_t i = 0; i < NFT_DUMPS; i++) {
		result = result ? result : requests[i].error;
		requests[i].message = NULL;
	}
	return is_absent(result) ? -EOPNOTSUPP : result;
}

/* ---- what is dropped of RoCE ---- */

struct drops {
	struct arena *arena;
	struct filter_answer *answer;
};

static int take_drop(const struct nlmsghdr *message, void *data)
{
	const struct drops *drops = data;
	struct nft_rule rule;
	int result = nft_rule_parse(message, &rule);
	if (result || !rule.drops || !rule.names_port)
		return result;
	struct filter_rule *kept = list_add(drops->arena, &drops->answer->rules);
	if (!kept)
		return -ENOMEM;
	kept->name = arena_printf(
	        drops->arena, "nft %s %s %s rule %" PRIu64, rule.family, rule.table, rule.chain, rule.handle);
	kept->packets = rule.packets;
	return kept->name ? 0 : -ENOMEM;
}

int nft_parse_drops(struct arena *arena, const void *data, size_t length, struct filter_answer *answer)
{
	struct drops drops = { arena, answer };
	return nl_each_message(data, length, take_drop, &drops);
}

int nft_read_drops(struct arena *arena, struct filter_answer *answer, struct error *error)
{
	struct nl_request requests[NFT_DUMPS];
	int result = nft_dump(requests);
	if (!result)
		result = nft_parse_drops(arena, requests[NFT_RULES].reply, requests[NFT_RULES].length, answer);
	nl_requests_free(requests, NFT_DUMPS);
	return result && result != -EOPNOTSUPP ? error_set(error, result, "the rules of nftables") : 0;
}
