/* SPDX-License-Identifier: MIT */
#include "model/evidence.h"

const char *const side_names[SIDE_COUNT] = { [SIDE_LOCAL] = "local", [SIDE_REMOTE] = "remote" };
const char *const probe_role_names[ROLE_COUNT] = { [ROLE_INITIATOR] = "initiator", [ROLE_TARGET] = "target" };
const char *const probe_mode_names[MODE_COUNT] = {
	[MODE_LOOPBACK] = "loopback",
	[MODE_TWO_DEVICES] = "two-devices",
	[MODE_PEER] = "peer",
	[MODE_LISTENER] = "listener",
};
const char *const operation_names[OP_COUNT] = {
	[OP_WRITE] = "write",
	[OP_WRITE_IMM] = "write-imm",
	[OP_SEND] = "send",
	[OP_READ] = "read",
};
const char *const outcome_names[OUTCOME_COUNT] = {
	[OUTCOME_OK] = "ok",
	[OUTCOME_DEGRADED] = "degraded",
	[OUTCOME_CORRUPT] = "corrupt",
	[OUTCOME_FAILED] = "failed",
	[OUTCOME_STALLED] = "stalled",
	[OUTCOME_NOT_RUN] = "not-run",
};
const char *const layer_names[LAYER_COUNT] = {
	[LAYER_NONE] = "none",
	[LAYER_CONFIGURATION] = "configuration",
	[LAYER_APPLICATION] = "application",
	[LAYER_PROVIDER] = "provider",
	[LAYER_KERNEL] = "kernel",
	[LAYER_PLATFORM] = "platform",
	[LAYER_DEVICE] = "device",
	[LAYER_NETWORK] = "network",
	[LAYER_REMOTE_DEVICE] = "remote-device",
	[LAYER_REMOTE_APPLICATION] = "remote-application",
	[LAYER_UNDETERMINED] = "undetermined",
};
const char *const confidence_names[CONFIDENCE_COUNT] = {
	[CONFIDENCE_NONE] = "none",
	[CONFIDENCE_LIKELY] = "likely",
	[CONFIDENCE_CONFIRMED] = "confirmed",
};

static const struct field request_fields[] = {
	FIELD_OF_NAMES(struct probe_request, mode, probe_mode_names, "loopback, two-devices, peer or listener"),
	FIELD(TEXT, struct probe_request, device, "device asked for"),
	FIELD(TEXT, struct probe_request, target_device, "second device asked for"),
	FIELD(TEXT, struct probe_request, peer, "peer asked for"),
	FIELD_OF_NAMES(struct probe_request, op, operation_names, "operation"),
	FIELD(NUMBERS, struct probe_request, sizes, "sizes in bytes"),
	FIELD(NUMBER, struct probe_request, count, "operations of each size"),
	FIELD(NUMBER, struct probe_request, qps, "queue pairs"),
	FIELD(NUMBER, struct probe_request, batch, "work requests in one post"),
	FIELD(NUMBER, struct probe_request, signal_every, "every how many work requests one is signaled"),
	FIELD(FLAG, struct probe_request, sq_sig_all, "queue pairs that signal every request, asked or not"),
	FIELD(NUMBER, struct probe_request, sges, "pieces that a payload is gathered from"),
	FIELD(NUMBER, struct probe_request, depth, "depth of a send queue, null: as needed"),
	FIELD(NUMBER, struct probe_request, cqs, "completion queues"),
	FIELD(NUMBER, struct probe_request, pds, "protection domains"),
	FIELD(NUMBER, struct probe_request, timeout_ms, "deadline"),
	FIELD(NUMBER, struct probe_request, gid_index, "GID index asked for"),
	FIELD_AS(FLAG, struct probe_request, inline_data, "inline", "inline data"),
	FIELD(TEXT, struct probe_request, api, "post or wr"),
	FIELD(TEXT, struct probe_request, wait, "poll or event"),
	FIELD(TEXT, struct probe_request, buffer_node, "where the buffer was asked to be"),
	FIELD(TEXT, struct probe_request, registration, "pinned or odp"),
	FIELD(FLAG, struct probe_request, tcp, "the same bytes over TCP as well"),
	FIELD(TEXT, struct probe_request, drill, "failure made on purpose"),
};
static RECORD(request_record, probe_request, request_fields);

static const struct field queue_pair_fields[] = {
	FIELD(NUMBER, struct queue_pair_facts, qpn, "queue pair number"),
	FIELD(NUMBER, struct queue_pair_facts, psn, "initial packet sequence number"),
};
static RECORD(queue_pair_record, queue_pair_facts, queue_pair_fields);

