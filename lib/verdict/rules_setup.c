/* SPDX-License-Identifier: MIT */
/* Before the data path: set-up steps that failed, and why nothing could be posted. */
#include "verdict/judge.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * The kernel makes the queues of these drivers from memory of its own, and locks none of the program's
 * (rxe_queue_init(), siw_create_cq(), rvt_create_cq(), efa_create_cq(), iw_cxgb4's create_cq()).
 */
static bool has_kernel_queues(const struct endpoint_facts *end)
{
	static const char *const drivers[] = { "hfi1", "ib_qib", "efa", "iw_cxgb4" };
	bool kernel = is_software(end);
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		kernel |= is_driver(end, drivers[i]);
	return kernel;
}

/* What the device pages in on demand is not locked. */
static bool is_paged_in(const struct judge *judge)
{
	return text_has(judge->step.name, "reg_mr") &&
	       (text_has(endpoint(judge, judge->step.side)->mr_access, "on-demand") ||
	               text_is(judge->request->registration, "odp"));
}

static bool makes_queue(const struct failed_step *step)
{
	static const char *const queues[] = { "create_cq", "create_qp", "create_srq", "create_wq" };
	for (size_t i = 0; i < ARRAY_SIZE(queues); i++)
		if (text_has(step->name, queues[i]))
			return true;
	return false;
}

/* Buffers and queues; other objects that are made have no memory of the program. */
static bool locks_memory(const struct judge *judge)
{
	if (text_has(judge->step.name, "reg_mr"))
		return !is_paged_in(judge);
	return makes_queue(&judge->step) && !has_kernel_queues(endpoint(judge, judge->step.side));
}

/* Whoever a call of the set-up comes by. */
static const layer_set any_of_setup =
        L(CONFIGURATION) | L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(PLATFORM) | L(DEVICE);

/* On the host whose step it was, about the address of the other end. */
static void advise_step(struct judge *judge, const char *text)
{
	bool far = judge->step.side == SIDE_REMOTE && judge->request->mode != MODE_LOOPBACK;
	const char *there = far && !is_one_host(judge) ? arena_printf(judge->arena, "on the peer's host: %c%s",
	                                                         tolower((unsigned char)text[0]), text + 1)
	                                               : NULL;
	advise_address(judge, there ? there : text, gid_address(judge, far ? SIDE_LOCAL : SIDE_REMOTE));
}

static const char raise_memlock[] = "raise memlock: ulimit -l, LimitMEMLOCK= of the service, or the container's limit; "
                                    "CAP_IPC_LOCK lifts it";

/* A limit of 0 has an errno of its own (kernel, can_do_mlock() in mm/mlock.c). */
static bool judge_no_locking(struct judge *judge, enum outcome outcome, layer_set base)
{
	const struct failed_step *step = &judge->step;
	const struct endpoint_facts *end = endpoint(judge, step->side);
	if (step->error != EPERM || !locks_memory(judge) || !num_is(end->memlock_soft_bytes, 0) ||
	        end->may_lock_memory == FLAG_YES)
		return false;
	because(judge, "RLIMIT_MEMLOCK is 0 bytes: nothing may be locked");
	summarize(judge, "the limit of locked memory allows none");
	advise_step(judge, raise_memlock);
	if (end->may_lock_memory == FLAG_NO)
		return confirmed(judge, outcome, LAYER_CONFIGURATION);
	not_observed(judge, "whether the process has CAP_IPC_LOCK, which lifts the limit");
	return likely(judge, outcome, LAYER_CONFIGURATION, base);
}

/* ENOMEM has many causes; the limit of locked memory is one that can be proved. */
static bool judge_memory(struct judge *judge, enum outcome outcome, layer_set base)
{
	const struct failed_step *step = &judge->step;
	const struct endpoint_facts *end = endpoint(judge, step->side);
	struct num soft = end->memlock_soft_bytes;
	bool unlimited = end->may_lock_memory == FLAG_YES || (soft.known && soft.value < 0);
	bool locks = locks_memory(judge);
	/* The table has what this call needs memory for. */
	if (!makes_queue(step) && !text_has(step->name, "reg_mr"))
		return undetermined(judge, outcome, base);
	if (is_paged_in(judge))
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
	advise_step(judge, raise_memlock);
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

/* The adapter of the end that tried. */
static layer_set own_device(const struct judge *judge)
{
	return layers_of_side(judge, judge->step.side, L(DEVICE));
}

/* Where packets go by LIDs: routes and neighbours are looked for on Ethernet only (kernel, ib_resolve_eth_dmac()). */
static bool is_on_infiniband(const struct judge *judge)
{
	return text_is(endpoint(judge, judge->step.side)->link_layer, "InfiniBand");
}

/* Nothing says that the port is one of Ethernet, where the kernel looks for netdev, route and neighbour. */
static bool may_be_infiniband(const struct judge *judge)
{
	const struct endpoint_facts *end = endpoint(judge, judge->step.side);
	bool addressed = gid_kind(end->gid) == KIND_IPV4;
	return !end->link_layer && !end->netdev && !addressed && !text_is(end->transport, "roce") && !is_iwarp(end);
}

/* The kernel waits about a second for the neighbour; a firmware command is given up after a minute. */
static bool took_a_command(const struct failed_step *step)
{
	const int64_t command_ns = INT64_C(10000000000);
	return step->duration_ns >= command_ns;
}

/* What the table says of these errnos is of routes and neighbours. */
static bool is_of_way(const struct failed_step *step)
{
	bool way = step->error == ETIMEDOUT || step->error == ENETUNREACH || step->error == EHOSTUNREACH;
	return way && text_is(explain_step(step->name), "RTR");
}

/* … and of this one, of netdevs. */
static bool is_of_netdev(const struct failed_step *step)
{
	return step->error == ENODEV && text_is(explain_step(step->name), "RTR");
}

static bool is_of_adapter(const struct judge *judge)
{
	const struct failed_step *step = &judge->step;
	if (is_on_infiniband(judge))
		return is_of_way(step) || is_of_netdev(step);
	return step->error == ETIMEDOUT && took_a_command(step) && is_of_way(step);
}

static bool judge_neighbour(struct judge *judge, enum outcome outcome, layer_set base)
{
	const struct evidence *evidence = judge->evidence;
	char took[DURATION_TEXT_SIZE];
	bool infiniband = is_on_infiniband(judge);
	if (took_a_command(&judge->step) || infiniband) {
		if (infiniband)
			because(judge, "on InfiniBand nobody looks for a neighbour in this call: it is a command of "
			               "the adapter");
		else
			because(judge, "the call took %s; resolving a neighbour is given up after about a second",
			        format_duration(judge->step.duration_ns, took));
		summarize(judge, "the adapter did not answer the command");
		advise_step(judge, "read the kernel log for messages of the adapter's driver about commands");
		return undetermined(judge, outcome, own_device(judge) | L(KERNEL) | L(PLATFORM));
	}
	if (gid_kind(evidence->local.gid) == KIND_LINK_LOCAL || gid_kind(evidence->remote.gid) == KIND_LINK_LOCAL) {
		because(judge, "%s GID is link-local: it reaches its own segment only",
		        gid_kind(evidence->local.gid) == KIND_LINK_LOCAL ? "the local" : "the peer's");
		summarize(judge, "the other end's address was not found from a link-local GID");
		next_step(judge, "take a GID index with a routable address (rdmadiag gid --to ADDRESS)");
		return likely(judge, outcome, LAYER_CONFIGURATION, base & ~own_device(judge));
	}
	not_observed(judge,
	        "who did not answer: the address may be wrong, the way there may be cut, or the host may be off");
	return undetermined(judge, outcome, judge->step.duration_ns >= 0 ? base & ~own_device(judge) : base);
}

static bool judge_route(struct judge *judge, enum outcome outcome, layer_set base)
{
	if (judge_port_down(judge, outcome))
		return true;
	/* There is a route when it is asked for afterwards. */
	if (num_is(endpoint(judge, judge->step.side)->route_errno, 0)) {
		not_observed(judge, "why there was no route: the kernel has one now");
		return undetermined(judge, outcome, base & ~own_device(judge));
	}
	return likely(judge, outcome, LAYER_CONFIGURATION, base & ~own_device(judge));
}

/* ip-route(8): who sends by such a route gets EINVAL (blackhole) or EACCES (prohibit), whatever it sends. */
static const char *refusing_route(const struct judge *judge)
{
	const struct reach_facts *reach = judge->evidence->reachability;
	bool tried = reach && judge->step.side != SIDE_REMOTE && !is_on_infiniband(judge);
	if (!tried || !num_is(reach->tcp_errno, judge->step.error) || reach->ping == FLAG_YES)
		return NULL;
	return judge->step.error == EINVAL   ? "a blackhole"
	       : judge->step.error == EACCES ? "one that prohibits it"
	                                     : NULL;
}

static bool judge_refusing_route(struct judge *judge, enum outcome outcome, layer_set base)
{
	const char *kind = refusing_route(judge);
	if (!kind)
		return false;
	because(judge,
	        "TCP between the same addresses is refused by this host's kernel with the same errno, as where "
	        "the route to the other end is %s",
	        kind);
	summarize(judge, "the route to the other end's address seems to be %s", kind);
	advise_address(judge,
	        "look at `ip route get` for the other end's address, and for blackhole and prohibit routes",
	        gid_address(judge, SIDE_REMOTE));
	return likely(judge, outcome, LAYER_CONFIGURATION, base);
}

static bool judge_rtr(struct judge *judge, enum outcome outcome, layer_set base)
{
	const struct evidence *evidence = judge->evidence;
	const char *conflict;
	tell_routes(judge);
	if (may_be_infiniband(judge) && (is_of_way(&judge->step) || is_of_netdev(&judge->step))) {
		not_observed(
		        judge, "the kind of link: on InfiniBand this call looks for no netdev, route or neighbour");
		return undetermined(judge, outcome, base | layers_of_side(judge, judge->step.side, any_of_setup));
	}
	switch (judge->step.error) {
	case ENODEV:
		if (is_on_infiniband(judge))
			return undetermined(judge, outcome, base);
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	case ENODATA:
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	case ETIMEDOUT:
		if (is_admin_down(&evidence->local) || is_admin_down(&evidence->remote))
			return judge_port_down(judge, outcome);
		return judge_neighbour(judge, outcome, base);
	case ENETUNREACH:
	case EHOSTUNREACH:
		return is_on_infiniband(judge) ? undetermined(judge, outcome, base) : judge_route(judge, outcome, base);
	case EINVAL:
		conflict = address_conflict(judge);
		conflict = conflict ? conflict : own_mtu_conflict(judge, judge->step.side);
		if (!conflict)
			return judge_refusing_route(judge, outcome, base) || undetermined(judge, outcome, base);
		because(judge, "%s", conflict);
		/* The subnet manager may be out of reach as well. */
		if (text_is(evidence->local.link_layer, "InfiniBand") && address_conflict(judge)) {
			base |= L(NETWORK);
			summarize(judge, "%s", conflict);
			next_step(
			        judge, "look at the subnet manager: whether it runs, and state and LID of both ports");
		}
		return likely(judge, outcome, LAYER_CONFIGURATION, base);
	default:
		if (judge_refusing_route(judge, outcome, base))
			return true;
		if (!evidence->local.gid && !evidence->remote.gid)
			not_observed(judge, "the GIDs of both ends");
		return undetermined(judge, outcome, base);
	}
}

/*
 * An index may have 0 for its last one, and a queue pair no room for inline data. Of all else a device without any is
 * one whose driver does not tell its limit.
 */
static bool is_limit(const struct resource_step *step)
{
	return step->limit.known &&
	       (step->limit.value > 0 || text_has(step->step, "gid") || text_has(step->limit_name, "inline"));
}

static bool is_above_limit(const struct resource_step *step)
{
	return step && is_limit(step) && step->asked.known && step->asked.value > step->limit.value;
}

/* What the device's own limits say about a refused request. */
static bool is_beyond_limit(struct judge *judge)
{
	const struct resource_step *step = judge->step.resource;
	if (!is_above_limit(step))
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
		/* Memory may have run out as well. */
		if (step->error == ENOMEM)
			return likely(judge, outcome, program, base | L(APPLICATION));
		/* A peer may ask for what this end wished. */
		if (program == LAYER_APPLICATION)
			return confirmed(judge, outcome, program);
		return likely(judge, outcome, program, L(APPLICATION) | L(REMOTE_APPLICATION));
	}
	if (text_is(explain_step(step->name), "RTR"))
		return judge_rtr(judge, outcome, base);
	if (judge_no_locking(judge, outcome, base))
		return true;
	if (step->error == ENOMEM && !text_has(step->name, "post"))
		return judge_memory(judge, outcome, base);
	/* Another errno than that of a limit; what was asked for may be the reason all the same. */
	if (is_above_limit(step->resource))
		base |= L(APPLICATION) | L(PROVIDER);
	/* An errno that this call has one reason for only names its layer. */
	return undetermined(judge, outcome, base);
}

layer_set mirrored(layer_set set)
{
	static const struct {
		layer_set one, other;
	} pairs[] = { { L(DEVICE), L(REMOTE_DEVICE) }, { L(APPLICATION), L(REMOTE_APPLICATION) } };
	layer_set result = set;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		result &= ~(pairs[i].one | pairs[i].other);
		result |= set & pairs[i].one ? pairs[i].other : 0;
		result |= set & pairs[i].other ? pairs[i].one : 0;
	}
	return result;
}

