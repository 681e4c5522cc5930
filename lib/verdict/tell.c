/* SPDX-License-Identifier: MIT */
/* What the reader is told besides the verdict: facts without any weight, and cross-checks that decide nothing. */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- facts ---- */

static bool tells_something(const struct counter_change *counter, const struct counter_explanation *meaning)
{
	return meaning && meaning->kind != COUNTER_TRAFFIC && has_grown(counter);
}

const char *inside_advice(const struct judge *judge)
{
	if (is_software(&judge->evidence->local))
		return "read the kernel log, and see how busy the CPUs are: the kernel itself carries packets from a "
		       "port to itself";
	return "look at the adapter's own account (rdmadiag check, devlink health) and at the kernel log: packets from "
	       "a port to itself need not leave it";
}

const char *all_operations(struct judge *judge, int64_t count)
{
	const char *text = count == 1 ? NULL : arena_printf(judge->arena, "all %" PRId64 " operations", count);
	return text ? text : "the operation";
}

const char take_netem_away[] = "take netem away where it is not meant (tc qdisc show dev NETDEV)";

/* Each end reads the counters of its host: of one host the same one twice, a moment apart. */
static bool has_told_dropped(const struct judge *judge, const struct counter_change *filter)
{
	if (filter->side != SIDE_REMOTE || !has_both_ends(judge))
		return false;
	list_each(counter, &judge->evidence->counters)
		if (counter->side == SIDE_LOCAL && text_is(counter->name, filter->name) && has_grown(counter))
			return true;
	return false;
}

void tell_dropped(struct judge *judge, const struct counter_change *filter)
{
	if (has_told_dropped(judge, filter))
		return;
	int64_t dropped = difference(filter->after.value, filter->before.value);
	because(judge, "%s: %s dropped %" PRId64 " packet%s during the run",
	        is_of_other_host(judge, filter->side) ? "the peer's host" : "this host", filter->name, dropped,
	        plural(dropped));
}

void tell_starvation(struct judge *judge, enum starvation starvation)
{
	const struct cpu_facts *cpu = judge->evidence->cpu;
	char waited[DURATION_TEXT_SIZE], throttled[DURATION_TEXT_SIZE];
	if (starvation == NOT_STARVED)
		return;
	because(judge, "by the scheduler's account the program was ready to run for %s and had no CPU",
	        format_duration(cpu->waited_ns.value, waited));
	if (starvation == THROTTLED)
		because(judge, "the CPU quota of its cgroup held it back for %s",
		        format_duration(cpu->throttled_ns.value, throttled));
	next_step(judge, "%s",
	        starvation == THROTTLED
	                ? "raise the CPU quota of the cgroup (cpu.max; CPUQuota= of the service, CPU limit of the pod)"
	                : "see what else runs on the CPUs that the program may use: affinity, priorities, real-time "
	                  "threads (ps -eLo psr,cls,rtprio,pcpu,comm)");
}

void advise_dropped(struct judge *judge, const struct counter_change *filter)
{
	bool programs = text_has(filter->name, "qdisc clsact ") || text_has(filter->name, "qdisc ingress ");
	next_step(judge, "%s",
	        programs ? "look at the filters and BPF programs on that netdev (tc -s filter show dev NETDEV ingress, "
	                   "or egress; bpftool net)"
	                 : "look at that rule or queueing discipline, and take it away where it is not meant");
}

void tell_counters(struct judge *judge)
{
	enum { LINES_LIMIT = 8 };
	int lines = 0;
	list_each(counter, &judge->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		if (!tells_something(counter, meaning) || lines++ >= LINES_LIMIT)
			continue;
		if (meaning->kind == COUNTER_FILTER) {
			tell_dropped(judge, counter);
			continue;
		}
		/* Port-wide: only a quiet baseline makes the change ours, and even then other traffic may have begun.
		 */
		because(judge, "%s counter %s rose by %" PRId64 "%s",
		        counter->side == SIDE_REMOTE ? "the peer's" : "local", counter->name,
		        difference(counter->after.value, counter->before.value),
		        counter->quiet == FLAG_YES
		                ? " and had stood still before the run"
		                : " (port-wide and without a quiet baseline: only consistent with it)");
	}
}