static const struct field endpoint_fields[] = {
	FIELD_OF_NAMES(struct endpoint_facts, role, probe_role_names, "initiator or target"),
	FIELD(TEXT, struct endpoint_facts, device, "RDMA device"),
	FIELD(TEXT, struct endpoint_facts, driver, "kernel driver"),
	FIELD(TEXT, struct endpoint_facts, fw_version, "firmware version"),
	FIELD(NUMBER, struct endpoint_facts, vendor_id, "vendor"),
	FIELD(NUMBER, struct endpoint_facts, vendor_part_id, "part"),
	FIELD(NUMBER, struct endpoint_facts, port, "port number"),
	FIELD(TEXT, struct endpoint_facts, transport, "transport"),
	FIELD(TEXT, struct endpoint_facts, link_layer, "link layer"),
	FIELD(NUMBER, struct endpoint_facts, gid_index, "GID index"),
	FIELD(TEXT, struct endpoint_facts, gid, "GID"),
	FIELD(TEXT, struct endpoint_facts, gid_type, "type of the GID"),
	FIELD(FLAG, struct endpoint_facts, gid_empty, "the GID table has nothing at this index"),
	FIELD(FLAG, struct endpoint_facts, gid_kept, "the GID was still at its index when the evidence was gathered"),
	FIELD(TEXT, struct endpoint_facts, netdev, "netdev of the GID"),
	FIELD(NUMBER, struct endpoint_facts, netdev_mtu, "MTU of that netdev in bytes"),
	FIELD(NUMBER, struct endpoint_facts, qpn, "queue pair number"),
	FIELD(NUMBER, struct endpoint_facts, psn, "initial packet sequence number"),
	FIELD(NUMBER, struct endpoint_facts, lid, "LID, InfiniBand only"),
	FIELD(NUMBER, struct endpoint_facts, active_mtu, "active MTU of the port in bytes"),
	FIELD(NUMBER, struct endpoint_facts, path_mtu, "path MTU given to the queue pair in bytes"),
	FIELD(NUMBER, struct endpoint_facts, numa_node, "NUMA node of the adapter"),
	FIELD(TEXT, struct endpoint_facts, port_state, "port state at the start"),
	FIELD(TEXT, struct endpoint_facts, port_physical_state, "physical port state at the start"),
	FIELD(TEXT, struct endpoint_facts, port_state_after, "port state when the evidence was gathered"),
	FIELD(TEXT, struct endpoint_facts, qp_state, "queue pair state when the evidence was gathered"),
	FIELD(TEXT, struct endpoint_facts, qp_state_first, "queue pair state one ACK timeout or more before"),
	FIELD(NUMBER, struct endpoint_facts, timeout, "ACK timeout: 4.096 us * 2^n"),
	FIELD(NUMBER, struct endpoint_facts, retry_count, "retries"),
	FIELD(NUMBER, struct endpoint_facts, rnr_retry, "RNR retries; 7: for ever"),
	FIELD(NUMBER, struct endpoint_facts, min_rnr_timer, "RNR NAK timer, IBTA encoding"),
	FIELD(NUMBER, struct endpoint_facts, sq_psn, "send PSN after the run"),
	FIELD(NUMBER, struct endpoint_facts, rq_psn, "receive PSN after the run"),
	FIELD(NUMBER, struct endpoint_facts, max_message_bytes, "largest message of the port"),
	FIELD(NUMBER, struct endpoint_facts, cqe_asked, "completion queue entries asked for"),
	FIELD(NUMBER, struct endpoint_facts, cqe, "completion queue entries got"),
	FIELD(NUMBER, struct endpoint_facts, send_wr_asked, "send queue entries asked for"),
	FIELD(NUMBER, struct endpoint_facts, send_wr, "send queue entries got"),
	FIELD(NUMBER, struct endpoint_facts, inline_asked, "inline bytes asked for"),
	FIELD(NUMBER, struct endpoint_facts, inline_bytes, "inline bytes got"),
	FIELD_OF(RECORDS, struct endpoint_facts, queue_pairs, queue_pair_record, "all queue pairs of this end"),
	FIELD(NUMBER, struct endpoint_facts, dest_qpn, "queue pair number that the first one sends to"),
	FIELD(NUMBER, struct endpoint_facts, first_psn, "packet sequence number that it starts with"),
	FIELD(NUMBER, struct endpoint_facts, expected_psn, "packet sequence number that it waits for first"),
	FIELD(FLAG, struct endpoint_facts, odp, "the device offers on-demand paging for reliable connections"),
	FIELD(FLAG, struct endpoint_facts, one_pd, "buffer and queue pair belong to one protection domain"),
	FIELD(NUMBER, struct endpoint_facts, buffer_address, "virtual address of its buffer"),
	FIELD(NUMBER, struct endpoint_facts, rkey, "remote key of its buffer"),
	FIELD(NUMBER, struct endpoint_facts, buffer_bytes, "size of its buffer"),
	FIELD(NUMBER, struct endpoint_facts, memlock_soft_bytes, "RLIMIT_MEMLOCK, soft; -1: unlimited"),
	FIELD(NUMBER, struct endpoint_facts, memlock_hard_bytes, "RLIMIT_MEMLOCK, hard; -1: unlimited"),
	FIELD(NUMBER, struct endpoint_facts, pid, "process"),
	FIELD(FLAG, struct endpoint_facts, alive, "did the process answer when the evidence was gathered"),
	FIELD(TEXT, struct endpoint_facts, mr_access, "rights of its buffer: local-write remote-write remote-read"),
	FIELD(TEXT, struct endpoint_facts, qp_access, "rights of its queue pair"),
	FIELD(NUMBER, struct endpoint_facts, lkey, "local key of its buffer"),
	FIELD(FLAG, struct endpoint_facts, may_lock_memory, "CAP_IPC_LOCK: the memlock limit does not bind it"),
	FIELD(FLAG, struct endpoint_facts, netdev_up,
	        "administrative state of the port's netdev when the evidence was gathered"),
	FIELD(TEXT, struct endpoint_facts, port_netdev, "the port's netdev, where that of the GID is a VLAN on it"),
	FIELD(NUMBER, struct endpoint_facts, lag_port, "member of a RoCE LAG the queue pair was given, from 1"),
	FIELD(NUMBER, struct endpoint_facts, lag_active_port, "member it uses"),
	FIELD(TEXT, struct endpoint_facts, cm_address, "where it listens for rdma_cm connections, iWARP only"),
	FIELD(NUMBER, struct endpoint_facts, cm_port, "port of that"),
	FIELD(NUMBER, struct endpoint_facts, route_errno, "of the route to the other end's GID; 0: there is one"),
	FIELD(TEXT, struct endpoint_facts, route_netdev, "netdev of that route"),
	FIELD(TEXT, struct endpoint_facts, route_source, "its source address"),
	FIELD(TEXT, struct endpoint_facts, route_gateway, "its gateway"),
	FIELD(TEXT, struct endpoint_facts, neighbour, "state of the next hop: reachable, stale, failed, none …"),
	FIELD(TEXT, struct endpoint_facts, filter, "packet filters and queueing disciplines that may drop"),
};
RECORD(endpoint_record, endpoint_facts, endpoint_fields);

