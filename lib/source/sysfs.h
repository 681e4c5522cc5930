/* SPDX-License-Identifier: MIT */
/* Attributes in sysfs: one call says what is read, and why it could not be. */
#ifndef RDMADIAG_SOURCE_SYSFS_H
#define RDMADIAG_SOURCE_SYSFS_H

#include "model/host.h"
#include "origin/origin.h"

enum { SYSFS_PATH_SIZE = 512 };

/* All paths are formatted. Text: NULL and errno set when it could not be read. */
__attribute__((format(printf, 3, 4))) char *sysfs_text(
        struct origin *origin, struct arena *arena, const char *format, ...);
__attribute__((format(printf, 2, 3))) struct num sysfs_number(struct origin *origin, const char *format, ...);

/*
 * Notes that `what` of `subject` is unknown because of errno `error` (positive), unless it is one of an attribute that
 * does not exist here (ENOENT): that is not applicable.
 */
void sysfs_missing(struct host *host, const char *what, const char *subject, int error);

/*
 * The canonical path of the device behind an entry of a class directory ("sys/class/net", "eth0"), without the entry's
 * own directory: "sys/devices/pci0000:00/…/0000:01:00.0". In the arena; NULL: a virtual one, or errno is set.
 */
char *sysfs_device_path(struct origin *origin, struct arena *arena, const char *class, const char *name);

/* The last component of the target of a link, in the arena; NULL: no such link. */
char *sysfs_link_name(struct origin *origin, struct arena *arena, const char *path);

#endif
