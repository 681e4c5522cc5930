/* SPDX-License-Identifier: MIT */
#include "render/report_text.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static const char *const colors[SEVERITY_COUNT] = {
	[SEVERITY_INFO] = "\033[36m",
	[SEVERITY_WARNING] = "\033[33m",
	[SEVERITY_ERROR] = "\033[31m",
};

/* ---- what is said of many, as of all virtual functions, is said once ---- */

static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_statements(const struct finding *a, const struct finding *b)
{
	int difference = a->severity - b->severity;
	difference = difference ? difference : strcmp(a->id, b->id);
	difference = difference ? difference : strcmp(a->message, b->message);
	return difference ? difference : compare_texts(a->advice, b->advice);
}

/* A finding and those that say the same of other subjects. */
struct statement {
	const struct finding *finding;
	uint32_t place; /* in the report */
	uint32_t next;  /* place of the next one that says the same; 0: none */
	bool told;      /* with one before it */
};

static int by_statement(const void *a, const void *b)
{
	const struct statement *left = a, *right = b;
	int difference = compare_statements(left->finding, right->finding);
	return difference ? difference : (left->place > right->place) - (left->place < right->place);
}

static int by_place(const void *a, const void *b)
{
	const struct statement *left = a, *right = b;
	return (left->place > right->place) - (left->place < right->place);
}

/* In the order of the report; NULL without memory, and then each is told by itself. */
static struct statement *group(const struct report *report)
{
	uint32_t count = report->findings.count;
	struct statement *statements = calloc(count ? count : 1, sizeof(*statements));
	if (!statements || !count)
		return statements;
	for (uint32_t i = 0; i < count; i++)
		statements[i] = (struct statement){ .finding = report->findings.items[i], .place = i };
	qsort(statements, count, sizeof(*statements), by_statement);
	for (uint32_t i = 1; i < count; i++)
		if (!compare_statements(statements[i - 1].finding, statements[i].finding)) {
			statements[i - 1].next = statements[i].place;
			statements[i].told = true;
		}
	qsort(statements, count, sizeof(*statements), by_place);
	return statements;
}

static void print_subjects(const struct statement *statements, uint32_t first, FILE *stream)
{
	enum { SHOWN = 8 };
	uint32_t count = 0, place = first;
	do {
		autofree char *subject = text_for_terminal(statements[place].finding->subject);
		if (count++ < SHOWN)
			fprintf(stream, "%s%s", count > 1 ? ", " : "", subject ? subject : "");
		place = statements[place].next;
	} while (place);
	if (count > SHOWN)
		fprintf(stream, " and %u more", count - SHOWN);
}

static void print_statement(const struct statement *statements, uint32_t first, FILE *stream, bool color)
{
	const struct finding *finding = statements[first].finding;
	autofree char *message = text_for_terminal(finding->message);
	fprintf(stream, "%s%s%s: ", color ? colors[finding->severity] : "", severity_names[finding->severity],
	        color ? "\033[0m" : "");
	print_subjects(statements, first, stream);
	fprintf(stream, ": %s [%s]\n", message ? message : "", finding->id);
	if (finding->advice)
		fprintf(stream, "    %s\n", finding->advice);
}

uint32_t report_print_findings(const struct report *report, FILE *stream, bool color)
{
	uint32_t lines = 0;
	autofree struct statement *statements = group(report);
	for (int severity = SEVERITY_ERROR; severity >= SEVERITY_INFO; severity--)
		for (uint32_t i = 0; i < report->findings.count; i++) {
			struct statement alone = { .finding = report->findings.items[i] };
			if (alone.finding->severity != severity || (statements && statements[i].told))
				continue;
			print_statement(statements ? statements : &alone, statements ? i : 0, stream, color);
			lines++;
		}
	return lines;
}

/* ---- what is not known ---- */

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
