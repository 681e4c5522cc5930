/* SPDX-License-Identifier: MIT */
/* The way of one request: which stages it reached, seen by whom, and where it stopped. */
#include "base/cleanup.h"
#include "base/duration.h"
#include "render/probe_say.h"
#include "verdict/explain.h"

#include <string.h>

/* ---- the ladder ---- */

enum rung_state { RUNG_UNKNOWN, RUNG_NO, RUNG_YES, RUNG_FOLLOWS };

struct rung {
	const char *name;
	const char *note;
	const char *stop;    /* it stopped here, in words; NULL: it did not */
	struct num time_ns;  /* on the local clock */
	struct num error_ns; /* of a time that was on the peer's clock */
	enum rung_state state;
	bool remote;
	bool failed; /* it ended, and not well: the note says how */
};

enum { RUNGS = 10 };

static enum rung_state of_flag(enum flag value)
{
	return value == FLAG_YES ? RUNG_YES : value == FLAG_NO ? RUNG_NO : RUNG_UNKNOWN;
}

/* Somebody looked and did not see it, or nobody could look. */
static enum rung_state seen(struct num time, const char *observer)
{
	return time.known ? RUNG_YES : observer ? RUNG_NO : RUNG_UNKNOWN;
}

/* As a number, or by its name where the record has only that. */
static struct num status_of(const struct operation *operation)
{
	const struct wc_explanation *named = operation->wc_status_text && !operation->wc_status.known
	                                             ? explain_wc_name(operation->wc_status_text)
	                                             : NULL;
	return named ? num(named->status) : operation->wc_status;
}

static struct rung landed_rung(const struct out *out, const struct operation *operation)
{
	/* What is read lands here. */
	bool read = operation->opcode == OP_READ;
	struct rung rung = { .name = "landed", .remote = !read, .state = of_flag(operation->payload_verified) };
	const struct clock_offset *clock = out->evidence->clock;
	if (operation->remote_landed_ns.known)
		rung.state = RUNG_YES;
	else if (operation->landed == FLAG_NO)
		rung.state = RUNG_NO;
	else if (rung.state == RUNG_NO)
		rung.note = num_is(status_of(operation), 0) ? "wrong bytes" : NULL;
	if (operation->remote_landed_ns.known && clock && clock->offset_ns.known) {
		rung.time_ns = num(minus(operation->remote_landed_ns.value, clock->offset_ns.value));
		rung.error_ns = clock->error_ns;
	}
	return rung;
}

static struct rung used_rung(const struct out *out)
{
	struct rung rung = { .name = "used", .remote = true };
	list_each(control, &out->evidence->control) {
		if (!control->step || strcmp(control->step, "ok") != 0)
			continue;
		rung.state = num_is(control->error, 0) ? RUNG_YES : RUNG_NO;
		if (rung.state == RUNG_YES && control->start_ns.known && control->duration_ns.known)
			rung.time_ns = num(minus(control->start_ns.value, minus(0, control->duration_ns.value)));
	}
	return rung;
}

static struct rung published_rung(const struct out *out, const struct operation *operation)
{
	struct rung rung = { .name = "published", .time_ns = operation->wqe_posted_ns };
	rung.state = operation->doorbell_recorded == FLAG_NO ? RUNG_NO
	             : operation->doorbell_recorded == FLAG_YES
	                     ? RUNG_YES
	                     : seen(operation->wqe_posted_ns, out->evidence->observers.wqe);
	return rung;
}

static bool is_iwarp_end(const struct endpoint_facts *end)
{
	return (end->transport && !strcmp(end->transport, "iwarp")) || (end->driver && !strcmp(end->driver, "siw"));
}

static struct rung succeeded_rung(const struct operation *operation)
{
	struct rung rung = { .name = "succeeded" };
	struct num status = status_of(operation);
	if (!status.known) {
		rung.state = operation->is_signaled == FLAG_NO ? RUNG_UNKNOWN : RUNG_NO;
		return rung;
	}
	rung.state = status.value ? RUNG_NO : RUNG_YES;
	rung.failed = rung.state == RUNG_NO;
	const struct wc_explanation *known = explain_wc(status.value);
	rung.note = operation->wc_status_text ? operation->wc_status_text : known ? known->name : "unknown status";
	return rung;
}

