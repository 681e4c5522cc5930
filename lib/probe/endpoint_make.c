/* SPDX-License-Identifier: MIT */
/* What an end point is made of: protection domains, completion queues, the buffer with its keys, queue pairs. */
#include "probe/cm.h"
#include "probe/endpoint.h"

#include "base/cleanup.h"
#include "probe/post.h"
#include "probe/words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#define FAIL(...) error_set(error, __VA_ARGS__)

enum { DEPTH = 16 };

static bool is_target(const struct endpoint *endpoint)
{
	return endpoint->facts->role == ROLE_TARGET;
}

static unsigned int rights_needed(const struct endpoint *endpoint)
{
	/* The answer to a read of iWARP is a write of the peer into the reader's buffer (RFC 5040, 5.2). */
	bool written_to = cm_is_needed(endpoint) && endpoint->run->document.request.op == OP_READ;
	if (!is_target(endpoint))
		return IBV_ACCESS_LOCAL_WRITE | (written_to ? (unsigned int)IBV_ACCESS_REMOTE_WRITE : 0);
	switch (endpoint->run->document.request.op) {
	case OP_WRITE:
	case OP_WRITE_IMM:
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	case OP_READ:
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	default:
		return IBV_ACCESS_LOCAL_WRITE;
	}
}

/* Longer messages would fail with the first request. The evidence has sizes and limit, so the verdict says it itself.
 */
static int check_message_size(struct endpoint *endpoint, const struct layout *layout, struct error *error)
{
	int64_t limit = endpoint->port_attr.max_msg_sz, asked = (int64_t)layout_largest(layout);
	if (!limit || asked <= limit)
		return 0;
	return error_say(error, -EMSGSIZE,
	        "%s/%d takes messages of at most %" PRId64 " bytes (max_msg_sz), not of %" PRId64,
	        endpoint->facts->device, endpoint->port, limit, asked);
}

/* ---- protection domains and completion queues ---- */

static int create_pd(struct endpoint *endpoint, uint32_t index, struct error *error)
{
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "ibv_alloc_pd");
	errno = 0;
	endpoint->pds[index] = ibv_alloc_pd(endpoint->context);
	int result = resource_end(endpoint->run, step, endpoint->pds[index] ? 0 : -(errno ? errno : EIO));
	resource_limit(step, "max_pd", index + 1, endpoint->device_attr.max_pd);
	return result ? FAIL(result, "%s: ibv_alloc_pd", endpoint->facts->device) : 0;
}

static int create_channel(struct endpoint *endpoint, struct error *error)
{
	const char *wait = endpoint->run->document.request.wait;
	if (is_target(endpoint) || !wait || strcmp(wait, "event") != 0)
		return 0;
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "ibv_create_comp_channel");
	errno = 0;
	endpoint->channel = ibv_create_comp_channel(endpoint->context);
	int result = resource_end(endpoint->run, step, endpoint->channel ? 0 : -(errno ? errno : EIO));
	if (result)
		return FAIL(result, "%s: ibv_create_comp_channel", endpoint->facts->device);
	int flags = fcntl(endpoint->channel->fd, F_GETFL);
	fcntl(endpoint->channel->fd, F_SETFL, flags | O_NONBLOCK);
	return 0;
}

static int create_cq(struct endpoint *endpoint, uint32_t index, int entries, struct error *error)
{
	struct probe_run *run = endpoint->run;
	if (!index)
		observer_before(&endpoint->observer);
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_create_cq");
	errno = 0;
	endpoint->cqs[index] = ibv_create_cq(endpoint->context, entries, NULL, endpoint->channel, 0);
	int result = resource_end(run, step, endpoint->cqs[index] ? 0 : -(errno ? errno : EIO));
	resource_limit(step, "max_cqe", entries, endpoint->device_attr.max_cqe);
	if (result) {
		resource_detail(run, step, "%d entr%s", entries, entries == 1 ? "y" : "ies");
		return FAIL(result, "%s: ibv_create_cq with %d entr%s", endpoint->facts->device, entries,
		        entries == 1 ? "y" : "ies");
	}
	resource_detail(run, step, "%d entr%s, got %d", entries, entries == 1 ? "y" : "ies", endpoint->cqs[index]->cqe);
	if (index)
		return 0;
	endpoint->facts->cqe_asked = num(entries);
	endpoint->facts->cqe = num(endpoint->cqs[0]->cqe);
	observer_after_cq(&endpoint->observer, endpoint->cqs[0]);
	return 0;
}

