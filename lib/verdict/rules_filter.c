/* SPDX-License-Identifier: MIT */
/* Packet filters and queueing disciplines of the hosts, which are in the path of software RDMA only. */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A rule of other packets than those of RoCE, which came during the run: it resets TCP as a process that ends does. */
const char *cutting_filter(const struct judge *judge)
{
	static const char late[] = "at the end of the run", rule[] = "a rule drops", roce[] = " UDP";
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++) {
		const char *filter = endpoint(judge, side)->filter, *at = filter ? strstr(filter, late) : NULL;
		for (; at && (at = strstr(at, rule)); at += sizeof(rule) - 1)
			if (strncmp(at + sizeof(rule) - 1, roce, sizeof(roce) - 1) != 0)
				return filter;
	}
	return NULL;
}

/* What is known of the filters is not asked for again; what would decide is. */
static void advise_filter(struct judge *judge, const struct endpoint_facts *end, const char *whose)
{
	const char *packets = is_iwarp(end) ? "the TCP connection of iWARP" : "UDP port 4791";
	if (!end->filter)
		next_step(
		        judge, "see whether a firewall of %s drops %s (nft list ruleset, tc -s qdisc)", whose, packets);
	if (text_has(end->filter, "without a counter")) {
		not_observed(judge, "whether the rule without a counter on %s drops these packets", whose);
		next_step(judge,
		        "add the word counter to the rule of %s, before its verdict, and run the probe again: a count "
		        "that rises names the rule, one that does not clears it",
		        whose);
	}
	if (text_has(end->filter, "policy drop"))
		next_step(judge, "see whether the chain with policy drop on %s has a rule that accepts %s", whose,
		        packets);
	if (text_has(end->filter, "iptables-legacy"))
		next_step(
		        judge, "see with iptables-legacy -vnxL on %s which rule counts packets of %s", whose, packets);
}

/* Of one host once is enough, unless its other netdev has others. */
static bool has_told_filter(const struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	if (!is_software(local) || !has_both_ends(judge))
		return false;
	return local->filter && remote->filter ? !strcmp(local->filter, remote->filter) : !remote->filter;
}

/* Soft RoCE hands packets to its own address back before they leave (kernel, rxe_loopback(); seen with Linux 6.1). */
bool passes_no_filter(const struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	return judge->evidence->same_port_loopback == FLAG_YES && is_software(local) && !is_iwarp(local);
}

void tell_filters(struct judge *judge)
{
	if (passes_no_filter(judge)) {
		because(judge, "soft RoCE carries packets from a port to itself by no packet filter and no queueing "
		               "discipline");
		return;
	}
	const struct endpoint_facts *ends[] = { &judge->evidence->local, &judge->evidence->remote };
	for (int i = 0; i < 2; i++) {
		const char *whose = host_words(judge, i ? SIDE_REMOTE : SIDE_LOCAL);
		if (!is_software(ends[i]) || (i && has_told_filter(judge)))
			continue;
		if (!ends[i]->filter)
			not_observed(judge, "packet filters and queueing disciplines of %s", whose);
		else if (*ends[i]->filter)
			because(judge, "%s has packet filters or queueing disciplines that may drop: %s", whose,
			        ends[i]->filter);
		else
			because(judge, "%s has no packet filter or queueing discipline that drops", whose);
		advise_filter(judge, ends[i], whose);
	}
	bool leaves = judge->evidence->same_port_loopback != FLAG_YES;
	if (leaves && judge->evidence->local.driver && !is_software(ends[0]))
		next_step(judge, "look at ACLs and drop counters of the switches; the host's packet filter is not in "
		                 "the path of this adapter");
}

/*
 * What netem does besides dropping is not counted: damaged packets are thrown away for their checksums. All tries of a
 * request are hardly lost where it damages a few; packets that overtake or come twice are not lost.
 */
