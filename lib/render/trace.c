/* SPDX-License-Identifier: MIT */
/*
 * Fields of the events as "Trace Event Format" has them: ph is the kind (X complete, b and e begin and end of an
 * asynchronous one, i instant, M metadata), ts and dur are microseconds, pid and tid choose the row.
 */
#include "render/trace.h"

#include "verdict/explain.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

enum row { ROW_SETUP = 1, ROW_CONTROL, ROW_EVENTS, ROW_REQUESTS };

struct trace {
	json_object *events;
	const struct evidence *evidence;
	struct num offset_ns; /* remote clock less local */
};

static void set_text(json_object *object, const char *key, const char *text)
{
	(void)json_put_member(object, key, json_object_new_string(text ? text : "?"));
}

static void set_number(json_object *object, const char *key, int64_t number)
{
	(void)json_put_member(object, key, json_object_new_int64(number));
}

/* Microseconds with the nanoseconds behind the point. */
static void set_time(json_object *object, const char *key, int64_t ns)
{
	char text[40];
	snprintf(text, sizeof(text), "%" PRId64 ".%03" PRId64, ns / 1000, ns % 1000);
	(void)json_put_member(object, key, json_object_new_double_s((double)ns / 1000.0, text));
}

static json_object *add_event(
        const struct trace *trace, const char *phase, const char *name, int side, int row, int64_t time_ns)
{
	json_object *event = json_object_new_object();
	set_text(event, "ph", phase);
	set_text(event, "name", name);
	set_number(event, "pid", side);
	set_number(event, "tid", row);
	set_time(event, "ts", time_ns > 0 ? time_ns : 0);
	json_object_array_add(trace->events, event);
	return event;
}

static void add_name(const struct trace *trace, const char *what, int side, int row, const char *text)
{
	json_object *event = add_event(trace, "M", what, side, row, 0), *args = json_object_new_object();
	set_text(args, "name", text);
	(void)json_put_member(event, "args", args);
}

static void add_names(const struct trace *trace)
{
	static const char *const rows[] = {
		[ROW_SETUP] = "set-up", [ROW_CONTROL] = "control connection", [ROW_EVENTS] = "events"
	};
	const struct endpoint_facts *ends[] = {
		[SIDE_LOCAL] = &trace->evidence->local, [SIDE_REMOTE] = &trace->evidence->remote
	};
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++) {
		char name[128];
		snprintf(name, sizeof(name), "%s %s", side_names[side], ends[side]->device ? ends[side]->device : "");
		add_name(trace, "process_name", side, 0, name);
		for (int row = ROW_SETUP; row <= ROW_EVENTS; row++)
			add_name(trace, "thread_name", side, row, rows[row]);
	}
	add_name(trace, "thread_name", SIDE_LOCAL, ROW_REQUESTS, "requests");
}

/* ---- steps ---- */

/* 0 where the difference is none: times of a foreign record may be anything. */
static int64_t minus(int64_t a, int64_t b)
{
	int64_t result;
	return __builtin_sub_overflow(a, b, &result) ? 0 : result;
}

static void add_step(const struct trace *trace, const char *name, int side, int row, struct num start,
        struct num duration, struct num error, const char *detail)
{
	if (!start.known)
		return;
	const struct num ended = trace->evidence->ended_ns;
	int64_t took = duration.known ? duration.value : ended.known ? minus(ended.value, start.value) : 0;
	json_object *event = add_event(trace, "X", name, side, row, start.value), *args = json_object_new_object();
	set_time(event, "dur", took > 0 ? took : 0);
	if (error.known)
		set_number(args, "errno", error.value);
	if (detail)
		set_text(args, "detail", detail);
	(void)json_put_member(event, "args", args);
}

static void add_steps(const struct trace *trace)
{
	list_each(step, &trace->evidence->resources)
		add_step(trace, step->step, step->side, ROW_SETUP, step->start_ns, step->duration_ns, step->error,
		        step->detail);
	list_each(transition, &trace->evidence->transitions)
		add_step(trace, transition->to, transition->side, ROW_SETUP, transition->start_ns,
		        transition->duration_ns, transition->error, NULL);
	list_each(control, &trace->evidence->control)
		add_step(trace, control->step, SIDE_LOCAL, ROW_CONTROL, control->start_ns, control->duration_ns,
		        control->error, control->detail);
}

/* ---- requests ---- */

