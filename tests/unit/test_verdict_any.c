/* SPDX-License-Identifier: MIT */
/*
 * The verdict on evidence that nobody wrote by hand: random facts, contradictions included. Whatever comes in, nothing
 * is confirmed without one of the conditions that are spelled out here once more, independently of the rules.
 *
 * VERDICT_SEED and VERDICT_RUNS make other runs.
 */
#include "unit.h"

#include "base/cleanup.h"
#include "verdict/verdict.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

/* ---- random evidence ---- */

static uint64_t state;

/* xorshift64*: the same sequence everywhere. */
static uint32_t any(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * UINT64_C(2685821657736338717)) >> 33) % below;
}

#define ONE_OF(...)                                                                                                    \
	one_of((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))
static const char *one_of(const char *const *names, size_t count)
{
	return names[any((uint32_t)count)];
}

#define NUMBER_OF(...)                                                                                                 \
	number_of((const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))
static struct num number_of(const int64_t *values, size_t count)
{
	return any(3) ? num(values[any((uint32_t)count)]) : (struct num){ 0 };
}

static enum flag any_flag(void)
{
	return (enum flag)any(3);
}

static struct num any_time(void)
{
	return NUMBER_OF(
	        0, 1000, 50000, 3000000, 400000000, 1999000000, 2000000000, 2500000000, INT64_MAX, INT64_MIN, -5);
}

static void any_end(struct endpoint_facts *end)
{
	*end = (struct endpoint_facts){
		.role = (int)any(ROLE_COUNT),
		.device = ONE_OF(NULL, "dev0"),
		.driver = ONE_OF(NULL, "mlx5_core", "rdma_rxe", "siw", "efa", "bnxt_en", "irdma"),
		.port = NUMBER_OF(1, 2),
		.link_layer = ONE_OF(NULL, "Ethernet", "InfiniBand"),
		.gid = ONE_OF(NULL, "0000:0000:0000:0000:0000:0000:0000:0000",
		        "fe80:0000:0000:0000:0200:5eff:fe10:0001", "0000:0000:0000:0000:0000:ffff:c000:0201",
		        "fd00:0000:0000:0000:0000:0000:0000:0001", "nonsense"),
		.gid_type = ONE_OF(NULL, "RoCE v2", "IB/RoCE v1"),
		.netdev_mtu = NUMBER_OF(1500, 9000),
		.qpn = NUMBER_OF(100, 200),
		.active_mtu = NUMBER_OF(256, 1024, 4096),
		.path_mtu = NUMBER_OF(1024, 4096),
		.port_state = ONE_OF(NULL, "ACTIVE", "DOWN", "INIT"),
		.port_state_after = ONE_OF(NULL, "ACTIVE", "ACTIVE", "DOWN"),
		.qp_state = ONE_OF(NULL, "RTS", "RTS", "INIT", "ERR", "RTR", "SQD", "RESET"),
		.qp_state_first = ONE_OF(NULL, "RTS", "RTS", "ERR"),
		.timeout = NUMBER_OF(0, 14, 31, 99),
		.retry_count = NUMBER_OF(0, 5, 7, -1),
		.min_rnr_timer = NUMBER_OF(0, 13, 31, 77),
		.max_message_bytes = NUMBER_OF(1024, 1 << 30),
		.cqe = NUMBER_OF(1, 2, 64),
		.send_wr = NUMBER_OF(0, 1, 64),
		.dest_qpn = NUMBER_OF(100, 200),
		.first_psn = NUMBER_OF(7, 8),
		.expected_psn = NUMBER_OF(7, 8),
		.one_pd = any_flag(),
		.buffer_address = NUMBER_OF(0, 4096, INT64_MIN),
		.rkey = NUMBER_OF(5, 6),
		.lkey = NUMBER_OF(5, 6),
		.buffer_bytes = NUMBER_OF(64, 4096, 1 << 20, INT64_MIN),
		.memlock_soft_bytes = NUMBER_OF(-1, 65536, 1 << 30),
		.alive = any_flag(),
		.mr_access = ONE_OF(NULL, "local-write", "local-write remote-write", "remote-read", "remote-write"),
		.qp_access = ONE_OF(NULL, "none", "remote-write remote-read"),
		.may_lock_memory = any_flag(),
		.netdev_up = any_flag(),
		.filter = ONE_OF(NULL, "", "nft: udp dport 4791 drop"),
	};
}

