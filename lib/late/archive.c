/* SPDX-License-Identifier: MIT */
#include "late/late.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stddef.h>

static struct late_library libarchive = { .file = "libarchive.so.13" };

/* Without the library there is no reader and no writer: archive_*_new() say so, and nothing else is called. */
/* clang-format off */
LATE(&libarchive, struct archive *, NULL, archive_read_new, (void))
LATE(&libarchive, int, ARCHIVE_FATAL, archive_read_free, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_read_support_filter_bzip2, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_read_support_filter_gzip, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_read_support_filter_xz, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_read_support_filter_zstd, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_read_support_format_tar, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_read_open_fd, (struct archive *archive, int fd, size_t block),
	archive, fd, block)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_read_next_header,
	(struct archive *archive, struct archive_entry **entry), archive, entry)
LATE(&libarchive, la_ssize_t, -1, archive_read_data, (struct archive *archive, void *data, size_t size),
	archive, data, size)
LATE(&libarchive, la_int64_t, -1, archive_read_header_position, (struct archive *archive), archive)
LATE(&libarchive, la_int64_t, -1, archive_filter_bytes, (struct archive *archive, int filter), archive, filter)
LATE(&libarchive, const char *, NULL, archive_error_string, (struct archive *archive), archive)
LATE(&libarchive, const char *, NULL, archive_entry_pathname, (struct archive_entry *entry), entry)
LATE(&libarchive, const char *, NULL, archive_entry_hardlink, (struct archive_entry *entry), entry)
LATE(&libarchive, const char *, NULL, archive_entry_symlink, (struct archive_entry *entry), entry)
LATE(&libarchive, la_int64_t, -1, archive_entry_size, (struct archive_entry *entry), entry)
LATE(&libarchive, __LA_MODE_T, 0, archive_entry_filetype, (struct archive_entry *entry), entry)

LATE(&libarchive, int, ENOSYS, archive_errno, (struct archive *archive), archive)
LATE(&libarchive, struct archive *, NULL, archive_write_new, (void))
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_add_filter_none, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_add_filter_gzip, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_add_filter_bzip2, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_add_filter_xz, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_add_filter_zstd, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_set_format_pax_restricted, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_close, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_free, (struct archive *archive), archive)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_set_filter_option,
	(struct archive *archive, const char *module, const char *option, const char *value), archive, module, option, value)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_open_fd, (struct archive *archive, int fd), archive, fd)
LATE(&libarchive, int, ARCHIVE_FATAL, archive_write_header,
	(struct archive *archive, struct archive_entry *entry), archive, entry)
LATE(&libarchive, la_ssize_t, -1, archive_write_data,
	(struct archive *archive, const void *data, size_t size), archive, data, size)
LATE(&libarchive, struct archive_entry *, NULL, archive_entry_new, (void))
LATE(&libarchive, void, (void)0, archive_entry_free, (struct archive_entry *entry), entry)
LATE(&libarchive, void, (void)0, archive_entry_set_pathname,
	(struct archive_entry *entry, const char *name), entry, name)
LATE(&libarchive, void, (void)0, archive_entry_set_symlink,
	(struct archive_entry *entry, const char *target), entry, target)
LATE(&libarchive, void, (void)0, archive_entry_set_filetype,
	(struct archive_entry *entry, unsigned int type), entry, type)
LATE(&libarchive, void, (void)0, archive_entry_set_perm, (struct archive_entry *entry, __LA_MODE_T mode), entry, mode)
LATE(&libarchive, void, (void)0, archive_entry_set_size, (struct archive_entry *entry, la_int64_t size), entry, size)
LATE(&libarchive, void, (void)0, archive_entry_set_mtime,
	(struct archive_entry *entry, time_t seconds, long nanoseconds), entry, seconds, nanoseconds)
