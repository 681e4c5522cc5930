/* SPDX-License-Identifier: MIT */
/* Whoever reads text of a redacted report has to know that names in it are not those of the node. */
#ifndef RDMADIAG_CMD_REDACTED_H
#define RDMADIAG_CMD_REDACTED_H

#include "cmd.h"

/* Prints so behind the text of a command, where the snapshot is that of a redacted report. */
void tell_redacted(struct origin *origin, const struct common_options *common);

#endif