static void any_operation(struct operation *operation)
{
	*operation = (struct operation){
		.wr_id = NUMBER_OF(1, 2, 3),
		.qpn = NUMBER_OF(100, 101),
		.opcode = (int)any(OP_COUNT),
		.bytes = NUMBER_OF(0, 64, 8192, INT64_MAX, INT64_MIN),
		.remote_address = NUMBER_OF(0, 4096, INT64_MAX, INT64_MIN),
		.rkey = NUMBER_OF(5, 6),
		.lkey = NUMBER_OF(5, 6),
		.is_signaled = any_flag(),
		.post_call_ns = any_time(),
		.post_return_ns = any_time(),
		.post_errno = NUMBER_OF(0, 0, 0, 0, 0, 0, 12, 22),
		.wqe_posted_ns = any_time(),
		.doorbell_recorded = any_flag(),
		.device_saw_doorbell = any_flag(),
		.device_executed = any_flag(),
		.acknowledged = any_flag(),
		.remote_landed_ns = any_time(),
		.payload_verified = any_flag(),
		.cqe_arrived_ns = any_time(),
		.cqe_consumed_ns = any_time(),
		.reclaimed_ns = any_time(),
		.source_changed_ns = any_time(),
		.source_reusable_ns = any_time(),
		.wc_status = NUMBER_OF(0, 0, 0, 1, 2, 4, 5, 9, 10, 11, 12, 13, 99, -1),
		.vendor_err = NUMBER_OF(0, 0x51, 0x81, 0xf9, 1234567890123),
	};
	if (any(4) == 0)
		operation->wc_status = operation->cqe_consumed_ns = (struct num){ 0 };
}

static void any_steps(struct arena *arena, struct evidence *evidence)
{
	for (uint32_t i = any(3); i; i--) {
		struct resource_step *step = list_add(arena, &evidence->resources);
		*step = (struct resource_step){ .side = (int)any(SIDE_COUNT),
			.step = ONE_OF(NULL, "ibv_open_device", "ibv_reg_mr", "ibv_create_qp", "ibv_create_cq",
			        "rdma_resolve_addr", "ibv_destroy_qp"),
			.start_ns = any_time(),
			.duration_ns = any_time(),
			.error = NUMBER_OF(0, 0, EACCES, EPERM, ENOMEM, EINVAL, ENODEV, 9999),
			.asked = NUMBER_OF(1, 220),
			.limit = NUMBER_OF(101, 300) };
	}
	for (uint32_t i = any(3); i; i--) {
		struct transition *transition = list_add(arena, &evidence->transitions);
		*transition = (struct transition){ .side = (int)any(SIDE_COUNT),
			.to = ONE_OF(NULL, "INIT", "RTR", "RTS"),
			.start_ns = any_time(),
			.duration_ns = any_time(),
			.error = NUMBER_OF(0, 0, 0, ENODATA, ENODEV, EINVAL, ETIMEDOUT, ENETUNREACH, 9999) };
	}
	for (uint32_t i = any(3); i; i--) {
		struct control_step *step = list_add(arena, &evidence->control);
		*step = (struct control_step){ .step = ONE_OF(NULL, "connect", "exchange", "ready", "done", "ok"),
			.error = NUMBER_OF(0, 0, 0, ECONNREFUSED, ECONNRESET, ETIMEDOUT, EPROTO) };
	}
}

