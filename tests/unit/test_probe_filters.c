/* SPDX-License-Identifier: MIT */
/* Packet filters and queueing disciplines from netlink dumps, whole and cut short. */
#include "unit.h"

#include "probe/filters.h"
#include "source/nft.h"
#include "source/qdisc.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

static _Alignas(struct nlmsghdr) char buffer[4096];

static struct nlmsghdr *start(int type, int family)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type);
	struct nfgenmsg *head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->nfgen_family = (uint8_t)family;
	return message;
}

static struct nlmsghdr *chain(int hook, int policy)
{
	struct nlmsghdr *message = start(NFT_MSG_NEWCHAIN, NFPROTO_INET);
	mnl_attr_put_strz(message, NFTA_CHAIN_TABLE, "filter");
	mnl_attr_put_strz(message, NFTA_CHAIN_NAME, "in");
	struct nlattr *nest = mnl_attr_nest_start(message, NFTA_CHAIN_HOOK);
	mnl_attr_put_u32(message, NFTA_HOOK_HOOKNUM, htonl((uint32_t)hook));
	mnl_attr_nest_end(message, nest);
	mnl_attr_put_u32(message, NFTA_CHAIN_POLICY, htonl((uint32_t)policy));
	return message;
}

static void put_compare(struct nlmsghdr *message, uint16_t port)
{
	uint16_t bytes = htons(port);
	struct nlattr *element = mnl_attr_nest_start(message, NFTA_LIST_ELEM);
	mnl_attr_put_strz(message, NFTA_EXPR_NAME, "cmp");
	struct nlattr *data = mnl_attr_nest_start(message, NFTA_EXPR_DATA);
	struct nlattr *value = mnl_attr_nest_start(message, NFTA_CMP_DATA);
	mnl_attr_put(message, NFTA_DATA_VALUE, sizeof(bytes), &bytes);
	mnl_attr_nest_end(message, value);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, element);
}

static void put_verdict(struct nlmsghdr *message, int verdict)
{
	struct nlattr *element = mnl_attr_nest_start(message, NFTA_LIST_ELEM);
	mnl_attr_put_strz(message, NFTA_EXPR_NAME, "immediate");
	struct nlattr *data = mnl_attr_nest_start(message, NFTA_EXPR_DATA);
	struct nlattr *value = mnl_attr_nest_start(message, NFTA_IMMEDIATE_DATA);
	struct nlattr *code = mnl_attr_nest_start(message, NFTA_DATA_VERDICT);
	mnl_attr_put_u32(message, NFTA_VERDICT_CODE, htonl((uint32_t)verdict));
	mnl_attr_nest_end(message, code);
	mnl_attr_nest_end(message, value);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, element);
}

static void put_counter(struct nlmsghdr *message, uint64_t packets)
{
	struct nlattr *element = mnl_attr_nest_start(message, NFTA_LIST_ELEM);
	mnl_attr_put_strz(message, NFTA_EXPR_NAME, "counter");
	struct nlattr *data = mnl_attr_nest_start(message, NFTA_EXPR_DATA);
	mnl_attr_put_u64(message, NFTA_COUNTER_PACKETS, htobe64(packets));
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, element);
}

/* A rule that counts before or behind its match. */
static struct nlmsghdr *counting_rule(bool before, int verdict)
{
	struct nlmsghdr *message = start(NFT_MSG_NEWRULE, NFPROTO_IPV4);
	mnl_attr_put_strz(message, NFTA_RULE_TABLE, "t");
	mnl_attr_put_strz(message, NFTA_RULE_CHAIN, "c");
	mnl_attr_put_u64(message, NFTA_RULE_HANDLE, htobe64(9));
	struct nlattr *list = mnl_attr_nest_start(message, NFTA_RULE_EXPRESSIONS);
	if (before)
		put_counter(message, 41);
	put_compare(message, 4791);
	if (!before)
		put_counter(message, 42);
	put_verdict(message, verdict);
	mnl_attr_nest_end(message, list);
	return message;
}

static struct nlmsghdr *rule(uint16_t port, int verdict)
{
	struct nlmsghdr *message = start(NFT_MSG_NEWRULE, NFPROTO_IPV4);
	mnl_attr_put_strz(message, NFTA_RULE_TABLE, "t");
	mnl_attr_put_strz(message, NFTA_RULE_CHAIN, "c");
	struct nlattr *list = mnl_attr_nest_start(message, NFTA_RULE_EXPRESSIONS);
	put_compare(message, port);
	put_verdict(message, verdict);
	mnl_attr_nest_end(message, list);
	return message;
}

