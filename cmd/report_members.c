/* SPDX-License-Identifier: MIT */
#include "report_members.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "probe_ports.h"
#include "report/kernel_log.h"
#include "run_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What a probe leaves to the documents after it, what it needs to end when it is asked to (lib/probe/watcher.c), how
 * much longer a report may take for each port after the first, and at most for all of them.
 */
enum { OUTPUTS_MS = 2000, GRACE_MS = 4000, PORT_MS = 7000, PORTS_MS = 60000 };

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

/* Does the file say anything? One that is empty is taken away. */
static bool is_written(const char *path)
{
	struct stat status;
	if (stat(path, &status))
		return false;
	if (!status.st_size)
		unlink(path);
	return status.st_size;
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
	struct common_options common = { .from = from, .probes = making->documents, .color = COLOR_NEVER };
	int status = run_command_in_process(&run, &common);
	bool has_errors = is_written(errors), has_output = is_written(path);
	if (status < 0)
		leave_out(making, "%s: '%s' %s", output->name, output->line,
		        status == -ETIMEDOUT ? "did not end before the report's deadline"
		                             : run_command_failure(status));
	else if (!has_output)
		leave_out(making, "%s: '%s' printed nothing and left with status %d%s%s", output->name, output->line,
		        status, has_errors ? "; its messages are in " : "", has_errors ? name : "");
	if (has_output)
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
static char *read_earlier(struct making *making, const char *name, size_t *length)
{
	char path[128];
	char *text = NULL;
	struct error ignored = { 0 };
	if (!making->earlier)
		making->earlier = origin_snapshot(making->common->from, &ignored);
	snprintf(path, sizeof(path), DOCUMENTS "/%s", name);
	return making->earlier && !origin_read_all(making->earlier, path, &text, length) ? text : NULL;
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

/* ---- probes ---- */

/* How much somebody who reads the report wants to see it. */
static int weight(int outcome)
{
	static const int weights[OUTCOME_COUNT] = { [OUTCOME_OK] = 1,
		[OUTCOME_NOT_RUN] = 2,
		[OUTCOME_DEGRADED] = 3,
		[OUTCOME_STALLED] = 4,
		[OUTCOME_FAILED] = 4,
		[OUTCOME_CORRUPT] = 5 };
	return weights[outcome];
}

/* Its messages go with it; false where it stays. */
static bool move_probe(const struct making *making, unsigned int from, unsigned int to)
{
	static const char *const kinds[] = { "json", "json.stderr" };
	bool moved = true;
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && moved; i++) {
		char name[32], old[PATH_MAX], new[PATH_MAX];
		recorded_probe_name(name, from, kinds[i]);
		document_path(making, name, old);
		recorded_probe_name(name, to, kinds[i]);
		document_path(making, name, new);
		moved = !rename(old, new) || i;
	}
	return moved;
}

/* The worst is probe.json; the others stay in the order of their ports. */
static void put_worst_first(struct making *making)
{
	const struct recorded_place place = { .directory = making->documents };
	struct recorded_probes probes;
	struct error ignored = { 0 };
	unsigned int worst = 1;
	recorded_probes_read(&place, making->host->arena, &probes, &ignored);
	for (unsigned int i = 2; i <= probes.count; i++)
		if (weight(probes.items[i - 1]->document.verdict.outcome) >
		        weight(probes.items[worst - 1]->document.verdict.outcome))
			worst = i;
	if (!move_probe(making, worst, 0))
		return;
	while (worst > 1 && move_probe(making, worst - 1, worst))
		worst--;
	move_probe(making, 0, worst);
}

/* Once all are there, whoever made them. */
static void describe_probes(struct making *making)
{
	const struct recorded_place place = { .directory = making->documents };
	struct arena *arena = making->host->arena;
	struct recorded_probes probes;
	struct error error = { 0 };
	if (recorded_probes_read(&place, arena, &probes, &error))
		leave_out(making, "what a probe says: %s", error.text);
	list_each(probe, &probes) {
		char name[32];
		const struct verdict *verdict = &probe->document.verdict;
		recorded_probe_name(name, probe_index + 1, "json");
		struct report_probe *line = list_add(arena, &making->document.probes);
		if (line)
			*line = (struct report_probe){ .member = arena_strdup(arena, name),
				.port = probe->subject,
				.outcome = outcome_names[verdict->outcome],
				.layer = layer_names[verdict->layer],
				.confidence = confidence_names[verdict->confidence],
				.summary = verdict->summary };
	}
	making->probes = probes;
}

static int add_earlier_probes(struct making *making)
{
	unsigned int count = 0;
	int result = 1;
	while (result > 0 && count < RECORDED_PROBES_LIMIT) {
		char name[32];
		recorded_probe_name(name, count + 1, "json");
		result = add_earlier(making, name, "rdmadiag probe -p");
		count += result > 0;
	}
	if (!result && !count)
		leave_out(making, "a probe: the snapshot has none, and cannot be probed");
	return result < 0 ? result : 0;
}

struct probing {
	struct making *making;
	unsigned int ports, count;
};

/* `subject`: NULL: let the probe find a port, or say why there is none. */
static int add_one_probe(struct probing *probing, const char *subject)
{
	struct making *making = probing->making;
	char name[32];
	recorded_probe_name(name, probing->count + 1, "json");
	const char *line =
	        subject ? arena_printf(making->host->arena, "rdmadiag probe -p -d %s", subject) : "rdmadiag probe -p";
	struct output probe = { .command = &probe_command,
		.name = name,
		.line = line ? line : "rdmadiag probe -p",
		.arguments = { "-p", subject ? "-d" : NULL, subject },
		.spare_ms = OUTPUTS_MS,
		.grace_ms = GRACE_MS };
	if (making->deadline_ms - OUTPUTS_MS - GRACE_MS <= clock_ms()) {
		leave_out(making, "a probe of %s: the report's deadline came before", subject ? subject : "this host");
		return 0;
	}
	char path[PATH_MAX];
	int result = add_output(making, &probe, NULL);
	document_path(making, name, path);
	probing->count += is_written(path);
	return result;
}

static int probe_port(void *data, const char *subject, const struct port *port)
{
	struct probing *probing = data;
	if (port_is_active(port))
		return add_one_probe(probing, subject);
	leave_out(probing->making, "a probe of %s: the port is %s", subject,
	        port->state ? port->state : "in no known state");
	return 0;
}

static int probe_ports(struct making *making)
{
	struct probing probing = { .making = making };
	uint32_t up = count_ports_up(making->host);
	int64_t more = up > 1 ? (int64_t)(up - 1) * PORT_MS : 0;
	making->deadline_ms += more < PORTS_MS ? more : PORTS_MS;
	int result = up ? each_port(making->host, probe_port, &probing) : add_one_probe(&probing, NULL);
	if (!result && probing.count > 1)
		put_worst_first(making);
	return result;
}

int add_probe(struct making *making)
{
	int result = 0;
	if (making->common->from)
		result = add_earlier_probes(making);
	else if (making->probe)
		result = probe_ports(making);
	else
		leave_out(making, "a probe: it was not asked for (--probe)");
	if (!result)
		describe_probes(making);
	return result;
}

int add_probe_text(struct making *making)
{
	int result = 0;
	for (unsigned int number = 1; number <= making->probes.count && !result; number++) {
		char path[PATH_MAX], name[32], json[32], line[96];
		recorded_probe_name(name, number, "txt");
		recorded_probe_name(json, number, "json");
		document_path(making, json, path);
		snprintf(line, sizeof(line), "rdmadiag probe --judge %s", json);
		struct output text = {
			.command = &probe_command, .name = name, .line = line, .arguments = { "--judge", path }
		};
		result = add_output(making, &text, NULL);
	}
	return result;
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
		versions_explain(
		        &earlier.versions, "the report that this one was made from does not tell it", &host->report);
		return;
	}
	document->versions = (struct versions){
		.rdmadiag = RDMADIAG_VERSION,
		.kernel = host->facts.kernel,
		.architecture = host->facts.architecture,
	};
	versions_explain(&document->versions, "the snapshot does not hold it", &host->report);
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