static bool explains(const char *netem, const char *deed, enum outcome outcome)
{
	const double many_percent = 20;
	const char *at = netem ? strstr(netem, deed) : NULL;
	double percent;
	if (!at || sscanf(at + strlen(deed), "%lf", &percent) != 1)
		return false;
	return outcome == OUTCOME_DEGRADED || (!strcmp(deed, "corrupt ") && percent >= many_percent);
}

bool judge_netem(struct judge *judge, enum outcome outcome, layer_set base)
{
	if (passes_no_filter(judge))
		return false;
	static const char *const deeds[][2] = { { "corrupt ", "damages" }, { "reorder ", "reorders" },
		{ "duplicate ", "duplicates" } };
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++)
		for (size_t i = 0; i < ARRAY_SIZE(deeds); i++) {
			if (!explains(netem_of(endpoint(judge, side)), deeds[i][0], outcome))
				continue;
			tell_filters(judge);
			summarize(judge, "%s, and netem of %s %s packets",
			        outcome == OUTCOME_DEGRADED ? "it worked, but packets had to be sent again"
			                                    : "packets are lost",
			        host_words(judge, side), deeds[i][1]);
			next_step(judge, "%s", take_netem_away);
			return likely(judge, outcome, LAYER_CONFIGURATION, base);
		}
	return false;
}

bool judge_filter(struct judge *judge, enum outcome outcome, layer_set base)
{
	/* Packets of an adapter do not come by its host's filters. */
	bool here = is_software(&judge->evidence->local) && filter_hit(judge, SIDE_LOCAL);
	int side = here ? SIDE_LOCAL : SIDE_REMOTE;
	const struct counter_change *hit = filter_hit(judge, side);
	if (!hit || !is_software(endpoint(judge, side)) || passes_no_filter(judge))
		return false;
	tell_filters(judge);
	tell_dropped(judge, hit);
	summarize(judge, "packets are lost, and a %s of %s drops such packets",
	        text_has(hit->name, "qdisc ") ? "queueing discipline" : "filter", host_words(judge, side));
	advise_dropped(judge, hit);
	return likely(judge, outcome, LAYER_CONFIGURATION, base);
}

void advise_output(struct judge *judge)
{
	next_step(judge, "look at the output chains of the packet filter and at the queueing discipline (nft list "
	                 "ruleset, tc -s qdisc)");
}

/*
 * rxe hands packets to the host's network stack. Where that refuses them, it tries for ever (seen with Linux 6.1), or
 * puts the queue pair into error, and all its requests are flushed (seen with Linux 6.12).
 */
bool judge_refused_packets(struct judge *judge, enum outcome outcome)
{
	const struct endpoint_facts *local = &judge->evidence->local;
	enum flag quiet = FLAG_UNKNOWN;
	struct num refused = counter_growth(judge, SIDE_LOCAL, "send_err", &quiet);
	if (!is_software(local) || !refused.known || refused.value <= 0)
		return false;
	/* Packets of others are counted as well. */
	if (quiet != FLAG_YES) {
		next_step(judge,
		        "run the probe again while nothing else sends through %s: then send_err tells whether "
		        "the host's network stack refuses these packets",
		        local->device ? local->device : "this device");
		advise_output(judge);
		return false;
	}
	because(judge,
	        "packets were refused %" PRId64 " time%s by this host's own network stack: they did not leave the host",
	        refused.value, plural(refused.value));
	summarize(judge, "this host's network stack does not take the packets");
	advise_output(judge);
	if (local->filter && *local->filter)
		because(judge, "this host has packet filters or queueing disciplines that may drop: %s", local->filter);
	const struct counter_change *hit = filter_hit(judge, SIDE_LOCAL);
	if (hit) {
		advise_dropped(judge, hit);
		return likely(judge, outcome, LAYER_CONFIGURATION, L(KERNEL));
	}
	if (!local->filter)
		not_observed(judge, "packet filters and queueing disciplines of this host");
	return undetermined(judge, outcome, L(CONFIGURATION) | L(KERNEL));
}
