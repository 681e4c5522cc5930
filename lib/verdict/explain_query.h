/* SPDX-License-Identifier: MIT */
/* The document of `explain`: one code, what it means, which layers it speaks of, and what to look at next. */
#ifndef RDMADIAG_VERDICT_EXPLAIN_QUERY_H
#define RDMADIAG_VERDICT_EXPLAIN_QUERY_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "model/record.h"

struct explain_document {
	const char *query;
	const char *kind;     /* wc, vendor, errno, event, finding, counter, layer, stage, outcome, confidence */
	const char *name;     /* of the code, NULL: it has a number only */
	struct num number;    /* of wc, vendor, errno, event */
	const char *context;  /* provider of a vendor code, step of an errno */
	const char *meaning;  /* NULL: not known */
	const char *severity; /* of a finding */
	struct strings layers;
	const char *next, *source;
};

/* What libibverbs calls a status or an event, which programs print instead of its name: "port error". */
struct explain_texts {
	const char *(*status)(int number);
	const char *(*event)(int number);
};

/*
 * Looks `query` up ("wc:12", "vendor:mlx5:0x81", "errno:RTR:110", "event:CQ_ERR", "finding:ID", "counter:NAME",
 * "layer:network", "stage:cqe", "outcome:stalled", "confidence:likely", or a bare word that only one table has, or
 * one of `texts`, NULL: they are not known) and fills `document`, whose texts are static or in the arena. 0; -EINVAL:
 * that is not a query, or a word that several tables have; -ENOENT: a query for something that no table has. `error`
 * says it in words.
 */
int explain_query(const char *query, const struct explain_texts *texts, struct arena *arena,
        struct explain_document *document, struct error *error);

/* Every query that a table answers, in the order of the tables. */
void explain_queries(struct arena *arena, struct strings *queries);

extern const struct record explain_record;

#endif
