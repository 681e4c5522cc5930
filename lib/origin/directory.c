/* SPDX-License-Identifier: MIT */
#include "origin/directory.h"
#include "base/cleanup.h"
#include "base/entries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each part of the path by itself, for where the kernel cannot be told to follow no link at all. */
static int open_by_parts(int directory, const char *path, int flags)
{
	int at = directory;
	for (;;) {
		char part[NAME_MAX + 1];
		size_t length = strcspn(path, "/");
		bool last = !path[length];
		if (length >= sizeof(part))
			return -ENAMETOOLONG;
		memcpy(part, path, length);
		part[length] = '\0';
		struct stat status;
		/* On a link O_DIRECTORY says that it is no directory. */
		bool is_link = !last && !fstatat(at, part, &status, AT_SYMLINK_NOFOLLOW) && S_ISLNK(status.st_mode);
		int fd = openat(at, part, last ? flags : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int result = is_link ? -ELOOP : fd < 0 ? -errno : fd;
		if (at != directory)
			close(at);
		if (is_link && fd >= 0)
			close(fd);
		if (result < 0 || last)
			return result;
		at = fd;
		path += length + 1;
	}
}

/*
 * The path holds no links any more, as far as the tree knows; the kernel makes sure of it (openat2, Linux 5.6; a
 * sandbox may refuse that call).
 */
static int open_below(const struct directory *directory, const struct node *node, int flags)
{
	char path[PATH_MAX];
	struct open_how how = {
		.flags = (unsigned int)(O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | flags),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int length = tree_path(directory->tree, node, path, sizeof(path));
	if (length < 0)
		return length;
	const char *name = length ? path : ".";
	/* Headers of C libraries lag behind those of the kernel: glibc 2.31 has no SYS_openat2. */
	int fd = (int)syscall(__NR_openat2, directory->fd, name, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_parts(directory->fd, name, (int)how.flags);
	return fd < 0 ? -errno : fd;
}

int directory_open(const struct directory *directory, const struct node *node)
{
	struct stat status;
	int fd = open_below(directory, node, 0);
	if (fd < 0)
		return fd;
	int result = fstat(fd, &status) ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;
	if (result)
		close(fd);
	return result ? result : fd;
}

/* ---- names ---- */

static int wrong(struct directory *directory, const struct node *parent, const char *name, int code, const char *reason)
{
	char where[PATH_MAX];
	if (tree_path(directory->tree, parent, where, sizeof(where)) < 0)
		where[0] = '\0';
	if (directory->damage.code)
		return code;
	const char *before = *where ? ": " : "", *between = *where && *name ? "/" : *name ? ": " : "";
	return error_say(
	        &directory->damage, code, "%s%s%s%s%.100s: %s", directory->path, before, where, between, name, reason);
}

static int read_link(struct directory *directory, int fd, struct node *node)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(fd, node->name, target, sizeof(target) - 1);
	if (length < 0)
		return wrong(directory, node->parent, node->name, -errno, strerror(errno));
	char *copy = tree_alloc(directory->tree, (size_t)length + 1);
	if (!copy)
		return wrong(directory, node->parent, node->name, -EFBIG,
		        "too many or too long names for a snapshot, or no memory for them");
	memcpy(copy, target, (size_t)length);
	node->data = copy;
	node->length = (size_t)length;
	return 0;
}

static unsigned char entry_type(int fd, const struct dirent *entry)
{
	struct stat status;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	return fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ? DT_UNKNOWN
	                                                                : (unsigned char)IFTODT(status.st_mode);
}

static int add_entry(struct directory *directory, int fd, struct node *parent, const struct dirent *entry)
{
	static const enum node_kind kinds[DT_WHT + 1] = {
		[DT_REG] = NODE_FILE, [DT_DIR] = NODE_DIRECTORY, [DT_LNK] = NODE_LINK
	};
	unsigned char type = entry_type(fd, entry);
	if (type > DT_WHT || kinds[type] == NODE_NAME)
		return wrong(directory, parent, entry->d_name, -EINVAL, "is neither a file, a directory nor a link");
	struct node *node = tree_add(directory->tree, parent, kinds[type], entry->d_name, strlen(entry->d_name));
	if (!node)
		return wrong(directory, parent, entry->d_name, -EFBIG,
		        "too many or too long names for a snapshot, or no memory for them");
	node->unread = type == DT_DIR;
	return type == DT_LNK ? read_link(directory, fd, node) : 0;
}

int directory_read(void *context, struct node *parent)
{
	struct directory *directory = context;
	int fd = open_below(directory, parent, O_DIRECTORY);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		int code = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		return wrong(directory, parent, "", code, strerror(-code));
	}
	int result = 0, broken = 0;
	for (const struct dirent *entry; !result && (entry = next_entry(stream, &broken));)
		result = add_entry(directory, dirfd(stream), parent, entry);
	closedir(stream);
	return broken ? wrong(directory, parent, "", broken, strerror(-broken)) : result;
}
