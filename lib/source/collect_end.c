/* SPDX-License-Identifier: MIT */
/* How collecting ended: what was lost, and why nothing was found. */
#include "source/collect_parts.h"
#include "source/vendors.h"

#include <errno.h>

void collect_report_losses(struct host *host, const struct worker_result *result)
{
	static const char *const what[WATCH_KIND_COUNT] = { "files", "netlink", "verbs" };
	list_each(loss, &result->losses) {
		const char *kind = what[loss->watch.kind % WATCH_KIND_COUNT];
		if (loss->waited_ms)
			report_missing(&host->report, kind, loss->watch.subject, -ETIMEDOUT,
			        "did not answer within %u ms: %s%s", loss->waited_ms,
			        loss->watch.kind == WATCH_FILES ? "reading " : "", loss->watch.action);
		else if (loss->signal)
			report_missing(&host->report, kind, loss->watch.subject, 0,
			        "the collecting process died (signal %d) in: %s", loss->signal, loss->watch.action);
		else if (!loss->exit_status)
			report_missing(&host->report, kind, loss->watch.subject, 0,
			        "the collecting process ended in: %s", loss->watch.action);
		else
			report_missing(&host->report, kind, loss->watch.subject, 0,
			        "the collecting process left by itself (status %d) in: %s", loss->exit_status,
			        loss->watch.action);
	}
	if (result->overall_ms)
		report_missing(&host->report, "everything after this", "host", -ETIMEDOUT,
		        "collecting ended at its deadline of %u ms", result->overall_ms);
	if (result->interrupted)
		report_missing(&host->report, "everything after this", "host", -EINTR, "interrupted");
}

static int not_known_whether(const struct host *host, const struct worker_result *result, struct error *error)
{
	if (host->no_sysfs)
		return error_say(error, -ENODEV,
		        "whether there is an RDMA device is not known: RDMA netlink does not answer, and sysfs is not "
		        "mounted (or masked)");
	if (result->losses.count) {
		const struct worker_loss *last = result->losses.items[result->losses.count - 1];
		return error_say(error, -ETIMEDOUT, "whether there is an RDMA device is not known: \"%s\" %s",
		        last->watch.action,
		        last->waited_ms ? "was not answered in time" : "ended the collecting process");
	}
	return error_say(error, -ETIMEDOUT,
	        "whether there is an RDMA device is not known: looking for them took more than %u ms",
	        result->overall_ms);
}

static int no_device(const struct host *host, struct error *error)
{
	const struct pci_function *unbound = NULL, *bound = NULL;
	list_each(function, &host->pci_functions) {
		if (!vendor_id_has_rdma(function->vendor, function->device))
			continue;
		if (!function->driver)
			unbound = function;
		else if (!bound || driver_gives_away(bound->driver))
			bound = function;
	}
	if (host->rdma_netns_mode == NETNS_EXCLUSIVE)
		return error_say(error, -ENODEV,
		        "no RDMA device in this network namespace (each is visible in one only: rdma netns mode "
		        "exclusive)");
	if (bound && driver_gives_away(bound->driver))
		return error_say(error, -ENODEV,
		        "no RDMA device: the adapter %s is given to a virtual machine or a program in user space "
		        "(driver %s)",
		        bound->address, bound->driver);
	if (bound)
		return error_say(error, -ENODEV,
		        "no RDMA device: the adapter %s has the driver %s, but no RDMA driver made a device for it",
		        bound->address, bound->driver);
	if (unbound)
		return error_say(error, -ENODEV, "no RDMA device: the adapter %s %s", unbound->address,
		        vendor_id_is_recovery(unbound->vendor, unbound->device)
		                ? "is in flash recovery: its firmware does not run"
		                : "has no driver");
	if (host->no_class)
		return error_say(error, -ENODEV,
		        "no RDMA device: this kernel has no RDMA subsystem loaded (ib_core), and no adapter of a known "
		        "vendor");
	return error_say(error, -ENODEV,
	        "no RDMA device: no RDMA driver is loaded for an adapter, and none was made in software (rdma link "
	        "add)");
}

int collect_nothing_found(const struct host *host, const struct worker_result *result, struct error *error)
{
	return host->listed ? no_device(host, error) : not_known_whether(host, result, error);
}
