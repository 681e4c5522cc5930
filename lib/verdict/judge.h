/* SPDX-License-Identifier: MIT */
/* What the rules share; only lib/verdict includes it. */
#ifndef RDMADIAG_VERDICT_JUDGE_H
#define RDMADIAG_VERDICT_JUDGE_H

#include "verdict/explain.h"
#include "verdict/verdict.h"

#include <stdbool.h>

#define L(layer) LAYER_BIT(LAYER_##layer)

/* The layers between post and success, all of them: what is left when nothing is known. */
#define WHOLE_PATH                                                                                                     \
	(L(CONFIGURATION) | L(PROVIDER) | L(PLATFORM) | L(DEVICE) | L(NETWORK) | L(REMOTE_DEVICE) |                    \
	        L(REMOTE_APPLICATION))

/* A set-up step of either kind that failed. */
struct failed_step {
	const char *name; /* NULL: none */
	const char *detail;
	int side;
	int64_t error, duration_ns; /* duration −1: unknown */
	int64_t start_ns;
	const struct resource_step *resource; /* NULL: a transition */
};

/* A record with what follows from its own fields; it lives as long as the judging. */
struct completed {
	struct probe_request request;
	struct evidence evidence;
	struct stuck_step stuck;
	struct control_step unended; /* step NULL: none */
	struct operation unlisted;   /* one that is only counted among the payloads, and wrong; bytes unknown: none */
};
void complete(struct completed *to, const struct probe_request *request, const struct evidence *evidence);

/* enum ibv_wc_status: the codes that rules go by. */
enum {
	WC_LOC_LEN = 1,
	WC_LOC_QP_OP = 2,
	WC_LOC_PROT = 4,
	WC_REM_INV_REQ = 9,
	WC_REM_ACCESS = 10,
	WC_REM_OP = 11,
	WC_RETRY_EXC = 12,
	WC_RNR_RETRY_EXC = 13,
	WC_FATAL = 19,
	WC_RESP_TIMEOUT = 20,
};

/* The status of a completion queue in the device that overran (mlx5: CQC). */
enum { CQ_OVERFLOW = 9 };

struct judge {
	const struct probe_request *request;
	const struct evidence *evidence;
	struct report *report; /* NULL: nobody listens */
	struct arena *arena;
	struct verdict *verdict;
	/* facts.c fills these from the evidence. */
	const struct operation *failed;  /* the first that failed, flushes left out; NULL: none */
	const struct operation *flushed; /* the first flush */
	const struct operation *refused; /* the first that post refused */
	const struct operation *pending; /* the first that was posted and whose end was not seen */
	const struct operation *wrong;   /* the first that succeeded with wrong bytes */
	const struct operation *earlier; /* a flush of another queue pair, long before `failed`; NULL: none */
	uint32_t posted, succeeded, verified;
	uint32_t successes_end; /* behind the last that succeeded in the list; 0: none did */
	struct failed_step step;
	struct failed_step other_step; /* the first of the other end, where no clock says which came first; else none */
	layer_set candidates;          /* of the verdict that was reached */
	const struct control_step *control; /* the first step of the control connection that failed */
	/* contradict.c: NULL where the record does not contradict itself */
	const char *contradiction;
	const struct operation *contradictory; /* NULL: it is of no single request */
	bool is_mixed_up;                      /* completions came that no queue pair gives in this order */
};

/* ---- facts.c, facts_record.c ---- */