static void any_circumstances(struct arena *arena, struct evidence *evidence)
{
	for (uint32_t i = any(4); i; i--) {
		struct counter_change *counter = list_add(arena, &evidence->counters);
		*counter = (struct counter_change){ .side = (int)any(SIDE_COUNT),
			.name = ONE_OF(NULL, "send_err", "local_ack_timeout_err", "out_of_buffer", "send_rnr_err",
			        "tx_packets_phy", "rx_packets_phy", "sent_pkts", "rcvd_pkts", "unheard_of"),
			.before = NUMBER_OF(0, 5, INT64_MIN),
			.after = NUMBER_OF(5, 9, INT64_MAX),
			.quiet = any_flag() };
	}
	for (uint32_t i = any(3); i; i--) {
		struct async_event *event = list_add(arena, &evidence->async_events);
		*event = (struct async_event){ .side = (int)any(SIDE_COUNT),
			.event = ONE_OF(NULL, "CQ_ERR", "PORT_ERR", "DEVICE_FATAL", "QP_FATAL", "unheard_of"),
			.t_ns = any_time(),
			.port = NUMBER_OF(1, 2),
			.qpn = NUMBER_OF(100, 200) };
	}
	evidence->observers = (struct observers){ .wqe = ONE_OF(NULL, "mlx5dv"),
		.cqe = ONE_OF(NULL, "mlx5dv"),
		.device = ONE_OF(NULL, "devx"),
		.payload = ONE_OF(NULL, "peer") };
	if (any(4) == 0) {
		evidence->notification = arena_new_object(arena, struct notification_facts);
		*evidence->notification = (struct notification_facts){ .armed = any_flag(),
			.delivered = any_flag(),
			.armed_ns = any_time(),
			.solicited_only = any_flag(),
			.events = NUMBER_OF(0, 1, 2),
			.acked = NUMBER_OF(0, 1, 2) };
	}
	if (any(12) == 0) {
		evidence->stuck = arena_new_object(arena, struct stuck_step);
		*evidence->stuck = (struct stuck_step){ .step = ONE_OF(NULL, "ibv_reg_mr", "RTR", "ibv_poll_cq",
			                                        "ibv_destroy_qp", "ibv_destroy_cq"),
			.system_call = ONE_OF(NULL, "ioctl"),
			.wait_channel = ONE_OF(NULL, "mlx5_cmd_exec", "down_read") };
	}
	evidence->polls = NUMBER_OF(0, 100);
	evidence->last_poll_ns = any_time();
	evidence->deadline_ns = any_time();
	evidence->ended_ns = any_time();
	evidence->same_port_loopback = any_flag();
	evidence->interrupted = any_flag();
	evidence->ended_unseen = any(8) ? FLAG_UNKNOWN : any_flag();
	/* Mostly left out: counts that were chosen by chance hardly ever fit the list. */
	if (any(4) == 0) {
		evidence->operations_posted = NUMBER_OF(0, 1, 4, 100);
		evidence->operations_completed = NUMBER_OF(0, 1, 4, -1);
	}
	evidence->operations_failed = any(4) ? (struct num){ 0 } : NUMBER_OF(0, 0, 3);
	evidence->completions_undelivered = NUMBER_OF(0, 0, 0, 0, 1);
}

static struct probe_document *any_document(struct arena *arena)
{
	struct probe_document *document = arena_new_object(arena, struct probe_document);
	document->request.wait = ONE_OF(NULL, "poll", "poll", "event");
	document->request.drill = ONE_OF(NULL, NULL, "wrong-rkey", "wrong-lkey");
	if (any(8) == 0)
		*(struct num *)list_add(arena, &document->request.sizes) = NUMBER_OF(64, 4096);
	struct evidence *evidence = &document->evidence;
	any_end(&evidence->local);
	any_end(&evidence->remote);
	for (uint32_t i = any(5); i; i--)
		any_operation(list_add(arena, &evidence->operations));
	any_steps(arena, evidence);
	any_circumstances(arena, evidence);
	static const int modes[] = { MODE_UNKNOWN, MODE_PEER, MODE_TWO_DEVICES, MODE_LOOPBACK };
	document->request.mode = modes[any(ARRAY_SIZE(modes))];
	return document;
}