static uint32_t send_depth(const struct endpoint *endpoint, const struct layout *layout)
{
	struct num asked = endpoint->run->document.request.depth;
	uint32_t needed = layout_outstanding(layout);
	return asked.known ? (uint32_t)asked.value : needed > DEPTH ? needed : DEPTH;
}

static int create_pds_and_cqs(struct endpoint *endpoint, const struct layout *layout, struct error *error)
{
	const struct deviation *deviation = &endpoint->run->deviation;
	uint32_t lanes = (endpoint->qp_count + endpoint->cq_count - 1) / endpoint->cq_count;
	uint32_t entries = (send_depth(endpoint, layout) + endpoint->receives) * lanes;
	int result = 0;
	for (uint32_t i = 0; i < endpoint->pd_count && !result; i++)
		result = create_pd(endpoint, i, error);
	if (!result && deviation->buffer_in_other_pd && !is_target(endpoint))
		result = create_pd(endpoint, endpoint->pd_count, error);
	result = result ? result : create_channel(endpoint, error);
	if (deviation->cq_entries && !is_target(endpoint))
		entries = deviation->cq_entries;
	for (uint32_t i = 0; i < endpoint->cq_count && !result; i++)
		result = create_cq(endpoint, i, (int)entries, error);
	return result;
}

/* ---- memory regions ---- */

static unsigned int region_access(const struct endpoint *endpoint)
{
	const char *registration = endpoint->run->document.request.registration;
	unsigned int access = rights_needed(endpoint);
	if (registration && !strcmp(registration, "odp"))
		access |= IBV_ACCESS_ON_DEMAND;
	return is_target(endpoint) ? access & ~endpoint->run->deviation.target_mr_lacks : access;
}

static int register_buffer(struct endpoint *endpoint, uint32_t index, struct error *error)
{
	struct probe_run *run = endpoint->run;
	struct buffer *buffer = &endpoint->buffer;
	unsigned int access = region_access(endpoint);
	bool elsewhere = run->deviation.buffer_in_other_pd && !is_target(endpoint);
	struct ibv_pd *pd = endpoint->pds[elsewhere ? endpoint->pd_count : index];
	/* Also of a registration that fails: it is what was asked for. */
	endpoint->facts->mr_access = access_words(run->arena, access);
	endpoint->facts->buffer_bytes = num((int64_t)buffer->size);
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_reg_mr");
	resource_detail(run, step, "%zu bytes, memlock %" PRId64 ", access %s", buffer->size,
	        endpoint->facts->memlock_soft_bytes.value, endpoint->facts->mr_access);
	run_extend(run, buffer->size);
	errno = 0;
	endpoint->mrs[index] = ibv_reg_mr(pd, buffer->memory, buffer->size, access);
	int result = resource_end(run, step, endpoint->mrs[index] ? 0 : -(errno ? errno : EIO));
	resource_limit(
	        step, "max_mr_size", (int64_t)buffer->size, (int64_t)(endpoint->device_attr.max_mr_size & INT64_MAX));
	if (result)
		return FAIL(result, "%s: ibv_reg_mr of %zu bytes", endpoint->facts->device, buffer->size);
	if (index)
		return 0;
	endpoint->facts->one_pd = flag(!elsewhere);
	endpoint->facts->buffer_address = num((int64_t)(uintptr_t)buffer->memory);
	endpoint->facts->lkey = num(endpoint->mrs[0]->lkey);
	endpoint->facts->rkey = num(endpoint->mrs[0]->rkey);
	return 0;
}

/* ---- queue pairs ---- */