void judge_facts(struct judge *judge, const struct completed *whole);
void judge_contradictions(struct judge *judge);
/* A field that could not be read, and that may hold what speaks against a verdict. */
bool lacks_what_may_decide(const struct judge *judge);
/* One such as "operations[0].opcode:" of any request; for what decides of some verdicts only. */
bool is_unreadable(const struct judge *judge, const char *field);
const struct endpoint_facts *endpoint(const struct judge *judge, int side);
/* As a number, or by its name where the record has only that; unknown: none. */
struct num status_of(const struct operation *operation);
/* By its own flag, or because its queue pair signals all. */
enum flag asks_for_completion(const struct judge *judge, const struct operation *operation);
bool needs_receive(const struct operation *operation); /* of the peer */
/* A request of a kind that is not recorded is taken for what was asked for; OP_UNKNOWN: nobody says it. */
int opcode_of(const struct judge *judge, const struct operation *operation);
/*
 * The peer's process answers and its queue pair is ready: its program is not what keeps this request from ending. A
 * request that needs a receive may wait for one as long as the RNR retries allow, for ever with seven.
 */
bool excludes_peer_program(const struct judge *judge, const struct operation *operation);
/* Of the first queue pair of this end, whose states the record has; unknown: where there is one only. */
bool is_of_first(const struct judge *judge, const struct operation *operation);
/* The local queue pair of this request has gone on from RESET, and not to RTS. */
bool never_moved_to_rts(const struct judge *judge, const struct operation *operation);
bool is_posted(const struct operation *operation);
bool is_in_post(const struct operation *operation); /* the call has begun, and nothing after it is recorded */
bool is_success(const struct operation *operation);
/* Somebody verified the whole payload; landed means that (model/evidence.h). */
bool payload_is_right(const struct operation *operation);
/* rxe and siw: the "device" is kernel code of the host. */
bool is_software(const struct endpoint_facts *end);
bool is_iwarp(const struct endpoint_facts *end);
/* A completion of iWARP says that TCP has taken the bytes (RFC 5040, 5.5): this one did, and the target has nothing. */
bool has_not_arrived(const struct judge *judge, const struct operation *operation);
bool is_driver(const struct endpoint_facts *end, const char *prefix);
bool is_teardown(const char *name);                  /* a step after the run: destroying, deregistering, closing */
bool text_is(const char *text, const char *wanted);  /* false for NULL */
bool text_has(const char *text, const char *part);   /* ignoring case; false for NULL */
bool is_ready(const struct endpoint_facts *end);     /* QP seen in RTR or RTS */
bool is_not_ready(const struct endpoint_facts *end); /* QP seen in another state */
bool is_port_down(
        const struct endpoint_facts *end); /* when the evidence was gathered, or at the start if only that is known */
/* The call of the local side that has a begin and no end, and nothing after it; NULL: there is none. */
const char *unended_call(const struct evidence *evidence);
/* The traced process died, left or was gone: what it was doing then has no end either, and did not hang. */
bool has_died(const struct evidence *evidence);
bool ended_early(const struct evidence *evidence);                    /* died, left or given up: it wrote no more */
bool reached(const struct judge *judge, int side, const char *state); /* the transition was recorded as successful */
bool tried(const struct judge *judge, int side, const char *state);   /* … or recorded at all, however it ended */
bool peer_closed(const struct judge *judge);      /* the control connection was closed by the other end */
bool control_is_local(const struct judge *judge); /* the control connection does not leave the host */
bool is_one_host(const struct judge *judge);
bool has_both_ends(const struct judge *judge); /* this host: loopback on one port, or is_one_host() */
/* "this host", or the peer's; of one host that has both ends, which of them. */
const char *host_words(const struct judge *judge, int side);
const char *both_hosts(const struct judge *judge);        /* "both hosts", or "this host" that has both ends */
const char *of_host(const struct judge *judge, int side); /* " of the peer's host"; "" for this one */
bool is_of_other_host(const struct judge *judge, int side);
bool ip_is_silent(const struct judge *judge); /* neither TCP nor ping between the addresses was answered */
bool peer_silent(const struct judge *judge);  /* it was not closed, and nobody answered */
/* Growth of a counter over the run; unknown where it was not recorded. */
struct num counter_growth(const struct judge *judge, int side, const char *name, enum flag *quiet);
bool has_grown(const struct counter_change *counter);
/* Counters of traffic of both ends are in the record: there is nothing to be compared by hand. */
bool has_traffic_of_both(const struct judge *judge);
/* Missing receives, counted on either side; `quiet`: only after a quiet baseline, else also where none is recorded. */
bool counted_not_ready(const struct judge *judge, bool quiet);
/* Did any counter of this kind grow? `only_quiet`: after a quiet baseline. */
bool counter_moved(const struct judge *judge, int side, enum counter_kind kind, bool only_quiet);
/* An event of this side that concerns the port or queue pair in use; NULL: none. */
const struct async_event *own_event(const struct judge *judge, int side, const char *name);
bool event_is_own(const struct judge *judge, const struct async_event *event);
/*
 * What of the host's filters dropped packets during the run that can be ours: a rule about UDP port 4791, netem on the
 * netdev, or another rule or queueing discipline whose drops account for what is missing. NULL: nothing that was
 * counted.
 */
