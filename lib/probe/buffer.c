/* SPDX-License-Identifier: MIT */
#include "probe/buffer.h"

#include "base/cleanup.h"

#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <string.h>
#include <sys/mman.h>

void buffer_affinity(struct probe_run *run, int side, struct num node)
{
	if (!node.known || numa_available() < 0)
		return;
	struct resource_step *step = resource_begin(run, side, "numa_run_on_node");
	resource_detail(run, step, "node %d", (int)node.value);
	int result = numa_run_on_node((int)node.value) ? -errno : 0;
	resource_end(run, step, result);
	if (result)
		report_missing(&run->report, "affinity", "host", result, "the thread could not move to node %d: %s",
		        (int)node.value, strerror(-result));
	step = resource_begin(run, side, "set_mempolicy");
	resource_detail(run, step, "prefer node %d", (int)node.value);
	struct bitmask *nodes = numa_allocate_nodemask();
	numa_bitmask_setbit(nodes, (unsigned int)node.value);
	result = set_mempolicy(MPOL_PREFERRED, nodes->maskp, nodes->size + 1) ? -errno : 0;
	numa_bitmask_free(nodes);
	resource_end(run, step, result);
	if (result)
		report_missing(&run->report, "memory_policy", "host", result,
		        "memory of node %d cannot be preferred: %s", (int)node.value, strerror(-result));
}

static int place(struct probe_run *run, int side, const struct buffer *buffer, int node, bool strict)
{
	struct resource_step *step = resource_begin(run, side, "mbind");
	resource_detail(run, step, "%s node %d", strict ? "bind to" : "prefer", node);
	struct bitmask *nodes = numa_allocate_nodemask();
	numa_bitmask_setbit(nodes, (unsigned int)node);
	int mode = strict ? MPOL_BIND : MPOL_PREFERRED;
	int result = mbind(buffer->memory, buffer->size, mode, nodes->maskp, nodes->size + 1, 0) ? -errno : 0;
	numa_bitmask_free(nodes);
	return resource_end(run, step, result);
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int buffer_allocate(struct probe_run *run, int side, struct buffer *buffer, size_t size, struct num node, bool strict)
{
	buffer->size = (size + page_size() - 1) / page_size() * page_size();
	struct resource_step *step = resource_begin(run, side, "mmap");
	resource_detail(run, step, "%zu bytes", buffer->size);
	void *memory = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result = resource_end(run, step, memory == MAP_FAILED ? -errno : 0);
	if (result)
		return result;
	buffer->memory = memory;
	if (node.known && numa_available() >= 0) {
		result = place(run, side, buffer, (int)node.value, strict);
		if (result && strict)
			return result;
	}
	step = resource_begin(run, side, "first-touch");
	run_extend(run, buffer->size);
	memset(buffer->memory, 0, buffer->size);
	return resource_end(run, step, 0);
}

void buffer_free(struct buffer *buffer)
{
	if (buffer->memory)
		munmap(buffer->memory, buffer->size);
	*buffer = (struct buffer){ 0 };
}

/* ---- where the pages are ---- */

static void count_page(struct probe_run *run, int node)
{
	struct buffer_facts *facts = &run_evidence(run)->buffer;
	list_each(entry, &facts->pages_on_node) {
		if (entry->key == node) {
			entry->value.value++;
			return;
		}
	}
	struct map_entry *added = list_add(run->arena, &facts->pages_on_node);
	if (added)
		*added = (struct map_entry){ .key = node, .value = num(1) };
}

/* Asks for one block of pages; without target nodes move_pages(2) only tells where they are. */
static int locate_block(struct probe_run *run, unsigned char *memory, size_t pages)
{
	enum { BLOCK = 512 };
	void *addresses[BLOCK];
	int status[BLOCK];
	while (pages) {
		size_t count = pages < BLOCK ? pages : BLOCK;
		for (size_t i = 0; i < count; i++)
			addresses[i] = memory + i * page_size();
		if (move_pages(0, count, addresses, NULL, status, 0) < 0)
			return -errno;
		for (size_t i = 0; i < count; i++)
			if (status[i] >= 0)
				count_page(run, status[i]);
		memory += count * page_size();
		pages -= count;
	}
	return 0;
}

void buffer_locate(struct probe_run *run, const struct buffer *buffer, struct num node)
{
	struct buffer_facts *facts = &run_evidence(run)->buffer;
	size_t pages = buffer->size / page_size();
	facts->pages = num((int64_t)pages);
	facts->requested_node = node;
	run_enter(run, "move_pages", STEP_LIMIT_MS);
	int result = locate_block(run, buffer->memory, pages);
	run_leave(run);
	if (result)
		report_missing(
		        &run->report, "buffer.pages_on_node", "host", result, "move_pages: %s", strerror(-result));
	if (!node.known)
		report_missing(&run->report, "buffer.requested_node", "host", 0,
		        "the NUMA node of the adapter is not known, so none was asked for");
}
