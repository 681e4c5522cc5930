/* SPDX-License-Identifier: MIT */
/* An empty host for each test, to be filled by hand. */
#ifndef RDMADIAG_TESTS_HOST_FIXTURE_H
#define RDMADIAG_TESTS_HOST_FIXTURE_H

#include "unit.h"

#include "source/collect.h"

static struct host *host;

static int set_up(void **state)
{
	(void)state;
	host = host_new();
	return !host;
}

static int tear_down(void **state)
{
	(void)state;
	host_free(host);
	return 0;
}

#endif