/* ---- what may be confirmed ---- */

static bool some_operation(
        const struct probe_document *document, bool (*holds)(const struct probe_document *, const struct operation *))
{
	list_each(operation, &document->evidence.operations)
		if (holds(document, operation))
			return true;
	return false;
}

static bool is_text(const char *text, const char *wanted)
{
	return text && !strcmp(text, wanted);
}

static bool above(struct num value, struct num limit)
{
	return value.known && limit.known && value.value > limit.value;
}

static bool unequal(struct num a, struct num b)
{
	return a.known && b.known && a.value != b.value;
}

static bool step_failed(const struct probe_document *document, const char *name, int error)
{
	list_each(step, &document->evidence.resources)
		if (is_text(step->step, name) && num_is(step->error, error))
			return true;
	list_each(transition, &document->evidence.transitions)
		if (is_text(transition->to, name) && num_is(transition->error, error))
			return true;
	return false;
}

/* A step without an end may be hanging: it was tried. */
static bool was_tried(const struct probe_document *document, int side, const char *to)
{
	list_each(transition, &document->evidence.transitions)
		if (transition->side == side && is_text(transition->to, to))
			return true;
	return false;
}

static bool is_early(const char *state_name)
{
	return is_text(state_name, "RESET") || is_text(state_name, "INIT") || is_text(state_name, "RTR");
}

static bool binds(const struct endpoint_facts *end)
{
	return end->may_lock_memory == FLAG_NO && end->memlock_soft_bytes.known && end->memlock_soft_bytes.value >= 0 &&
	       above(end->buffer_bytes, end->memlock_soft_bytes);
}

static bool is_zero_gid(const struct endpoint_facts *end)
{
	return is_text(end->gid, "0000:0000:0000:0000:0000:0000:0000:0000");
}

static bool down_from_start(const struct endpoint_facts *end)
{
	return end->netdev_up == FLAG_NO && end->port_state && strcmp(end->port_state, "ACTIVE") != 0;
}

static bool may_be_configuration(const struct probe_document *document)
{
	const struct evidence *evidence = &document->evidence;
	return step_failed(document, "ibv_open_device", EACCES) || step_failed(document, "ibv_open_device", EPERM) ||
	       (step_failed(document, "ibv_reg_mr", ENOMEM) && (binds(&evidence->local) || binds(&evidence->remote))) ||
	       (step_failed(document, "RTR", ENODATA) &&
	               (is_zero_gid(&evidence->local) || is_zero_gid(&evidence->remote))) ||
	       down_from_start(&evidence->local) || down_from_start(&evidence->remote);
}

static bool untaken(const struct probe_document *document, const struct operation *operation)
{
	const struct evidence *evidence = &document->evidence;
	bool unpolled = evidence->last_poll_ns.known ? evidence->last_poll_ns.value < operation->cqe_arrived_ns.value
	                                             : num_is(evidence->polls, 0);
	return operation->cqe_arrived_ns.known && !operation->cqe_consumed_ns.known && unpolled &&
	       !is_text(document->request.wait, "event") && !evidence->notification;
}

/* Where no driver is recorded, its own counters tell soft RoCE; its observers would tell mlx5. */
static bool is_software_end(const struct probe_document *document)
{
	const struct evidence *evidence = &document->evidence;
	const char *driver = evidence->local.driver;
	bool counts = false;
	list_each(counter, &evidence->counters)
		counts |= counter->side == SIDE_LOCAL &&
		          (is_text(counter->name, "sent_pkts") || is_text(counter->name, "rcvd_pkts"));
	bool mlx5 = evidence->observers.wqe || evidence->observers.cqe || evidence->observers.device;
	return is_text(driver, "rdma_rxe") || is_text(driver, "siw") || (!driver && counts && !mlx5);
}

