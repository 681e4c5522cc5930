/* SPDX-License-Identifier: MIT */
/* What the traced child does, for each role. Each fills the evidence; 0 or the first negative errno. */
#ifndef RDMADIAG_PROBE_SESSION_H
#define RDMADIAG_PROBE_SESSION_H

#include "probe/run.h"

/* Both ends in this process: two QPs of one device, or of two. */
int session_local(struct probe_run *run);
/* The initiator: connects to a listener. */
int session_initiator(struct probe_run *run);
/* The target: serves the peer at the other end of `fd`, which stays open. */
int session_target(struct probe_run *run, int fd);

/* ---- parts that the roles share ---- */

struct endpoint;
struct transfer;

/* Sizes where none were asked for: a small one and one that needs several packets. */
int session_default_sizes(struct probe_run *run, int64_t active_mtu);
/* Records which stages can be seen, and why others cannot. */
void session_observers(struct probe_run *run, const struct endpoint *endpoint, const char *payload);
/* The same of the device's own view, once it was asked or was not. */
void session_device(struct probe_run *run, const struct endpoint *endpoint);
/* Sleeps `ns`, less when an end is asked for. */
void session_sleep(const struct probe_run *run, int64_t ns);

#endif