static json_object *add_edge(
        const struct trace *trace, const char *phase, const char *name, int64_t id, int64_t time_ns)
{
	json_object *event = add_event(trace, phase, name, SIDE_LOCAL, ROW_REQUESTS, time_ns);
	set_text(event, "cat", "request");
	set_number(event, "id", id);
	return event;
}

/* From `start` to `end`, inside the request of that id; left out where one of them was not seen. */
static void add_stage(const struct trace *trace, const char *name, int64_t id, struct num start, struct num end)
{
	if (!start.known || !end.known || end.value < start.value)
		return;
	add_edge(trace, "b", name, id, start.value);
	add_edge(trace, "e", name, id, end.value);
}

static void describe_request(json_object *event, const struct operation *operation)
{
	json_object *args = json_object_new_object();
	if (operation->qpn.known)
		set_number(args, "qpn", operation->qpn.value);
	if (operation->bytes.known)
		set_number(args, "bytes", operation->bytes.value);
	if (operation->wc_status.known || operation->wc_status_text) {
		const struct wc_explanation *status = explain_wc(operation->wc_status.value);
		set_text(args, "status",
		        operation->wc_status_text || !status ? operation->wc_status_text : status->name);
	}
	(void)json_put_member(event, "args", args);
}

static void add_instant(const struct trace *trace, const char *name, int side, struct num time)
{
	if (time.known)
		set_text(add_event(trace, "i", name, side, ROW_EVENTS, time.value), "s", "t");
}

/* The end of what has none yet is that of the run. */
static struct num end_of(const struct trace *trace, const struct operation *operation)
{
	if (operation->cqe_consumed_ns.known)
		return operation->cqe_consumed_ns;
	if (operation->reclaimed_ns.known)
		return operation->reclaimed_ns;
	if (operation->post_errno.known && operation->post_errno.value)
		return operation->post_return_ns;
	return trace->evidence->deadline_ns.known ? trace->evidence->deadline_ns : trace->evidence->ended_ns;
}

static void add_request(const struct trace *trace, const struct operation *operation)
{
	char name[64];
	int64_t id = operation->wr_id.known ? operation->wr_id.value : 0;
	bool known = operation->opcode > OP_UNKNOWN && operation->opcode < OP_COUNT;
	snprintf(name, sizeof(name), "%s %" PRId64, known ? operation_names[operation->opcode] : "request", id);
	struct num end = end_of(trace, operation);
	if (!operation->post_call_ns.known || !end.known || end.value < operation->post_call_ns.value)
		return;
	describe_request(add_edge(trace, "b", name, id, operation->post_call_ns.value), operation);
	add_stage(trace, "post", id, operation->post_call_ns, operation->post_return_ns);
	add_stage(trace, "under way", id, operation->post_return_ns, operation->cqe_arrived_ns);
	add_stage(trace, "completed, not taken", id, operation->cqe_arrived_ns, end);
	add_edge(trace, "e", name, id, end.value);
	if (operation->remote_landed_ns.known && trace->offset_ns.known) {
		snprintf(name, sizeof(name), "landed %" PRId64, id);
		add_instant(trace, name, SIDE_REMOTE,
		        num(minus(operation->remote_landed_ns.value, trace->offset_ns.value)));
	}
}

/* ---- */

static void add_events(const struct trace *trace)
{
	list_each(event, &trace->evidence->async_events)
		add_instant(trace, event->event, event->side, event->t_ns);
	add_instant(trace, "deadline", SIDE_LOCAL, trace->evidence->deadline_ns);
}

json_object *trace_document(const struct probe_document *document)
{
	const struct evidence *evidence = &document->evidence;
	json_object *root = json_object_new_object(), *other = json_object_new_object();
	struct trace trace = { .events = json_object_new_array(), .evidence = evidence };
	if (!root || !other || !trace.events)
		return NULL;
	/* Both ends of one process have one clock. */
	if (document->request.mode == MODE_LOOPBACK || document->request.mode == MODE_TWO_DEVICES)
		trace.offset_ns = num(0);
	else if (evidence->clock)
		trace.offset_ns = evidence->clock->offset_ns;
	add_names(&trace);
	add_steps(&trace);
	list_each(operation, &evidence->operations)
		add_request(&trace, operation);
	add_events(&trace);
	(void)json_put_member(root, "traceEvents", trace.events);
	set_text(root, "displayTimeUnit", "ns");
	set_text(other, "verdict", document->verdict.summary);
	(void)json_put_member(root, "otherData", other);
	return root;
}
