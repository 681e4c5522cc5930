/* SPDX-License-Identifier: MIT */
/* Collects everything that `topo` and `gid` read of this host while a recorder writes it down. */
#include "base/cleanup.h"
#include "cmd.h"
#include "json/json.h"
#include "report/record.h"
#include "source/collect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

static void print_text(struct capture_document *document, struct host *host)
{
	record_for_terminal(host->arena, &capture_record, document);
	record_for_terminal(host->arena, &host_facts_record, &host->facts);
	list_each(missing, &host->report.not_collected)
		record_for_terminal(host->arena, &not_collected_record, missing);
	printf("%s: snapshot of %s with %d RDMA devices\n", document->directory,
	        host->facts.hostname ? host->facts.hostname : "this host", (int)document->devices.value);
	list_each(missing, &host->report.not_collected)
		printf("not collected: %s of %s: %s\n", missing->what, missing->subject, missing->reason);
	for (uint32_t i = 0; i < document->left_out.count; i++)
		printf("left out: %s\n", document->left_out.items[i]);
}

static int print(const struct common_options *common, const char *directory, bool cuda, struct host *host)
{
	struct capture_document document = { .directory = directory, .devices = num(host->devices.count) };
	for (const char *const *never = record_never_holds; *never; never++)
		strings_add(host->arena, &document.left_out, *never);
	if (!cuda)
		strings_add(host->arena, &document.left_out, record_without_cuda);
	report_exhaustion(&host->report);
	if (common->json)
		return print_document("rdmadiag.capture", common, host->origin, &host->facts, &capture_record,
		        &document, &host->report);
	print_text(&document, host);
	return 0;
}

/* Collects while the recorder writes. 0 or negative errno, the reason printed. */
static int collect(struct origin *origin, struct host *host, bool cuda)
{
	const struct record_options options = { .cuda = cuda };
	struct record_result results = { 0 };
	int result = record_snapshot(origin, host, &options, &results);
	if (results.collecting.code || result == -EINTR)
		complain("%s", result == -EINTR ? "interrupted" : results.collecting.text);
	if (results.writing.code)
		complain("the snapshot is not complete: %s", results.writing.text);
	return result;
}

static int capture(const struct common_options *common, const char *directory, bool cuda)
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
		result = collect(origin, host, cuda);
	}
	if (!error.code || common->json)
		print(common, error.code ? NULL : directory, cuda, host);
	return result == -EINTR ? EXIT_INTERRUPTED : result ? EXIT_NOTHING : EXIT_DONE;
}

enum { OPTION_CUDA = 256 };

static const struct option_help options[] = {
	{ OPTION_CUDA, "cuda", NULL, "load libcuda and ask it about GPUs, for topo --cuda" },
	{ 0 },
};

static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	bool cuda = false;
	int option;
	while ((option = command_getopt(command, argc, argv, common)) >= 0)
		cuda |= option == OPTION_CUDA;
	if (option != OPTION_END)
		return option_status(option);
	if (argc - optind != 1)
		return usage_error(command, "one directory is needed");
	if (!*argv[optind])
		return usage_error(command, "the name of the directory is empty");
	return capture(common, argv[optind], cuda);
}

const struct command capture_command = {
	.name = "capture",
	.arguments = "DIR",
	.summary = "Writes a snapshot of this host into a new or empty directory, for --from.",
	.options = options,
	.no_snapshot = "only this host can be captured",
	.run = run,
};
