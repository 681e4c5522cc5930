/* SPDX-License-Identifier: MIT */
/* schema: the JSON Schema of a document, made from the tables that write it. */
#include "cmd.h"

#include "base/cleanup.h"
#include "base/nearest.h"
#include "check/select.h"
#include "compare/compare.h"
#include "model/evidence.h"
#include "model/gid.h"
#include "json/json.h"
#include "report/document.h"
#include "verdict/explain_query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	const struct record *record;
} documents[] = {
	{ "topo", &topo_record },
	{ "gid", &gid_record },
	{ "probe", &probe_record },
	{ "check", &finding_counts_record },
	{ "compare", &comparison_record },
	{ "explain", &explain_record },
	{ "capture", &capture_record },
	{ "report", &report_record },
};

static int print_schema(const char *name, const struct record *record)
{
	char title[64];
	snprintf(title, sizeof(title), "rdmadiag.%s", name);
	json_object *schema = record_schema(title, record);
	autofree char *text = json_text(schema, true);
	json_object_put(schema);
	return text && fputs(text, stdout) >= 0 ? EXIT_DONE : EXIT_NOTHING;
}

static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	int option = command_getopt(command, argc, argv, common);
	if (option != OPTION_END)
		return option_status(option);
	if (argc - optind != 1)
		return usage_error(command, "the name of one document is needed: topo, gid, probe, check, compare, "
		                            "explain, capture or report");
	for (size_t i = 0; i < ARRAY_SIZE(documents); i++)
		if (!strcmp(documents[i].name, argv[optind]))
			return print_schema(documents[i].name, documents[i].record);
	struct nearest nearest = { .typed = argv[optind] };
	for (size_t i = 0; i < ARRAY_SIZE(documents); i++)
		nearest_try(&nearest, documents[i].name, NULL);
	const char *meant = nearest_text(&nearest);
	return usage_error(command, "'%s' is no document%s", argv[optind],
	        *meant ? meant : ": topo, gid, probe, check, compare, explain, capture, report");
}

const struct command schema_command = {
	.name = "schema",
	.arguments = "DOCUMENT",
	.summary =
	        "Prints the JSON Schema of a document: topo, gid, probe, check, compare, explain, capture or report.",
	.options = (const struct option_help[]){ { 0 } },
	.no_snapshot = "the schema of a document is the same for every host",
	.run = run,
};
