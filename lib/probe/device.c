/* SPDX-License-Identifier: MIT */
#include "probe/device.h"

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#define CLASS "sys/class/infiniband"

__attribute__((format(printf, 3, 4))) static char *read_text(
        struct origin *origin, struct arena *arena, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return origin_text(origin, arena, path);
}

int device_names(struct origin *origin, struct arena *arena, struct strings *names, struct error *error)
{
	int result = origin_list(origin, arena, CLASS, names);
	if (result == -ENOENT)
		return error_say(error, -ENODEV, "no RDMA device: the kernel has no RDMA driver loaded");
	if (result)
		return error_set(error, result, "/" CLASS);
	return names->count ? 0 : error_say(error, -ENODEV, "no RDMA device: no driver has made one");
}

/* ---- names ---- */

static bool is_port_of(
        struct origin *origin, struct arena *arena, const char *device, const char *port, const char *netdev)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), CLASS "/%s/ports/%s/gid_attrs/ndevs", device, port);
	struct strings slots = { 0 };
	if (origin_list(origin, arena, path, &slots))
		return false;
	for (uint32_t i = 0; i < slots.count; i++) {
		const char *found = read_text(origin, arena, "%s/%s", path, slots.items[i]);
		if (found && !strcmp(found, netdev))
			return true;
	}
	return false;
}

/* The port of `device` that a GID binds to the netdev; unknown: none. */
static struct num port_of_netdev(struct origin *origin, struct arena *arena, const char *device, const char *netdev)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), CLASS "/%s/ports", device);
	struct strings ports = { 0 };
	if (origin_list(origin, arena, path, &ports))
		return (struct num){ 0 };
	for (uint32_t i = 0; i < ports.count; i++)
		if (is_port_of(origin, arena, device, ports.items[i], netdev))
			return parse_num(ports.items[i], 10);
	return (struct num){ 0 };
}

static void join_names(const struct strings *names, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (uint32_t i = 0; i < names->count && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", names->items[i]);
}

int device_resolve(struct origin *origin, struct arena *arena, const char *name, const char **device, struct num *port,
        struct error *error)
{
	struct strings names = { 0 };
	int result = device_names(origin, arena, &names, error);
	if (result)
		return result;
	for (uint32_t i = 0; i < names.count; i++) {
		if (!strcmp(names.items[i], name)) {
			*device = names.items[i];
			return 0;
		}
	}
	for (uint32_t i = 0; i < names.count; i++) {
		struct num found = port_of_netdev(origin, arena, names.items[i], name);
		if (found.known) {
			*device = names.items[i];
			if (!port->known)
				*port = found;
			return 0;
		}
	}
	char list[200];
	join_names(&names, list, sizeof(list));
	return error_say(
	        error, -ENODEV, "%s: no RDMA device and no netdev of one has this name; there are: %s", name, list);
}

/* ---- a device for those who did not ask for one ---- */

static bool has_address(struct origin *origin, struct arena *arena, const char *path, const uint8_t *address)
{
	struct strings slots = { 0 };
	char gids[PATH_MAX + 8];
	snprintf(gids, sizeof(gids), "%s/gids", path);
	if (origin_list(origin, arena, gids, &slots))
		return false;
	for (uint32_t i = 0; i < slots.count; i++) {
		uint8_t gid[16];
		const char *text = read_text(origin, arena, "%s/%s", gids, slots.items[i]);
		if (text && !parse_gid(text, gid) && !memcmp(gid, address, sizeof(gid)))
			return true;
	}
	return false;
}

/* sysfs: "4: ACTIVE". */
static bool is_active(struct origin *origin, struct arena *arena, const char *path)
{
	const char *state = read_text(origin, arena, "%s/state", path);
	return state && !strncmp(state, "4:", 2);
}

/* The first port of the device that is active and, where an address is looked for, has it. */
static struct num suitable_port(struct origin *origin, struct arena *arena, const char *device, const uint8_t *address)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), CLASS "/%s/ports", device);
	struct strings ports = { 0 };
	if (origin_list(origin, arena, path, &ports))
		return (struct num){ 0 };
	for (uint32_t i = 0; i < ports.count; i++) {
		snprintf(path, sizeof(path), CLASS "/%s/ports/%s", device, ports.items[i]);
		if (address ? has_address(origin, arena, path, address) : is_active(origin, arena, path))
			return parse_num(ports.items[i], 10);
	}
	return (struct num){ 0 };
}

