/* SPDX-License-Identifier: MIT */
#include "probe_output.h"
#include "probe_placements.h"
#include "recorded_probes.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/nearest.h"
#include "model/evidence.h"
#include "probe/drill.h"
#include "probe/listener.h"
#include "probe/probe.h"
#include "probe/settings.h"
#include "probe/watcher.h"
#include "json/json.h"
#include "verdict/verdict.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	OPTION_LISTEN = 256,
	OPTION_KEEP,
	OPTION_PEER,
	OPTION_TARGET_DEVICE,
	OPTION_OP,
	OPTION_SIZE,
	OPTION_COUNT,
	OPTION_TIMEOUT,
	OPTION_BUFFER_NODE,
	OPTION_JUDGE,
	OPTION_QPS,
	OPTION_CQS,
	OPTION_PDS,
	OPTION_BATCH,
	OPTION_SIGNAL_EVERY,
	OPTION_SQ_SIG_ALL,
	OPTION_SGES,
	OPTION_DEPTH,
	OPTION_INLINE,
	OPTION_API,
	OPTION_WAIT,
	OPTION_DRILL,
	OPTION_TRACE,
	OPTION_REGISTRATION,
	OPTION_EXPLAIN_STAGES,
	OPTION_TCP,
};

#define ARENA_BYTES ((size_t)256 << 20) /* address space of one run */

static const struct option_help probe_options[] = {
	{ 'd', "device", "DEV[/PORT]", "use this RDMA device (or the one of this netdev) and port" },
	{ 'g', "gid-index", "INDEX", "use this GID" },
	{ OPTION_TARGET_DEVICE, "target-device", "DEV[/PORT]", "write to a second device of this host" },
	{ OPTION_LISTEN, "listen", "[=[ADDR][:PORT]]",
	        "be the target: wait for a peer (--listen=ADDR:PORT; TCP port 18517)" },
	{ OPTION_KEEP, "keep", NULL, "with --listen: serve one peer after another" },
	{ OPTION_PEER, "peer", "HOST[:PORT]", "write to the listener on HOST (TCP port 18517)" },
	{ OPTION_OP, "op", "OP", "write (the default), write-imm, send or read" },
	{ OPTION_SIZE, "size", "N[,N...]", "bytes of a request, with K, M or G; two sizes by default" },
	{ OPTION_COUNT, "count", "N", "requests of each size, one after the other (1)" },
	{ OPTION_BATCH, "batch", "N", "requests posted with one call (1)" },
	{ OPTION_SIGNAL_EVERY, "signal-every", "N", "of so many requests one asks for a completion (1)" },
	{ OPTION_SQ_SIG_ALL, "sq-sig-all", NULL,
	        "queue pairs that signal every request, whether it asks for it or not" },
	{ OPTION_SGES, "sges", "N", "gather each payload from so many pieces (1)" },
	{ OPTION_INLINE, "inline", NULL, "the post copies the payload into the request" },
	{ OPTION_QPS, "qps", "N", "queue pairs, which share completion queue and domain (1)" },
	{ OPTION_CQS, "cqs", "1|2", "completion queues for them, with one dispatcher (1)" },
	{ OPTION_PDS, "pds", "1|2", "protection domains for them (1)" },
	{ OPTION_DEPTH, "depth", "N", "requests that a send queue holds (as many as are outstanding)" },
	{ OPTION_API, "api", "post|wr", "post by ibv_post_send (the default) or by the ibv_wr_* calls" },
	{ OPTION_WAIT, "wait", "poll|event", "wait for completions by polling (the default) or by event" },
	{ OPTION_TIMEOUT, "timeout", "MS",
	        "wait so long for each completion (5000); set-up steps have deadlines of their own" },
	{ OPTION_BUFFER_NODE, "buffer-node", "N|nic|all",
	        "NUMA node of the buffer; nic: the adapter's (the default); all: compare" },
	{ OPTION_REGISTRATION, "registration", "pinned|odp",
	        "pin the buffer (the default), or let the device page it in" },
	{ OPTION_TRACE, "trace", "FILE", "write the run in the Trace Event format (Perfetto, chrome://tracing)" },
	{ OPTION_DRILL, "drill", "NAME|list", "make a known failure happen on purpose; list: which there are" },
	{ OPTION_TCP, "tcp", NULL, "move the same bytes over TCP as well, with --peer to the peer, and compare" },
	{ OPTION_EXPLAIN_STAGES, "explain-stages", NULL, "say what each stage means for the owner of the buffer" },
	{ OPTION_JUDGE, "judge", "FILE", "run the verdict on the evidence of a recorded document" },
	{ 0 },
};