/* A landing time says that the whole payload was verified, unless it is said that it is wrong. */
static bool is_verified(const struct operation *operation)
{
	return operation->payload_verified == FLAG_YES ||
	       (operation->payload_verified == FLAG_UNKNOWN && operation->remote_landed_ns.known);
}

static bool wrong_request(const struct probe_document *document, const struct operation *operation)
{
	const struct endpoint_facts *local = &document->evidence.local, *remote = &document->evidence.remote;
	if (num_is(operation->wc_status, 4) || (num_is(operation->wc_status, 2) && is_software_end(document)))
		return unequal(operation->lkey, local->lkey) || local->one_pd == FLAG_NO;
	if (!num_is(operation->wc_status, 10))
		return false;
	/* The range: 128 bits wide, so that no number overflows. */
	bool ranged = operation->remote_address.known && remote->buffer_address.known;
	__int128 offset = (__int128)operation->remote_address.value - remote->buffer_address.value;
	bool outside = ranged && (offset < 0 || (operation->bytes.known && remote->buffer_bytes.known &&
	                                                offset + operation->bytes.value > remote->buffer_bytes.value));
	return unequal(operation->rkey, remote->rkey) || outside;
}

static bool too_long(const struct probe_document *document, const struct operation *operation)
{
	bool refused = operation->post_errno.known && operation->post_errno.value;
	return (refused || num_is(operation->wc_status, 1)) &&
	       above(operation->bytes, document->evidence.local.max_message_bytes);
}

static bool uncompletable(const struct probe_document *document, const struct operation *operation)
{
	(void)document;
	return operation->is_signaled == FLAG_NO && is_verified(operation);
}

static bool overran(const struct probe_document *document)
{
	list_each(event, &document->evidence.async_events) {
		if (event->side != SIDE_LOCAL || !is_text(event->event, "CQ_ERR") || !event->t_ns.known)
			continue;
		int64_t waiting = 0;
		list_each(operation, &document->evidence.operations)
			waiting += operation->is_signaled == FLAG_YES && !operation->cqe_consumed_ns.known &&
			           operation->post_call_ns.known && operation->post_call_ns.value <= event->t_ns.value;
		if (above(num(waiting), document->evidence.local.cqe))
			return true;
	}
	return false;
}

/* Waiting for an event that cannot come. */
static bool never_told(const struct probe_document *document, const struct operation *operation)
{
	const struct notification_facts *notification = document->evidence.notification;
	if (!notification || notification->delivered == FLAG_YES || !operation->cqe_arrived_ns.known ||
	        operation->cqe_consumed_ns.known)
		return false;
	bool late = notification->armed == FLAG_NO && notification->armed_ns.known &&
	            operation->cqe_arrived_ns.value <= notification->armed_ns.value;
	return late || notification->solicited_only == FLAG_YES;
}

static bool unacknowledged(const struct evidence *evidence)
{
	return evidence->stuck && is_text(evidence->stuck->step, "ibv_destroy_cq") && evidence->notification &&
	       above(evidence->notification->events, evidence->notification->acked);
}

static bool overfilled(const struct probe_document *document, const struct operation *refused)
{
	int64_t count = 0;
	list_each(operation, &document->evidence.operations)
		count += operation->wc_status.known || !operation->post_errno.known || !operation->post_errno.value;
	return (num_is(refused->post_errno, ENOMEM) || num_is(refused->post_errno, ENOSPC)) &&
	       document->evidence.local.send_wr.known && count >= document->evidence.local.send_wr.value;
}

static bool half_allowed(const struct evidence *evidence)
{
	const char *const rights[] = { evidence->local.mr_access, evidence->remote.mr_access };
	for (int i = 0; i < 2; i++)
		if (rights[i] && strstr(rights[i], "remote-write") && !strstr(rights[i], "local-write"))
			return true;
	return false;
}