static const struct field clock_fields[] = {
	FIELD(NUMBER, struct clock_offset, offset_ns, "remote clock minus local clock"),
	FIELD(NUMBER, struct clock_offset, error_ns, "its largest error"),
};
static RECORD(clock_record, clock_offset, clock_fields);

static const struct field control_fields[] = {
	FIELD(TEXT, struct control_step, step, "connect, exchange, ready, done or ok"),
	FIELD(NUMBER, struct control_step, start_ns, "begin"),
	FIELD(NUMBER, struct control_step, duration_ns, "duration, null: did not end"),
	FIELD_AS(NUMBER, struct control_step, error, "errno", "0: success"),
	FIELD(TEXT, struct control_step, detail, "what went wrong"),
};
static RECORD(control_record, control_step, control_fields);

static const struct field resource_fields[] = {
	FIELD_OF_NAMES(struct resource_step, side, side_names, "side"),
	FIELD(TEXT, struct resource_step, step, "call"),
	FIELD(NUMBER, struct resource_step, start_ns, "begin"),
	FIELD(NUMBER, struct resource_step, duration_ns, "duration, null: did not end"),
	FIELD_AS(NUMBER, struct resource_step, error, "errno", "0: success"),
	FIELD(TEXT, struct resource_step, detail, "what was asked for"),
	FIELD(TEXT, struct resource_step, limit_name, "limit of the device that the request goes beyond"),
	FIELD(NUMBER, struct resource_step, asked, "what was asked for of it"),
	FIELD(NUMBER, struct resource_step, limit, "the limit"),
};
static RECORD(resource_record, resource_step, resource_fields);

static const struct field transition_fields[] = {
	FIELD_OF_NAMES(struct transition, side, side_names, "side"),
	FIELD(TEXT, struct transition, to, "state asked for"),
	FIELD(NUMBER, struct transition, start_ns, "begin"),
	FIELD(NUMBER, struct transition, duration_ns, "duration, null: did not end"),
	FIELD_AS(NUMBER, struct transition, error, "errno", "0: success"),
};
static RECORD(transition_record, transition, transition_fields);

