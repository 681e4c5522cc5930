/* SPDX-License-Identifier: MIT */
/* The document of `report`: what is in the archive, and what is not. */
#ifndef RDMADIAG_REPORT_DOCUMENT_H
#define RDMADIAG_REPORT_DOCUMENT_H

#include "base/arena.h"
#include "base/text.h"
#include "model/record.h"
#include "report/versions.h"

struct report_member {
	const char *name;    /* below report/ in the archive */
	const char *command; /* whose output it is, NULL: of none */
	struct num status;   /* its exit status */
};

/* What a loopback probe said, in short. */
struct report_probe {
	const char *member; /* its document, below report/ */
	const char *port;   /* DEV/PORT, or what of it is known */
	const char *outcome, *layer, *confidence, *summary;
};

struct report_document {
	const char *file; /* NULL: standard output */
	enum flag redacted;
	struct num devices;
	struct versions versions;
	LIST(struct report_member) members;
	LIST(struct report_probe) probes; /* the worst first */
	struct strings left_out;
};

extern const struct record report_record;

#endif
