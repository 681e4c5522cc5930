/* SPDX-License-Identifier: MIT */
#include "probe/session.h"

#include "probe/endpoint.h"

#include <errno.h>
#include <time.h>

enum { SMALL_BYTES = 64, PACKETS = 4 };

static int add_size(struct probe_run *run, int64_t bytes)
{
	struct num *size = list_add(run->arena, &run->document.request.sizes);
	if (!size)
		return -ENOMEM;
	*size = num(bytes);
	return 0;
}

int session_default_sizes(struct probe_run *run, int64_t active_mtu)
{
	if (run->document.request.sizes.count)
		return 0;
	int result = add_size(run, SMALL_BYTES);
	return result ? result : add_size(run, PACKETS * (active_mtu ? active_mtu : 4096));
}

void session_observers(struct probe_run *run, const struct endpoint *endpoint, const char *payload)
{
	struct observers *observers = &run_evidence(run)->observers;
	const char *subject = endpoint->facts->device ? endpoint->facts->device : "host";
	observers->payload = payload;
	observers->wqe = observers->cqe = NULL;
	if (observer_works(&endpoint->observer)) {
		observers->wqe = observers->cqe = endpoint->observer.ops->name;
	} else {
		report_missing(&run->report, "observers.wqe", subject, 0, "%s", endpoint->observer.reason);
		report_missing(&run->report, "observers.cqe", subject, 0, "%s", endpoint->observer.reason);
	}
}

void session_device(struct probe_run *run, const struct endpoint *endpoint)
{
	const struct observer *observer = &endpoint->observer;
	const char *subject = endpoint->facts->device ? endpoint->facts->device : "host";
	if (run_evidence(run)->observers.device)
		return;
	if (endpoint->inspection_error)
		report_missing(&run->report, "observers.device", subject, endpoint->inspection_error, "%s",
		        endpoint->inspection_reason);
	else
		report_missing(&run->report, "observers.device", subject, 0,
		        observer_works(observer) && observer->ops->inspect
		                ? "the device was not asked: no request came to an end that it could explain"
		                : "this provider offers no view of the device's own counters of a queue");
}

void session_sleep(const struct probe_run *run, int64_t ns)
{
	enum { SLICE_NS = 10000000 };
	int64_t end = run_now(run) + ns;
	for (int64_t left = ns; left > 0 && !run_stopped(run); left = end - run_now(run))
		nanosleep(&(struct timespec){ .tv_nsec = left < SLICE_NS ? left : SLICE_NS }, NULL);
}
