/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "origin/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT_SIZE = 32 << 10, /* a list of every second of 8,192 CPUs is longer than a page */
	READ_ALL_START = 1 << 16,
	READ_ALL_LIMIT = 64 << 20
};

void origin_close(struct origin *origin)
{
	if (!origin)
		return;
	origin_end_verbs(origin);
	if (origin->recorder)
		recorder_free(origin->recorder);
	free(origin->skips);
	origin->ops->close(origin);
}

int origin_damage(const struct origin *origin, struct error *error)
{
	return origin->ops->damage ? origin->ops->damage(origin, error) : 0;
}

const char *origin_name(const struct origin *origin)
{
	return origin->ops->name;
}

/* ---- what is announced, and what is not asked any more ---- */

void origin_watch(struct origin *origin, struct watch *watches, size_t lanes)
{
	origin->watches = watches;
	origin->lanes = lanes;
}

void origin_about(struct origin *origin, const char *subject)
{
	(void)text_join(origin->subject, sizeof(origin->subject), subject);
}

const char *origin_subject(const struct origin *origin)
{
	return origin->subject;
}

int origin_skip(struct origin *origin, const struct watch_skip *skip)
{
	struct watch_skip *skips = reallocarray(origin->skips, origin->skip_count + 1, sizeof(*skips));
	if (!skips)
		return -ENOMEM;
	skips[origin->skip_count++] = *skip;
	origin->skips = skips;
	return 0;
}

/*
 * Files and verbs calls about a subject are made in the same order each time, so what was answered before the call that
 * blocked is asked again, and nothing after it. Netlink requests stand for themselves.
 */
static const struct watch_skip *skip_of(
        struct origin *origin, enum watch_kind kind, const char *subject, const char *action)
{
	for (size_t i = 0; i < origin->skip_count; i++) {
		struct watch_skip *skip = &origin->skips[i];
		if (skip->kind != (int)kind || strcmp(skip->subject, subject))
			continue;
		bool same = !skip->action[0] || !strncmp(skip->action, action, sizeof(skip->action) - 1);
		if (same && kind != WATCH_NETLINK)
			skip->action[0] = '\0';
		if (same)
			return skip;
	}
	return NULL;
}

int origin_announce(struct origin *origin, size_t lane, enum watch_kind kind, const char *subject, const char *action)
{
	const struct watch_skip *skip = origin->skip_count ? skip_of(origin, kind, subject, action) : NULL;
	if (skip) /* files and netlink end this way in the kernel alone, which is as good as no answer */
		return skip->died && kind == WATCH_VERBS ? -ECHILD : -ETIMEDOUT;
	if (lane >= origin->lanes)
		return 0;
	struct watch *watch = &origin->watches[lane];
	watch->kind = (int)kind;
	(void)text_join(watch->subject, sizeof(watch->subject), subject);
	(void)text_join(watch->action, sizeof(watch->action), action);
	__atomic_store_n(&watch->started_ns, clock_ns(), __ATOMIC_RELEASE);
	return 0;
}

void origin_conclude(struct origin *origin, size_t lane)
{
	if (lane < origin->lanes)
		__atomic_store_n(&origin->watches[lane].started_ns, 0, __ATOMIC_RELEASE);
}

static int announce(struct origin *origin, enum watch_kind kind, const char *action)
{
	return origin_announce(origin, 0, kind, origin->subject, action);
}

static void conclude(struct origin *origin)
{
	origin_conclude(origin, 0);
}

/* ---- files ---- */

