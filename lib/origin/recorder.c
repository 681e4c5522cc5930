/* SPDX-License-Identifier: MIT */
/*
 * Writes a snapshot of whatever the collectors ask. Everything goes to the disk at once, since collecting happens in a
 * worker that may be given up at any moment; only what went wrong while writing is kept, in memory shared with the
 * parent.
 *
 * A path is recorded where it really lies: each link on the way is asked of the origin and recorded as a link. Names
 * that were listed are noted in "names", so that a listing replays as it was though not everything in it was read.
 */
#include "base/cleanup.h"
#include "base/entries.h"
#include "model/gid.h"
#include "model/gpu.h"
#include "model/health.h"
#include "model/host.h"
#include "origin/format.h"
#include "origin/private.h"
#include "json/json.h"
#include "source/verbs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINK_LIMIT = 40 };

struct recorder {
	struct origin *origin;
	int directory;
	int names, errors; /* opened for appending */
	char path[PATH_MAX];
	struct error failure; /* the first */
};

static void fail(struct recorder *recorder, int code, const char *name)
{
	if (!recorder->failure.code)
		error_set(&recorder->failure, code, "%s/%s", recorder->path, name);
}

/* ---- files below the directory ---- */

/* The directories above `path`, and with `whole` itself. */
static int make_directories(struct recorder *recorder, const char *path, bool whole)
{
	char part[PATH_MAX];
	for (const char *end = path; *end; end++) {
		size_t length = (size_t)(end - path);
		bool last = !end[1];
		if (*end != '/' && !(last && whole))
			continue;
		length += *end != '/';
		if (length >= sizeof(part))
			return -ENAMETOOLONG;
		memcpy(part, path, length);
		part[length] = '\0';
		if (mkdirat(recorder->directory, part, 0777) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t done = write(fd, data, length);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		data += done;
		length -= (size_t)done;
	}
	return 0;
}

static bool is_there(const struct recorder *recorder, const char *path)
{
	return !faccessat(recorder->directory, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* A shorter look at the same file does not replace a longer one. */
static bool is_shorter(const struct recorder *recorder, const char *path, size_t length)
{
	struct stat status;
	return !fstatat(recorder->directory, path, &status, AT_SYMLINK_NOFOLLOW) && (size_t)status.st_size > length;
}

static void write_file(struct recorder *recorder, const char *path, const char *data, size_t length)
{
	int result = make_directories(recorder, path, false);
	autoclose int fd =
	        result ? -1
	               : openat(recorder->directory, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (!result && fd < 0)
		result = -errno;
	if (!result)
		result = write_all(fd, data, length);
	if (result)
		fail(recorder, result, path);
}

/*
 * Appends a line; one write, so that the lines of a worker that is given up stay whole. Paths that no line can hold are
 * left out.
 */
static void append(struct recorder *recorder, int fd, const char *file, const char *before, const char *path)
{
	char line[PATH_MAX + 16] = "";
	int length = snprintf(line, sizeof(line), "%s%s\n", before, path);
	if (length < 0 || (size_t)length >= sizeof(line) || strchr(path, '\n'))
		return;
	int result = write_all(fd, line, (size_t)length);
	if (result)
		fail(recorder, result, file);
}

static void note_name(struct recorder *recorder, const char *path)
{
	append(recorder, recorder->names, SNAPSHOT_NAMES, "", path);
}

static void note_error(struct recorder *recorder, const char *path, int code)
{
	char before[16];
	snprintf(before, sizeof(before), "%d ", code);
	append(recorder, recorder->errors, SNAPSHOT_ERRORS, before, path);
}

static void write_link(struct recorder *recorder, const char *path, const char *target)
{
	int result = make_directories(recorder, path, false);
	if (!result && symlinkat(target, recorder->directory, path) && errno != EEXIST)
		result = -errno;
	if (result)
		fail(recorder, result, path);
}

/* ---- where a path really lies ---- */

struct place {
	char path[PATH_MAX]; /* without links */
	char rest[PATH_MAX]; /* still to go */
	int links;
};

static void go_up(struct place *place)
{
	char *slash = strrchr(place->path, '/');
	*(slash ? slash : place->path) = '\0';
}

/* The target takes the place of the link: in front of what is still to go. */
static int follow(struct place *place, const char *target)
{
	char rest[PATH_MAX];
	int length = snprintf(rest, sizeof(rest), "%s/%s", target, place->rest);
	if (++place->links > LINK_LIMIT)
		return -ELOOP;
	if (length < 0 || (size_t)length >= sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(place->rest, rest, (size_t)length + 1);
	if (*target == '/')
		place->path[0] = '\0';
	else
		go_up(place);
	return 0;
}

/* Takes one part from what is to go. False: nothing is left. */
static bool take(struct place *place, char part[static NAME_MAX + 1])
{
	const char *start = place->rest + strspn(place->rest, "/");
	size_t length = strcspn(start, "/");
	if (!length)
		return false;
	size_t kept = length <= NAME_MAX ? length : NAME_MAX;
	memcpy(part, start, kept);
	part[kept] = '\0';
	memmove(place->rest, start + length, strlen(start + length) + 1);
	return true;
}

static int step(struct recorder *recorder, struct place *place, const char *part)
{
	char target[PATH_MAX];
	if (!strcmp(part, "."))
		return 0;
	if (!strcmp(part, "..")) {
		go_up(place);
		return 0;
	}
	size_t at = strlen(place->path);
	int length = snprintf(place->path + at, sizeof(place->path) - at, "%s%s", at ? "/" : "", part);
	if (length < 0 || (size_t)length >= sizeof(place->path) - at)
		return -ENAMETOOLONG;
	if (!strchr(place->path, '/')) /* sys, proc and dev themselves */
		return 0;
	struct origin *origin = recorder->origin;
	if (origin->ops->readlink(origin, place->path, target, sizeof(target)) < 0)
		return 0;
	write_link(recorder, place->path, target);
	return follow(place, target);
}

/* Resolves `path` and records its links. 0 or negative errno. */
static int locate(struct recorder *recorder, const char *path, struct place *place)
{
	char part[NAME_MAX + 1];
	place->path[0] = '\0';
	place->links = 0;
	if (snprintf(place->rest, sizeof(place->rest), "%s", path) >= (int)sizeof(place->rest))
		return -ENAMETOOLONG;
	while (take(place, part)) {
		int result = step(recorder, place, part);
		if (result)
			return result;
	}
	return *place->path ? 0 : -ENOENT;
}

/* ---- what origin.c hands over ---- */

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
	struct place place;
	if (length_or_error == -ENOTDIR || locate(recorder, path, &place))
		return;
	/* What was given up for others of its subject may have been read before. */
	if (length_or_error == -ETIMEDOUT && is_there(recorder, place.path))
		return;
	if (length_or_error < 0)
		note_error(recorder, place.path, (int)-length_or_error);
	else if (!is_empty_slot(place.path, data, (size_t)length_or_error) &&
	         !is_shorter(recorder, place.path, (size_t)length_or_error))
		write_file(recorder, place.path, data, (size_t)length_or_error);
}

void recorder_list(struct recorder *recorder, const char *path, const struct strings *names)
{
	struct place place, child;
	if (locate(recorder, path, &place))
		return;
	int result = make_directories(recorder, place.path, true);
	if (result)
		fail(recorder, result, place.path);
	for (uint32_t i = 0; i < names->count; i++) {
		char below[PATH_MAX], target[PATH_MAX];
		int length = snprintf(below, sizeof(below), "%s/%s", place.path, names->items[i]);
		if (length < 0 || (size_t)length >= sizeof(below))
			continue;
		struct origin *origin = recorder->origin;
		if (origin->ops->readlink(origin, below, target, sizeof(target)) < 0)
			note_name(recorder, below);
		else if (!locate(recorder, below, &child))
			note_name(recorder, child.path);
	}
}

void recorder_link(struct recorder *recorder, const char *path, const char *target)
{
	struct place place;
	(void)target; /* locate() asks again, for it has to resolve it anyway */
	if (!locate(recorder, path, &place))
		note_name(recorder, place.path);
}

void recorder_realpath(struct recorder *recorder, const char *path, const char *canonical)
{
	struct place place;
	(void)canonical;
	if (!locate(recorder, path, &place))
		note_name(recorder, place.path);
}

void recorder_access(struct recorder *recorder, const char *path, int error)
{
	char text[16];
	struct place place;
	if (error == -ENOENT || locate(recorder, path, &place))
		return;
	if (!strncmp(path, "dev/", 4))
		write_file(recorder, place.path, text, (size_t)snprintf(text, sizeof(text), "%d\n", -error));
	else if (error)
		note_error(recorder, place.path, -error);
	else
		note_name(recorder, place.path);
}

void recorder_mad(struct recorder *recorder, const struct mad_request *request, int error)
{
	char path[PATH_MAX];
	if (!mad_path(request, path, sizeof(path)))
		return;
	if (error)
		note_error(recorder, path, -error);
	else
		write_file(recorder, path, (const char *)request->reply, MAD_SIZE);
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
			note_error(recorder, path, -request->error);
		else
			write_file(recorder, path, (const char *)request->reply, request->length);
	}
}

static void put_json(json_object **object)
{
	json_object_put(*object);
}

static void write_json(struct recorder *recorder, const char *path, json_object *object)
{
	autofree char *text = json_text(object, true);
	if (text)
		write_file(recorder, path, text, strlen(text));
	else
		fail(recorder, -ENOMEM, path);
}

static void write_record(struct recorder *recorder, const char *path, const struct record *record, const void *data)
{
	autocall(put_json) json_object *object = record_to_json(record, data);
	write_json(recorder, path, object);
}

void recorder_settings(struct recorder *recorder, const struct gid_settings *settings)
{
	write_record(recorder, SNAPSHOT_SETTINGS, &gid_settings_record, settings);
}

void recorder_host(struct recorder *recorder, const struct host_facts *facts)
{
	write_record(recorder, SNAPSHOT_HOST, &host_facts_record, facts);
}

static int add_failure(json_object *answer, const struct error *error)
{
	if (!error || !error->code)
		return 0;
	json_object *failure = json_object_new_object();
	if (!failure || json_put_member(failure, "errno", json_object_new_int(-error->code)) ||
	        json_put_member(failure, "text", json_object_new_string(error->text))) {
		json_object_put(failure);
		return -ENOMEM;
	}
	return json_put_member(answer, SNAPSHOT_FAILURE, failure);
}

static void write_answer(struct recorder *recorder, const char *path, const struct record *record, const void *data,
        const struct error *error)
{
	autocall(put_json) json_object *object = record_to_json(record, data);
	if (object && !add_failure(object, error))
		write_json(recorder, path, object);
	else
		fail(recorder, -ENOMEM, path);
}

void recorder_process(struct recorder *recorder, const struct process_facts *facts, const struct error *error)
{
	write_answer(recorder, SNAPSHOT_PROCESS, &process_record, facts, error);
}

void recorder_cuda(struct recorder *recorder, const struct cuda_answer *answer, const struct error *error)
{
	write_answer(recorder, SNAPSHOT_CUDA, &cuda_record, answer, error);
}

void recorder_filters(struct recorder *recorder, const struct filter_answer *answer, const struct error *error)
{
	write_answer(recorder, SNAPSHOT_FILTERS, &filter_answer_record, answer, error);
}

void recorder_packages(struct recorder *recorder, const struct package_list *packages, const struct error *error)
{
	const struct package_answer answer = { .packages = *packages };
	write_answer(recorder, SNAPSHOT_HWLOC, &package_answer_record, &answer, error);
}

/* A device is asked several times, for other things each time: what an answer does not tell stays as it was. */
static int merge(json_object *answer, json_object *earlier)
{
	json_object_object_foreach(earlier, key, value)
	{
		json_object *now = json_object_object_get(answer, key);
		bool empty = json_object_is_type(now, json_type_array) && !json_object_array_length(now);
		if ((!now || empty) && value && json_put_member(answer, key, json_object_get(value)))
			return -ENOMEM;
	}
	return 0;
}

static json_object *earlier_answer(const struct recorder *recorder, const char *path)
{
	autoclose int fd = openat(recorder->directory, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : json_object_from_fd(fd);
}

void recorder_verbs(
        struct recorder *recorder, const char *device, const struct verbs_answer *answer, const struct error *error)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), SNAPSHOT_VERBS "/%s.json", device);
	if (length < 0 || (size_t)length >= sizeof(path) || strchr(device, '/'))
		return;
	autocall(put_json) json_object *object = record_to_json(&verbs_record, answer);
	autocall(put_json) json_object *earlier = earlier_answer(recorder, path);
	if (!object || add_failure(object, error) || (earlier && merge(object, earlier))) {
		fail(recorder, -ENOMEM, path);
		return;
	}
	write_json(recorder, path, object);
}

/* ---- beginning and end ---- */

/* 0, -ENOTEMPTY, or what kept from looking. */
static int check_empty(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	DIR *stream = fdopendir(copy);
	if (!stream) {
		int code = -errno;
		close(copy);
		return code;
	}
	int result = 0;
	if (next_entry(stream, &result))
		result = -ENOTEMPTY;
	closedir(stream);
	return result;
}

static int open_all(struct recorder *recorder, const char *directory, struct error *error)
{
	if (mkdir(directory, 0777) && errno != EEXIST)
		return error_set(error, -errno, "%s", directory);
	recorder->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (recorder->directory < 0)
		return error_set(error, -errno, "%s", directory);
	int full = check_empty(recorder->directory);
	if (full == -ENOTEMPTY)
		return error_say(error, full,
		        "%s: it is not empty; a snapshot is written into a new or empty directory", directory);
	if (full)
		return error_set(error, full, "%s", directory);
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
	recorder->names = openat(recorder->directory, SNAPSHOT_NAMES, flags, 0666);
	recorder->errors = openat(recorder->directory, SNAPSHOT_ERRORS, flags, 0666);
	return recorder->names < 0 || recorder->errors < 0 ? error_set(error, -errno, "%s", directory) : 0;
}

struct recorder *recorder_new(struct origin *origin, const char *directory, struct error *error)
{
	/* Shared, so that the parent learns what failed in a worker. */
	struct recorder *recorder =
	        mmap(NULL, sizeof(*recorder), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (recorder == MAP_FAILED) {
		error_set(error, -errno, "%s", directory);
		return NULL;
	}
	recorder->origin = origin;
	recorder->directory = recorder->names = recorder->errors = -1;
	snprintf(recorder->path, sizeof(recorder->path), "%s", directory);
	if (open_all(recorder, directory, error)) {
		recorder_free(recorder);
		return NULL;
	}
	return recorder;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	const int fds[] = { recorder->directory, recorder->names, recorder->errors };
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	munmap(recorder, sizeof(*recorder));
}

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
