/* SPDX-License-Identifier: MIT */
#include "compare_operands.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "origin/origin.h"
#include "render/json.h"
#include "report/staging.h"
#include "run_command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VALUES_LIMIT = 4 * JSON_VALUES_LIMIT };

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
	const struct source *source; /* NULL: all */
	size_t values;
	struct error *error;
};

/* ---- JSON ---- */

static json_object *parse(struct loading *loading, const char *path, const char *name)
{
	autofree char *text = NULL;
	size_t length = 0;
	if (file_read(path, &text, &length, loading->error))
		return NULL;
	loading->values += json_values(text, length);
	if (loading->values > VALUES_LIMIT) {
		error_say(loading->error, -EFBIG, "%s: the documents hold more than %d values together", name,
		        VALUES_LIMIT);
		return NULL;
	}
	return json_parse(text, length, name, loading->error);
}

/* Neither a tar archive nor what packs one begins with a bracket. What cannot be opened is told when it is read. */
static bool is_json(const char *path)
{
	char start[4096];
	struct stat status;
	if (!strcmp(path, "-"))
		return true;
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status))
		return true;
	if (!S_ISREG(status.st_mode))
		return !S_ISDIR(status.st_mode);
	ssize_t length = read(fd, start, sizeof(start));
	ssize_t at = 0;
	while (at < length && isspace((unsigned char)start[at]))
		at++;
	return at >= length || start[at] == '{' || start[at] == '[';
}

/* ---- snapshots ---- */

/* The document that a command prints of a snapshot; NULL with an error. */
static json_object *ask(struct loading *loading, const struct source *source, const char *snapshot)
{
	char output[PATH_MAX], errors[PATH_MAX];
	staging_path(&loading->staging, "document.json", output);
	staging_path(&loading->staging, "document.stderr", errors);
	struct command_run run = {
		.command = source->command, .arguments = { "-j" }, .output = output, .errors = errors
	};
	struct common_options common = { .from = snapshot, .color = COLOR_NEVER };
	int status = run_command_in_process(&run, &common);
	if (status < 0) {
		error_set(loading->error, status, "%s: %s", snapshot, source->schema);
		return NULL;
	}
	return parse(loading, output, snapshot);
}

static void take(json_object *into, json_object *from, const char *key)
{
	json_object *value;
	if (json_object_object_get_ex(from, key, &value))
		json_object_object_add(into, key, json_object_get(value));
}

/* What topo shows, the GID tables, and all findings: those of topo and gid are among those of check. */
static json_object *ask_all(struct loading *loading, const char *snapshot)
{
	json_object *answers[ARRAY_SIZE(sources)] = { NULL };
	size_t count = 0;
	while (count < ARRAY_SIZE(sources) && (answers[count] = ask(loading, &sources[count], snapshot)))
		count++;
	json_object *all = count == ARRAY_SIZE(sources) ? json_object_get(answers[TOPO]) : NULL;
	if (all) {
		json_object_object_add(all, "schema", json_object_new_string(whole_schema));
		take(all, answers[GID], "tables");
		take(all, answers[GID], "entries");
		take(all, answers[GID], "choices");
		take(all, answers[CHECK], "findings");
		take(all, answers[CHECK], "not_collected");
	}
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		json_object_put(answers[i]);
	return all;
}

static json_object *load_snapshot(struct loading *loading, const char *path)
{
	struct error *error = loading->error;
	struct origin *origin = origin_snapshot(path, error);
	if (!origin)
		return NULL;
	origin_close(origin);
	if (!*loading->staging.path) {
		run_command_signals();
		if (staging_new(&loading->staging, error))
			return NULL;
	}
	return loading->source ? ask(loading, loading->source, path) : ask_all(loading, path);
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
	for (size_t i = 0; i < count; i++) {
		if (!is_json(files[i])) {
			snapshot = snapshot ? snapshot : files[i];
			continue;
		}
		documents[i] = parse(loading, files[i], files[i]);
		if (!documents[i])
			return loading->error->code;
		first = first < count ? first : i;
	}
	int result = snapshot && first < count ? find_source(loading, snapshot, documents[first], files[first]) : 0;
	for (size_t i = 0; i < count && !result; i++) {
		if (documents[i])
			continue;
		documents[i] = load_snapshot(loading, files[i]);
		result = documents[i] ? 0 : loading->error->code;
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
