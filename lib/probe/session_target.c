/* SPDX-License-Identifier: MIT */
/*
 * The target: grants one peer access to a small buffer of its own for the time of one run, and tells what it saw there.
 * The peer is not trusted: every wait has a deadline, every size a limit.
 */
#include "base/cleanup.h"
#include "probe/channel.h"
#include "probe/cm.h"
#include "probe/contrast.h"
#include "probe/counters.h"
#include "probe/drill.h"
#include "probe/endpoint.h"
#include "probe/layout.h"
#include "probe/session.h"
#include "probe/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	HELLO_MS = 5000,
	SEND_MS = 5000,
	SILENCE_MS = 15000,  /* an initiator says something once a second */
	GATHER_MS = 12000,   /* but not while it gathers its evidence */
	EAGER_NS = 50000000, /* after the last news it looks without a pause for so long */
	LOOKS = 64,
};

struct service {
	struct probe_run *run;
	struct channel channel;
	struct endpoint endpoint;
	struct counters counters;
	struct layout layout;
	struct target target;
	struct hello_message hello;
	bool prepared; /* requests may come */
	int64_t heard_ns;
};

static int64_t deadline_in(const struct service *service, int64_t ms)
{
	return run_now(service->run) + ms * 1000000;
}

/* ---- up to READY ---- */

static int receive_hello(struct service *service, struct error *error)
{
	struct probe_run *run = service->run;
	struct hello_message *hello = &service->hello;
	int result =
	        channel_expect(&service->channel, "hello", &hello_record, hello, deadline_in(service, HELLO_MS), error);
	result = result ? result : hello_check(hello, error);
	if (result)
		return result;
	run->greeted = true;
	struct probe_request *request = &run->document.request;
	request->op = hello->op;
	request->count = hello->count;
	request->timeout_ms = hello->timeout_ms;
	request->batch = hello->batch;
	request->qps = hello->qps;
	request->signal_every = hello->signal_every;
	request->drill = hello->drill;
	run->deviation = drill_deviation(hello->drill);
	memcpy(&request->sizes, &hello->sizes, sizeof(request->sizes));
	hello->endpoint.role = ROLE_INITIATOR;
	*run_facts(run, SIDE_REMOTE) = hello->endpoint;
	run_facts(run, SIDE_LOCAL)->role = ROLE_TARGET;
	result = layout_make(&service->layout, request, (uint64_t)hello->seed.value, GRANT_LIMIT);
	if (!result)
		return 0;
	return error_say(error, result,
	        "these sizes need a buffer of more than %zu MiB, which a listener does not grant", GRANT_LIMIT >> 20);
}

static int make_end(struct service *service, struct error *error)
{
	struct probe_run *run = service->run;
	uint8_t address[16];
	bool has_address = !channel_local_gid(&service->channel, address);
	struct endpoint_wish wish = {
		.device = &run->settings->device,
		.gid_index = run->settings->request.gid_index,
		.address = has_address ? address : NULL,
		.gid_type = service->hello.endpoint.gid_type,
	};
	int result = endpoint_open(&service->endpoint, run, SIDE_LOCAL, &wish, error);
	if (result)
		return result;
	counters_baseline(&service->counters, service->endpoint.origin, run, SIDE_LOCAL);
	result = endpoint_create(&service->endpoint, &service->layout, error);
	if (!result)
		counters_before(&service->counters, service->endpoint.origin, run, SIDE_LOCAL);
	if (!result && cm_is_needed(&service->endpoint))
		result = cm_listen(&service->endpoint, has_address ? address : NULL, error);
	return result;
}

static int send_offer(struct service *service, struct error *error)
{
	struct offer_message offer = { .type = "offer", .endpoint = *service->endpoint.facts };
	return channel_send(&service->channel, &offer_record, &offer, deadline_in(service, SEND_MS), error);
}

static int get_ready(struct service *service, struct error *error)
{
	struct probe_run *run = service->run;
	int result = endpoint_connect(&service->endpoint, run_facts(run, SIDE_REMOTE), error);
	result = result ? result : target_prepare(&service->target, &service->endpoint, &service->layout, error);
	if (result)
		return result;
	service->prepared = true;
	struct plain_message ready = { .type = "ready" };
	struct control_step *step = control_begin(run, "ready", SEND_MS);
	result = channel_send(&service->channel, &plain_record, &ready, deadline_in(service, SEND_MS), error);
	if (run->deviation.target_vanishes)
		endpoint_vanish(&service->endpoint);
	return control_end(run, step, result, error);
}

static int prepare(struct service *service, struct error *error)
{
	struct probe_run *run = service->run;
	struct control_step *step = control_begin(run, "exchange", HELLO_MS + SEND_MS + STEP_LIMIT_MS);
	int result = receive_hello(service, error);
	if (result)
		return control_end(run, step, result, error);
	result = make_end(service, error);
	result = result ? result : send_offer(service, error);
	control_end(run, step, result, error);
	return result ? result : get_ready(service, error);
}

/* ---- serving ---- */

static bool all_right(const struct target *target)
{
	list_each(landing, &target->landings)
		if (landing->payload != PAYLOAD_RIGHT)
			return false;
	return true;
}

static void verify(struct service *service, struct num posted)
{
	uint32_t total = layout_total(&service->layout);
	if (!service->prepared || !posted.known || posted.value < 0)
		return;
	target_verify(&service->target, posted.value < total ? (uint32_t)posted.value : total);
}

