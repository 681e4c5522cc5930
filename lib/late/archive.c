/* SPDX-License-Identifier: MIT */
#include "late/late.h"

#include <archive.h>
#include <archive_entry.h>
#include <stddef.h>

static struct late_library libarchive = { .file = "libarchive.so.13" };

/* Without the library there is no reader: archive_read_new() says so, and nothing else is called. */
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
