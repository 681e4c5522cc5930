/* SPDX-License-Identifier: MIT */
/* One run of the probe from request to evidence, in the role that the request names. */
#ifndef RDMADIAG_PROBE_PROBE_H
#define RDMADIAG_PROBE_PROBE_H

#include "probe/listener.h"
#include "probe/run.h"

#include <stdbool.h>

/* Loopback, two devices or initiator: runs in a watched child, fills run->document.evidence. 0 or negative errno. */
int probe_run(struct probe_run *run);

/*
 * Serves the peer in a watched child. Afterwards run->greeted tells whether it was a probe at all: what does not
 * introduce itself as one is no reason to stop listening.
 */
int probe_serve(struct probe_run *run, struct listener *listener, int fd);

/* Did the run get as far as an opened device and, where it has a peer, a served connection? */
bool probe_began(const struct evidence *evidence);

#endif
