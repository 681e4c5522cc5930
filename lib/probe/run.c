/* SPDX-License-Identifier: MIT */
#include "probe/run.h"

#include "base/clock.h"

#include <errno.h>
#include <stdarg.h>

struct probe_run *run_new(struct arena *arena, const struct probe_settings *settings, const struct survey *survey)
{
	struct probe_run *run = arena_new_object(arena, struct probe_run);
	if (!run)
		return NULL;
	run->arena = arena;
	run->settings = settings;
	run->survey = survey;
	run->document.request = settings->request;
	run->deviation = settings->deviation;
	run->report.arena = arena;
	run->document.report = &run->report;
	run->epoch_ns = clock_ns();
	return run;
}

struct probe_run *run_part(const struct probe_run *outer)
{
	struct probe_run *run = run_new(outer->arena, outer->settings, outer->survey);
	if (!run)
		return NULL;
	run->outer = outer;
	run->epoch_ns = outer->epoch_ns;
	return run;
}

int64_t run_now(const struct probe_run *run)
{
	return (int64_t)(clock_ns() - run->epoch_ns);
}

bool run_stopped(const struct probe_run *run)
{
	return __atomic_load_n(&run->stop, __ATOMIC_RELAXED) != 0 || (run->outer && run_stopped(run->outer));
}

void run_enter(struct probe_run *run, const char *name, int64_t limit_ms)
{
	int64_t now = run_now(run);
	__atomic_store_n(&run->step.name, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&run->step.started_ns, now, __ATOMIC_RELAXED);
	__atomic_store_n(&run->step.limit_ns, now + limit_ms * 1000000, __ATOMIC_RELAXED);
	__atomic_store_n(&run->step.name, name, __ATOMIC_RELEASE);
}

void run_leave(struct probe_run *run)
{
	__atomic_store_n(&run->step.name, NULL, __ATOMIC_RELEASE);
}

void run_extend(struct probe_run *run, size_t bytes)
{
	enum { NS_PER_BYTE = 50 };
	int64_t limit = run->step.limit_ns + (int64_t)bytes * NS_PER_BYTE;
	__atomic_store_n(&run->step.limit_ns, limit, __ATOMIC_RELAXED);
}

struct resource_step *resource_begin(struct probe_run *run, int side, const char *name)
{
	struct resource_step *step = list_add(run->arena, &run_evidence(run)->resources);
	if (step)
		*step = (struct resource_step){ .side = side, .step = name, .start_ns = num(run_now(run)) };
	run_enter(run, name, STEP_LIMIT_MS);
	return step;
}

void resource_detail(struct probe_run *run, struct resource_step *step, const char *format, ...)
{
	if (!step)
		return;
	va_list args;
	va_start(args, format);
	step->detail = arena_vprintf(run->arena, format, args);
	va_end(args);
}

static struct num since(const struct probe_run *run, struct num start)
{
	return num(run_now(run) - start.value);
}

int resource_end(struct probe_run *run, struct resource_step *step, int result)
{
	if (step) {
		step->duration_ns = since(run, step->start_ns);
		step->error = num(-result);
	}
	run_leave(run);
	return result;
}

void resource_limit(struct resource_step *step, const char *name, int64_t asked, int64_t limit)
{
	if (!step || num_is(step->error, 0) || asked <= limit)
		return;
	step->limit_name = name;
	step->asked = num(asked);
	step->limit = num(limit);
}

struct transition *transition_begin(struct probe_run *run, int side, const char *to)
{
	struct transition *transition = list_add(run->arena, &run_evidence(run)->transitions);
	if (transition)
		*transition = (struct transition){ .side = side, .to = to, .start_ns = num(run_now(run)) };
	run_enter(run, to, STEP_LIMIT_MS);
	return transition;
}

int transition_end(struct probe_run *run, struct transition *transition, int result)
{
	if (transition) {
		transition->duration_ns = since(run, transition->start_ns);
		transition->error = num(-result);
	}
	run_leave(run);
	return result;
}

struct control_step *control_begin(struct probe_run *run, const char *name, int64_t limit_ms)
{
	struct control_step *step = list_add(run->arena, &run_evidence(run)->control);
	if (step)
		*step = (struct control_step){ .step = name, .start_ns = num(run_now(run)) };
	run_enter(run, name, limit_ms + STEP_LIMIT_MS);
	return step;
}

int control_end(struct probe_run *run, struct control_step *step, int result, const struct error *error)
{
	if (step) {
		step->duration_ns = since(run, step->start_ns);
		step->error = num(-result);
		if (result && error && error->text[0])
			step->detail = arena_strdup(run->arena, error->text);
	}
	run_leave(run);
	return result;
}

int run_failed(struct probe_run *run, int result, const struct error *error)
{
	if (result && !run->error.code && error)
		run->error = *error;
	return result;
}
