/* SPDX-License-Identifier: MIT */
/* One member of a RoCE LAG carries requests and another one does not: what they share is not to blame. */
#include "verdict/judge.h"

#include <inttypes.h>

static bool carries(const struct lag_member *member)
{
	return member->posted.known && member->posted.value > 0 && num_is(member->completed, member->posted.value) &&
	       member->payload_verified != FLAG_NO;
}

/* Nothing came back over it; every other error was an answer. */
static bool is_silent(const struct lag_member *member)
{
	return num_is(member->wc_status, WC_RETRY_EXC) || (member->timed_out == FLAG_YES && !member->wc_status.known);
}

static const struct lag_member *find(const struct judge *judge, bool (*wanted)(const struct lag_member *member))
{
	list_each(member, &judge->evidence->lag_members)
		if (wanted(member))
			return member;
	return NULL;
}

const char *member_words(struct judge *judge, const struct lag_member *member)
{
	const char *text = member->port.known
	                           ? arena_printf(judge->arena, "member %" PRId64 " of the LAG", member->port.value)
	                           : NULL;
	return text ? text : "a member of the LAG";
}

static void tell_members(struct judge *judge)
{
	list_each(member, &judge->evidence->lag_members) {
		const struct wc_explanation *known =
		        member->wc_status.known ? explain_wc(member->wc_status.value) : NULL;
		if (carries(member))
			because(judge, "%s carried %" PRId64 " request%s", member_words(judge, member),
			        member->completed.value, plural(member->completed.value));
		else
			because(judge, "%s did not: %s", member_words(judge, member),
			        member->wc_status_text                ? member->wc_status_text
			        : known                               ? known->name
			        : member->timed_out == FLAG_YES       ? "no completion in time"
			        : member->payload_verified == FLAG_NO ? "wrong bytes arrived"
			        : member->detail                      ? member->detail
			                                              : "not tried to the end");
	}
}

/* The probe's own requests ended in a way that a dead member explains. */
static bool is_explained(const struct judge *judge)
{
	return !judge->refused && !judge->wrong && (!judge->failed || num_is(status_of(judge->failed), WC_RETRY_EXC));
}

bool rule_members(struct judge *judge)
{
	const struct lag_member *bad = find(judge, is_silent);
	if (!bad || !find(judge, carries) || !is_explained(judge))
		return false;
	enum outcome outcome = judge->failed ? OUTCOME_FAILED : judge->pending ? OUTCOME_STALLED : OUTCOME_DEGRADED;
	tell_members(judge);
	tell_events(judge);
	tell_counters(judge);
	summarize(judge, "%s does not carry the requests that another member carries", member_words(judge, bad));
	not_observed(judge, "on which side of the cable of that member they are lost");
	next_step(
	        judge, "look at cable, module and switch port of that member, and take it out of the bond until then");
	/* Also of a loopback: its cable may be what that member lacks. */
	return undetermined_link(judge, outcome, L(CONFIGURATION) | L(DEVICE) | L(REMOTE_DEVICE));
}

static bool corrupts(const struct lag_member *member)
{
	return member->payload_verified == FLAG_NO && !(member->wc_status.known && member->wc_status.value) &&
	       member->completed.known && member->completed.value > 0;
}

const struct lag_member *corrupting_member(const struct judge *judge)
{
	return find(judge, corrupts);
}

static bool fails(const struct lag_member *member)
{
	return (member->wc_status.known && member->wc_status.value) || member->timed_out == FLAG_YES;
}

bool judge_member(struct judge *judge)
{
	const struct lag_member *bad = find(judge, fails);
	if (!bad)
		return false;
	const struct wc_explanation *known = bad->wc_status.known ? explain_wc(bad->wc_status.value) : NULL;
	tell_members(judge);
	summarize(judge, "it worked, and requests over %s fail", member_words(judge, bad));
	next_step(judge, "run the probe over that member alone, and compare keys and rights of its queue pair");
	return undetermined(judge, OUTCOME_DEGRADED,
	        known && known->text.layers ? known->text.layers : WHOLE_PATH | L(APPLICATION) | L(KERNEL));
}
