/* SPDX-License-Identifier: MIT */
#include "recorded_probes.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "json/json.h"
#include "verdict/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void recorded_probe_name(char name[static 32], unsigned int number, const char *kind)
{
	if (number == 1)
		snprintf(name, 32, "probe.%s", kind);
	else
		snprintf(name, 32, "probe-%u.%s", number, kind);
}

static int take_record(json_object *object, const char *name, struct arena *arena, struct probe_document *document,
        struct error *error)
{
	json_object *evidence;
	if (!json_object_object_get_ex(object, "evidence", &evidence) ||
	        !json_object_is_type(evidence, json_type_object))
		return error_say(error, -EINVAL, "%s: no document of a probe: it has no evidence", name);
	int result = record_from_foreign_json(&recorded_probe_record, object, arena, document, document->report, error);
	evidence_take_unreadable(&document->evidence, document->report, arena);
	return result;
}

/* What a document says beside what was seen: where, and why something was not. */
struct envelope {
	struct host_facts host;
	LIST(struct not_collected) not_collected;
};

static const struct field envelope_fields[] = {
	FIELD_OF(INLINE, struct envelope, host, host_facts_record, "host"),
	FIELD_OF(RECORDS, struct envelope, not_collected, not_collected_record, "what is unknown and why"),
};
static RECORD(envelope_record, envelope, envelope_fields);

/*
 * A field that the document says it could not read when it was judged before is null in it now, and reads like one that
 * was never there. Such an entry is named by the field's path, and its reason begins with it (render/json.c).
 */
static void keep_unreadable(struct arena *arena, const struct not_collected *missing, struct evidence *evidence)
{
	size_t length = strlen(missing->what);
	bool is_field = !strncmp(missing->what, "evidence", 8) || !strncmp(missing->what, "request", 7);
	if (is_field && !strncmp(missing->reason, missing->what, length) && missing->reason[length] == ':' &&
	        !strings_contain(&evidence->unreadable, missing->reason))
		strings_add(arena, &evidence->unreadable, missing->reason);
}

/* What does not fit in it is nobody's loss. */
static void take_envelope(json_object *object, struct arena *arena, struct recorded_probe *probe)
{
	struct envelope *envelope = arena_new_object(arena, struct envelope);
	struct report unfit = { .arena = arena };
	struct error ignored = { 0 };
	if (!envelope || record_from_foreign_json(&envelope_record, object, arena, envelope, &unfit, &ignored))
		return;
	if (envelope->host.hostname || envelope->host.kernel || envelope->host.architecture)
		probe->facts = &envelope->host;
	list_each(missing, &envelope->not_collected) {
		if (!missing->what || !missing->subject || !missing->reason)
			continue;
		keep_unreadable(arena, missing, &probe->document.evidence);
		report_missing(probe->document.report, missing->what, missing->subject,
		        missing->error.value > 0 && missing->error.value < 4096 ? -(int)missing->error.value : 0, "%s",
		        missing->reason);
	}
}

static int read_text(const struct recorded_place *place, const char *name, char **text, size_t *length)
{
	char path[PATH_MAX];
	struct error ignored = { 0 };
	if (place->directory) {
		snprintf(path, sizeof(path), "%s/%s", place->directory, name);
		return file_read(path, text, length, &ignored);
	}
	snprintf(path, sizeof(path), "report/%s", name);
	return origin_read_all(place->origin, path, text, length);
}

static const char *subject_of(struct arena *arena, const struct probe_document *document)
{
	const struct endpoint_facts *local = &document->evidence.local;
	if (!local->device)
		return document->request.device ? document->request.device : "host";
	return local->port.known ? arena_printf(arena, "%s/%" PRId64, local->device, local->port.value) : local->device;
}

int recorded_probe_parse(const char *text, size_t length, const char *name, struct arena *arena,
        struct recorded_probe *probe, struct error *error)
{
	struct report *report = arena_new_object(arena, struct report);
	struct probe_document *document = &probe->document;
	*probe = (struct recorded_probe){ .document.report = report };
	if (!report)
		return error_set(error, -ENOMEM, "%s", name);
	report->arena = arena;
	json_object *object = json_parse(text, length, name, error);
	int result = object ? take_record(object, name, arena, document, error) : error->code;
	if (!result)
		take_envelope(object, arena, probe);
	json_object_put(object);
	if (result)
		return result;
	document->verdict = (struct verdict){ 0 };
	verdict_judge(&document->request, &document->evidence, report, arena, &document->verdict);
	probe->subject = subject_of(arena, document);
	return 0;
}

int recorded_probes_read(
        const struct recorded_place *place, struct arena *arena, struct recorded_probes *probes, struct error *error)
{
	*probes = (struct recorded_probes){ 0 };
	for (unsigned int number = 1; number <= RECORDED_PROBES_LIMIT; number++) {
		char name[32];
		autofree char *text = NULL;
		size_t length = 0;
		recorded_probe_name(name, number, "json");
		int result = read_text(place, name, &text, &length);
		if (result == -ENOENT)
			return 0;
		if (result)
			return error_set(error, result, "report/%s", name);
		struct recorded_probe *probe = arena_new_object(arena, struct recorded_probe);
		if (!probe)
			return error_set(error, -ENOMEM, "report/%s", name);
		result = recorded_probe_parse(text, length, name, arena, probe, error);
		if (result)
			return result;
		if (list_add_existing(arena, probes, probe))
			return error_set(error, -ENOMEM, "report/%s", name);
	}
	return 0;
}
