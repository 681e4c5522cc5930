/* SPDX-License-Identifier: MIT */
/* A request without an end, by what the device says of itself: it saw the doorbell, executed, acknowledged. */
#include "verdict/judge.h"

#include <inttypes.h>

/* RTS, and not in another state in the sample before; whoever recorded no such sample has kept the rules himself. */
static bool in_order(const struct endpoint_facts *end)
{
	return text_is(end->qp_state, "RTS") && (!end->qp_state_first || text_is(end->qp_state_first, "RTS"));
}

/*
 * The device's counters mean what they say only in RTS, at rest and without retries: on entering ERR they are reloaded
 * (published data of a ConnectX-6 Dx; not verified on hardware by this project).
 */
static bool believes_device(struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	const struct operation *pending = judge->pending;
	if (!evidence->observers.device)
		return false;
	if (pending->device_saw_doorbell == FLAG_UNKNOWN) {
		not_observed(judge, "how far the device came: its queue counters were not at rest in two samples");
		return false;
	}
	if (!in_order(&evidence->local)) {
		not_observed(judge,
		        "the device's queue counters: they count only while the queue pair is in RTS in two samples");
		return false;
	}
	bool contradicts = pending->device_saw_doorbell == FLAG_NO &&
	                   (pending->device_executed == FLAG_YES || payload_is_right(pending));
	contradicts |=
	        pending->device_executed == FLAG_NO && (pending->acknowledged == FLAG_YES || payload_is_right(pending));
	if (contradicts)
		not_observed(judge, "the device's queue counters: they contradict each other or the peer");
	return !contradicts;
}

static bool is_retrying(const struct judge *judge)
{
	return counter_moved(judge, SIDE_LOCAL, COUNTER_RETRY, false) ||
	       counter_moved(judge, SIDE_LOCAL, COUNTER_NOT_READY, false);
}

static bool judge_not_acknowledged(struct judge *judge)
{
	layer_set set = L(NETWORK) | L(REMOTE_DEVICE) | L(DEVICE);
	summarize(judge, "the request was sent, and no acknowledgement came");
	next_step(judge, "%s",
	        judge->evidence->same_port_loopback == FLAG_YES ? inside_advice(judge)
	        : has_traffic_of_both(judge)
	                ? "look at the pause counters of this port: packets may also wait in this adapter"
	                : "compare the wire counters of both ends, and pause counters: packets may also wait in this "
	                  "adapter");
	if (!excludes_peer_program(judge, judge->pending))
		set |= L(REMOTE_APPLICATION);
	return judge_lost_packets(judge, OUTCOME_STALLED, judge->pending, set);
}

static bool has_overrun(const struct judge *judge)
{
	list_each(sample, &judge->evidence->device_samples)
		if (num_is(sample->cq_status, CQ_OVERFLOW))
			return true;
	return false;
}

/* What the device itself thinks of the completion: its counter tells the two apart, and is nowhere confirmed. */
static bool judge_no_completion(struct judge *judge)
{
	const struct operation *pending = judge->pending;
	if (pending->cqe_written == FLAG_YES)
		because(judge, "the device counts the completion as written, and it is not in this host's memory");
	if (pending->cqe_written == FLAG_NO)
		because(judge, "the device does not count a completion as written");
	summarize(judge, "the request was executed and acknowledged, and its completion was not written");
	next_step(judge, "look at IOMMU faults and PCIe errors in the kernel log, and at the completion queue's state");
	/* An acknowledgement for what is not there. */
	layer_set far = pending->landed == FLAG_NO ? L(REMOTE_DEVICE) : 0;
	layer_set caller = 0;
	if (has_overrun(judge)) {
		because(judge, "by the device's own account the completion queue has overrun: no completion is written "
		               "to it any more");
		caller = L(APPLICATION) | L(PROVIDER);
	}
	return undetermined(judge, OUTCOME_STALLED, L(PLATFORM) | L(DEVICE) | far | caller);
}

/*
 * Counters of timers that ran out. local_ack_timeout_err counts those of the ACK timer: public reports have it rise by
 * retry_cnt plus one where each try goes unanswered. With adaptive retransmission, which RoCE adapters from ConnectX-5
 * on may have switched on, the shorter timers in between are counted apart (kernel,
 * drivers/infiniband/hw/mlx5/counters.c, roce_accl_cnts). This project has seen none of them on hardware.
 */
static bool no_timer_expired(const struct judge *judge)
{
	bool ethernet = !text_is(judge->evidence->local.link_layer, "InfiniBand");
	return num_is(counter_growth(judge, SIDE_LOCAL, "local_ack_timeout_err", NULL), 0) &&
	       (!ethernet || (num_is(counter_growth(judge, SIDE_LOCAL, "roce_adp_retrans", NULL), 0) &&
	                             num_is(counter_growth(judge, SIDE_LOCAL, "roce_adp_retrans_to", NULL), 0)));
}

