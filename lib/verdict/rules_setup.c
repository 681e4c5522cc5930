/* SPDX-License-Identifier: MIT */
/* Before and after the data path: set-up steps, the control connection, and steps that hang. */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

/* ENOMEM has many causes; the limit of locked memory is one that can be proved. */
static bool judge_memory(struct judge *judge, enum outcome outcome, layer_set base)
{
	const struct failed_step *step = &judge->step;
	const struct endpoint_facts *end = endpoint(judge, step->side);
	struct num soft = end->memlock_soft_bytes;
	bool unlimited = end->may_lock_memory == FLAG_YES || (soft.known && soft.value < 0);
	/* What the device pages in on demand is not locked. */
	bool pages_in = text_has(step->name, "reg_mr") &&
	                (text_has(end->mr_access, "on-demand") || text_is(judge->request->registration, "odp"));
	bool locks = !pages_in && (text_has(step->name, "reg_mr") || text_has(step->name, "create_"));
	if (pages_in)
		because(judge, "the buffer is paged in on demand: the limit of locked memory does not bind it");
	if (unlimited)
		because(judge, "the limit of locked memory does not bind this process");
	if (soft.known && !unlimited && locks)
		because(judge, "RLIMIT_MEMLOCK is %" PRId64 " bytes", soft.value);
	bool too_large =
	        text_has(step->name, "reg_mr") && end->buffer_bytes.known && end->buffer_bytes.value > soft.value;
	/* Queues are small: a limit of a few megabytes can be used up by them, a large one hardly. */
	enum { SMALL_LIMIT = 16 << 20 };
	if (unlimited || !locks || !soft.known || (!too_large && soft.value > SMALL_LIMIT)) {
		next_step(
		        judge, "compare the request with the device's limits, and look at the memory and rdma cgroups");
		return undetermined(judge, outcome, base);
	}
	next_step(judge, "raise memlock: ulimit -l, LimitMEMLOCK= of the service, or the container's limit; "
	                 "CAP_IPC_LOCK lifts it");
	if (!too_large) {
		summarize(judge, "%s ran out of memory, most probably of memory that may be locked", step->name);
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	}
	because(judge, "the buffer has %" PRId64 " bytes, more than may be locked", end->buffer_bytes.value);
	summarize(judge, "the limit of locked memory is too small for the buffer");
	if (end->may_lock_memory == FLAG_NO)
		return confirmed(judge, outcome, LAYER_CONFIGURATION);
	not_observed(judge, "whether the process has CAP_IPC_LOCK, which lifts the limit");
	return likely(judge, outcome, LAYER_CONFIGURATION, base);
}

static bool judge_neighbour(struct judge *judge, enum outcome outcome, layer_set base)
{
	/* The kernel waits about a second for the neighbour; a firmware command is given up after a minute. */
	const int64_t command_ns = INT64_C(10000000000);
	const struct evidence *evidence = judge->evidence;
	char took[DURATION_TEXT_SIZE];
	if (judge->step.duration_ns >= command_ns) {
		because(judge, "the call took %s; resolving a neighbour is given up after about a second",
		        format_duration(judge->step.duration_ns, took));
		summarize(judge, "the adapter did not answer the command");
		layer_set device = judge->step.side == SIDE_REMOTE ? L(REMOTE_DEVICE) : L(DEVICE);
		return undetermined(judge, outcome, device | L(KERNEL) | L(PLATFORM));
	}
	if (gid_kind(evidence->local.gid) == KIND_LINK_LOCAL || gid_kind(evidence->remote.gid) == KIND_LINK_LOCAL) {
		because(judge, "%s GID is link-local: it reaches its own segment only",
		        gid_kind(evidence->local.gid) == KIND_LINK_LOCAL ? "the local" : "the peer's");
		summarize(judge, "the peer's address was not found from a link-local GID");
		next_step(judge, "take a GID index with a routable address (rdmadiag gid --to ADDRESS)");
		return likely(judge, outcome, LAYER_CONFIGURATION, base & ~L(DEVICE));
	}
	not_observed(judge,
	        "who did not answer: the address may be wrong, the way there may be cut, or the host may be off");
	return undetermined(judge, outcome, judge->step.duration_ns >= 0 ? base & ~L(DEVICE) : base);
}

