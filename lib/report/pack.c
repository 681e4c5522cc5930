/* SPDX-License-Identifier: MIT */
#include "report/pack.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct pack {
	struct archive *archive;
	char name[PATH_MAX];
};

static const struct {
	const char *suffix;
	enum pack_filter filter;
} suffixes[] = {
	{ ".tar.gz", PACK_GZIP },
	{ ".tgz", PACK_GZIP },
	{ ".tar.xz", PACK_XZ },
	{ ".txz", PACK_XZ },
	{ ".tar.zst", PACK_ZSTD },
	{ ".tzst", PACK_ZSTD },
	{ ".tar.bz2", PACK_BZIP2 },
	{ ".tar", PACK_NONE },
	{ ".gz", PACK_GZIP },
	{ ".xz", PACK_XZ },
	{ ".zst", PACK_ZSTD },
	{ ".bz2", PACK_BZIP2 },
};

/* Names that promise what the contents would not be. */
static const char *const others[] = { ".zip", ".7z", ".rar", ".cpio", ".lz", ".lz4", ".lzma", ".lzo", ".Z", ".json",
	".txt", ".log", ".html", ".svg" };

static bool ends_with(const char *path, const char *suffix)
{
	size_t length = strlen(path), size = strlen(suffix);
	return length > size && !strcasecmp(path + length - size, suffix);
}

int pack_filter_of(const char *path, enum pack_filter *filter)
{
	*filter = PACK_GZIP;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (ends_with(path, suffixes[i].suffix)) {
			*filter = suffixes[i].filter;
			return 0;
		}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (ends_with(path, others[i]))
			return -EINVAL;
	return 0;
}

/* libarchive says "Write error" of whatever write(2) refuses; its number is of more use. */
static int broken(struct pack *pack, struct error *error)
{
	int code = archive_errno(pack->archive);
	if (code == ENOSPC || code == EPIPE || code == EBADF || code == EFBIG || code == EDQUOT || code == EIO)
		return error_set(error, -code, "%s", pack->name);
	const char *reason = archive_error_string(pack->archive);
	return error_say(error, code > 0 ? -code : -EIO, "%s: %s", pack->name, reason ? reason : "cannot be written");
}

static int add_filter(struct archive *archive, enum pack_filter filter)
{
	switch (filter) {
	case PACK_GZIP:
		if (archive_write_add_filter_gzip(archive) != ARCHIVE_OK)
			return ARCHIVE_FATAL;
		/* Where the library is too old to leave the time out it stays. */
		(void)archive_write_set_filter_option(archive, "gzip", "timestamp", NULL);
		return ARCHIVE_OK;
	case PACK_BZIP2:
		return archive_write_add_filter_bzip2(archive);
	case PACK_XZ:
		return archive_write_add_filter_xz(archive);
	case PACK_ZSTD:
		return archive_write_add_filter_zstd(archive);
	case PACK_NONE:
		break;
	}
	return archive_write_add_filter_none(archive);
}

struct pack *pack_new(int fd, const char *name, enum pack_filter filter, struct error *error)
{
	struct pack *pack = calloc(1, sizeof(*pack));
	if (!pack) {
		error_set(error, -ENOMEM, "%s", name);
		return NULL;
	}
	pack->archive = archive_write_new();
	if (!pack->archive) {
		free(pack);
		error_say(error, -ENOSYS, "%s: libarchive is needed to write an archive, and cannot be loaded", name);
		return NULL;
	}
	snprintf(pack->name, sizeof(pack->name), "%s", name);
	if (archive_write_set_format_pax_restricted(pack->archive) != ARCHIVE_OK ||
	        add_filter(pack->archive, filter) != ARCHIVE_OK ||
	        archive_write_open_fd(pack->archive, fd) != ARCHIVE_OK) {
		broken(pack, error);
		pack_free(pack);
		return NULL;
	}
	return pack;
}

static void free_entry(struct archive_entry **entry)
{
	archive_entry_free(*entry);
}

static int write_data(struct pack *pack, int fd, size_t left, const char *path, struct error *error)
{
	static char buffer[1 << 16]; /* one archive is written at a time */
	while (left) {
		ssize_t got = read(fd, buffer, left < sizeof(buffer) ? left : sizeof(buffer));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return error_set(error, got ? -errno : -EIO, "%s", path);
		if (archive_write_data(pack->archive, buffer, (size_t)got) < 0)
			return broken(pack, error);
		left -= (size_t)got;
	}
	return 0;
}

struct member {
	const char *path, *name; /* on disk; in the archive */
	const struct stat *status;
};

static int add_member(struct pack *pack, const struct member *member, struct error *error)
{
	autocall(free_entry) struct archive_entry *entry = archive_entry_new();
	char target[PATH_MAX];
	mode_t type = member->status->st_mode & S_IFMT;
	if (!entry)
		return error_set(error, -ENOMEM, "%s", pack->name);
	archive_entry_set_pathname(entry, member->name);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, type == S_IFDIR ? 0755 : 0644);
	archive_entry_set_mtime(entry, 0, 0);
	if (type == S_IFREG)
		archive_entry_set_size(entry, member->status->st_size);
	if (type == S_IFLNK) {
		ssize_t length = readlink(member->path, target, sizeof(target) - 1);
		if (length < 0)
			return error_set(error, -errno, "%s", member->path);
		target[length] = '\0';
		archive_entry_set_symlink(entry, target);
	}
	autoclose int fd = type == S_IFREG ? open(member->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (type == S_IFREG && fd < 0)
		return error_set(error, -errno, "%s", member->path);
	if (archive_write_header(pack->archive, entry) != ARCHIVE_OK)
		return broken(pack, error);
	return fd < 0 ? 0 : write_data(pack, fd, (size_t)member->status->st_size, member->path, error);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

static int add_entry(struct pack *pack, const char *path, const char *name, struct error *error)
{
	struct stat status;
	if (lstat(path, &status))
		return error_set(error, -errno, "%s", path);
	if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode) && !S_ISDIR(status.st_mode))
		return 0;
	int result = add_member(pack, &(struct member){ path, name, &status }, error);
	return !result && S_ISDIR(status.st_mode) ? pack_add(pack, path, name, error) : result;
}

int pack_add(struct pack *pack, const char *directory, const char *prefix, struct error *error)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_entry, by_name), result = 0;
	if (count < 0)
		return error_set(error, -errno, "%s", directory);
	for (int i = 0; i < count; i++) {
		autofree char *path = NULL, *name = NULL;
		if (!result && (asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0 ||
		                       asprintf(&name, "%s/%s", prefix, entries[i]->d_name) < 0))
			result = error_set(error, -ENOMEM, "%s", directory);
		if (!result)
			result = add_entry(pack, path, name, error);
		free(entries[i]);
	}
	free(entries);
	return result;
}

int pack_finish(struct pack *pack, struct error *error)
{
	return archive_write_close(pack->archive) == ARCHIVE_OK ? 0 : broken(pack, error);
}

void pack_free(struct pack *pack)
{
	if (!pack)
		return;
	archive_write_free(pack->archive);
	free(pack);
}
