/* SPDX-License-Identifier: MIT */
/*
 * The document of `probe`: what was asked, the recorded facts (no opinions), and the verdict.
 *
 * It lies in an arena shared between the traced child and the watching parent. Times are nanoseconds since the start of
 * the run on the local CLOCK_MONOTONIC unless said otherwise. An unknown time is a stage that was not seen; `observers`
 * says whether it could have been.
 */
#ifndef RDMADIAG_MODEL_EVIDENCE_H
#define RDMADIAG_MODEL_EVIDENCE_H

#include "base/arena.h"
#include "base/text.h"
#include "model/record.h"
#include "model/report.h"

enum side { SIDE_UNKNOWN, SIDE_LOCAL, SIDE_REMOTE, SIDE_COUNT };
enum probe_role { ROLE_UNKNOWN, ROLE_INITIATOR, ROLE_TARGET, ROLE_COUNT };
enum probe_mode { MODE_UNKNOWN, MODE_LOOPBACK, MODE_TWO_DEVICES, MODE_PEER, MODE_LISTENER, MODE_COUNT };
enum operation_code { OP_UNKNOWN, OP_WRITE, OP_WRITE_IMM, OP_SEND, OP_READ, OP_COUNT };

/* What the operator asked for; fixed before the run. */
struct probe_request {
	int mode;           /* enum probe_mode */
	const char *device; /* "DEV/PORT" as asked, NULL: chosen */
	const char *target_device;
	const char *peer;
	int op;                 /* enum operation_code */
	LIST(struct num) sizes; /* bytes */
	struct num count, qps, batch, signal_every, timeout_ms, gid_index;
	struct num sges;      /* pieces of a payload */
	struct num depth;     /* requests that a send queue holds; unknown: as many as are outstanding at once */
	struct num cqs, pds;  /* that the queue pairs share by turns */
	enum flag sq_sig_all; /* the queue pair asks for all completions, the requests for none */
	enum flag inline_data;
	const char *api;          /* "post" or "wr" */
	const char *wait;         /* "poll" or "event" */
	const char *buffer_node;  /* "nic", "all" or a number as text */
	const char *registration; /* "pinned" or "odp" */
	enum flag tcp;            /* the same bytes over TCP as well */
	const char *drill;        /* NULL: none */
};

/* One queue pair of an end. The first is also the end's own `qpn` and `psn`. */
struct queue_pair_facts {
	struct num qpn, psn;
};

/* One end of the connection. */
struct endpoint_facts {
	int role; /* enum probe_role */
	const char *device, *driver;
	const char *fw_version;
	struct num vendor_id, vendor_part_id;
	struct num port;
	const char *transport; /* transport_names[] */
	const char *link_layer;
	struct num gid_index;
	const char *gid, *gid_type, *netdev;
	enum flag gid_empty; /* the GID table was read, and has nothing at this index (or at any, where none was chosen)
	                      */
	enum flag gid_kept;  /* when the evidence was gathered */
	struct num netdev_mtu;
	struct num qpn, psn, lid, active_mtu, path_mtu;
	struct num numa_node;
	const char *port_state, *port_physical_state; /* at the start */
	const char *port_state_after;
	const char *qp_state;       /* when the evidence was gathered: RESET, INIT, RTR, RTS, SQD, SQE, ERR */
	const char *qp_state_first; /* the sample before it, at least one ACK timeout earlier; NULL: one sample */
	struct num timeout, retry_count, rnr_retry, min_rnr_timer; /* QP attributes, IBTA encoding */
	struct num sq_psn, rq_psn;                                 /* from the kernel after the run */
	struct num max_message_bytes;
	struct num cqe_asked, cqe;             /* completion queue entries asked for and got */
	struct num send_wr_asked, send_wr;     /* requests that a send queue holds, asked for and got */
	struct num inline_asked, inline_bytes; /* of a request */
	LIST(struct queue_pair_facts) queue_pairs;
	/* As given to the first queue pair: whom it sends to, and with which number; which number it waits for. */
	struct num dest_qpn, first_psn, expected_psn;
	enum flag odp;    /* the device offers on-demand paging for reliable connections */
	enum flag one_pd; /* buffer and queue pair belong to one protection domain */
	struct num buffer_address, rkey, buffer_bytes;
	struct num memlock_soft_bytes, memlock_hard_bytes; /* -1: unlimited */
	struct num pid;
	enum flag alive;                      /* did the process still answer when the evidence was gathered */
	const char *mr_access, *qp_access;    /* rights given, in words: "local-write remote-write"; NULL: unknown */
	struct num lkey;                      /* local key of its buffer */
	enum flag may_lock_memory;            /* CAP_IPC_LOCK is effective: RLIMIT_MEMLOCK does not bind it */
	struct num lag_port, lag_active_port; /* member of a RoCE LAG that the queue pair was given, and that it uses */
	/* IFF_UP when the evidence was gathered; no is an administrator's doing. Of a VLAN it is that of the netdev
	 * below it, which the port follows, and `port_netdev` is that one's name; NULL: `netdev` itself. */
	enum flag netdev_up;
	const char *port_netdev;
	const char *cm_address; /* where a target listens for connections through rdma_cm (iWARP) */
	struct num cm_port;
	/* The way from its GID to the other end's, as the kernel has it when the evidence is gathered. */
	struct num route_errno; /* 0: there is one */
	const char *route_netdev, *route_source, *route_gateway;
	const char *neighbour; /* of the next hop, in the words of `ip neigh`; "none": no entry */
	/* Packet filters and queueing disciplines of this host that may drop; "": none found, NULL: not looked. */
	const char *filter;
};

