/* SPDX-License-Identifier: MIT */
/* Facts that follow from the rest of the record: transitions, control connection, counters, events, times. */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

bool has_died(const struct evidence *evidence)
{
	return evidence->died_of_signal.known || evidence->left_with_status.known || evidence->ended_unseen == FLAG_YES;
}

bool ended_early(const struct evidence *evidence)
{
	return evidence->stuck || has_died(evidence);
}

bool reached(const struct judge *judge, int side, const char *state)
{
	list_each(transition, &judge->evidence->transitions)
		if (transition->side == side && text_is(explain_step(transition->to), state) &&
		        num_is(transition->error, 0))
			return true;
	return false;
}

bool tried(const struct judge *judge, int side, const char *state)
{
	list_each(transition, &judge->evidence->transitions)
		if (transition->side == side && text_is(explain_step(transition->to), state))
			return true;
	return false;
}

bool ip_is_silent(const struct judge *judge)
{
	const struct reach_facts *reach = judge->evidence->reachability;
	return reach && reach->tcp_errno.known && reach->tcp_errno.value && reach->tcp_errno.value != ECONNREFUSED &&
	       reach->ping == FLAG_NO;
}

bool peer_closed(const struct judge *judge)
{
	if (!judge->control)
		return false;
	switch (judge->control->error.value) {
	case ECONNRESET:
	case EPIPE:
	case ECONNABORTED:
	case ENOTCONN:
		return true;
	default:
		return false;
	}
}

bool peer_silent(const struct judge *judge)
{
	const struct tcp_facts *tcp = judge->evidence->tcp;
	/* A connection that was closed keeps what it had still to send. */
	bool open = judge->evidence->remote.alive != FLAG_NO || ip_is_silent(judge);
	if (tcp && tcp->unacked.known && tcp->unacked.value > 0 && !peer_closed(judge) && open)
		return true;
	return judge->control && !peer_closed(judge) &&
	       (judge->control->error.value == ETIMEDOUT || judge->control->error.value == EHOSTUNREACH ||
	               judge->control->error.value == ENETUNREACH);
}

/* Without the port behind it. */
static size_t host_length(const char *address)
{
	const char *port = strrchr(address, ':');
	return port ? (size_t)(port - address) : strlen(address);
}

/* The kernel takes an address of its own as the source of a connection to it. */
bool control_is_local(const struct judge *judge)
{
	const struct tcp_facts *tcp = judge->evidence->tcp;
	if (!tcp || !tcp->local || !tcp->remote)
		return false;
	size_t length = host_length(tcp->local);
	return length == host_length(tcp->remote) && !strncmp(tcp->local, tcp->remote, length);
}

const char *host_words(const struct judge *judge, int side)
{
	if (side != SIDE_REMOTE)
		return "this host";
	return has_both_ends(judge) ? "this host at the peer's end" : "the peer's host";
}

const char *both_hosts(const struct judge *judge)
{
	return has_both_ends(judge) ? "this host" : "both hosts";
}

bool is_of_other_host(const struct judge *judge, int side)
{
	return side == SIDE_REMOTE && !has_both_ends(judge);
}

const char *of_host(const struct judge *judge, int side)
{
	return is_of_other_host(judge, side) ? " of the peer's host" : "";
}

bool has_both_ends(const struct judge *judge)
{
	return judge->request->mode == MODE_LOOPBACK || judge->evidence->same_port_loopback == FLAG_YES ||
	       is_one_host(judge);
}

bool is_one_host(const struct judge *judge)
{
	return judge->request->mode == MODE_TWO_DEVICES || control_is_local(judge) ||
	       text_is(judge->evidence->local.route_netdev, "lo");
}

/* ---- counters and events ---- */

static int64_t growth_of(const struct counter_change *counter)
{
	return counter->before.known && counter->after.known ? difference(counter->after.value, counter->before.value)
	                                                     : 0;
}

/* Counters of 32 bits of InfiniBand ports stay at their end (IBTA, 16.1.3.5); some adapters have these only. */
static bool is_at_its_end(const struct counter_change *counter)
{
	return num_is(counter->before, UINT32_MAX) && num_is(counter->after, UINT32_MAX);
}

