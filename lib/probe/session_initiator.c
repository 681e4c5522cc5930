/* SPDX-License-Identifier: MIT */
/* The initiator: asks a listener on another host for a buffer, writes into it, and asks what became of that. */
#include "base/cleanup.h"
#include "probe/channel.h"
#include "probe/contrast.h"
#include "probe/counters.h"
#include "probe/endpoint.h"
#include "probe/lag.h"
#include "probe/layout.h"
#include "probe/reach.h"
#include "probe/session.h"
#include "probe/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	CONNECT_MS = 5000,
	ANSWER_MS = 10000, /* the target opens its device and makes its queue pair meanwhile */
	FAREWELL_MS = 700, /* after a signal */
	ROUNDS = 8,
	ALIVE_NS = 1000000000,
};

struct initiator {
	struct probe_run *run;
	struct channel channel;
	struct endpoint endpoint;
	struct counters counters;
	struct layout layout;
	struct transfer transfer;
	int64_t alive_ns; /* when the target last heard of us */
};

static int64_t deadline_in(const struct initiator *initiator, int64_t ms)
{
	return run_now(initiator->run) + ms * 1000000;
}

/* ---- up to READY ---- */

/* Names are resolved without a deadline of ours: the resolver has its own. */
static int resolve_step(struct initiator *initiator, struct addrinfo **list, struct error *error)
{
	enum { RESOLVER_MS = 30000 };
	struct probe_run *run = initiator->run;
	const struct probe_settings *settings = run->settings;
	if (channel_is_address(settings->host))
		return channel_resolve(settings->host, settings->tcp_port, list, error);
	struct resource_step *step = resource_begin(run, SIDE_LOCAL, "getaddrinfo");
	run_enter(run, "getaddrinfo", RESOLVER_MS);
	int result = channel_resolve(settings->host, settings->tcp_port, list, error);
	resource_detail(run, step, "%s", result ? error->text : settings->host);
	return resource_end(run, step, result);
}

static int connect_step(struct initiator *initiator, struct error *error)
{
	struct probe_run *run = initiator->run;
	struct addrinfo *list = NULL;
	int result = resolve_step(initiator, &list, error);
	if (result)
		return result;
	struct control_step *step = control_begin(run, "connect", CONNECT_MS);
	result = channel_connect(&initiator->channel, run, list, deadline_in(initiator, CONNECT_MS), error);
	freeaddrinfo(list);
	return control_end(run, step, result, error);
}

static int open_end(struct initiator *initiator, struct error *error)
{
	struct probe_run *run = initiator->run;
	uint8_t address[16];
	bool has_address = !channel_local_gid(&initiator->channel, address);
	struct endpoint_wish wish = {
		.device = &run->settings->device,
		.gid_index = run->settings->request.gid_index,
		.address = has_address ? address : NULL,
	};
	run_facts(run, SIDE_LOCAL)->role = ROLE_INITIATOR;
	run_facts(run, SIDE_REMOTE)->role = ROLE_TARGET;
	return endpoint_open(&initiator->endpoint, run, SIDE_LOCAL, &wish, error);
}

static int make_end(struct initiator *initiator, struct error *error)
{
	struct probe_run *run = initiator->run;
	uint64_t seed = run->epoch_ns;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = run->epoch_ns;
	int result = session_default_sizes(run, run_facts(run, SIDE_LOCAL)->active_mtu.value);
	result = result ? result : layout_make(&initiator->layout, &run->document.request, seed >> 2, GRANT_LIMIT);
	if (result)
		return error_set(error, result, "the buffer for these sizes");
	return endpoint_create(&initiator->endpoint, &initiator->layout, error);
}

static int exchange(struct initiator *initiator, struct error *error)
{
	struct probe_run *run = initiator->run;
	struct hello_message hello = {
		.type = "hello",
		.protocol = num(PROTOCOL_VERSION),
		.tool_version = RDMADIAG_VERSION,
		.op = run->document.request.op,
		.count = run->document.request.count,
		.timeout_ms = run->document.request.timeout_ms,
		.batch = run->document.request.batch,
		.qps = run->document.request.qps,
		.signal_every = run->document.request.signal_every,
		.drill = run->document.request.drill,
		.seed = num((int64_t)initiator->layout.seed),
		.endpoint = *initiator->endpoint.facts,
	};
	memcpy(&hello.sizes, &run->document.request.sizes, sizeof(hello.sizes));
	struct control_step *step = control_begin(run, "exchange", ANSWER_MS);
	int64_t deadline = deadline_in(initiator, ANSWER_MS);
	struct offer_message offer = { 0 };
	int result = channel_send(&initiator->channel, &hello_record, &hello, deadline, error);
	result = result ? result : channel_expect(&initiator->channel, "offer", &offer_record, &offer, deadline, error);
	if (!result) {
		offer.endpoint.role = ROLE_TARGET;
		*run_facts(run, SIDE_REMOTE) = offer.endpoint;
	}
	return control_end(run, step, result, error);
}