/* A sentence of the tables, which speak of the side that counted or was told. */
void advise_side(struct judge *judge, int side, const char *advice)
{
	char *text = arena_printf(judge->arena, "%c%s", tolower((unsigned char)advice[0]), advice + 1);
	size_t length = text ? strlen(text) : 0;
	if (length && text[length - 1] == '.')
		text[length - 1] = '\0';
	bool here = side != SIDE_REMOTE || judge->evidence->same_port_loopback == FLAG_YES;
	/* Said of one side it holds for both. */
	if (text && !strings_contain(&judge->verdict->next_steps, text))
		next_step(judge, "%s%s", here ? "" : "on the peer's side: ", text);
}

void advise_counters(struct judge *judge)
{
	list_each(counter, &judge->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		bool speaks = meaning && (meaning->kind == COUNTER_LINK || meaning->kind == COUNTER_CONGESTION);
		if (speaks && meaning->text.next && counter->quiet == FLAG_YES && has_grown(counter))
			advise_side(judge, counter->side, meaning->text.next);
	}
}

void advise_events(struct judge *judge)
{
	static const char *const changes[] = { "GID_CHANGE", "LID_CHANGE", "PKEY_CHANGE", "PATH_MIG_ERR" };
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++)
		for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
			bool ours = own_event(judge, side, changes[i]);
			/* Looked at already. */
			bool known =
			        !strcmp(changes[i], "GID_CHANGE") && endpoint(judge, side)->gid_kept != FLAG_UNKNOWN;
			if (ours && !known)
				advise_side(judge, side, explain_event(changes[i])->text.next);
		}
}

void tell_events(struct judge *judge)
{
	list_each(event, &judge->evidence->async_events) {
		if (!event->event)
			continue;
		bool own = event_is_own(judge, event);
		if (own) {
			char at[DURATION_TEXT_SIZE];
			because(judge, "asynchronous event %s on the %s side%s%s", event->event,
			        event->side == SIDE_REMOTE ? "peer's" : "local", event->t_ns.known ? " at " : "",
			        event->t_ns.known ? format_duration(event->t_ns.value, at) : "");
		} else if (judge->report) {
			report_finding(judge->report, "probe-other-event", SEVERITY_INFO,
			        endpoint(judge, event->side)->device ? endpoint(judge, event->side)->device : "host",
			        "asynchronous event %s of another port or queue pair; it does not count for this run",
			        event->event);
		}
	}
}

static const char *said(enum flag value, const char *yes, const char *no)
{
	return value == FLAG_YES ? yes : value == FLAG_NO ? no : NULL;
}

const char *request_words(struct judge *judge, int opcode, struct num bytes)
{
	const char *name = opcode > OP_UNKNOWN && opcode < OP_COUNT ? operation_names[opcode] : "request";
	const char *text = bytes.known ? arena_printf(judge->arena, "%s of %" PRId64 " byte%s", name, bytes.value,
	                                         plural(bytes.value))
	                               : NULL;
	return text ? text : name;
}

void tell_progress(struct judge *judge, const struct operation *operation)
{
	const struct observers *observers = &judge->evidence->observers;
	bool read = operation->opcode == OP_READ;
	because(judge,
	        is_in_post(operation) ? "post was called for the %s%s, and its return is not recorded"
	                              : "the %s%s was posted without an error",
	        request_words(judge, operation->opcode, operation->bytes),
	        asks_for_completion(judge, operation) == FLAG_NO ? " (unsignaled)" : "");
	const char *facts[] = {
		observers->wqe && operation->wqe_posted_ns.known ? "its entry is in the send queue" : NULL,
		said(operation->doorbell_recorded, "the doorbell record counts it",
		        "the doorbell record does not count it"),
		said(operation->device_saw_doorbell, "the device saw the doorbell",
		        "the device did not see the doorbell"),
		said(operation->device_executed, "the device worked on it", "the device did not work on it"),
		said(operation->acknowledged, "the peer's device acknowledged it",
		        "the peer's device did not acknowledge it"),
		said(operation->payload_verified,
		        read ? "the right bytes are in this host's memory"
		             : "the peer has the right bytes in its memory",
		        read ? "the right bytes are not in this host's memory"
		             : "the peer does not have the right bytes in its memory"),
		operation->landed == FLAG_NO && operation->payload_verified != FLAG_NO
		        ? "the target looked into its memory, and nothing of it is there"
		        : NULL,
		operation->cqe_arrived_ns.known && !operation->cqe_consumed_ns.known
		        ? "its completion is in the completion queue"
		        : NULL,
	};
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		if (facts[i])
			because(judge, "%s", facts[i]);
}