const struct counter_change *filter_hit(const struct judge *judge, int side);
/* What netem on the netdev of this end does to packets, as the record words it; NULL: there is none. */
const char *netem_of(const struct endpoint_facts *end);
/* a − b without overflow: recorded numbers may be anything. */
int64_t difference(int64_t a, int64_t b);
/* Operations that are done, listed or not: with a completion of their own, or by a later one. */
int64_t done_count(const struct evidence *evidence);
int64_t ack_timeout_ns(const struct endpoint_facts *end); /* 0: unknown or endless */
int64_t rnr_timer_ns(int64_t code);                       /* IBTA encoding; 0: not a code */
/* From post to consumed (or arrived), −1: unknown. */
int64_t latency_ns(const struct operation *operation);
/* … until its completion was in the queue, where that was seen. */
int64_t arrival_latency_ns(const struct operation *operation);
/* rules_late.c: who may have kept a completion that came in the end. */
layer_set delaying_layers(const struct judge *judge, const struct operation *operation);
int64_t end_time(const struct operation *operation); /* INT64_MAX: unknown */
/*
 * For a time for which the program did nothing it had no CPU, but for `active_ns` at most, by the scheduler's account:
 * because of the cgroup's quota, for any reason, or not known to.
 */
enum starvation { NOT_STARVED, STARVED, THROTTLED };
enum starvation starvation_for(const struct judge *judge, int64_t idle_ns, int64_t active_ns);
/* When waiting ended: deadline, else end; −1: unknown. */
int64_t waiting_end_ns(const struct judge *judge);

/* ---- conflicts.c ---- */

enum gid_kind { KIND_UNKNOWN, KIND_EMPTY, KIND_LINK_LOCAL, KIND_IPV4, KIND_IPV6 };
enum gid_kind gid_kind(const char *gid);
/* Nothing is at its index: the GID is zero, or the table was read and the slot is empty. */
bool has_empty_gid(const struct endpoint_facts *end);
/* Why packets between the two GIDs cannot be expected to arrive; NULL: nothing known against them. */
const char *gid_conflict(const struct judge *judge);
/* That of it which keeps a queue pair from RTR: the call knows neither type nor route of the other end. */
const char *address_conflict(const struct judge *judge);
/* A GID of RoCE v1, which routers do not pass on, and a way by a router. */
bool needs_router(const struct endpoint_facts *end);
/* Why packets of full size cannot be expected to arrive; NULL: nothing known against it. */
const char *mtu_conflict(const struct judge *judge);
/* … by the port and the netdev of this end alone, which is what ibv_modify_qp() may look at. */
const char *own_mtu_conflict(const struct judge *judge, int side);
/* A smaller operation succeeded, and this one is larger than a packet. */
bool only_large_fails(const struct judge *judge, const struct operation *operation);
/* Its packets are larger than a netdev's MTU, as that was when the evidence was gathered; it may have been lowered. */
bool is_beyond_frame(const struct judge *judge, const struct operation *operation);
/* A right that the target must have given for this operation and did not; NULL: none is known to be missing. */
const char *missing_right(const struct judge *judge, const struct operation *operation);
const char *needed_right(int opcode); /* of the target; NULL: none, or nobody knows */
/* The queue pair's, not the buffer's. */
bool lacks_queue_right(const struct judge *judge, const struct operation *operation);
bool has_one_domain(const struct judge *judge);
/* Key or range of the request are not what the peer gave out, as far as both are known. */
bool differs_in_key(const struct judge *judge, const struct operation *operation);
bool is_outside(const struct judge *judge, const struct operation *operation);
bool is_empty(const struct operation *operation); /* it has no bytes */
/* The device looks at its local key. */
bool uses_local_key(const struct operation *operation);
/* The local key is not that of the buffer; false where there are several. */
bool differs_in_local_key(const struct judge *judge, const struct operation *operation);