/* Refused by the peer's adapter, or not answered until the retries were used up: the device had sent it. */
static bool was_sent(const struct operation *operation)
{
	static const int64_t statuses[] = { 9, 10, 11, 12, 13 }; /* enum ibv_wc_status */
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (num_is(status_of(operation), statuses[i]))
			return true;
	return false;
}

/*
 * A completion with success proves what came before it, whether or not somebody looked; a completion that was taken was
 * there. Landing is the exception: only the peer can say that the bytes are right.
 */
static void fill_what_follows(const struct out *out, const struct operation *operation, struct rung rungs[RUNGS])
{
	enum { PUBLISHED = 1, EXECUTED = 3, ACKNOWLEDGED, LANDED, COMPLETED, CONSUMED, SUCCEEDED };
	bool success = rungs[SUCCEEDED].state == RUNG_YES, taken = rungs[CONSUMED].state == RUNG_YES;
	int sent = was_sent(operation) ? EXECUTED : -1;
	for (int i = 0; i < SUCCEEDED; i++) {
		/* On iWARP success says that TCP has taken the bytes (RFC 5040, 5.5); those of a read have come back.
		 */
		bool unasked = i == ACKNOWLEDGED && is_iwarp_end(&out->evidence->local) && operation->opcode != OP_READ;
		bool proved = success ? i != LANDED && !unasked : (taken && i == COMPLETED) || i <= sent;
		bool missed = i == COMPLETED || (i == PUBLISHED && operation->doorbell_recorded != FLAG_NO);
		if (proved && (rungs[i].state == RUNG_UNKNOWN || (rungs[i].state == RUNG_NO && missed)))
			rungs[i].state = RUNG_FOLLOWS;
	}
}

/*
 * What an error says of the acknowledgement: the peer's adapter refused the request, or nothing came until the retries
 * were used up. The completion that says so is no stage of success.
 */
static void fill_what_failed(const struct out *out, const struct operation *operation, struct rung rungs[RUNGS])
{
	enum { ACKNOWLEDGED = 4, COMPLETED = 6, CONSUMED };
	static const char *const notes[] = { [9] = "refused by the peer's adapter",
		[10] = "refused by the peer's adapter",
		[11] = "given up by the peer's adapter",
		[12] = "no answer in all tries",
		[13] = "the peer had no receive" };
	struct num status = status_of(operation);
	if (!status.known || !status.value)
		return;
	if (was_sent(operation) && rungs[ACKNOWLEDGED].state != RUNG_YES) {
		rungs[ACKNOWLEDGED].state = RUNG_NO;
		/* efa has 13 for a peer that does not answer, too. */
		bool other = status.value == 13 && out->evidence->local.driver &&
		             !strcmp(out->evidence->local.driver, "efa");
		rungs[ACKNOWLEDGED].note = other ? "no answer, or no receive" : notes[status.value];
	}
	for (int i = COMPLETED; i <= CONSUMED; i++)
		if (rungs[i].state >= RUNG_YES)
			rungs[i].note = "with an error";
}

static void fill_rungs(const struct out *out, const struct operation *operation, struct rung rungs[RUNGS])
{
	const struct observers *observers = &out->evidence->observers;
	bool refused = operation->post_errno.known && operation->post_errno.value;
	rungs[0] = (struct rung){ .name = "submitted",
		.state = refused                           ? RUNG_NO
		         : operation->post_return_ns.known ? RUNG_YES
		                                           : RUNG_UNKNOWN,
		.time_ns = operation->post_return_ns,
		.note = refused ? "refused" : NULL };
	rungs[1] = published_rung(out, operation);
	rungs[2] = (struct rung){ .name = "taken", .state = of_flag(operation->device_saw_doorbell) };
	rungs[3] = (struct rung){ .name = "executed", .state = of_flag(operation->device_executed) };
	rungs[4] = (struct rung){ .name = "acknowledged", .state = of_flag(operation->acknowledged) };
	rungs[5] = landed_rung(out, operation);
	rungs[6] = (struct rung){ .name = "completed",
		.state = seen(operation->cqe_arrived_ns, observers->cqe),
		.time_ns = operation->cqe_arrived_ns };
	rungs[7] = (struct rung){ .name = "consumed",
		.state = operation->cqe_consumed_ns.known ? RUNG_YES : RUNG_NO,
		.time_ns = operation->cqe_consumed_ns };
	rungs[8] = succeeded_rung(operation);
	rungs[9] = used_rung(out);
	if (refused)
		for (int i = 1; i < RUNGS; i++)
			rungs[i].state = RUNG_NO;
	fill_what_follows(out, operation, rungs);
	fill_what_failed(out, operation, rungs);
}