static bool may_be_application(const struct probe_document *document)
{
	const struct evidence *evidence = &document->evidence;
	bool limited = false;
	list_each(step, &evidence->resources)
		limited |= step->error.known && step->error.value && above(step->asked, step->limit);
	list_each(size, &document->request.sizes)
		limited |= above(*size, evidence->local.max_message_bytes);
	return limited || overran(document) || some_operation(document, untaken) ||
	       some_operation(document, wrong_request) || some_operation(document, too_long) ||
	       some_operation(document, uncompletable) || some_operation(document, never_told) ||
	       some_operation(document, overfilled) || unacknowledged(evidence) ||
	       above(evidence->completions_undelivered, num(0)) ||
	       (step_failed(document, "ibv_reg_mr", EINVAL) && half_allowed(evidence)) ||
	       (is_early(evidence->local.qp_state) && !was_tried(document, SIDE_LOCAL, "RTS"));
}

static bool lacks(const char *rights, const char *right)
{
	return rights && !strstr(rights, right);
}

static bool no_right(const struct probe_document *document, const struct operation *operation)
{
	const struct endpoint_facts *remote = &document->evidence.remote;
	if (!num_is(operation->wc_status, 9) && !num_is(operation->wc_status, 10))
		return false;
	const char *right = operation->opcode == OP_READ ? "remote-read" : "remote-write";
	return operation->opcode != OP_SEND && (lacks(remote->mr_access, right) || lacks(remote->qp_access, right));
}

static bool never_ready(const struct probe_document *document)
{
	const struct endpoint_facts *remote = &document->evidence.remote;
	return remote->alive == FLAG_YES && (is_text(remote->qp_state, "INIT") || is_text(remote->qp_state, "RESET")) &&
	       !was_tried(document, SIDE_REMOTE, "RTR");
}

static bool failed_for_real(const struct probe_document *document, const struct operation *operation)
{
	(void)document;
	return operation->wc_status.known && operation->wc_status.value;
}

static bool is_right(const struct probe_document *document, const struct operation *operation)
{
	(void)document;
	/* An unsignaled request has no status of its own; a later one of its queue pair speaks for it. */
	bool well =
	        num_is(operation->wc_status, 0) || (operation->is_signaled == FLAG_NO && !operation->wc_status.known);
	return well && is_verified(operation);
}

/* More in the list than the counts know. */
static bool is_miscounted(const struct probe_document *document)
{
	const struct evidence *evidence = &document->evidence;
	int64_t ended = 0, succeeded = 0, failed = 0;
	list_each(operation, &evidence->operations) {
		ended += operation->wc_status.known;
		succeeded += num_is(operation->wc_status, 0);
		failed += operation->wc_status.known && operation->wc_status.value && operation->wc_status.value != 5;
	}
	bool watched = evidence->local.role != ROLE_TARGET && !evidence->stuck && !evidence->died_of_signal.known &&
	               !evidence->left_with_status.known && evidence->ended_unseen != FLAG_YES;
	return watched && (above(num(ended), evidence->operations_posted) ||
	                          above(num(succeeded), evidence->operations_completed) ||
	                          above(num(failed), evidence->operations_failed));
}

static bool may_be_confirmed(const struct probe_document *document)
{
	if (is_miscounted(document))
		return false;
	switch (document->verdict.layer) {
	case LAYER_NONE:
		return some_operation(document, is_right) && !some_operation(document, failed_for_real) &&
		       document->evidence.interrupted != FLAG_YES;
	case LAYER_CONFIGURATION:
		return may_be_configuration(document);
	case LAYER_APPLICATION:
		return may_be_application(document);
	case LAYER_REMOTE_APPLICATION:
		return never_ready(document) || some_operation(document, no_right) ||
		       (step_failed(document, "ibv_reg_mr", EINVAL) && half_allowed(&document->evidence));
	default:
		return false;
	}
}

