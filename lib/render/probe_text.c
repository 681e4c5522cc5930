/* SPDX-License-Identifier: MIT */
/*
 * Verdict first, then the way of one request as a ladder of stages with both sides beside each other, then what else
 * was recorded. Nothing depends on the terminal or the time of day, so that outputs of many nodes can be compared.
 */
#include "render/probe_text.h"

#include "base/cleanup.h"
#include "base/duration.h"
#include "verdict/explain.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdarg.h>
#include <string.h>

struct out {
	FILE *stream;
	const struct probe_print_options *options;
	const struct evidence *evidence;
};

bool probe_print_unicode(void)
{
	const char *codeset = nl_langinfo(CODESET);
	return codeset && !strcmp(codeset, "UTF-8");
}

/* ---- pieces ---- */

enum style { STYLE_NONE, STYLE_BOLD, STYLE_GOOD, STYLE_BAD, STYLE_DOUBT, STYLE_DIM };

static const char *style_code(const struct out *out, enum style style)
{
	static const char *const codes[] = {
		[STYLE_NONE] = "",
		[STYLE_BOLD] = "\033[1m",
		[STYLE_GOOD] = "\033[32m",
		[STYLE_BAD] = "\033[31m",
		[STYLE_DOUBT] = "\033[33m",
		[STYLE_DIM] = "\033[90m",
	};
	return out->options->color ? codes[style] : "";
}

static const char *style_end(const struct out *out, enum style style)
{
	return out->options->color && style != STYLE_NONE ? "\033[0m" : "";
}

static void say(const struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct out *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vfprintf(out->stream, format, args);
	va_end(args);
}

/*
 * Texts come from a peer or from a file: control characters would reach the terminal, and bytes above ASCII do not
 * belong into a locale that has none.
 */
static void say_text(const struct out *out, const char *text)
{
	for (const char *c = text ? text : "-"; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		bool bad = byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !out->options->unicode);
		fputc(bad ? '?' : byte, out->stream);
	}
}

static void say_styled(const struct out *out, enum style style, const char *text)
{
	fputs(style_code(out, style), out->stream);
	say_text(out, text);
	fputs(style_end(out, style), out->stream);
}

static const char *name_of(const char *const *names, int count, int value)
{
	return value >= 0 && value < count && names[value] ? names[value] : "unknown";
}

static void say_num(const struct out *out, struct num number)
{
	if (number.known)
		say(out, "%" PRId64, number.value);
	else
		say(out, "-");
}

static int64_t minus(int64_t a, int64_t b)
{
	int64_t result;
	return __builtin_sub_overflow(a, b, &result) ? 0 : result;
}

/* ---- verdict ---- */

static enum style outcome_style(int outcome)
{
	switch (outcome) {
	case OUTCOME_OK:
		return STYLE_GOOD;
	case OUTCOME_DEGRADED:
	case OUTCOME_NOT_RUN:
		return STYLE_DOUBT;
	default:
		return STYLE_BAD;
	}
}

static void say_list(const struct out *out, const char *title, const struct strings *texts)
{
	if (!texts->count)
		return;
	say(out, "\n%s:\n", title);
	for (uint32_t i = 0; i < texts->count; i++) {
		say(out, "  - ");
		say_text(out, texts->items[i]);
		say(out, "\n");
	}
}

static void say_verdict(const struct out *out, const struct verdict *verdict)
{
	say(out, "Verdict: ");
	say_styled(out, outcome_style(verdict->outcome), name_of(outcome_names, OUTCOME_COUNT, verdict->outcome));
	if (verdict->layer != LAYER_NONE) {
		say(out, ", layer ");
		say_styled(out, STYLE_BOLD, name_of(layer_names, LAYER_COUNT, verdict->layer));
	}
	if (verdict->confidence != CONFIDENCE_NONE)
		say(out, " (%s)", name_of(confidence_names, CONFIDENCE_COUNT, verdict->confidence));
	say(out, "\n");
	if (verdict->summary) {
		say(out, "  ");
		say_text(out, verdict->summary);
		say(out, "\n");
	}
	if (verdict->layer == LAYER_UNDETERMINED || verdict->candidates.count > 1) {
		say(out, "  still possible: ");
		for (uint32_t i = 0; i < verdict->candidates.count; i++) {
			say(out, "%s", i ? ", " : "");
			say_text(out, verdict->candidates.items[i]);
		}
		say(out, "\n");
	}
	say_list(out, "Because", &verdict->because);
	say_list(out, "Not observed", &verdict->not_observed);
	say_list(out, "Next", &verdict->next_steps);
}

