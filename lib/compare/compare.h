/* SPDX-License-Identifier: MIT */
/*
 * What differs between documents of the same kind from several nodes, and which node is the odd one out.
 *
 * Elements of lists are matched by what names them (a device by its name, a port by its number, a GID by its index),
 * not by their position. Values that differ between healthy nodes by nature are left out: GUIDs, addresses, interface
 * indexes, LIDs, times, and the calling process.
 */
#ifndef RDMADIAG_COMPARE_COMPARE_H
#define RDMADIAG_COMPARE_COMPARE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "model/record.h"

#include <json-c/json.h>

struct compared_value {
	const char *value;  /* compact JSON; NULL: the document has no such thing */
	const char *traits; /* of an object that others lack: what all that have it say of it; NULL: nothing */
	struct strings documents;
};

struct difference {
	const char *path;
	LIST(struct compared_value) values; /* most frequent first */
	const char *odd_one_out;            /* the one document that disagrees with all others, NULL: not one */
};

struct compared_document {
	const char *name; /* file name, or the host name where that tells documents apart */
	const char *file, *hostname;
	struct num odd; /* in how many differences it is the odd one out */
};

struct comparison {
	LIST(struct compared_document) documents;
	LIST(struct difference) differences;
	const char *odd_one_out; /* the document that is it most often, NULL: none, or a tie */
};

extern const struct record comparison_record;

/*
 * Compares `count` parsed documents. All must have the same "schema" and "version"; otherwise -EINVAL with `error`.
 * -ENOMEM without memory.
 */
int compare_documents(json_object *const *documents, const char *const *files, size_t count, struct arena *arena,
        struct comparison *comparison, struct error *error);

#endif
