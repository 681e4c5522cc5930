/* SPDX-License-Identifier: MIT */
/*
 * The order of the rules and how a verdict is put together.
 *
 * First error wins: what was posted and failed comes before what never ended, and consequences (flushes, a control
 * connection that broke afterwards) come last. Each rule either decides or leaves the evidence to the next one; what no
 * rule knows ends undetermined.
 */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* ---- texts ---- */

__attribute__((format(printf, 3, 0))) static void add_text(
        struct judge *judge, struct strings *to, const char *format, va_list args)
{
	const char *text = arena_vprintf(judge->arena, format, args);
	if (text && !strings_contain(to, text))
		strings_add(judge->arena, to, text);
}

void because(struct judge *judge, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_text(judge, &judge->verdict->because, format, args);
	va_end(args);
}

void not_observed(struct judge *judge, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_text(judge, &judge->verdict->not_observed, format, args);
	va_end(args);
}

/* Sentences of the tables and parts of the rules alike: "look at …", without a full stop behind the only sentence. */
static char *as_advice(struct judge *judge, const char *format, va_list args)
{
	char *text = arena_vprintf(judge->arena, format, args);
	size_t length = text ? strlen(text) : 0;
	if (length < 2)
		return text;
	/* Not an abbreviation. */
	if (text[0] >= 'A' && text[0] <= 'Z' && ((text[1] >= 'a' && text[1] <= 'z') || text[1] == ' '))
		text[0] = (char)(text[0] - 'A' + 'a');
	if (text[length - 1] == '.' && !strstr(text, ". "))
		text[length - 1] = '\0';
	return text;
}

/* Of two steps of which one goes on where the other ends, the longer one is given. */
static bool replaces(struct strings *steps, const char *text)
{
	for (uint32_t i = 0; i < steps->count; i++) {
		size_t there = strlen(steps->items[i]), here = strlen(text);
		if (strncmp(steps->items[i], text, there < here ? there : here) != 0)
			continue;
		if (there < here)
			steps->items[i] = text;
		return true;
	}
	return false;
}

void next_step(struct judge *judge, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = as_advice(judge, format, args);
	va_end(args);
	if (text && !replaces(&judge->verdict->next_steps, text))
		strings_add(judge->arena, &judge->verdict->next_steps, text);
}

void summarize(struct judge *judge, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	judge->verdict->summary = arena_vprintf(judge->arena, format, args);
	va_end(args);
}

/* ---- ends ---- */

/*
 * What the layers mean here. A software device is kernel code and has neither firmware nor PCIe. Packets of same-port
 * loopback do not leave the adapter: there is no network, and both devices are one.
 */
static layer_set here(const struct judge *judge, layer_set set)
{
	if (judge->evidence->same_port_loopback == FLAG_YES) {
		if (set & L(REMOTE_DEVICE))
			set |= L(DEVICE);
		set &= ~(L(NETWORK) | L(REMOTE_DEVICE));
	}
	if (is_software(&judge->evidence->local) && set & (L(DEVICE) | L(PLATFORM)))
		set = (set & ~(L(DEVICE) | L(PLATFORM))) | L(KERNEL);
	return set;
}

static void set_end(
        struct judge *judge, enum outcome outcome, enum layer layer, enum confidence confidence, layer_set candidates)
{
	struct verdict *verdict = judge->verdict;
	verdict->outcome = (int)outcome;
	verdict->layer = (int)layer;
	verdict->confidence = (int)confidence;
	for (int i = LAYER_CONFIGURATION; i < LAYER_UNDETERMINED; i++)
		if (candidates & LAYER_BIT(i))
			strings_add(judge->arena, &verdict->candidates, layer_names[i]);
}

bool undetermined(struct judge *judge, enum outcome outcome, layer_set candidates)
{
	candidates = here(judge, candidates);
	if (!candidates)
		candidates = here(judge, WHOLE_PATH | L(APPLICATION) | L(KERNEL));
	/* One that alone is left open has no other beside it to be told apart from. */
	if (__builtin_popcount(candidates) == 1 && !judge->contradiction) {
		set_end(judge, outcome, (enum layer)__builtin_ctz(candidates), CONFIDENCE_LIKELY, candidates);
		return true;
	}
	set_end(judge, outcome, LAYER_UNDETERMINED, CONFIDENCE_NONE, candidates);
	return true;
}