/* ---- verdict.c ---- */

/* All texts are formatted; empty memory leaves them out. */
#define SAYS __attribute__((format(printf, 2, 3)))
SAYS void because(struct judge *judge, const char *format, ...);
SAYS void not_observed(struct judge *judge, const char *format, ...);
SAYS void next_step(struct judge *judge, const char *format, ...);
/* `text` with `address` in its "`ip route get`", where it has one; NULL: it is not known. */
void advise_address(struct judge *judge, const char *text, const char *address);
const char *peer_address(const struct judge *judge);          /* that was given; NULL: none, or a name */
const char *gid_address(const struct judge *judge, int side); /* of its GID; NULL: unknown, or link-local */
SAYS void summarize(struct judge *judge, const char *format, ...);

/* The ways to end. Each returns true, so that a rule can end with it. */
bool undetermined(struct judge *judge, enum outcome outcome, layer_set candidates);
/* About a port that is down: its cable and its switch are there, even where packets need not leave the port. */
bool undetermined_link(struct judge *judge, enum outcome outcome, layer_set candidates);
bool likely(struct judge *judge, enum outcome outcome, enum layer layer, layer_set others);
/* Only where the evidence excludes every other layer. */
bool confirmed(struct judge *judge, enum outcome outcome, enum layer layer);

/* ---- tell.c ---- */

/* "the operation" or "all 3 operations". */
const char *all_operations(struct judge *judge, int64_t count);
/* That this counter of a filter dropped packets during the run. */
void tell_dropped(struct judge *judge, const struct counter_change *filter);
/* Where to look at what drops in it. */
void advise_dropped(struct judge *judge, const struct counter_change *filter);
/* "write of 64 bytes", as far as it is known. */
const char *request_words(struct judge *judge, int opcode, struct num bytes);
/* A next step where packets need not leave the adapter: there are no two ends to compare, and nothing in between. */
const char *inside_advice(const struct judge *judge);
extern const char take_netem_away[];
/* That the program waited for a CPU, and what to look at. */
void tell_starvation(struct judge *judge, enum starvation starvation);
/* Facts for the reader, without any weight. */
void tell_counters(struct judge *judge);
/* Where to look for what moved damage, discards, pause and congestion counters after a quiet baseline. */
void advise_counters(struct judge *judge);
/* The advice of a table, for the host of this side. */
void advise_side(struct judge *judge, int side, const char *advice);
/* The same of events that tell of a change of addresses, partitions or paths. */
void advise_events(struct judge *judge);
void tell_events(struct judge *judge);
void tell_progress(struct judge *judge, const struct operation *operation);
void tell_routes(struct judge *judge);  /* what is wrong with route and neighbour of either end */
bool tell_foreign(struct judge *judge); /* completions that belong to no request; false: there were none */
void tell_network(struct judge *judge); /* that there was none to be seen */
void tell_gaps(struct judge *judge, const struct operation *operation);
/* What else speaks for or against, whatever the verdict is. */
void tell_cross_checks(struct judge *judge);

/* ---- the rules: true when they decided ---- */