/* ---- the two ends ---- */

static bool is_described(const struct endpoint_facts *end)
{
	return end->device || end->gid || end->qpn.known;
}

static void say_end(const struct out *out, const char *side, const struct endpoint_facts *end)
{
	if (!is_described(end))
		return;
	say(out, "  %-7s", side);
	say_text(out, end->device);
	if (end->port.known)
		say(out, "/%" PRId64, end->port.value);
	say(out, "  %s  ", name_of(probe_role_names, ROLE_COUNT, end->role));
	/* Inside an InfiniBand subnet packets go by LID. */
	bool by_lid = end->lid.known && !end->gid_index.known;
	if (by_lid)
		say(out, "LID %" PRId64 "  ", end->lid.value);
	if (end->gid && !by_lid) {
		say(out, "GID ");
		say_num(out, end->gid_index);
		say(out, " ");
		say_text(out, end->gid);
		say(out, " (");
		say_text(out, end->gid_type);
		say(out, ")  ");
	}
	say(out, "MTU ");
	say_num(out, end->active_mtu);
	say(out, "  QP ");
	say_num(out, end->qpn);
	say(out, " ");
	say_text(out, end->qp_state);
	if (end->lag_port.known) {
		say(out, "  LAG member ");
		say_num(out, end->lag_port);
		if (!num_is(end->lag_active_port, end->lag_port.value)) {
			say(out, ", moved to ");
			say_num(out, end->lag_active_port);
		}
	}
	const char *port = end->port_state_after ? end->port_state_after : end->port_state;
	if (port && strcmp(port, "ACTIVE") != 0) {
		say(out, "  port ");
		say_styled(out, STYLE_BAD, port);
	}
	say(out, "\n");
}

/* What should be the same on both ends. */
static void say_differences(
        const struct out *out, const struct endpoint_facts *local, const struct endpoint_facts *remote)
{
	if (local->gid_type && remote->gid_type && strcmp(local->gid_type, remote->gid_type) != 0)
		say(out, "  the GID types differ\n");
	struct num path = local->path_mtu.known ? local->path_mtu : remote->path_mtu;
	bool differ = local->active_mtu.known && remote->active_mtu.known &&
	              local->active_mtu.value != remote->active_mtu.value;
	if (path.known && differ)
		say(out, "  the MTUs differ: the queue pairs use %" PRId64 "\n", path.value);
}

static void say_way(const struct out *out, const char *side, const struct endpoint_facts *end)
{
	if (!end->route_errno.known)
		return;
	say(out, "  %-7sroute to the other end: ", side);
	if (end->route_errno.value) {
		say_styled(out, STYLE_BAD, strerror((int)end->route_errno.value));
		say(out, "\n");
		return;
	}
	const struct {
		const char *word, *value;
	} parts[] = { { "through ", end->route_netdev }, { ", from ", end->route_source },
		{ ", by way of ", end->route_gateway }, { ", next hop ", end->neighbour } };
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!parts[i].value)
			continue;
		say(out, "%s", parts[i].word);
		say_text(out, parts[i].value);
	}
	say(out, "\n");
}

