/* SPDX-License-Identifier: MIT */
#include "source/qdisc.h"

#include "base/cleanup.h"
#include "base/duration.h"
#include "origin/netlink.h"
#include "source/nft.h"
#include "source/nl_attr.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- one of them ---- */

static bool is_one_of(const struct qdisc *qdisc, const char *const *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(qdisc->kind, kinds[i]))
			return true;
	return false;
}

bool qdisc_is_plain(const struct qdisc *qdisc)
{
	static const char *const plain[] = { "noqueue", "pfifo_fast", "pfifo", "bfifo", "fq", "fq_codel", "codel", "mq",
		"mqprio", "prio", "sfq", "multiq" };
	return is_one_of(qdisc, plain, ARRAY_SIZE(plain));
}

/* What shapes or polices, or drops before its queue is full; clsact and the like only hold filters. */
bool qdisc_limits(const struct qdisc *qdisc)
{
	static const char *const limiting[] = { "netem", "tbf", "htb", "hfsc", "cbq", "cake", "red", "gred", "choke",
		"sfb", "pie", "fq_pie", "taprio" };
	return is_one_of(qdisc, limiting, ARRAY_SIZE(limiting));
}

/* Shares are scaled to the whole range of 32 bits. */
static double percent(uint32_t share)
{
	return (double)share * 100.0 / UINT32_MAX;
}

/* The first member of tc_netem_corrupt and of tc_netem_reorder. */
static double percent_of(const struct nlattr *attribute)
{
	uint32_t share = 0;
	if (mnl_attr_get_payload_len(attribute) >= sizeof(share))
		memcpy(&share, mnl_attr_get_payload(attribute), sizeof(share));
	return percent(share);
}

static int take_netem(const struct nlattr *attribute, void *data)
{
	struct qdisc *qdisc = data;
	switch (mnl_attr_get_type(attribute)) {
	case TCA_NETEM_LATENCY64:
		if (mnl_attr_get_payload_len(attribute) >= sizeof(qdisc->delay_ns))
			memcpy(&qdisc->delay_ns, mnl_attr_get_payload(attribute), sizeof(qdisc->delay_ns));
		break;
	case TCA_NETEM_CORRUPT:
		qdisc->corrupt_percent = percent_of(attribute);
		break;
	case TCA_NETEM_REORDER:
		qdisc->reorder_percent = percent_of(attribute);
		break;
	case TCA_NETEM_LOSS:
		qdisc->loss_model = true;
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

/* TCA_OPTIONS of netem is a struct, and attributes behind it. */
static void parse_netem(const struct nlattr *options, struct qdisc *qdisc)
{
	enum { TICK_NS = 64 }; /* PSCHED_SHIFT of net/pkt_sched.h; kernels before 4.17 have no LATENCY64 */
	struct tc_netem_qopt qopt;
	_Static_assert(sizeof(qopt) % MNL_ALIGNTO == 0, "attributes follow without padding");
	size_t length = options ? mnl_attr_get_payload_len(options) : 0;
	if (length < sizeof(qopt))
		return;
	memcpy(&qopt, mnl_attr_get_payload(options), sizeof(qopt));
	qdisc->loss_percent = percent(qopt.loss);
	qdisc->duplicate_percent = percent(qopt.duplicate);
	qdisc->delay_ns = (int64_t)qopt.latency * TICK_NS;
	(void)mnl_attr_parse_payload(
	        (const char *)mnl_attr_get_payload(options) + sizeof(qopt), length - sizeof(qopt), take_netem, qdisc);
}

/* struct tc_stats of linux/pkt_sched.h. */
static struct num drops_of(const struct nlattr *stats)
{
	struct tc_stats values;
	if (!stats || mnl_attr_get_payload_len(stats) < offsetof(struct tc_stats, drops) + sizeof(values.drops))
		return (struct num){ 0 };
	memcpy(&values.drops, (const char *)mnl_attr_get_payload(stats) + offsetof(struct tc_stats, drops),
	        sizeof(values.drops));
	return num(values.drops);
}

static bool is_netem(const struct qdisc *qdisc)
{
	return !strcmp(qdisc->kind, "netem");
}

int qdisc_parse(const struct nlmsghdr *message, struct qdisc *qdisc)
{
	const struct nlattr *table[TCA_STATS + 1];
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct tcmsg))
		return -EBADMSG;
	const struct tcmsg *head = mnl_nlmsg_get_payload(message);
	nl_attributes(message, sizeof(*head), table, TCA_STATS);
	*qdisc = (struct qdisc){ .ifindex = head->tcm_ifindex,
		.handle = head->tcm_handle,
		.kind = nft_text(table[TCA_KIND]),
		.drops = drops_of(table[TCA_STATS]) };
	if (is_netem(qdisc))
		parse_netem(table[TCA_OPTIONS], qdisc);
	return 0;
}

