/* SPDX-License-Identifier: MIT */
/*
 * The order of the rules and how a verdict is put together.
 *
 * First error wins: what was posted and failed comes before what never ended, and consequences (flushes, a control
 * connection that broke afterwards) come last. Each rule either decides or leaves the evidence to the next one; what no
 * rule knows ends undetermined.
 */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "gid/address.h"

#include <stdarg.h>
#include <string.h>

/* ---- texts ---- */

__attribute__((format(printf, 3, 0))) static void add_text(
        struct judge *judge, struct strings *to, const char *format, va_list args)
{
	const char *text = arena_vprintf(judge->arena, format, args);
	if (text && !strings_contain(to, text))
		strings_add(judge->arena, to, text);
}

void because(struct judge *judge, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_text(judge, &judge->verdict->because, format, args);
	va_end(args);
}

void not_observed(struct judge *judge, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_text(judge, &judge->verdict->not_observed, format, args);
	va_end(args);
}

/* Sentences of the tables and parts of the rules alike: "look at …", without a full stop behind the only sentence. */
__attribute__((format(printf, 2, 0))) static char *as_advice(struct judge *judge, const char *format, va_list args)
{
	char *text = arena_vprintf(judge->arena, format, args);
	size_t length = text ? strlen(text) : 0;
	if (length < 2)
		return text;
	/* Not an abbreviation. */
	if (text[0] >= 'A' && text[0] <= 'Z' && ((text[1] >= 'a' && text[1] <= 'z') || text[1] == ' '))
		text[0] = (char)(text[0] - 'A' + 'a');
	if (text[length - 1] == '.' && !strstr(text, ". "))
		text[length - 1] = '\0';
	return text;
}

/* Of two steps of which one goes on where the other ends, the longer one is given. */
static bool replaces(struct strings *steps, const char *text)
{
	for (uint32_t i = 0; i < steps->count; i++) {
		size_t there = strlen(steps->items[i]), here = strlen(text);
		if (strncmp(steps->items[i], text, there < here ? there : here) != 0)
			continue;
		if (there < here)
			steps->items[i] = text;
		return true;
	}
	return false;
}

void next_step(struct judge *judge, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = as_advice(judge, format, args);
	va_end(args);
	if (text && !replaces(&judge->verdict->next_steps, text))
		strings_add(judge->arena, &judge->verdict->next_steps, text);
}

void advise_address(struct judge *judge, const char *text, const char *address)
{
	static const char command[] = "`ip route get";
	const char *at = address ? strstr(text, command) : NULL;
	size_t before = at ? (size_t)(at - text) + sizeof(command) - 1 : 0;
	if (at)
		next_step(judge, "%.*s %s%s", (int)before, text, address, text + before);
	else
		next_step(judge, "%s", text);
}

static const char *address_text(const struct judge *judge, const char *text)
{
	uint8_t gid[16];
	char *address = gid_parse_ip(text, gid) ? NULL : arena_alloc(judge->arena, IP_TEXT_SIZE);
	if (address)
		gid_format_ip(gid, address);
	return address;
}

const char *peer_address(const struct judge *judge)
{
	const char *peer = judge->request->peer;
	const char *whole = peer ? address_text(judge, peer) : NULL;
	if (!peer || whole)
		return whole;
	/* ADDRESS:PORT or [ADDRESS]:PORT. */
	bool bracket = *peer == '[';
	const char *host = peer + bracket;
	const char *text = arena_printf(judge->arena, "%.*s", (int)strcspn(host, bracket ? "]" : ":"), host);
	return text ? address_text(judge, text) : NULL;
}

const char *gid_address(const struct judge *judge, int side)
{
	const char *gid = endpoint(judge, side)->gid;
	enum gid_kind kind = gid_kind(gid);
	return kind == KIND_IPV4 || kind == KIND_IPV6 ? address_text(judge, gid) : NULL;
}

void summarize(struct judge *judge, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	judge->verdict->summary = arena_vprintf(judge->arena, format, args);
	va_end(args);
}