struct clock_offset {
	struct num offset_ns; /* remote − local */
	struct num error_ns;
};

struct control_step {
	const char *step; /* connect, exchange, ready, done, ok */
	struct num start_ns, duration_ns;
	struct num error;   /* "errno"; 0 is success; unknown: did not end */
	const char *detail; /* what went wrong in words, NULL: nothing */
};

struct resource_step {
	int side;         /* enum side */
	const char *step; /* ibv_open_device, ibv_alloc_pd, ibv_create_cq, ibv_reg_mr, ibv_create_qp, … */
	struct num start_ns, duration_ns;
	struct num error;
	const char *detail;      /* the request where it matters ("4096 bytes, memlock 65536") */
	const char *limit_name;  /* limit of the device that the request goes beyond ("max_qp_wr"); NULL: none found */
	struct num asked, limit; /* what was asked for, and that limit */
};

struct transition {
	int side;
	const char *to; /* INIT, RTR, RTS */
	struct num start_ns, duration_ns;
	struct num error;
};

/*
 * One posted work request. X_not_before_ns is the last look that found the stage not yet there. A failed WC has only
 * wr_id, status, qp_num and vendor_err; nothing else of it is ever stored.
 */
struct operation {
	struct num wr_id, qpn;
	int opcode; /* enum operation_code */
	struct num bytes;
	struct num remote_address, rkey, lkey; /* as posted; the exchanged ones are in endpoint_facts */
	enum flag is_signaled, is_inline;      /* "signaled", "inline" */
	struct num post_call_ns, post_return_ns, post_errno;
	enum flag bad_wr; /* this is the request ibv_post_send() refused */
	struct num wqe_posted_ns, wqe_posted_not_before_ns;
	enum flag doorbell_recorded, device_saw_doorbell, device_executed, acknowledged;
	enum flag cqe_written; /* the device's own completion queue counter counts its completion */
	struct num remote_landed_ns, remote_landed_not_before_ns; /* the peer's clock */
	enum flag landed;           /* no: the target looked at the end, and nothing of it is there */
	enum flag payload_verified; /* by the peer: yes, or the bytes differ */
	struct num cqe_arrived_ns, cqe_arrived_not_before_ns;
	struct num cqe_consumed_ns;
	struct num reclaimed_ns;    /* unsignaled: when a later completion told that it is done */
	struct num notified_ns;     /* when the event was read that led to it; unknown: none, or polled */
	enum flag found_unnotified; /* waiting by event: found in the queue, and no event had told of it */
	struct num source_reusable_ns;
	struct num source_changed_ns; /* when the program wrote to its source again, before it was allowed to */
	struct num wc_status;
	const char *wc_status_text; /* IBV_WC_* */
	struct num vendor_err;
};

