/* SPDX-License-Identifier: MIT */
/* compare: what differs between nodes, and which is the odd one out. */
#include "cmd.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "compare/compare.h"
#include "compare/flatten.h"
#include "compare_operands.h"
#include "json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENTS_LIMIT = 4096, ARENA_SIZE = 256 << 20 };

static void free_documents(json_object **documents, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_object_put(documents[i]);
	free(documents);
}

/* "fw_version of devices[mlx5_0]" would need a grammar; the path itself is what `jq` users know. */
static void print_plain(const char *text)
{
	autofree char *plain = text_for_terminal(text);
	fputs(plain ? plain : "", stdout);
}

/* An object has no value of its own: it is there, or not. malloc'ed */
static char *shown_value(const struct compared_value *value)
{
	autofree char *there = NULL;
	if (value->traits && asprintf(&there, "(there: %s)", value->traits) < 0)
		there = NULL;
	if (!value->value)
		return text_for_terminal("(not there)");
	return text_for_terminal(strcmp(value->value, filled_object) ? value->value : there ? there : "(there)");
}

enum { NARROW = 24, WIDE = 72, NAMES_LIMIT = 8, NAMES_SHOWN = 3 };

/* Of the column of values: nothing that is longer than WIDE pushes the others away. */
static int width_of(const struct difference *difference)
{
	size_t width = NARROW;
	list_each(value, &difference->values) {
		autofree char *shown = shown_value(value);
		size_t length = shown ? strlen(shown) : 0;
		width = length > width && length <= WIDE ? length : width;
	}
	return (int)width;
}

/* Bytes of the directories that all names begin with: who compares the files of one directory knows it. */
static size_t common_directories(const struct comparison *comparison)
{
	const char *first = comparison->documents.items[0]->name;
	size_t length = strlen(first);
	list_each(document, &comparison->documents) {
		size_t same = 0;
		while (same < length && document->name[same] == first[same])
			same++;
		length = same;
	}
	while (length && first[length - 1] != '/')
		length--;
	return length;
}

/* Most nodes are alike: of many that have the commonest value the first few stand for all. */
static void print_names(const struct strings *names, size_t directories, bool commonest)
{
	uint32_t shown = commonest && names->count > NAMES_LIMIT ? NAMES_SHOWN : names->count;
	for (uint32_t i = 0; i < shown; i++) {
		fputs(i ? ", " : "", stdout);
		print_plain(names->items[i] + directories);
	}
	if (shown < names->count)
		printf(" and %u more", names->count - shown);
}

static void print_difference(const struct difference *difference, size_t directories)
{
	int width = width_of(difference);
	print_plain(difference->path);
	list_each(value, &difference->values) {
		autofree char *shown = shown_value(value);
		printf("\n    %-*s ", width, shown ? shown : "");
		print_names(&value->documents, directories, !value_index);
		fputs(difference->odd_one_out && value_index ? "   <- odd one out" : "", stdout);
	}
	fputc('\n', stdout);
}

/* The device whose PCI address differs; malloc'ed. NULL: it is another difference. */
static char *device_of(const struct difference *difference)
{
	static const char begin[] = "devices[", end[] = "].pci.address";
	const char *name = difference->path + strlen(begin);
	if (strncmp(difference->path, begin, strlen(begin)) != 0 || strcmp(name + strcspn(name, "]"), end) != 0)
		return NULL;
	return strndup(name, strcspn(name, "]"));
}

/* What the commonest value is the same address of; NULL: a device has that name in all documents, or none is there. */
static const struct difference *with_usual_address(const struct comparison *comparison, const char *address)
{
	list_each(difference, &comparison->differences) {
		autofree char *device = device_of(difference);
		const char *usual = difference->values.count ? difference->values.items[0]->value : NULL;
		if (device && usual && !strcmp(usual, address))
			return difference;
	}
	return NULL;
}

