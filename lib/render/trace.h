/* SPDX-License-Identifier: MIT */
/* A run of the probe in the Trace Event format, which Perfetto and chrome://tracing open. */
#ifndef RDMADIAG_RENDER_TRACE_H
#define RDMADIAG_RENDER_TRACE_H

#include "model/evidence.h"

#include <json-c/json.h>

/*
 * One process for each side: set-up steps and the control connection as threads, requests as asynchronous events with
 * their stages in them, what happens at one moment as instants. Times of the peer are shown on the local clock, or left
 * out where the offset is not known. NULL without memory; json_object_put() gives it back.
 */
json_object *trace_document(const struct probe_document *document);

#endif
