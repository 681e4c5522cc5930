/* SPDX-License-Identifier: MIT */
/*
 * Files of the sysfs tree whose contents move: counters and port states are written to the file when it is opened,
 * which is when the kernel would make them. Opening can also be made to sleep, as reading an attribute does in a
 * driver.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"

static const char *const moving[] = { "state", "phys_state", "fw_ver", NULL };

static bool may_move(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (int i = 0; moving[i]; i++)
		if (!strcmp(name, moving[i]))
			return true;
	for (int i = 0; i < PC_COUNT; i++)
		if (!strcmp(name, port_counter_name[i]))
			return true;
	for (int i = 0; i < HC_COUNT; i++)
		if (!strcmp(name, hw_counter_name[i]))
			return true;
	return false;
}

/* Where the file really is, relative to the root of the tree. False: not in it. */
static bool in_tree(int dirfd, const char *path, char *real_path, const char **rel)
{
	const char *root = getenv("SYSFS_PATH");
	char link[64], joined[PATH_MAX];
	ssize_t n;

	if (!root)
		return false;
	if (dirfd != AT_FDCWD && *path != '/') {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
		n = readlink(link, joined, sizeof(joined) - 1);
		if (n <= 0 || (size_t)n + strlen(path) + 2 > sizeof(joined))
			return false;
		snprintf(joined + n, sizeof(joined) - (size_t)n, "/%s", path);
		path = joined;
	}
	if (!realpath(path, real_path) || strncmp(real_path, root, strlen(root)) || real_path[strlen(root)] != '/')
		return false;
	*rel = real_path + strlen(root) + 1;
	return true;
}

static void rewrite(const char *path, const char *text)
{
	char old[128];
	int fd = real.open(path, O_RDWR | O_CLOEXEC);
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return;
	n = real.read(fd, old, sizeof(old));
	/* readers of other processes see the old or the new text, never a cut one: lengths only grow */
	if ((n != (ssize_t)len || memcmp(old, text, len)) && pwrite(fd, text, len, 0) == (ssize_t)len &&
	        n > (ssize_t)len)
		n = ftruncate(fd, (off_t)len);
	real.close(fd);
}

static bool port_text(const struct fab_port *p, const char *name, char *text, size_t size)
{
	uint64_t v;

	if (!strcmp(name, "state"))
		snprintf(text, size, "%s\n", p->state == 4 ? "4: ACTIVE" : "1: DOWN");
	else if (!strcmp(name, "phys_state"))
		snprintf(text, size, "%s\n", p->state == 4 ? "5: LinkUp" : "3: Disabled");
	else if (counter_by_name(p, name, &v))
		snprintf(text, size, "%llu\n", (unsigned long long)v);
	else
		return false;
	return true;
}

/* devices/…/infiniband/NAME/ports/N/… */
static void refresh_port(const char *path, const char *rel)
{
	struct fab_dev *list[MAX_DEVS];
	const char *at = strstr(rel, "/infiniband/"), *name = strrchr(rel, '/');
	unsigned int n = host_devices(list), number;
	char device[NAME_LEN], text[64];

	if (!at || !name || sscanf(at, "/infiniband/%31[^/]/ports/%u/", device, &number) != 2)
		return;
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(list[i]->name, device) && number >= 1 && number <= list[i]->nports &&
		        port_text(&list[i]->port[number - 1], name + 1, text, sizeof(text)))
			rewrite(path, text);
}

static void block_matching(const char *rel)
{
	struct fault_site site = { .target = rel };

	emu_lock();
	block_if(F_BLOCK_SYSFS, &site);
	emu_unlock();
}

void sysfs_refresh(int dirfd, const char *path)
{
	char real_path[PATH_MAX];
	const char *rel;
	bool moves = path && may_move(path);

	if (!path || !fabric_dir() || (!moves && emu.ready && !fault_any(F_BLOCK_SYSFS)))
		return;
	if (!in_tree(dirfd, path, real_path, &rel) || emu_init())
		return;
	if (fault_any(F_BLOCK_SYSFS))
		block_matching(rel);
	if (moves)
		refresh_port(real_path, rel);
}
