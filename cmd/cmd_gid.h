/* SPDX-License-Identifier: MIT */
/* The two halves of `gid`: one look at the tables, and following them. */
#ifndef RDMADIAG_CMD_GID_H
#define RDMADIAG_CMD_GID_H

#include "cmd.h"
#include "gid/path.h"
#include "gid/read.h"
#include "model/gid.h"

struct gid_request {
	const char *device; /* as given, NULL: all */
	int64_t port;       /* 0: all */
	const char *to, *diff;
	bool all, explain, watch;
	enum gid_source source;
};

/* One look: the host and its judged tables. Freed with gid_look_free(). */
struct gid_look {
	struct host *host;
	struct gid_document *document; /* in host->arena */
	struct gid_path *path;         /* with --to */
	struct gid_settings *settings; /* with --explain, in host->arena */
};

/* 0, or what collect_host() returned, with `error`; the look is valid in any case but -ENOMEM. */
int gid_look(struct origin *origin, const struct gid_request *request, struct gid_look *look, struct error *error);
void gid_look_free(struct gid_look *look);

/* Follows changes until SIGINT or SIGTERM; returns an exit status. */
int gid_watch(struct origin *origin, const struct gid_request *request, const struct common_options *common);

#endif
