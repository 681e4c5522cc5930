/* SPDX-License-Identifier: MIT */
/* Ports that are meant to be down (check --expect-down). */
#ifndef RDMADIAG_CMD_CHECK_EXPECTED_H
#define RDMADIAG_CMD_CHECK_EXPECTED_H

#include "base/error.h"
#include "check/select.h"
#include "model/host.h"

/* The port that is called DEV/PORT; NULL: none. */
const struct port *check_port_called(const struct host *host, const char *subject);

/*
 * Fills filter->unused by filter->expect_down. -ENODEV with `error` for a port that is not there; of one that is active
 * a message tells.
 */
int check_expected(struct finding_filter *filter, struct host *host, struct error *error);

#endif