/* ---- ends ---- */

/*
 * What the layers mean here. A software device is kernel code and has neither firmware nor PCIe. Packets of same-port
 * loopback do not leave the adapter: there is no network, and both devices are one.
 */
static layer_set here(const struct judge *judge, layer_set set)
{
	if (judge->evidence->same_port_loopback == FLAG_YES) {
		if (set & L(REMOTE_DEVICE))
			set |= L(DEVICE);
		set &= ~(L(NETWORK) | L(REMOTE_DEVICE));
	}
	if (is_software(&judge->evidence->local) && set & (L(DEVICE) | L(PLATFORM)))
		set = (set & ~(L(DEVICE) | L(PLATFORM))) | L(KERNEL);
	return set;
}

static void set_end(
        struct judge *judge, enum outcome outcome, enum layer layer, enum confidence confidence, layer_set candidates)
{
	struct verdict *verdict = judge->verdict;
	verdict->outcome = (int)outcome;
	verdict->layer = (int)layer;
	verdict->confidence = (int)confidence;
	verdict->candidates = (struct strings){ 0 };
	judge->candidates = candidates;
	for (int i = LAYER_CONFIGURATION; i < LAYER_UNDETERMINED; i++)
		if (candidates & LAYER_BIT(i))
			strings_add(judge->arena, &verdict->candidates, layer_names[i]);
}

/* Who writes and reads completions may have it, beside those who may have failed the request. */
static layer_set mixers(const struct judge *judge)
{
	return judge->is_mixed_up ? L(PROVIDER) | L(PLATFORM) | L(DEVICE) : 0;
}

bool undetermined(struct judge *judge, enum outcome outcome, layer_set candidates)
{
	candidates = here(judge, candidates ? candidates | mixers(judge) : 0);
	if (!candidates)
		candidates = here(judge, WHOLE_PATH | L(APPLICATION) | L(KERNEL));
	/* One that alone is left open has no other beside it to be told apart from. */
	if (__builtin_popcount(candidates) == 1 && !judge->contradiction) {
		set_end(judge, outcome, (enum layer)__builtin_ctz(candidates), CONFIDENCE_LIKELY, candidates);
		return true;
	}
	set_end(judge, outcome, LAYER_UNDETERMINED, CONFIDENCE_NONE, candidates);
	return true;
}

bool undetermined_link(struct judge *judge, enum outcome outcome, layer_set candidates)
{
	set_end(judge, outcome, LAYER_UNDETERMINED, CONFIDENCE_NONE, here(judge, candidates) | L(NETWORK));
	return true;
}

bool likely(struct judge *judge, enum outcome outcome, enum layer layer, layer_set others)
{
	layer_set named = here(judge, LAYER_BIT(layer));
	others |= mixers(judge);
	/* Where the named layer does not exist here, nothing is named. */
	if (named != LAYER_BIT(layer))
		return undetermined(judge, outcome, named | others);
	set_end(judge, outcome, layer, CONFIDENCE_LIKELY, here(judge, LAYER_BIT(layer) | others));
	return true;
}

/* What the end alone leaves open, where the record cannot be believed in what would decide. */
static layer_set open_by_end(const struct judge *judge)
{
	if (judge->failed) {
		const struct wc_explanation *known = explain_wc(status_of(judge->failed).value);
		return known ? known->text.layers : WHOLE_PATH | L(APPLICATION) | L(KERNEL);
	}
	return judge->pending ? WHOLE_PATH | L(APPLICATION) : 0;
}

bool confirmed(struct judge *judge, enum outcome outcome, enum layer layer)
{
	layer_set broken = judge->failed ? broken_meanwhile(judge, judge->failed) : 0;
	/* Who ended it is known: what is wrong besides may not have come to matter. */
	bool cut_short = judge->evidence->interrupted == FLAG_YES && outcome == OUTCOME_NOT_RUN && !judge->step.name;
	if (judge->contradiction || judge->earlier || broken || cut_short || lacks_what_may_decide(judge))
		return likely(judge, outcome, layer, layer == LAYER_NONE ? 0 : open_by_end(judge) | broken);
	set_end(judge, outcome, layer, CONFIDENCE_CONFIRMED, layer == LAYER_NONE ? 0 : LAYER_BIT(layer));
	return true;
}

