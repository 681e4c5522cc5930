/* SPDX-License-Identifier: MIT */
#include "probe_arguments.h"

#include "base/nearest.h"

#include <errno.h>
#include <inttypes.h>
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

const struct option_help probe_options[] = {
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

/* ---- options that do not go together: none is left aside without a word ---- */

static uint64_t bit_of(int option)
{
	for (size_t i = 0; probe_options[i].name; i++)
		if (probe_options[i].value == option)
			return UINT64_C(1) << i;
	return 0;
}

/* `options` ends with 0. */
static uint64_t bits_of(const int *options)
{
	uint64_t bits = 0;
	for (; *options; options++)
		bits |= bit_of(*options);
	return bits;
}

static void tell_left_aside(uint64_t options, const char *why)
{
	for (; options; options &= options - 1)
		complain("--%s is left aside: %s", probe_options[__builtin_ctzll(options)].name, why);
}

/* Of a recorded run only the place where it lies and what is shown of it can be chosen. */
static void tell_recorded(const struct probe_arguments *arguments, uint64_t given)
{
	static const int of_document[] = { OPTION_JUDGE, OPTION_TRACE, 0 }, of_report[] = { 'd', OPTION_TRACE, 0 };
	if (arguments->judge)
		tell_left_aside(given & ~bits_of(of_document), "--judge shows a recorded run");
	else
		tell_left_aside(given & ~bits_of(of_report), "--from shows a recorded run");
}

/* Those who know perftest give both ends the same options. */
static void tell_listener(struct probe_arguments *arguments, uint64_t given)
{
	static const int asked_for[] = { OPTION_OP, OPTION_SIZE, OPTION_COUNT, OPTION_TIMEOUT, OPTION_BATCH,
		OPTION_SIGNAL_EVERY, OPTION_QPS, OPTION_CQS, OPTION_PDS, OPTION_INLINE, OPTION_API, OPTION_DRILL,
		OPTION_TCP, 0 };
	tell_left_aside(given & bits_of(asked_for), "a listener does what the initiator (--peer) asks for");
	arguments->drill = NULL;
}

static int check_company(
        struct probe_arguments *arguments, const struct common_options *common, uint64_t given, struct error *error)
{
	if (arguments->lists_drills && (common->json || common->from || given != bit_of(OPTION_DRILL)))
		return error_say(error, -EINVAL, "--drill list goes with nothing else");
	if (arguments->explains_stages && (common->json || common->from || given != bit_of(OPTION_EXPLAIN_STAGES)))
		return error_say(error, -EINVAL, "--explain-stages goes with nothing else");
	if (common->from && arguments->judge)
		return error_say(error, -EINVAL,
		        "one of --from and --judge: --from SNAPSHOT judges the probe of a report by itself");
	if (arguments->judge || common->from)
		tell_recorded(arguments, given);
	else if (arguments->settings.listens)
		tell_listener(arguments, given);
	return 0;
}

/* What --count leaves too few requests for. Runs that compare places, and drills, choose a count of their own. */
static void tell_without_effect(const struct probe_settings *settings)
{
	const struct probe_request *request = &settings->request;
	int64_t count = request->count.value, chains = (count + request->batch.value - 1) / request->batch.value;
	if (settings->listens || request->drill || !strcmp(request->buffer_node, "all"))
		return;
	if (request->batch.value > count)
		complain("--batch %" PRId64 ": with --count %" PRId64 " a chain has no more than that",
		        request->batch.value, count);
	if (request->signal_every.value > 1 && count == 1)
		complain("--signal-every %" PRId64
		         ": with --count 1 each request is the last of its size, which always "
		         "asks for a completion",
		        request->signal_every.value);
	if (request->qps.value > chains)
		complain("--qps %" PRId64 ": with --count %" PRId64 " only %" PRId64 " of them %s requests",
		        request->qps.value, count, chains, chains == 1 ? "gets" : "get");
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

int probe_parse_arguments(const struct command *command, int argc, char **argv, struct common_options *common,
        struct probe_arguments *arguments)
{
	int option;
	uint64_t given = 0;
	settings_init(&arguments->settings);
	while ((option = command_getopt(command, argc, argv, common)) >= 0) {
		struct error error = { 0 };
		/* "--listen :18517" as well as "--listen=:18517": a probe has no operands that it could be. */
		if (option == OPTION_LISTEN && !optarg && optind < argc && argv[optind][0] != '-')
			optarg = argv[optind++];
		given |= bit_of(option);
		if (take_option(arguments, option, &error))
			return 1 + wrong_option(command, option, &error);
	}
	if (option != OPTION_END)
		return 1 + option_status(option);
	if (optind < argc)
		return 1 + usage_error(command, "'%s': a probe takes options only; -d names the device", argv[optind]);
	struct error error = { 0 };
	if (check_company(arguments, common, given, &error))
		return 1 + usage_error(command, "%s", error.text);
	if (arguments->drill && drill_apply(arguments->drill, &arguments->settings, arguments->arena))
		return 1 + no_memory();
	if (settings_check(&arguments->settings, &error))
		return 1 + usage_error(command, "%s", error.text);
	if (!arguments->judge && !common->from)
		tell_without_effect(&arguments->settings);
	return 0;
}
