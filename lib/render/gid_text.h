/* SPDX-License-Identifier: MIT */
/* The GID document as a person reads it. The first columns are those of show_gids, so that pastes stay comparable. */
#ifndef RDMADIAG_RENDER_GID_TEXT_H
#define RDMADIAG_RENDER_GID_TEXT_H

#include "model/gid.h"
#include "model/report.h"

#include <stdbool.h>
#include <stdio.h>

struct gid_print_options {
	bool color;
	bool table;   /* entries and counts */
	bool choices; /* of every consumer; without it rdmadiag's advice stands beside the counts */
	bool changes; /* say so when there is none */
};

/* 0 or negative errno. */
int gid_print(FILE *stream, const struct gid_document *document, const struct report *report,
        const struct gid_print_options *options);

/* One line for a change: "rxe0/1 moved …". */
void gid_print_change(FILE *stream, const struct gid_change *change);

#endif