/* A port of InfiniBand does not follow the IPoIB netdev above it. */
static bool is_admin_down(const struct endpoint_facts *end)
{
	return text_is(end->link_layer, "Ethernet") && end->netdev_up == FLAG_NO && is_port_down(end);
}

static bool judge_route(struct judge *judge, enum outcome outcome, layer_set base)
{
	if (judge_port_down(judge, outcome))
		return true;
	/* There is a route when it is asked for afterwards. */
	if (num_is(endpoint(judge, judge->step.side)->route_errno, 0)) {
		not_observed(judge, "why there was no route: the kernel has one now");
		return undetermined(judge, outcome, base & ~L(DEVICE));
	}
	return likely(judge, outcome, LAYER_CONFIGURATION, base & ~L(DEVICE));
}

static bool judge_rtr(struct judge *judge, enum outcome outcome, layer_set base)
{
	const struct evidence *evidence = judge->evidence;
	const char *conflict;
	tell_routes(judge);
	switch (judge->step.error) {
	case ENODATA:
	case ENODEV:
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	case ETIMEDOUT:
		if (is_admin_down(&evidence->local) || is_admin_down(&evidence->remote))
			return judge_port_down(judge, outcome);
		return judge_neighbour(judge, outcome, base);
	case ENETUNREACH:
	case EHOSTUNREACH:
		return judge_route(judge, outcome, base);
	case EINVAL:
		conflict = gid_conflict(judge);
		conflict = conflict ? conflict : mtu_conflict(judge);
		if (!conflict)
			return undetermined(judge, outcome, base);
		because(judge, "%s", conflict);
		/* The subnet manager may be out of reach as well. */
		if (text_is(evidence->local.link_layer, "InfiniBand") && gid_conflict(judge))
			base |= L(NETWORK);
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	default:
		if (!evidence->local.gid && !evidence->remote.gid)
			not_observed(judge, "the GIDs of both ends");
		return undetermined(judge, outcome, base);
	}
}

/* What the device's own limits say about a refused request. */
static bool is_beyond_limit(struct judge *judge)
{
	const struct resource_step *step = judge->step.resource;
	if (!step || !step->asked.known || !step->limit.known || step->asked.value <= step->limit.value)
		return false;
	if (judge->step.error != EINVAL && judge->step.error != ENOMEM && judge->step.error != E2BIG)
		return false;
	because(judge, "%s: %" PRId64 " asked for, the device's limit is %" PRId64,
	        step->limit_name ? step->limit_name : judge->step.name, step->asked.value, step->limit.value);
	return true;
}

static bool is_permission(const struct failed_step *step)
{
	return text_is(explain_step(step->name), "ibv_open_device") && (step->error == EACCES || step->error == EPERM);
}

static bool judge_step_layer(struct judge *judge, enum outcome outcome, layer_set base)
{
	const struct failed_step *step = &judge->step;
	if (is_permission(step))
		return confirmed(judge, outcome, LAYER_CONFIGURATION);
	/* Which GID to use is set by an administrator; the other limits are of what a program asks for. */
	if (is_beyond_limit(judge)) {
		enum layer program = program_of(judge, step->side);
		if (text_has(step->name, "gid"))
			return confirmed(judge, outcome, LAYER_CONFIGURATION);
		if (!is_program_known(judge, step->side)) {
			not_observed(judge, "whether both ends are one program");
			return undetermined(judge, outcome, L(APPLICATION) | L(REMOTE_APPLICATION));
		}
		/* A peer may ask for what this end wished. */
		if (program == LAYER_APPLICATION)
			return confirmed(judge, outcome, program);
		return likely(judge, outcome, program, L(APPLICATION) | L(REMOTE_APPLICATION));
	}
	if (text_is(explain_step(step->name), "RTR"))
		return judge_rtr(judge, outcome, base);
	if (step->error == ENOMEM && !text_has(step->name, "post"))
		return judge_memory(judge, outcome, base);
	/* An errno that this call has one reason for only names its layer. */
	return undetermined(judge, outcome, base);
}

/* What "device" and "application" mean for a step of this side. */
layer_set layers_of_side(const struct judge *judge, int side, layer_set set)
{
	if (side != SIDE_REMOTE || judge->request->mode == MODE_LOOPBACK)
		return set;
	if (set & L(DEVICE))
		set = (set & ~L(DEVICE)) | L(REMOTE_DEVICE);
	/* Two devices of one process have one application. */
	if (set & L(APPLICATION) && judge->request->mode == MODE_PEER)
		set = (set & ~L(APPLICATION)) | L(REMOTE_APPLICATION);
	if (set & L(APPLICATION) && judge->request->mode == MODE_UNKNOWN)
		set |= L(REMOTE_APPLICATION);
	return set;
}

