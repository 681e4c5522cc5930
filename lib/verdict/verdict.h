/* SPDX-License-Identifier: MIT */
/*
 * From evidence to a verdict: a pure function, so that it can be tested with evidence written by hand.
 *
 * A layer is named only on evidence about that layer, and `confirmed` only where the evidence excludes the other
 * layers. Everything else is `undetermined`, with the layers that stay open and the observation that would separate
 * them.
 *
 * What it expects of whoever records the evidence, beyond the comments in model/evidence.h:
 * - device_saw_doorbell, device_executed and acknowledged are set only where the device's counters stood still in two
 *   samples, and acknowledged only on a device whose idle distance was learnt on a successful write. They are believed
 *   only where qp_state_first and qp_state are both RTS and no retry counter moved.
 * - counters that did not change may be left out, but then nothing is concluded from their standing still.
 * - the completion queue was read once more after the other evidence had been gathered.
 */
#ifndef RDMADIAG_VERDICT_VERDICT_H
#define RDMADIAG_VERDICT_VERDICT_H

#include "base/arena.h"
#include "model/evidence.h"
#include "model/report.h"

/*
 * Fills `verdict` (all of it). Its texts live in `arena`; layer names are static. `report` receives findings that are
 * not the verdict's own matter (a buffer on a distant node), and may be NULL. Running out of memory leaves texts out,
 * never changes outcome, layer or confidence.
 */
void verdict_judge(const struct probe_request *request, const struct evidence *evidence, struct report *report,
        struct arena *arena, struct verdict *verdict);

#endif
