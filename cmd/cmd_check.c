/* SPDX-License-Identifier: MIT */
/* check: all findings of the node in one list, worst first. */
#include "check_look.h"
#include "cmd.h"

#include "base/cleanup.h"
#include "base/nearest.h"
#include "json/json.h"
#include "render/monitor.h"
#include "render/report_text.h"
#include "run_command.h"
#include "redacted.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTION_NAGIOS = 256,
	OPTION_PROM,
	OPTION_ONLY,
	OPTION_IGNORE,
	OPTION_SEVERITY,
	OPTION_EXPECT_DOWN,
	OPTION_INTERVAL,
	OPTION_PROBE
};

#define INTERVAL_LIMIT 86400.0 /* seconds */

static const struct option_help options[] = {
	{ OPTION_NAGIOS, "nagios", NULL, "one line and the exit status of a monitoring plug-in" },
	{ OPTION_PROM, "prom", "FILE",
	        "write metrics in the Prometheus text format to FILE; -: to standard output, alone" },
	{ OPTION_ONLY, "only", "IDS", "only these findings, separated by commas" },
	{ OPTION_IGNORE, "ignore", "IDS", "not these findings" },
	{ OPTION_SEVERITY, "severity", "LEVEL", "only findings from info (default), warning or error up" },
	{ OPTION_EXPECT_DOWN, "expect-down", "DEV/PORT", "a port that is meant to be down; may be repeated" },
	{ OPTION_INTERVAL, "interval", "S", "watch counters and links for so many seconds" },
	{ OPTION_PROBE, "probe", NULL, "make a loopback probe on each port that is up, too" },
	{ 0 },
};

/* A node of whose ports nothing is known is not a healthy one. */
static int check_seen(const struct host *host, struct error *error)
{
	uint32_t ports = 0;
	list_each(device, &host->devices)
		for (uint32_t i = 0; i < device->ports.count; i++, ports++)
			if (device->ports.items[i]->state)
				return 0;
	return error_say(error, -ENODATA, "nothing could be checked: no state of the %u port%s of %u device%s is known",
	        ports, plural(ports), host->devices.count, plural(host->devices.count));
}

/* That nothing was found says little where nothing was there to be watched. */
static void print_watched(const struct check_request *request, const struct check_watched *seen)
{
	uint32_t counters = seen->counters;
	const struct ports_probed *probed = &seen->probed;
	if (request->interval > 0)
		printf("watched for %g s: %u counter%s of errors and congestion, and the states of the ports\n",
		        request->interval, counters, plural(counters));
	if (request->probe && probed->done == probed->up)
		printf("probed: %u port%s that %s up\n", probed->up, plural(probed->up),
		        probed->up == 1 ? "is" : "are");
	else if (request->probe)
		printf("probed: %u of %u port%s that %s up\n", probed->done, probed->up, plural(probed->up),
		        probed->up == 1 ? "is" : "are");
	else if (probed->up)
		printf("the report holds probes of %u port%s\n", probed->up, plural(probed->up));
}

static void print_text(const struct host *host, const struct report *report, uint32_t left_out, bool color)
{
	struct finding_counts counts = findings_count(report);
	uint32_t lines = report_print_findings(report, stdout, color);
	printf("%s%u device%s checked: %d error%s, %d warning%s, %d for information",
	        report->findings.count ? "\n" : "", host->devices.count, plural(host->devices.count),
	        (int)counts.errors.value, plural(counts.errors.value), (int)counts.warnings.value,
	        plural(counts.warnings.value), (int)counts.infos.value);
	if (lines < report->findings.count)
		printf(" (a line with several objects counts for each of them)");
	if (left_out)
		printf("; %u left out by the options", left_out);
	putchar('\n');
	if (report->not_collected.count)
		printf("\n");
	report_print_not_collected(report, stdout);
}

static int status_of(const struct report *report)
{
	struct finding_counts counts = findings_count(report);
	return counts.errors.value || counts.warnings.value ? EXIT_FOUND : EXIT_DONE;
}

