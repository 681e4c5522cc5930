/* SPDX-License-Identifier: MIT */
/* Names inside a snapshot that its reader (snapshot.c) and its writer (recorder.c) share; origin.h documents the form.
 */
#ifndef RDMADIAG_ORIGIN_FORMAT_H
#define RDMADIAG_ORIGIN_FORMAT_H

#include "base/error.h"
#include "origin/origin.h"
#include "origin/tree.h"

#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#define SNAPSHOT_ERRORS "errors"
#define SNAPSHOT_NAMES "names"
#define SNAPSHOT_PROCESS "process.json"
#define SNAPSHOT_CUDA "cuda.json"
#define SNAPSHOT_HWLOC "hwloc.json"
#define SNAPSHOT_SETTINGS "settings.json"
#define SNAPSHOT_FILTERS "filters.json"
#define SNAPSHOT_HOST "host.json"
#define SNAPSHOT_VERBS "verbs"
#define SNAPSHOT_NETLINK "netlink"
#define SNAPSHOT_MAD "umad"

/* In verbs/DEVICE.json, cuda.json, hwloc.json and filters.json, where there was no answer: an object with "errno" and
 * "text". */
#define SNAPSHOT_FAILURE "error"

enum {
	SNAPSHOT_FILE_LIMIT = 64 << 20,     /* bytes of one file */
	SNAPSHOT_ARCHIVE_LIMIT = 256 << 20, /* bytes of all files of an archive */
};

/* umad/NODE.ATTRIBUTE.MODIFIER; false: that is no name of a node. */
static inline bool mad_path(const struct mad_request *request, char *path, size_t size)
{
	int length = snprintf(path, size, SNAPSHOT_MAD "/%s.%04x.%08x", request->node, (unsigned int)request->attribute,
	        (unsigned int)request->modifier);
	return length > 0 && (size_t)length < size && !strchr(request->node, '/');
}

static inline const char *protocol_name(int protocol)
{
	switch (protocol) {
	case NETLINK_RDMA:
		return "rdma";
	case NETLINK_ROUTE:
		return "route";
	case NETLINK_GENERIC:
		return "generic";
	default:
		return "other";
	}
}

/* Reads an archive into `tree` (archive.c). `path` names it in errors; `fd` stays the caller's. 0 or negative errno. */
int archive_load(struct tree *tree, int fd, const char *path, struct error *error);

#endif
