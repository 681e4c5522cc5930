/* SPDX-License-Identifier: MIT */
/* The probe's document as a person reads it: the verdict, the ladder of stages, what else was recorded. */
#ifndef RDMADIAG_RENDER_PROBE_TEXT_H
#define RDMADIAG_RENDER_PROBE_TEXT_H

#include "model/evidence.h"

#include <stdbool.h>
#include <stdio.h>

struct probe_print_options {
	bool color;
	bool unicode; /* box characters; false: ASCII. probe_print_unicode() tells what the locale allows */
	bool verbose; /* every operation, every set-up step, every counter */
};

/* Prints everything; the same document and options always give the same text. 0 or negative errno (write error). */
int probe_print(FILE *stream, const struct probe_document *document, const struct probe_print_options *options);

/* Does the user's locale write UTF-8? */
bool probe_print_unicode(void);

#endif
