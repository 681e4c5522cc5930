/* SPDX-License-Identifier: MIT */
/* Writes a directory as an archive, without owners and times: in order of names, so that equal trees give equal bytes.
 */
#ifndef RDMADIAG_REPORT_PACK_H
#define RDMADIAG_REPORT_PACK_H

#include "base/error.h"

/* How an archive of this name is packed, by gzip where that says nothing; -EINVAL: it promises another format. */
enum pack_filter { PACK_NONE, PACK_GZIP, PACK_BZIP2, PACK_XZ, PACK_ZSTD };
int pack_filter_of(const char *path, enum pack_filter *filter);

struct pack;

/* Begins an archive on `fd`, which stays the caller's; `name` is for messages. NULL with `error`. */
struct pack *pack_new(int fd, const char *name, enum pack_filter filter, struct error *error);
/* Adds what is below `directory` as `prefix`/…: directories, files and links. 0 or negative errno with `error`. */
int pack_add(struct pack *pack, const char *directory, const char *prefix, struct error *error);
/* Writes the end. 0 or negative errno with `error`. */
int pack_finish(struct pack *pack, struct error *error);
void pack_free(struct pack *pack);
static inline void pack_freep(struct pack **pack)
{
	pack_free(*pack);
}

#endif