static struct nlmsghdr *qdisc(int ifindex, const char *kind, uint32_t loss, int64_t delay_ns)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = RTM_NEWQDISC;
	struct tcmsg *head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->tcm_ifindex = ifindex;
	mnl_attr_put_strz(message, TCA_KIND, kind);
	struct tc_netem_qopt options = { .loss = loss };
	if (!loss && !delay_ns)
		return message;
	/* A struct, and attributes behind it. */
	struct nlattr *attribute = mnl_nlmsg_get_payload_tail(message);
	mnl_attr_put(message, TCA_OPTIONS, sizeof(options), &options);
	mnl_attr_put(message, TCA_NETEM_LATENCY64, sizeof(delay_ns), &delay_ns);
	attribute->nla_len = (uint16_t)((char *)mnl_nlmsg_get_payload_tail(message) - (char *)attribute);
	return message;
}

static void chains_that_drop_by_policy(void **state)
{
	(void)state;
	struct filter_text text = { 0 };
	struct nlmsghdr *message = chain(NF_INET_LOCAL_IN, NF_ACCEPT);
	assert_int_equal(filters_parse_chains(message, message->nlmsg_len, &text), 0);
	message = chain(NF_INET_FORWARD, NF_DROP); /* not in the way of the host's own packets */
	assert_int_equal(filters_parse_chains(message, message->nlmsg_len, &text), 0);
	assert_string_equal(text.text, "");
	message = chain(NF_INET_LOCAL_IN, NF_DROP);
	assert_int_equal(filters_parse_chains(message, message->nlmsg_len, &text), 0);
	assert_string_equal(text.text, "nft inet filter in: policy drop");
}

static void rules_that_drop(void **state)
{
	(void)state;
	struct filter_text text = { 0 };
	struct nlmsghdr *message = rule(4791, NF_ACCEPT);
	assert_int_equal(filters_parse_rules(message, message->nlmsg_len, &text), 0);
	assert_string_equal(text.text, "");
	message = rule(53, NF_DROP);
	assert_int_equal(filters_parse_rules(message, message->nlmsg_len, &text), 0);
	assert_string_equal(text.text, "nft ip t c: a rule drops, without a counter");
	message = rule(4791, NF_DROP);
	assert_int_equal(filters_parse_rules(message, message->nlmsg_len, &text), 0);
	assert_string_equal(text.text, "nft ip t c: a rule drops, without a counter; "
	                               "nft ip t c: a rule drops UDP port 4791, without a counter");
}

/* For `check`: only those that name the port of RoCE v2, each with what it has dropped. */
static void rules_that_drop_roce(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct filter_answer answer = { 0 };
	struct nlmsghdr *message = rule(53, NF_DROP);
	assert_int_equal(nft_parse_drops(arena, message, message->nlmsg_len, &answer), 0);
	message = rule(4791, NF_ACCEPT);
	assert_int_equal(nft_parse_drops(arena, message, message->nlmsg_len, &answer), 0);
	assert_int_equal(answer.rules.count, 0);
	message = counting_rule(false, NF_DROP);
	assert_int_equal(nft_parse_drops(arena, message, message->nlmsg_len, &answer), 0);
	message = rule(4791, NF_DROP);
	assert_int_equal(nft_parse_drops(arena, message, message->nlmsg_len, &answer), 0);
	assert_int_equal(answer.rules.count, 2);
	assert_string_equal(answer.rules.items[0]->name, "nft ip t c rule 9");
	assert_true(num_is(answer.rules.items[0]->packets, 42));
	assert_string_equal(answer.rules.items[1]->name, "nft ip t c rule 0");
	assert_false(answer.rules.items[1]->packets.known);
	assert_int_equal(nft_parse_drops(arena, message, message->nlmsg_len - 1, &answer), -EBADMSG);
	arena_free(arena);
}

static void what_rules_count(void **state)
{
	(void)state;
	struct filter_text text = { 0 };
	struct nlmsghdr *message = counting_rule(false, NF_DROP);
	assert_int_equal(filters_parse_rules(message, message->nlmsg_len, &text), 0);
	assert_int_equal(text.count, 1);
	assert_string_equal(text.counts[0].name, "nft ip t c rule 9 (UDP 4791)");
	assert_int_equal(text.counts[0].dropped, 42);
	/* Packets that were counted before the match need not have been dropped; accepted ones were not. */
	message = counting_rule(true, NF_DROP);
	assert_int_equal(filters_parse_rules(message, message->nlmsg_len, &text), 0);
	message = counting_rule(false, NF_ACCEPT);
	assert_int_equal(filters_parse_rules(message, message->nlmsg_len, &text), 0);
	assert_int_equal(text.count, 1);
	for (int i = 0; i < 100; i++) {
		message = counting_rule(false, NF_DROP);
		assert_int_equal(filters_parse_rules(message, message->nlmsg_len, &text), 0);
	}
	assert_int_equal(text.count, FILTER_COUNTS);
}