static int await_ready(struct initiator *initiator, struct error *error)
{
	struct plain_message ready = { 0 };
	struct control_step *step = control_begin(initiator->run, "ready", ANSWER_MS);
	int result = channel_expect(
	        &initiator->channel, "ready", &plain_record, &ready, deadline_in(initiator, ANSWER_MS), error);
	return control_end(initiator->run, step, result, error);
}

/* ---- clocks ---- */

/* The round with the shortest way tells most: half of it is the error (as in RFC 5905). */
static int clock_round(struct initiator *initiator, int round, struct clock_offset *best, struct error *error)
{
	struct probe_run *run = initiator->run;
	struct clock_message ping = { .type = "ping", .round = num(round) }, pong = { 0 };
	int64_t start = run_now(run), deadline = deadline_in(initiator, ANSWER_MS);
	int result = channel_send(&initiator->channel, &clock_message_record, &ping, deadline, error);
	struct incoming incoming;
	result = result ? result : channel_receive(&initiator->channel, &incoming, deadline, error);
	if (result)
		return result;
	int64_t end = run_now(run);
	result = channel_read(&initiator->channel, &incoming, &clock_message_record, &pong, error);
	bool fits = !strcmp(incoming.type, "pong") && num_is(pong.round, round) && pong.time_ns.known;
	message_free(&incoming);
	int64_t half = (end - start) / 2;
	if (!result && fits && (!best->error_ns.known || half < best->error_ns.value))
		*best = (struct clock_offset){ .offset_ns = num(pong.time_ns.value - start - half),
			.error_ns = num(half) };
	return result;
}

/* What goes wrong between READY and the first request is recorded as a step of its own, by the name of the one before.
 */
static int measure_clock(struct initiator *initiator, struct error *error)
{
	struct probe_run *run = initiator->run;
	struct clock_offset best = { 0 };
	struct num start = num(run_now(run));
	run_enter(run, "comparing clocks", ANSWER_MS + STEP_LIMIT_MS);
	int result = 0;
	for (int round = 0; round < ROUNDS && !result; round++)
		result = clock_round(initiator, round, &best, error);
	run_leave(run);
	if (result) {
		struct control_step *step = control_begin(run, "ready", 0);
		if (step)
			step->start_ns = start;
		return control_end(run, step, result, error);
	}
	struct clock_offset *clock = best.error_ns.known ? arena_new_object(run->arena, struct clock_offset) : NULL;
	if (clock) {
		*clock = best;
		run_evidence(run)->clock = clock;
	}
	initiator->alive_ns = run_now(run);
	return 0;
}

/* ---- after the requests ---- */

/* The target gives up a silent initiator; long runs are not silent. */
static void meanwhile(void *data)
{
	struct initiator *initiator = data;
	int64_t now = run_now(initiator->run);
	if (now - initiator->alive_ns < ALIVE_NS)
		return;
	struct plain_message alive = { .type = "alive" };
	struct error ignored;
	initiator->alive_ns = now;
	channel_send(&initiator->channel, &plain_record, &alive, now, &ignored);
}

static int done_and_ok(struct initiator *initiator, struct error *error)
{
	struct probe_run *run = initiator->run;
	struct posted_message done = { .type = "done", .posted = num(initiator->transfer.posted) };
	struct ok_message ok = { 0 };
	struct control_step *step = control_begin(run, "done", ANSWER_MS);
	int result = channel_send(&initiator->channel, &posted_record, &done, deadline_in(initiator, ANSWER_MS), error);
	control_end(run, step, result, error);
	if (result)
		return result;
	step = control_begin(run, "ok", ANSWER_MS);
	result = channel_expect(&initiator->channel, "ok", &ok_record, &ok, deadline_in(initiator, ANSWER_MS), error);
	control_end(run, step, result, error);
	if (!result)
		landings_apply(&ok.landings, &initiator->layout, run);
	return result;
}

/* The peer's times on our clock; unknown where the offset is. */
static struct num our_time(const struct evidence *evidence, struct num theirs)
{
	if (!theirs.known || !evidence->clock)
		return (struct num){ 0 };
	return num(theirs.value - evidence->clock->offset_ns.value);
}

#define ADOPT(member)                                                                                                  \
	list_each(item, &theirs->member)                                                                               \
		if (item->side == SIDE_LOCAL) {                                                                        \
			item->side = SIDE_REMOTE;                                                                      \
			list_add_existing(run->arena, &evidence->member, item);                                        \
		}

