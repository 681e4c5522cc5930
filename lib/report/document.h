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

struct report_document {
	const char *file; /* NULL: standard output */
	enum flag redacted;
	struct num devices;
	struct versions versions;
	LIST(struct report_member) members;
	struct strings left_out;
};

extern const struct record report_record;

#endif
