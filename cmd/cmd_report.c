/* SPDX-License-Identifier: MIT */
/*
 * report: one archive for a bug report. It is a snapshot, which --from replays, and beside it in report/ the documents
 * and texts of the commands, kernel messages, and what is in it and what is not.
 *
 * With --redact the snapshot gets pseudonyms, and the commands look at that instead of this host.
 */
#include "cmd.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "origin/worker.h"
#include "json/json.h"
#include "report/pack.h"
#include "report/pseudonym.h"
#include "report/record.h"
#include "report/redact_json.h"
#include "report/redact_text.h"
#include "report/redact_tree.h"
#include "probe_ports.h"
#include "report_members.h"
#include "run_command.h"
#include "source/collect.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { OPTION_STDOUT = 256, OPTION_REDACT, OPTION_PROBE, OPTION_CUDA };

static const struct option_help options[] = {
	{ 'o', "output", "FILE", "write the archive here: .tar.gz, .tar.xz, .tar.zst, .tar.bz2 or .tar" },
	{ OPTION_STDOUT, "stdout", NULL, "write the archive (.tar.gz) to standard output" },
	{ OPTION_REDACT, "redact", NULL, "pseudonyms for GUIDs, MACs, addresses, host names and serials" },
	{ OPTION_PROBE, "probe", NULL, "make a loopback probe on each port that is up, too" },
	{ OPTION_CUDA, "cuda", NULL, "load libcuda and ask it about GPUs, for topo --cuda" },
	{ 0 },
};

#define PREFIX "rdmadiag-report"
#define SNAPSHOT "snapshot"
#define RAW "raw"

/* The snapshot ends at the first, the report at both: what time is left then is for the probe and the documents. */
enum { RECORD_MS = 14000, REST_MS = 11000 };

/* ---- pseudonyms ---- */

/* malloc'ed, NULL without memory or when there is no such member (`length` is 0 then). */
static char *redacted_member(const struct making *making, const char *path, bool json, size_t *length)
{
	autofree char *text = NULL;
	struct error error;
	*length = 0;
	if (file_read(path, &text, length, &error))
		return NULL;
	json_object *object = json ? json_parse(text, *length, path, &error) : NULL;
	if (!object)
		return redact_text(making->pseudonyms, WORDS_ALL, text, *length, length);
	char *changed = redact_json(making->pseudonyms, object) ? NULL : json_text(object, true);
	json_object_put(object);
	*length = changed ? strlen(changed) : 0;
	return changed;
}

static int redact_member(struct making *making, const char *name, bool write)
{
	char path[PATH_MAX];
	const char *ending = strrchr(name, '.');
	size_t length;
	document_path(making, name, path);
	autofree char *text = redacted_member(making, path, ending && !strcmp(ending, ".json"), &length);
	if (!text)
		return error_set(&making->error, -ENOMEM, "redacting %s", name);
	return write ? write_member(making, name, text) : 0;
}