void tell_routes(struct judge *judge)
{
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++) {
		const struct endpoint_facts *end = endpoint(judge, side);
		const char *whose = host_words(judge, side);
		if (end->route_errno.known && end->route_errno.value)
			because(judge, "%s has no route from %s to the other end's GID: %s", whose,
			        end->netdev ? end->netdev : "the GID's netdev", strerror((int)end->route_errno.value));
		if (text_is(end->neighbour, "failed") || text_is(end->neighbour, "incomplete"))
			because(judge,
			        "%s: the next hop %s on %s is %s, so nobody answers ARP or neighbour discovery for it",
			        whose, end->route_gateway ? end->route_gateway : "(the other end itself)",
			        end->route_netdev ? end->route_netdev : "its netdev", end->neighbour);
	}
}

static void tell_blind_stages(struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	const struct observers *observers = &evidence->observers;
	if (!observers->wqe)
		not_observed(judge, "the send queue: not observable on this provider");
	if (!observers->cqe)
		not_observed(judge, "completion queue memory: not observable on this provider");
	if (!observers->device && is_driver(&evidence->local, "mlx5"))
		not_observed(judge,
		        "whether the device saw, executed and sent it: needs DEVX (no privilege, if the firmware "
		        "allows it) or CAP_NET_ADMIN for the raw queue state over rdma netlink");
	else if (!observers->device && !is_software(&evidence->local))
		not_observed(judge, "whether the device saw, executed and sent it: this provider gives no access");
}

void tell_network(struct judge *judge)
{
	if (judge->evidence->same_port_loopback == FLAG_YES)
		not_observed(
		        judge, "the network: both ends are on one port, so the packets need not leave the adapter");
	else if (is_one_host(judge))
		not_observed(judge,
		        "the network between hosts: both ends are on this host, so the packets need not leave it");
}

void tell_gaps(struct judge *judge, const struct operation *operation)
{
	const struct evidence *evidence = judge->evidence;
	/* A completion, good or bad, says of these stages what a look would have said. */
	if (!operation || !status_of(operation).known)
		tell_blind_stages(judge);
	bool seen = operation && (operation->payload_verified != FLAG_UNKNOWN || operation->remote_landed_ns.known ||
	                                 operation->landed != FLAG_UNKNOWN);
	if (operation && !seen)
		not_observed(judge, operation->opcode == OP_READ ? "whether the bytes are in this host's memory"
		                                                 : "whether the payload is in the peer's memory");
	if (!evidence->remote.qp_state)
		not_observed(judge, "the state of the peer's queue pair");
	tell_network(judge);
}

static void tell_unclaimed(struct judge *judge)
{
	list_each(entry, &judge->evidence->unclaimed_completions) {
		struct num own = judge->evidence->local.qpn;
		if (entry->is_known == FLAG_NO && entry->opcode.known)
			because(judge,
			        "a completion in memory has the opcode %" PRId64 ", which the library does not know",
			        entry->opcode.value);
		else if (entry->qpn.known && own.known && entry->qpn.value != own.value)
			because(judge, "a completion in memory names the queue pair %" PRId64 ", not %" PRId64,
			        entry->qpn.value, own.value);
		else if (entry->position.known)
			because(judge, "a completion in memory names block %" PRId64 " of the send queue",
			        entry->position.value);
	}
}

