/* SPDX-License-Identifier: MIT */
/* The answers of libraries and of the host's services, as JSON. */
#include "base/cleanup.h"
#include "json/json.h"
#include "model/gid.h"
#include "model/gpu.h"
#include "model/health.h"
#include "model/host.h"
#include "origin/format.h"
#include "origin/private.h"
#include "origin/recorder.h"
#include "source/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static void put_json(json_object **object)
{
	json_object_put(*object);
}

static void write_json(struct recorder *recorder, const char *path, json_object *object)
{
	autofree char *text = json_text(object, true);
	if (text)
		recorder_write(recorder, path, text, strlen(text));
	else
		recorder_fail(recorder, -ENOMEM, path);
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
		recorder_fail(recorder, -ENOMEM, path);
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
		recorder_fail(recorder, -ENOMEM, path);
		return;
	}
	write_json(recorder, path, object);
}
