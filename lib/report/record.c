/* SPDX-License-Identifier: MIT */
#include "report/record.h"

#include "base/cleanup.h"
#include "gid/read.h"
#include "source/collect.h"
#include "source/verbs.h"

#include <errno.h>

const char *const record_never_holds[] = {
	"the environment of the programs that use RDMA (gid --explain)",
	"answers to route look-ups (gid --to)",
	"counters other than those of topo --health",
	"contents of files that neither topo nor gid reads",
	NULL,
};

/* Both ways to a GID table, since whoever replays the snapshot may want the other. */
static int read_gids(struct origin *origin, struct host *host, void *data)
{
	(void)data;
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

int record_snapshot(struct origin *origin, struct host *host, unsigned int overall_ms, struct record_result *result)
{
	struct collect_options options = {
		.verbs = VERBS_PORTS, .neighbours = true, .health = true, .more = read_gids, .overall_ms = overall_ms
	};
	int collected = collect_host(origin, host, &options, &result->collecting);
	if (collected == -ENODEV)
		report_missing(&host->report, "devices", "host", collected, "%s", result->collecting.text);
	int failed = origin_record_result(origin, &result->writing);
	return collected ? collected : failed;
}