/*
 * The first rung that was not reached although none below it was either; RUNGS: all were. A completion with an error is
 * no progress: the request stopped on its way to the peer's memory, or its acknowledgement on the way back.
 */
static int stopping_rung(const struct operation *operation, const struct rung rungs[RUNGS])
{
	enum { ACKNOWLEDGED = 4, LANDED = 5, SUCCEEDED = 8 };
	bool error = status_of(operation).known && status_of(operation).value;
	int last = -1;
	for (int i = 0; i <= (error ? LANDED : RUNGS - 1); i++)
		if (rungs[i].state >= RUNG_YES)
			last = i;
	if (last == LANDED && rungs[ACKNOWLEDGED].state == RUNG_NO)
		return ACKNOWLEDGED;
	return error && last == LANDED ? SUCCEEDED : last + 1;
}

/* Where a completion with an error follows, what is further down did happen. */
static void mark_stop(const struct operation *operation, struct rung rungs[RUNGS])
{
	int stop = stopping_rung(operation, rungs);
	/* A peer that was never asked to confirm is not a stop. */
	if (stop >= RUNGS || (stop == RUNGS - 1 && rungs[stop].state == RUNG_UNKNOWN))
		return;
	bool error = status_of(operation).known && status_of(operation).value;
	rungs[stop].stop = rungs[stop].state == RUNG_NO ? "  <== stopped here"
	                   : error                      ? "  <== stopped between here and the completion with an error"
	                                                : "  <== stopped here or further down";
}

static const char *rung_mark(const struct out *out, const struct rung *rung)
{
	static const char *const ascii[] = { "[?]", "[ ]", "[x]", "[.]" };
	static const char *const unicode[] = { "\xe2\x97\x8c", "\xe2\x97\x8b", "\xe2\x97\x8f", "\xe2\x97\x90" };
	return out->options->unicode ? unicode[rung->state] : ascii[rung->state];
}

static enum style rung_style(const struct rung *rung, bool stop)
{
	if (stop)
		return STYLE_BAD;
	return rung->state == RUNG_YES ? STYLE_GOOD : rung->state == RUNG_UNKNOWN ? STYLE_DIM : STYLE_NONE;
}

/* The marks of the ladder, in the order of enum rung_state. */
static void say_legend(const struct out *out)
{
	static const char *const words[] = { "not observable here", "not reached", "reached",
		"follows from what came after" };
	static const enum rung_state order[] = { RUNG_YES, RUNG_FOLLOWS, RUNG_NO, RUNG_UNKNOWN };
	say(out, " ");
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		struct rung rung = { .state = order[i] };
		say(out, " %s %s%s", rung_mark(out, &rung), words[order[i]], i + 1 < ARRAY_SIZE(order) ? "," : "\n");
	}
}

static const char *rung_text(const struct rung *rung)
{
	static const char *const texts[] = { "not observable here", "not reached", "yes",
		"follows from what came after" };
	return texts[rung->state];
}

static void say_rung(const struct out *out, const struct rung *rung, struct num *last)
{
	char at[DURATION_TEXT_SIZE], since[DURATION_TEXT_SIZE], error[DURATION_TEXT_SIZE], cell[128];
	if (rung->time_ns.known && rung->state == RUNG_YES) {
		int64_t delta = last->known ? minus(rung->time_ns.value, last->value) : 0;
		snprintf(cell, sizeof(cell), "%11s  %s%s", format_duration(rung->time_ns.value, at),
		        delta < 0 ? "" : "+", format_duration(delta, since));
		if (rung->error_ns.known)
			snprintf(cell + strlen(cell), sizeof(cell) - strlen(cell), " (+-%s)",
			        format_duration(rung->error_ns.value, error));
		/* Another clock's time is no base for the next difference. */
		if (!rung->error_ns.known)
			*last = rung->time_ns;
	} else {
		snprintf(cell, sizeof(cell), "%s", rung->failed ? "no:" : rung_text(rung));
	}
	enum style style = rung_style(rung, rung->stop != NULL);
	say(out, "  %s%s%s %-13s", style_code(out, style), rung_mark(out, rung), style_end(out, style), rung->name);
	say(out, "%-*s%s", rung->remote ? 34 : 0, "", cell);
	if (rung->note) {
		say(out, rung->failed ? " " : "  ");
		say_text(out, rung->note);
	}
	if (rung->stop)
		say_styled(out, STYLE_BAD, rung->stop);
	say(out, "\n");
}