static int answer_ping(struct service *service, const struct incoming *incoming, struct error *error)
{
	struct clock_message message = { 0 };
	int64_t now = run_now(service->run);
	int result = channel_read(&service->channel, incoming, &clock_message_record, &message, error);
	message.type = "pong";
	message.time_ns = num(now);
	return result ? result
	              : channel_send(&service->channel, &clock_message_record, &message, deadline_in(service, SEND_MS),
	                        error);
}

static int answer_done(struct service *service, const struct incoming *incoming, struct error *error)
{
	struct probe_run *run = service->run;
	struct posted_message done = { 0 };
	struct control_step *step = control_begin(run, "done", SEND_MS);
	int result = channel_read(&service->channel, incoming, &posted_record, &done, error);
	control_end(run, step, result, error);
	if (result)
		return result;
	verify(service, done.posted);
	landings_apply(&service->target.landings, &service->layout, run);
	struct ok_message ok = { .type = "ok", .verified = flag(all_right(&service->target)) };
	ok.landings = service->target.landings;
	step = control_begin(run, "ok", SEND_MS);
	result = channel_send(&service->channel, &ok_record, &ok, deadline_in(service, SEND_MS), error);
	return control_end(run, step, result, error);
}

static int answer_ask(struct service *service, const struct incoming *incoming, struct error *error)
{
	struct probe_run *run = service->run;
	struct posted_message ask = { 0 };
	int result = channel_read(&service->channel, incoming, &posted_record, &ask, error);
	if (result)
		return result;
	verify(service, ask.posted);
	run_evidence(run)->peer_report = ask.report;
	endpoint_sample(&service->endpoint, false);
	endpoint_events(&service->endpoint);
	counters_after(&service->counters, service->endpoint.origin, run, SIDE_LOCAL);
	struct evidence_message message = { .type = "evidence", .evidence = run->document.evidence };
	message.landings = service->target.landings;
	return channel_send(
	        &service->channel, &evidence_message_record, &message, deadline_in(service, SEND_MS), error);
}

/* 1: the conversation is over. */
static int answer(struct service *service, struct error *error)
{
	struct incoming incoming;
	int result = channel_receive(&service->channel, &incoming, deadline_in(service, SEND_MS), error);
	if (result)
		return result;
	service->heard_ns = run_now(service->run);
	if (service->run->deviation.target_vanishes && strcmp(incoming.type, "ping") != 0)
		result = error_say(error, -ECANCELED, "the peer asked for a drill: this end goes away");
	else if (!strcmp(incoming.type, "ping"))
		result = answer_ping(service, &incoming, error);
	else if (!strcmp(incoming.type, "done"))
		result = answer_done(service, &incoming, error);
	else if (!strcmp(incoming.type, "ask"))
		result = answer_ask(service, &incoming, error);
	else if (!strcmp(incoming.type, "stream") && service->prepared)
		result = contrast_answer(
		        &service->channel, &service->layout, &incoming, deadline_in(service, SEND_MS), error);
	else if (!strcmp(incoming.type, "bye"))
		result = 1;
	else if (strcmp(incoming.type, "alive") != 0)
		result = error_say(error, -EPROTO, "control connection: \"%.32s\" is not expected here", incoming.type);
	message_free(&incoming);
	return result;
}

/* Looks into its memory between the messages, at full speed at first. */
static int serve(struct service *service, struct error *error)
{
	struct probe_run *run = service->run;
	int64_t limit_ns = (SILENCE_MS + GATHER_MS) * INT64_C(1000000);
	service->heard_ns = run_now(run);
	int result = 0;
	while (!result) {
		int64_t silent = run_now(run) - service->heard_ns;
		run_enter(run, "waiting for the peer", STEP_LIMIT_MS);
		for (int i = 0; service->prepared && i < LOOKS; i++)
			target_look(&service->target);
		endpoint_events(&service->endpoint);
		if (channel_is_readable(&service->channel, silent > EAGER_NS ? 1 : 0))
			result = answer(service, error);
		else if (run_stopped(run))
			result = error_set(error, -EINTR, "waiting for the peer");
		else if (silent > limit_ns)
			result = error_set(
			        error, -ETIMEDOUT, "the peer has been silent for %d s", (int)(limit_ns / 1000000000));
	}
	run_leave(run);
	return result > 0 ? 0 : result;
}

/* A step that failed here: the peer is told, and may still ask for the evidence. */
static int run_service(struct service *service, struct error *error)
{
	struct probe_run *run = service->run;
	int result = prepare(service, error);
	if (result && !service->channel.closed)
		channel_complain(&service->channel, "prepare", error);
	if (!result) {
		result = serve(service, error);
		if (result)
			control_end(run, control_begin(run, "done", 0), result, error);
	} else if (run->greeted && !service->channel.closed && !run_stopped(run)) {
		struct error ignored;
		serve(service, &ignored);
	}
	if (!run_facts(run, SIDE_LOCAL)->qp_state)
		endpoint_sample(&service->endpoint, false);
	endpoint_events(&service->endpoint);
	if (!service->counters.after)
		counters_after(&service->counters, service->endpoint.origin, run, SIDE_LOCAL);
	channel_describe(&service->channel);
	run_facts(run, SIDE_REMOTE)->alive = service->channel.left ? FLAG_NO : FLAG_UNKNOWN;
	return result;
}

int session_target(struct probe_run *run, int fd)
{
	autofree struct service *service = calloc(1, sizeof(*service));
	if (!service)
		return -ENOMEM;
	service->run = run;
	struct error error = { 0 };
	int result = channel_open(&service->channel, run, fd);
	result = run_failed(run, result ? result : run_service(service, &error), &error);
	endpoint_close(&service->endpoint);
	counters_free(&service->counters);
	return result;
}
