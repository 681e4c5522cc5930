/* SPDX-License-Identifier: MIT */
/* What the consumers of GIDs are told by variables and by files of a process, as far as a rule of choose.h looks at it.
 */
#ifndef RDMADIAG_GID_SETTINGS_H
#define RDMADIAG_GID_SETTINGS_H

#include "gid/choose.h"

/* Of this process: `variables` as environ, and the files that nccl_conf.h names. 0 or -ENOMEM. */
int gid_settings_read(struct arena *arena, char *const *variables, struct gid_settings *settings);
/* The variables alone. 0 or -ENOMEM. */
int gid_settings_of_variables(struct arena *arena, char *const *variables, struct gid_settings *settings);
/* Those settings as the rules take them; `settings` has to stay. 0 or -ENOMEM. */
int gid_settings_environment(
        struct arena *arena, const struct gid_settings *settings, struct gid_environment *environment);

#endif