/*
 * The peer has the payload, and in many ACK timeouts nothing was sent again, which a missing acknowledgement would have
 * led to (up to four times the nominal time by IBTA, and adapters of this vendor are known to wait at least half a
 * second whatever was asked for). So it was acknowledged, or the device's own timer does not run.
 */
bool needs_no_acknowledgement(struct judge *judge)
{
	enum { MANY = 8 };
	const int64_t least_ns = 500000000;
	const struct endpoint_facts *local = &judge->evidence->local;
	const struct operation *pending = judge->pending;
	int64_t timeout = ack_timeout_ns(local), end = waiting_end_ns(judge);
	int64_t waits = timeout < least_ns ? least_ns : timeout;
	/* The answers to a read are its acknowledgement (IBTA, 9.4.4). */
	if (pending->opcode == OP_READ && payload_is_right(pending)) {
		because(judge, "all bytes of the read came back, so the peer has answered it");
		return true;
	}
	if (!payload_is_right(pending) || !no_timer_expired(judge) || !timeout || end < 0 ||
	        !pending->post_return_ns.known || difference(end, pending->post_return_ns.value) < MANY * waits)
		return false;
	if (!in_order(local))
		return false;
	because(judge,
	        "no ACK timer expired in more than %d ACK timeouts: an acknowledgement that is missing would have "
	        "made the device send again",
	        MANY);
	not_observed(judge, "whether these counters mean on this adapter what is documented of them");
	return true;
}

/* A request that succeeds shows the numbers at rest; one that is as small as the first of every probe does not help. */
static void advise_calibration(struct judge *judge)
{
	enum { SMALLEST = 64 };
	struct num bytes = judge->pending->bytes;
	if (bytes.known && bytes.value > SMALLEST)
		next_step(judge,
		        "probe with a smaller request first (--size %d,%" PRId64
		        "), so that one succeeds before the one that does not",
		        SMALLEST, bytes.value);
	else
		next_step(judge, "look at IOMMU faults and PCIe errors in the kernel log, and at the adapter's own "
		                 "account (rdmadiag check)");
}

/* Sent and not acknowledged, or acknowledged and no completion: it is one of the two. */
static bool judge_not_calibrated(struct judge *judge)
{
	layer_set set = L(NETWORK) | L(REMOTE_DEVICE) | L(DEVICE) | L(PLATFORM);
	not_observed(judge, "whether it was acknowledged: no request succeeded before it, so what the device's packet "
	                    "numbers look like at rest is not known");
	summarize(judge, "the device worked on the request, and the completion did not come");
	advise_calibration(judge);
	if (!excludes_peer_program(judge, judge->pending))
		set |= L(REMOTE_APPLICATION);
	bool answered = needs_no_acknowledgement(judge);
	if (answered)
		set = L(DEVICE) | L(PLATFORM);
	/* Nobody watched the completion queue. */
	if (!judge->evidence->observers.cqe)
		set |= L(PROVIDER) | L(APPLICATION);
	if (answered)
		return judge_port_down(judge, OUTCOME_STALLED) || undetermined(judge, OUTCOME_STALLED, set);
	return judge_lost_packets(judge, OUTCOME_STALLED, judge->pending, set);
}

bool judge_device(struct judge *judge)
{
	const struct operation *pending = judge->pending;
	if (!believes_device(judge))
		return false;
	if (is_retrying(judge)) {
		not_observed(judge,
		        "where it stands in the device: retry counters move, so its queue counters are not at rest");
		return false;
	}
	if (pending->device_saw_doorbell == FLAG_NO && is_in_post(pending)) {
		summarize(judge, "post was called and is not known to have returned, and the device saw no doorbell");
		next_step(
		        judge, "see where the posting thread is: its stack and its system call (/proc/PID/stack, gdb)");
		return undetermined(
		        judge, OUTCOME_STALLED, L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(PLATFORM) | L(DEVICE));
	}
	if (pending->device_saw_doorbell == FLAG_NO) {
		summarize(judge, "the request is in the queue, and the device did not see the doorbell");
		next_step(judge,
		        "ring again by posting another request, and look at PCIe errors (rdmadiag topo, kernel log)");
		return undetermined(judge, OUTCOME_STALLED, L(PROVIDER) | L(PLATFORM) | L(DEVICE));
	}
	if (pending->device_executed == FLAG_NO) {
		summarize(judge, "the device saw the doorbell and did not work on the request");
		next_step(judge, "look at the adapter's health and pause counters, and at the kernel log");
		return judge_port_down(judge, OUTCOME_STALLED) ||
		       undetermined(
		               judge, OUTCOME_STALLED, L(DEVICE) | L(PLATFORM) | L(NETWORK) | counted_layers(judge));
	}
	if (pending->device_executed == FLAG_YES && pending->acknowledged == FLAG_NO)
		return judge_not_acknowledged(judge);
	if (pending->acknowledged == FLAG_YES && judge->evidence->observers.cqe && !pending->cqe_arrived_ns.known)
		return judge_no_completion(judge);
	if (pending->device_executed == FLAG_YES && pending->acknowledged == FLAG_UNKNOWN)
		return judge_not_calibrated(judge);
	return false;
}
