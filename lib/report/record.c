/* SPDX-License-Identifier: MIT */
#include "report/record.h"

#include "base/cleanup.h"
#include "gid/read.h"
#include "source/collect.h"
#include "source/rdma_sysfs.h"
#include "source/verbs.h"

#include <errno.h>

const char *const record_never_holds[] = {
	"variables of the programs that use RDMA, other than those set for this command (gid --explain)",
	"answers to route look-ups (gid --to)",
	"counters other than those of topo --health",
	"contents of files that neither topo nor gid reads",
	NULL,
};
const char record_without_cuda[] = "what libcuda says of GPUs (topo --cuda): it was not asked for (--cuda)";

/* Both ways to a GID table, since whoever replays the snapshot may want the other. */
static int read_gids(struct origin *origin, struct host *host)
{
	static const enum gid_source sources[] = { GID_SOURCE_SYSFS, GID_SOURCE_BEST };
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct gid_document document = { 0 };
		struct gid_read_options options = { .source = sources[i] };
		int result = gid_read(origin, host, &options, &document);
		if (result)
			return result;
	}
	return 0;
}

/* What single commands ask for besides what is collected for all of them. Only the answers count that are recorded. */
static int read_more(struct origin *origin, struct host *host, void *data)
{
	(void)data;
	struct gid_settings settings = { 0 };
	struct package_list packages = { 0 };
	struct error error = { 0 };
	int result = read_gids(origin, host);
	if (result)
		return result;
	rdma_sysfs_uverbs(origin, host); /* a brief look asks there, not netlink, for a device that verbs do not open */
	origin_about(origin, "host");
	origin_settings(origin, host->arena, &settings, &error);
	error = (struct error){ 0 };
	origin_packages(origin, host->arena, &packages, &error);
	return 0;
}

int record_snapshot(
        struct origin *origin, struct host *host, const struct record_options *wanted, struct record_result *result)
{
	struct collect_options options = { .verbs = VERBS_PORTS,
		.neighbours = true,
		.health = true,
		.cuda = wanted->cuda,
		.more = read_more,
		.overall_ms = wanted->overall_ms };
	int collected = collect_host(origin, host, &options, &result->collecting);
	if (collected == -ENODEV)
		report_missing(&host->report, "devices", "host", collected, "%s", result->collecting.text);
	int failed = origin_record_result(origin, &result->writing);
	return collected ? collected : failed;
}