static struct ibv_qp_init_attr_ex qp_attributes(const struct endpoint *endpoint, uint32_t lane, uint32_t depth)
{
	const struct probe_request *request = &endpoint->run->document.request;
	struct ibv_cq *cq = endpoint->cqs[lane % endpoint->cq_count];
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = depth,
		        .max_recv_wr = endpoint->receives,
		        .max_send_sge = (uint32_t)request->sges.value,
		        .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = endpoint->pds[lane % endpoint->pd_count],
	};
	if (is_target(endpoint))
		attr.cap.max_send_sge = 1;
	else
		attr.sq_sig_all = request->sq_sig_all == FLAG_YES;
	return attr;
}

/* The plain call where nothing else is asked for: not every provider has the extended one. */
static struct ibv_qp *make_qp(struct endpoint *endpoint, struct ibv_qp_init_attr_ex *attr)
{
	if (!is_target(endpoint) && post_by_wr_api(&endpoint->run->document.request)) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr->send_ops_flags = post_send_ops(&endpoint->run->document.request);
		return ibv_create_qp_ex(endpoint->context, attr);
	}
	struct ibv_qp_init_attr plain = { .send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all };
	struct ibv_qp *qp = ibv_create_qp(attr->pd, &plain);
	attr->cap = plain.cap;
	return qp;
}

/* The device tells no limit of inline data, so it is looked for: the most that a queue pair can be made with. */
static int64_t find_inline_limit(struct endpoint *endpoint, struct ibv_qp_init_attr_ex attr)
{
	int64_t fits = 0, fails = attr.cap.max_inline_data;
	while (fails - fits > 1) {
		int64_t half = (fits + fails) / 2;
		struct ibv_qp_init_attr_ex trial = attr;
		trial.cap.max_inline_data = (uint32_t)half;
		struct ibv_qp *qp = make_qp(endpoint, &trial);
		if (qp)
			ibv_destroy_qp(qp);
		*(qp ? &fits : &fails) = half;
	}
	return fits;
}

static void explain_refusal(
        struct endpoint *endpoint, struct resource_step *step, const struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_device_attr *limits = &endpoint->device_attr;
	resource_limit(step, "max_qp_wr", attr->cap.max_send_wr, limits->max_qp_wr);
	resource_limit(step, "max_sge", attr->cap.max_send_sge, limits->max_sge);
	resource_limit(step, "max_qp", endpoint->qp_count, limits->max_qp);
	if (step && !step->limit_name && attr->cap.max_inline_data) {
		run_enter(endpoint->run, "looking for the limit of inline data", STEP_LIMIT_MS);
		int64_t limit = find_inline_limit(endpoint, *attr);
		run_leave(endpoint->run);
		if (limit)
			resource_limit(step, "max_inline_data", attr->cap.max_inline_data, limit);
	}
}

static int note_qp(struct endpoint *endpoint, struct ibv_qp *qp)
{
	struct probe_run *run = endpoint->run;
	uint32_t random = 0;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint32_t)run_now(run);
	struct queue_pair_facts *facts = list_add(run->arena, &endpoint->facts->queue_pairs);
	if (!facts)
		return -ENOMEM;
	*facts = (struct queue_pair_facts){ .qpn = num(qp->qp_num), .psn = num(random & 0xffffff) };
	return 0;
}

