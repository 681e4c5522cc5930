/* SPDX-License-Identifier: MIT */
/* The signals that ask a program to come to its end: SIGINT, SIGTERM, and SIGHUP when the terminal or ssh goes away. */
#ifndef RDMADIAG_BASE_SIGNALS_H
#define RDMADIAG_BASE_SIGNALS_H

#include <signal.h>

enum { ENDING_SIGNALS = 3 };
extern const int ending_signals[ENDING_SIGNALS];

sigset_t ending_signal_set(void);

/* `handler` gets all of them, but SIGHUP where it is ignored: nohup(1) wants the program to go on. 0 or negative errno.
 */
int catch_ending_signals(void (*handler)(int signal));

#endif
