/* SPDX-License-Identifier: MIT */
/* What the command line of `probe` asks for. */
#ifndef RDMADIAG_PROBE_ARGUMENTS_H
#define RDMADIAG_PROBE_ARGUMENTS_H

#include "cmd.h"
#include "probe/drill.h"
#include "probe/probe.h"
#include "probe/settings.h"

struct probe_arguments {
	struct probe_settings settings;
	const char *judge, *trace;
	const struct drill *drill;
	bool lists_drills, explains_stages;
	struct arena *arena;
	struct survey survey;
};

extern const struct option_help probe_options[];

/* Into `arguments`, whose arena is set: 0, or the exit status plus one, after a message. */
int probe_parse_arguments(const struct command *command, int argc, char **argv, struct common_options *common,
        struct probe_arguments *arguments);

#endif
