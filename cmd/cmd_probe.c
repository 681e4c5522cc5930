/* SPDX-License-Identifier: MIT */
#include "probe_arguments.h"
#include "probe_output.h"
#include "probe_placements.h"
#include "probe_recorded.h"

#include "base/cleanup.h"
#include "model/evidence.h"
#include "probe/listener.h"
#include "probe/probe.h"
#include "probe/watcher.h"
#include "verdict/verdict.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ARENA_BYTES ((size_t)256 << 20) /* address space of one run */

/* It was tried, and nothing came of it: that is worth to be said as well. */
static void tell_ineffective_drill(struct probe_run *run)
{
	const struct probe_document *document = &run->document;
	const struct drill *drill = drill_find(document->request.drill);
	if (!drill || document->verdict.outcome != OUTCOME_OK)
		return;
	report_finding(&run->report, "probe-drill-no-effect", SEVERITY_INFO,
	        document->evidence.local.device ? document->evidence.local.device : "host",
	        "the drill %s had no effect here: %s", drill->name,
	        drill->ineffective ? drill->ineffective : "this device does not mind");
}

static bool has_tried_to_open(const struct evidence *evidence)
{
	list_each(step, &evidence->resources)
		if (!strcmp(step->step, "ibv_open_device"))
			return true;
	return false;
}

static int finish_run(
        struct probe_run *run, const struct probe_arguments *arguments, const struct common_options *common)
{
	struct probe_document *document = &run->document;
	const struct host *host = run->survey->host;
	verdict_judge(&document->request, &document->evidence, &run->report, run->arena, &document->verdict);
	tell_ineffective_drill(run);
	probe_progress_end();
	/* Where nothing was tried, the message says all there is to say. */
	bool tried = document->request.mode == MODE_PEER || has_tried_to_open(&document->evidence);
	if (common->json || probe_status(document) != EXIT_NOTHING || tried)
		probe_output_print(document, common, "live", host ? &host->facts : NULL);
	if (run->error.code && document->verdict.outcome != OUTCOME_OK)
		complain("%s", run->error.text);
	bool traced = !probe_output_trace(document, arguments->trace);
	if (watcher_signal())
		return EXIT_INTERRUPTED;
	return traced ? probe_status(document) : EXIT_NOTHING;
}

/* Nothing was tried because of `step`: the document says why, and standard error too. */
static int give_up(const struct probe_arguments *arguments, const struct common_options *common, const char *step,
        const struct error *error)
{
	struct probe_run *run = run_new(arguments->arena, &arguments->settings, &arguments->survey);
	if (!run) {
		complain("%s", error->text);
		return EXIT_NOTHING;
	}
	struct resource_step *failed = resource_begin(run, SIDE_LOCAL, step);
	resource_detail(run, failed, "%s", error->text);
	/* What a signal ended did not fail. */
	if (error->code == -EINTR)
		run->document.evidence.interrupted = FLAG_YES;
	else
		resource_end(run, failed, error->code);
	run_failed(run, error->code, error);
	finish_run(run, arguments, common);
	return error->code == -EINTR ? EXIT_INTERRUPTED : EXIT_NOTHING;
}

static bool has_succeeded(const struct probe_run *run)
{
	const struct evidence *evidence = &run->document.evidence;
	return evidence->operations_completed.known && evidence->operations_completed.value > 0 &&
	       !evidence->operations_failed.value && !evidence->deadline_ns.known && !watcher_signal();
}

static int run_once(const struct probe_arguments *arguments, const struct common_options *common)
{
	struct probe_run *run = run_new(arguments->arena, &arguments->settings, &arguments->survey);
	bool everywhere = !strcmp(arguments->settings.request.buffer_node, "all");
	if (run)
		run->progress = probe_progress;
	if (run && everywhere)
		run->document.request.buffer_node = "nic";
	int result = run ? probe_run(run) : -ENOMEM;
	if (run && everywhere)
		run->document.request.buffer_node = "all";
	if (!result && everywhere && has_succeeded(run))
		placements_measure(run);
	if (!result)
		return finish_run(run, arguments, common);
	struct error error;
	error_set(&error, result, "the probe cannot start");
	return give_up(arguments, common, "fork", &error);
}

/* One peer, in an arena of its own. A negative number: it was no probe, wait for another. */
static int serve_one(
        const struct probe_arguments *arguments, const struct common_options *common, struct listener *listener, int fd)
{
	struct arena *arena __attribute__((cleanup(arena_freep))) = arena_new(ARENA_BYTES);
	struct probe_run *run = arena ? run_new(arena, &arguments->settings, &arguments->survey) : NULL;
	int result = run ? probe_serve(run, listener, fd) : -ENOMEM;
	if (result) {
		struct error error = { 0 };
		error_set(&error, result, "a peer cannot be served");
		return give_up(arguments, common, "fork", &error);
	}
	if (!run->greeted && !watcher_signal()) {
		complain("%s", run->error.text);
		return -1;
	}
	return finish_run(run, arguments, common);
}