void qdisc_describe(const struct qdisc *qdisc, const char *netdev, char text[static QDISC_TEXT_SIZE])
{
	const struct {
		const char *name;
		double percent;
	} shares[] = { { "loss", qdisc->loss_percent }, { "duplicate", qdisc->duplicate_percent },
		{ "corrupt", qdisc->corrupt_percent }, { "reorder", qdisc->reorder_percent } };
	char delay[DURATION_TEXT_SIZE];
	const char *next = ": ";
	snprintf(text, QDISC_TEXT_SIZE, is_netem(qdisc) ? "%.16s on %.48s" : "queueing discipline %.16s on %.48s",
	        qdisc->kind, netdev);
	if (qdisc->delay_ns > 0)
		text_append(text, QDISC_TEXT_SIZE, "%sdelay %s", next, format_duration(qdisc->delay_ns, delay));
	next = qdisc->delay_ns > 0 ? ", " : next;
	if (qdisc->loss_model)
		text_append(text, QDISC_TEXT_SIZE, "%sloss by a model", next);
	next = qdisc->loss_model ? ", " : next;
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		if (shares[i].percent > 0) {
			text_append(text, QDISC_TEXT_SIZE, "%s%s %.3g %%", next, shares[i].name, shares[i].percent);
			next = ", ";
		}
}

/* ---- asking ---- */

int qdisc_dump(struct nl_socket *socket, struct nl_request *request)
{
	_Alignas(struct nlmsghdr) char buffer[64];
	*request = (struct nl_request){ .name = "qdisc", .message = mnl_nlmsg_put_header(buffer) };
	request->message->nlmsg_type = RTM_GETQDISC;
	request->message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(request->message, sizeof(struct tcmsg));
	int result = nl_exchange(socket, NETLINK_ROUTE, request, 1);
	request->message = NULL;
	return result ? result : request->error;
}

struct disciplines {
	struct arena *arena;
	struct filter_answer *answer;
};

static int take(const struct nlmsghdr *message, void *data)
{
	const struct disciplines *disciplines = data;
	struct qdisc qdisc;
	char netdev[IF_NAMESIZE], text[QDISC_TEXT_SIZE];
	int result = qdisc_parse(message, &qdisc);
	if (result || !qdisc_limits(&qdisc) || !if_indextoname((unsigned int)qdisc.ifindex, netdev))
		return result;
	struct filter_qdisc *kept = list_add(disciplines->arena, &disciplines->answer->qdiscs);
	if (!kept)
		return -ENOMEM;
	qdisc_describe(&qdisc, netdev, text);
	kept->netdev = arena_strdup(disciplines->arena, netdev);
	kept->text = arena_strdup(disciplines->arena, text);
	kept->drops = qdisc.drops;
	return kept->netdev && kept->text ? 0 : -ENOMEM;
}

int qdisc_read(struct nl_socket *socket, struct arena *arena, struct filter_answer *answer, struct error *error)
{
	struct disciplines disciplines = { arena, answer };
	struct nl_request request;
	int result = qdisc_dump(socket, &request);
	result = result ? result : nl_each_message(request.reply, request.length, take, &disciplines);
	nl_requests_free(&request, 1);
	return result ? error_set(error, result, "queueing disciplines") : 0;
}
