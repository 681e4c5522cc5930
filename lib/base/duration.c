/* SPDX-License-Identifier: MIT */
#include "base/duration.h"

#include <inttypes.h>
#include <stdio.h>

char *format_duration(int64_t ns, char out[static DURATION_TEXT_SIZE])
{
	static const char *const units[] = { "us", "ms", "s" };
	uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	const char *sign = ns < 0 ? "-" : "";
	if (magnitude < 1000) {
		snprintf(out, DURATION_TEXT_SIZE, "%s%" PRIu64 " ns", sign, magnitude);
		return out;
	}
	double value = (double)magnitude / 1e3;
	int unit = 0;
	/* Where three digits would round up to 1000, the next unit reads better. */
	for (; value >= 999.5 && unit < 2; unit++)
		value /= 1e3;
	int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	snprintf(out, DURATION_TEXT_SIZE, "%s%.*f %s", sign, digits, value, units[unit]);
	return out;
}
