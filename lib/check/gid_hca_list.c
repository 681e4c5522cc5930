/* SPDX-License-Identifier: MIT */
/*
 * NCCL_IB_HCA without "=" holds beginnings of names: mlx5_1 stands for mlx5_10 and mlx5_11 too, which are there as soon
 * as a host has more than ten devices. Beginnings that are no device's name, as mlx5, are meant as such.
 */
#include "base/text.h"
#include "check/add.h"
#include "check/gid.h"
#include "gid/choose.h"

#include <ctype.h>
#include <string.h>

#define VARIABLE "NCCL_IB_HCA"

/* Does the list have this name, with whatever port? */
static bool has_name(const char *list, const char *name)
{
	return text_lists(list, name, ":,");
}

/* The device that the list names and whose name is the beginning of this one's; NULL: there is none, or it is named. */
static const struct rdma_device *beginning_of(
        const struct host *host, const char *list, const struct rdma_device *device)
{
	if (has_name(list, device->name))
		return NULL;
	list_each(other, &host->devices) {
		size_t length = strlen(other->name);
		if (!strncmp(device->name, other->name, length) && isdigit((unsigned char)device->name[length]) &&
		        has_name(list, other->name))
			return other;
	}
	return NULL;
}

/* What became of it: used, or left out by the list. Neither: another setting or the state of its ports decides. */
static bool is_taken(const struct gid_document *document, const struct rdma_device *device, bool negated)
{
	list_each(table, &document->tables) {
		struct gid_choices choices = gid_choices_of(document, table);
		if (table->rdma != device)
			continue;
		list_each(choice, &choices) {
			bool left_out = choice->left_out_by && !strcmp(choice->left_out_by, VARIABLE);
			if (!strcmp(choice->consumer, "nccl") && (negated ? left_out : choice->index.known))
				return true;
		}
	}
	return false;
}

void check_gid_hca_list(
        struct host *host, const struct gid_document *document, const struct gid_environment *environment)
{
	enum { SHOWN = 4 };
	const char *list = gid_nccl_get(environment, VARIABLE), *names = "";
	const struct rdma_device *first = NULL;
	uint32_t count = 0;
	bool negated = list && *list == '^';
	if (!list || list[negated] == '=')
		return;
	list_each(device, &host->devices) {
		const struct rdma_device *beginning = beginning_of(host, list + negated, device);
		if (!beginning || !is_taken(document, device, negated))
			continue;
		first = first ? first : beginning;
		if (names && count++ < SHOWN)
			names = arena_printf(host->arena, "%s%s%s", names, *names ? ", " : "", device->name);
	}
	if (!first || !names)
		return;
	const char *more = count > SHOWN ? arena_printf(host->arena, " and %u more", count - SHOWN) : "";
	struct finding *finding = check_add(&host->report, "device-setting-beginnings", "host",
	        VARIABLE "=%.80s holds beginnings of names, as %s: nccl %s %s%s too", list, first->name,
	        negated ? "leaves out" : "uses", names, more ? more : "");
	report_evidence(&host->report, finding, "settings", VARIABLE, "%.80s", list);
	report_advice(
	        finding, arena_printf(host->arena, "Where that is not meant: " VARIABLE "=%s=%.80s takes whole names.",
	                         negated ? "^" : "", list + negated));
}
