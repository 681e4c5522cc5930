/* SPDX-License-Identifier: MIT */
/*
 * A snapshot in an archive, read into memory without unpacking. The archive may be hostile: names that would leave the
 * root, members below links, and more than the limits are refused, and nothing of it ever reaches the file system.
 */
#include "base/cleanup.h"
#include "origin/format.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK_SIZE = 64 << 10 };

struct loader {
	struct tree *tree;
	struct archive *archive;
	const char *path;
	struct error *error;
	size_t bytes;
};

static void free_archive(struct archive **archive)
{
	archive_read_free(*archive);
}

/* Only what snapshots come in: fewer parsers see foreign bytes. */
static struct archive *new_reader(void)
{
	struct archive *archive = archive_read_new();
	if (!archive)
		return NULL;
	archive_read_support_filter_gzip(archive);
	archive_read_support_filter_bzip2(archive);
	archive_read_support_filter_xz(archive);
	archive_read_support_filter_zstd(archive);
	archive_read_support_format_tar(archive);
	return archive;
}

static bool ends_with(const char *path, const char *end)
{
	size_t length = strlen(path), wanted = strlen(end);
	return length > wanted && !strcmp(path + length - wanted, end);
}

static int broken(struct loader *loader)
{
	const char *reason = archive_error_string(loader->archive);
	if (ends_with(loader->path, ".toml"))
		return error_say(loader->error, -EINVAL,
		        "%s: the description of a machine; tests/machines/make-snapshot makes a snapshot of it",
		        loader->path);
	if (ends_with(loader->path, ".json"))
		return error_say(loader->error, -EINVAL,
		        "%s: a document, not a snapshot; rdmadiag probe --judge reads one of a probe, rdmadiag compare "
		        "several of any kind",
		        loader->path);
	return error_say(loader->error, -EINVAL, "%s: not a snapshot, or a damaged one: %s", loader->path,
	        reason ? reason : "cannot be read");
}

static int too_much(struct loader *loader, const char *name)
{
	return error_say(loader->error, -EFBIG, "%s: \"%.100s\": the archive holds more than %d MiB or %d entries",
	        loader->path, name, SNAPSHOT_ARCHIVE_LIMIT >> 20, TREE_ENTRY_LIMIT);
}

/* The whole contents; the size that the header claims is only a hint that may spare the reading. */
static int read_data(struct loader *loader, struct archive_entry *entry, struct node *node, const char *name)
{
	int64_t claimed = archive_entry_size(entry);
	size_t left = SNAPSHOT_ARCHIVE_LIMIT - loader->bytes;
	if (claimed < 0 || (uint64_t)claimed > left)
		return too_much(loader, name);
	char *data = tree_alloc(loader->tree, (size_t)claimed + 1);
	if (!data)
		return too_much(loader, name);
	size_t length = 0;
	while (length < (size_t)claimed) {
		la_ssize_t got = archive_read_data(loader->archive, data + length, (size_t)claimed - length);
		if (got < 0)
			return broken(loader);
		if (!got)
			break;
		length += (size_t)got;
	}
	loader->bytes += length;
	node->data = data;
	node->length = length;
	return 0;
}

static int add_link(struct loader *loader, struct archive_entry *entry, struct node *node, const char *name)
{
	const char *target = archive_entry_symlink(entry);
	size_t size = target ? strlen(target) + 1 : 0;
	char *copy = size > 1 ? tree_alloc(loader->tree, size) : NULL;
	if (!copy)
		return error_say(loader->error, -EINVAL, "%s: \"%.100s\": a link without a target", loader->path, name);
	node->data = memcpy(copy, target, size);
	node->length = size - 1;
	return 0;
}

/* A hard link shares the contents of an earlier member. */
static int add_hardlink(struct loader *loader, const char *target, struct node *node, const char *name)
{
	struct node *other;
	if (tree_find(loader->tree, target, false, &other) || other->kind != NODE_FILE || other == node)
		return error_say(loader->error, -EINVAL, "%s: \"%.100s\": a hard link to what is not in the archive",
		        loader->path, name);
	node->data = other->data;
	node->length = other->length;
	return 0;
}

static int add_entry(struct loader *loader, struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);
	const char *hardlink = archive_entry_hardlink(entry);
	mode_t type = archive_entry_filetype(entry);
	if (!name || !*name)
		return error_say(loader->error, -EINVAL, "%s: a member without a name", loader->path);
	if (*name == '/')
		return error_say(loader->error, -EINVAL, "%s: \"%.100s\": an absolute name", loader->path, name);
	enum node_kind kind = hardlink || type == AE_IFREG ? NODE_FILE : type == AE_IFLNK ? NODE_LINK : NODE_DIRECTORY;
	if (kind == NODE_DIRECTORY && type != AE_IFDIR)
		return error_say(loader->error, -EINVAL, "%s: \"%.100s\" is neither a file, a directory nor a link",
		        loader->path, name);
	struct node *node;
	int result = tree_make(loader->tree, name, kind, false, &node);
	if (result == -ENOSPC)
		return too_much(loader, name);
	if (result == -ENAMETOOLONG)
		return error_say(loader->error, -EFBIG, "%s: \"%.100s\": directories more than %d deep", loader->path,
		        name, TREE_DEPTH_LIMIT - 1);
	if (result || node->kind != kind)
		return error_say(loader->error, -EINVAL, "%s: \"%.100s\": %s", loader->path, name,
		        result == -EINVAL ? "a name with \"..\"" : "lies below or replaces something of another kind");
	if (hardlink)
		return add_hardlink(loader, hardlink, node, name);
	if (kind == NODE_LINK)
		return add_link(loader, entry, node, name);
	return kind == NODE_FILE ? read_data(loader, entry, node, name) : 0;
}

/*
 * A tar archive ends with blocks of zeros. libarchive takes the end of the bytes for the end of the archive too, and
 * then the position of the header that it looked for is where the bytes end.
 */
static bool ends_properly(struct archive *archive)
{
	return archive_filter_bytes(archive, 0) > archive_read_header_position(archive);
}

int archive_load(struct tree *tree, int fd, const char *path, struct error *error)
{
	autocall(free_archive) struct archive *archive = new_reader();
	if (!archive)
		return error_say(error, -ENOSYS, "%s: an archive, and libarchive cannot be loaded: unpack it", path);
	struct loader loader = { .tree = tree, .archive = archive, .path = path, .error = error };
	if (archive_read_open_fd(archive, fd, BLOCK_SIZE) != ARCHIVE_OK)
		return broken(&loader);
	struct archive_entry *entry;
	int status;
	while ((status = archive_read_next_header(archive, &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN) {
		int result = add_entry(&loader, entry);
		if (result)
			return result;
	}
	if (status != ARCHIVE_EOF)
		return broken(&loader);
	return ends_properly(archive)
	               ? 0
	               : error_say(error, -EINVAL, "%s: a damaged snapshot: the archive ends in the middle", path);
}