/* `host`: as far as it was looked at, NULL: not at all. */
static int nothing(const struct check_request *request, const struct common_options *common, struct host *host,
        const struct error *error)
{
	static const struct finding_counts unknown;
	if (request->nagios)
		return (int)monitor_print_unknown(stdout, error->text);
	complain("%s", error->text);
	if (common->json && host && host->origin) {
		host->report.findings.count = 0; /* they may be of other devices than those asked for */
		report_missing(&host->report, "findings", "host", error->code, "%s", error->text);
		print_document("rdmadiag.check", common, host->origin, &host->facts, &finding_counts_record, &unknown,
		        &host->report);
	} else if (common->json) {
		print_empty_document("rdmadiag.check", common, &finding_counts_record, error);
	}
	return EXIT_NOTHING;
}

static int print(const struct check_request *request, const struct common_options *common, struct host *host,
        const struct check_watched *seen)
{
	if (request->nagios)
		return (int)monitor_print(stdout, host, &host->report, seen->left_out);
	struct finding_counts counts = findings_count(&host->report);
	if (!common->json) {
		print_text(host, &host->report, seen->left_out, use_color(common));
		print_watched(request, seen);
		return status_of(&host->report);
	}
	int failed = print_document(
	        "rdmadiag.check", common, host->origin, &host->facts, &finding_counts_record, &counts, &host->report);
	if (!failed)
		return status_of(&host->report);
	struct error error;
	error_set(&error, failed, "printing the document");
	return nothing(request, common, NULL, &error);
}

/* Metrics of an earlier run must not stand for this one: what is not known of the host is not in the file. */
static void write_unknown(const struct check_request *request)
{
	static const struct host unknown;
	autocall(arena_freep) struct arena *arena = arena_new(1 << 16);
	struct report report = { .arena = arena };
	struct error error;
	if (!request->prom || !arena)
		return;
	report_missing(&report, "findings", "host", 0, "nothing could be checked");
	if (prometheus_write(request->prom, &unknown, &report, &error))
		complain("%s", error.text);
}

static int check(struct check_request *request, const struct common_options *common)
{
	struct error error = { 0 };
	autocall(origin_closep) struct origin *origin =
	        common->from ? origin_snapshot(common->from, &error) : origin_live();
	autocall(host_freep) struct host *host = origin ? host_new() : NULL;
	struct check_watched seen = { 0 };
	int result = host         ? check_collect(request, common, origin, host, &seen, &error)
	             : error.code ? error.code
	                          : error_set(&error, -ENOMEM, "host");
	if (!result)
		result = check_seen(host, &error);
	if (result && result != -EINTR) {
		write_unknown(request);
		return nothing(request, common, host, &error);
	}
	seen.left_out = findings_select(&host->report, &request->filter);
	bool alone = request->prom && !strcmp(request->prom, "-");
	int status = alone ? status_of(&host->report) : print(request, common, host, &seen);
	if (!alone && !request->nagios)
		tell_redacted(origin, common);
	if (request->prom && prometheus_write(request->prom, host, &host->report, &error)) {
		complain("%s", error.text);
		return request->nagios ? MONITOR_UNKNOWN : EXIT_NOTHING;
	}
	return result == -EINTR ? EXIT_INTERRUPTED : status;
}

static int set_severity(const struct command *command, const char *word, enum severity *severity)
{
	size_t length = strlen(word);
	struct nearest nearest = { .typed = word };
	for (int i = 0; i < SEVERITY_COUNT; i++) {
		nearest_try(&nearest, severity_names[i], NULL);
		/* The beginning will do: "warn" is what other programs call it. */
		if (length >= 3 && !strncmp(severity_names[i], word, length)) {
			*severity = (enum severity)i;
			return 0;
		}
	}
	return usage_error(command, "--severity: '%s' is none of info, warning, error%s", word, nearest_text(&nearest));
}

static int set_interval(const struct command *command, const char *text, double *seconds)
{
	char *end;
	/* strtod(3) takes more: blanks, signs, exponents, "inf". */
	bool plain = isdigit((unsigned char)*text) && !text[strspn(text, "0123456789.")];
	*seconds = plain ? strtod(text, &end) : 0;
	if (plain && !*end && *seconds > 0 && *seconds <= INTERVAL_LIMIT)
		return 0;
	return usage_error(
	        command, "--interval: '%s' is no number of seconds above 0 and up to %.0f", text, INTERVAL_LIMIT);
}

