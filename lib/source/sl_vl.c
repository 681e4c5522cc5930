/* SPDX-License-Identifier: MIT */
/*
 * SLtoVLMappingTable and VLArbitrationTable of the InfiniBand Architecture Specification, volume 1, 14.2.5.8 and
 * 14.2.5.9: attributes of subnet management, which the adapter answers itself. The device files belong to root.
 */
#include "source/sl_vl.h"
#include "origin/umad.h"
#include "source/sysfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SL_TO_VL = 0x17, VL_ARBITRATION = 0x18, DATA = 64, SERVICE_LEVELS = 16, BLOCK_ENTRIES = 32 };

/* Halves of the table of low priority, then those of high priority. */
enum { LOW_BLOCK = 1, HIGH_BLOCK = 3 };

static int ask(struct origin *origin, struct mad_request *request)
{
	int result = origin_mad(origin, request);
	return result ? result : umad_check(request, request->reply);
}

/* "umad3", of the port; false: there is none. */
static bool find_node(
        struct origin *origin, struct arena *arena, const struct port_health *health, char node[static 32])
{
	struct strings names = { 0 };
	if (origin_list(origin, arena, "sys/class/infiniband_mad", &names))
		return false;
	for (uint32_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		if (strncmp(name, "umad", 4) != 0 || strlen(name) >= 32)
			continue;
		const char *device = sysfs_text(origin, arena, "sys/class/infiniband_mad/%s/ibdev", name);
		struct num port = sysfs_number(origin, "sys/class/infiniband_mad/%s/port", name);
		if (device && !strcmp(device, health->device) && num_is(port, health->number.value)) {
			snprintf(node, 32, "%s", name);
			return true;
		}
	}
	return false;
}

static int read_mapping(struct origin *origin, struct arena *arena, const char *node, struct port_health *health)
{
	struct mad_request request = { .node = node, .attribute = SL_TO_VL };
	int result = ask(origin, &request);
	for (int sl = 0; !result && sl < SERVICE_LEVELS; sl++) {
		unsigned int pair = request.reply[DATA + sl / 2];
		struct num *vl = list_add(arena, &health->sl_to_vl);
		if (!vl)
			return -ENOMEM;
		*vl = num(sl % 2 ? pair & 15 : pair >> 4);
	}
	return result;
}

/* Entries of weight 0 are skipped by the adapter, and left out here. */
static int take_block(struct arena *arena, const unsigned char *block, struct vl_weight_list *list)
{
	for (int i = 0; i < BLOCK_ENTRIES; i++) {
		if (!block[2 * i + 1])
			continue;
		struct vl_weight *entry = list_add(arena, list);
		if (!entry)
			return -ENOMEM;
		*entry = (struct vl_weight){ .vl = num(block[2 * i] & 15), .weight = num(block[2 * i + 1]) };
	}
	return 0;
}

/* The second half of a table is there where it has more than 32 entries. */
static int read_table(struct origin *origin, struct arena *arena, const char *node, unsigned int first_block,
        struct vl_weight_list *list)
{
	for (unsigned int block = first_block; block < first_block + 2; block++) {
		struct mad_request request = { .node = node, .attribute = VL_ARBITRATION, .modifier = block << 16 };
		int result = ask(origin, &request);
		if (result && block > first_block)
			return 0;
		if (!result)
			result = take_block(arena, request.reply + DATA, list);
		if (result)
			return result;
	}
	return 0;
}

void sl_vl_read(struct origin *origin, struct host *host, const char *subject, struct port_health *health)
{
	char node[32], path[64];
	if (!find_node(origin, host->arena, health, node)) {
		report_missing(
		        &host->report, "sl_to_vl", subject, 0, "there is no umad device of the port (module ib_umad)");
		return;
	}
	snprintf(path, sizeof(path), "dev/infiniband/%s", node);
	int result = origin_access(origin, path);
	if (!result)
		result = read_mapping(origin, host->arena, node, health);
	if (!result)
		result = read_table(origin, host->arena, node, LOW_BLOCK, &health->vl_arbitration_low);
	if (!result)
		result = read_table(origin, host->arena, node, HIGH_BLOCK, &health->vl_arbitration_high);
	if (result)
		report_missing(&host->report, health->sl_to_vl.count ? "vl_arbitration" : "sl_to_vl", subject, result,
		        "/%s: %s", path, strerror(-result));
}