/* ---- the last resort ---- */

static bool nothing_known(struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	bool failures = evidence->operations_failed.known && evidence->operations_failed.value > 0;
	bool posted = judge->posted || (evidence->operations_posted.known && evidence->operations_posted.value > 0);
	enum outcome outcome = failures ? OUTCOME_FAILED : posted ? OUTCOME_STALLED : OUTCOME_NOT_RUN;
	bool interrupted = evidence->interrupted == FLAG_YES;
	bool target = evidence->local.role == ROLE_TARGET;
	bool alone = judge->request->mode == MODE_LISTENER && !evidence->control.count;
	summarize(judge, "%s",
	        failures               ? "an operation failed, and the record does not say how"
	        : posted               ? "the record does not say how the operations ended"
	        : interrupted && alone ? "interrupted before a peer came"
	        : interrupted          ? "interrupted before anything was posted"
	        : target               ? "the peer did not say whether it posted anything, nor how that ended"
	                               : "nothing was posted, and the record does not say why");
	because(judge, "%s",
	        target && !interrupted ? "the peer's account of its operations is not in the record, and no step failed"
	                               : "the record holds no request with an end, and no step that failed");
	tell_events(judge);
	if (!posted && own_event(judge, SIDE_LOCAL, "DEVICE_FATAL")) {
		summarize(judge, "the adapter stopped working or was removed before anything was posted");
		next_step(judge, "read the kernel log for health, AER or hot-plug messages of the adapter");
		return undetermined(judge, outcome, L(DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION));
	}
	next_step(judge, "%s",
	        interrupted ? "run it again and let it come to its end"
	        : target    ? "read the peer's own document (-j): it has its operations, if there were any"
	                    : "run the probe again and keep the whole document (-j)");
	return undetermined(judge, outcome, 0);
}

/* ---- the order ---- */

/* No verdict that is not well leaves its reader without a next step. */
static void advise_at_least(struct judge *judge)
{
	const struct verdict *verdict = judge->verdict;
	if (verdict->outcome == OUTCOME_OK || verdict->next_steps.count)
		return;
	bool two = judge->request->mode == MODE_PEER || judge->request->mode == MODE_LISTENER;
	if (two)
		next_step(judge, "compare the documents of both ends (-j), then the kernel log%s of %s",
		        has_both_ends(judge) ? "" : "s", both_hosts(judge));
	else
		next_step(judge, "read the kernel log, and run the probe again with other sizes (--size) and devices "
		                 "(-d)");
}

static bool (*const rules[])(struct judge *) = {
	rule_reported,
	rule_region,
	rule_setup,
	rule_unacknowledged,
	rule_stuck,
	rule_queue_full,
	rule_refused,
	rule_early_reuse,
	rule_corrupt,
	rule_overrun,
	rule_caller_failed,
	rule_members,
	rule_failed,
	rule_flushed,
	rule_died,
	rule_caller_stalled,
	rule_stalled,
	rule_control,
	rule_unlisted,
	rule_degraded,
	rule_ok,
	nothing_known,
};

void verdict_judge(const struct probe_request *request, const struct evidence *evidence, struct report *report,
        struct arena *arena, struct verdict *verdict)
{
	*verdict = (struct verdict){ 0 };
	struct completed whole;
	complete(&whole, request, evidence);
	struct judge judge = { .request = &whole.request,
		.evidence = &whole.evidence,
		.report = report,
		.arena = arena,
		.verdict = verdict };
	judge_facts(&judge, &whole);
	judge_contradictions(&judge);
	for (size_t i = 0; i < ARRAY_SIZE(rules) && !rules[i](&judge); i++)
		;
	advise_at_least(&judge);
	tell_cross_checks(&judge);
}
