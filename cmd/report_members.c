/* SPDX-License-Identifier: MIT */
#include "report_members.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "report/kernel_log.h"
#include "run_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a probe leaves to the documents after it, and what it needs to end when it is asked to (lib/probe/watcher.c). */
enum { OUTPUTS_MS = 2000, GRACE_MS = 4000 };

void document_path(const struct making *making, const char *name, char path[static PATH_MAX])
{
	char below[128];
	snprintf(below, sizeof(below), DOCUMENTS "/%s", name);
	staging_path(&making->staging, below, path);
}

static void add_member(struct making *making, const char *name, const char *command, struct num status)
{
	struct report_member *member = list_add(making->host->arena, &making->document.members);
	if (!member)
		return;
	member->name = arena_strdup(making->host->arena, name);
	member->command = arena_strdup(making->host->arena, command);
	member->status = status;
}

void leave_out(struct making *making, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = arena_vprintf(making->host->arena, format, args);
	va_end(args);
	if (text)
		strings_add(making->host->arena, &making->document.left_out, text);
}

int write_member(struct making *making, const char *name, const char *text)
{
	char path[PATH_MAX];
	document_path(making, name, path);
	autofclose FILE *file = fopen(path, "we");
	if (!file || fputs(text, file) < 0 || fflush(file))
		return error_set(&making->error, -errno, "%s", path);
	return 0;
}

/* ---- outputs of commands ---- */

struct output {
	const struct command *command;
	const char *name, *line; /* of the file; the command as one would type it */
	const char *arguments[RUN_ARGUMENTS_LIMIT];
	int spare_ms, grace_ms; /* of the report's deadline; see command_run */
};

static const struct output outputs[] = {
	{ &topo_command, "topo.json", "rdmadiag topo -p", { "-p" }, 0, 0 },
	{ &topo_command, "topo.txt", "rdmadiag topo --vfs", { "--vfs" }, 0, 0 },
	{ &gid_command, "gid.json", "rdmadiag gid --explain -p", { "--explain", "-p" }, 0, 0 },
	{ &gid_command, "gid.txt", "rdmadiag gid --explain", { "--explain" }, 0, 0 },
	{ &check_command, "check.json", "rdmadiag check -p", { "-p" }, 0, 0 },
	{ &check_command, "check.txt", "rdmadiag check", { NULL }, 0, 0 },
};

static void drop_empty(const char *path)
{
	struct stat status;
	if (!stat(path, &status) && !status.st_size)
		unlink(path);
}

/* 0, or -EINTR; a command that fails is a member of the report. */
static int add_output(struct making *making, const struct output *output, const char *from)
{
	char path[PATH_MAX], errors[PATH_MAX], name[64];
	snprintf(name, sizeof(name), "%s.stderr", output->name);
	document_path(making, output->name, path);
	document_path(making, name, errors);
	struct command_run run = { .command = output->command,
		.output = path,
		.errors = errors,
		.deadline_ms = making->deadline_ms - output->spare_ms,
		.grace_ms = output->grace_ms };
	memcpy(run.arguments, output->arguments, sizeof(run.arguments));
	struct common_options common = { .from = from, .color = COLOR_NEVER };
	int status = run_command_in_process(&run, &common);
	drop_empty(errors);
	if (status < 0) {
		drop_empty(path);
		leave_out(making, "%s: '%s' %s", output->name, output->line,
		        status == -ETIMEDOUT ? "did not end before the report's deadline" : strerror(-status));
	}
	if (!access(path, F_OK))
		add_member(making, output->name, output->line, status < 0 ? (struct num){ 0 } : num(status));
	return status == -EINTR ? status : 0;
}

int add_outputs(struct making *making)
{
	const char *from = making->pseudonyms ? making->snapshot : making->common->from;
	int result = 0;
	if (!from && making->slow) {
		from = making->raw;
		leave_out(making, "what topo, gid and check say of the live host: it did not answer in time when the "
		                  "snapshot was made, and they look at that");
	}
	for (size_t i = 0; i < ARRAY_SIZE(outputs) && !result; i++)
		result = add_output(making, &outputs[i], from);
	return result;
}

/* A member of the report that --from names, malloc'ed; NULL: it has none. */
static char *read_earlier(const struct making *making, const char *name, size_t *length)
{
	char path[128];
	char *text = NULL;
	struct error ignored = { 0 };
	autocall(origin_closep) struct origin *origin = origin_snapshot(making->common->from, &ignored);
	snprintf(path, sizeof(path), DOCUMENTS "/%s", name);
	return origin && !origin_read_all(origin, path, &text, length) ? text : NULL;
}