bool rule_reported(struct judge *judge); /* rules_target.c: a target whose initiator says what went wrong */
bool rule_setup(struct judge *judge);    /* rules_setup.c: nothing could be posted */
bool rule_stuck(struct judge *judge);    /* rules_stuck.c: a step hangs */
bool rule_died(struct judge *judge);     /* the traced process did not live to the end */
bool rule_control(struct judge *judge);  /* rules_control.c: the peer went away after the data path had done its part */
bool rule_refused(struct judge *judge);  /* rules_queue.c: post said no */
bool rule_overrun(struct judge *judge);  /* the completion queue broke */
bool rule_members(struct judge *judge);  /* rules_lag.c: one port of a LAG works, another does not */
bool rule_failed(struct judge *judge);   /* rules_wc.c: a completion with an error */
bool rule_flushed(struct judge *judge);  /* only consequences were seen */
bool rule_stalled(struct judge *judge);  /* rules_stall.c: something never ended */
bool rule_corrupt(struct judge *judge);  /* rules_payload.c: landed, but wrong */
bool rule_unlisted(
        struct judge *judge); /* rules_counts.c: by the counts some failed or did not end, and none of them is listed */
bool rule_degraded(struct judge *judge); /* rules_degraded.c: right, but late or with retries */
bool rule_ok(struct judge *judge);

/* rules_caller.c: mistakes of the programs at both ends that the record proves */
bool rule_region(struct judge *judge);
bool rule_unacknowledged(struct judge *judge);
bool rule_queue_full(struct judge *judge);
bool rule_early_reuse(struct judge *judge);
bool rule_caller_failed(struct judge *judge);
bool rule_caller_stalled(struct judge *judge);

/* Parts that more than one rule uses. */
/* rules_queue.c: false where length or limit are unknown. */
bool is_longer(const struct operation *operation, struct num limit);
/* The request is longer than `limit`, a limit of `whose`; false: it is not, or nobody knows. */
bool tell_too_long(struct judge *judge, const struct operation *operation, struct num limit, const char *whose);

