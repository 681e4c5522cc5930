/* SPDX-License-Identifier: MIT */
#include "source/hwloc.h"
#include "base/cleanup.h"

#include <dlfcn.h>
#include <errno.h>
#include <hwloc.h>
#include <string.h>

/* The calls of libhwloc that are used, in the order of names[]. */
struct calls {
	__typeof__(hwloc_topology_init) *init;
	__typeof__(hwloc_topology_set_flags) *set_flags;
	__typeof__(hwloc_topology_load) *load;
	__typeof__(hwloc_get_type_depth) *type_depth;
	__typeof__(hwloc_get_nbobjs_by_depth) *count;
	__typeof__(hwloc_get_obj_by_depth) *object;
	__typeof__(hwloc_bitmap_list_asprintf) *list;
	__typeof__(hwloc_topology_destroy) *destroy;
};

static const char *const names[] = {
	"hwloc_topology_init",
	"hwloc_topology_set_flags",
	"hwloc_topology_load",
	"hwloc_get_type_depth",
	"hwloc_get_nbobjs_by_depth",
	"hwloc_get_obj_by_depth",
	"hwloc_bitmap_list_asprintf",
	"hwloc_topology_destroy",
};
_Static_assert(sizeof(struct calls) == sizeof(names), "a name for each call");

/* The library stays loaded: the process that asked is a worker and ends soon. */
static int load(struct calls *calls, struct error *error)
{
	void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return error_say(error, -ENOPKG, "libhwloc: %s", dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		void *address = dlsym(library, names[i]);
		if (!address)
			return error_say(error, -ENOPKG, "libhwloc: it has no %s", names[i]);
		memcpy((char *)calls + i * sizeof(address), &address, sizeof(address));
	}
	return 0;
}

static int add_package(
        const struct calls *calls, struct arena *arena, const struct hwloc_obj *object, struct package_list *packages)
{
	autofree char *list = NULL;
	struct package *package = list_add(arena, packages);
	if (!package || calls->list(&list, object->cpuset) < 0)
		return -ENOMEM;
	if (object->os_index != HWLOC_UNKNOWN_INDEX)
		package->id = num(object->os_index);
	package->cpus = arena_strdup(arena, list);
	return package->cpus ? 0 : -ENOMEM;
}

int hwloc_read_packages(struct arena *arena, struct package_list *packages, struct error *error)
{
	struct calls calls = { 0 };
	hwloc_topology_t topology;
	int result = load(&calls, error);
	if (result)
		return result;
	/* What it thinks of the firmware's tables is no message of ours; with 2 it keeps even that of errors to itself.
	 */
	setenv("HWLOC_HIDE_ERRORS", "2", false);
	if (calls.init(&topology))
		return error_set(error, -ENOMEM, "hwloc_topology_init");
	/* CPUs that this process may not use belong to a package too; I/O is left out by default. */
	if (calls.set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) || calls.load(topology))
		result = error_set(error, errno ? -errno : -EIO, "hwloc_topology_load");
	int depth = result ? -1 : calls.type_depth(topology, HWLOC_OBJ_PACKAGE);
	unsigned int count = depth < 0 ? 0 : calls.count(topology, depth);
	for (unsigned int i = 0; !result && i < count; i++)
		result = add_package(&calls, arena, calls.object(topology, depth, i), packages);
	calls.destroy(topology);
	return result;
}
