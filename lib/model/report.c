/* SPDX-License-Identifier: MIT */
#include "model/report.h"

#include <errno.h>
#include <string.h>

const char *const severity_names[SEVERITY_COUNT] = {
	[SEVERITY_INFO] = "info",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_ERROR] = "error",
};

static const struct field evidence_item_fields[] = {
	FIELD(TEXT, struct evidence_item, source, "file, netlink attribute or ioctl the value comes from"),
	FIELD(TEXT, struct evidence_item, name, "name of the value"),
	FIELD(TEXT, struct evidence_item, value, "the value as found"),
};
static RECORD(evidence_item_record, evidence_item, evidence_item_fields);

static const struct field finding_fields[] = {
	FIELD(TEXT, struct finding, id, "stable identifier of the kind of finding"),
	FIELD_OF_NAMES(struct finding, severity, severity_names, "info, warning or error"),
	FIELD(TEXT, struct finding, subject, "the object it speaks of"),
	FIELD(TEXT, struct finding, message, "what is the matter"),
	FIELD_OF(RECORDS, struct finding, evidence, evidence_item_record, "what it rests on"),
	FIELD(TEXT, struct finding, advice, "what to do"),
};
RECORD(finding_record, finding, finding_fields);

static const struct field not_collected_fields[] = {
	FIELD(TEXT, struct not_collected, what, "the fact that is unknown"),
	FIELD(TEXT, struct not_collected, subject, "the object it would speak of"),
	FIELD_AS(NUMBER, struct not_collected, error, "errno", "positive errno, null where no call failed"),
	FIELD(TEXT, struct not_collected, reason, "why it is unknown"),
};
RECORD(not_collected_record, not_collected, not_collected_fields);

/* What makes two findings, or two entries of not_collected, the same. */
struct pair {
	const char *what, *subject;
};

static uint64_t hash_of(struct pair pair)
{
	return hash_join(hash_text(pair.what), hash_text(pair.subject));
}

static bool is_same_finding(const void *element, const void *key)
{
	const struct finding *finding = element;
	const struct pair *pair = key;
	return !strcmp(finding->id, pair->what) && !strcmp(finding->subject, pair->subject);
}

bool report_has_finding(const struct report *report, const char *id, const char *subject)
{
	const struct pair pair = { id, subject };
	return index_find(&report->known_findings, hash_of(pair), is_same_finding, &pair);
}

struct finding *report_finding(
        struct report *report, const char *id, enum severity severity, const char *subject, const char *message, ...)
{
	struct finding *finding = list_add(report->arena, &report->findings);
	if (!finding)
		return NULL;
	va_list args;
	va_start(args, message);
	finding->message = arena_vprintf(report->arena, message, args);
	va_end(args);
	finding->severity = (int)severity;
	const char *copy = arena_strdup(report->arena, subject);
	finding->subject = copy ? copy : "?"; /* out of memory, which is told elsewhere: no finding is lost for that */
	finding->message = finding->message ? finding->message : "";
	finding->id = id;
	if (copy)
		(void)index_add(report->arena, &report->known_findings, hash_of((struct pair){ id, subject }), finding);
	return finding;
}

void report_drop_finding(struct report *report, const char *id, const char *subject)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < report->findings.count; i++) {
		const struct finding *finding = report->findings.items[i];
		if (strcmp(finding->id, id) != 0 || strcmp(finding->subject, subject) != 0)
			report->findings.items[kept++] = report->findings.items[i];
	}
	report->findings.count = kept;
}

void report_evidence(
        struct report *report, struct finding *finding, const char *source, const char *name, const char *value, ...)
{
	struct evidence_item *item = finding ? list_add(report->arena, &finding->evidence) : NULL;
	if (!item)
		return;
	va_list args;
	va_start(args, value);
	item->value = arena_vprintf(report->arena, value, args);
	va_end(args);
	item->source = arena_strdup(report->arena, source);
	item->name = arena_strdup(report->arena, name);
}

void report_advice(struct finding *finding, const char *advice)
{
	if (finding)
		finding->advice = advice;
}

static bool is_same_missing(const void *element, const void *key)
{
	const struct not_collected *entry = element;
	const struct pair *pair = key;
	return !strcmp(entry->what, pair->what) && !strcmp(entry->subject, pair->subject);
}

static bool is_reported(const struct report *report, struct pair pair)
{
	return index_find(&report->known_missing, hash_of(pair), is_same_missing, &pair);
}

void report_missing_as(struct report *report, const char *what, const char *subject, int error, const char *reason)
{
	const struct pair pair = { what, subject };
	if (!what || !reason || is_reported(report, pair))
		return;
	const char *copy = arena_strdup(report->arena, subject);
	struct not_collected *added = copy ? list_add(report->arena, &report->not_collected) : NULL;
	if (!added)
		return;
	*added = (struct not_collected){
		.what = what, .subject = copy, .reason = reason, .error = error ? num(-error) : (struct num){ 0 }
	};
	(void)index_add(report->arena, &report->known_missing, hash_of(pair), added);
}

void report_missing(struct report *report, const char *what, const char *subject, int error, const char *reason, ...)
{
	if (is_reported(report, (struct pair){ what, subject }))
		return;
	const char *words;
	if (reason) {
		va_list args;
		va_start(args, reason);
		words = arena_vprintf(report->arena, reason, args);
		va_end(args);
	} else {
		words = arena_strdup(report->arena, strerror(-error));
	}
	report_missing_as(report, arena_strdup(report->arena, what), subject, error, words);
}

void report_exhaustion(struct report *report)
{
	if (!report->arena || !arena_exhausted(report->arena))
		return;
	arena_open_reserve(report->arena);
	report_missing(report, "memory", "host", -ENOMEM,
	        "there is more to collect than fits into the %zu MiB that one host may take; some of it is missing",
	        arena_size(report->arena) >> 20);
}
