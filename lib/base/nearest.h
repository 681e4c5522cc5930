/* SPDX-License-Identifier: MIT */
/* A word that was typed and is none of those known: which of them is meant? */
#ifndef RDMADIAG_BASE_NEAREST_H
#define RDMADIAG_BASE_NEAREST_H

#include <stdint.h>

/*
 * All words that hold what was typed are named, as port-down and port-flapping for "port"; where none does, the one
 * that a slip of the fingers is away. Begins zeroed but for `typed`.
 */
struct nearest {
	const char *typed;
	uint32_t holding;    /* words that hold it */
	uint32_t difference; /* of the nearest one; 0: none yet */
	char close[80];
	char text[200];
};

/* Is `word` meant? It is shown as `shown`, NULL: as itself. */
void nearest_try(struct nearest *nearest, const char *word, const char *shown);
/* "; is it A, B?", or "" where nothing is near. */
const char *nearest_text(struct nearest *nearest);

#endif
