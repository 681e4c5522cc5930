/* SPDX-License-Identifier: MIT */
/* A snapshot with pseudonyms in the place of what identifies the node, in its files, links and names of files. */
#ifndef RDMADIAG_REPORT_REDACT_TREE_H
#define RDMADIAG_REPORT_REDACT_TREE_H

#include "base/error.h"
#include "report/pseudonym.h"

/* The name of a host and its parts: node7.example.net is also called node7, and in example.net. 0 or -ENOMEM. */
int redact_note_host(struct pseudonyms *pseudonyms, const char *name);

/* Notes every original of the snapshot in `from`. 0 or negative errno with `error`. */
int redact_collect(struct pseudonyms *pseudonyms, const char *from, struct error *error);

/*
 * Writes the snapshot `from` into the new directory `to`; what redact_collect() noted is replaced in every notation.
 * Device serials and UUIDs become others. 0 or negative errno with `error`.
 */
int redact_tree(struct pseudonyms *pseudonyms, const char *from, const char *to, struct error *error);

#endif
