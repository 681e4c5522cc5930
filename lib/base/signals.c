/* SPDX-License-Identifier: MIT */
#include "base/signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

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

int poll_with_signals(struct pollfd *entries, nfds_t count, int64_t timeout_ms, const sigset_t *mask)
{
	enum { NAP_NS = 5000000 };
	struct timespec timeout = { .tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000 };
	int ready = ppoll(entries, count, timeout_ms < 0 ? NULL : &timeout, mask);
	if (ready >= 0 || errno == EINTR)
		return ready < 0 ? -EINTR : ready;
	int result = -errno;
	sigset_t old;
	sigprocmask(SIG_SETMASK, mask, &old);
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return result;
}
