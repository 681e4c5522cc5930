/* SPDX-License-Identifier: MIT */
/* What `report` puts into report/ beside the snapshot: outputs of the commands, kernel messages, the probe. */
#ifndef RDMADIAG_REPORT_MEMBERS_H
#define RDMADIAG_REPORT_MEMBERS_H

#include "cmd.h"
#include "recorded_probes.h"
#include "json/json.h"
#include "report/document.h"
#include "report/pseudonym.h"
#include "report/staging.h"

#define DOCUMENTS "report"

/* A report that is being made. */
struct making {
	const struct common_options *common;
	const char *file; /* NULL: standard output */
	bool redact, probe, cuda;
	struct staging staging;
	char raw[PATH_MAX], snapshot[PATH_MAX], documents[PATH_MAX];
	struct host *host;
	struct origin *earlier; /* the report that --from names, once something of report/ was read; NULL: not yet */
	bool slow;              /* what this host was asked for the snapshot, it did not answer in time */
	int64_t deadline_ms;    /* of all, by clock_ms() */
	struct pseudonyms *pseudonyms; /* NULL: not redacted */
	struct report_document document;
	struct recorded_probes probes; /* in the host's arena, before anything is redacted */
	json_object *findings;         /* of check.json; NULL: not known */
	struct error error;
};

/* Each returns 0, or a negative errno with which no report can be made. */
int add_kernel_log(struct making *making);
/* Of each port that is up. */
int add_probe(struct making *making);
int add_outputs(struct making *making);
/* The texts of those probes; other probes would say something else. */
int add_probe_text(struct making *making);

/* Of a report of a report: whose versions those are, and whether it is redacted. Else what the snapshot tells. */
void take_earlier(struct making *making);
/* What check.json says, for the document of the report. */
void take_findings(struct making *making);

/* Where a file of report/ lies until it is packed. */
void document_path(const struct making *making, const char *name, char path[static PATH_MAX]);
int write_member(struct making *making, const char *name, const char *text);
/* Names something that is not in the report, and why. */
__attribute__((format(printf, 2, 3))) void leave_out(struct making *making, const char *format, ...);

#endif
