/* SPDX-License-Identifier: MIT */
/* explain: what one code means, from the tables that the verdict uses. */
#include "cmd.h"

#include "verdict/explain_query.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdio.h>

enum { ARENA_SIZE = 1 << 20 };

static void print_explanation(const struct explain_document *document)
{
	printf("%s", document->kind);
	if (document->context)
		printf(" %s", document->context);
	if (document->number.known && document->context && !document->name)
		printf(" 0x%" PRIx64, (uint64_t)document->number.value);
	else if (document->number.known)
		printf(" %" PRId64, document->number.value);
	printf("%s%s\n  %s\n", document->name ? " " : "", document->name ? document->name : "", document->meaning);
	if (document->severity)
		printf("  severity: %s\n", document->severity);
	if (document->next)
		printf("  %s\n", document->next);
	for (uint32_t i = 0; i < document->layers.count; i++)
		printf("%s%s", i ? ", " : "  speaks of: ", document->layers.items[i]);
	printf("%s  source: %s\n", document->layers.count ? "\n" : "", document->source);
}

static const char *status_text(int number)
{
	return ibv_wc_status_str((enum ibv_wc_status)number);
}

static const char *event_text(int number)
{
	return ibv_event_type_str((enum ibv_event_type)number);
}

static int explain(const struct command *command, const char *what, const struct common_options *common)
{
	struct error error = { 0 };
	struct explain_document document;
	struct arena *arena __attribute__((cleanup(arena_freep))) = arena_new(ARENA_SIZE);
	if (!arena) {
		complain("no memory");
		return EXIT_NOTHING;
	}
	struct report report = { .arena = arena };
	static const struct explain_texts texts = { status_text, event_text };
	int result = explain_query(what, &texts, arena, &document, &error);
	if (result == -EINVAL)
		return usage_error(command, "%s", error.text);
	if (result) {
		complain("%s", error.text);
		report_missing(&report, "meaning", "host", 0, "%s", error.text);
	}
	if (common->json)
		print_document("rdmadiag.explain", common, "live", NULL, &explain_record, &document, &report);
	else if (!result)
		print_explanation(&document);
	return result ? EXIT_NOTHING : EXIT_DONE;
}

enum { OPTION_LIST = 256 };

static const struct option_help options[] = {
	{ OPTION_LIST, "list", NULL, "everything that can be explained, a line each" },
	{ 0 },
};

static int list(void)
{
	struct arena *arena __attribute__((cleanup(arena_freep))) = arena_new(ARENA_SIZE);
	struct strings queries = { 0 };
	if (!arena)
		return EXIT_NOTHING;
	explain_queries(arena, &queries);
	for (uint32_t i = 0; i < queries.count; i++)
		puts(queries.items[i]);
	return EXIT_DONE;
}

static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	bool all = false;
	int option;
	while ((option = command_getopt(command, argc, argv, common)) >= 0)
		all |= option == OPTION_LIST;
	if (option != OPTION_END)
		return option_status(option);
	if (all && (optind < argc || common->json))
		return usage_error(command, "--list goes with nothing else");
	if (all)
		return list();
	if (argc - optind > 1)
		return usage_error(
		        command, "one code at a time, as in wc:12; a text of several words stands in quotes");
	if (argc == optind)
		return usage_error(command,
		        "one code is needed, as in wc:12, vendor:mlx5:0x81, errno:RTR:110, event:CQ_ERR, "
		        "finding:ID, counter:NAME, layer:NAME or stage:NAME; --list has all");
	return explain(command, argv[optind], common);
}

const struct command explain_command = {
	.name = "explain",
	.arguments = "WHAT",
	.summary = "Says what a code or a word of a verdict means, and what to look at next.",
	.options = options,
	.no_snapshot = "what a code means is the same on every host",
	.run = run,
};
