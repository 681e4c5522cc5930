/* SPDX-License-Identifier: MIT */
#include "check/add.h"
#include "check/findings.h"

#include <stdarg.h>
#include <string.h>

struct finding *check_add(struct report *report, const char *id, const char *subject, const char *message, ...)
{
	const struct finding_kind *kind = finding_kind(id);
	list_each(finding, &report->findings)
		if (!strcmp(finding->id, id) && !strcmp(finding->subject, subject))
			return NULL;
	va_list args;
	va_start(args, message);
	const char *text = arena_vprintf(report->arena, message, args);
	va_end(args);
	return report_finding(report, id, kind ? kind->severity : SEVERITY_WARNING, subject, "%s", text ? text : "");
}