struct probe_arguments {
	struct probe_settings settings;
	const char *judge, *trace;
	const struct drill *drill;
	bool lists_drills, explains_stages;
	struct arena *arena;
	struct survey survey;
};

/* ---- options ---- */

static const char *option_name(int option)
{
	for (const struct option_help *help = probe_options; help->name; help++)
		if (help->value == option)
			return help->name;
	return "";
}

static int take_drill(struct probe_arguments *arguments, const char *name, struct error *error)
{
	arguments->lists_drills = !strcmp(name, "list");
	arguments->drill = drill_find(name);
	if (arguments->drill || arguments->lists_drills)
		return 0;
	struct nearest nearest = { .typed = name };
	const struct drill *drill;
	for (size_t i = 0; (drill = drill_at(i)); i++)
		nearest_try(&nearest, drill->name, NULL);
	const char *meant = nearest_text(&nearest);
	return error_say(error, -EINVAL, "there is no drill '%s'%s --drill list shows those there are", name,
	        *meant ? meant : ";");
}

/* How requests are made and waited for. 1: it is none of these options. */
static int take_request_option(struct probe_arguments *arguments, int option, struct error *error)
{
	static const char *const apis[] = { "post", "wr", NULL }, *const waits[] = { "poll", "event", NULL },
	                         *const registrations[] = { "pinned", "odp", NULL };
	struct probe_request *request = &arguments->settings.request;
	switch (option) {
	case OPTION_QPS:
		return settings_number(optarg, 1, PROBE_QPS_LIMIT, &request->qps, error);
	case OPTION_CQS:
		return settings_number(optarg, 1, 2, &request->cqs, error);
	case OPTION_PDS:
		return settings_number(optarg, 1, 2, &request->pds, error);
	case OPTION_BATCH:
		return settings_number(optarg, 1, PROBE_BATCH_LIMIT, &request->batch, error);
	case OPTION_SIGNAL_EVERY:
		return settings_number(optarg, 1, PROBE_BATCH_LIMIT, &request->signal_every, error);
	case OPTION_SQ_SIG_ALL:
		request->sq_sig_all = FLAG_YES;
		return 0;
	case OPTION_SGES:
		return settings_number(optarg, 1, PROBE_SGES_LIMIT, &request->sges, error);
	case OPTION_DEPTH:
		return settings_number(optarg, 1, PROBE_DEPTH_LIMIT, &request->depth, error);
	case OPTION_INLINE:
		request->inline_data = FLAG_YES;
		return 0;
	case OPTION_API:
		return settings_word(optarg, apis, &request->api, error);
	case OPTION_WAIT:
		return settings_word(optarg, waits, &request->wait, error);
	case OPTION_TCP:
		request->tcp = FLAG_YES;
		return 0;
	case OPTION_EXPLAIN_STAGES:
		arguments->explains_stages = true;
		return 0;
	case OPTION_REGISTRATION:
		return settings_word(optarg, registrations, &request->registration, error);
	case OPTION_DRILL:
		return take_drill(arguments, optarg, error);
	default:
		return 1;
	}
}

