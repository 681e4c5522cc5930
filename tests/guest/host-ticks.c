/* SPDX-License-Identifier: MIT */
/*
 * tsc-khz.c - prints how many thousand ticks the time-stamp counter makes in a second.
 *
 * The guest reads the host's counter. What its kernel measures on its own while it boots on a busy host may be wrong
 * several times over, and then all its deadlines are.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct sample {
	uint64_t ticks;
	uint64_t ns;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Of some pairs the one read in the shortest time: in none of the others was less between the two readings. */
static struct sample sample(void)
{
	struct sample best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 200; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = clock_ns();
		uint64_t took = __rdtsc() - before;

		if (took < shortest) {
			shortest = took;
			best = (struct sample){ before + took / 2, ns };
		}
	}
	return best;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	struct sample start = sample();
	struct sample end;

	nanosleep(&pause, NULL);
	end = sample();
	printf("%.0f\n", (double)(end.ticks - start.ticks) / (double)(end.ns - start.ns) * 1e6);
	return 0;
}