bool undetermined_link(struct judge *judge, enum outcome outcome, layer_set candidates)
{
	set_end(judge, outcome, LAYER_UNDETERMINED, CONFIDENCE_NONE, here(judge, candidates) | L(NETWORK));
	return true;
}

bool likely(struct judge *judge, enum outcome outcome, enum layer layer, layer_set others)
{
	layer_set named = here(judge, LAYER_BIT(layer));
	/* Where the named layer does not exist here, nothing is named. */
	if (named != LAYER_BIT(layer))
		return undetermined(judge, outcome, named | others);
	set_end(judge, outcome, layer, CONFIDENCE_LIKELY, here(judge, LAYER_BIT(layer) | others));
	return true;
}

bool confirmed(struct judge *judge, enum outcome outcome, enum layer layer)
{
	if (judge->contradiction)
		return likely(judge, outcome, layer, 0);
	set_end(judge, outcome, layer, CONFIDENCE_CONFIRMED, layer == LAYER_NONE ? 0 : LAYER_BIT(layer));
	return true;
}

/* ---- facts for the reader ---- */

static bool tells_something(const struct counter_change *counter, const struct counter_explanation *meaning)
{
	return meaning && meaning->kind != COUNTER_TRAFFIC && counter->before.known && counter->after.known &&
	       counter->after.value > counter->before.value;
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
			because(judge, "%s: %s dropped %" PRId64 " packets during the run",
			        counter->side == SIDE_REMOTE ? "the peer's host" : "this host", counter->name,
			        difference(counter->after.value, counter->before.value));
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
	const char *text =
	        bytes.known ? arena_printf(judge->arena, "%s of %" PRId64 " bytes", name, bytes.value) : NULL;
	return text ? text : name;
}

void tell_progress(struct judge *judge, const struct operation *operation)
{
	const struct observers *observers = &judge->evidence->observers;
	bool read = operation->opcode == OP_READ;
	because(judge, "the %s%s was posted without an error",
	        request_words(judge, operation->opcode, operation->bytes),
	        operation->is_signaled == FLAG_NO ? " (unsignaled)" : "");
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
		operation->cqe_arrived_ns.known ? "its completion is in the completion queue" : NULL,
	};
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		if (facts[i])
			because(judge, "%s", facts[i]);
}

void tell_routes(struct judge *judge)
{
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++) {
		const struct endpoint_facts *end = endpoint(judge, side);
		const char *whose = side == SIDE_REMOTE ? "the peer's host" : "this host";
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
	if (!operation || !operation->wc_status.known)
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
	because(judge, "%" PRId64 " completions were taken that belong to no request of this run", foreign.value);
	tell_unclaimed(judge);
	next_step(judge, "compare the versions of firmware and provider library, and look for PCIe errors");
	return true;
}

/* ---- cross-checks that decide nothing ---- */

static void tell_control(struct judge *judge)
{
	const struct tcp_facts *tcp = judge->evidence->tcp;
	/* Within one host there is no IP trouble that it could tell of: lo drops nothing, a busy host is late. */
	if (!tcp || judge->verdict->outcome == OUTCOME_OK || control_is_local(judge))
		return;
	bool trouble = (tcp->retransmits.known && tcp->retransmits.value > 0) ||
	               (tcp->unacked.known && tcp->unacked.value > 0);
	if (trouble)
		because(judge,
		        "the control connection has %" PRId64 " retransmitted and %" PRId64
		        " unacknowledged segments: consistent with trouble of IP between the hosts",
		        tcp->retransmits.known ? tcp->retransmits.value : 0,
		        tcp->unacked.known ? tcp->unacked.value : 0);
	else if (tcp->retransmits.known)
		not_observed(judge,
		        "the RoCE path by the control connection: it works, but TCP takes other queues, filters and "
		        "traffic classes");
}

/* Whatever it says, it decides nothing: RoCE takes other queues, filters and traffic classes. */
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
		not_observed(judge,
		        "the RoCE path by IP: %s between the same addresses %s answered, but RoCE takes other queues, "
		        "filters and traffic classes",
		        tcp && reach->ping == FLAG_YES ? "TCP and ping"
		        : tcp                          ? "TCP"
		                                       : "ping",
		        tcp && reach->ping == FLAG_YES ? "are" : "is");
	else if (reach->tcp_errno.known && reach->ping == FLAG_NO)
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
		        "%" PRId64 " pages of the buffer are not on node %" PRId64 " of the adapter", distant,
		        node.value);
}