/* Those that may have made post refuse a request with this errno, seen from the end that posted. */
layer_set layers_of_refusal(int64_t error);
void tell_failed(struct judge *judge, const struct operation *operation);
/* What broke on this side may be the reason for this status; 0: nothing did, or the status is an answer of the peer. */
layer_set broken_meanwhile(const struct judge *judge, const struct operation *operation);
/* rules_request.c: what a request may have been refused for, by the status that it ended with. */
bool judge_length(struct judge *judge, const struct operation *operation, layer_set base);
bool judge_protection(struct judge *judge, const struct operation *operation, layer_set base);
bool judge_rejected(struct judge *judge, const struct operation *operation, layer_set base);
bool judge_unready(struct judge *judge, const struct operation *operation, layer_set base);
void advise_refused(struct judge *judge, const struct operation *operation, const char *next);
void advise_unanswered(struct judge *judge); /* rules_wc.c: where to look at both ends */
/* rules_wc.c: a status behind which the provider of this end puts whatever it has no better one for. */
bool is_untranslated(const struct endpoint_facts *end, struct num status);
layer_set layers_of_unsent(void); /* of a request that siw could not send, beside what the status alone leaves open */
/* rules_counts.c: listed or not. */
int64_t success_count(const struct judge *judge);
bool all_ended_well(const struct judge *judge);
struct num posted_count(const struct evidence *evidence);
int64_t omitted_count(const struct evidence *evidence);
bool judge_counted(struct judge *judge); /* nothing is listed, and the counts say that all went well */
/* rules_lag.c: the first member over which wrong bytes arrived; NULL: none. */
const char *member_words(struct judge *judge, const struct lag_member *member); /* "member 2 of the LAG" */
const struct lag_member *corrupting_member(const struct judge *judge);
bool judge_member(struct judge *judge); /* one that failed, while the requests themselves did not */
/* A filter or queueing discipline that counted: what it dropped was on its way to or from this port. */
bool judge_filter(struct judge *judge, enum outcome outcome, layer_set base);
/* netem that damages, reorders or duplicates packets. */
bool judge_netem(struct judge *judge, enum outcome outcome, layer_set base);
/* rules_filter.c: what of filters and queueing disciplines is known, and what would decide. */
void tell_filters(struct judge *judge);
bool passes_no_filter(const struct judge *judge); /* the packets do, and what its filters counted was of others */
void advise_output(struct judge *judge);          /* where the host's own network stack may refuse packets */
/* rules_wire.c: what one end counted and the other did not. */
bool judge_wire(struct judge *judge, enum outcome outcome);     /* on the way there */
bool judge_way_back(struct judge *judge, enum outcome outcome); /* on the way back */
bool judge_not_left(struct judge *judge, enum outcome outcome); /* nothing left this port */
bool arrived_at_peer(struct judge *judge);
bool all_arrived(struct judge *judge); /* there and back */
void tell_overtaken(struct judge *judge);
layer_set counted_layers(const struct judge *judge); /* of which counters of losses speak */
/* rules_loss.c */
void advise_neighbours(struct judge *judge);
bool judge_peer_stopped(struct judge *judge, enum outcome outcome); /* its adapter did */
/* An address that packets go by went away meanwhile; told, or judged. */
bool tell_lost_gid(struct judge *judge, int side);
bool judge_gid_gone(struct judge *judge, enum outcome outcome, layer_set base);
/* rules_arrival.c: a completion that was there, and no event told of it. */
bool judge_unnotified(struct judge *judge, enum outcome outcome);
/* … of the request that is pending: taken, but with what status; there and not taken, or nearly too late. */
bool judge_taken(struct judge *judge);
bool judge_arrived(struct judge *judge);
/* … of which nobody knows what it belongs to; in the queue, right or with an error. */
bool judge_foreign(struct judge *judge);
bool judge_untaken(struct judge *judge);
bool judge_untaken_error(struct judge *judge);
/* rules_late.c: by the counters, against a limit, or beside the others of the run. */
bool judge_retried(struct judge *judge);
bool judge_late(struct judge *judge);
bool judge_slow(struct judge *judge);
void tell_slowest(struct judge *judge);
void tell_slow_steps(struct judge *judge); /* of the set-up, though it went well */
/* rules_degraded.c */
bool all_succeeded(const struct judge *judge);
const struct async_event *error_event(const struct judge *judge, int side); /* of that side; NULL: none */
bool judge_lost_packets(struct judge *judge, enum outcome outcome, const struct operation *operation,
        layer_set base); /* rules_loss.c */
bool judge_refused_packets(
        struct judge *judge, enum outcome outcome); /* rules_filter.c: by the stack below soft RoCE */
const char *cutting_filter(
        const struct judge *judge); /* rules_filter.c: a filter as recorded that may cut TCP; NULL: none */
bool judge_port_down(struct judge *judge, enum outcome outcome); /* rules_port.c */
void tell_beyond_frame(struct judge *judge);                     /* rules_loss.c */
/* rules_port.c: adapters that may have taken the link of this end down; as "device" and "remote-device". */
layer_set devices_of_link(const struct judge *judge, int side);
bool is_admin_down(const struct endpoint_facts *end);
void advise_link(struct judge *judge);                         /* of a port that is or was down */
bool judge_control(struct judge *judge, enum outcome outcome); /* rules_control.c */
/* rules_device.c: what the device's own counters say of the request that is pending. */
bool judge_device(struct judge *judge);
/* Its acknowledgement came, or a missing one would have shown. */
bool needs_no_acknowledgement(struct judge *judge);
bool judge_failed_step(struct judge *judge, enum outcome outcome);
layer_set mirrored(layer_set set); /* the layers of one end as the other end names them */
/* What "device" and "application" of a set mean for the end of this side. */
layer_set layers_of_side(const struct judge *judge, int side, layer_set set);
/* rules_caller.c: the program at that end; two ends of one process are one program. */
enum layer program_of(const struct judge *judge, int side);
bool is_program_known(const struct judge *judge, int side); /* no: the record does not say whether it is one */

#endif
