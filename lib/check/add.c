/* SPDX-License-Identifier: MIT */
#include "check/add.h"
#include "check/findings.h"

#include <ctype.h>
#include <stdarg.h>

struct finding *check_add(struct report *report, const char *id, const char *subject, const char *message, ...)
{
	const struct finding_kind *kind = finding_kind(id);
	if (report_has_finding(report, id, subject))
		return NULL;
	va_list args;
	va_start(args, message);
	const char *text = arena_vprintf(report->arena, message, args);
	va_end(args);
	return report_finding(report, id, kind ? kind->severity : SEVERITY_WARNING, subject, "%s", text ? text : "");
}

const char *check_sentence(struct report *report, const char *clause)
{
	char *sentence = clause && *clause ? arena_printf(report->arena, "%s.", clause) : NULL;
	if (sentence)
		*sentence = (char)toupper((unsigned char)*sentence);
	return sentence;
}

bool check_most_are_apart(uint32_t apart, uint32_t others)
{
	return apart >= 2 && apart * 2 > others + 1;
}