static const struct field operation_fields[] = {
	FIELD(NUMBER, struct operation, wr_id, "the application's identifier"),
	FIELD(NUMBER, struct operation, qpn, "queue pair number"),
	FIELD_OF_NAMES(struct operation, opcode, operation_names, "operation"),
	FIELD(NUMBER, struct operation, bytes, "payload"),
	FIELD(NUMBER, struct operation, remote_address, "remote address as posted"),
	FIELD(NUMBER, struct operation, rkey, "remote key as posted"),
	FIELD(NUMBER, struct operation, lkey, "local key as posted"),
	FIELD_AS(FLAG, struct operation, is_signaled, "signaled", "asks for a completion"),
	FIELD_AS(FLAG, struct operation, is_inline, "inline", "payload copied at post"),
	FIELD(NUMBER, struct operation, post_call_ns, "post called"),
	FIELD(NUMBER, struct operation, post_return_ns, "post returned: submitted"),
	FIELD(NUMBER, struct operation, post_errno, "0: success"),
	FIELD(FLAG, struct operation, bad_wr, "the request that the post refused"),
	FIELD(NUMBER, struct operation, wqe_posted_ns, "seen in the send queue: published"),
	FIELD(NUMBER, struct operation, wqe_posted_not_before_ns, "last look that did not find it"),
	FIELD(FLAG, struct operation, doorbell_recorded, "doorbell record counts it"),
	FIELD(FLAG, struct operation, device_saw_doorbell, "the device's queue index counts it: taken"),
	FIELD(FLAG, struct operation, device_executed, "the device worked on it"),
	FIELD(FLAG, struct operation, acknowledged, "the peer's device acknowledged it"),
	FIELD(FLAG, struct operation, cqe_written, "the device counts its completion as written"),
	FIELD(NUMBER, struct operation, remote_landed_ns, "whole payload verified, on the peer's clock"),
	FIELD(NUMBER, struct operation, remote_landed_not_before_ns,
	        "last look that did not find it, on the peer's clock"),
	FIELD(FLAG, struct operation, landed, "false: the target looked, and nothing of it is in its memory"),
	FIELD(FLAG, struct operation, payload_verified, "does the peer see the right bytes"),
	FIELD(NUMBER, struct operation, cqe_arrived_ns, "seen in completion queue memory: completed"),
	FIELD(NUMBER, struct operation, cqe_arrived_not_before_ns, "last look that did not find it"),
	FIELD(NUMBER, struct operation, cqe_consumed_ns, "returned by poll: consumed"),
	FIELD(NUMBER, struct operation, reclaimed_ns, "unsignaled: a later completion told that it is done"),
	FIELD(NUMBER, struct operation, notified_ns, "event read that led to it, null: none, or polled"),
	FIELD(FLAG, struct operation, found_unnotified, "waiting by event: found without one"),
	FIELD(NUMBER, struct operation, source_reusable_ns, "the source buffer may be changed"),
	FIELD(NUMBER, struct operation, source_changed_ns, "the source was changed, before it was allowed"),
	FIELD(NUMBER, struct operation, wc_status, "status of the work completion"),
	FIELD(TEXT, struct operation, wc_status_text, "its name"),
	FIELD(NUMBER, struct operation, vendor_err, "the vendor's code of a failed one"),
};
static RECORD(operation_record, operation, operation_fields);

static const struct field statistic_fields[] = {
	FIELD(TEXT, struct statistic, stage, "stage, from the one before it"),
	FIELD(NUMBER, struct statistic, bytes, "payload"),
	FIELD(NUMBER, struct statistic, samples, "operations"),
	FIELD(NUMBER, struct statistic, min_ns, "smallest"),
	FIELD(NUMBER, struct statistic, median_ns, "median"),
	FIELD(NUMBER, struct statistic, p99_ns, "99th percentile"),
	FIELD(NUMBER, struct statistic, max_ns, "largest"),
};
static RECORD(statistic_record, statistic, statistic_fields);

static const struct field statistics_fields[] = {
	FIELD_OF(RECORDS, struct statistics, stages, statistic_record, "each stage at each size"),
};
static RECORD(statistics_record, statistics, statistics_fields);

static const struct field bucket_fields[] = {
	FIELD(NUMBER, struct histogram_bucket, from_ns, "begin of the range"),
	FIELD(NUMBER, struct histogram_bucket, to_ns, "its end"),
	FIELD(NUMBER, struct histogram_bucket, requests, "requests that took so long"),
};
static RECORD(bucket_record, histogram_bucket, bucket_fields);

static const struct field histogram_fields[] = {
	FIELD(NUMBER, struct histogram, bytes, "payload"),
	FIELD_OF(RECORDS, struct histogram, buckets, bucket_record, "ranges of the time from post to completion taken"),
};
static RECORD(histogram_record, histogram, histogram_fields);