/* A member of the earlier report that is reported again: 1 it is there, 0 it is not, or a negative errno. */
static int add_earlier(struct making *making, const char *name, const char *command)
{
	size_t length;
	autofree char *text = read_earlier(making, name, &length);
	if (!text)
		return 0;
	int result = write_member(making, name, text);
	if (result)
		return result;
	add_member(making, name, command, (struct num){ 0 });
	return 1;
}

static int add_earlier_probe(struct making *making)
{
	int result = add_earlier(making, "probe.json", "rdmadiag probe -p");
	making->probe = result > 0;
	if (!result)
		leave_out(making, "a probe: the snapshot has none, and cannot be probed");
	return result < 0 ? result : 0;
}

int add_probe(struct making *making)
{
	static const struct output probe = { &probe_command, "probe.json", "rdmadiag probe -p", { "-p" }, OUTPUTS_MS,
		GRACE_MS };
	if (making->common->from)
		return add_earlier_probe(making);
	if (making->probe)
		return add_output(making, &probe, NULL);
	leave_out(making, "a probe: it was not asked for (--probe)");
	return 0;
}

int add_probe_text(struct making *making)
{
	char path[PATH_MAX];
	document_path(making, "probe.json", path);
	struct output text = { &probe_command, "probe.txt", "rdmadiag probe --judge probe.json", { "--judge", path }, 0,
		0 };
	return making->probe && !access(path, F_OK) ? add_output(making, &text, NULL) : 0;
}

int add_kernel_log(struct making *making)
{
	char path[PATH_MAX];
	size_t kept, seen;
	if (making->common->from) {
		int result = add_earlier(making, "kernel.log", NULL);
		if (!result)
			leave_out(making, "kernel messages: the snapshot has none");
		return result < 0 ? result : 0;
	}
	document_path(making, "kernel.log", path);
	autofclose FILE *file = fopen(path, "we");
	if (!file)
		return error_set(&making->error, -errno, "%s", path);
	int result = kernel_log_copy(making->host, file, &kept, &seen);
	if (result) {
		leave_out(making, "kernel messages: /dev/kmsg: %s", strerror(-result));
		report_missing(
		        &making->host->report, "kernel messages", "host", result, "/dev/kmsg: %s", strerror(-result));
	}
	if (!seen) {
		unlink(path);
		return 0;
	}
	add_member(making, "kernel.log", NULL, (struct num){ 0 });
	leave_out(making, "kernel messages of other things: %zu of %zu", seen - kept, seen);
	return fflush(file) ? error_set(&making->error, -errno, "%s", path) : 0;
}

/* ---- what the document of the report takes from others ---- */

static void freep_json(json_object **object)
{
	json_object_put(*object);
}

static json_object *parse_object(const char *text, size_t length, const char *name)
{
	struct error ignored;
	json_object *object = text ? json_parse(text, length, name, &ignored) : NULL;
	if (object && json_object_is_type(object, json_type_object))
		return object;
	json_object_put(object);
	return NULL;
}

void take_earlier(struct making *making)
{
	size_t length = 0;
	struct host *host = making->host;
	struct report_document *document = &making->document;
	struct report_document earlier = { 0 };
	struct error ignored;
	autofree char *text = read_earlier(making, "report.json", &length);
	autocall(freep_json) json_object *object = parse_object(text, length, "report.json");
	if (object && !record_from_json(&report_record, object, host->arena, &earlier, &ignored)) {
		document->versions = earlier.versions;
		if (earlier.redacted == FLAG_YES)
			document->redacted = FLAG_YES;
		return;
	}
	document->versions = (struct versions){
		.rdmadiag = RDMADIAG_VERSION,
		.kernel = host->facts.kernel,
		.architecture = host->facts.architecture,
	};
	report_missing(&host->report, "versions", "host", 0,
	        "the snapshot does not hold the distribution and the versions of its libraries");
}

void take_findings(struct making *making)
{
	char path[PATH_MAX];
	autofree char *text = NULL;
	size_t length = 0;
	struct error ignored;
	document_path(making, "check.json", path);
	if (file_read(path, &text, &length, &ignored))
		return;
	autocall(freep_json) json_object *object = parse_object(text, length, "check.json");
	json_object *findings = NULL;
	if (object && json_object_object_get_ex(object, "findings", &findings) &&
	        json_object_is_type(findings, json_type_array))
		making->findings = json_object_get(findings);
}
