/* SPDX-License-Identifier: MIT */
/*
 * /proc/thread-self/schedstat: nanoseconds on a CPU, nanoseconds of waiting for one, time slices (kernel,
 * Documentation/scheduler/sched-stats.rst). Time for which the quota of a cgroup holds a thread back counts as waiting;
 * cpu.stat of the cgroup tells how much that was (kernel, Documentation/admin-guide/cgroup-v2.rst).
 */
#include "probe/cpu_wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct num read_waited(struct origin *origin)
{
	char text[128];
	int64_t ran, waited;
	if (origin_read(origin, "proc/thread-self/schedstat", text, sizeof(text)) < 0 ||
	        sscanf(text, "%" SCNd64 " %" SCNd64, &ran, &waited) != 2)
		return (struct num){ 0 };
	return num(waited);
}

/* The line of the unified hierarchy is "0::PATH". */
static struct num read_throttled(struct origin *origin)
{
	static const char unified[] = "0::/", key[] = "throttled_usec ";
	char groups[4096], path[4096 + 64], text[2048];
	int64_t microseconds;
	if (origin_read(origin, "proc/thread-self/cgroup", groups, sizeof(groups)) < 0)
		return (struct num){ 0 };
	char *line = strstr(groups, unified);
	if (!line || (line > groups && line[-1] != '\n'))
		return (struct num){ 0 };
	line += strlen(unified);
	line[strcspn(line, "\n")] = '\0';
	snprintf(path, sizeof(path), "sys/fs/cgroup/%s%scpu.stat", line, *line ? "/" : "");
	if (origin_read(origin, path, text, sizeof(text)) < 0)
		return (struct num){ 0 };
	const char *value = strstr(text, key);
	if (!value || sscanf(value + strlen(key), "%" SCNd64, &microseconds) != 1 || microseconds > INT64_MAX / 1000)
		return (struct num){ 0 };
	return num(microseconds * 1000);
}

void cpu_wait_read(struct origin *origin, struct cpu_facts *facts)
{
	*facts = (struct cpu_facts){ .waited_ns = read_waited(origin), .throttled_ns = read_throttled(origin) };
}

static struct num added_to(struct num before, struct num after)
{
	return before.known && after.known && after.value >= before.value ? num(after.value - before.value)
	                                                                  : (struct num){ 0 };
}

bool cpu_wait_since(struct origin *origin, const struct cpu_facts *before, struct cpu_facts *added)
{
	struct cpu_facts now;
	cpu_wait_read(origin, &now);
	*added = (struct cpu_facts){ .waited_ns = added_to(before->waited_ns, now.waited_ns),
		.throttled_ns = added_to(before->throttled_ns, now.throttled_ns) };
	return added->waited_ns.known || added->throttled_ns.known;
}
