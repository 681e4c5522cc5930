/* SPDX-License-Identifier: MIT */
/*
 * rdmadiag: looks at the RDMA side of a node and says why.
 *
 * The map of the source:
 *
 *	cmd/            one file a command, ended by its table entry; the only code that prints messages and exits
 *	lib/base/       memory, errors, text formats
 *	lib/model/      plain structs of a host, of GID tables and of a probe's evidence, with their field tables
 *	lib/origin/     this host or a snapshot: the only place that opens files and sockets for collecting
 *	lib/source/     one file a source: sysfs, rdma netlink, rtnetlink, verbs, PCI, NUMA; joined in collect.c
 *	lib/gid/        GID tables: state of entries, the index that each consumer takes
 *	lib/check/      pure functions from the model to findings
 *	lib/probe/      the traced operation: end points, exchange, observers, evidence
 *	lib/verdict/    pure functions from evidence to a verdict; tables of codes and what they mean
 *	lib/render/     tables, JSON, timelines
 *	lib/report/     the archive of `report`: recording, pseudonyms, packing
 *
 * Data flows one way: origin → source → model → check or verdict → render.
 */
#include "cmd.h"

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "options_wrong.h"
#include "process.h"
#include "json/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
	&topo_command,
	&gid_command,
	&probe_command,
	&check_command,
	&report_command,
	&compare_command,
	&capture_command,
	&explain_command,
	&schema_command,
	NULL,
};

enum { OPTION_COLOR = 256 + 1000, OPTION_FROM };

static const struct option_help common_options[] = {
	{ 'j', "json", NULL, "print a JSON document" },
	{ 'p', "pretty", NULL, "indent the JSON" },
	{ OPTION_FROM, "from", "SNAPSHOT", "look at a captured machine (directory or archive) instead of this host" },
	{ OPTION_COLOR, "color", "WHEN", "auto, always or never" },
	{ 'h', "help", NULL, "show this help" },
	{ 'V', "version", NULL, "show the version" },
	{ 0 },
};

/* Was a document to be printed that could not be made? */
static bool document_lost;

/* ---- messages ---- */

/* What was typed, or stands in a file, may hold anything: a terminal gets none of its control characters. */
__attribute__((format(printf, 2, 0))) static void vcomplain_of(const char *who, const char *format, va_list args)
{
	autofree char *text = NULL;
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	autofree char *plain = text ? text_for_terminal(text) : NULL;
	fprintf(stderr, "%s: %s\n", who, plain ? plain : "no memory");
}

void complain_of(const char *who, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vcomplain_of(who, format, args);
	va_end(args);
}

void complain(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vcomplain_of("rdmadiag", format, args);
	va_end(args);
}

/* Of the whole program where `command` is NULL. */
static const char *name_of(const struct command *command, char name[static 64])
{
	snprintf(name, 64, "rdmadiag%s%s", command ? " " : "", command ? command->name : "");
	return name;
}

static void point_to_help(const struct command *command)
{
	char name[64];
	fprintf(stderr, "Try '%s --help'.\n", name_of(command, name));
}

int usage_error(const struct command *command, const char *format, ...)
{
	char name[64];
	va_list args;
	va_start(args, format);
	vcomplain_of(name_of(command, name), format, args);
	va_end(args);
	point_to_help(command);
	return EXIT_USAGE;
}

/* ---- help ---- */

static void print_options(const struct command *command, const struct option_help *options)
{
	for (const struct option_help *option = options; option && option->name; option++) {
		if (option->value == OPTION_FROM && command && command->no_snapshot)
			continue;
		char left[64], letter[8] = "    ";
		if (option->value < 256)
			snprintf(letter, sizeof(letter), "-%c, ", option->value);
		const char *argument = option->argument ? option->argument : "";
		const char *separator = !option->argument ? "" : *argument == '[' ? "" : " ";
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, option->name, separator, argument);
		printf("  %-30s %s\n", left, option->help);
	}
}

static void print_command_help(const struct command *command)
{
	printf("Usage: rdmadiag %s [OPTION]...%s%s\n\n%s\n\n", command->name, *command->arguments ? " " : "",
	        command->arguments, command->summary);
	print_options(command, command->options);
	printf("%s", command->options && command->options->name ? "\n" : "");
	print_options(command, common_options);
}

static void print_help(void)
{
	printf("Usage: rdmadiag [OPTION]... COMMAND [ARGUMENT]...\n\n"
	       "Maps RDMA devices to netdevs, PCI and NUMA, explains GID tables, and traces a short\n"
	       "operation to say which layer a stall belongs to.\n\n");
	for (const struct command *const *command = commands; *command; command++)
		printf("  %-10s %s\n", (*command)->name, (*command)->summary);
	printf("\n");
	print_options(NULL, common_options);
	printf("\n'rdmadiag COMMAND --help' or 'rdmadiag help COMMAND' shows the options of a command.\n");
}

