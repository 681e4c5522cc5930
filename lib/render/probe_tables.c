/* SPDX-License-Identifier: MIT */
/* What was measured and seen beside the request itself, as tables. */
#include "base/cleanup.h"
#include "base/duration.h"
#include "render/probe_say.h"
#include "verdict/explain.h"

#include <inttypes.h>
#include <string.h>

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
	return stage;
}

static void say_count(const struct out *out, int width, struct num count)
{
	if (count.known)
		say(out, "%*" PRId64, width, count.value);
	else
		say(out, "%*s", width, "-");
}

static void say_statistics(const struct out *out)
{
	enum { P99_SAMPLES = 100 };
	char text[4][DURATION_TEXT_SIZE];
	if (!is_worth_statistics(out->evidence))
		return;
	say(out, "\nTimes since the post was called, consumed: since completed.\n");
	say(out, "  %-10s %10s %8s %10s %10s %10s %10s\n", "stage", "bytes", "samples", "min", "median", "p99", "max");
	list_each(statistic, &out->evidence->statistics.stages) {
		/* Of fewer it would be the maximum by another name. */
		bool enough = statistic->samples.value >= P99_SAMPLES;
		const struct num times[] = { statistic->min_ns, statistic->median_ns,
			enough ? statistic->p99_ns : (struct num){ 0 }, statistic->max_ns };
		if (statistic->stage && !strcmp(statistic->stage, "span"))
			continue;
		say(out, "  ");
		say_padded(out, 11, stage_name(statistic->stage));
		say_count(out, 10, statistic->bytes);
		say_count(out, 9, statistic->samples);
		for (size_t i = 0; i < ARRAY_SIZE(times); i++)
			say(out, " %10s", times[i].known ? format_duration(times[i].value, text[i]) : "-");
		say(out, "\n");
	}
}

static void say_bar(const struct out *out, int64_t part, int64_t whole)
{
	enum { WIDTH = 48 };
	int64_t shown = part < whole ? part : whole; /* of a foreign record: may be too large to multiply */
	int64_t length = shown > 0 ? (int64_t)((double)shown * WIDTH / (double)whole) : 0;
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
	say(out, "\nFrom post to completion taken, ");
	say_num(out, histogram->bytes);
	say(out, " byte%s: requests that took at least\n", plural(histogram->bytes.value));
	list_each(bucket, &histogram->buckets) {
		say(out, "  %10s", bucket->from_ns.known ? format_duration(bucket->from_ns.value, from) : "-");
		say_count(out, 9, bucket->requests);
		say(out, " ");
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

/* In the words of the verdict's reasons. */
static bool is_told(const struct out *out, const struct counter_change *counter)
{
	char whole[200];
	const char *whose = counter->side == SIDE_REMOTE ? "the peer's" : "local";
	int length = snprintf(whole, sizeof(whole), "%s counter %s rose", whose, counter->name);
	for (uint32_t i = 0; length > 0 && i < out->verdict->because.count; i++)
		if (!strncmp(out->verdict->because.items[i], whole, (size_t)length))
			return true;
	return false;
}

static void say_counters(const struct out *out)
{
	bool any = false;
	list_each(counter, &out->evidence->counters) {
		const struct counter_explanation *meaning = explain_counter(counter->name);
		int64_t growth = counter->before.known && counter->after.known
		                         ? minus(counter->after.value, counter->before.value)
		                         : 0;
		bool traffic = meaning && meaning->kind == COUNTER_TRAFFIC;
		if (!growth || (traffic && !out->options->verbose) || is_told(out, counter))
			continue;
		if (!any)
			say(out, "\nCounters that changed beside those above (of the whole port):\n");
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
	say(out, "\nBuffer: %" PRId64 " page%s", buffer->pages.value, plural(buffer->pages.value));
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
		say(out, "ok, %" PRId64 " request%s", member->completed.value, plural(member->completed.value));
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

void say_members(const struct out *out)
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
	bool to_peer = out->evidence->tcp_transfers.items[0]->to_peer == FLAG_YES;
	say(out, "\nThe same bytes over TCP %s:\n",
	        to_peer ? "to the peer (medians; on the connection of the exchange, in small segments)"
	                : "inside this host (medians; no network is in it)");
	say(out, "  %10s %16s | %16s %16s %16s\n", "bytes", "RDMA completed", "send() returned", "recv() has all",
	        "acknowledged");
	list_each(tcp, &out->evidence->tcp_transfers) {
		if (!tcp->bytes.known)
			continue;
		say(out, "  %10" PRId64 " %16s | %16s %16s %16s%s\n", tcp->bytes.value,
		        time_or_dash(rdma_total(out, tcp->bytes.value), text[0]),
		        time_or_dash(tcp->returned_ns, text[1]), time_or_dash(tcp->received_ns, text[2]),
		        time_or_dash(tcp->acknowledged_ns, text[3]), tcp->verified == FLAG_NO ? "  wrong bytes" : "");
	}
	if (to_peer)
		say(out, "  recv() is the peer's, by the offset of the clocks. TCP takes other queues and filters than "
		         "RoCE: that it arrives\n  clears nothing.\n");
	say(out, "  Copies: TCP's kernel copies in send() and once more in recv(); RDMA's device reads the source and "
	         "writes the\n"
	         "  target itself. The source is free when send() returns, with RDMA when the completion was taken. "
	         "Neither\n"
	         "  tells that the peer's program has seen the data; --explain-stages has all stages.\n");
}

static void say_comparison(const struct out *out, const struct placement_comparison *comparison)
{
	say(out, "  ");
	say_padded(out, 11, comparison->metric);
	say_num(out, comparison->bytes);
	say(out, " bytes, node ");
	say_num(out, comparison->node);
	say(out, " ");
	say_text(out, comparison->registration);
	say(out, " against node ");
	say_num(out, comparison->base_node);
	if (comparison->differs == FLAG_UNKNOWN) {
		say(out, ": not measured\n");
		return;
	}
	say(out, ": ");
	say_styled(out, comparison->differs == FLAG_YES ? STYLE_BOLD : STYLE_DIM,
	        comparison->differs == FLAG_YES ? "differs" : "no difference above the noise");
	if (comparison->difference_ppm.known && comparison->noise_ppm.known)
		say(out, " (%+.1f %%; runs of one place spread by %.1f %%)",
		        (double)comparison->difference_ppm.value / 1e4, (double)comparison->noise_ppm.value / 1e4);
	say(out, "\n");
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

void say_tables(const struct out *out)
{
	say_statistics(out);
	say_histograms(out);
	say_counters(out);
	say_events(out);
	say_buffer(out);
	say_contrast(out);
	say_placements(out);
	say_clock(out);
}
