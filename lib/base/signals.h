/* SPDX-License-Identifier: MIT */
/* The signals that ask a program to come to its end: SIGINT, SIGTERM, and SIGHUP when the terminal or ssh goes away. */
#ifndef RDMADIAG_BASE_SIGNALS_H
#define RDMADIAG_BASE_SIGNALS_H

#include <poll.h>
#include <signal.h>
#include <stdint.h>

enum { ENDING_SIGNALS = 3 };
extern const int ending_signals[ENDING_SIGNALS];

sigset_t ending_signal_set(void);

/* `handler` gets all of them, but SIGHUP where it is ignored: nohup(1) wants the program to go on. 0 or negative errno.
 */
int catch_ending_signals(void (*handler)(int signal));

/*
 * ppoll(2): how many are ready, -EINTR, or another negative errno where the call was refused (a sandbox may do that).
 * Then it slept a little, so that a loop around it does not spin. A negative time is none.
 */
int poll_with_signals(struct pollfd *entries, nfds_t count, int64_t timeout_ms, const sigset_t *mask);

#endif