struct statistic {
	const char *stage; /* "post", "wqe", "cqe", "consume", "total" */
	struct num bytes, samples;
	struct num min_ns, median_ns, p99_ns, max_ns;
};

struct statistics {
	LIST(struct statistic) stages;
};

/* How often a request of this size took so long, from post to completion taken. */
struct histogram_bucket {
	struct num from_ns, to_ns; /* `to` is not in it, but of the last */
	struct num requests;
};

struct histogram {
	struct num bytes;
	LIST(struct histogram_bucket) buckets; /* equally wide up to the 99th percentile, one for what is above */
};

/*
 * What the device itself said about the queues of the initiator at one moment: hints, until the rules in
 * probe/inspection.h were kept. Queue counters count blocks of 64 bytes modulo 2^16, as the doorbell record does.
 */
struct device_sample {
	const char *moment; /* "idle": after a request that succeeded; "first", "second": while one is outstanding */
	const char *source; /* "devx", "netlink-raw" */
	struct num t_ns;
	const char *qp_state;                /* as the device has it */
	struct num recorded;                 /* the doorbell record at that moment */
	struct num taken, executed;          /* sw_sq and hw_sq_wqebb_counter */
	struct num next_psn, acked_psn;      /* of 24 bits */
	struct num retries_left;             /* cur_retry_count */
	struct num cq_status;                /* 0: in order */
	const char *cq_notification;         /* "armed", "armed-solicited", "fired"; NULL: another state, or unknown */
	struct num cq_produced, cq_consumed; /* of 24 bits */
	struct num cq_recorded;              /* the consumer's doorbell record in memory at that moment, 24 bits */
};

/* Requests over one port of a RoCE LAG, by queue pairs of their own that were bound to it. */
struct lag_member {
	struct num port, active_port; /* member, from 1, and the one that carried the packets */
	struct num posted, completed; /* requests; unknown: it did not come to that */
	struct num wc_status;         /* of the first that failed */
	const char *wc_status_text;
	struct num vendor_err;
	enum flag timed_out;        /* a completion did not come in time */
	enum flag payload_verified; /* no: wrong bytes arrived */
	struct num latency_ns;      /* of the last that succeeded */
	const char *detail;         /* why not all completed, in words; NULL: the above says it */
};

/*
 * An entry of the completion queue as it lies in memory, that belongs to no request that is waited for, or that nobody
 * took. What is valid only in a successful or only in a failed entry is unknown in the other.
 */
struct completion_entry {
	struct num t_ns;
	enum flag taken;     /* by poll */
	struct num opcode;   /* as the device wrote it */
	enum flag is_known;  /* "known": an opcode that the provider's library knows */
	struct num qpn;      /* of the queue pair that it names */
	struct num position; /* in the send queue of the request that it names, in blocks; of the requester's only */
	struct num bytes;
	struct num syndrome, vendor_err;
};

struct observers {
	const char *wqe; /* "mlx5dv", "rxe-ring", NULL: not observable */
	const char *cqe;
	const char *device;  /* "devx", "netlink-raw", NULL */
	const char *payload; /* "peer", NULL */
};

struct async_event {
	int side;
	const char *event; /* IBV_EVENT_* without the prefix: CQ_ERR, QP_FATAL, PORT_ERR … */
	struct num t_ns;
	struct num port, qpn; /* what it speaks of, where it does */
};

struct counter_change {
	int side;
	const char *name;
	struct num before, after;
	enum flag quiet; /* did it stand still in the baseline taken before the run */
};

struct buffer_facts {
	struct num pages;
	LIST(struct map_entry) pages_on_node;
	struct num requested_node;
};

/* The scheduler's account of the thread that made the requests, while it made them. */
struct cpu_facts {
	struct num waited_ns;    /* ready to run, and without a CPU */
	struct num throttled_ns; /* its cgroup was held back by its quota */
};

