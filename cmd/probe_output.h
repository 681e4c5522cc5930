/* SPDX-License-Identifier: MIT */
/* What becomes of a probe's document: text or JSON, the trace file, and the progress of a long run. */
#ifndef RDMADIAG_PROBE_OUTPUT_H
#define RDMADIAG_PROBE_OUTPUT_H

#include "cmd.h"
#include "model/evidence.h"
#include "probe/run.h"

void probe_output_print(const struct probe_document *document, const struct common_options *common, const char *origin,
        const struct host_facts *facts);
/* The exit status: a set-up step that fails on an opened device is a failed probe. */
int probe_status(const struct probe_document *document);
/* The trace, to `path`; NULL: none was asked for. 0, or -1 when it could not be written, which standard error says. */
int probe_output_trace(const struct probe_document *document, const char *path);

/* What each stage means for whoever owns the buffers, beside what TCP does at that point. An exit status. */
int probe_explain_stages(void);

/* A line on standard error where that is a terminal, once the run takes more than a second. To be called now and then.
 */
void probe_progress(const struct probe_run *run);
/* Takes the line away again. */
void probe_progress_end(void);

#endif
