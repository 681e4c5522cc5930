/* SPDX-License-Identifier: MIT */
#include "render/report_text.h"

#include "base/cleanup.h"
#include "render/json.h"

#include <string.h>

static const char *const colors[SEVERITY_COUNT] = {
	[SEVERITY_INFO] = "\033[36m",
	[SEVERITY_WARNING] = "\033[33m",
	[SEVERITY_ERROR] = "\033[31m",
};

static void print_finding(const struct finding *finding, FILE *stream, bool color)
{
	const char *word = severity_names[finding->severity];
	autofree char *subject = text_for_terminal(finding->subject), *message = text_for_terminal(finding->message);
	fprintf(stream, "%s%s%s: %s: %s [%s]\n", color ? colors[finding->severity] : "", word, color ? "\033[0m" : "",
	        subject ? subject : "", message ? message : "", finding->id);
	if (finding->advice)
		fprintf(stream, "    %s\n", finding->advice);
}

void report_print_findings(const struct report *report, FILE *stream, bool color)
{
	for (int severity = SEVERITY_ERROR; severity >= SEVERITY_INFO; severity--)
		list_each(finding, &report->findings)
			if (finding->severity == severity)
				print_finding(finding, stream, color);
}

static bool is_same(const struct not_collected *a, const struct not_collected *b)
{
	return !strcmp(a->what, b->what) && !strcmp(a->reason, b->reason);
}

static bool is_first(const struct report *report, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (is_same(report->not_collected.items[i], report->not_collected.items[index]))
			return false;
	return true;
}

static void print_group(const struct report *report, uint32_t index, FILE *stream)
{
	enum { SHOWN = 4 };
	const struct not_collected *first = report->not_collected.items[index];
	uint32_t count = 0;
	autofree char *reason = text_for_terminal(first->reason);
	fprintf(stream, "  %s of ", first->what);
	for (uint32_t i = index; i < report->not_collected.count; i++) {
		const struct not_collected *entry = report->not_collected.items[i];
		if (!is_same(first, entry) || count++ >= SHOWN)
			continue;
		autofree char *subject = text_for_terminal(entry->subject);
		fprintf(stream, "%s%s", count > 1 ? ", " : "", subject ? subject : "");
	}
	if (count > SHOWN)
		fprintf(stream, " and %u more", count - SHOWN);
	fprintf(stream, ": %s\n", reason ? reason : "");
}

void report_print_not_collected(const struct report *report, FILE *stream)
{
	if (report->not_collected.count)
		fprintf(stream, "Not collected:\n");
	for (uint32_t i = 0; i < report->not_collected.count; i++)
		if (is_first(report, i))
			print_group(report, i, stream);
}
