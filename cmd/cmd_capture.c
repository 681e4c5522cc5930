/* SPDX-License-Identifier: MIT */
/* Collects everything that `topo` and `gid` read of this host while a recorder writes it down. */
#include "base/cleanup.h"
#include "cmd.h"
#include "gid/read.h"
#include "source/collect.h"
#include "source/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What no snapshot holds, besides what could not be read. */
static const char *const never_in[] = {
	"the environment of the programs that use RDMA (gid --explain)",
	"answers to route look-ups (gid --to)",
	"counters, and all that a probe measures",
	"contents of files that neither topo nor gid reads",
};

struct capture_document {
	const char *directory;
	struct num devices;
	struct strings left_out;
};

static const struct field capture_fields[] = {
	FIELD(TEXT, struct capture_document, directory, "where the snapshot is"),
	FIELD(NUMBER, struct capture_document, devices, "RDMA devices in it"),
	FIELD(TEXTS, struct capture_document, left_out, "what is never in a snapshot"),
};
RECORD(capture_record, capture_document, capture_fields);

/* Both ways to a GID table, since whoever replays the snapshot may want the other. */
static int read_gids(struct origin *origin, struct host *host, void *data)
{
	(void)data;
	static const enum gid_source sources[] = { GID_SOURCE_SYSFS, GID_SOURCE_BEST };
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct gid_document document = { 0 };
		struct gid_read_options options = { .source = sources[i] };
		int result = gid_read(origin, host, &options, &document);
		if (result)
			return result;
	}
	return 0;
}

static void print_text(const struct capture_document *document, const struct host *host)
{
	printf("%s: snapshot of %s with %d RDMA devices\n", document->directory,
	        host->facts.hostname ? host->facts.hostname : "this host", (int)document->devices.value);
	list_each(missing, &host->report.not_collected)
		printf("not collected: %s of %s: %s\n", missing->what, missing->subject, missing->reason);
	for (uint32_t i = 0; i < document->left_out.count; i++)
		printf("left out: %s\n", document->left_out.items[i]);
}

static int print(const struct common_options *common, const char *directory, struct host *host)
{
	struct capture_document document = { .directory = directory, .devices = num(host->devices.count) };
	for (size_t i = 0; i < ARRAY_SIZE(never_in); i++)
		strings_add(host->arena, &document.left_out, never_in[i]);
	if (common->json)
		return print_document("rdmadiag.capture", common, host->origin, &host->facts, &capture_record,
		        &document, &host->report);
	print_text(&document, host);
	return 0;
}

/* Collects while the recorder writes. 0 or negative errno, the reason printed. */
static int collect(struct origin *origin, struct host *host)
{
	struct error error = { 0 }, failure = { 0 };
	struct collect_options options = { .verbs = VERBS_PORTS, .more = read_gids };
	int result = collect_host(origin, host, &options, &error);
	if (result)
		complain("%s", result == -EINTR ? "interrupted" : error.text);
	if (result == -ENODEV)
		report_missing(&host->report, "devices", "host", result, "%s", error.text);
	int failed = origin_record_result(origin, &failure);
	if (failed)
		complain("the snapshot is not complete: %s", failure.text);
	return result ? result : failed;
}

static int capture(const struct common_options *common, const char *directory)
{
	struct error error = { 0 };
	autocall(origin_closep) struct origin *origin = origin_live();
	autocall(host_freep) struct host *host = host_new();
	if (!origin || !host) {
		complain("no memory");
		return EXIT_NOTHING;
	}
	host->origin = origin_name(origin);
	int result = origin_record(origin, directory, &error);
	if (result) {
		complain("%s", error.text);
		report_missing(&host->report, "snapshot", "host", result, "%s", error.text);
	} else {
		result = collect(origin, host);
	}
	if (!error.code || common->json)
		print(common, error.code ? NULL : directory, host);
	return result == -EINTR ? EXIT_INTERRUPTED : result ? EXIT_NOTHING : EXIT_DONE;
}

static const struct option_help options[] = {
	{ 0 },
};

static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	int option;
	while ((option = command_getopt(command, argc, argv, common)) >= 0)
		continue;
	if (option != OPTION_END)
		return option_status(option);
	if (argc - optind != 1)
		return usage_error(command, "one directory is needed");
	if (common->from)
		return usage_error(command, "--from: only this host can be captured");
	return finish_output(capture(common, argv[optind]));
}

const struct command capture_command = {
	.name = "capture",
	.arguments = "DIR",
	.summary = "Writes a snapshot of this host into a new or empty directory, for --from.",
	.options = options,
	.run = run,
};