struct num counter_growth(const struct judge *judge, int side, const char *name, enum flag *quiet)
{
	list_each(counter, &judge->evidence->counters) {
		if (counter->side != side || !text_is(counter->name, name) || !counter->before.known ||
		        !counter->after.known || is_at_its_end(counter))
			continue;
		if (quiet)
			*quiet = counter->quiet;
		return num(growth_of(counter));
	}
	return (struct num){ 0 };
}

bool has_grown(const struct counter_change *counter)
{
	return counter->before.known && counter->after.known && counter->after.value > counter->before.value;
}

bool has_traffic_of_both(const struct judge *judge)
{
	bool local = false, remote = false;
	list_each(counter, &judge->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		if (!meaning || meaning->kind != COUNTER_TRAFFIC)
			continue;
		local |= counter->side == SIDE_LOCAL;
		remote |= counter->side == SIDE_REMOTE;
	}
	return local && remote;
}

bool counted_not_ready(const struct judge *judge, bool quiet)
{
	list_each(counter, &judge->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		if (meaning && meaning->kind == COUNTER_NOT_READY && has_grown(counter) &&
		        (quiet ? counter->quiet == FLAG_YES : counter->quiet != FLAG_NO))
			return true;
	}
	return false;
}

bool counter_moved(const struct judge *judge, int side, enum counter_kind kind, bool only_quiet)
{
	list_each(counter, &judge->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		if (counter->side == side && meaning && meaning->kind == kind && growth_of(counter) > 0 &&
		        (!only_quiet || counter->quiet == FLAG_YES))
			return true;
	}
	return false;
}

/* A rule, or a queueing discipline that somebody set up; the kernel's own drop for want of room (tc(8)). */
static bool drops_on_purpose(const char *name)
{
	static const char *const kinds[] = { "nft ", "qdisc clsact ", "qdisc ingress ", "qdisc tbf ", "qdisc htb ",
		"qdisc hfsc ", "qdisc cake ", "qdisc blackhole " };
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			return true;
	return false;
}

/*
 * What it dropped may be of other traffic. It accounts for ours where no more is missing than it dropped; of packets
 * that the network stack refused soft RoCE keeps its own count, at a slightly other moment.
 */
static bool accounts_for_loss(const struct judge *judge, const struct counter_change *filter)
{
	int other = filter->side == SIDE_LOCAL ? SIDE_REMOTE : SIDE_LOCAL;
	struct num refused = counter_growth(judge, filter->side, "send_err", NULL);
	struct num sent = counter_growth(judge, other, "sent_pkts", NULL);
	struct num received = counter_growth(judge, filter->side, "rcvd_pkts", NULL);
	if (refused.known && refused.value > 0)
		return growth_of(filter) >= refused.value / 2;
	int64_t missing = sent.known && received.known ? difference(sent.value, received.value) : 0;
	return missing > 0 && growth_of(filter) >= missing;
}

const struct counter_change *filter_hit(const struct judge *judge, int side)
{
	list_each(counter, &judge->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		if (counter->side != side || !meaning || meaning->kind != COUNTER_FILTER || growth_of(counter) <= 0)
			continue;
		/* iWARP goes by TCP. */
		bool roce = text_has(counter->name, "4791") && !is_iwarp(endpoint(judge, side));
		if (roce || text_has(counter->name, "netem") ||
		        (drops_on_purpose(counter->name) && !text_has(counter->name, "4791") &&
		                accounts_for_loss(judge, counter)))
			return counter;
	}
	return NULL;
}

static bool begins_with_name(const char *text, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	return length && !strncmp(text, name, length) && (text[length] == ':' || !text[length]);
}

const char *netem_of(const struct endpoint_facts *end)
{
	static const char on[] = "netem on ";
	const char *netem = is_software(end) && end->filter ? strstr(end->filter, on) : NULL;
	for (; netem && end->netdev; netem = strstr(netem + 1, on)) {
		const char *name = netem + strlen(on);
		if (begins_with_name(name, end->netdev) || begins_with_name(name, end->port_netdev))
			return netem;
	}
	return netem;
}

static bool uses_qp(const struct judge *judge, int side, int64_t qpn)
{
	const struct endpoint_facts *end = endpoint(judge, side);
	if (num_is(end->qpn, qpn))
		return true;
	if (side == SIDE_REMOTE)
		return !end->qpn.known;
	bool known = end->qpn.known;
	list_each(operation, &judge->evidence->operations) {
		if (num_is(operation->qpn, qpn))
			return true;
		known |= operation->qpn.known;
	}
	return !known;
}

