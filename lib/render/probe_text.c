/* SPDX-License-Identifier: MIT */
/*
 * Verdict first, then the way of one request as a ladder of stages with both sides beside each other, then what else
 * was recorded. Nothing depends on the terminal or the time of day, so that outputs of many nodes can be compared.
 */
#include "render/probe_text.h"

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/utf8.h"
#include "render/locale.h"
#include "render/probe_say.h"
#include "verdict/explain.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdarg.h>
#include <string.h>

bool probe_print_unicode(void)
{
	locale_learn();
	const char *codeset = nl_langinfo(CODESET);
	return codeset && !strcmp(codeset, "UTF-8");
}

/* ---- pieces ---- */

const char *style_code(const struct out *out, enum style style)
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

const char *style_end(const struct out *out, enum style style)
{
	return out->options->color && style != STYLE_NONE ? "\033[0m" : "";
}

void say(const struct out *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vfprintf(out->stream, format, args);
	va_end(args);
}

void say_text(const struct out *out, const char *text)
{
	autofree char *clean = text_for_terminal(text ? text : "-");
	for (const char *c = clean ? clean : "?"; *c; c++)
		fputc((unsigned char)*c >= 0x80 && !out->options->unicode ? '?' : *c, out->stream);
}

void say_padded(const struct out *out, int width, const char *text)
{
	int length = text ? (int)strnlen(text, (size_t)width) : 1;
	say_text(out, text);
	say(out, "%*s", width - length, "");
}

void say_styled(const struct out *out, enum style style, const char *text)
{
	fputs(style_code(out, style), out->stream);
	say_text(out, text);
	fputs(style_end(out, style), out->stream);
}

const char *name_of(const char *const *names, int count, int value)
{
	return value >= 0 && value < count && names[value] ? names[value] : "unknown";
}

void say_num(const struct out *out, struct num number)
{
	if (number.known)
		say(out, "%" PRId64, number.value);
	else
		say(out, "-");
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

static void say_verdict(const struct out *out, const struct verdict *verdict, const char *drill)
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
	if (drill) {
		say(out, "  this was the drill ");
		say_text(out, drill);
		say(out, ": what went wrong was made to go wrong on purpose\n");
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
	if (failed && step->name && step->detail && explain_errno_is_borrowed(step->name)) {
		say_styled(out, STYLE_BAD, "failed");
	} else if (failed) {
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
	say(out, "\nSet-up: %u step%s fine", counts[0], plural(counts[0]));
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

int probe_print(FILE *stream, const struct probe_document *document, const struct probe_print_options *options)
{
	const struct out out = { stream, options, &document->evidence, &document->verdict };
	say_verdict(&out, &document->verdict, document->request.drill);
	say_ends(&out);
	say_members(&out);
	say_setup(&out);
	say_operations(&out);
	say_tables(&out);
	return ferror(stream) ? -EIO : 0;
}