/*
 * No queue pair of RoCE comes to RTR with a GID of zero, whatever errno the driver has for it; an index that was asked
 * for is tried all the same.
 */
static const struct endpoint_facts *empty_gid_in_rtr(const struct judge *judge)
{
	static const int64_t errors[] = { ENODATA, EINVAL, ENODEV, ENETUNREACH, EHOSTUNREACH };
	bool may_be = false;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		may_be |= judge->step.error == errors[i];
	if (!may_be || !text_is(explain_step(judge->step.name), "RTR"))
		return NULL;
	const struct endpoint_facts *own = endpoint(judge, judge->step.side);
	const struct endpoint_facts *other =
	        endpoint(judge, judge->step.side == SIDE_REMOTE ? SIDE_LOCAL : SIDE_REMOTE);
	/* These two speak of the index at the end that tried. */
	bool own_only = judge->step.error == ENODATA || judge->step.error == ENODEV;
	const struct endpoint_facts *empty = has_empty_gid(own)                  ? own
	                                     : !own_only && has_empty_gid(other) ? other
	                                                                         : NULL;
	return empty && !text_is(empty->link_layer, "InfiniBand") ? empty : NULL;
}

static void tell_empty_gid(struct judge *judge, const struct endpoint_facts *end)
{
	bool far = end == &judge->evidence->remote && judge->request->mode != MODE_LOOPBACK;
	const char *whose = far ? "the peer's" : "the local";
	if (end->gid_index.known)
		because(judge, "%s GID is empty: nothing is at index %" PRId64, whose, end->gid_index.value);
	else
		because(judge, "%s GID is empty: nothing is at the index in use", whose);
	summarize(judge, "%s GID is empty, so the queue pair cannot go to RTR", whose);
	next_step(
	        judge, "run `rdmadiag gid`%s and take an index that is in use (-g)", far ? " on the peer's host" : "");
}

bool judge_failed_step(struct judge *judge, enum outcome outcome)
{
	const struct failed_step *step = &judge->step;
	const struct endpoint_facts *empty = empty_gid_in_rtr(judge);
	if (empty)
		tell_empty_gid(judge, empty);
	const struct errno_explanation *known = explain_errno(step->name, step->error);
	/* No rule for this errno of this call: whoever may have refused it stays a candidate. */
	layer_set base = known ? known->text.layers
	                       : L(CONFIGURATION) | L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(PLATFORM) | L(DEVICE);
	const char *side = step->side == SIDE_REMOTE ? " on the peer" : "";
	/* The errno of a name is borrowed, and its text would mislead. */
	bool named = step->detail && explain_errno_is_borrowed(step->name);
	if (named)
		because(judge, "%s%s failed: %s", step->name, side, step->detail);
	else
		because(judge, "%s%s failed: %s (errno %" PRId64 ")%s%s", step->name, side, strerror((int)step->error),
		        step->error, step->detail ? ", " : "", step->detail ? step->detail : "");
	if (known && !empty)
		because(judge, "%s", known->text.meaning);
	if (named && !empty)
		summarize(judge, "set-up stopped at %s%s: %s", step->name, side, step->detail);
	else if (!empty)
		summarize(judge, "set-up stopped at %s%s: %s", step->name, side, strerror((int)step->error));
	if (empty)
		return step->error == ENODATA && empty == endpoint(judge, step->side)
		               ? confirmed(judge, outcome, LAYER_CONFIGURATION)
		               : likely(judge, outcome, LAYER_CONFIGURATION, 0);
	const struct strings *steps = &judge->verdict->next_steps;
	uint32_t before = steps->count;
	/* Of memory the rule knows better which limit binds, if it knows any. */
	bool memory = step->error == ENOMEM;
	if (!memory && known && known->text.next)
		advise_address(judge, known->text.next, gid_address(judge));
	judge_step_layer(judge, outcome, layers_of_side(judge, step->side, base));
	if (memory && known && known->text.next && steps->count == before)
		next_step(judge, "%s", known->text.next);
	return true;
}

/* ---- the control connection ---- */

