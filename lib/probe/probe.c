/* SPDX-License-Identifier: MIT */
#include "probe/probe.h"

#include "probe/session.h"
#include "probe/watcher.h"

#include <string.h>

static int run_local(struct probe_run *run, int fd)
{
	(void)fd;
	return session_local(run);
}

int probe_run(struct probe_run *run)
{
	return watcher_run(run, run_local, -1);
}

bool probe_began(const struct probe_run *run)
{
	const struct evidence *evidence = &run->document.evidence;
	list_each(step, &evidence->resources)
		if (step->side == SIDE_LOCAL && !strcmp(step->step, "ibv_open_device") && num_is(step->error, 0))
			return true;
	return false;
}