static void disciplines_of_the_netdev(void **state)
{
	(void)state;
	struct filter_text text = { 0 };
	static const struct {
		int ifindex;
		const char *kind;
		uint32_t loss;
		int64_t delay_ns;
	} cases[] = { { 7, "fq_codel", 0, 0 }, { 8, "netem", UINT32_MAX, 0 }, { 7, "netem", UINT32_MAX / 2, 0 },
		{ 7, "netem", 0, 60000000 }, { 7, "netem", UINT32_MAX / 20, 1500000 }, { 7, "netem", 0, 0 },
		{ 7, "tbf", 0, 0 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct nlmsghdr *message = qdisc(cases[i].ifindex, cases[i].kind, cases[i].loss, cases[i].delay_ns);
		assert_int_equal(filters_parse_qdiscs(message, message->nlmsg_len, 7, "eth0", &text), 0);
	}
	assert_string_equal(text.text,
	        "netem on eth0: loss 50 %; netem on eth0: delay 60.0 ms; netem on eth0: delay 1.50 ms, loss 5 %; "
	        "netem on eth0; queueing discipline tbf on eth0");
}

static void disciplines_that_limit(void **state)
{
	(void)state;
	static const struct {
		const char *kind;
		bool limits;
	} cases[] = { { "tbf", true }, { "htb", true }, { "red", true }, { "netem", true }, { "clsact", false },
		{ "ingress", false }, { "mq", false }, { "fq_codel", false }, { "noqueue", false } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(qdisc_limits(&(struct qdisc){ .kind = cases[i].kind }), cases[i].limits);
}

static void what_netem_does(void **state)
{
	(void)state;
	struct nlmsghdr *message = qdisc(7, "netem", UINT32_MAX / 50, 0);
	struct nlattr *options = (void *)((char *)mnl_nlmsg_get_payload_tail(message) - 40);
	assert_int_equal(mnl_attr_get_type(options), TCA_OPTIONS);
	((struct tc_netem_qopt *)mnl_attr_get_payload(options))->duplicate = UINT32_MAX / 4;
	const struct tc_netem_corrupt corrupt = { .probability = UINT32_MAX / 100 };
	const struct tc_netem_reorder reorder = { .probability = UINT32_MAX / 5 };
	mnl_attr_put(message, TCA_NETEM_CORRUPT, sizeof(corrupt), &corrupt);
	mnl_attr_put(message, TCA_NETEM_REORDER, sizeof(reorder), &reorder);
	mnl_attr_put(message, TCA_NETEM_LOSS, 0, "");
	options->nla_len = (uint16_t)((char *)mnl_nlmsg_get_payload_tail(message) - (char *)options);
	const struct tc_stats stats = { .drops = 12 };
	mnl_attr_put(message, TCA_STATS, sizeof(stats), &stats);
	struct qdisc parsed;
	char text[QDISC_TEXT_SIZE];
	assert_int_equal(qdisc_parse(message, &parsed), 0);
	qdisc_describe(&parsed, "eth0", text);
	assert_string_equal(
	        text, "netem on eth0: loss by a model, loss 2 %, duplicate 25 %, corrupt 1 %, reorder 20 %");
	assert_int_equal(parsed.drops.value, 12);
	assert_true(parsed.drops.known);
	message->nlmsg_len = sizeof(*message) + 4; /* not even the head */
	assert_int_equal(qdisc_parse(message, &parsed), -EBADMSG);
}

/* Whatever is cut off: no read behind the end (the sanitizers watch), and no more than an error. */
static void cut_short(void **state)
{
	(void)state;
	struct nlmsghdr *message = rule(4791, NF_DROP);
	for (uint32_t length = 0; length < message->nlmsg_len; length++) {
		struct filter_text text = { 0 };
		char *copy = malloc(length ? length : 1);
		assert_non_null(copy);
		memcpy(copy, buffer, length);
		if (length >= sizeof(*message))
			((struct nlmsghdr *)(void *)copy)->nlmsg_len = length;
		filters_parse_rules(copy, length, &text);
		filters_parse_chains(copy, length, &text);
		filters_parse_qdiscs(copy, length, 0, "eth0", &text);
		free(copy);
	}
}

static void the_text_is_bounded(void **state)
{
	(void)state;
	struct filter_text text = { 0 };
	for (int i = 0; i < 100; i++) {
		struct nlmsghdr *message = rule(4791, NF_DROP);
		assert_int_equal(filters_parse_rules(message, message->nlmsg_len, &text), 0);
	}
	assert_true(strlen(text.text) < sizeof(text.text));
	assert_int_equal(text.used, strlen(text.text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_that_drop_by_policy),
		cmocka_unit_test(rules_that_drop),
		cmocka_unit_test(rules_that_drop_roce),
		cmocka_unit_test(what_rules_count),
		cmocka_unit_test(disciplines_of_the_netdev),
		cmocka_unit_test(disciplines_that_limit),
		cmocka_unit_test(what_netem_does),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(the_text_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