/* The connection that carried the exchange: a cross-check of L3, never proof for the RoCE path. */
struct tcp_facts {
	struct num retransmits, unacked, rtt_us;
	const char *local, *remote; /* addresses with ports */
};

/* TCP and ping between the addresses of the two GIDs: a cross-check of L3 that never clears the RoCE path. */
struct reach_facts {
	struct num tcp_errno; /* 0: connected; ECONNREFUSED is an answer of the host as well */
	enum flag ping, full_ping;
	struct num full_ping_bytes; /* of the IP packet, as large as those of the queue pair */
};

/* What the initiator told the target of its own run; NULL: it said nothing. */
struct peer_report {
	struct num posted, completed;
	int opcode; /* of the request that ended the run, enum operation_code */
	struct num bytes;
	struct num wc_status; /* unknown: it got no completion */
	struct num vendor_err;
	const char *step; /* of the set-up, where that failed; with an opcode: post, which refused that request */
	struct num error; /* "errno" */
	const char *text;
};

/* Waiting for a completion by event instead of by polling. */
struct notification_facts {
	enum flag armed;     /* was the CQ armed when the completion was waited for, and polled once more after that */
	enum flag delivered; /* did the completion channel become readable */
	struct num events;   /* taken from the channel */
	struct num acked;    /* of these */
	struct num spurious; /* events without a completion in the queue: the poll after an earlier one had taken it */
	struct num armed_ns; /* when it was armed last */
	struct num armings;
	struct num delivered_ns; /* when the channel was found readable last; before `armed_ns`: of an earlier arming */
	enum flag solicited_only; /* armed for completions of solicited requests and for errors only */
	enum flag found_at_end; /* no event came, and a last poll found the completion: when it arrived is not known */
};

/* A step that had not ended when the watcher's deadline came. */
struct stuck_step {
	const char *step;
	struct num started_ns, pid;
	const char *system_call, *wait_channel, *stack; /* from /proc, where readable */
};

/* One place of the buffer, measured by several runs. */
struct placement {
	struct num node;
	const char *registration; /* "pinned" or "odp" */
	const char *metric;       /* "latency": median in ns; "throughput": bytes in a millisecond */
	struct num bytes;
	LIST(struct num) runs;
};

/* Against the first place of the same metric and size. */
struct placement_comparison {
	const char *metric;
	struct num bytes;
	struct num node, base_node;
	const char *registration;
	struct num difference_ppm; /* of the medians, in millionths of the base's */
	struct num noise_ppm;      /* the larger spread of the runs of either place */
	struct num chance_ppm; /* how likely chance makes such a difference, corrected for the number of comparisons */
	enum flag differs;     /* the difference is above both */
};

/* The same bytes over TCP, medians since the first send(). */
struct tcp_transfer {
	struct num bytes, samples;
	enum flag to_peer;          /* over the connection of the exchange; no: inside this host */
	struct num returned_ns;     /* the last send() returned: the kernel has copied all, the source is free */
	struct num received_ns;     /* recv() has copied all into the target; of a peer by the offset of the clocks */
	struct num acknowledged_ns; /* the peer's TCP has acknowledged all; no program is told */
	enum flag verified;
};

/* What of a size was looked at in the target's memory, requests that are not listed among it. */
struct payload_count {
	struct num bytes; /* of each */
	struct num right, untouched, wrong;
};