static bool judge_closed(struct judge *judge, enum outcome outcome)
{
	because(judge, "the control connection was closed by the other end");
	next_step(judge, "see why the peer's process ended");
	/* A listener closes on who does not get through to it as well. */
	const struct tcp_facts *tcp = judge->evidence->tcp;
	if (tcp && tcp->retransmits.known && tcp->retransmits.value > 0)
		return undetermined(judge, outcome, L(REMOTE_APPLICATION) | L(NETWORK) | L(CONFIGURATION));
	return likely(judge, outcome, LAYER_REMOTE_APPLICATION, L(NETWORK) | L(CONFIGURATION));
}

static bool judge_control(struct judge *judge, enum outcome outcome)
{
	const struct control_step *step = judge->control;
	int64_t error = step->error.value;
	const struct errno_explanation *known = explain_errno(step->step, error);
	because(judge, "step %s of the control connection failed: %s (errno %" PRId64 ")%s%s", step->step,
	        strerror((int)error), error, step->detail ? ", " : "", step->detail ? step->detail : "");
	if (known && known->text.next)
		advise_address(judge, known->text.next, peer_address(judge));
	if (text_is(step->step, "connect") && error == ECONNREFUSED) {
		summarize(judge, "nobody listens at the peer's address and port");
		return likely(judge, outcome, LAYER_REMOTE_APPLICATION, L(CONFIGURATION));
	}
	if (text_is(step->step, "connect")) {
		summarize(judge, "the peer was not reached: %s", strerror((int)error));
		return undetermined(judge, outcome,
		        known ? known->text.layers : L(CONFIGURATION) | L(NETWORK) | L(REMOTE_APPLICATION));
	}
	summarize(
	        judge, "the peer was lost at step %s of the control connection: %s", step->step, strerror((int)error));
	if (peer_closed(judge))
		return judge_closed(judge, outcome);
	return undetermined(
	        judge, outcome, known ? known->text.layers : L(CONFIGURATION) | L(NETWORK) | L(REMOTE_APPLICATION));
}

bool rule_control(struct judge *judge)
{
	if (!judge->control)
		return false;
	bool worked = judge->succeeded && !judge->pending && !judge->failed;
	if (worked)
		because(judge, "%s had completed successfully before", all_operations(judge, judge->succeeded));
	if (judge->verified < judge->succeeded && worked)
		not_observed(judge, "whether the peer has the right bytes: it did not say so any more");
	return judge_control(judge, OUTCOME_FAILED);
}

/* ---- ports that are not up ---- */

static bool judge_one_port(struct judge *judge, enum outcome outcome, int side)
{
	const struct endpoint_facts *end = endpoint(judge, side);
	const char *whose = side == SIDE_REMOTE ? "the peer's" : "the local";
	if (!is_port_down(end))
		return false;
	const char *state = end->port_state_after ? end->port_state_after : end->port_state;
	because(judge, "%s port is %s", whose, state);
	summarize(judge, "%s port is not active (%s)", whose, state);
	if (is_admin_down(end)) {
		because(judge, "%s netdev %s is administratively down", whose,
		        end->netdev ? end->netdev : "of the GID");
		next_step(judge, "set the netdev up: ip link set %s up", end->netdev ? end->netdev : "NETDEV");
		/* Down already before anything was tried: nothing else can have been the first cause. */
		if (end->port_state && strcmp(end->port_state, "ACTIVE") != 0 && !judge->posted)
			return confirmed(judge, outcome, LAYER_CONFIGURATION);
		return likely(judge, outcome, LAYER_CONFIGURATION, 0);
	}
	if (text_is(state, "INIT") || text_is(state, "ARMED")) {
		next_step(judge, "look at the subnet manager: the link is up, but the port was not made active");
		return undetermined_link(judge, outcome, L(CONFIGURATION));
	}
	if (end->netdev_up != FLAG_YES)
		not_observed(judge, "whether an administrator took %s port down", whose);
	next_step(judge, "look at cable, module and switch port, and whether the port was taken down on purpose");
	layer_set device = side == SIDE_REMOTE ? L(REMOTE_DEVICE) : L(DEVICE);
	return undetermined_link(judge, outcome, L(CONFIGURATION) | device);
}

/* What an administrator did explains a link that the other end has lost as well. */
static bool judge_admin_down(struct judge *judge, enum outcome outcome)
{
	for (int side = SIDE_LOCAL; side <= SIDE_REMOTE; side++)
		if (is_admin_down(endpoint(judge, side)))
			return judge_one_port(judge, outcome, side);
	return false;
}