static int serve_peers(
        const struct probe_arguments *arguments, const struct common_options *common, struct listener *listener)
{
	int served = 0;
	for (;;) {
		int fd;
		struct error error = { 0 };
		int result = listener_next(listener, &fd, &error);
		if (result == -EAGAIN) {
			complain("%s", error.text);
			continue;
		}
		if (result == -EINTR && served)
			return EXIT_INTERRUPTED;
		if (result == -EINTR)
			error_say(&error, result, "interrupted while it waited for a peer: none came");
		else if (result)
			error_set(&error, result, "waiting for a peer");
		if (result)
			return give_up(arguments, common, "accept", &error);
		int status = serve_one(arguments, common, listener, fd);
		served += status >= 0;
		if (watcher_signal())
			return EXIT_INTERRUPTED;
		if (status >= 0 && !arguments->settings.keep)
			return status;
		fflush(stdout);
	}
}

static int listen_for_peers(const struct probe_arguments *arguments, const struct common_options *common,
        const char *device, struct num port)
{
	struct error error = { 0 };
	char address[300];
	autocall(listener_close) struct listener listener = { .fd = -1 };
	if (listener_open(&listener, &arguments->settings, &error))
		return give_up(arguments, common, "listen", &error);
	listener_describe(&listener, &arguments->survey, device, port, address, sizeof(address));
	complain("listening on %s", address);
	return serve_peers(arguments, common, &listener);
}

/* ---- what was asked for, against what this host has ---- */

static int find_device(const struct probe_arguments *arguments, const struct device_choice *choice, const char **device,
        struct num *port, struct error *error)
{
	const struct survey *survey = &arguments->survey;
	*port = choice->port;
	return *choice->name ? survey_resolve(survey, choice->name, device, port, error)
	                     : survey_choose(survey, NULL, device, port, error);
}

/* 0, or a negative errno with `error`: nothing of that name is here, and peers would wait in vain for a listener. */
static int check_devices(
        const struct probe_arguments *arguments, const char **device, struct num *port, struct error *error)
{
	const struct probe_settings *settings = &arguments->settings;
	const char *target;
	struct num target_port;
	int result = find_device(arguments, &settings->device, device, port, error);
	if (!result && *settings->target.name)
		result = find_device(arguments, &settings->target, &target, &target_port, error);
	return result;
}

static int probe_live(struct probe_arguments *arguments, const struct common_options *common)
{
	struct error error = { 0 };
	const char *device;
	struct num port;
	if (survey_read(&arguments->survey, &error))
		return give_up(arguments, common, "find-device", &error);
	if (survey_check_node(&arguments->survey, arguments->settings.request.buffer_node, &error))
		return usage_error(&probe_command, "--buffer-node: %s", error.text);
	/* Of an initiator the connection is tried first: its address may choose the device. */
	bool by_peer = arguments->settings.request.mode == MODE_PEER && !*arguments->settings.device.name;
	if (!by_peer && check_devices(arguments, &device, &port, &error))
		return give_up(arguments, common, "find-device", &error);
	if (arguments->settings.request.mode == MODE_LISTENER)
		return listen_for_peers(arguments, common, device, port);
	return run_once(arguments, common);
}

static int list_drills(void)
{
	const struct drill *drill;
	for (size_t i = 0; (drill = drill_at(i)); i++)
		printf("%-27s %s\n", drill->name, drill->line);
	return EXIT_DONE;
}

static int run_probe(const struct command *command, int argc, char **argv, struct common_options *common)
{
	struct arena *arena __attribute__((cleanup(arena_freep))) = arena_new(ARENA_BYTES);
	if (!arena) {
		complain("no memory");
		return EXIT_NOTHING;
	}
	struct probe_arguments arguments = { .arena = arena };
	int status = probe_parse_arguments(command, argc, argv, common, &arguments);
	if (status)
		return status - 1;
	if (arguments.lists_drills)
		return list_drills();
	if (arguments.explains_stages)
		return probe_explain_stages();
	if (arguments.judge || common->from)
		return probe_judge_recorded(&arguments, common);
	/* Before anything that takes time, so that no signal ends it without a document. */
	int result = watcher_signals();
	if (result) {
		complain("signals cannot be watched: %s", strerror(-result));
		return EXIT_NOTHING;
	}
	status = probe_live(&arguments, common);
	survey_free(&arguments.survey);
	return status;
}

const struct command probe_command = {
	.name = "probe",
	.arguments = "",
	.summary = "Traces a short RDMA operation and says which layer has it when it fails.",
	.options = probe_options,
	.run = run_probe,
};
