/* SPDX-License-Identifier: MIT */
#include "base/signals.h"

#include <errno.h>
#include <stddef.h>

const int ending_signals[ENDING_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

sigset_t ending_signal_set(void)
{
	sigset_t set;
	sigemptyset(&set);
	for (int i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(&set, ending_signals[i]);
	return set;
}

int catch_ending_signals(void (*handler)(int signal))
{
	struct sigaction action = { .sa_handler = handler }, old;
	for (int i = 0; i < ENDING_SIGNALS; i++) {
		int number = ending_signals[i];
		if (number == SIGHUP && !sigaction(number, NULL, &old) && old.sa_handler == SIG_IGN)
			continue;
		if (sigaction(number, &action, NULL))
			return -errno;
	}
	return 0;
}