static void adopt_evidence(struct probe_run *run, struct evidence *theirs)
{
	struct evidence *evidence = run_evidence(run);
	list_each(step, &theirs->resources)
		step->start_ns = our_time(evidence, step->start_ns);
	list_each(transition, &theirs->transitions)
		transition->start_ns = our_time(evidence, transition->start_ns);
	list_each(event, &theirs->async_events)
		event->t_ns = our_time(evidence, event->t_ns);
	ADOPT(resources);
	ADOPT(transitions);
	ADOPT(async_events);
	ADOPT(counters);
	theirs->local.role = ROLE_TARGET;
	evidence->remote = theirs->local;
	evidence->remote.alive = FLAG_YES;
}

static const char *failed_step(const struct evidence *evidence)
{
	list_each(step, &evidence->resources)
		if (step->side == SIDE_LOCAL && step->error.known && step->error.value)
			return step->step;
	list_each(transition, &evidence->transitions)
		if (transition->side == SIDE_LOCAL && transition->error.known && transition->error.value)
			return transition->to;
	return NULL;
}

/* For the verdict of the other end, which sees nothing of all this. */
static struct peer_report report_of(struct initiator *initiator, const struct error *error)
{
	const struct evidence *evidence = run_evidence(initiator->run);
	const struct operation *last = transfer_last(&initiator->transfer);
	if (last && !last->post_errno.known)
		last = NULL;
	bool refused = last && last->post_errno.value;
	struct peer_report report = { .posted = num(initiator->transfer.posted),
		.completed = evidence->operations_completed };
	if (last) {
		report.opcode = last->opcode;
		report.bytes = last->bytes;
		report.wc_status = last->wc_status;
		report.vendor_err = last->vendor_err;
	}
	if (refused) {
		report.step = "ibv_post_send";
		report.error = last->post_errno;
	}
	if (error->code && !last) {
		report.step = failed_step(evidence);
		report.error = num(-error->code);
		report.text = error->text;
	}
	return report;
}

/* Asked for whatever happened: the other end's view separates what one side alone cannot. */
static void fetch_evidence(struct initiator *initiator, bool hello_sent, const struct error *why)
{
	struct probe_run *run = initiator->run;
	struct peer_report report = report_of(initiator, why);
	struct posted_message ask = { .type = "ask", .posted = report.posted, .report = &report };
	struct evidence_message answer = { 0 };
	struct error error = { 0 };
	if (!hello_sent)
		return;
	int64_t deadline = deadline_in(initiator, run_stopped(run) ? FAREWELL_MS : ANSWER_MS);
	initiator->channel.finishing = true;
	run_enter(run, "fetching the evidence of the peer", ANSWER_MS + STEP_LIMIT_MS);
	int result = channel_send(&initiator->channel, &posted_record, &ask, deadline, &error);
	result = result ? result
	                : channel_expect(
	                          &initiator->channel, "evidence", &evidence_message_record, &answer, deadline, &error);
	run_leave(run);
	if (result) {
		run_evidence(run)->remote.alive = initiator->channel.left ? FLAG_NO : FLAG_UNKNOWN;
		report_missing(&run->report, "evidence", "remote", result, "%s", error.text);
		channel_describe(&initiator->channel);
		return;
	}
	adopt_evidence(run, &answer.evidence);
	landings_apply(&answer.landings, &initiator->layout, run);
}

static void say_bye(struct initiator *initiator)
{
	struct plain_message bye = { .type = "bye" };
	struct error ignored;
	if (!initiator->channel.closed)
		channel_send(&initiator->channel, &plain_record, &bye, run_now(initiator->run), &ignored);
}

/* ---- RoCE LAG ---- */

/* The last request once more, with the queue pair bound to another member. False: the queue pair does not go on. */
static bool try_member(struct initiator *initiator, struct lag_member *member)
{
	struct probe_run *run = initiator->run, *part = run_part(run);
	struct endpoint *endpoint = &initiator->endpoint;
	struct operation *operation = part ? list_add(run->arena, &run_evidence(part)->operations) : NULL;
	if (!operation)
		return false;
	part->document.request = run->document.request;
	/* A write with immediate data would need one more receive. */
	if (part->document.request.op == OP_WRITE_IMM)
		part->document.request.op = OP_WRITE;
	run_enter(run, "trying a member of the LAG", run->document.request.timeout_ms.value + STEP_LIMIT_MS);
	endpoint->run = part;
	struct error error = { 0 };
	int result = lag_bind(endpoint->qps[0], (uint32_t)member->port.value);
	if (result)
		error_set(&error, result, "binding the queue pair to it");
	else
		result = transfer_repeat(&initiator->transfer, operation);
	endpoint->run = run;
	run_leave(run);
	uint32_t given, used;
	lag_conclude(part, member);
	if (!lag_query(endpoint->qps[0], &given, &used))
		member->active_port = num(used);
	if (error.text[0])
		member->detail = arena_strdup(run->arena, error.text);
	return !result;
}

