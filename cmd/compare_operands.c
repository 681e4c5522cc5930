/* SPDX-License-Identifier: MIT */
#include "compare_operands.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "origin/origin.h"
#include "recorded_probes.h"
#include "json/json.h"
#include "report/staging.h"
#include "run_command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VALUES_LIMIT = 4 * JSON_VALUES_LIMIT, STDIN_LIMIT = 512 << 20, PROBES_ARENA = 256 << 20 };

/* What a snapshot can be asked for. */
static const struct source {
	const char *schema;
	const struct command *command;
} sources[] = {
	{ "rdmadiag.topo", &topo_command },
	{ "rdmadiag.gid", &gid_command },
	{ "rdmadiag.check", &check_command },
};
enum { TOPO, GID, CHECK };

/* Where no JSON says what is to be compared. */
static const char whole_schema[] = "rdmadiag.snapshot";

struct loading {
	struct staging staging;
	char spooled[PATH_MAX];      /* standard input, where that is an archive; empty: it is none */
	const struct source *source; /* NULL: all */
	size_t values;
	struct error *error;
};

/* ---- JSON ---- */

static json_object *parse_text(struct loading *loading, const char *text, size_t length, const char *name)
{
	loading->values += json_values(text, length);
	if (loading->values > VALUES_LIMIT) {
		error_say(loading->error, -EFBIG, "%s: the documents hold more than %d values together", name,
		        VALUES_LIMIT);
		return NULL;
	}
	return json_parse(text, length, name, loading->error);
}

static json_object *parse(struct loading *loading, const char *path, const char *name)
{
	autofree char *text = NULL;
	size_t length = 0;
	return file_read(path, &text, &length, loading->error) ? NULL : parse_text(loading, text, length, name);
}

static bool is_named_json(const char *path)
{
	const char *end = strrchr(path, '.');
	return end && !strcmp(end, ".json");
}

/* Neither a tar archive nor what packs one begins with a bracket. What cannot be opened is told when it is read. */
static bool is_json(const char *path)
{
	char start[4096];
	struct stat status;
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status))
		return true;
	if (!S_ISREG(status.st_mode))
		return !S_ISDIR(status.st_mode);
	ssize_t length = read(fd, start, sizeof(start));
	ssize_t at = 0;
	while (at < length && isspace((unsigned char)start[at]))
		at++;
	return at >= length || start[at] == '{' || start[at] == '[' || is_named_json(path);
}

/* ---- standard input ---- */

static int stage(struct loading *loading)
{
	if (*loading->staging.path)
		return 0;
	run_command_signals();
	return staging_new(&loading->staging, loading->error);
}

static int copy_stdin(int fd, struct error *error)
{
	static char buffer[1 << 16];
	for (size_t total = 0;;) {
		ssize_t got = read(STDIN_FILENO, buffer, sizeof(buffer));
		if (got < 0 && errno == EINTR && !run_command_interrupted())
			continue;
		if (got <= 0)
			return got ? error_set(error, -errno, "standard input") : 0;
		total += (size_t)got;
		if (total > STDIN_LIMIT)
			return error_say(error, -EFBIG, "standard input: larger than %d MiB", STDIN_LIMIT >> 20);
		int result = file_write_all(fd, buffer, (size_t)got);
		if (result)
			return error_set(error, result, "standard input");
	}
}