bool event_is_own(const struct judge *judge, const struct async_event *event)
{
	const struct endpoint_facts *end = endpoint(judge, event->side);
	if (event->port.known && end->port.known && event->port.value != end->port.value)
		return false;
	return !event->qpn.known || uses_qp(judge, event->side, event->qpn.value);
}

/* With or without the prefix of verbs. */
static const char *event_word(const char *name)
{
	static const char prefix[] = "IBV_EVENT_";
	return strncmp(name, prefix, sizeof(prefix) - 1) ? name : name + sizeof(prefix) - 1;
}

static bool is_event(const struct judge *judge, const struct async_event *event, int side, const char *name)
{
	return event->side == side && event->event && text_is(event_word(event->event), name) &&
	       event_is_own(judge, event);
}

/* The port was up again before anything was posted. Events of the peer have another clock. */
static bool is_over(const struct judge *judge, const struct async_event *down)
{
	const struct evidence *evidence = judge->evidence;
	struct num posted =
	        evidence->operations.count ? evidence->operations.items[0]->post_call_ns : (struct num){ 0 };
	if (down->side != SIDE_LOCAL || !down->t_ns.known || !posted.known ||
	        !text_is(event_word(down->event), "PORT_ERR"))
		return false;
	list_each(up, &judge->evidence->async_events)
		if (is_event(judge, up, SIDE_LOCAL, "PORT_ACTIVE") && up->t_ns.known &&
		        up->t_ns.value >= down->t_ns.value && up->t_ns.value < posted.value)
			return true;
	return false;
}

const struct async_event *own_event(const struct judge *judge, int side, const char *name)
{
	list_each(event, &judge->evidence->async_events)
		if (is_event(judge, event, side, name) && !is_over(judge, event))
			return event;
	return NULL;
}

/* ---- times ---- */

int64_t difference(int64_t a, int64_t b)
{
	int64_t result;
	if (__builtin_sub_overflow(a, b, &result))
		return a < b ? INT64_MIN : INT64_MAX;
	return result;
}

int64_t done_count(const struct evidence *evidence)
{
	struct num completed = evidence->operations_completed, reclaimed = evidence->operations_reclaimed;
	return difference(completed.known ? completed.value : 0, difference(0, reclaimed.known ? reclaimed.value : 0));
}

int64_t ack_timeout_ns(const struct endpoint_facts *end)
{
	/* IBTA: 4.096 us * 2^timeout, 0 means no timer, five bits. */
	if (!end->timeout.known || end->timeout.value <= 0 || end->timeout.value > 31)
		return 0;
	return INT64_C(4096) << end->timeout.value;
}

int64_t rnr_timer_ns(int64_t code)
{
	/* IBTA table of RNR NAK timer codes, in units of 10 us; code 0 is the longest. */
	static const int32_t table[32] = { 65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
		768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152 };
	return code >= 0 && code < (int64_t)ARRAY_SIZE(table) ? table[code] * INT64_C(10000) : 0;
}

int64_t latency_ns(const struct operation *operation)
{
	int64_t end = end_time(operation);
	if (!operation->post_call_ns.known || end == INT64_MAX || end < operation->post_call_ns.value)
		return -1;
	return difference(end, operation->post_call_ns.value);
}

int64_t arrival_latency_ns(const struct operation *operation)
{
	int64_t whole = latency_ns(operation);
	if (whole < 0 || !operation->cqe_arrived_ns.known)
		return whole;
	int64_t arrival = difference(operation->cqe_arrived_ns.value, operation->post_call_ns.value);
	return arrival >= 0 && arrival < whole ? arrival : whole;
}

enum starvation starvation_for(const struct judge *judge, int64_t idle_ns, int64_t active_ns)
{
	const struct cpu_facts *cpu = judge->evidence->cpu;
	if (!cpu || !cpu->waited_ns.known || idle_ns <= active_ns ||
	        cpu->waited_ns.value < difference(idle_ns, active_ns))
		return NOT_STARVED;
	return cpu->throttled_ns.known && cpu->throttled_ns.value >= idle_ns / 2 ? THROTTLED : STARVED;
}

int64_t waiting_end_ns(const struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	return evidence->deadline_ns.known ? evidence->deadline_ns.value
	       : evidence->ended_ns.known  ? evidence->ended_ns.value
	                                   : -1;
}
