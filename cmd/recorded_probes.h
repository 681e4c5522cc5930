/* SPDX-License-Identifier: MIT */
/*
 * The probes of a report: report/probe.json, and probe-2.json and so on where several ports were probed. The first is
 * the one to look at: the worst.
 */
#ifndef RDMADIAG_CMD_RECORDED_PROBES_H
#define RDMADIAG_CMD_RECORDED_PROBES_H

#include "base/error.h"
#include "model/evidence.h"
#include "model/host.h"
#include "model/report.h"
#include "origin/origin.h"

enum { RECORDED_PROBES_LIMIT = 1024 };

/* "probe.json" for 1, else "probe-N.json"; `kind`: json, txt */
void recorded_probe_name(char name[static 32], unsigned int number, const char *kind);

struct recorded_probe {
	const char *subject;            /* DEV/PORT, or what of it is known */
	const struct host_facts *facts; /* NULL: not known */
	struct probe_document document; /* judged anew; document.report is its own */
};
struct recorded_probes {
	struct recorded_probe **items;
	uint32_t count, capacity;
};

/* Where they are: in a snapshot, or, with `directory`, in files there. */
struct recorded_place {
	struct origin *origin;
	const char *directory;
};

/*
 * All of them; none is fine. -E… with `error` for the first that cannot be read, and `probes` holds those before it.
 */
int recorded_probes_read(
        const struct recorded_place *place, struct arena *arena, struct recorded_probes *probes, struct error *error);

/*
 * One of them. It may be another program's, or a later version's: what does not fit is unknown, and is listed in
 * document.report, besides what the document lists. 0 or negative errno with `error`.
 */
int recorded_probe_parse(const char *text, size_t length, const char *name, struct arena *arena,
        struct recorded_probe *probe, struct error *error);

#endif
