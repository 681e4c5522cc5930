/* SPDX-License-Identifier: MIT */
/*
 * The files that NCCL takes parameters from where the environment does not have them (NCCL 2.30.7, initEnvFunc() in
 * src/misc/param.cc): the one that NCCL_CONF_FILE names, else ~/.nccl.conf; then /etc/nccl.conf. What is set first
 * stays. Lines are NAME=VALUE without blanks that would not belong to either; "#" in front makes a comment.
 */
#ifndef RDMADIAG_GID_NCCL_CONF_H
#define RDMADIAG_GID_NCCL_CONF_H

#include "base/arena.h"
#include "base/text.h"

struct gid_environment;

/* Appends the lines that set something, in the order of their weight. 0 or -ENOMEM; files that are not there are none.
 */
int nccl_conf_read(struct arena *arena, const struct gid_environment *environment, struct strings *lines);
/* The same for the text of one file. */
int nccl_conf_parse(struct arena *arena, const char *text, struct strings *lines);

#endif