/* `why`: of several this one is shown; NULL: there is one, or all are shown. */
static void say_ladder(const struct out *out, const struct operation *operation, const char *why)
{
	struct rung rungs[RUNGS];
	fill_rungs(out, operation, rungs);
	mark_stop(operation, rungs);
	say(out, "\n%s of ", name_of(operation_names, OP_COUNT, operation->opcode));
	say_num(out, operation->bytes);
	say(out, " byte%s, wr_id ", plural(operation->bytes.known ? operation->bytes.value : 0));
	say_num(out, operation->wr_id);
	say(out, ", QP ");
	say_num(out, operation->qpn);
	say(out, "%s", operation->is_signaled == FLAG_NO ? ", unsignaled" : "");
	say(out, why ? " (%s; -j has the others)\n" : "\n", why);
	int indent = out->options->unicode ? 15 : 17;
	say(out, "  %*s%-34s%s\n", indent, "", "local", "remote");
	say(out, "  %*s%11s  %s\n", indent, "", "since start", "after the stage before");
	struct num last = operation->post_call_ns;
	for (int i = 0; i < RUNGS; i++)
		say_rung(out, &rungs[i], &last);
}

/* ---- which operations to show ---- */

enum { PLAIN = 2 }; /* a success */

static int interest(const struct operation *operation)
{
	enum { WC_FLUSH = 5 };
	if (operation->post_errno.known && operation->post_errno.value)
		return 5;
	struct num status = status_of(operation);
	if (status.known && status.value && status.value != WC_FLUSH)
		return 6;
	if (num_is(status, 0) && operation->payload_verified == FLAG_NO)
		return 7;
	if (!status.known && operation->is_signaled != FLAG_NO)
		return 4;
	return num_is(status, WC_FLUSH) ? 3 : status.known ? PLAIN : 1;
}

static const char *reason(const struct operation *operation)
{
	static const char *const reasons[] = { [1] = "the first one, unsignaled",
		[PLAIN] = "the slowest",
		[3] = "the first that was flushed",
		[4] = "the first that did not end",
		[5] = "the first that was refused",
		[6] = "the first that failed",
		[7] = "the first with wrong bytes" };
	return reasons[interest(operation)];
}

static int64_t duration(const struct operation *operation)
{
	return operation->cqe_consumed_ns.known && operation->post_call_ns.known
	               ? minus(operation->cqe_consumed_ns.value, operation->post_call_ns.value)
	               : -1;
}

/* Worse, or just as well and slower; else the first stays. */
static bool is_shown_before(const struct operation *operation, const struct operation *shown)
{
	int difference = interest(operation) - interest(shown);
	return difference > 0 || (!difference && interest(shown) == PLAIN && duration(operation) > duration(shown));
}

void say_operations(const struct out *out)
{
	const struct evidence *evidence = out->evidence;
	const struct operation *shown = NULL;
	list_each(operation, &evidence->operations) {
		if (out->options->verbose)
			say_ladder(out, operation, NULL);
		else if (!shown || is_shown_before(operation, shown))
			shown = operation;
	}
	if (shown)
		say_ladder(out, shown, evidence->operations.count > 1 ? reason(shown) : NULL);
	if (evidence->operations.count)
		say_legend(out);
	if (!evidence->operations_posted.known)
		return;
	say(out, "\nOperations: ");
	say_num(out, evidence->operations_posted);
	say(out, " posted, ");
	say_num(out, evidence->operations_completed);
	say(out, " succeeded, ");
	if (evidence->operations_reclaimed.known && evidence->operations_reclaimed.value > 0) {
		say_num(out, evidence->operations_reclaimed);
		say(out, " done without a completion of their own, ");
	}
	say_num(out, evidence->operations_failed);
	say(out, " failed, ");
	say_num(out, evidence->flushes);
	say(out, " flushed\n");
}
