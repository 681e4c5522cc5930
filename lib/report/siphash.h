/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of short messages that does not give its key away. */
#ifndef RDMADIAG_REPORT_SIPHASH_H
#define RDMADIAG_REPORT_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { SIPHASH_KEY_SIZE = 16 };

uint64_t siphash(const uint8_t key[static SIPHASH_KEY_SIZE], const void *message, size_t length);

#endif