static const struct field tcp_transfer_fields[] = {
	FIELD(NUMBER, struct tcp_transfer, bytes, "payload"),
	FIELD(NUMBER, struct tcp_transfer, samples, "transfers"),
	FIELD(FLAG, struct tcp_transfer, to_peer, "over the connection of the exchange; false: inside this host"),
	FIELD(NUMBER, struct tcp_transfer, returned_ns, "the last send() returned: the source is free"),
	FIELD(NUMBER, struct tcp_transfer, received_ns, "recv() has copied all"),
	FIELD(NUMBER, struct tcp_transfer, acknowledged_ns, "the peer's TCP has acknowledged all"),
	FIELD(FLAG, struct tcp_transfer, verified, "the bytes are right"),
};
static RECORD(tcp_transfer_record, tcp_transfer, tcp_transfer_fields);

static const struct field placement_fields[] = {
	FIELD(NUMBER, struct placement, node, "NUMA node of the buffer"),
	FIELD(TEXT, struct placement, registration, "pinned or odp"),
	FIELD(TEXT, struct placement, metric, "latency: median in ns; throughput: bytes in a millisecond"),
	FIELD(NUMBER, struct placement, bytes, "payload"),
	FIELD(NUMBERS, struct placement, runs, "one value for each run"),
};
static RECORD(placement_record, placement, placement_fields);

static const struct field comparison_fields[] = {
	FIELD(TEXT, struct placement_comparison, metric, "latency or throughput"),
	FIELD(NUMBER, struct placement_comparison, bytes, "payload"),
	FIELD(NUMBER, struct placement_comparison, node, "NUMA node of the buffer"),
	FIELD(NUMBER, struct placement_comparison, base_node, "node that it is compared with"),
	FIELD(TEXT, struct placement_comparison, registration, "pinned or odp"),
	FIELD(NUMBER, struct placement_comparison, difference_ppm,
	        "difference of the medians, millionths of the base's"),
	FIELD(NUMBER, struct placement_comparison, noise_ppm, "larger spread of the runs of either place"),
	FIELD(NUMBER, struct placement_comparison, chance_ppm, "likelihood of such a difference by chance, corrected"),
	FIELD(FLAG, struct placement_comparison, differs, "the difference is above its own noise"),
};
static RECORD(comparison_record, placement_comparison, comparison_fields);

static const struct field device_sample_fields[] = {
	FIELD(TEXT, struct device_sample, moment,
	        "idle: after a success; first, second: while a request is outstanding"),
	FIELD(TEXT, struct device_sample, source, "devx or netlink-raw"),
	FIELD(NUMBER, struct device_sample, t_ns, "when the device was asked"),
	FIELD(TEXT, struct device_sample, qp_state, "queue pair state in the device"),
	FIELD(NUMBER, struct device_sample, recorded, "doorbell record, blocks of 64 bytes"),
	FIELD(NUMBER, struct device_sample, taken, "blocks whose doorbell the device saw"),
	FIELD(NUMBER, struct device_sample, executed, "blocks the device worked on"),
	FIELD(NUMBER, struct device_sample, next_psn, "next packet sequence number to send"),
	FIELD(NUMBER, struct device_sample, acked_psn, "last one acknowledged"),
	FIELD(NUMBER, struct device_sample, retries_left, "retries left"),
	FIELD(NUMBER, struct device_sample, cq_status, "completion queue; 0: in order"),
	FIELD(TEXT, struct device_sample, cq_notification, "armed, armed-solicited or fired"),
	FIELD(NUMBER, struct device_sample, cq_produced, "completions the device counts as written"),
	FIELD(NUMBER, struct device_sample, cq_consumed, "completions the device knows as taken"),
	FIELD(NUMBER, struct device_sample, cq_recorded, "completions taken, by the doorbell record"),
};
static RECORD(device_sample_record, device_sample, device_sample_fields);

static const struct field observers_fields[] = {
	FIELD(TEXT, struct observers, wqe, "who looks at the send queue, null: not observable"),
	FIELD(TEXT, struct observers, cqe, "who looks at completion queue memory"),
	FIELD(TEXT, struct observers, device, "who asks the device"),
	FIELD(TEXT, struct observers, payload, "who verifies the payload"),
};
static RECORD(observers_record, observers, observers_fields);