/* "0000:47:00.0 is mlx5_0 on n6, mlx5_3 on n1, n2"; an address is a text of JSON, in quotes. */
static void print_names_of_address(
        const struct compared_value *value, const char *device, const struct difference *usual, size_t directories)
{
	autofree char *other = device_of(usual), *address = NULL;
	size_t quoted = strlen(value->value);
	if (other && quoted > 2)
		address = strndup(value->value + 1, quoted - 2);
	if (!address)
		return;
	fputs("    ", stdout);
	print_plain(address);
	fputs(" is ", stdout);
	print_plain(device);
	fputs(" on ", stdout);
	print_names(&value->documents, directories, false);
	fputs(", ", stdout);
	print_plain(other);
	fputs(" on ", stdout);
	print_names(&usual->values.items[0]->documents, directories, true);
	fputc('\n', stdout);
}

/* Devices are named in the order in which drivers find them: one cause of all that then differs by name. */
static void print_renamed(const struct comparison *comparison, size_t directories)
{
	bool any = false;
	list_each(difference, &comparison->differences) {
		autofree char *device = device_of(difference);
		list_each(value, &difference->values) {
			const struct difference *usual = device && value_index && value->value
			                                         ? with_usual_address(comparison, value->value)
			                                         : NULL;
			if (!usual)
				continue;
			fputs(any ? "" : "\nDevices at the same PCI address have other names:\n", stdout);
			any = true;
			print_names_of_address(value, device, usual, directories);
		}
	}
}

static void print_comparison(const struct comparison *comparison)
{
	if (!comparison->differences.count) {
		printf("%u documents, no difference\n", comparison->documents.count);
		return;
	}
	size_t directories = common_directories(comparison);
	list_each(difference, &comparison->differences)
		print_difference(difference, directories);
	printf("\n%u documents, %u difference%s\n", comparison->documents.count, comparison->differences.count,
	        plural(comparison->differences.count));
	list_each(document, &comparison->documents)
		if (document->odd.value) {
			print_plain(document->name + directories);
			printf(" is the odd one out in %" PRId64 " of them\n", document->odd.value);
		}
	print_renamed(comparison, directories);
}

static int compare_files(const char *const *files, size_t count, const struct common_options *common)
{
	struct error error = { 0 };
	autocall(arena_freep) struct arena *arena = arena_new(ARENA_SIZE);
	json_object **documents = calloc(count, sizeof(json_object *));
	struct comparison comparison = { 0 };
	struct report report = { .arena = arena };
	int result = arena && documents ? compare_load(files, count, documents, &error)
	                                : error_set(&error, -ENOMEM, "comparing");
	if (!result)
		result = compare_documents(documents, files, count, arena, &comparison, &error);
	if (documents)
		free_documents(documents, count);
	if (result) {
		complain("%s", error.text);
		if (arena)
			report_missing(&report, "documents", "host", result, "%s", error.text);
	}
	if (common->json)
		print_document("rdmadiag.compare", common, "snapshot", NULL, &comparison_record, &comparison, &report);
	else if (!result)
		print_comparison(&comparison);
	if (result == -EINTR)
		return EXIT_INTERRUPTED;
	return result ? EXIT_NOTHING : comparison.differences.count ? EXIT_FOUND : EXIT_DONE;
}

static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	int option = command_getopt(command, argc, argv, common);
	if (option != OPTION_END)
		return option_status(option);
	if (argc - optind < 2)
		return usage_error(command, "at least two documents, reports or snapshots are needed");
	if (argc - optind > DOCUMENTS_LIMIT)
		return usage_error(command, "more than %d documents", DOCUMENTS_LIMIT);
	int from_stdin = 0;
	for (int i = optind; i < argc; i++) {
		from_stdin += !strcmp(argv[i], "-");
		if (!*argv[i])
			return usage_error(command, "the name of document %d is empty", i - optind + 1);
	}
	if (from_stdin > 1)
		return usage_error(command, "standard input can be read only once");
	return compare_files((const char *const *)argv + optind, (size_t)(argc - optind), common);
}

const struct command compare_command = {
	.name = "compare",
	.arguments = "A B...",
	.summary = "Shows what differs between nodes (JSON documents, reports, snapshots), and the odd one out.",
	.options = (const struct option_help[]){ { 0 } },
	.no_snapshot = "snapshots and reports are operands, as documents are",
	.run = run,
};
