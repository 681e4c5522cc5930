/* SPDX-License-Identifier: MIT */
/*
 * What every document has besides its own part: findings, and what could not be collected.
 */
#ifndef RDMADIAG_MODEL_REPORT_H
#define RDMADIAG_MODEL_REPORT_H

#include "base/arena.h"
#include "base/index.h"
#include "base/text.h"
#include "model/record.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR, SEVERITY_COUNT };
extern const char *const severity_names[SEVERITY_COUNT];

struct evidence_item {
	const char *source; /* file, netlink attribute, ioctl */
	const char *name;
	const char *value;
};

struct finding {
	const char *id;      /* kebab-case, stable, documented in the manual */
	int severity;        /* enum severity */
	const char *subject; /* DEV, DEV/PORT, DEV/PORT/gid/N, net:IFNAME, pci:ADDRESS, node:N, host */
	const char *message;
	LIST(struct evidence_item) evidence;
	const char *advice;
};

struct not_collected {
	const char *what; /* the fact, by its JSON name where it has one */
	const char *subject;
	struct num error; /* "errno" in JSON: positive */
	const char *reason;
};

/* Collects for one document; everything in it lives in `arena`. */
struct report {
	struct arena *arena;
	LIST(struct finding) findings;
	LIST(struct not_collected) not_collected;
	struct index known_findings, known_missing; /* by what makes them the same */
};

/*
 * Adds a finding; `message` is formatted. Returns it for report_evidence() and .advice, or NULL without memory (both
 * accept NULL).
 */
__attribute__((format(printf, 5, 6))) struct finding *report_finding(
        struct report *report, const char *id, enum severity severity, const char *subject, const char *message, ...);
__attribute__((format(printf, 5, 6))) void report_evidence(
        struct report *report, struct finding *finding, const char *source, const char *name, const char *value, ...);
/* Is there a finding of that id about that subject? */
bool report_has_finding(const struct report *report, const char *id, const char *subject);
/* Takes back what more evidence disproves; it is not added again. */
void report_drop_finding(struct report *report, const char *id, const char *subject);
void report_advice(struct finding *finding, const char *advice); /* advice: static text, or from the arena */

/* What found no room in the memory of the model is unknown too: says so, once. To be called before the report is shown.
 */
void report_exhaustion(struct report *report);

/*
 * The one way to say that a fact is unknown. `error` is a negative errno or 0; `reason` is formatted, NULL means the
 * text of `error`. A second entry for the same (what, subject) is dropped.
 */
__attribute__((format(printf, 5, 6))) void report_missing(
        struct report *report, const char *what, const char *subject, int error, const char *reason, ...);

/* The same with words that live as long as the report and are not copied. */
void report_missing_as(struct report *report, const char *what, const char *subject, int error, const char *reason);

extern const struct record finding_record, not_collected_record;

#endif