static int create_qp(struct endpoint *endpoint, uint32_t lane, const struct layout *layout, struct error *error)
{
	struct probe_run *run = endpoint->run;
	struct endpoint_facts *facts = endpoint->facts;
	struct ibv_qp_init_attr_ex attr = qp_attributes(endpoint, lane, send_depth(endpoint, layout));
	if (run->document.request.inline_data == FLAG_YES && !is_target(endpoint))
		attr.cap.max_inline_data = (uint32_t)layout_largest(layout);
	struct ibv_qp_init_attr_ex asked = attr;
	if (!lane)
		observer_before(&endpoint->observer);
	struct resource_step *step = resource_begin(run, endpoint->side, "ibv_create_qp");
	resource_detail(run, step, "RC, %u send and %u receive request%s, %u SGE%s, %u bytes inline",
	        attr.cap.max_send_wr, attr.cap.max_recv_wr, plural(attr.cap.max_recv_wr), attr.cap.max_send_sge,
	        plural(attr.cap.max_send_sge), attr.cap.max_inline_data);
	errno = 0;
	struct ibv_qp *qp = endpoint->qps[lane] = make_qp(endpoint, &attr);
	int result = resource_end(run, step, qp ? 0 : -(errno ? errno : EIO));
	if (!qp) {
		explain_refusal(endpoint, step, &asked);
		return FAIL(result, "%s: ibv_create_qp", facts->device);
	}
	result = note_qp(endpoint, qp);
	if (result || lane)
		return result;
	observer_after_qp(&endpoint->observer, qp);
	facts->qpn = facts->queue_pairs.items[0]->qpn;
	facts->psn = facts->queue_pairs.items[0]->psn;
	facts->send_wr_asked = num(asked.cap.max_send_wr);
	facts->send_wr = num(attr.cap.max_send_wr);
	if (asked.cap.max_inline_data) {
		facts->inline_asked = num(asked.cap.max_inline_data);
		facts->inline_bytes = num(attr.cap.max_inline_data);
	}
	return 0;
}

static int to_init(struct endpoint *endpoint, struct ibv_qp *qp, struct error *error)
{
	unsigned int access = rights_needed(endpoint) & ~(unsigned int)IBV_ACCESS_LOCAL_WRITE;
	if (is_target(endpoint))
		access &= ~endpoint->run->deviation.target_qp_lacks;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = endpoint->port, .qp_access_flags = access };
	struct transition *transition = transition_begin(endpoint->run, endpoint->side, "INIT");
	int result = -ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	transition_end(endpoint->run, transition, result);
	if (result)
		return FAIL(result, "%s: queue pair to INIT", endpoint->facts->device);
	endpoint->facts->qp_access = access_words(endpoint->run->arena, access);
	return 0;
}

/* ---- */

/* The node asked for: the adapter's, or a number. */
static struct num wanted_node(const struct endpoint *endpoint, bool *strict)
{
	const char *asked = endpoint->run->document.request.buffer_node;
	*strict = asked && strcmp(asked, "nic") != 0;
	return *strict ? parse_num(asked, 10) : endpoint->facts->numa_node;
}

static int make_buffer(struct endpoint *endpoint, const struct layout *layout, struct error *error)
{
	bool strict;
	struct num node = wanted_node(endpoint, &strict);
	int result = buffer_allocate(endpoint->run, endpoint->side, &endpoint->buffer, layout->bytes, node, strict);
	if (result)
		return FAIL(result, "a buffer of %zu bytes", layout->bytes);
	for (uint32_t i = 0; i < endpoint->pd_count && !result; i++)
		result = register_buffer(endpoint, i, error);
	if (!result && endpoint->side == SIDE_LOCAL)
		buffer_locate(endpoint->run, &endpoint->buffer, node);
	return result;
}

static void plan(struct endpoint *endpoint, const struct layout *layout)
{
	const struct probe_request *request = &endpoint->run->document.request;
	bool target = is_target(endpoint);
	uint32_t outstanding = layout_outstanding(layout);
	endpoint->qp_count = layout->lanes;
	endpoint->cq_count = target ? 1 : (uint32_t)request->cqs.value;
	endpoint->pd_count = target ? 1 : (uint32_t)request->pds.value;
	endpoint->receives = outstanding > DEPTH ? outstanding : DEPTH;
	observer_init(&endpoint->observer, endpoint->context, endpoint->facts->driver);
	endpoint->observer.signals_all = endpoint->run->document.request.sq_sig_all == FLAG_YES;
	if (endpoint->cq_count > 1)
		observer_give_up(&endpoint->observer, "there are two completion queues, and one is all it can watch");
}

/*
 * iWARP has no write with immediate data, and no "receiver not ready": a send without a receive ends the connection,
 * and completions of the sender do not wait for the receiver. So all receives have to be there from the beginning.
 */