bool tell_foreign(struct judge *judge)
{
	struct num foreign = judge->evidence->foreign_completions;
	if (!foreign.known || foreign.value <= 0)
		return false;
	because(judge, "%" PRId64 " completion%s taken that belong%s to no request of this run", foreign.value,
	        foreign.value == 1 ? " was" : "s were", foreign.value == 1 ? "s" : "");
	tell_unclaimed(judge);
	next_step(judge, "compare the versions of firmware and provider library, and look for PCIe errors");
	return true;
}

/* ---- cross-checks ---- */

static const char *path_words(const struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	if (is_iwarp(local))
		return "the iWARP path";
	return text_is(local->link_layer, "InfiniBand") ? "the InfiniBand path" : "the RoCE path";
}

/* Why an answer of TCP does not clear that path. */
static const char *difference_words(const struct judge *judge)
{
	return is_iwarp(&judge->evidence->local) ? "filters may let one port pass and not the other"
	                                         : "TCP takes other queues, filters and traffic classes";
}

static void tell_control(struct judge *judge)
{
	const struct tcp_facts *tcp = judge->evidence->tcp;
	/* Within one host there is no IP trouble that it could tell of: lo drops nothing, a busy host is late. */
	if (!tcp || judge->verdict->outcome == OUTCOME_OK || control_is_local(judge))
		return;
	/* What a closed connection had still to send says nothing of the way. */
	bool waits = tcp->unacked.known && tcp->unacked.value > 0 && judge->evidence->remote.alive != FLAG_NO;
	bool trouble = waits || (tcp->retransmits.known && tcp->retransmits.value > 0);
	if (trouble)
		because(judge,
		        "the control connection has %" PRId64 " retransmitted and %" PRId64
		        " unacknowledged segments: consistent with trouble of IP between the hosts",
		        tcp->retransmits.known ? tcp->retransmits.value : 0,
		        tcp->unacked.known ? tcp->unacked.value : 0);
	else if (tcp->retransmits.known && !judge->control && judge->evidence->remote.alive != FLAG_NO)
		not_observed(judge, "%s: a control connection that works does not prove it, as %s", path_words(judge),
		        difference_words(judge));
}

/* Whatever it says, it decides nothing. */
static void tell_reachability(struct judge *judge)
{
	const struct reach_facts *reach = judge->evidence->reachability;
	if (!reach || judge->verdict->outcome == OUTCOME_OK)
		return;
	bool tcp = num_is(reach->tcp_errno, 0) || num_is(reach->tcp_errno, ECONNREFUSED);
	if (reach->ping == FLAG_YES && reach->full_ping == FLAG_NO)
		because(judge,
		        "between the same addresses a small ping is answered and one of %" PRId64
		        " bytes, as large as a packet of the queue pair, is not: consistent with an MTU that is too "
		        "large for the path",
		        reach->full_ping_bytes.known ? reach->full_ping_bytes.value : 0);
	else if (tcp || reach->ping == FLAG_YES)
		not_observed(judge, "%s: that %s between the same addresses %s answered does not prove it, as %s",
		        path_words(judge),
		        tcp && reach->ping == FLAG_YES ? "TCP and ping"
		        : tcp                          ? "TCP"
		                                       : "ping",
		        tcp && reach->ping == FLAG_YES ? "are" : "is", difference_words(judge));
	else if (ip_is_silent(judge))
		because(judge,
		        "neither TCP (%s) nor ping is answered between the same addresses: consistent with trouble of "
		        "IP between the hosts",
		        strerror((int)reach->tcp_errno.value));
}

static void tell_buffer(struct judge *judge)
{
	const struct buffer_facts *buffer = &judge->evidence->buffer;
	struct num node = judge->evidence->local.numa_node;
	if (!judge->report || !node.known || node.value < 0)
		return;
	int64_t distant = 0;
	list_each(entry, &buffer->pages_on_node)
		if (entry->key != node.value && entry->value.known)
			distant = difference(distant, difference(0, entry->value.value));
	if (distant > 0 && !buffer->requested_node.known)
		report_finding(judge->report, "probe-buffer-distant", SEVERITY_INFO,
		        judge->evidence->local.device ? judge->evidence->local.device : "host",
		        "%" PRId64 " page%s of the buffer %s not on node %" PRId64 " of the adapter", distant,
		        plural(distant), distant == 1 ? "is" : "are", node.value);
}

