/* SPDX-License-Identifier: MIT */
/* What is wrong with an option that getopt_long(3) did not take. Its own messages print what was typed as it is. */
#ifndef RDMADIAG_CMD_OPTIONS_WRONG_H
#define RDMADIAG_CMD_OPTIONS_WRONG_H

#include <getopt.h>

/* `who` begins the message; `value` is what getopt_long(3) returned, ':' or '?'; `operands` as in the usage line. */
void tell_wrong_option(const char *who, const struct option *options, int value, const char *operands, char **argv);
/* NULL: no option has that value. */
const char *long_option_name(const struct option *options, int value);

#endif
