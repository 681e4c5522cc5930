/* SPDX-License-Identifier: MIT */
/* This host. */
#include "base/cleanup.h"
#include "base/entries.h"
#include "gid/settings.h"
#include "model/host.h"
#include "origin/netlink.h"
#include "origin/private.h"
#include "origin/umad.h"
#include "source/cuda.h"
#include "source/hwloc.h"
#include "source/nft.h"
#include "source/qdisc.h"
#include "source/process.h"
#include "source/verbs_live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

struct live {
	struct origin origin;
	const char *sysfs;             /* what stands for /sys */
	struct nl_socket sockets[3];   /* rdma, route, generic */
	struct verbs_devices *devices; /* NULL until they are listed */
};

static struct live *live(struct origin *origin)
{
	return (struct live *)origin;
}

/* "sys/class/net" → "/sys/class/net", or below SYSFS_PATH. */
static int host_path(struct origin *origin, const char *path, char *out, size_t size)
{
	const char *sysfs = live(origin)->sysfs;
	return !strncmp(path, "sys", 3) ? text_join(out, size, sysfs, path + 3) : text_join(out, size, "/", path);
}

static ssize_t live_read(struct origin *origin, const char *path, char *buffer, size_t size)
{
	char name[PATH_MAX];
	if (host_path(origin, path, name, sizeof(name)))
		return -ENAMETOOLONG;
	autoclose int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	size_t done = 0;
	/*
	 * A file of sysfs gives up to a page at once (fs/kernfs/file.c), and only lists of many CPUs and PCI
	 * configuration spaces have more: less than a page is its end.
	 */
	enum { LEAST_PAGE = 4096 };
	bool in_sysfs = !strncmp(path, "sys/", 4);
	while (done < size - 1) {
		ssize_t got = read(fd, buffer + done, size - 1 - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		done += (size_t)got;
		if (!got || (in_sysfs && got < LEAST_PAGE))
			break;
	}
	return (ssize_t)done;
}

static int live_list(struct origin *origin, struct arena *arena, const char *path, struct strings *names)
{
	char name[PATH_MAX];
	if (host_path(origin, path, name, sizeof(name)))
		return -ENAMETOOLONG;
	DIR *directory = opendir(name);
	if (!directory)
		return -errno;
	int result = 0;
	for (const struct dirent *entry; !result && (entry = next_entry(directory, &result));)
		result = strings_add(arena, names, entry->d_name);
	closedir(directory);
	return result;
}

static ssize_t live_readlink(struct origin *origin, const char *path, char *buffer, size_t size)
{
	char name[PATH_MAX];
	if (host_path(origin, path, name, sizeof(name)))
		return -ENAMETOOLONG;
	ssize_t length = readlink(name, buffer, size - 1);
	if (length < 0)
		return -errno;
	buffer[length] = '\0';
	return length;
}

static int live_realpath(struct origin *origin, const char *path, char *buffer, size_t size)
{
	char name[PATH_MAX], resolved[PATH_MAX], root[PATH_MAX];
	if (host_path(origin, path, name, sizeof(name)))
		return -ENAMETOOLONG;
	if (!realpath(name, resolved))
		return -errno;
	bool in_sysfs = !strncmp(path, "sys", 3);
	const char *inside = resolved;
	if (in_sysfs) {
		/* SYSFS_PATH itself may go through links. */
		if (!realpath(live(origin)->sysfs, root))
			return -errno;
		size_t length = strlen(root);
		if (strncmp(resolved, root, length) || (resolved[length] && resolved[length] != '/'))
			return -EXDEV;
		inside = resolved + length;
	}
	int length = in_sysfs ? snprintf(buffer, size, "sys%s", inside) : snprintf(buffer, size, "%s", inside + 1);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static int live_access(struct origin *origin, const char *path)
{
	char name[PATH_MAX];
	if (host_path(origin, path, name, sizeof(name)))
		return -ENAMETOOLONG;
	return access(name, R_OK | W_OK) ? -errno : 0;
}

static struct nl_socket *socket_of(struct origin *origin, int protocol)
{
	size_t which = protocol == NETLINK_RDMA ? 0 : protocol == NETLINK_ROUTE ? 1 : 2;
	return &live(origin)->sockets[which];
}

static int live_netlink(struct origin *origin, int protocol, struct nl_request *requests, size_t count)
{
	return nl_exchange(socket_of(origin, protocol), protocol, requests, count);
}

static int live_mad(struct origin *origin, struct mad_request *request)
{
	(void)origin;
	return umad_exchange(request);
}

static int live_list_verbs(struct origin *origin)
{
	return verbs_list(&live(origin)->devices);
}

static int live_verbs(struct origin *origin, struct arena *arena, const char *device,
        const struct verbs_question *question, struct verbs_answer *answer, struct error *error)
{
	return verbs_query(live(origin)->devices, arena, device, question, answer, error);
}

static int live_packages(struct origin *origin, struct arena *arena, struct package_list *packages, struct error *error)
{
	(void)origin;
	return hwloc_read_packages(arena, packages, error);
}

static int live_filters(struct origin *origin, struct arena *arena, struct filter_answer *answer, struct error *error)
{
	int result = qdisc_read(socket_of(origin, NETLINK_ROUTE), arena, answer, error); /* which anybody may */
	return result ? result : nft_read_drops(arena, answer, error);
}

static int live_process(struct origin *origin, struct arena *arena, struct process_facts *facts, struct error *error)
{
	(void)origin;
	return process_read(arena, facts, error);
}

static int live_settings(struct origin *origin, struct arena *arena, struct gid_settings *settings, struct error *error)
{
	(void)origin;
	int result = gid_settings_read(arena, environ, settings);
	return result ? error_set(error, result, "settings of this process") : 0;
}

static int live_cuda(struct origin *origin, struct arena *arena, struct cuda_answer *answer, struct error *error)
{
	(void)origin;
	return cuda_query(arena, answer, error);
}

static int live_host(struct origin *origin, struct arena *arena, struct host_facts *facts, struct error *error)
{
	(void)origin;
	struct utsname name;
	if (uname(&name))
		return error_set(error, -errno, "uname");
	facts->hostname = arena_strdup(arena, name.nodename);
	facts->kernel = arena_strdup(arena, name.release);
	facts->architecture = arena_strdup(arena, name.machine);
	return facts->architecture ? 0 : error_set(error, -ENOMEM, "this host");
}

static void live_close(struct origin *origin)
{
	for (size_t i = 0; i < ARRAY_SIZE(live(origin)->sockets); i++)
		nl_socket_close(&live(origin)->sockets[i]);
	verbs_devices_free(live(origin)->devices);
	free(live(origin));
}

static const struct origin_ops live_ops = {
	.name = "live",
	.read = live_read,
	.list = live_list,
	.readlink = live_readlink,
	.realpath = live_realpath,
	.access = live_access,
	.netlink = live_netlink,
	.mad = live_mad,
	.list_verbs = live_list_verbs,
	.verbs = live_verbs,
	.packages = live_packages,
	.process = live_process,
	.settings = live_settings,
	.cuda = live_cuda,
	.filters = live_filters,
	.host = live_host,
	.close = live_close,
};

struct origin *origin_live(void)
{
	struct live *origin = calloc(1, sizeof(*origin));
	if (!origin)
		return NULL;
	/* As libibverbs does (util/sysfs.c): not for a set-user-ID program. */
	const char *sysfs = getauxval(AT_SECURE) ? NULL : getenv("SYSFS_PATH");
	origin->sysfs = sysfs && *sysfs ? sysfs : "/sys";
	origin->origin.ops = &live_ops;
	for (size_t i = 0; i < ARRAY_SIZE(origin->sockets); i++)
		origin->sockets[i] = NL_SOCKET_CLOSED;
	return &origin->origin;
}
