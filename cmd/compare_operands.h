/* SPDX-License-Identifier: MIT */
/* What compare is given: JSON documents, and snapshots or reports of which it makes documents. */
#ifndef RDMADIAG_CMD_COMPARE_OPERANDS_H
#define RDMADIAG_CMD_COMPARE_OPERANDS_H

#include "base/error.h"

#include <json-c/json.h>
#include <stddef.h>

/*
 * One document for each file. A snapshot gives the document that the JSON beside it is: of topo, gid or check; where
 * there is none, all three in one. 0, or negative errno with `error` that names the file; the caller puts the documents
 * in both cases.
 */
int compare_load(const char *const *files, size_t count, json_object **documents, struct error *error);

#endif