/* What "device" and "application" mean for a step of this side. */
layer_set layers_of_side(const struct judge *judge, int side, layer_set set)
{
	const layer_set programs = L(APPLICATION) | L(REMOTE_APPLICATION);
	enum probe_mode mode = (enum probe_mode)judge->request->mode;
	if (side != SIDE_REMOTE || mode == MODE_LOOPBACK)
		return set;
	/* The other end, seen from there, is this one. */
	layer_set swapped = mirrored(set);
	/* Two devices of one process have one application. */
	if (mode == MODE_TWO_DEVICES && swapped & programs)
		swapped = (swapped & ~programs) | L(APPLICATION);
	if (mode == MODE_UNKNOWN && swapped & programs)
		swapped |= programs;
	return swapped;
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
	next_step(judge, "run `rdmadiag gid`%s and take an index that is in use (-g)",
	        far && !has_both_ends(judge) ? " on the peer's host" : "");
}

bool judge_failed_step(struct judge *judge, enum outcome outcome)
{
	const struct failed_step *step = &judge->step;
	const struct endpoint_facts *empty = empty_gid_in_rtr(judge);
	if (empty)
		tell_empty_gid(judge, empty);
	const struct errno_explanation *known = is_of_adapter(judge) ? NULL : explain_errno(step->name, step->error);
	/* No rule for this errno of this call: whoever may have refused it stays a candidate. */
	layer_set base = known ? known->text.layers : any_of_setup;
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
	if (own_event(judge, step->side, "DEVICE_FATAL")) {
		summarize(judge, "%s adapter stopped working or was removed",
		        step->side == SIDE_REMOTE ? "the peer's" : "the");
		next_step(judge, "%s", explain_event("DEVICE_FATAL")->text.next);
		return undetermined(judge, outcome,
		        layers_of_side(judge, step->side, L(DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION)));
	}
	/* Of memory the rule knows better which limit binds, if it knows any. */
	bool memory = step->error == ENOMEM;
	/* A netdev that is down is what to look at first; its rule says so. */
	bool down =
	        is_of_way(step) && (is_admin_down(&judge->evidence->local) || is_admin_down(&judge->evidence->remote));
	if (!memory && known && known->text.next && !down)
		advise_step(judge, known->text.next);
	judge_step_layer(judge, outcome, layers_of_side(judge, step->side, base));
	if (memory && known && known->text.next && steps->count == before)
		next_step(judge, "%s", known->text.next);
	return true;
}

