/* SPDX-License-Identifier: MIT */
#include "probe/probe.h"

#include "base/cleanup.h"
#include "probe/listener.h"
#include "probe/session.h"
#include "probe/watcher.h"

#include <string.h>
#include <unistd.h>

static int run_child(struct probe_run *run, int fd)
{
	(void)fd;
	return run->document.request.mode == MODE_PEER ? session_initiator(run) : session_local(run);
}

int probe_run(struct probe_run *run)
{
	return watcher_run(run, run_child, -1);
}

static int serve_child(struct probe_run *run, int fd)
{
	/* Copies of the parent's sockets: a peer that the parent sends away shall see it. */
	listener_close(run->listener);
	return session_target(run, fd);
}

int probe_serve(struct probe_run *run, struct listener *listener, int fd)
{
	run->listener = listener;
	int result = watcher_run(run, serve_child, fd);
	close(fd);
	return result;
}

static bool was_connected(const struct evidence *evidence)
{
	list_each(step, &evidence->control)
		if (step->step && !strcmp(step->step, "connect") && !num_is(step->error, 0))
			return false;
	return true;
}

static bool was_refused(const struct evidence *evidence)
{
	bool refused = false;
	list_each(step, &evidence->resources) {
		if (step->side != SIDE_LOCAL || !step->step || strcmp(step->step, "ibv_open_device") != 0)
			continue;
		if (num_is(step->error, 0))
			return false;
		refused |= step->error.known;
	}
	return refused;
}

/* Whatever a record leaves out: what can only be done on an opened device shows that it was opened. */
static bool was_opened(const struct evidence *evidence)
{
	if (evidence->operations.count)
		return true;
	if (was_refused(evidence))
		return false;
	if (evidence->local.qpn.known)
		return true;
	list_each(transition, &evidence->transitions)
		if (transition->side == SIDE_LOCAL)
			return true;
	static const char *const before[] = { "ibv_get_device_list", "find-device", "getaddrinfo", "listen", "accept",
		"fork" };
	list_each(step, &evidence->resources) {
		bool early = step->side != SIDE_LOCAL || !step->step;
		for (size_t i = 0; i < ARRAY_SIZE(before) && !early; i++)
			early = !strcmp(step->step, before[i]);
		if (!early && (strcmp(step->step, "ibv_open_device") != 0 || num_is(step->error, 0)))
			return true;
	}
	return false;
}

bool probe_began(const struct evidence *evidence)
{
	return was_opened(evidence) && was_connected(evidence);
}
