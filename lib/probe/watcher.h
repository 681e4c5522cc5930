/* SPDX-License-Identifier: MIT */
/*
 * The traced work in a child, followed by this process, which never makes a verbs call itself and so can always tell
 * what is known: at a step's deadline, after a signal, when the child crashed.
 */
#ifndef RDMADIAG_PROBE_WATCHER_H
#define RDMADIAG_PROBE_WATCHER_H

#include "probe/run.h"

#include <poll.h>
#include <stddef.h>

/* From now on SIGINT, SIGTERM and SIGHUP (unless ignored) are noted, and wake the waits below. 0 or negative errno. */
int watcher_signals(void);
/* The signal that came since; 0: none. */
int watcher_signal(void);
/* poll(2) that a watched signal ends: how many are ready, -EINTR, or another negative errno. */
int watcher_wait(struct pollfd *entries, size_t count, int timeout_ms);

/*
 * Runs `job` in a child and returns when it ended, or when it was given up: killed, and not waited for where the kernel
 * does not let go of it. What it stored in the run is all there is then; run->step tells what it was doing. 0, or a
 * negative errno when there could be no child.
 */
int watcher_run(struct probe_run *run, int (*job)(struct probe_run *run, int fd), int fd);

#endif