/* ---- options ---- */

enum { OPTIONS_LIMIT = 64 };

/* The getopt tables of one parse: long options and the string of letters. */
struct option_tables {
	struct option options[OPTIONS_LIMIT];
	size_t count;
	char letters[OPTIONS_LIMIT * 3];
	size_t length;
};

static void add_options(struct option_tables *tables, const struct option_help *from)
{
	for (; from && from->name && tables->count < OPTIONS_LIMIT - 1; from++) {
		int takes = !from->argument          ? no_argument
		            : *from->argument == '[' ? optional_argument
		                                     : required_argument;
		tables->options[tables->count++] = (struct option){ from->name, takes, NULL, from->value };
		if (from->value >= 256)
			continue;
		tables->letters[tables->length++] = (char)from->value;
		for (int colons = takes; colons > 0; colons--) /* required_argument is 1, optional_argument 2 */
			tables->letters[tables->length++] = ':';
	}
}

static int set_color(const char *when, enum color_mode *color)
{
	static const char *const names[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(when, names[i])) {
			*color = (enum color_mode)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Handles a common option: 0 when it was one and is done, otherwise what command_getopt returns. */
static int common_option(const struct command *command, int value, struct common_options *common)
{
	switch (value) {
	case 'j':
		common->json = true;
		return 0;
	case 'p':
		common->json = common->pretty = true;
		return 0;
	case OPTION_FROM:
		common->from = optarg;
		if (strcmp(optarg, "-") != 0)
			return 0;
		complain("--from: standard input is not read; an archive has to be a file (./- is one of that name)");
		return OPTION_WRONG;
	case OPTION_COLOR:
		if (!set_color(optarg, &common->color))
			return 0;
		complain("--color: '%s' is none of auto, always, never", optarg);
		return OPTION_WRONG;
	case 'h':
		if (command)
			print_command_help(command);
		else
			print_help();
		return OPTION_SHOWN;
	case 'V':
		printf("rdmadiag %s\n", RDMADIAG_VERSION);
		return OPTION_SHOWN;
	default:
		return value;
	}
}

/* An empty word where a file is named comes from a variable that is not set; it would be a file without a name below.
 */
static bool lacks_name(const struct option_help *options, int value)
{
	for (; options && options->name; options++)
		if (options->value == value)
			return options->argument && optarg && !*optarg &&
			       (!strcmp(options->argument, "FILE") || !strcmp(options->argument, "SNAPSHOT"));
	return false;
}

/* The next option, -1 at the end, or OPTION_WRONG after a message. */
static int next_option(const struct command *command, int argc, char **argv, const struct option_tables *tables)
{
	opterr = 0;
	int value = getopt_long(argc, argv, tables->letters, tables->options, NULL);
	if (value < 0)
		return value;
	char name[64];
	if (value == '?' || value == ':') {
		tell_wrong_option(
		        name_of(command, name), tables->options, value, command ? command->arguments : "", argv);
	} else if (optarg && optarg == argv[optind - 1] && !strncmp(optarg, "--", 2) && optarg[2]) {
		/* getopt_long(3) takes the next option for the argument; --to=--x is how one may really begin so. */
		complain_of(name_of(command, name), "--%s needs an argument, and '%s' follows it",
		        long_option_name(tables->options, value), optarg);
	} else if (lacks_name(common_options, value) || lacks_name(command ? command->options : NULL, value)) {
		complain_of(
		        name_of(command, name), "--%s: the name is empty", long_option_name(tables->options, value));
	} else {
		return value;
	}
	point_to_help(command);
	return OPTION_WRONG;
}

int command_getopt(const struct command *command, int argc, char **argv, struct common_options *common)
{
	struct option_tables tables = { .letters = ":", .length = 1 }; /* ":": tell a missing argument from no option */
	add_options(&tables, common_options);
	add_options(&tables, command->options);
	int value = 0;
	while (value == 0) {
		value = next_option(command, argc, argv, &tables);
		if (value >= 0)
			value = common_option(command, value, common);
	}
	if (value != OPTION_END || !common->from || !command->no_snapshot)
		return value;
	usage_error(command, "--from: %s", command->no_snapshot);
	return OPTION_WRONG;
}

int option_status(int option)
{
	return option == OPTION_SHOWN ? EXIT_DONE : EXIT_USAGE;
}

/* ---- what commands share ---- */

int split_port(const struct command *command, char *operand, int64_t *port)
{
	char *slash = strrchr(operand, '/');
	if (!*operand || slash == operand)
		return usage_error(command, "'%s' names no device", operand);
	if (!slash)
		return 0;
	/* RDMA_NLDEV_ATTR_PORT_INDEX has 32 bits. */
	if (parse_number(slash + 1, 10, port) || *port < 1 || *port > UINT32_MAX)
		return usage_error(command, "'%s': '%s' is no port number", operand, slash + 1);
	*slash = '\0';
	return 0;
}

struct origin *open_origin(const struct common_options *common, struct error *error)
{
	struct origin *origin;
	if (common->from) {
		origin = origin_snapshot(common->from, error);
	} else {
		origin = origin_live();
		if (!origin)
			error_set(error, -ENOMEM, "this host");
	}
	if (!origin)
		complain("%s", error->text);
	return origin;
}

/* Untouched until there is nothing left but to say so: it may be address space that is missing (RLIMIT_AS). */
static void *reserve;

void print_empty_document(
        const char *schema, const struct common_options *common, const struct record *record, const struct error *error)
{
	free(reserve);
	reserve = NULL;
	autocall(arena_freep) struct arena *arena = arena_new(1 << 16);
	autofree void *document = calloc(1, record->size);
	if (!arena || !document) {
		document_lost = true;
		return;
	}
	struct report report = { .arena = arena };
	report_missing(&report, "origin", "host", error->code, "%s", error->text);
	print_document(schema, common, common->from ? "snapshot" : "live", NULL, record, document, &report);
}

struct origin *open_origin_for(const struct common_options *common, const char *schema, const struct record *record)
{
	struct error error = { 0 };
	struct origin *origin = open_origin(common, &error);
	if (!origin && common->json)
		print_empty_document(schema, common, record, &error);
	return origin;
}

int print_document(const char *schema, const struct common_options *common, const char *origin,
        const struct host_facts *facts, const struct record *record, const void *document, const struct report *report)
{
	json_object *object = document_to_json(schema, origin, facts, record, document, report);
	autofree char *text = object ? json_text(object, common->pretty) : NULL;
	json_object_put(object);
	if (!text) {
		document_lost = true;
		return -ENOMEM;
	}
	fputs(text, stdout);
	return 0;
}

bool use_color(const struct common_options *common)
{
	if (common->color != COLOR_AUTO)
		return common->color == COLOR_ALWAYS;
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
	bool can = terminal && *terminal && strcmp(terminal, "dumb") != 0;
	return can && !(no_color && *no_color) && isatty(STDOUT_FILENO);
}

int finish_output(int status)
{
	bool written = !fflush(stdout) && !ferror(stdout);
	if (written && !document_lost)
		return status;
	complain("%s: %s", written ? "the document" : "standard output", strerror(written ? ENOMEM : errno));
	document_lost = false;
	return status == EXIT_INTERRUPTED ? status : EXIT_NOTHING;
}

/* ---- main ---- */

static const struct command *find_command(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (!strcmp((*command)->name, name))
			return *command;
	return NULL;
}

static int unknown_command(const char *word)
{
	struct nearest nearest = { .typed = word };
	for (const struct command *const *command = commands; *command; command++)
		nearest_try(&nearest, (*command)->name, NULL);
	const char *meant = nearest_text(&nearest);
	complain("'%s' is no command%s 'rdmadiag --help' lists them", word, *meant ? meant : ";");
	return EXIT_USAGE;
}

/* What many programs offer beside --help, and so is typed. */
static int run_help(const struct command *command, int argc, char **argv, struct common_options *common)
{
	int option = command_getopt(command, argc, argv, common);
	if (option != OPTION_END)
		return option_status(option);
	if (argc - optind > 1)
		return usage_error(command, "more than one command");
	const struct command *wanted = optind < argc ? find_command(argv[optind]) : NULL;
	if (optind < argc && !wanted)
		return unknown_command(argv[optind]);
	if (wanted)
		print_command_help(wanted);
	else
		print_help();
	return EXIT_DONE;
}

static const struct command help_command = {
	.name = "help",
	.arguments = "[COMMAND]",
	.summary = "Shows the options of a command, as COMMAND --help does.",
	.no_snapshot = "the help is the same on every host",
	.run = run_help,
};

static int run_command(int argc, char **argv, struct common_options *common)
{
	const struct command *command = strcmp(argv[0], "help") ? find_command(argv[0]) : &help_command;
	if (!command)
		return unknown_command(argv[0]);
	optind = 0; /* GNU getopt: start anew, its own state included */
	return finish_output(command->run(command, argc, argv, common));
}

int main(int argc, char **argv)
{
	process_prepare();
	reserve = malloc(1 << 20);
	struct common_options common = { 0 };
	struct option_tables tables = { .letters = "+:", .length = 2 }; /* "+": stop at the command */
	add_options(&tables, common_options);
	for (int value; (value = next_option(NULL, argc, argv, &tables)) != OPTION_END;) {
		value = value >= 0 ? common_option(NULL, value, &common) : value;
		if (value)
			return finish_output(option_status(value));
	}
	if (optind == argc) {
		complain("a command is missing; 'rdmadiag --help' lists them");
		return EXIT_USAGE;
	}
	return run_command(argc - optind, argv + optind, &common);
}
