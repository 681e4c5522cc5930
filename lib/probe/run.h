/* SPDX-License-Identifier: MIT */
/*
 * One run of the probe, in memory that the traced child shares with its watching parent.
 *
 * The child announces each step before it begins, with the time that it may take, and stores what came out of it at
 * once. So the parent can tell at any moment how far the child came, also when it never comes back.
 */
#ifndef RDMADIAG_PROBE_RUN_H
#define RDMADIAG_PROBE_RUN_H

#include "base/arena.h"
#include "base/error.h"
#include "model/evidence.h"
#include "model/report.h"
#include "probe/deviation.h"
#include "probe/settings.h"
#include "probe/survey.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The step that the child is in; all of it changes with atomic stores, `name` first and last (NULL: between steps). */
struct run_step {
	const char *name;
	int64_t started_ns;
	int64_t limit_ns; /* time of the run at which the parent gives it up */
};

struct listener;

struct probe_run {
	struct arena *arena;
	const struct probe_settings *settings;
	const struct survey *survey;
	struct probe_document document;
	struct report report;
	void (*progress)(const struct probe_run *run); /* called by the watching parent now and then; may be NULL */
	struct deviation deviation;                    /* of this end; all zero but in a drill */
	uint64_t epoch_ns;                             /* CLOCK_MONOTONIC at the start */
	struct run_step step;
	const struct probe_run *outer; /* the run that this one is a part of, which the parent watches; NULL: none */
	int stop;                      /* the signal that asked for an end; 0: none */
	int finished;                  /* the child came to its end */
	bool greeted;                  /* of a target: the peer introduced itself as a probe */
	struct listener *listener;     /* the parent's, which looks at it meanwhile; NULL: not listening */
	struct error error;            /* the first thing that went wrong, for people */
};

/* A new run in `arena`; NULL without memory. */
struct probe_run *run_new(struct arena *arena, const struct probe_settings *settings, const struct survey *survey);

/*
 * A run within another: with its clock and its end, and with evidence of its own. Its steps are not watched: the outer
 * one announces it as a step.
 */
struct probe_run *run_part(const struct probe_run *outer);

/* Nanoseconds since the start of the run. */
int64_t run_now(const struct probe_run *run);
/* Did somebody ask for an end? */
bool run_stopped(const struct probe_run *run);

enum {
	STEP_LIMIT_MS = 15000
}; /* for a call that ought to take less than a second, on a machine that is far too busy */

/* Announces a step and forgets it again. `name` outlives the run. */
void run_enter(struct probe_run *run, const char *name, int64_t limit_ms);
void run_leave(struct probe_run *run);
/* More time for the step, where it has to do with `bytes`: a slow machine may take them at 20 MB/s. */
void run_extend(struct probe_run *run, size_t bytes);

/*
 * A step of the set-up, announced and recorded: begin, then end with 0 or a negative errno, which is passed on. begin
 * may return NULL without memory, and end accepts that. `detail` is what was asked for, formatted; NULL: nothing to
 * say.
 */
struct resource_step *resource_begin(struct probe_run *run, int side, const char *name);
__attribute__((format(printf, 3, 4))) void resource_detail(
        struct probe_run *run, struct resource_step *step, const char *format, ...);
int resource_end(struct probe_run *run, struct resource_step *step, int result);
/* A request beyond a limit of the device explains why the step failed. */
void resource_limit(struct resource_step *step, const char *name, int64_t asked, int64_t limit);

struct transition *transition_begin(struct probe_run *run, int side, const char *to);
int transition_end(struct probe_run *run, struct transition *transition, int result);

/* `limit_ms`: the step's own deadline; the parent waits a little longer than that. */
struct control_step *control_begin(struct probe_run *run, const char *name, int64_t limit_ms);
int control_end(struct probe_run *run, struct control_step *step, int result, const struct error *error);

/* Keeps the first error of the run that has words; what the operations came to is in the evidence. */
int run_failed(struct probe_run *run, int result, const struct error *error);

/* The evidence of this run, and the facts of one of its sides. */
static inline struct evidence *run_evidence(struct probe_run *run)
{
	return &run->document.evidence;
}
static inline struct endpoint_facts *run_facts(struct probe_run *run, int side)
{
	return side == SIDE_REMOTE ? &run->document.evidence.remote : &run->document.evidence.local;
}

#endif
