/* SPDX-License-Identifier: MIT */
/*
 * The inside of an origin: what live.c and snapshot.c implement. origin.c dispatches to it and is the only place that
 * announces calls, skips subjects and hands answers to a recorder.
 */
#ifndef RDMADIAG_ORIGIN_PRIVATE_H
#define RDMADIAG_ORIGIN_PRIVATE_H

#include "origin/origin.h"

#include <pthread.h>
#include <stdbool.h>

/* See the functions of the same names in origin.h for what each returns. */
struct origin_ops {
	const char *name;
	/* `path` is relative and known to be clean: no "..", no leading slash. */
	ssize_t (*read)(struct origin *origin, const char *path, char *buffer, size_t size);
	int (*list)(
	        struct origin *origin, struct arena *arena, const char *path, struct strings *names); /* any order */
	ssize_t (*readlink)(struct origin *origin, const char *path, char *buffer, size_t size);
	int (*realpath)(struct origin *origin, const char *path, char *buffer, size_t size);
	int (*access)(struct origin *origin, const char *path);
	int (*netlink)(struct origin *origin, int protocol, struct nl_request *requests, size_t count);
	int (*mad)(struct origin *origin, struct mad_request *request);
	int (*list_verbs)(struct origin *origin); /* before `verbs`; NULL: nothing to prepare */
	int (*verbs)(struct origin *origin, struct arena *arena, const char *device,
	        const struct verbs_question *question, struct verbs_answer *answer, struct error *error);
	int (*process)(struct origin *origin, struct arena *arena, struct process_facts *facts, struct error *error);
	int (*settings)(struct origin *origin, struct arena *arena, struct gid_settings *settings, struct error *error);
	int (*cuda)(struct origin *origin, struct arena *arena, struct cuda_answer *answer, struct error *error);
	int (*filters)(struct origin *origin, struct arena *arena, struct filter_answer *answer, struct error *error);
	int (*host)(struct origin *origin, struct arena *arena, struct host_facts *facts, struct error *error);
	int (*packages)(struct origin *origin, struct arena *arena, struct package_list *packages, struct error *error);
	int (*damage)(const struct origin *origin, struct error *error); /* NULL: there is none */
	void (*close)(struct origin *origin);                            /* frees the origin itself too */
};

/*
 * Writes a snapshot of whatever is asked while it is set: capturing is collecting with a recorder, so a capture holds
 * exactly what the collectors read. Each answer is recorded, errors too (as the absence of the file, or for files that
 * answer with an errno, see recorder.c).
 */
struct recorder;
/* The recorder asks `origin` itself (ops->readlink) to tell links from directories; origin_record() makes one. */
struct recorder *recorder_new(struct origin *origin, const char *directory, struct error *error);
void recorder_free(struct recorder *recorder);
void recorder_file(struct recorder *recorder, const char *path, const char *data, ssize_t length_or_error);
void recorder_list(struct recorder *recorder, const char *path, const struct strings *names);
void recorder_link(struct recorder *recorder, const char *path, const char *target);
void recorder_realpath(struct recorder *recorder, const char *path, const char *canonical);
void recorder_access(struct recorder *recorder, const char *path, int error);
void recorder_netlink(struct recorder *recorder, int protocol, const struct nl_request *requests, size_t count);
void recorder_mad(struct recorder *recorder, const struct mad_request *request, int error);
/* Of these four `error` is read where its code is not 0; its text is recorded too. */
void recorder_verbs(
        struct recorder *recorder, const char *device, const struct verbs_answer *answer, const struct error *error);
void recorder_cuda(struct recorder *recorder, const struct cuda_answer *answer, const struct error *error);
void recorder_filters(struct recorder *recorder, const struct filter_answer *answer, const struct error *error);
void recorder_packages(struct recorder *recorder, const struct package_list *packages, const struct error *error);
void recorder_process(struct recorder *recorder, const struct process_facts *facts, const struct error *error);
void recorder_settings(struct recorder *recorder, const struct gid_settings *settings);
void recorder_host(struct recorder *recorder, const struct host_facts *facts);

struct origin {
	const struct origin_ops *ops;
	struct recorder *recorder; /* NULL: not recording */
	struct watch *watches;     /* NULL: nobody watches */
	size_t lanes;              /* of `watches` */
	struct watch_skip *skips;
	size_t skip_count;
	char subject[64];
	struct {
		bool done, in_thread;
		pthread_t thread;
		int result; /* negative errno: `device: not opened, reason` */
		const char *reason;
	} verbs_list;
};

/*
 * Announces a call of `lane` about `subject`; where it is not to be made nothing is announced, and the result is
 * -ETIMEDOUT, or -ECHILD of verbs that the process died in. Lanes other than the first only while nothing is skipped.
 */
int origin_announce(struct origin *origin, size_t lane, enum watch_kind kind, const char *subject, const char *action);
void origin_conclude(struct origin *origin, size_t lane);
/* Waits for a thread that lists devices. */
void origin_end_verbs(struct origin *origin);

#endif