static bool is_port_name(const char *text)
{
	const char *slash = strchr(text, '/');
	return slash && slash != text && slash[1] && strspn(slash + 1, "0123456789") == strlen(slash + 1);
}

static int set_option(const struct command *command, int option, struct arena *arena, struct check_request *request)
{
	struct error error = { 0 };
	struct finding_filter *filter = &request->filter;
	switch (option) {
	case OPTION_NAGIOS:
		request->nagios = true;
		return 0;
	case OPTION_PROBE:
		request->probe = true;
		return 0;
	case OPTION_PROM:
		request->prom = optarg;
		return 0;
	case OPTION_INTERVAL:
		return set_interval(command, optarg, &request->interval);
	case OPTION_SEVERITY:
		return set_severity(command, optarg, &filter->threshold);
	case OPTION_EXPECT_DOWN:
		if (!is_port_name(optarg))
			return usage_error(command, "--expect-down: '%s' is no DEV/PORT, as in mlx5_0/1", optarg);
		return strings_add(arena, &filter->expect_down, optarg) ? EXIT_NOTHING : 0;
	default:
		break;
	}
	if (filter_add_ids(arena, option == OPTION_ONLY ? &filter->only : &filter->ignore, optarg, &error))
		return usage_error(command, "%s", error.text);
	return 0;
}

static int check_options(
        const struct command *command, const struct check_request *request, const struct common_options *common)
{
	if (request->nagios && common->json)
		return usage_error(command, "--nagios and --json: one of them");
	if (request->prom && !strcmp(request->prom, "-") && (request->nagios || common->json))
		return usage_error(command, "--prom -: standard output carries the metrics alone");
	if (request->interval > 0 && common->from)
		return usage_error(command, "--interval: nothing moves in a snapshot");
	if (request->probe && common->from)
		return usage_error(command,
		        "--probe: a probe needs a live host; what a report holds of probes is told without it, and "
		        "rdmadiag probe --from %s shows them",
		        common->from);
	return 0;
}

/* 0, or the status to leave with; OPTION_SHOWN when what was asked for was shown. */
static int read_options(const struct command *command, int argc, char **argv, struct common_options *common,
        struct arena *arena, struct check_request *request)
{
	int option;
	while ((option = command_getopt(command, argc, argv, common)) >= 0) {
		int wrong = set_option(command, option, arena, request);
		if (wrong)
			return wrong;
	}
	if (option != OPTION_END)
		return option == OPTION_SHOWN ? OPTION_SHOWN : option_status(option);
	for (int i = optind; i < argc; i++) {
		struct wanted_port *wanted = list_add(arena, &request->wanted.items);
		if (!wanted)
			return EXIT_NOTHING;
		wanted->device = argv[i];
		int wrong = split_port(command, argv[i], &wanted->port);
		if (wrong)
			return wrong;
	}
	return check_options(command, request, common);
}

static bool has_word(char **words, const char *word)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return true;
	return false;
}

/* To a monitoring plug-in's caller status 2 is CRITICAL, and a mistake in its configuration is not. */
static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	autocall(arena_freep) struct arena *arena = arena_new(1 << 20);
	bool monitored = has_word(argv, "--nagios"); /* getopt_long(3) moves words, but loses none */
	struct check_request request = { 0 };
	if (!arena) {
		complain("no memory");
		return monitored ? MONITOR_UNKNOWN : EXIT_NOTHING;
	}
	int status = read_options(command, argc, argv, common, arena, &request);
	if (status == OPTION_SHOWN)
		return EXIT_DONE;
	if (status && monitored) {
		puts("RDMA UNKNOWN - wrong usage of rdmadiag check, see its standard error");
		return MONITOR_UNKNOWN;
	}
	if (status)
		return status;
	if (request.probe)
		run_command_signals();
	return check(&request, common);
}

const struct command check_command = {
	.name = "check",
	.arguments = "[DEV[/PORT]]...",
	.summary = "Lists all findings of the node, worst first.",
	.options = options,
	.run = run,
};