struct evidence {
	struct endpoint_facts local, remote;
	struct clock_offset *clock;
	LIST(struct control_step) control;
	LIST(struct resource_step) resources;
	LIST(struct transition) transitions;
	LIST(struct operation) operations;
	struct num operations_omitted;
	LIST(struct payload_count) payloads;
	struct num operations_posted, operations_completed, operations_failed, flushes;
	struct num foreign_completions; /* taken, and of no request that was waited for */
	LIST(struct completion_entry) unclaimed_completions;
	struct num operations_reclaimed;    /* unsignaled, and known to be done by a later completion */
	struct num completions_undelivered; /* taken, of an outstanding request, and not handed to whom waits for it */
	struct num queue_full; /* how often a post was refused because the send queue was full, and tried again */
	struct statistics statistics;
	LIST(struct histogram) histograms;       /* of sizes with requests enough */
	LIST(struct lag_member) lag_members;     /* none: no LAG, or not tried */
	LIST(struct tcp_transfer) tcp_transfers; /* --tcp */
	LIST(struct placement) placements;       /* --buffer-node all */
	LIST(struct placement_comparison) placement_comparisons;
	struct observers observers;
	LIST(struct device_sample) device_samples;
	LIST(struct async_event) async_events;
	LIST(struct counter_change) counters;
	struct buffer_facts buffer;
	struct num polls, last_poll_ns; /* calls of ibv_poll_cq() while waiting, and when the last of them began */
	struct notification_facts *notification; /* NULL: polled */
	struct cpu_facts *cpu;                   /* NULL: the scheduler did not tell */
	struct tcp_facts *tcp;
	struct reach_facts *reachability; /* NULL: not tried */
	struct peer_report *peer_report;  /* only a target has it */
	struct stuck_step *stuck;
	struct num deadline_ns;       /* when waiting ended without what was waited for; unknown: it did not */
	enum flag same_port_loopback; /* the packets need not leave the adapter */
	struct strings other_ports;   /* DEV/PORT of this host: active, of the same transport, may be opened; some */
	struct num died_of_signal;    /* of the traced process; unknown: it did not die */
	struct num left_with_status;  /* of the traced process, before it was done; unknown: it did not */
	/* The traced process was gone before it was done, and the kernel did not let it be waited for. */
	enum flag ended_unseen;
	enum flag interrupted; /* SIGINT or SIGTERM ended the run */
	struct num ended_ns;
	/* Not in the document: of a record that was read, the fields with a value that they cannot have, and why. */
	struct strings unreadable;
};

enum outcome {
	OUTCOME_UNKNOWN,
	OUTCOME_OK,
	OUTCOME_DEGRADED,
	OUTCOME_CORRUPT,
	OUTCOME_FAILED,
	OUTCOME_STALLED,
	OUTCOME_NOT_RUN,
	OUTCOME_COUNT
};

enum layer {
	LAYER_UNKNOWN, /* never in a verdict */
	LAYER_NONE,
	LAYER_CONFIGURATION,
	LAYER_APPLICATION,
	LAYER_PROVIDER,
	LAYER_KERNEL,
	LAYER_PLATFORM,
	LAYER_DEVICE,
	LAYER_NETWORK,
	LAYER_REMOTE_DEVICE,
	LAYER_REMOTE_APPLICATION,
	LAYER_UNDETERMINED,
	LAYER_COUNT
};

enum confidence { CONFIDENCE_UNKNOWN, CONFIDENCE_NONE, CONFIDENCE_LIKELY, CONFIDENCE_CONFIRMED, CONFIDENCE_COUNT };

struct verdict {
	int outcome;               /* enum outcome */
	int layer;                 /* enum layer */
	struct strings candidates; /* layer_names[] that the evidence leaves open */
	int confidence;            /* enum confidence */
	const char *summary;
	struct strings because, not_observed, next_steps;
};

struct probe_document {
	struct probe_request request;
	struct evidence evidence;
	struct verdict verdict;
	/* not in the document: */
	struct report *report;
};

/* Keeps what reading a record left out of it by `report`, which holds nothing else yet. */
void evidence_take_unreadable(struct evidence *evidence, const struct report *report, struct arena *arena);

extern const char *const side_names[SIDE_COUNT];
extern const char *const probe_role_names[ROLE_COUNT];
extern const char *const probe_mode_names[MODE_COUNT];
extern const char *const operation_names[OP_COUNT];
extern const char *const outcome_names[OUTCOME_COUNT];
extern const char *const layer_names[LAYER_COUNT];
extern const char *const confidence_names[CONFIDENCE_COUNT];

extern const struct record probe_record, evidence_record, endpoint_record, verdict_record, peer_report_record;
extern const struct record recorded_probe_record; /* the document without its verdict */

#endif
