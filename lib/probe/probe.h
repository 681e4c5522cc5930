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
/* Waits for a peer, without a deadline. 0 with the connected socket, -EINTR after a signal, or another negative errno.
 */
int probe_accept(int listening, int *fd);
/*
 * Serves the peer in a watched child. Afterwards run->greeted tells whether it was a probe at all: what does not
 * introduce itself as one is no reason to stop listening.
 */
int probe_serve(struct probe_run *run, int fd);

/* Did the run get as far as an opened device and, where it has a peer, a served connection? */
bool probe_began(const struct evidence *evidence);

#endif
