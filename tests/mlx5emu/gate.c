/* SPDX-License-Identifier: MIT */
/* Calls that sleep in the driver or fail in it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"

/* `run` leaves a file when it is over, or told to stop; the fabric may be gone as well. */
static bool run_is_over(void)
{
	char stop[512];

	snprintf(stop, sizeof(stop), "%s/stop-%u", fabric_dir(), fault_run());
	return real.access(fabric_dir(), F_OK) || !real.access(stop, F_OK);
}

/* A thread in a driver that hangs takes no signals. It ends with the run. */
void sleep_in_kernel(uint64_t ns)
{
	struct timespec step = { 0, 20000000 };
	uint64_t end = now_ns() + ns;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (!ns || now_ns() < end) {
		if (run_is_over())
			_exit(137);
		nanosleep(&step, NULL);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* With the lock held, which is given up while the call sleeps. */
bool block_if(enum fault_kind kind, const struct fault_site *site)
{
	const struct fault *f = fault_hit(kind, site);
	uint64_t ns = f ? f->arg[0] : 0;

	if (!f)
		return false;
	emu_unlock();
	sleep_in_kernel(ns);
	emu_lock();
	return true;
}

int command_gate(const struct fab_dev *dev, const char *name)
{
	struct fault_site site = { .device = dev->name, .target = name };
	const struct fault *f;

	block_if(F_BLOCK_IOCTL, &site);
	if (block_if(F_FW_HANG, &site))
		return ETIMEDOUT;
	f = fault_hit(F_COMMAND_FAIL, &site);
	return f ? (int)f->arg[0] : 0;
}
