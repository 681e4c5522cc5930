/* SPDX-License-Identifier: MIT */
/* What the commands share: the table entry that ends each command's file, the common options, and the exit statuses. */
#ifndef RDMADIAG_CMD_H
#define RDMADIAG_CMD_H

#include "base/error.h"
#include "model/host.h"
#include "model/record.h"
#include "model/report.h"
#include "origin/origin.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FOUND = 1, /* probe failed, check found something, compare found a difference */
	EXIT_USAGE = 2,
	EXIT_NOTHING = 3, /* nothing could be collected */
	EXIT_INTERRUPTED = 130,
};

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct common_options {
	bool json, pretty;
	const char *from;   /* snapshot, NULL: this host */
	const char *probes; /* directory of a report in the making: its probes; NULL: none */
	enum color_mode color;
};

/* One option of a command; help and getopt tables are made from the same entries. */
struct option_help {
	int value;            /* what getopt_long returns: a letter, or a number from 256 on */
	const char *name;     /* long name */
	const char *argument; /* NULL: takes none; "[X]": optional */
	const char *help;
};

struct command {
	const char *name;
	const char *arguments;             /* for the usage line */
	const char *summary;               /* one line */
	const struct option_help *options; /* ended by an entry without name */
	const char *no_snapshot;           /* why --from is wrong usage, NULL: it is not */
	/*
	 * Parses its own arguments with command_getopt() and returns an exit status. argv[0] is the command's name.
	 */
	int (*run)(const struct command *command, int argc, char **argv, struct common_options *common);
};

extern const struct command capture_command;
extern const struct record capture_record; /* the document of `capture` */
extern const struct command topo_command, gid_command, probe_command, compare_command, schema_command, check_command;
extern const struct command explain_command, report_command;

/*
 * The next option of this command: its value, or -1 at the end (then optind is the first operand), or -2 after an error
 * was printed, or -3 when help or the version was asked for and printed. Common options are handled inside. Options may
 * stand before and after operands.
 */
int command_getopt(const struct command *command, int argc, char **argv, struct common_options *common);
enum { OPTION_END = -1, OPTION_WRONG = -2, OPTION_SHOWN = -3 };
/* The exit status that belongs to OPTION_WRONG or OPTION_SHOWN. */
int option_status(int option);

/* Prints "rdmadiag: message" on standard error. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);
/* The same after another name than the program's alone. */
__attribute__((format(printf, 2, 3))) void complain_of(const char *who, const char *format, ...);
/* Prints a usage error that names the command and returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int usage_error(const struct command *command, const char *format, ...);

/*
 * Cuts "DEV/PORT" behind DEV; `port` is left alone where there is none. 0, or the exit status after a usage error was
 * printed.
 */
int split_port(const struct command *command, char *operand, int64_t *port);

/* Opens the snapshot of --from, or this host. NULL after a message. */
struct origin *open_origin(const struct common_options *common, struct error *error);
/* The same; with --json an empty document of `record` is printed when it fails, with the reason. */
struct origin *open_origin_for(const struct common_options *common, const char *schema, const struct record *record);
/* The document of a command that could collect nothing: every fact of `record` unknown, and why. */
void print_empty_document(const char *schema, const struct common_options *common, const struct record *record,
        const struct error *error);

/*
 * Prints the document of a command: envelope and own part. `report` may be NULL. Returns 0 or -ENOMEM; what is wrong
 * with standard output is told once, when the command has ended (finish_output()).
 */
int print_document(const char *schema, const struct common_options *common, const char *origin,
        const struct host_facts *facts, const struct record *record, const void *document, const struct report *report);

/* Is text on standard output coloured? --color, NO_COLOR, TERM, and whether it is a terminal decide. */
bool use_color(const struct common_options *common);

/*
 * Flushes standard output. A write error (disk full, closed pipe) becomes a message and EXIT_NOTHING, whatever the
 * command found: nobody has read it. What was interrupted stays so.
 */
int finish_output(int status);

#endif
