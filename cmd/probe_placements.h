/* SPDX-License-Identifier: MIT */
/* --buffer-node all: the same run with only the buffer's place changed. */
#ifndef RDMADIAG_PROBE_PLACEMENTS_H
#define RDMADIAG_PROBE_PLACEMENTS_H

#include "probe/run.h"

/*
 * After a run on the first place, which went well: measures all places, interleaved, and adds what they came to and
 * differ by to its evidence. What could not be measured is in its report.
 */
void placements_measure(struct probe_run *first);

#endif