bool judge_port_down(struct judge *judge, enum outcome outcome)
{
	return judge_admin_down(judge, outcome) || judge_one_port(judge, outcome, SIDE_LOCAL) ||
	       judge_one_port(judge, outcome, SIDE_REMOTE);
}

/* ---- nothing was posted ---- */

static bool judge_no_gid(struct judge *judge)
{
	const struct endpoint_facts *end = &judge->evidence->local;
	if (!has_empty_gid(end) || text_is(end->link_layer, "InfiniBand"))
		return false;
	because(judge, "the GID at the index in use is empty");
	summarize(judge, "the port has no usable GID at this index");
	next_step(judge, "run rdmadiag gid; without any GID the port has no netdev in this network namespace");
	return likely(judge, OUTCOME_NOT_RUN, LAYER_CONFIGURATION, 0);
}

/* A message that no request may have is refused before it is posted. */
static bool judge_too_long(struct judge *judge)
{
	struct num limit = judge->evidence->local.max_message_bytes;
	list_each(size, &judge->request->sizes) {
		if (!limit.known || !size->known || size->value <= limit.value)
			continue;
		because(judge,
		        "%" PRId64 " bytes were asked for, and the port takes messages of %" PRId64 " bytes at most",
		        size->value, limit.value);
		summarize(judge, "the message is longer than the port's limit");
		next_step(judge, "ask for a smaller --size");
		return confirmed(judge, OUTCOME_NOT_RUN, LAYER_APPLICATION);
	}
	return false;
}

static bool has_posted(const struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	return judge->posted || judge->refused ||
	       (evidence->operations_posted.known && evidence->operations_posted.value > 0);
}

bool rule_setup(struct judge *judge)
{
	if (has_posted(judge))
		return false;
	if (judge->step.name) {
		tell_events(judge);
		return judge_failed_step(judge, OUTCOME_NOT_RUN);
	}
	if (judge->evidence->stuck || judge->evidence->died_of_signal.known)
		return false;
	if (judge->control)
		return judge_control(judge, OUTCOME_NOT_RUN);
	if (judge_too_long(judge) || judge_no_gid(judge))
		return true;
	bool target = judge->evidence->local.role == ROLE_TARGET;
	return !target && judge_port_down(judge, OUTCOME_NOT_RUN);
}

/* ---- steps that hang ---- */

/* Waiting for a completion or for the peer is not hanging: other rules judge it. */
static bool is_waiting(const struct stuck_step *stuck)
{
	return !stuck->step || text_has(stuck->step, "wait") || text_has(stuck->step, "poll_cq") ||
	       text_has(stuck->step, "get_cq_event") || text_is(explain_step(stuck->step), "control") ||
	       text_is(stuck->step, "connect");
}

static bool waits_for_firmware(const struct stuck_step *stuck)
{
	/* Names of mlx5's, mlx4's and others' waits for a command (kernel, mlx5/core/cmd.c: wait_func()). */
	return text_has(stuck->wait_channel, "cmd") || text_has(stuck->wait_channel, "wait_func") ||
	       text_has(stuck->stack, "cmd_exec") || text_has(stuck->stack, "wait_func");
}

/* proc_pid_wchan(5): "0" where it does not sleep, or where it may not be read. */
static bool is_readable(const char *wait_channel)
{
	return wait_channel && *wait_channel && strcmp(wait_channel, "0") != 0;
}

/* futex(2): only another thread of the program can end it. */
static bool sleeps_in_user_space(const struct stuck_step *stuck)
{
	return text_has(stuck->system_call, "futex") || (!stuck->system_call && text_has(stuck->wait_channel, "futex"));
}

static bool waits_for_others(const struct stuck_step *stuck)
{
	static const char *const calls[] = { "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "read",
		"recvfrom", "recvmsg", "nanosleep", "clock_nanosleep", "wait4", "waitid" };
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (text_is(stuck->system_call, calls[i]))
			return true;
	return false;
}

