/* SPDX-License-Identifier: MIT */
/* Times for people: "850 ns", "12.3 us", "410 ms", "2.05 s". */
#ifndef RDMADIAG_BASE_DURATION_H
#define RDMADIAG_BASE_DURATION_H

#include <stdint.h>

enum { DURATION_TEXT_SIZE = 32 };

/* Three significant digits; ASCII, so that it fits in every locale. Returns out. */
char *format_duration(int64_t ns, char out[static DURATION_TEXT_SIZE]);

#endif
