/* SPDX-License-Identifier: MIT */
/* libibverbs on this host: what the live origin asks, and what its events say. */
#ifndef RDMADIAG_SOURCE_VERBS_LIVE_H
#define RDMADIAG_SOURCE_VERBS_LIVE_H

#include "source/verbs.h"

struct ibv_async_event;
struct verbs_devices;

/* libibverbs' list of devices. 0 or negative errno. */
int verbs_list(struct verbs_devices **devices);
/*
 * Opens a device of the list, asks `question`, closes it. 0, -ENODEV when libibverbs does not know the device, or
 * another negative errno; `error` says what was done. Several threads may ask at a time.
 */
int verbs_query(struct verbs_devices *devices, struct arena *arena, const char *device,
        const struct verbs_question *question, struct verbs_answer *answer, struct error *error);
void verbs_devices_free(struct verbs_devices *devices);

/* The port that an asynchronous event speaks of, 0: it does not speak of one. */
int verbs_event_port(const struct ibv_async_event *event);

#endif