int device_choose(struct origin *origin, struct arena *arena, const uint8_t *address, const char **device,
        struct num *port, struct error *error)
{
	struct strings names = { 0 };
	int result = device_names(origin, arena, &names, error);
	if (result)
		return result;
	for (int pass = address ? 0 : 1; pass < 2; pass++) {
		for (uint32_t i = 0; i < names.count; i++) {
			struct num found = suitable_port(origin, arena, names.items[i], pass ? NULL : address);
			if (found.known) {
				*device = names.items[i];
				*port = found;
				return 0;
			}
		}
	}
	*device = names.items[0];
	return 0;
}

/* ---- facts ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Soft RoCE has no parent device; its attribute "parent" names the netdev (kernel, rxe_verbs.c). */
static const char *find_driver(struct origin *origin, struct arena *arena, const char *device)
{
	char path[PATH_MAX], target[PATH_MAX];
	snprintf(path, sizeof(path), CLASS "/%s/device/driver", device);
	ssize_t length = origin_readlink(origin, path, target, sizeof(target));
	if (length > 0)
		return arena_strdup(arena, base_name(target));
	return read_text(origin, arena, CLASS "/%s/parent", device) ? "rdma_rxe" : NULL;
}

static struct num known_node(struct num node)
{
	return node.known && node.value >= 0 ? node : (struct num){ 0 };
}

static struct num netdev_node(struct origin *origin, const char *netdev)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "sys/class/net/%s/device/numa_node", netdev);
	struct num node = known_node(origin_number(origin, path, 10));
	if (node.known)
		return node;
	/* A virtio netdev's device has no node of its own; its PCI function above has. */
	snprintf(path, sizeof(path), "sys/class/net/%s/device/../numa_node", netdev);
	return known_node(origin_number(origin, path, 10));
}

/* Of a bond: the node that all members share. */
static struct num shared_node(struct origin *origin, struct arena *arena, const char *netdev)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "sys/class/net/%s/bonding/slaves", netdev);
	char *members = origin_text(origin, arena, path);
	struct num shared = { 0 };
	for (char *save, *name = members ? strtok_r(members, " ", &save) : NULL; name;
	        name = strtok_r(NULL, " ", &save)) {
		struct num node = netdev_node(origin, name);
		if (!node.known || (shared.known && shared.value != node.value))
			return (struct num){ 0 };
		shared = node;
	}
	return shared;
}

static struct num find_node(struct origin *origin, struct arena *arena, const char *device)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), CLASS "/%s/device/numa_node", device);
	struct num node = known_node(origin_number(origin, path, 10));
	const char *netdev = node.known ? NULL : read_text(origin, arena, CLASS "/%s/parent", device);
	if (!netdev)
		return node;
	node = netdev_node(origin, netdev);
	return node.known ? node : shared_node(origin, arena, netdev);
}

void device_describe(struct origin *origin, struct arena *arena, struct endpoint_facts *facts)
{
	facts->driver = find_driver(origin, arena, facts->device);
	facts->fw_version = read_text(origin, arena, CLASS "/%s/fw_ver", facts->device);
	if (facts->fw_version && !*facts->fw_version)
		facts->fw_version = NULL;
	facts->numa_node = find_node(origin, arena, facts->device);
}

void device_describe_netdev(struct origin *origin, struct arena *arena, struct endpoint_facts *facts)
{
	char path[PATH_MAX];
	if (facts->gid_index.known)
		facts->netdev = read_text(origin, arena, CLASS "/%s/ports/%d/gid_attrs/ndevs/%d", facts->device,
		        (int)facts->port.value, (int)facts->gid_index.value);
	if (!facts->netdev)
		return;
	snprintf(path, sizeof(path), "sys/class/net/%s/mtu", facts->netdev);
	facts->netdev_mtu = origin_number(origin, path, 10);
	snprintf(path, sizeof(path), "sys/class/net/%s/flags", facts->netdev);
	struct num flags = origin_number(origin, path, 16);
	if (flags.known)
		facts->netdev_up = flag(flags.value & IFF_UP);
}