/* It can be read once only, and what is in it is not known before. */
static int spool_stdin(struct loading *loading)
{
	int result = stage(loading);
	if (result)
		return result;
	staging_path(&loading->staging, "stdin", loading->spooled);
	autoclose int fd = open(loading->spooled, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return fd < 0 ? error_set(loading->error, -errno, "standard input") : copy_stdin(fd, loading->error);
}

static bool is_stdin(const char *file)
{
	return !strcmp(file, "-");
}

static const char *place_of(const struct loading *loading, const char *file)
{
	return is_stdin(file) ? loading->spooled : file;
}

/* Messages name what was given, not where it was put. */
static void rename_error(const struct loading *loading, const char *file)
{
	size_t length = strlen(loading->spooled);
	if (!is_stdin(file) || !length || strncmp(loading->error->text, loading->spooled, length) != 0)
		return;
	autofree char *rest = strdup(loading->error->text + length);
	if (rest)
		error_say(loading->error, loading->error->code, "standard input%s", rest);
}

/* ---- snapshots ---- */

static const char *first_reason(json_object *document)
{
	json_object *missing = json_object_object_get(document, "not_collected");
	json_object *first =
	        json_object_is_type(missing, json_type_array) ? json_object_array_get_idx(missing, 0) : NULL;
	const char *reason = json_object_get_string(json_object_object_get(first, "reason"));
	return reason ? reason : "it says nothing";
}

/* The document that a command prints of a snapshot, with `option` unless that is NULL; NULL with an error. */
static json_object *ask(struct loading *loading, const struct source *source, const char *option, const char *snapshot)
{
	autofree char *text = NULL;
	size_t length;
	struct command_run run = { .command = source->command, .arguments = { "-j", option } };
	struct common_options common = { .from = snapshot, .color = COLOR_NEVER };
	int status = run_command_in_memory(&run, &common, &text, &length);
	if (status < 0) {
		error_say(loading->error, status, "%s: its %s document: what makes it %s", snapshot,
		        source->command->name, run_command_failure(status));
		return NULL;
	}
	json_object *document = parse_text(loading, text, length, snapshot);
	if (!document || status != EXIT_NOTHING || json_object_object_get(document, "host"))
		return document;
	/* One that says nothing at all would differ from all others. */
	error_say(loading->error, -ENODATA, "%s: its %s document: %s", snapshot, source->command->name,
	        first_reason(document));
	json_object_put(document);
	return NULL;
}

static int take(json_object *into, json_object *from, const char *key)
{
	json_object *value;
	return json_object_object_get_ex(from, key, &value) && value
	               ? json_put_member(into, key, json_object_get(value))
	               : 0;
}

/* What topo shows, with settings of QoS and the wire, the GID tables, and all findings: those of topo and gid are among
 * those of check. */
static json_object *ask_all(struct loading *loading, const char *snapshot)
{
	json_object *answers[ARRAY_SIZE(sources)] = { NULL };
	size_t count = 0;
	while (count < ARRAY_SIZE(sources) &&
	        (answers[count] = ask(loading, &sources[count], count == TOPO ? "--health" : NULL, snapshot)))
		count++;
	json_object *all = count == ARRAY_SIZE(sources) ? json_object_get(answers[TOPO]) : NULL;
	if (all && (json_put_member(all, "schema", json_object_new_string(whole_schema)) ||
	                   take(all, answers[GID], "tables") || take(all, answers[GID], "entries") ||
	                   take(all, answers[GID], "choices") || take(all, answers[CHECK], "findings") ||
	                   take(all, answers[CHECK], "not_collected"))) {
		error_set(loading->error, -ENOMEM, "%s", snapshot);
		json_object_put(all);
		all = NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		json_object_put(answers[i]);
	return all;
}

/* ---- the probes of a report ---- */

/* How one ended, and nothing of times, numbers and addresses. */
struct probe_outcome {
	const char *device;
	struct num port;
	const char *outcome, *layer;
	const char *wc_status; /* of the first completion with an error */
	struct num vendor_err;
};

static const struct field probe_outcome_fields[] = {
	FIELD(TEXT, struct probe_outcome, device, "RDMA device"),
	FIELD(NUMBER, struct probe_outcome, port, "port number"),
	FIELD(TEXT, struct probe_outcome, outcome, "how it ended"),
	FIELD(TEXT, struct probe_outcome, layer, "the layer that has it"),
	FIELD(TEXT, struct probe_outcome, wc_status, "status of the first completion with an error"),
	FIELD(NUMBER, struct probe_outcome, vendor_err, "what the adapter says of it"),
};
static RECORD(probe_outcome_record, probe_outcome, probe_outcome_fields);

static const struct operation *first_failed(const struct evidence *evidence)
{
	list_each(operation, &evidence->operations)
		if (operation->wc_status.known && operation->wc_status.value)
			return operation;
	return NULL;
}

static json_object *describe_probe(const struct recorded_probe *probe)
{
	const struct probe_document *document = &probe->document;
	const struct operation *failed = first_failed(&document->evidence);
	const struct probe_outcome outcome = {
		.device = document->evidence.local.device,
		.port = document->evidence.local.port,
		.outcome = outcome_names[document->verdict.outcome],
		.layer = layer_names[document->verdict.layer],
		.wc_status = failed ? failed->wc_status_text : NULL,
		.vendor_err = failed ? failed->vendor_err : (struct num){ 0 },
	};
	return record_to_json(&probe_outcome_record, &outcome);
}

/* NULL: no memory. */
static json_object *describe_all(const struct recorded_probes *probes)
{
	json_object *list = json_object_new_array();
	list_each(probe, probes) {
		json_object *described = list ? describe_probe(probe) : NULL;
		if (described && !json_object_array_add(list, described))
			continue;
		json_object_put(described);
		json_object_put(list);
		return NULL;
	}
	return list;
}

/* NULL with an error. */
static json_object *describe_probes(struct loading *loading, struct origin *origin, const char *snapshot)
{
	autocall(arena_freep) struct arena *arena = arena_new(PROBES_ARENA);
	const struct recorded_place place = { .origin = origin };
	struct recorded_probes probes = { 0 };
	struct error wrong = { 0 };
	json_object *list = NULL;
	if (arena && recorded_probes_read(&place, arena, &probes, &wrong)) {
		error_say(loading->error, wrong.code, "%s: %s", snapshot, wrong.text);
		return NULL;
	}
	if (arena)
		list = describe_all(&probes);
	if (!list)
		error_set(loading->error, -ENOMEM, "%s", snapshot);
	return list;
}

/* They are compared by what they say, in more detail than a finding has. */
static void drop_probe_findings(json_object *document)
{
	static const char begin[] = "probe-";
	json_object *findings = json_object_object_get(document, "findings");
	size_t count = json_object_is_type(findings, json_type_array) ? json_object_array_length(findings) : 0;
	for (size_t i = count; i-- > 0;) {
		json_object *id = json_object_object_get(json_object_array_get_idx(findings, i), "id");
		if (id && !strncmp(json_object_get_string(id), begin, strlen(begin)))
			json_object_array_del_idx(findings, i, 1);
	}
}

static json_object *load_snapshot(struct loading *loading, const char *path)
{
	autocall(origin_closep) struct origin *origin = origin_snapshot(path, loading->error);
	if (!origin)
		return NULL;
	run_command_signals();
	if (loading->source)
		return ask(loading, loading->source, NULL, path);
	json_object *probes = describe_probes(loading, origin, path);
	json_object *all = probes ? ask_all(loading, path) : NULL;
	if (!all) {
		json_object_put(probes);
		return NULL;
	}
	drop_probe_findings(all);
	if (!json_put_member(all, "probes", probes))
		return all;
	error_set(loading->error, -ENOMEM, "%s", path);
	json_object_put(all);
	return NULL;
}

/* ---- all ---- */

/* What is to be made of the snapshots, by the first document. */
static int find_source(struct loading *loading, const char *snapshot, json_object *document, const char *name)
{
	json_object *value = NULL;
	json_object_object_get_ex(document, "schema", &value);
	const char *schema = value ? json_object_get_string(value) : "";
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (!strcmp(sources[i].schema, schema))
			loading->source = &sources[i];
	if (loading->source)
		return 0;
	return error_say(loading->error, -EINVAL,
	        "%s is a snapshot or report: it compares with others, and with JSON of topo, gid and check, which %s "
	        "is not",
	        snapshot, name);
}

static int load_documents(struct loading *loading, const char *const *files, size_t count, json_object **documents)
{
	const char *snapshot = NULL;
	size_t first = count;
	for (size_t i = 0; i < count; i++)
		if (is_stdin(files[i]) && spool_stdin(loading))
			return loading->error->code;
	for (size_t i = 0; i < count; i++) {
		const char *place = place_of(loading, files[i]);
		if (!is_json(place)) {
			snapshot = snapshot ? snapshot : files[i];
			continue;
		}
		documents[i] = parse(loading, place, is_stdin(files[i]) ? "standard input" : files[i]);
		if (!documents[i])
			return loading->error->code;
		first = first < count ? first : i;
	}
	int result = snapshot && first < count ? find_source(loading, snapshot, documents[first], files[first]) : 0;
	for (size_t i = 0; i < count && !result; i++) {
		if (documents[i])
			continue;
		documents[i] = load_snapshot(loading, place_of(loading, files[i]));
		result = documents[i] ? 0 : loading->error->code;
		if (result)
			rename_error(loading, files[i]);
		if (run_command_interrupted())
			result = error_set(loading->error, -EINTR, "comparing");
	}
	return result;
}

int compare_load(const char *const *files, size_t count, json_object **documents, struct error *error)
{
	struct loading loading = { .error = error };
	int result = load_documents(&loading, files, count, documents);
	staging_remove(&loading.staging);
	return result;
}