/* ---- the property ---- */

/* Where both ends are on one host, no sentence sends its reader to another one. */
static bool speaks_of_other_host(const struct probe_document *document)
{
	const struct verdict *verdict = &document->verdict;
	const struct strings *const lists[] = { &verdict->because, &verdict->not_observed, &verdict->next_steps };
	bool two = false;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (uint32_t j = 0; j < lists[i]->count; j++)
			two |= strstr(lists[i]->items[j], "peer's host") || strstr(lists[i]->items[j], "both hosts");
	/* Within one process there is no control connection; what is said of one is of two hosts. */
	bool one = document->request.mode == MODE_LOOPBACK || document->request.mode == MODE_TWO_DEVICES;
	return two && one && !document->evidence.control.count;
}

static void check_verdict(const struct probe_document *document, uint64_t seed)
{
	const struct verdict *verdict = &document->verdict;
	const char *layer = verdict->layer > 0 && verdict->layer < LAYER_COUNT ? layer_names[verdict->layer] : NULL;
	bool undetermined = verdict->layer == LAYER_UNDETERMINED, none = verdict->layer == LAYER_NONE;
	bool good = layer && verdict->summary && verdict->outcome > 0 && verdict->outcome < OUTCOME_COUNT &&
	            verdict->confidence > 0 && verdict->confidence < CONFIDENCE_COUNT;
	good = good && undetermined == (verdict->confidence == CONFIDENCE_NONE);
	good = good && none == (verdict->outcome == OUTCOME_OK) && none == (verdict->candidates.count == 0);
	good = good && (undetermined || none || strings_contain(&verdict->candidates, layer));
	good = good && !strings_contain(&verdict->candidates, "undetermined") &&
	       !strings_contain(&verdict->candidates, "none");
	/* Both ends on one port are one adapter; one of software has neither firmware nor PCIe. */
	if (document->evidence.same_port_loopback == FLAG_YES)
		good = good && !strings_contain(&verdict->candidates, "remote-device");
	if (is_software_end(document))
		good = good && !strings_contain(&verdict->candidates, "device") &&
		       !strings_contain(&verdict->candidates, "platform");
	good = good && !speaks_of_other_host(document);
	if (verdict->confidence == CONFIDENCE_CONFIRMED)
		good = good && (none || verdict->candidates.count == 1) && may_be_confirmed(document);
	if (!good)
		fail_msg("seed %llu: outcome %d, layer %s, confidence %d, %u candidates: %s", (unsigned long long)seed,
		        verdict->outcome, layer ? layer : "?", verdict->confidence, verdict->candidates.count,
		        verdict->summary ? verdict->summary : "no summary");
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void test_random(void **unused)
{
	(void)unused;
	uint64_t first = setting("VERDICT_SEED", 1), runs = setting("VERDICT_RUNS", 20000);
	unsigned int confirmed[LAYER_COUNT] = { 0 }, outcomes[OUTCOME_COUNT] = { 0 };
	for (uint64_t seed = first; seed < first + runs; seed++) {
		struct arena *arena = arena_new(1 << 18);
		assert_non_null(arena);
		state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
		struct probe_document *document = any_document(arena);
		struct report report = { .arena = arena };
		verdict_judge(
		        &document->request, &document->evidence, any(2) ? &report : NULL, arena, &document->verdict);
		check_verdict(document, seed);
		outcomes[document->verdict.outcome]++;
		if (document->verdict.confidence == CONFIDENCE_CONFIRMED)
			confirmed[document->verdict.layer]++;
		arena_free(arena);
	}
	/* The property is worth something only if every kind of end was met. */
	for (int i = OUTCOME_OK; runs >= 20000 && i < OUTCOME_COUNT; i++)
		assert_true(outcomes[i] > 0);
	if (runs >= 20000) {
		assert_true(confirmed[LAYER_NONE] > 0 && confirmed[LAYER_CONFIGURATION] > 0);
		assert_true(confirmed[LAYER_APPLICATION] > 0 && confirmed[LAYER_REMOTE_APPLICATION] > 0);
	}
}

/* The same evidence gives the same verdict, and is not changed by it. */
static void test_pure(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed < 200; seed++) {
		struct arena *arena = arena_new(1 << 18);
		state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
		struct probe_document *document = any_document(arena);
		struct evidence before = document->evidence;
		struct verdict first, second;
		verdict_judge(&document->request, &document->evidence, NULL, arena, &first);
		verdict_judge(&document->request, &document->evidence, NULL, arena, &second);
		assert_memory_equal(&before, &document->evidence, sizeof(before));
		assert_int_equal(first.layer, second.layer);
		assert_int_equal(first.confidence, second.confidence);
		assert_int_equal(first.because.count, second.because.count);
		for (uint32_t i = 0; i < first.because.count; i++)
			assert_string_equal(first.because.items[i], second.because.items[i]);
		arena_free(arena);
	}
}