static const struct field lag_member_fields[] = {
	FIELD(NUMBER, struct lag_member, port, "member of the LAG, from 1"),
	FIELD(NUMBER, struct lag_member, active_port, "member that carried the packets"),
	FIELD(NUMBER, struct lag_member, posted, "requests over it"),
	FIELD(NUMBER, struct lag_member, completed, "of them successful"),
	FIELD(NUMBER, struct lag_member, wc_status, "of the first that failed"),
	FIELD(TEXT, struct lag_member, wc_status_text, "the same in words"),
	FIELD(NUMBER, struct lag_member, vendor_err, "the vendor's code of it"),
	FIELD(FLAG, struct lag_member, timed_out, "a completion did not come in time"),
	FIELD(FLAG, struct lag_member, payload_verified, "the right bytes arrived"),
	FIELD(NUMBER, struct lag_member, latency_ns, "of the last that succeeded"),
	FIELD(TEXT, struct lag_member, detail, "why not all completed"),
};
static RECORD(lag_member_record, lag_member, lag_member_fields);

static const struct field completion_entry_fields[] = {
	FIELD(NUMBER, struct completion_entry, t_ns, "when it was looked at"),
	FIELD(FLAG, struct completion_entry, taken, "by poll"),
	FIELD(NUMBER, struct completion_entry, opcode, "as the device wrote it"),
	FIELD_AS(FLAG, struct completion_entry, is_known, "known", "the provider's library knows this opcode"),
	FIELD(NUMBER, struct completion_entry, qpn, "queue pair that it names"),
	FIELD(NUMBER, struct completion_entry, position, "block of the send queue that it names"),
	FIELD(NUMBER, struct completion_entry, bytes, "bytes of the request"),
	FIELD(NUMBER, struct completion_entry, syndrome, "of a failed one: error in the device's words"),
	FIELD(NUMBER, struct completion_entry, vendor_err, "of a failed one: the vendor's code"),
};
static RECORD(completion_entry_record, completion_entry, completion_entry_fields);

static const struct field async_event_fields[] = {
	FIELD_OF_NAMES(struct async_event, side, side_names, "side"),
	FIELD(TEXT, struct async_event, event, "IBV_EVENT_* without the prefix"),
	FIELD(NUMBER, struct async_event, t_ns, "when it was read"),
	FIELD(NUMBER, struct async_event, port, "port it speaks of"),
	FIELD(NUMBER, struct async_event, qpn, "queue pair it speaks of"),
};
static RECORD(async_event_record, async_event, async_event_fields);

static const struct field counter_fields[] = {
	FIELD_OF_NAMES(struct counter_change, side, side_names, "side"),
	FIELD(TEXT, struct counter_change, name, "counter"),
	FIELD(NUMBER, struct counter_change, before, "value before"),
	FIELD(NUMBER, struct counter_change, after, "value after"),
	FIELD(FLAG, struct counter_change, quiet, "stood still in the baseline before the run"),
};
static RECORD(counter_record, counter_change, counter_fields);

static const struct field buffer_fields[] = {
	FIELD(NUMBER, struct buffer_facts, pages, "pages of the buffer"),
	FIELD(MAP, struct buffer_facts, pages_on_node, "pages on each NUMA node"),
	FIELD(NUMBER, struct buffer_facts, requested_node, "node asked for"),
};
static RECORD(buffer_record, buffer_facts, buffer_fields);

static const struct field cpu_fields[] = {
	FIELD(NUMBER, struct cpu_facts, waited_ns, "ready to run, and without a CPU"),
	FIELD(NUMBER, struct cpu_facts, throttled_ns, "its cgroup was held back by its quota"),
};
static RECORD(cpu_record, cpu_facts, cpu_fields);

static const struct field tcp_fields[] = {
	FIELD(NUMBER, struct tcp_facts, retransmits, "segments sent again"),
	FIELD(NUMBER, struct tcp_facts, unacked, "segments not acknowledged"),
	FIELD(NUMBER, struct tcp_facts, rtt_us, "smoothed round trip"),
	FIELD(TEXT, struct tcp_facts, local, "local address"),
	FIELD(TEXT, struct tcp_facts, remote, "remote address"),
};
static RECORD(tcp_record, tcp_facts, tcp_fields);

static const struct field reach_fields[] = {
	FIELD(NUMBER, struct reach_facts, tcp_errno,
	        "of a TCP connection between the GIDs' addresses; 0 and 111 are answers"),
	FIELD(FLAG, struct reach_facts, ping, "a small ping between them is answered"),
	FIELD(FLAG, struct reach_facts, full_ping, "one as large as a packet of the queue pair"),
	FIELD(NUMBER, struct reach_facts, full_ping_bytes, "bytes of that IP packet"),
};
static RECORD(reach_record, reach_facts, reach_fields);