static int is_member(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* What is not of the snapshot, whatever steps before left there. Without `write` its originals are noted only. */
static int redact_members(struct making *making, bool write)
{
	struct dirent **entries;
	int count = scandir(making->documents, &entries, is_member, alphasort), result = 0;
	if (count < 0)
		return error_set(&making->error, -errno, "%s", making->documents);
	for (int i = 0; i < count; i++) {
		if (!result)
			result = redact_member(making, entries[i]->d_name, write);
		free(entries[i]);
	}
	free(entries);
	return result;
}

static int redact(struct making *making)
{
	struct error *error = &making->error;
	making->pseudonyms = pseudonyms_new();
	if (!making->pseudonyms)
		return error_set(error, -ENOMEM, "redacting");
	struct utsname here;
	const char *hostname = making->host->facts.hostname;
	int result = redact_collect(making->pseudonyms, making->raw, error);
	/* The report and its probes name the host by themselves, also where the snapshot does not. */
	if (!hostname && !making->common->from && !uname(&here))
		hostname = here.nodename;
	if (!result && hostname && (result = redact_note_host(making->pseudonyms, hostname)))
		error_set(error, result, "noting the host's name");
	if (!result)
		result = redact_members(making, false);
	if (!result && (result = pseudonyms_settle(making->pseudonyms)))
		error_set(error, result, "choosing pseudonyms");
	if (!result)
		result = redact_tree(making->pseudonyms, making->raw, making->snapshot, error);
	return result ? result : redact_members(making, true);
}

/* ---- the document of the report itself ---- */

static json_object *own_document(struct making *making)
{
	json_object *object = document_to_json("rdmadiag.report", making->host->origin, &making->host->facts,
	        &report_record, &making->document, &making->host->report);
	if (object && making->pseudonyms && redact_json(making->pseudonyms, object)) {
		json_object_put(object);
		return NULL;
	}
	/* They are of the redacted snapshot already. */
	if (object && making->findings && json_put_member(object, "findings", json_object_get(making->findings))) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static const char readme[] =
        "A report of rdmadiag about one node.\n"
        "\n"
        "What lies beside the directory report/ is a snapshot: raw files of /sys and /proc, answers of netlink and of\n"
        "verbs. rdmadiag shows the node from it, for example\n"
        "\n"
        "    rdmadiag topo --from THIS-ARCHIVE\n"
        "    rdmadiag gid --explain --from THIS-ARCHIVE\n"
        "    rdmadiag check --from THIS-ARCHIVE\n"
        "    rdmadiag probe --from THIS-ARCHIVE        where probes were made\n"
        "\n"
        "report/ holds what the commands said when the report was made: NAME.json, NAME.txt, and NAME.stderr where\n"
        "there were messages. report.json says what is here, and what was left out and why.\n";

static int add_own_members(struct making *making)
{
	for (const char *const *never = record_never_holds; *never; never++)
		leave_out(making, "%s", *never);
	if (!making->cuda && !making->common->from)
		leave_out(making, "%s", record_without_cuda);
	take_findings(making);
	json_object *object = own_document(making);
	autofree char *text = object ? json_text(object, true) : NULL;
	json_object_put(object);
	int result =
	        text ? write_member(making, "report.json", text) : error_set(&making->error, -ENOMEM, "report.json");
	return result ? result : write_member(making, "README.txt", readme);
}

/* ---- the archive ---- */

static int write_archive(struct making *making, int fd, enum pack_filter filter)
{
	struct error *error = &making->error;
	const char *tree = making->pseudonyms ? making->snapshot : making->raw;
	autocall(pack_freep) struct pack *pack =
	        pack_new(fd, making->file ? making->file : "standard output", filter, error);
	if (!pack)
		return error->code;
	int result = pack_add(pack, tree, PREFIX, error);
	if (!result)
		result = pack_add(pack, making->documents, PREFIX "/" DOCUMENTS, error);
	return result ? result : pack_finish(pack, error);
}

static int write_out(struct making *making)
{
	enum pack_filter filter = PACK_GZIP;
	struct file_replacement replacement;
	if (!making->file)
		return write_archive(making, STDOUT_FILENO, filter);
	(void)pack_filter_of(making->file, &filter);
	int result = file_replace_open(making->file, &replacement, &making->error);
	if (result)
		return result;
	result = write_archive(making, replacement.fd, filter);
	if (!result && run_command_interrupted())
		result = -EINTR;
	if (!result)
		return file_replace_commit(&replacement, 0600, &making->error);
	file_replace_abort(&replacement);
	return result;
}

/* ---- all of it ---- */

/* Does this host let others wait? Then it is not asked again for each of the documents. */
static bool is_slow(const struct host *host, int64_t took_ms)
{
	list_each(entry, &host->report.not_collected)
		if (num_is(entry->error, ETIMEDOUT))
			return true;
	return took_ms > worker_overall_ms(RECORD_MS) / 2;
}

/* The snapshot. -ENODEV is noted: a node without RDMA devices has a report too. */
static int record(struct making *making)
{
	struct record_result results = { 0 };
	autocall(origin_closep) struct origin *origin = open_origin(making->common, &making->error);
	if (!origin)
		return making->error.code;
	struct host *host = making->host;
	host->origin = origin_name(origin);
	int result = origin_record(origin, making->raw, &making->error);
	if (result)
		return result;
	int64_t begun = clock_ms();
	const struct record_options wanted = { .overall_ms = RECORD_MS, .cuda = making->cuda || making->common->from };
	result = record_snapshot(origin, host, &wanted, &results);
	making->slow = is_slow(host, clock_ms() - begun);
	making->document.devices = num(host->devices.count);
	if (result == -EINTR || run_command_interrupted())
		return -EINTR;
	list_each(entry, &host->report.not_collected)
		if (!strcmp(entry->what, "everything after this"))
			complain("the report is not complete: %s", entry->reason);
	if (results.collecting.code)
		complain("%s", results.collecting.text);
	if (results.collecting.code && results.collecting.code != -ENODEV)
		report_missing(
		        &host->report, "snapshot", "host", results.collecting.code, "%s", results.collecting.text);
	if (results.writing.code) {
		making->error = results.writing;
		return results.writing.code;
	}
	return 0;
}

static int make(struct making *making)
{
	staging_path(&making->staging, RAW, making->raw);
	staging_path(&making->staging, SNAPSHOT, making->snapshot);
	staging_path(&making->staging, DOCUMENTS, making->documents);
	if (mkdir(making->documents, 0700)) {
		error_set(&making->error, -errno, "%s", making->documents);
		complain("%s", making->error.text);
		return making->error.code;
	}
	making->deadline_ms = clock_ms() + worker_overall_ms(RECORD_MS) + REST_MS;
	int (*const steps[])(struct making * making) = { record, add_kernel_log, add_probe };
	int (*const later[])(struct making * making) = { add_outputs, add_probe_text, add_own_members, write_out };
	int result = 0;
	for (size_t i = 0; i < ARRAY_SIZE(steps) && !result; i++)
		result = steps[i](making);
	if (making->common->from)
		take_earlier(making);
	else
		versions_read(making->host->arena, &making->document.versions, &making->host->report);
	if (!result && making->redact)
		result = redact(making);
	for (size_t i = 0; i < ARRAY_SIZE(later) && !result; i++)
		result = run_command_interrupted() ? -EINTR : later[i](making);
	return result;
}

/* A line of each, of what may come from an archive. */
static void print_probes(const struct making *making, FILE *stream)
{
	list_each(probe, &making->probes) {
		const struct verdict *verdict = &probe->document.verdict;
		const char *outcome = outcome_names[verdict->outcome];
		bool plain = verdict->layer == LAYER_NONE;
		autofree char *subject = text_for_terminal(probe->subject);
		autofree char *summary = text_for_terminal(verdict->summary ? verdict->summary : "no verdict");
		const char *layer = plain ? "" : layer_words(making->host->arena, verdict);
		fprintf(stream, "probe of %s: %s%s%s: %s\n", subject ? subject : "", outcome ? outcome : "unknown",
		        plain ? "" : ", ", layer ? layer : "", summary ? summary : "");
	}
}

static void print_text(const struct making *making)
{
	const struct host_facts *facts = &making->host->facts;
	autofree char *hostname = facts->hostname ? text_for_terminal(facts->hostname) : NULL;
	printf("%s: report of %s with %d RDMA device%s%s\n", making->file, hostname ? hostname : "this host",
	        (int)making->document.devices.value, plural(making->document.devices.value),
	        making->document.redacted == FLAG_YES ? ", identifiers replaced" : "");
	print_probes(making, stdout);
	list_each(reason, &making->document.left_out) {
		autofree char *plain = text_for_terminal(reason);
		printf("left out: %s\n", plain ? plain : "");
	}
	if (making->document.redacted != FLAG_YES)
		printf("It holds host names, addresses and GUIDs as they are; --redact replaces them.\n");
}

static int print(struct making *making, int result)
{
	if (result && !making->error.text[0])
		error_set(&making->error, result, "the report");
	if (result == -EINTR)
		complain("interrupted: no report is written");
	else if (result && making->host->origin)
		complain("%s", making->error.text);
	if (result)
		report_missing(&making->host->report, "report", "host", result, "%s", making->error.text);
	if (making->common->json) {
		json_object *object = own_document(making);
		autofree char *text = object ? json_text(object, making->common->pretty) : NULL;
		json_object_put(object);
		fputs(text ? text : "", stdout);
	} else if (!result && making->file) {
		print_text(making);
	} else if (!result) {
		print_probes(making, stderr);
	}
	if (result == -EINTR)
		return EXIT_INTERRUPTED;
	return result || !making->document.devices.value ? EXIT_NOTHING : EXIT_DONE;
}

static int report(struct making *making)
{
	autocall(host_freep) struct host *host = host_new();
	if (!host) {
		complain("no memory");
		return EXIT_NOTHING;
	}
	making->host = host;
	making->document.file = making->file;
	making->document.redacted = flag(making->redact);
	run_command_signals();
	int result = staging_new(&making->staging, &making->error);
	if (result)
		complain("%s", making->error.text);
	else
		result = make(making);
	staging_remove(&making->staging);
	int status = print(making, result);
	pseudonyms_free(making->pseudonyms);
	origin_close(making->earlier);
	json_object_put(making->findings);
	return status;
}

static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	struct making making = { .common = common };
	bool to_stdout = false;
	int option;
	while ((option = command_getopt(command, argc, argv, common)) >= 0) {
		if (option == 'o' && !strcmp(optarg, "-"))
			to_stdout = true;
		else if (option == 'o')
			making.file = optarg;
		to_stdout |= option == OPTION_STDOUT;
		making.redact |= option == OPTION_REDACT;
		making.probe |= option == OPTION_PROBE;
		making.cuda |= option == OPTION_CUDA;
	}
	if (option != OPTION_END)
		return option_status(option);
	if (optind < argc)
		return usage_error(command, "'%s': no operand is taken; -o names the file", argv[optind]);
	if (!to_stdout && !making.file)
		return usage_error(command, "-o FILE or --stdout is needed");
	if (to_stdout && making.file)
		return usage_error(command, "-o %s and --stdout: one of them", making.file);
	enum pack_filter filter;
	if (making.file && pack_filter_of(making.file, &filter))
		return usage_error(command,
		        "-o %s: the archive is a tar, and no such name says so; packed by its name: .tar.gz, .tgz, "
		        ".tar.xz, .tar.zst, .tar.bz2 or .tar",
		        making.file);
	if (to_stdout && common->json)
		return usage_error(command, "--json: standard output carries the archive");
	if (to_stdout && isatty(STDOUT_FILENO))
		return usage_error(command, "--stdout: a terminal is no place for an archive");
	if (making.probe && common->from)
		return usage_error(command, "--probe: a probe needs a live host");
	return report(&making);
}

const struct command report_command = {
	.name = "report",
	.arguments = "",
	.summary = "Writes one archive for a bug report: a snapshot, and what every command says.",
	.options = options,
	.run = run,
};
