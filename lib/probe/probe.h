/* SPDX-License-Identifier: MIT */
/* One run of the probe from request to evidence, in the role that the request names. */
#ifndef RDMADIAG_PROBE_PROBE_H
#define RDMADIAG_PROBE_PROBE_H

#include "probe/run.h"

#include <stdbool.h>

/* Loopback, two devices or initiator: runs in a watched child, fills run->document.evidence. 0 or negative errno. */
int probe_run(struct probe_run *run);

/* A socket that peers connect to. `address`: what it listens on, for people. 0 or negative errno with `error`. */
int probe_listen(const struct probe_settings *settings, int *fd, char *address, size_t size, struct error *error);
/*
 * Waits for one peer (no deadline; -EINTR after a signal), then serves it in a watched child. `run` is new for each.
 */
int probe_serve(struct probe_run *run, int listening_fd);

/* Did the run get as far as an opened device and, where it has a peer, a served connection? */
bool probe_began(const struct probe_run *run);

#endif