static const struct field peer_report_fields[] = {
	FIELD(NUMBER, struct peer_report, posted, "work requests it posted"),
	FIELD(NUMBER, struct peer_report, completed, "of them succeeded"),
	FIELD_OF_NAMES(struct peer_report, opcode, operation_names, "the request that ended its run"),
	FIELD(NUMBER, struct peer_report, bytes, "payload of that"),
	FIELD(NUMBER, struct peer_report, wc_status, "status of its completion, null: none came"),
	FIELD(NUMBER, struct peer_report, vendor_err, "the vendor's code"),
	FIELD(TEXT, struct peer_report, step, "step of its set-up that failed, or the post that refused that request"),
	FIELD_AS(NUMBER, struct peer_report, error, "errno", "of that step"),
	FIELD(TEXT, struct peer_report, text, "in its words"),
};
RECORD(peer_report_record, peer_report, peer_report_fields);

static const struct field notification_fields[] = {
	FIELD(FLAG, struct notification_facts, armed, "completion queue armed, and polled once more after that"),
	FIELD(FLAG, struct notification_facts, delivered, "completion channel became readable"),
	FIELD(NUMBER, struct notification_facts, events, "events taken from it"),
	FIELD(NUMBER, struct notification_facts, acked, "of these acknowledged"),
	FIELD(NUMBER, struct notification_facts, spurious, "events that found nothing in the queue"),
	FIELD(NUMBER, struct notification_facts, armed_ns, "when it was armed last"),
	FIELD(NUMBER, struct notification_facts, armings, "how often it was armed"),
	FIELD(NUMBER, struct notification_facts, delivered_ns, "when the channel was found readable last"),
	FIELD(FLAG, struct notification_facts, solicited_only, "armed for solicited completions and errors only"),
	FIELD(FLAG, struct notification_facts, found_at_end, "no event came, and a last poll found the completion"),
};
static RECORD(notification_record, notification_facts, notification_fields);

static const struct field stuck_fields[] = {
	FIELD(TEXT, struct stuck_step, step, "step that did not end"),
	FIELD(NUMBER, struct stuck_step, started_ns, "its begin"),
	FIELD(NUMBER, struct stuck_step, pid, "process"),
	FIELD(TEXT, struct stuck_step, system_call, "system call it is in"),
	FIELD(TEXT, struct stuck_step, wait_channel, "kernel function it sleeps in"),
	FIELD(TEXT, struct stuck_step, stack, "kernel stack"),
};
static RECORD(stuck_record, stuck_step, stuck_fields);

static const struct field payload_fields[] = {
	FIELD(NUMBER, struct payload_count, bytes, "of each"),
	FIELD(NUMBER, struct payload_count, right, "requests whose whole payload was there"),
	FIELD(NUMBER, struct payload_count, untouched, "requests that left no trace"),
	FIELD(NUMBER, struct payload_count, wrong, "requests that left other bytes"),
};
static RECORD(payload_record, payload_count, payload_fields);