static int take_option(struct probe_arguments *arguments, int option, struct error *error)
{
	int taken = take_request_option(arguments, option, error);
	if (taken <= 0)
		return taken;
	struct probe_settings *settings = &arguments->settings;
	struct probe_request *request = &settings->request;
	switch (option) {
	case 'd':
		if (request->device)
			return error_say(error, -EINVAL, "given twice, and a probe takes one");
		request->device = optarg;
		return settings_device(&settings->device, optarg, error);
	case 'g':
		/* ibv_global_route.sgid_index has eight bits. */
		return settings_number(optarg, 0, 255, &request->gid_index, error);
	case OPTION_TARGET_DEVICE:
		if (request->target_device)
			return error_say(error, -EINVAL, "given twice, and a probe takes one");
		request->target_device = optarg;
		if (request->mode == MODE_LOOPBACK)
			request->mode = MODE_TWO_DEVICES;
		return settings_device(&settings->target, optarg, error);
	case OPTION_LISTEN:
		return settings_listen(settings, optarg, error);
	case OPTION_KEEP:
		settings->keep = true;
		return 0;
	case OPTION_PEER:
		return settings_peer(settings, arguments->arena, optarg, error);
	case OPTION_OP:
		return settings_operation(settings, optarg, error);
	case OPTION_SIZE:
		return settings_sizes(settings, arguments->arena, optarg, error);
	case OPTION_COUNT:
		return settings_number(optarg, 1, PROBE_COUNT_LIMIT, &request->count, error);
	case OPTION_TIMEOUT:
		return settings_milliseconds(
		        optarg, PROBE_TIMEOUT_MIN_MS, PROBE_TIMEOUT_MAX_MS, &request->timeout_ms, error);
	case OPTION_TRACE:
		arguments->trace = optarg;
		return 0;
	case OPTION_BUFFER_NODE:
		return settings_buffer_node(settings, arguments->arena, optarg, error);
	default:
		arguments->judge = optarg;
		return 0;
	}
}

static int no_memory(void)
{
	complain("no memory");
	return EXIT_NOTHING;
}

static int wrong_option(const struct command *command, int option, const struct error *error)
{
	return error->code == -ENOMEM ? no_memory()
	                              : usage_error(command, "--%s: %s", option_name(option), error->text);
}

/* 0, or the exit status plus one. */
static int parse_arguments(const struct command *command, int argc, char **argv, struct common_options *common,
        struct probe_arguments *arguments)
{
	int option;
	settings_init(&arguments->settings);
	while ((option = command_getopt(command, argc, argv, common)) >= 0) {
		struct error error = { 0 };
		/* "--listen :18517" as well as "--listen=:18517": a probe has no operands that it could be. */
		if (option == OPTION_LISTEN && !optarg && optind < argc && argv[optind][0] != '-')
			optarg = argv[optind++];
		if (take_option(arguments, option, &error))
			return 1 + wrong_option(command, option, &error);
	}
	if (option != OPTION_END)
		return 1 + option_status(option);
	if (optind < argc)
		return 1 + usage_error(command, "'%s': a probe takes options only; -d names the device", argv[optind]);
	struct error error = { 0 };
	if (arguments->drill && drill_apply(arguments->drill, &arguments->settings, arguments->arena))
		return 1 + no_memory();
	if (settings_check(&arguments->settings, &error))
		return 1 + usage_error(command, "%s", error.text);
	if (common->from && arguments->judge)
		return 1 + usage_error(command,
		                   "one of --from and --judge: --from SNAPSHOT judges the probe of a report by itself");
	return 0;
}

/* ---- --judge, and the probe of a report ---- */

static int read_document(const char *path, struct arena *arena, struct recorded_probe *probe, struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;
	struct error wrong = { 0 };
	int result = file_read(path, &text, &length, error);
	if (result)
		return result;
	result = recorded_probe_parse(text, length, path, arena, probe, &wrong);
	if (!result)
		return 0;
	if (length && *text == '{')
		return error_say(error, result, "%s", wrong.text);
	return error_say(error, result, "%s; of a snapshot or report: rdmadiag probe --from %s", wrong.text, path);
}