/* Where no rule named an observation that is missing: what would clear or convict each layer that is left. */
static void tell_separation(struct judge *judge)
{
	static const char *const observations[LAYER_COUNT] = {
		[LAYER_CONFIGURATION] = "limits, permissions, GIDs, MTUs, filters and partitions",
		[LAYER_APPLICATION] =
		        "what the program asked for, beside what it was given: keys, lengths, flags, order",
		[LAYER_PROVIDER] = "whether another version of the provider library does the same",
		[LAYER_KERNEL] = "what the kernel did meanwhile: its log, and its trace of the call",
		[LAYER_PLATFORM] = "PCIe, IOMMU and interrupts: AER counters, IOMMU faults and the kernel log",
		[LAYER_DEVICE] = "the adapter's own account: health reporters and firmware messages",
		[LAYER_NETWORK] = "the wire counters of both adapters, and the drops of the switches between them",
		[LAYER_REMOTE_DEVICE] =
		        "the account of the peer's adapter: counters, health reporters, firmware messages",
		[LAYER_REMOTE_APPLICATION] =
		        "what the peer's program did: its queue pair, its receives, the rights it gave",
	};
	const struct verdict *verdict = judge->verdict;
	if (verdict->layer != LAYER_UNDETERMINED || verdict->not_observed.count)
		return;
	for (int i = LAYER_CONFIGURATION; i < LAYER_UNDETERMINED; i++) {
		if (!strings_contain(&verdict->candidates, layer_names[i]))
			continue;
		if (i == LAYER_CONFIGURATION)
			not_observed(judge, "%s of %s (rdmadiag check)", observations[i], both_hosts(judge));
		else
			not_observed(judge, "%s", observations[i]);
	}
}

static void tell_contradiction(struct judge *judge)
{
	if (!judge->contradiction)
		return;
	const struct operation *about = judge->contradictory;
	because(judge, "the record contradicts itself%s%s: %s", about ? " about the " : "",
	        about ? request_words(judge, about->opcode, about->bytes) : "", judge->contradiction);
	next_step(judge, "run the probe again: a record that contradicts itself proves nothing");
}

static void tell_unreadable(struct judge *judge)
{
	enum { LINES_LIMIT = 8 };
	const struct strings *fields = &judge->evidence->unreadable;
	for (uint32_t i = 0; i < fields->count && i < LINES_LIMIT; i++)
		not_observed(judge, "unreadable field %s", fields->items[i]);
	if (fields->count > LINES_LIMIT)
		not_observed(
		        judge, "%u other unreadable fields (not_collected lists them)", fields->count - LINES_LIMIT);
	if (fields->count)
		next_step(judge, "mend the record, or its program: a field that cannot be read may be what decides");
}

static void tell_interruption(struct judge *judge)
{
	if (judge->evidence->interrupted == FLAG_YES)
		because(judge, "the run was interrupted; this is what was known until then");
}

/* Where it is not known whether the port, its device or what is common to all of them is at fault. */
static void tell_other_ports(struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	const struct verdict *verdict = judge->verdict;
	bool wrong = verdict->outcome == OUTCOME_FAILED || verdict->outcome == OUTCOME_STALLED ||
	             verdict->outcome == OUTCOME_CORRUPT;
	const char *other = evidence->other_ports.count ? evidence->other_ports.items[0] : NULL;
	if (!wrong || !other || judge->request->drill || evidence->same_port_loopback != FLAG_YES ||
	        verdict->layer != LAYER_UNDETERMINED || !evidence->local.device || !evidence->local.port.known)
		return;
	next_step(judge, "see whether another port has it too: rdmadiag probe -d %s", other);
	next_step(judge, "and the way between both: rdmadiag probe -d %s/%" PRId64 " --target-device %s",
	        evidence->local.device, evidence->local.port.value, other);
}

void tell_cross_checks(struct judge *judge)
{
	tell_other_ports(judge);
	tell_separation(judge);
	tell_contradiction(judge);
	tell_unreadable(judge);
	tell_interruption(judge);
	tell_control(judge);
	tell_reachability(judge);
	tell_buffer(judge);
}