/* On the one queue pair that there is: the first member that fails ends it. */
static void try_members(struct initiator *initiator, bool goes_on)
{
	struct probe_run *run = initiator->run;
	struct ibv_context *context = initiator->endpoint.context;
	uint32_t count = context ? lag_members(context) : 0;
	bool send = run->document.request.op == OP_SEND;
	if (count && (send || !goes_on)) {
		report_missing(&run->report, "lag_members", run_facts(run, SIDE_LOCAL)->device, 0,
		        send ? "the peer has no receives for more requests; --op write tries the members of the LAG"
		             : "the queue pair did not do what was asked for, so no member was tried on it");
		return;
	}
	for (uint32_t port = 1; port <= count && !run_stopped(run); port++) {
		struct lag_member *member = list_add(run->arena, &run_evidence(run)->lag_members);
		if (!member)
			return;
		*member = (struct lag_member){ .port = num(port) };
		if (goes_on)
			goes_on = try_member(initiator, member);
		else
			member->detail = "not tried: the queue pair does not go on after the member before";
	}
}

/* ---- */

static void gather(struct initiator *initiator, const struct error *why, bool ended_badly, bool hello_sent)
{
	struct probe_run *run = initiator->run;
	struct endpoint *endpoint = &initiator->endpoint;
	if (ended_badly && initiator->transfer.posted) {
		endpoint_sample(endpoint, true);
		transfer_inspect(&initiator->transfer, true);
		session_sleep(run, endpoint_retry_ns(endpoint->facts, 0) * 3 / 2);
		transfer_inspect(&initiator->transfer, false);
	}
	endpoint_sample(endpoint, false);
	endpoint_events(endpoint);
	counters_after(&initiator->counters, endpoint->origin, run, SIDE_LOCAL);
	/* Before anything new is sent: what is still unacknowledged then is old. */
	channel_describe(&initiator->channel);
	/* Never before the requests: it would resolve the neighbour that they are to find as it is. */
	if (ended_badly && !run_stopped(run) && endpoint->context)
		reach_check(run, run->settings->tcp_port);
	try_members(initiator, !ended_badly && initiator->transfer.posted);
	fetch_evidence(initiator, hello_sent, why);
	if (initiator->transfer.endpoint)
		transfer_look_again(&initiator->transfer);
}

static int prepare(struct initiator *initiator, bool *hello_sent, struct error *error)
{
	struct probe_run *run = initiator->run;
	int result = connect_step(initiator, error);
	result = result ? result : open_end(initiator, error);
	if (result)
		return result;
	counters_baseline(&initiator->counters, initiator->endpoint.origin, run, SIDE_LOCAL);
	result = make_end(initiator, error);
	if (result)
		return result;
	counters_before(&initiator->counters, initiator->endpoint.origin, run, SIDE_LOCAL);
	*hello_sent = true;
	result = exchange(initiator, error);
	result = result ? result : endpoint_connect(&initiator->endpoint, run_facts(run, SIDE_REMOTE), error);
	result = result ? result : await_ready(initiator, error);
	return result ? result : measure_clock(initiator, error);
}

static int run_initiator(struct initiator *initiator, struct error *error)
{
	struct probe_run *run = initiator->run;
	bool hello_sent = false;
	int result = prepare(initiator, &hello_sent, error);
	if (result && !initiator->endpoint.context)
		return result;
	initiator->transfer.meanwhile = meanwhile;
	initiator->transfer.data = initiator;
	if (!result) {
		result = transfer_run(
		        &initiator->transfer, &initiator->endpoint, run_facts(run, SIDE_REMOTE), &initiator->layout);
		if (!result)
			result = done_and_ok(initiator, error);
	}
	session_observers(run, &initiator->endpoint, "peer");
	gather(initiator, error, result != 0, hello_sent);
	session_device(run, &initiator->endpoint);
	transfer_finish(&initiator->transfer);
	if (!result && run->document.request.tcp == FLAG_YES && !run->outer)
		contrast_run(run, &initiator->layout, &initiator->channel);
	if (hello_sent)
		say_bye(initiator);
	return result;
}

int session_initiator(struct probe_run *run)
{
	autofree struct initiator *initiator = calloc(1, sizeof(*initiator));
	if (!initiator)
		return -ENOMEM;
	initiator->run = run;
	initiator->channel.fd = -1;
	struct error error = { 0 };
	int result = run_failed(run, run_initiator(initiator, &error), &error);
	channel_close(&initiator->channel);
	endpoint_close(&initiator->endpoint);
	counters_free(&initiator->counters);
	return result;
}
