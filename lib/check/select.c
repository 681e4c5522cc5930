/* SPDX-License-Identifier: MIT */
#include "check/select.h"

#include "base/nearest.h"
#include "base/text.h"
#include "check/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct field counts_fields[] = {
	FIELD(NUMBER, struct finding_counts, errors, "findings of severity error"),
	FIELD(NUMBER, struct finding_counts, warnings, "findings of severity warning"),
	FIELD(NUMBER, struct finding_counts, infos, "findings of severity info"),
};
RECORD(finding_counts_record, finding_counts, counts_fields);

static int unknown_finding(const char *id, struct error *error)
{
	struct nearest nearest = { .typed = id };
	for (size_t i = 0; i < finding_kind_count; i++)
		nearest_try(&nearest, finding_kinds[i].id, NULL);
	return error_say(error, -EINVAL, "there is no finding '%s'%s", id, nearest_text(&nearest));
}

int filter_add_ids(struct arena *arena, struct strings *ids, const char *list, struct error *error)
{
	while (*list) {
		list += strspn(list, " ,");
		size_t length = strcspn(list, " ,");
		const char *id = arena_strndup(arena, list, length);
		if (!id)
			return error_set(error, -ENOMEM, "%s", list);
		if (length && !finding_kind(id))
			return unknown_finding(id, error);
		if (length && strings_add(arena, ids, id))
			return error_set(error, -ENOMEM, "%s", list);
		list += length;
	}
	return 0;
}

static bool is_expected(const struct finding *finding, const struct finding_filter *filter)
{
	if (!strcmp(finding->id, "port-down") || !strcmp(finding->id, "port-not-ready"))
		return strings_contain(&filter->expect_down, finding->subject) ||
		       strings_contain(&filter->unused, finding->subject);
	bool follows = !strncmp(finding->id, "gid-", 4) || !strcmp(finding->id, "link-problem") ||
	               !strcmp(finding->id, "bond-down") || !strcmp(finding->id, "link-flaps");
	return follows && strings_contain(&filter->unused, finding->subject);
}

static bool is_wanted(const struct finding *finding, const struct finding_filter *filter)
{
	if (finding->severity < (int)filter->threshold || is_expected(finding, filter))
		return false;
	if (filter->only.count && !strings_contain(&filter->only, finding->id))
		return false;
	return !strings_contain(&filter->ignore, finding->id);
}

static int worst_first(const void *a, const void *b)
{
	const struct finding *one = *(struct finding *const *)a, *two = *(struct finding *const *)b;
	if (one->severity != two->severity)
		return two->severity - one->severity;
	int order = natural_compare(one->subject, two->subject);
	if (!order)
		order = strcmp(one->id, two->id);
	return order ? order : strcmp(one->message, two->message);
}

uint32_t findings_select(struct report *report, const struct finding_filter *filter)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < report->findings.count; i++)
		if (is_wanted(report->findings.items[i], filter))
			report->findings.items[kept++] = report->findings.items[i];
	uint32_t dropped = report->findings.count - kept;
	report->findings.count = kept;
	if (kept)
		qsort(report->findings.items, kept, sizeof(*report->findings.items), worst_first);
	return dropped;
}

struct finding_counts findings_count(const struct report *report)
{
	struct finding_counts counts = { num(0), num(0), num(0) };
	struct num *const by_severity[SEVERITY_COUNT] = {
		[SEVERITY_INFO] = &counts.infos,
		[SEVERITY_WARNING] = &counts.warnings,
		[SEVERITY_ERROR] = &counts.errors,
	};
	list_each(finding, &report->findings)
		by_severity[finding->severity]->value++;
	return counts;
}