static void say_ends(const struct out *out)
{
	const struct evidence *evidence = out->evidence;
	const struct endpoint_facts *local = &evidence->local, *remote = &evidence->remote;
	if (!is_described(local) && !is_described(remote))
		return;
	say(out, "\nEnds:\n");
	say_end(out, "local", local);
	say_end(out, "remote", remote);
	say_differences(out, local, remote);
	say_way(out, "local", local);
	say_way(out, "remote", remote);
	if (evidence->same_port_loopback == FLAG_YES)
		say(out, "  both ends are on one port: the packets need not leave the adapter\n");
}

/* ---- set-up ---- */

struct step {
	const char *side, *name, *detail;
	struct num duration_ns, error;
};

static void say_step(const struct out *out, const struct step *step)
{
	char took[DURATION_TEXT_SIZE];
	bool failed = step->error.known && step->error.value;
	say(out, "  %-8s", step->side);
	say_text(out, step->name);
	say(out, "  %s  ", step->duration_ns.known ? format_duration(step->duration_ns.value, took) : "did not end");
	if (failed) {
		say_styled(out, STYLE_BAD, strerror((int)step->error.value));
		say(out, " (errno %" PRId64 ")", step->error.value);
	} else {
		say(out, "%s", step->error.known ? "ok" : "no result");
	}
	if (step->detail) {
		say(out, "  ");
		say_text(out, step->detail);
	}
	say(out, "\n");
}

static void visit_steps(
        const struct out *out, void (*visit)(const struct out *, const struct step *, void *), void *data)
{
	const struct evidence *evidence = out->evidence;
	list_each(resource, &evidence->resources) {
		struct step step = { name_of(side_names, SIDE_COUNT, resource->side), resource->step, resource->detail,
			resource->duration_ns, resource->error };
		visit(out, &step, data);
	}
	list_each(transition, &evidence->transitions) {
		struct step step = { name_of(side_names, SIDE_COUNT, transition->side), transition->to, NULL,
			transition->duration_ns, transition->error };
		visit(out, &step, data);
	}
	list_each(control, &evidence->control) {
		struct step step = { "control", control->step, control->detail, control->duration_ns, control->error };
		visit(out, &step, data);
	}
}

static void count_step(const struct out *out, const struct step *step, void *data)
{
	(void)out;
	uint32_t *counts = data;
	counts[num_is(step->error, 0) ? 0 : 1]++;
}

static void say_if_bad(const struct out *out, const struct step *step, void *data)
{
	(void)data;
	if (out->options->verbose || !num_is(step->error, 0))
		say_step(out, step);
}

static void say_setup(const struct out *out)
{
	uint32_t counts[2] = { 0, 0 };
	visit_steps(out, count_step, counts);
	if (!counts[0] && !counts[1])
		return;
	say(out, "\nSet-up: %u steps fine", counts[0]);
	if (counts[1])
		say(out, ", %u not", counts[1]);
	say(out, "%s\n", counts[1] || out->options->verbose ? ":" : "");
	visit_steps(out, say_if_bad, NULL);
	const struct stuck_step *stuck = out->evidence->stuck;
	if (stuck) {
		say(out, "  ");
		say_text(out, stuck->step);
		say_styled(out, STYLE_BAD, "  hangs");
		say(out, "  system call ");
		say_text(out, stuck->system_call);
		say(out, ", waits in ");
		say_text(out, stuck->wait_channel);
		say(out, "\n");
	}
}

/* ---- the ladder ---- */

enum rung_state { RUNG_UNKNOWN, RUNG_NO, RUNG_YES, RUNG_FOLLOWS };