static bool is_of(const struct recorded_probe *probe, const struct device_choice *choice)
{
	const struct endpoint_facts *local = &probe->document.evidence.local;
	return local->device && !strcmp(local->device, choice->name) &&
	       (!choice->port.known || num_is(local->port, choice->port.value));
}

/* "mlx5_0/1 (failed), mlx5_1/1 (ok)" */
static const char *list_probes(struct arena *arena, const struct recorded_probes *probes)
{
	const char *text = "";
	list_each(probe, probes) {
		const char *outcome = outcome_names[probe->document.verdict.outcome];
		text = arena_printf(
		        arena, "%s%s%s (%s)", text, *text ? ", " : "", probe->subject, outcome ? outcome : "unknown");
	}
	return text;
}

/* What `report --probe` left in its archive: the worst, or what -d names. */
static int read_recorded(const char *snapshot, const struct device_choice *choice, struct arena *arena,
        struct recorded_probe *found, struct error *error)
{
	autocall(origin_closep) struct origin *origin = origin_snapshot(snapshot, error);
	const struct recorded_place place = { .origin = origin };
	struct recorded_probes probes;
	struct error wrong = { 0 };
	if (!origin)
		return error->code;
	if (recorded_probes_read(&place, arena, &probes, &wrong))
		return error_say(error, wrong.code, "%s: %s", snapshot, wrong.text);
	if (!probes.count)
		return error_say(error, -ENOENT, "%s: holds no probe (report --probe); only a live host can be probed",
		        snapshot);
	const struct recorded_probe *taken = *choice->name ? NULL : probes.items[0];
	list_each(probe, &probes)
		if (!taken && is_of(probe, choice))
			taken = probe;
	if (!taken)
		return error_say(error, -ENODEV, "%s: holds no probe of '%s'; it has those of %s", snapshot,
		        choice->name, list_probes(arena, &probes));
	if (!*choice->name && probes.count > 1)
		complain("%s holds %u probes: %s; -d chooses, this is that of %s", snapshot, probes.count,
		        list_probes(arena, &probes), taken->subject);
	*found = *taken;
	return 0;
}

/* Where there is no document to judge, -j prints one that says so. */
static void print_unreadable(
        const struct probe_arguments *arguments, const struct common_options *common, const struct error *error)
{
	struct report report = { .arena = arguments->arena };
	struct probe_document document = { .report = &report };
	report_missing(&report, "evidence", "host", error->code, "%s", error->text);
	verdict_judge(&document.request, &document.evidence, &report, arguments->arena, &document.verdict);
	probe_output_print(&document, common, "snapshot", NULL);
}

static int judge_recorded(const struct probe_arguments *arguments, const struct common_options *common)
{
	struct recorded_probe probe = { 0 };
	struct error error = { 0 };
	int result = arguments->judge ? read_document(arguments->judge, arguments->arena, &probe, &error)
	                              : read_recorded(common->from, &arguments->settings.device, arguments->arena,
	                                        &probe, &error);
	if (result) {
		complain("%s", error.text);
		if (common->json)
			print_unreadable(arguments, common, &error);
		return EXIT_NOTHING;
	}
	probe_output_print(&probe.document, common, "snapshot", probe.facts);
	return probe_output_trace(&probe.document, arguments->trace) ? EXIT_NOTHING : probe_status(&probe.document);
}

/* ---- a run ---- */

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
		complain("a peer cannot be served: %s", strerror(-result));
		return EXIT_NOTHING;
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
	int status = parse_arguments(command, argc, argv, common, &arguments);
	if (status)
		return status - 1;
	if (arguments.lists_drills)
		return list_drills();
	if (arguments.explains_stages)
		return probe_explain_stages();
	if (arguments.judge || common->from)
		return judge_recorded(&arguments, common);
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
