/* SPDX-License-Identifier: MIT */
#include "probe/mappings.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* proc_pid_maps(5): "start-end perms offset major:minor inode   path". */
static bool parse_line(const char *line, size_t length, struct mapping *mapping)
{
	static const char device[] = "/dev/infiniband/uverbs";
	const char *path = memmem(line, length, device, sizeof(device) - 1);
	if (!path)
		return false;
	uint64_t start, end, offset;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64, &start, &end, &offset) != 3 || start >= end)
		return false;
	*mapping = (struct mapping){ (uintptr_t)start, (uintptr_t)end, offset };
	return true;
}

int mappings_parse(const char *text, struct mappings *mappings)
{
	mappings->count = 0;
	while (*text) {
		size_t length = strcspn(text, "\n");
		struct mapping mapping;
		if (parse_line(text, length, &mapping)) {
			if (mappings->count == MAPPINGS_LIMIT)
				return -E2BIG;
			mappings->entries[mappings->count++] = mapping;
		}
		text += length + (text[length] == '\n');
	}
	return 0;
}

/* The file is made anew with every read(2), so a buffer that is large enough for one look is taken. */
int mappings_read(struct mappings *mappings)
{
	autoclose int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	enum { SIZE = 1 << 20 };
	autofree char *text = malloc(SIZE);
	if (!text)
		return -ENOMEM;
	size_t used = 0;
	for (ssize_t got = 1; got > 0 && used < SIZE - 1; used += (size_t)got) {
		got = read(fd, text + used, SIZE - 1 - used);
		if (got < 0)
			return -errno;
	}
	text[used] = '\0';
	return mappings_parse(text, mappings);
}

static bool contains(const struct mappings *mappings, const struct mapping *mapping)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (mappings->entries[i].start == mapping->start && mappings->entries[i].offset == mapping->offset)
			return true;
	return false;
}

static int by_offset(const void *a, const void *b)
{
	const struct mapping *one = a, *other = b;
	return (one->offset > other->offset) - (one->offset < other->offset);
}

size_t mappings_new(const struct mappings *before, const struct mappings *after, struct mapping *out, size_t limit)
{
	size_t count = 0, kept = 0;
	for (size_t i = 0; i < after->count; i++) {
		if (contains(before, &after->entries[i]))
			continue;
		if (kept < limit)
			out[kept++] = after->entries[i];
		count++;
	}
	if (kept > 1)
		qsort(out, kept, sizeof(*out), by_offset);
	return count;
}

const char *mappings_remember(struct mappings **mappings)
{
	if (!*mappings)
		*mappings = calloc(1, sizeof(**mappings));
	int result = *mappings ? mappings_read(*mappings) : -ENOMEM;
	return result ? strerror(-result) : NULL;
}

const char *mappings_since(const struct mappings *before, struct mapping *found, size_t expected)
{
	struct mappings *now = NULL;
	const char *reason = mappings_remember(&now);
	size_t count = reason ? 0 : mappings_new(before, now, found, expected);
	free(now);
	if (reason)
		return reason;
	return count == expected ? NULL : "its mapping was not found";
}