/* Without memory texts are left out, and the verdict stays. */
static void test_no_memory(void **unused)
{
	(void)unused;
	struct arena *arena = test_arena(), *tiny = arena_new(0);
	for (uint64_t seed = 1; seed < 500; seed++) {
		state = seed;
		struct probe_document *document = any_document(arena);
		struct verdict full, empty;
		verdict_judge(&document->request, &document->evidence, NULL, arena, &full);
		verdict_judge(&document->request, &document->evidence, NULL, tiny, &empty);
		assert_int_equal(full.outcome, empty.outcome);
		assert_int_equal(full.layer, empty.layer);
		assert_int_equal(full.confidence, empty.confidence);
	}
	arena_free(tiny);
	arena_free(arena);
}

/* Findings are of what is not the verdict's matter, and only of that. */
static void test_findings(void **unused)
{
	(void)unused;
	struct arena *arena = test_arena();
	struct report report = { .arena = arena };
	struct probe_document *document = arena_new_object(arena, struct probe_document);
	struct evidence *evidence = &document->evidence;
	evidence->local = (struct endpoint_facts){ .device = "dev0", .port = num(1), .numa_node = num(1) };
	*list_add(arena, &evidence->operations) = (struct operation){ .wr_id = num(1),
		.opcode = OP_WRITE,
		.bytes = num(64),
		.post_call_ns = num(1),
		.post_return_ns = num(2),
		.post_errno = num(0),
		.cqe_consumed_ns = num(3),
		.wc_status = num(0),
		.payload_verified = FLAG_YES };
	*list_add(arena, &evidence->buffer.pages_on_node) = (struct map_entry){ 1, num(4) };
	verdict_judge(&document->request, evidence, &report, arena, &document->verdict);
	assert_int_equal(report.findings.count, 0);
	*list_add(arena, &evidence->buffer.pages_on_node) = (struct map_entry){ 0, num(3) };
	*list_add(arena, &evidence->async_events) =
	        (struct async_event){ .side = SIDE_LOCAL, .event = "PORT_ERR", .port = num(2) };
	verdict_judge(&document->request, evidence, &report, arena, &document->verdict);
	assert_int_equal(report.findings.count, 2);
	assert_string_equal(report.findings.items[0]->id, "probe-other-event");
	assert_string_equal(report.findings.items[1]->id, "probe-buffer-distant");
	assert_non_null(strstr(report.findings.items[1]->message, "3 pages"));
	assert_int_equal(document->verdict.outcome, OUTCOME_OK);
	/* Asked for on purpose, it is no finding. */
	evidence->buffer.requested_node = num(0);
	verdict_judge(&document->request, evidence, &report, arena, &document->verdict);
	assert_int_equal(report.findings.count, 3);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_pure),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_findings),
	};
	return cmocka_run_group_tests_name("verdict of anything", tests, NULL, NULL);
}