static const struct field evidence_fields[] = {
	FIELD_OF(INLINE, struct evidence, local, endpoint_record, "this end"),
	FIELD_OF(INLINE, struct evidence, remote, endpoint_record, "the other end"),
	FIELD_OF(RECORD, struct evidence, clock, clock_record, "clocks of the two sides"),
	FIELD_OF(RECORDS, struct evidence, control, control_record, "steps of the control connection"),
	FIELD_OF(RECORDS, struct evidence, resources, resource_record, "set-up steps"),
	FIELD_OF(RECORDS, struct evidence, transitions, transition_record, "queue pair transitions"),
	FIELD_OF(RECORDS, struct evidence, operations, operation_record, "work requests"),
	FIELD(NUMBER, struct evidence, operations_omitted, "work requests not listed"),
	FIELD_OF(RECORDS, struct evidence, payloads, payload_record,
	        "payloads looked at in the target's memory, those of unlisted requests too"),
	FIELD(NUMBER, struct evidence, operations_posted, "work requests posted"),
	FIELD(NUMBER, struct evidence, operations_completed, "successful completions"),
	FIELD(NUMBER, struct evidence, operations_failed, "failed completions, flushes not counted"),
	FIELD(NUMBER, struct evidence, flushes, "flush completions"),
	FIELD(NUMBER, struct evidence, foreign_completions, "completions of no request that was waited for"),
	FIELD_OF(RECORDS, struct evidence, unclaimed_completions, completion_entry_record,
	        "what these and those that nobody took are in memory"),
	FIELD(NUMBER, struct evidence, operations_reclaimed, "unsignaled ones known to be done by a later completion"),
	FIELD(NUMBER, struct evidence, completions_undelivered, "completions taken and not handed to whom waits"),
	FIELD(NUMBER, struct evidence, queue_full, "posts refused by a full send queue and tried again"),
	FIELD_OF(INLINE, struct evidence, statistics, statistics_record, "how long the stages took"),
	FIELD_OF(RECORDS, struct evidence, lag_members, lag_member_record, "each port of a RoCE LAG, tried by itself"),
	FIELD_OF(RECORDS, struct evidence, histograms, histogram_record, "how often a request took how long"),
	FIELD_OF(RECORDS, struct evidence, tcp_transfers, tcp_transfer_record, "the same bytes over TCP"),
	FIELD_OF(RECORDS, struct evidence, placements, placement_record, "the same run with the buffer elsewhere"),
	FIELD_OF(RECORDS, struct evidence, placement_comparisons, comparison_record, "what these differ by"),
	FIELD_OF(INLINE, struct evidence, observers, observers_record, "what could be observed"),
	FIELD_OF(RECORDS, struct evidence, device_samples, device_sample_record, "what the device said of its queues"),
	FIELD_OF(RECORDS, struct evidence, async_events, async_event_record, "asynchronous events"),
	FIELD_OF(RECORDS, struct evidence, counters, counter_record, "counters that changed"),
	FIELD_OF(INLINE, struct evidence, buffer, buffer_record, "where the buffer's pages are"),
	FIELD(NUMBER, struct evidence, polls, "polls while waiting"),
	FIELD(NUMBER, struct evidence, last_poll_ns, "begin of the last of them"),
	FIELD_OF(RECORD, struct evidence, notification, notification_record, "waiting by event, null: by polling"),
	FIELD_OF(RECORD, struct evidence, cpu, cpu_record,
	        "how the thread got a CPU that made the requests, while it made them"),
	FIELD_OF(RECORD, struct evidence, tcp, tcp_record, "the control connection"),
	FIELD_OF(RECORD, struct evidence, reachability, reach_record, "IP between the same addresses"),
	FIELD_OF(RECORD, struct evidence, peer_report, peer_report_record, "what the initiator said of its run"),
	FIELD_OF(RECORD, struct evidence, stuck, stuck_record, "step that had not ended at the deadline"),
	FIELD(NUMBER, struct evidence, deadline_ns, "when waiting was given up, null: it was not"),
	FIELD(FLAG, struct evidence, same_port_loopback, "the packets need not leave the adapter"),
	FIELD(TEXTS, struct evidence, other_ports,
	        "of a loopback on one port: other ports of this host that are active, of the same transport and may be "
	        "opened (some of them)"),
	FIELD(NUMBER, struct evidence, died_of_signal, "signal that ended the traced process, null: none"),
	FIELD(NUMBER, struct evidence, left_with_status,
	        "exit status of a traced process that left before it was done, null: it did not"),
	FIELD(FLAG, struct evidence, ended_unseen,
	        "the traced process was gone before it was done, and how it ended could not be learnt"),
	FIELD(FLAG, struct evidence, interrupted, "ended by a signal"),
	FIELD(NUMBER, struct evidence, ended_ns, "end of the run"),
};
RECORD(evidence_record, evidence, evidence_fields);

static const struct field verdict_fields[] = {
	FIELD_OF_NAMES(struct verdict, outcome, outcome_names, "how it ended"),
	FIELD_OF_NAMES(struct verdict, layer, layer_names, "the layer that has it"),
	FIELD(TEXTS, struct verdict, candidates, "layers that the evidence leaves open"),
	FIELD_OF_NAMES(struct verdict, confidence, confidence_names, "confirmed, likely or none"),
	FIELD(TEXT, struct verdict, summary, "in one sentence"),
	FIELD(TEXTS, struct verdict, because, "what it rests on"),
	FIELD(TEXTS, struct verdict, not_observed, "what could not be seen"),
	FIELD(TEXTS, struct verdict, next_steps, "what to look at next"),
};
RECORD(verdict_record, verdict, verdict_fields);

/* A record as it is judged again: what an earlier verdict said of it does not matter. */
static const struct field recorded_fields[] = {
	FIELD_OF(INLINE, struct probe_document, request, request_record, "what was asked for"),
	FIELD_OF(INLINE, struct probe_document, evidence, evidence_record, "recorded facts"),
};
RECORD(recorded_probe_record, probe_document, recorded_fields);

static const struct field probe_fields[] = {
	FIELD_OF(INLINE, struct probe_document, request, request_record, "what was asked for"),
	FIELD_OF(INLINE, struct probe_document, evidence, evidence_record, "recorded facts"),
	FIELD_OF(INLINE, struct probe_document, verdict, verdict_record, "what follows from them"),
};
RECORD(probe_record, probe_document, probe_fields);

void evidence_take_unreadable(struct evidence *evidence, const struct report *report, struct arena *arena)
{
	list_each(missing, &report->not_collected)
		strings_add(arena, &evidence->unreadable, missing->reason ? missing->reason : missing->what);
}
