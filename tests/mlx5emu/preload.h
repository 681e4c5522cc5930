/* SPDX-License-Identifier: MIT */
/* Shared by the two files of interposed functions: which descriptors are not what they seem. */
#ifndef MLX5EMU_PRELOAD_H
#define MLX5EMU_PRELOAD_H

#include "emu.h"

enum fd_kind { FD_PLAIN, FD_UVERBS, FD_NETLINK };

struct reply {
	struct reply *next;
	size_t len;
	uint8_t bytes[];
};

struct fd_info {
	uint8_t kind;
	int16_t ctx;                      /* FD_UVERBS */
	int peer;                         /* FD_NETLINK: our end of the socket pair */
	uint32_t portid;                  /* FD_NETLINK */
	struct reply *queue, **queue_end; /* answers that the socket had no room for */
};

struct fd_info *fd_lookup(int fd); /* NULL for plain descriptors */
void fd_remember(int fd, const struct fd_info *info);
void resolve_real(void);
void netlink_closed(struct fd_info *f);

#endif