/* Where no rule named an observation that is missing: what would clear or convict each layer that is left. */
static void tell_separation(struct judge *judge)
{
	static const char *const observations[LAYER_COUNT] = {
		[LAYER_CONFIGURATION] =
		        "limits, permissions, GIDs, MTUs, filters and partitions of both hosts (rdmadiag check)",
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
	for (int i = LAYER_CONFIGURATION; i < LAYER_UNDETERMINED; i++)
		if (strings_contain(&verdict->candidates, layer_names[i]))
			not_observed(judge, "%s", observations[i]);
}

static void tell_contradiction(struct judge *judge)
{
	if (!judge->contradiction)
		return;
	because(judge, "the record contradicts itself about the %s: %s",
	        request_words(judge, judge->contradictory->opcode, judge->contradictory->bytes), judge->contradiction);
	next_step(judge, "run the probe again: a record that contradicts itself proves nothing");
}

static void tell_interruption(struct judge *judge)
{
	if (judge->evidence->interrupted == FLAG_YES)
		because(judge, "the run was interrupted; this is what was known until then");
}

/* No verdict that is not well leaves its reader without a next step. */
static void advise_at_least(struct judge *judge)
{
	const struct verdict *verdict = judge->verdict;
	if (verdict->outcome == OUTCOME_OK || verdict->next_steps.count)
		return;
	next_step(judge, judge->request->mode == MODE_PEER || judge->request->mode == MODE_LISTENER
	                         ? "compare the documents of both ends (-j), then the kernel logs of both hosts"
	                         : "read the kernel log, and run the probe again with other sizes (--size) and devices "
	                           "(-d)");
}

/* ---- the last resort ---- */

static bool nothing_known(struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	bool failures = evidence->operations_failed.known && evidence->operations_failed.value > 0;
	bool posted = judge->posted || (evidence->operations_posted.known && evidence->operations_posted.value > 0);
	enum outcome outcome = failures ? OUTCOME_FAILED : posted ? OUTCOME_STALLED : OUTCOME_NOT_RUN;
	bool interrupted = evidence->interrupted == FLAG_YES;
	bool alone = judge->request->mode == MODE_LISTENER && !evidence->control.count;
	summarize(judge, "%s",
	        failures               ? "an operation failed, and the record does not say how"
	        : posted               ? "the record does not say how the operations ended"
	        : interrupted && alone ? "interrupted before a peer came"
	        : interrupted          ? "interrupted before anything was posted"
	                               : "nothing was posted, and the record does not say why");
	because(judge, "the record holds no request with an end, and no step that failed");
	next_step(judge, interrupted ? "run it again and let it come to its end"
	                             : "run the probe again and keep the whole document (-j)");
	return undetermined(judge, outcome, 0);
}

static bool (*const rules[])(struct judge *) = {
	rule_reported,
	rule_region,
	rule_setup,
	rule_unacknowledged,
	rule_stuck,
	rule_queue_full,
	rule_refused,
	rule_early_reuse,
	rule_corrupt,
	rule_overrun,
	rule_caller_failed,
	rule_members,
	rule_failed,
	rule_flushed,
	rule_died,
	rule_caller_stalled,
	rule_stalled,
	rule_control,
	rule_degraded,
	rule_ok,
	nothing_known,
};

void verdict_judge(const struct probe_request *request, const struct evidence *evidence, struct report *report,
        struct arena *arena, struct verdict *verdict)
{
	*verdict = (struct verdict){ 0 };
	struct completed whole;
	complete(&whole, request, evidence);
	struct judge judge = { .request = &whole.request,
		.evidence = &whole.evidence,
		.report = report,
		.arena = arena,
		.verdict = verdict };
	judge_facts(&judge, &whole);
	judge_contradictions(&judge);
	for (size_t i = 0; i < ARRAY_SIZE(rules) && !rules[i](&judge); i++)
		;
	advise_at_least(&judge);
	tell_separation(&judge);
	tell_contradiction(&judge);
	tell_interruption(&judge);
	tell_control(&judge);
	tell_reachability(&judge);
	tell_buffer(&judge);
}