/* "report/" holds what `report` put beside a snapshot. */
static bool is_clean(const char *path)
{
	if (strncmp(path, "sys", 3) && strncmp(path, "proc", 4) && strncmp(path, "dev", 3) &&
	        strncmp(path, "report/", 7))
		return false;
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		size_t length = strcspn(part, "/");
		if (!length || (length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.'))
			return false;
	}
	return true;
}

static int announce_path(struct origin *origin, const char *path)
{
	if (!is_clean(path))
		return -EINVAL;
	int result = announce(origin, WATCH_FILES, path);
	if (result && origin->recorder)
		recorder_file(origin->recorder, path, NULL, result);
	return result;
}

ssize_t origin_read(struct origin *origin, const char *path, char *buffer, size_t size)
{
	buffer[0] = '\0';
	ssize_t length = announce_path(origin, path);
	if (length < 0)
		return length;
	length = origin->ops->read(origin, path, buffer, size);
	conclude(origin);
	buffer[length < 0 ? 0 : length] = '\0';
	if (origin->recorder)
		recorder_file(origin->recorder, path, buffer, length);
	return length;
}

char *origin_text(struct origin *origin, struct arena *arena, const char *path)
{
	char buffer[TEXT_SIZE];
	ssize_t length = origin_read(origin, path, buffer, sizeof(buffer));
	if (length < 0) {
		errno = (int)-length;
		return NULL;
	}
	*strchrnul(buffer, '\n') = '\0';
	char *text = arena_strdup(arena, trim_end(buffer));
	errno = text ? 0 : ENOMEM;
	return text;
}

struct num origin_number(struct origin *origin, const char *path, int base)
{
	char buffer[64];
	ssize_t length = origin_read(origin, path, buffer, sizeof(buffer));
	struct num value = length < 0 ? (struct num){ 0 } : parse_num(buffer, base);
	errno = value.known ? 0 : length < 0 ? (int)-length : EINVAL; /* text that is no number */
	return value;
}

int origin_read_all(struct origin *origin, const char *path, char **data, size_t *length)
{
	for (size_t size = READ_ALL_START; size <= READ_ALL_LIMIT; size *= 2) {
		char *buffer = malloc(size);
		if (!buffer)
			return -ENOMEM;
		ssize_t got = announce_path(origin, path);
		if (!got) {
			got = origin->ops->read(origin, path, buffer, size);
			conclude(origin);
			if (origin->recorder && (got < 0 || (size_t)got < size - 1))
				recorder_file(origin->recorder, path, buffer, got);
		}
		if (got >= 0 && (size_t)got == size - 1) { /* there may be more */
			free(buffer);
			continue;
		}
		buffer[got < 0 ? 0 : got] = '\0';
		if (got < 0) {
			free(buffer);
			return (int)got;
		}
		*data = buffer;
		*length = (size_t)got;
		return 0;
	}
	return -EFBIG;
}

int origin_list(struct origin *origin, struct arena *arena, const char *path, struct strings *names)
{
	*names = (struct strings){ 0 };
	int result = announce_path(origin, path);
	if (result)
		return result;
	result = origin->ops->list(origin, arena, path, names);
	conclude(origin);
	sort_pointers(names->items, names->count, natural_compare_pointers);
	if (!result && origin->recorder)
		recorder_list(origin->recorder, path, names);
	return result;
}

ssize_t origin_readlink(struct origin *origin, const char *path, char *buffer, size_t size)
{
	ssize_t length = announce_path(origin, path);
	if (length < 0)
		return length;
	length = origin->ops->readlink(origin, path, buffer, size);
	conclude(origin);
	if (length >= 0 && origin->recorder)
		recorder_link(origin->recorder, path, buffer);
	return length;
}

int origin_realpath(struct origin *origin, const char *path, char *buffer, size_t size)
{
	int result = announce_path(origin, path);
	if (result)
		return result;
	result = origin->ops->realpath(origin, path, buffer, size);
	conclude(origin);
	if (!result && origin->recorder)
		recorder_realpath(origin->recorder, path, buffer);
	return result;
}

int origin_access(struct origin *origin, const char *path)
{
	int result = announce_path(origin, path);
	if (result)
		return result;
	result = origin->ops->access(origin, path);
	conclude(origin);
	if (origin->recorder)
		recorder_access(origin->recorder, path, result);
	return result;
}

/* ---- netlink, process, host ---- */

int origin_netlink(struct origin *origin, int protocol, struct nl_request *requests, size_t count)
{
	if (!count)
		return 0;
	char action[128];
	snprintf(action, sizeof(action), "netlink request %s%s", requests[0].name, count > 1 ? " and others" : "");
	int result = announce(origin, WATCH_NETLINK, action);
	if (result) {
		for (size_t i = 0; i < count; i++)
			requests[i].error = result;
		if (origin->recorder)
			recorder_netlink(origin->recorder, protocol, requests, count);
		return result;
	}
	result = origin->ops->netlink(origin, protocol, requests, count);
	conclude(origin);
	if (origin->recorder)
		recorder_netlink(origin->recorder, protocol, requests, count);
	return result;
}

void nl_requests_free(struct nl_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(requests[i].reply);
		requests[i].reply = NULL;
		requests[i].length = 0;
	}
}

int origin_mad(struct origin *origin, struct mad_request *request)
{
	char action[64];
	snprintf(action, sizeof(action), "asking %s for attribute 0x%x", request->node, request->attribute);
	int result = announce(origin, WATCH_FILES, action);
	if (!result) {
		result = origin->ops->mad(origin, request);
		conclude(origin);
	}
	if (origin->recorder)
		recorder_mad(origin->recorder, request, result);
	return result;
}

int origin_packages(struct origin *origin, struct arena *arena, struct package_list *packages, struct error *error)
{
	int result = announce(origin, WATCH_FILES, "the topology, by hwloc");
	if (result) {
		error_say(error, result, "hwloc did not answer by the deadline");
	} else {
		result = origin->ops->packages(origin, arena, packages, error);
		conclude(origin);
	}
	if (origin->recorder && result != -EOPNOTSUPP)
		recorder_packages(origin->recorder, packages, error);
	return result;
}

int origin_process(struct origin *origin, struct arena *arena, struct process_facts *facts, struct error *error)
{
	int result = origin->ops->process(origin, arena, facts, error);
	if (origin->recorder && result != -ENOENT)
		recorder_process(origin->recorder, facts, error);
	return result;
}

/* Not announced: it takes the seconds that it takes, within the overall deadline. */
int origin_cuda(struct origin *origin, struct arena *arena, struct cuda_answer *answer, struct error *error)
{
	int result = origin->ops->cuda(origin, arena, answer, error);
	if (origin->recorder)
		recorder_cuda(origin->recorder, answer, error);
	return result;
}

int origin_filters(struct origin *origin, struct arena *arena, struct filter_answer *answer, struct error *error)
{
	int result = announce(origin, WATCH_NETLINK, "the rules of packet filters");
	if (result) {
		error_say(error, result, "packet filters did not answer by the deadline");
	} else {
		result = origin->ops->filters(origin, arena, answer, error);
		conclude(origin);
	}
	if (origin->recorder)
		recorder_filters(origin->recorder, answer, error);
	return result;
}

int origin_settings(struct origin *origin, struct arena *arena, struct gid_settings *settings, struct error *error)
{
	int result = origin->ops->settings(origin, arena, settings, error);
	if (!result && origin->recorder)
		recorder_settings(origin->recorder, settings);
	return result;
}

int origin_host(struct origin *origin, struct arena *arena, struct host_facts *facts, struct error *error)
{
	int result = origin->ops->host(origin, arena, facts, error);
	if (!result && origin->recorder)
		recorder_host(origin->recorder, facts);
	return result;
}