struct rung {
	const char *name;
	const char *note;
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
		rung.note = num_is(operation->wc_status, 0) ? "wrong bytes" : NULL;
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

static struct rung succeeded_rung(const struct operation *operation)
{
	struct rung rung = { .name = "succeeded" };
	if (!operation->wc_status.known) {
		rung.state = operation->is_signaled == FLAG_NO ? RUNG_UNKNOWN : RUNG_NO;
		return rung;
	}
	rung.state = operation->wc_status.value ? RUNG_NO : RUNG_YES;
	rung.failed = rung.state == RUNG_NO;
	const struct wc_explanation *known = explain_wc(operation->wc_status.value);
	rung.note = operation->wc_status_text ? operation->wc_status_text : known ? known->name : "unknown status";
	return rung;
}

/* Refused by the peer's adapter, or not answered until the retries were used up: the device had sent it. */
static bool was_sent(const struct operation *operation)
{
	static const int64_t statuses[] = { 9, 10, 11, 12, 13 }; /* enum ibv_wc_status */
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (num_is(operation->wc_status, statuses[i]))
			return true;
	return false;
}

/*
 * A completion with success proves what came before it, whether or not somebody looked; a completion that was taken was
 * there. Landing is the exception: only the peer can say that the bytes are right.
 */
static void fill_what_follows(const struct operation *operation, struct rung rungs[RUNGS])
{
	enum { PUBLISHED = 1, EXECUTED = 3, LANDED = 5, COMPLETED, CONSUMED, SUCCEEDED };
	bool success = rungs[SUCCEEDED].state == RUNG_YES, taken = rungs[CONSUMED].state == RUNG_YES;
	int sent = was_sent(operation) ? EXECUTED : -1;
	for (int i = 0; i < SUCCEEDED; i++) {
		bool proved = success ? i != LANDED : (taken && i == COMPLETED) || i <= sent;
		bool missed = i == COMPLETED || (i == PUBLISHED && operation->doorbell_recorded != FLAG_NO);
		if (proved && (rungs[i].state == RUNG_UNKNOWN || (rungs[i].state == RUNG_NO && missed)))
			rungs[i].state = RUNG_FOLLOWS;
	}
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
	fill_what_follows(operation, rungs);
}

/*
 * The first rung that was not reached although none below it was either; RUNGS: all were. A completion with an error is
 * no progress: the request stopped on its way to the peer's memory.
 */
static int stopping_rung(const struct operation *operation, const struct rung rungs[RUNGS])
{
	enum { LANDED = 5, SUCCEEDED = 8 };
	bool error = operation->wc_status.known && operation->wc_status.value;
	int last = -1;
	for (int i = 0; i <= (error ? LANDED : RUNGS - 1); i++)
		if (rungs[i].state >= RUNG_YES)
			last = i;
	return error && last == LANDED ? SUCCEEDED : last + 1;
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

static void say_rung(const struct out *out, const struct rung *rung, struct num *last, bool stop)
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
	enum style style = rung_style(rung, stop);
	say(out, "  %s%s%s %-13s", style_code(out, style), rung_mark(out, rung), style_end(out, style), rung->name);
	say(out, "%-*s%s", rung->remote ? 34 : 0, "", cell);
	if (rung->note) {
		say(out, rung->failed ? " " : "  ");
		say_text(out, rung->note);
	}
	if (stop)
		say_styled(out, STYLE_BAD,
		        rung->state == RUNG_NO ? "  <== stopped here" : "  <== stopped here or further down");
	say(out, "\n");
}

static void say_ladder(const struct out *out, const struct operation *operation)
{
	struct rung rungs[RUNGS];
	fill_rungs(out, operation, rungs);
	int stop = stopping_rung(operation, rungs);
	/* A peer that was never asked to confirm is not a stop. */
	if (stop == RUNGS - 1 && rungs[stop].state == RUNG_UNKNOWN)
		stop = RUNGS;
	say(out, "\n%s of ", name_of(operation_names, OP_COUNT, operation->opcode));
	say_num(out, operation->bytes);
	say(out, " bytes, wr_id ");
	say_num(out, operation->wr_id);
	say(out, ", QP ");
	say_num(out, operation->qpn);
	say(out, "%s\n", operation->is_signaled == FLAG_NO ? ", unsignaled" : "");
	say(out, "  %*s%-34s%s\n", out->options->unicode ? 15 : 17, "", "local", "remote");
	struct num last = operation->post_call_ns;
	for (int i = 0; i < RUNGS; i++)
		say_rung(out, &rungs[i], &last, i == stop);
}

/* ---- which operations to show ---- */

static int interest(const struct operation *operation)
{
	enum { WC_FLUSH = 5 };
	if (operation->post_errno.known && operation->post_errno.value)
		return 5;
	if (operation->wc_status.known && operation->wc_status.value && operation->wc_status.value != WC_FLUSH)
		return 6;
	if (num_is(operation->wc_status, 0) && operation->payload_verified == FLAG_NO)
		return 7;
	if (!operation->wc_status.known && operation->is_signaled != FLAG_NO)
		return 4;
	return num_is(operation->wc_status, WC_FLUSH) ? 3 : operation->wc_status.known ? 2 : 1;
}

static void say_operations(const struct out *out)
{
	const struct evidence *evidence = out->evidence;
	const struct operation *shown = NULL;
	list_each(operation, &evidence->operations) {
		if (out->options->verbose)
			say_ladder(out, operation);
		else if (!shown || interest(operation) > interest(shown))
			shown = operation;
	}
	if (shown)
		say_ladder(out, shown);
	if (evidence->operations.count)
		say_legend(out);
	if (!evidence->operations_posted.known)
		return;
	say(out, "\nOperations: ");
	say_num(out, evidence->operations_posted);
	say(out, " posted, ");
	say_num(out, evidence->operations_completed);
	say(out, " succeeded, ");
	say_num(out, evidence->operations_failed);
	say(out, " failed, ");
	say_num(out, evidence->flushes);
	say(out, " flushed\n");
}

/* Of one operation the ladder says the same. */
static bool is_worth_statistics(const struct evidence *evidence)
{
	list_each(statistic, &evidence->statistics.stages)
		if (statistic->samples.value > 1)
			return true;
	return false;
}

/* The stages of the record in the words of the ladder. */
static const char *stage_name(const char *stage)
{
	static const char *const names[][2] = { { "post", "submitted" }, { "wqe", "published" }, { "cqe", "completed" },
		{ "consume", "consumed" } };
	for (size_t i = 0; stage && i < ARRAY_SIZE(names); i++)
		if (!strcmp(stage, names[i][0]))
			return names[i][1];
	return stage ? stage : "-";
}

static void say_statistics(const struct out *out)
{
	char text[4][DURATION_TEXT_SIZE];
	if (!is_worth_statistics(out->evidence))
		return;
	say(out, "\n  %-10s %10s %8s %10s %10s %10s %10s\n", "stage", "bytes", "samples", "min", "median", "p99",
	        "max");
	list_each(statistic, &out->evidence->statistics.stages) {
		const struct num times[] = { statistic->min_ns, statistic->median_ns, statistic->p99_ns,
			statistic->max_ns };
		if (!strcmp(statistic->stage, "span"))
			continue;
		say(out, "  %-10s %10" PRId64 " %8" PRId64, stage_name(statistic->stage), statistic->bytes.value,
		        statistic->samples.value);
		for (size_t i = 0; i < ARRAY_SIZE(times); i++)
			say(out, " %10s", times[i].known ? format_duration(times[i].value, text[i]) : "-");
		say(out, "\n");
	}
}

static void say_bar(const struct out *out, int64_t part, int64_t whole)
{
	enum { WIDTH = 48 };
	int64_t length = whole > 0 && part > 0 ? (part < whole ? part : whole) * WIDTH / whole : 0;
	if (part > 0 && !length)
		length = 1;
	for (int64_t i = 0; i < length; i++)
		say(out, "%s", out->options->unicode ? "\xe2\x96\x88" : "#");
}

static void say_histogram(const struct out *out, const struct histogram *histogram)
{
	char from[DURATION_TEXT_SIZE];
	int64_t most = 0;
	list_each(bucket, &histogram->buckets)
		most = bucket->requests.value > most ? bucket->requests.value : most;
	say(out, "\nFrom post to completion taken, %" PRId64 " bytes: requests that took at least\n",
	        histogram->bytes.value);
	list_each(bucket, &histogram->buckets) {
		say(out, "  %10s %8" PRId64 " ", format_duration(bucket->from_ns.value, from), bucket->requests.value);
		say_bar(out, bucket->requests.value, most);
		say(out, "\n");
	}
}

static void say_histograms(const struct out *out)
{
	list_each(histogram, &out->evidence->histograms)
		say_histogram(out, histogram);
}

/* ---- counters, events, buffer ---- */

static void say_counters(const struct out *out)
{
	bool any = false;
	list_each(counter, &out->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		int64_t growth = counter->before.known && counter->after.known
		                         ? minus(counter->after.value, counter->before.value)
		                         : 0;
		bool traffic = meaning && meaning->kind == COUNTER_TRAFFIC;
		if (!growth || (traffic && !out->options->verbose))
			continue;
		if (!any)
			say(out, "\nCounters that changed (of the whole port):\n");
		any = true;
		say(out, "  %-7s ", name_of(side_names, SIDE_COUNT, counter->side));
		say_text(out, counter->name);
		say(out, " %+" PRId64 "%s  ", growth, counter->quiet == FLAG_YES ? "" : " (no quiet baseline)");
		say_text(out, meaning ? meaning->text.meaning : "not in this program's tables");
		say(out, "\n");
	}
}

static void say_events(const struct out *out)
{
	char at[DURATION_TEXT_SIZE];
	if (!out->evidence->async_events.count)
		return;
	say(out, "\nAsynchronous events:\n");
	list_each(event, &out->evidence->async_events) {
		const struct event_explanation *meaning = event->event ? explain_event(event->event) : NULL;
		say(out, "  %-7s %11s  ", name_of(side_names, SIDE_COUNT, event->side),
		        event->t_ns.known ? format_duration(event->t_ns.value, at) : "-");
		say_text(out, event->event);
		say(out, "  ");
		say_text(out, meaning ? meaning->text.meaning : "not in this program's tables");
		say(out, "\n");
	}
}

static void say_buffer(const struct out *out)
{
	const struct buffer_facts *buffer = &out->evidence->buffer;
	if (!buffer->pages.known)
		return;
	say(out, "\nBuffer: %" PRId64 " pages", buffer->pages.value);
	list_each(entry, &buffer->pages_on_node) {
		say(out, ", ");
		say_num(out, entry->value);
		say(out, " on node %" PRId64, entry->key);
	}
	if (out->evidence->local.numa_node.known)
		say(out, "; the adapter is on node %" PRId64, out->evidence->local.numa_node.value);
	say(out, "\n");
}

static void say_member(const struct out *out, const struct lag_member *member)
{
	char took[DURATION_TEXT_SIZE];
	bool works = member->posted.known && num_is(member->completed, member->posted.value);
	say(out, "  member ");
	say_num(out, member->port);
	if (member->active_port.known && !num_is(member->active_port, member->port.value)) {
		say(out, " (carried by ");
		say_num(out, member->active_port);
		say(out, ")");
	}
	say(out, "  ");
	if (works && member->payload_verified != FLAG_NO) {
		say(out, "ok, %" PRId64 " requests", member->completed.value);
		if (member->latency_ns.known)
			say(out, ", the last in %s", format_duration(member->latency_ns.value, took));
	} else {
		say_styled(out, STYLE_BAD, "failed");
		say(out, "  ");
		say_text(out, member->wc_status_text                ? member->wc_status_text
		              : member->timed_out == FLAG_YES       ? "no completion in time"
		              : member->payload_verified == FLAG_NO ? "wrong bytes arrived"
		                                                    : member->detail);
	}
	say(out, "\n");
}

static void say_members(const struct out *out)
{
	if (!out->evidence->lag_members.count)
		return;
	say(out, "\nMembers of the LAG, each by queue pairs bound to it:\n");
	list_each(member, &out->evidence->lag_members)
		say_member(out, member);
}

static struct num rdma_total(const struct out *out, int64_t bytes)
{
	list_each(statistic, &out->evidence->statistics.stages)
		if (statistic->stage && !strcmp(statistic->stage, "total") && statistic->bytes.value == bytes)
			return statistic->median_ns;
	return (struct num){ 0 };
}

static const char *time_or_dash(struct num time, char text[static DURATION_TEXT_SIZE])
{
	return time.known ? format_duration(time.value, text) : "-";
}

static void say_contrast(const struct out *out)
{
	char text[4][DURATION_TEXT_SIZE];
	if (!out->evidence->tcp_transfers.count)
		return;
	say(out, "\nThe same bytes over TCP inside this host (medians; no network is in it):\n");
	say(out, "  %10s %16s | %16s %16s %16s\n", "bytes", "RDMA completed", "send() returned", "recv() has all",
	        "acknowledged");
	list_each(tcp, &out->evidence->tcp_transfers)
		say(out, "  %10" PRId64 " %16s | %16s %16s %16s%s\n", tcp->bytes.value,
		        time_or_dash(rdma_total(out, tcp->bytes.value), text[0]),
		        time_or_dash(tcp->returned_ns, text[1]), time_or_dash(tcp->received_ns, text[2]),
		        time_or_dash(tcp->acknowledged_ns, text[3]), tcp->verified == FLAG_NO ? "  wrong bytes" : "");
	say(out, "  Copies: TCP's kernel copies in send() and once more in recv(); RDMA's device reads the source and "
	         "writes the\n"
	         "  target itself. The source is free when send() returns, with RDMA when the completion was taken. "
	         "Neither\n"
	         "  tells that the peer's program has seen the data; --explain-stages has all stages.\n");
}

static void say_comparison(const struct out *out, const struct placement_comparison *comparison)
{
	say(out, "  %-10s %8" PRId64 " bytes, node %" PRId64 " %s against node %" PRId64 ": ", comparison->metric,
	        comparison->bytes.value, comparison->node.value, comparison->registration, comparison->base_node.value);
	if (comparison->differs == FLAG_UNKNOWN) {
		say(out, "not measured\n");
		return;
	}
	say_styled(out, comparison->differs == FLAG_YES ? STYLE_BOLD : STYLE_DIM,
	        comparison->differs == FLAG_YES ? "differs" : "no difference above the noise");
	say(out, " (%+.1f %%; runs of one place spread by %.1f %%)\n", (double)comparison->difference_ppm.value / 1e4,
	        (double)comparison->noise_ppm.value / 1e4);
}

static void say_placements(const struct out *out)
{
	if (!out->evidence->placement_comparisons.count)
		return;
	say(out, "\nThe same run with the buffer elsewhere, interleaved:\n");
	list_each(comparison, &out->evidence->placement_comparisons)
		say_comparison(out, comparison);
	say(out, "  It shows what the place of the initiator's buffer costs with one thread on the adapter's node. It "
	         "does not\n"
	         "  show what places of queues, interrupts or the peer's buffer cost, nor a loaded machine. Software "
	         "devices\n"
	         "  copy with the CPU, so there it shows the memory of the CPU, not the way of an adapter.\n");
}

static void say_clock(const struct out *out)
{
	const struct clock_offset *clock = out->evidence->clock;
	char error[DURATION_TEXT_SIZE];
	if (clock && clock->error_ns.known)
		say(out, "\nClocks of the two sides are compared with an error of %s; closer events are in no order.\n",
		        format_duration(clock->error_ns.value, error));
}

int probe_print(FILE *stream, const struct probe_document *document, const struct probe_print_options *options)
{
	const struct out out = { stream, options, &document->evidence };
	say_verdict(&out, &document->verdict);
	say_ends(&out);
	say_members(&out);
	say_setup(&out);
	say_operations(&out);
	say_statistics(&out);
	say_histograms(&out);
	say_counters(&out);
	say_events(&out);
	say_buffer(&out);
	say_contrast(&out);
	say_placements(&out);
	say_clock(&out);
	return ferror(stream) ? -EIO : 0;
}
