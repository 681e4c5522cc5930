/* SPDX-License-Identifier: MIT */
/* Runs a command of this program in a process of its own, its output in files or in memory. */
#ifndef RDMADIAG_CMD_RUN_COMMAND_H
#define RDMADIAG_CMD_RUN_COMMAND_H

#include "cmd.h"

enum { RUN_ARGUMENTS_LIMIT = 8 };

struct command_run {
	const struct command *command;
	const char *arguments[RUN_ARGUMENTS_LIMIT]; /* behind the command's name, ended by NULL */
	const char *output, *errors;                /* files that are written */
	int64_t deadline_ms;                        /* by clock_ms(); 0: a minute from now */
	int grace_ms; /* before it, the command is asked to end (SIGINT) and may say what it knows */
};

/*
 * The exit status of the command, or a negative errno: -ETIMEDOUT when it was given up, -EINTR after a signal
 * (run_command_signals() has them noticed), -EIO when it died, and that of writing its output.
 */
int run_command_in_process(const struct command_run *run, const struct common_options *common);

/*
 * The same with what the command prints in malloc'ed memory, a NUL behind it, and its messages nowhere; `output` and
 * `errors` of `run` are not looked at. No file system takes part, so that a full or read-only one costs nothing.
 */
int run_command_in_memory(
        const struct command_run *run, const struct common_options *common, char **text, size_t *length);

/* What is wrong with a command whose status is such a negative errno, as what follows its name: "died". */
const char *run_command_failure(int status);

/*
 * From now on the signals that would end the process are noted instead, so that temporary files can be removed; where
 * nobody reads standard output any more, writing fails.
 */
void run_command_signals(void);
bool run_command_interrupted(void);

#endif