bool rule_stuck(struct judge *judge)
{
	const struct stuck_step *stuck = judge->evidence->stuck;
	if (!stuck || is_waiting(stuck))
		return false;
	/* A hang at the end, after everything went well, does not undo it. */
	bool done = judge->posted && judge->succeeded == judge->posted;
	if (done && judge->wrong)
		return false;
	/* The first error wins. */
	if (judge->failed && is_teardown(stuck->step)) {
		because(judge, "afterwards %s did not return before the deadline", stuck->step);
		next_step(judge, "read the kernel log for hung tasks and messages of the adapter's driver");
		return false;
	}
	enum outcome outcome = done ? OUTCOME_DEGRADED : OUTCOME_STALLED;
	because(judge, "%s had not returned when the deadline came", stuck->step);
	if (text_is(stuck->step, "rdma_connect")) {
		because(judge, "the kernel makes the connection in this call, and waits for the peer in it");
		summarize(judge, "the iWARP connection to the peer did not come about in time");
		next_step(judge, "look at packet filters for TCP on both hosts, and whether the peer still listens");
		return undetermined(judge, OUTCOME_NOT_RUN,
		        L(CONFIGURATION) | L(NETWORK) | L(REMOTE_APPLICATION) | L(REMOTE_DEVICE));
	}
	if (text_is(stuck->step, "getaddrinfo")) {
		summarize(judge, "the name of the peer was not resolved in time");
		next_step(judge, "give the address itself, and look at the name servers of this host");
		return undetermined(judge, OUTCOME_NOT_RUN, L(CONFIGURATION) | L(NETWORK));
	}
	if (done)
		because(judge, "%s had completed successfully before", all_operations(judge, judge->succeeded));
	bool runs = text_is(stuck->system_call, "running"), outside = runs || text_is(stuck->system_call, "none");
	const char *call = outside ? NULL : stuck->system_call;
	summarize(judge, "%s %s%s%s", stuck->step, runs ? "does not return" : "hangs", call ? " in system call " : "",
	        call ? call : "");
	next_step(judge, "read the kernel log for hung tasks and messages of the adapter's driver");
	if (is_readable(stuck->wait_channel))
		because(judge, "it sleeps in %s", stuck->wait_channel);
	if (runs) {
		because(judge, "it does not sleep in the kernel: it was running when it was looked at");
		return undetermined(judge, outcome, L(KERNEL) | L(PROVIDER) | L(DEVICE) | L(PLATFORM));
	}
	if (sleeps_in_user_space(stuck)) {
		because(judge, "that is a lock of the program or of its libraries, and no work of the kernel");
		next_step(judge, "see which threads of the program hold locks (gdb, thread apply all bt)");
		return undetermined(judge, outcome, L(APPLICATION) | L(PROVIDER));
	}
	if (waits_for_others(stuck)) {
		because(judge,
		        "that call waits for what somebody else is to say: the library asked, and got no answer");
		return undetermined(judge, outcome, L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(DEVICE) | L(PLATFORM));
	}
	if (!stuck->system_call && !is_readable(stuck->wait_channel) && !stuck->stack) {
		not_observed(judge, "where it hangs: system call and wait channel were not readable");
		return undetermined(judge, outcome, L(KERNEL) | L(PROVIDER) | L(DEVICE) | L(PLATFORM));
	}
	if (waits_for_firmware(stuck)) {
		because(judge, "that is where the driver waits for a command of the adapter");
		return undetermined(judge, outcome, L(DEVICE) | L(KERNEL) | L(PLATFORM));
	}
	return likely(judge, outcome, LAYER_KERNEL, L(DEVICE) | L(PLATFORM));
}

/*
 * What a dead process had still to do is unknown, and who killed it as well: its own code, the provider in it, the
 * kernel (memory), or a person.
 */
bool rule_died(struct judge *judge)
{
	struct num died = judge->evidence->died_of_signal;
	if (!died.known)
		return false;
	because(judge, "the traced process died of signal %" PRId64 " before it was done", died.value);
	if (judge->succeeded)
		because(judge, "%u operation%s had succeeded by then", judge->succeeded, plural(judge->succeeded));
	summarize(judge, "the traced process died of signal %" PRId64, died.value);
	next_step(judge, "look for a core dump, and for the out-of-memory killer in the kernel's log");
	layer_set set = L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(CONFIGURATION);
	/* Memory behind a mapping went away: registers of a device that was removed, or broken memory. */
	if (died.value == SIGBUS)
		set |= L(DEVICE) | L(PLATFORM);
	return undetermined(judge, judge->posted ? OUTCOME_FAILED : OUTCOME_NOT_RUN, set);
}
