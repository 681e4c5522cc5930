/* SPDX-License-Identifier: MIT */
/*
 * Netlink replies from anywhere: each length is checked before anything is read. Numbers of an attribute that is too
 * short are unknown, longer ones are read by their first bytes as the kernel itself does.
 */
#ifndef RDMADIAG_SOURCE_NL_ATTR_H
#define RDMADIAG_SOURCE_NL_ATTR_H

#include "base/arena.h"
#include "base/text.h"

#include <libmnl/libmnl.h>
#include <stddef.h>

/* Calls `take` for each message; stops at its first error. 0, -EBADMSG where lengths do not fit, or that error. */
int nl_each_message(
        const void *data, size_t length, int (*take)(const struct nlmsghdr *message, void *context), void *context);
/* Sorts the attributes after a header of `header` bytes into table[0 … max]. The last of a type wins. */
void nl_attributes(const struct nlmsghdr *message, size_t header, const struct nlattr **table, size_t max);
void nl_nested(const struct nlattr *attribute, const struct nlattr **table, size_t max); /* attribute may be NULL */

/* The attributes of a nest one after the other, where a type may stand there several times. NULL: no more. */
const struct nlattr *nl_first(const struct nlattr *nest, const char **end);
/* Attributes that follow a header of `header` bytes in a message. */
const struct nlattr *nl_first_of(const struct nlmsghdr *message, size_t header, const char **end);
const struct nlattr *nl_next(const struct nlattr *attribute, const char *end);

/* All accept NULL. Native byte order. */
struct num nl_u8(const struct nlattr *attribute);
struct num nl_u16(const struct nlattr *attribute);
struct num nl_u32(const struct nlattr *attribute);
/* 0 or -ENODATA. */
int nl_u64(const struct nlattr *attribute, uint64_t *value);
/* Text up to its NUL or its end; NULL where there is none. */
char *nl_text(const struct nlattr *attribute, struct arena *arena);
/* "02:00:5e:…"; `separator` 0: none. */
char *nl_hex(const struct nlattr *attribute, struct arena *arena, char separator);

#endif