static int plan_for_iwarp(struct endpoint *endpoint, const struct layout *layout, struct error *error)
{
	enum { RECEIVES_LIMIT = 4096 };
	int op = endpoint->run->document.request.op;
	if (!cm_is_needed(endpoint))
		return 0;
	if (op == OP_WRITE_IMM) {
		struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "operation");
		resource_detail(endpoint->run, step, "write-imm");
		resource_end(endpoint->run, step, -EOPNOTSUPP);
		return error_say(
		        error, -EOPNOTSUPP, "%s: iWARP has no write with immediate data", endpoint->facts->device);
	}
	if (op != OP_SEND)
		return 0;
	uint32_t total = layout_total(layout), limit = (uint32_t)endpoint->device_attr.max_qp_wr;
	limit = limit < RECEIVES_LIMIT ? limit : RECEIVES_LIMIT;
	if (total > limit)
		return error_say(error, -E2BIG,
		        "%s: iWARP sends need all their receives posted beforehand, and there is room for %u of %u",
		        endpoint->facts->device, limit, total);
	if (is_target(endpoint) && total > endpoint->receives)
		endpoint->receives = total;
	return 0;
}

int endpoint_create(struct endpoint *endpoint, const struct layout *layout, struct error *error)
{
	if (endpoint->side == SIDE_LOCAL)
		buffer_affinity(endpoint->run, endpoint->side, endpoint->facts->numa_node);
	plan(endpoint, layout);
	int result = check_message_size(endpoint, layout, error);
	result = result ? result : plan_for_iwarp(endpoint, layout, error);
	result = result ? result : create_pds_and_cqs(endpoint, layout, error);
	result = result ? result : make_buffer(endpoint, layout, error);
	for (uint32_t lane = 0; lane < endpoint->qp_count && !result; lane++)
		result = create_qp(endpoint, lane, layout, error);
	for (uint32_t lane = 0; lane < endpoint->qp_count && !result; lane++)
		result = to_init(endpoint, endpoint->qps[lane], error);
	return result;
}

/* ---- closing ---- */

static void destroyed(struct endpoint *endpoint, const char *what, int error)
{
	run_leave(endpoint->run);
	if (error)
		report_missing(&endpoint->run->report, what, endpoint->facts->device ? endpoint->facts->device : "host",
		        error > 0 ? -error : -errno, NULL);
}

#define DESTROY(call, object)                                                                                          \
	do {                                                                                                           \
		if (object) {                                                                                          \
			run_enter(                                                                                     \
			        endpoint->run, #call, endpoint->run->deviation.never_acks ? IDLE_MS : STEP_LIMIT_MS);  \
			destroyed(endpoint, #call, call(object));                                                      \
			(object) = NULL;                                                                               \
		}                                                                                                      \
	} while (0)

/* Where it is known that destroying a queue will wait for ever. */
enum { IDLE_MS = 2000 };

static void close_queue_pairs(struct endpoint *endpoint)
{
	cm_close(endpoint);
	observer_close(&endpoint->observer);
	for (size_t i = 0; i < ARRAY_SIZE(endpoint->qps); i++)
		DESTROY(ibv_destroy_qp, endpoint->qps[i]);
	for (size_t i = 0; i < ARRAY_SIZE(endpoint->mrs); i++)
		DESTROY(ibv_dereg_mr, endpoint->mrs[i]);
}

void endpoint_vanish(struct endpoint *endpoint)
{
	close_queue_pairs(endpoint);
	endpoint->facts->alive = FLAG_NO;
}

void endpoint_close(struct endpoint *endpoint)
{
	close_queue_pairs(endpoint);
	for (size_t i = 0; i < ARRAY_SIZE(endpoint->cqs); i++)
		DESTROY(ibv_destroy_cq, endpoint->cqs[i]);
	DESTROY(ibv_destroy_comp_channel, endpoint->channel);
	for (size_t i = 0; i < ARRAY_SIZE(endpoint->pds); i++)
		DESTROY(ibv_dealloc_pd, endpoint->pds[i]);
	DESTROY(ibv_close_device, endpoint->context);
	buffer_free(&endpoint->buffer);
	origin_close(endpoint->origin);
	endpoint->origin = NULL;
}
