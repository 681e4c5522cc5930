/* SPDX-License-Identifier: MIT */
/* The mappings of uverbs devices in this process, from /proc/self/maps: where software providers' queues lie. */
#ifndef RDMADIAG_PROBE_MAPPINGS_H
#define RDMADIAG_PROBE_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

struct mapping {
	uintptr_t start, end;
	uint64_t offset; /* within the device file; grows from object to object */
};

enum { MAPPINGS_LIMIT = 256 };

struct mappings {
	struct mapping entries[MAPPINGS_LIMIT];
	size_t count;
};

/* Parses the text of a maps file; keeps the lines of "/dev/infiniband/uverbs*". 0, or -E2BIG when there are too many.
 */
int mappings_parse(const char *text, struct mappings *mappings);
/* Those of this process. 0 or negative errno. */
int mappings_read(struct mappings *mappings);
/* What `after` has and `before` has not, by growing offset; returns their number, at most `limit` are stored. */
size_t mappings_new(const struct mappings *before, const struct mappings *after, struct mapping *out, size_t limit);

/* Reads those of now into `*mappings`, malloc'ed if it is NULL. NULL, or the reason in words. */
const char *mappings_remember(struct mappings **mappings);
/* The `expected` mappings that came since, no more and no fewer. NULL, or the reason in words. */
const char *mappings_since(const struct mappings *before, struct mapping *found, size_t expected);

#endif
