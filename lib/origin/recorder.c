/* SPDX-License-Identifier: MIT */
/*
 * Writes a snapshot of whatever the collectors ask. Everything goes to the disk at once, since collecting happens in a
 * worker that may be given up at any moment.
 *
 * A path is recorded where it really lies. Names that were listed are noted in "names", so that a listing replays as it
 * was though not everything in it was read.
 */
#include "origin/format.h"
#include "origin/private.h"
#include "origin/recorder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/*
 * A slot of a GID table that holds nothing, as most of them do: its name stays from the listing, and answers an error
 * as empty slots of old kernels do. Of the first one it matters that it was read.
 */
static bool is_empty_slot(const char *path, const char *data, size_t length)
{
	static const char table[] = "/gids/";
	const char *slot = strrchr(path, '/');
	size_t above = slot ? (size_t)(slot - path) + 1 : 0;
	if (above < strlen(table) || strncmp(path + above - strlen(table), table, strlen(table)) != 0)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!strchr("0:\n", data[i]))
			return false;
	return length && strcmp(slot, "/0") != 0;
}

void recorder_file(struct recorder *recorder, const char *path, const char *data, ssize_t length_or_error)
{
	char place[PATH_MAX];
	if (length_or_error == -ENOTDIR || recorder_locate(recorder, path, place))
		return;
	/* What was given up for others of its subject may have been read before. */
	if (length_or_error == -ETIMEDOUT && recorder_has(recorder, place))
		return;
	if (length_or_error < 0)
		recorder_note_error(recorder, place, (int)-length_or_error);
	else if (!is_empty_slot(place, data, (size_t)length_or_error) &&
	         !recorder_has_longer(recorder, place, (size_t)length_or_error))
		recorder_write(recorder, place, data, (size_t)length_or_error);
}

void recorder_list(struct recorder *recorder, const char *path, const struct strings *names)
{
	char place[PATH_MAX], child[PATH_MAX];
	if (recorder_locate(recorder, path, place))
		return;
	int result = recorder_directories(recorder, place, true);
	if (result)
		recorder_fail(recorder, result, place);
	for (uint32_t i = 0; i < names->count; i++) {
		char below[PATH_MAX], target[PATH_MAX];
		int length = snprintf(below, sizeof(below), "%s/%s", place, names->items[i]);
		if (length < 0 || (size_t)length >= sizeof(below))
			continue;
		struct origin *origin = recorder->origin;
		if (origin->ops->readlink(origin, below, target, sizeof(target)) < 0)
			recorder_note_name(recorder, below);
		else if (!recorder_locate(recorder, below, child))
			recorder_note_name(recorder, child);
	}
}

void recorder_link(struct recorder *recorder, const char *path, const char *target)
{
	char place[PATH_MAX];
	(void)target; /* recorder_locate() asks again, for it has to resolve it anyway */
	if (!recorder_locate(recorder, path, place))
		recorder_note_name(recorder, place);
}

void recorder_realpath(struct recorder *recorder, const char *path, const char *canonical)
{
	char place[PATH_MAX];
	(void)canonical;
	if (!recorder_locate(recorder, path, place))
		recorder_note_name(recorder, place);
}

void recorder_access(struct recorder *recorder, const char *path, int error)
{
	char text[16];
	char place[PATH_MAX];
	if (error == -ENOENT || recorder_locate(recorder, path, place))
		return;
	if (!strncmp(path, "dev/", 4))
		recorder_write(recorder, place, text, (size_t)snprintf(text, sizeof(text), "%d\n", -error));
	else if (error)
		recorder_note_error(recorder, place, -error);
	else
		recorder_note_name(recorder, place);
}

void recorder_mad(struct recorder *recorder, const struct mad_request *request, int error)
{
	char path[PATH_MAX];
	if (!mad_path(request, path, sizeof(path)))
		return;
	if (error)
		recorder_note_error(recorder, path, -error);
	else
		recorder_write(recorder, path, (const char *)request->reply, MAD_SIZE);
}

void recorder_netlink(struct recorder *recorder, int protocol, const struct nl_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char path[PATH_MAX];
		const struct nl_request *request = &requests[i];
		int length =
		        snprintf(path, sizeof(path), SNAPSHOT_NETLINK "/%s/%s", protocol_name(protocol), request->name);
		if (length < 0 || (size_t)length >= sizeof(path) || strchr(request->name, '/'))
			continue;
		if (request->error)
			recorder_note_error(recorder, path, -request->error);
		else
			recorder_write(recorder, path, (const char *)request->reply, request->length);
	}
}

/* ---- beginning and end ---- */

int origin_record(struct origin *origin, const char *directory, struct error *error)
{
	struct recorder *recorder = recorder_new(origin, directory, error);
	if (!recorder)
		return error && error->code ? error->code : -EIO;
	origin->recorder = recorder;
	return 0;
}

int origin_record_result(const struct origin *origin, struct error *error)
{
	const struct recorder *recorder = origin->recorder;
	if (recorder && error)
		*error = recorder->failure;
	return recorder ? recorder->failure.code : 0;
}