static void append(struct judge *judge, struct strings *to, const struct strings *from)
{
	for (uint32_t i = 0; i < from->count; i++)
		strings_add(judge->arena, to, from->items[i]);
}

/* Both ends failed, and nobody knows which of them first: each by itself, and what both leave open. */
static bool judge_both_steps(struct judge *judge, enum outcome outcome)
{
	struct verdict *verdict = judge->verdict, other = { 0 };
	const struct failed_step first = judge->step;
	judge_failed_step(judge, outcome);
	layer_set candidates = judge->candidates;
	judge->verdict = &other;
	judge->step = judge->other_step;
	judge_failed_step(judge, outcome);
	judge->verdict = verdict;
	judge->step = first;
	append(judge, &verdict->because, &other.because);
	append(judge, &verdict->not_observed, &other.not_observed);
	append(judge, &verdict->next_steps, &other.next_steps);
	not_observed(judge, "which of the two steps failed first: they are of two clocks");
	candidates |= judge->candidates;
	if (other.layer != verdict->layer || verdict->layer == LAYER_UNDETERMINED)
		return undetermined(judge, outcome, candidates);
	if (verdict->confidence == CONFIDENCE_CONFIRMED && other.confidence == CONFIDENCE_CONFIRMED)
		return confirmed(judge, outcome, (enum layer)verdict->layer);
	return likely(judge, outcome, (enum layer)verdict->layer, candidates);
}

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
		return judge->other_step.name ? judge_both_steps(judge, OUTCOME_NOT_RUN)
		                              : judge_failed_step(judge, OUTCOME_NOT_RUN);
	}
	if (ended_early(judge->evidence))
		return false;
	if (judge->control)
		return judge_control(judge, OUTCOME_NOT_RUN);
	if (judge_too_long(judge) || judge_no_gid(judge))
		return true;
	bool target = judge->evidence->local.role == ROLE_TARGET;
	return !target && judge_port_down(judge, OUTCOME_NOT_RUN);
}
