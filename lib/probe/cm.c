/* SPDX-License-Identifier: MIT */
#include "probe/cm.h"

#include "base/cleanup.h"
#include "gid/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENT_MS = 5000, SLICE_MS = 20, BACKLOG = 16 };

struct cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *ids[PROBE_QPS_LIMIT]; /* by queue pair */
};

bool cm_is_needed(const struct endpoint *endpoint)
{
	return endpoint->context && endpoint->context->device->transport_type == IBV_TRANSPORT_IWARP;
}

/* ---- addresses ---- */

union cm_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static void fill_address(union cm_address *address, const uint8_t gid[static 16], uint16_t port)
{
	memset(address, 0, sizeof(*address));
	if (gid_is_ipv4(gid)) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons(port);
		memcpy(&address->v4.sin_addr, gid + 12, 4);
		return;
	}
	address->v6.sin6_family = AF_INET6;
	address->v6.sin6_port = htons(port);
	memcpy(&address->v6.sin6_addr, gid, 16);
}

/* ---- events ---- */

static int open_channel(struct endpoint *endpoint, struct error *error)
{
	if (endpoint->cm)
		return 0;
	struct cm *cm = endpoint->cm = calloc(1, sizeof(*cm));
	if (!cm)
		return error_set(error, -ENOMEM, "rdma_cm");
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "rdma_create_event_channel");
	errno = 0;
	cm->channel = rdma_create_event_channel();
	int result = resource_end(endpoint->run, step, cm->channel ? 0 : -(errno ? errno : EIO));
	if (result)
		return error_set(error, result, "%s: rdma_create_event_channel", endpoint->facts->device);
	int flags = fcntl(cm->channel->fd, F_GETFL);
	fcntl(cm->channel->fd, F_SETFL, flags | O_NONBLOCK);
	return 0;
}

static int wait_readable(const struct endpoint *endpoint)
{
	int64_t deadline = run_now(endpoint->run) + EVENT_MS * INT64_C(1000000);
	struct pollfd entry = { .fd = endpoint->cm->channel->fd, .events = POLLIN };
	int ready;
	while ((ready = poll(&entry, 1, SLICE_MS)) <= 0) {
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (run_stopped(endpoint->run))
			return -EINTR;
		if (run_now(endpoint->run) >= deadline)
			return -ETIMEDOUT;
	}
	return 0;
}

/* Why there is another event than the one that is waited for. */
static int event_errno(const struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return -ECONNREFUSED;
	if (event->status)
		return event->status < 0 ? event->status : -event->status;
	return event->event == RDMA_CM_EVENT_UNREACHABLE      ? -EHOSTUNREACH
	       : event->event == RDMA_CM_EVENT_DISCONNECTED   ? -ECONNRESET
	       : event->event == RDMA_CM_EVENT_DEVICE_REMOVAL ? -ENODEV
	                                                      : -EPROTO;
}

/* The next event, which has to be `wanted`; `id`: whose it is, NULL: does not matter. */
static int await_event(const struct endpoint *endpoint, enum rdma_cm_event_type wanted, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;
	int result = wait_readable(endpoint);
	if (result)
		return result;
	if (rdma_get_cm_event(endpoint->cm->channel, &event))
		return -errno;
	result = event->event == wanted ? 0 : event_errno(event);
	if (id)
		*id = event->id;
	rdma_ack_cm_event(event);
	return result;
}

/* ---- steps, each recorded ---- */

static int step_end(
        struct endpoint *endpoint, struct resource_step *step, const char *name, int result, struct error *error)
{
	resource_end(endpoint->run, step, result);
	return result ? error_set(error, result, "%s: %s", endpoint->facts->device, name) : 0;
}

static int call_result(int returned)
{
	return returned ? -(errno ? errno : EIO) : 0;
}

static struct rdma_conn_param parameters(const struct endpoint *endpoint, uint32_t lane)
{
	return (struct rdma_conn_param){ .responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = endpoint->qps[lane]->qp_num };
}

int cm_listen(struct endpoint *endpoint, const uint8_t *near, struct error *error)
{
	struct endpoint_facts *facts = endpoint->facts;
	union cm_address address;
	uint8_t gid[16];
	char text[IP_TEXT_SIZE];
	int result = open_channel(endpoint, error);
	if (result)
		return result;
	if (!survey_address(endpoint->run->survey, facts->device, endpoint->port, near, gid))
		return error_say(error, -EADDRNOTAVAIL,
		        "%s: no netdev of the port has an IP address, which iWARP needs to connect", facts->device);
	struct cm *cm = endpoint->cm;
	fill_address(&address, gid, 0);
	gid_format_ip(gid, text);
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "rdma_listen");
	resource_detail(endpoint->run, step, "%s", text);
	errno = 0;
	result = call_result(rdma_create_id(cm->channel, &cm->listener, NULL, RDMA_PS_TCP));
	result = result ? result : call_result(rdma_bind_addr(cm->listener, &address.any));
	result = result ? result : call_result(rdma_listen(cm->listener, BACKLOG));
	if (!result) {
		facts->cm_address = arena_strdup(endpoint->run->arena, text);
		facts->cm_port = num(ntohs(rdma_get_src_port(cm->listener)));
	}
	return step_end(endpoint, step, "rdma_listen", result, error);
}

/* The address that packets leave from: on the netdev of the port, so that the kernel takes this device. */
static int resolve(struct endpoint *endpoint, uint32_t lane, const struct endpoint_facts *other, struct error *error)
{
	struct cm *cm = endpoint->cm;
	union cm_address from, to;
	uint8_t near[16], own[16];
	if (!other->cm_address || !other->cm_port.known || gid_parse_ip(other->cm_address, near))
		return error_say(error, -EPROTO, "the other end does not say where it listens for iWARP connections");
	fill_address(&to, near, (uint16_t)other->cm_port.value);
	bool has_own = survey_address(endpoint->run->survey, endpoint->facts->device, endpoint->port, NULL, own) &&
	               gid_is_ipv4(own) == gid_is_ipv4(near);
	fill_address(&from, own, 0);
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "rdma_resolve_addr");
	resource_detail(endpoint->run, step, "%s", other->cm_address);
	errno = 0;
	int result = call_result(rdma_create_id(cm->channel, &cm->ids[lane], NULL, RDMA_PS_TCP));
	result = result ? result
	                : call_result(
	                          rdma_resolve_addr(cm->ids[lane], has_own ? &from.any : NULL, &to.any, EVENT_MS / 2));
	result = result ? result : await_event(endpoint, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	result = step_end(endpoint, step, "rdma_resolve_addr", result, error);
	if (result)
		return result;
	step = resource_begin(endpoint->run, endpoint->side, "rdma_resolve_route");
	errno = 0;
	result = call_result(rdma_resolve_route(cm->ids[lane], EVENT_MS / 2));
	result = result ? result : await_event(endpoint, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
	return step_end(endpoint, step, "rdma_resolve_route", result, error);
}

static int begin_connect(
        struct endpoint *endpoint, uint32_t lane, const struct endpoint_facts *other, struct error *error)
{
	int result = open_channel(endpoint, error);
	result = result ? result : resolve(endpoint, lane, other, error);
	if (result)
		return result;
	struct rdma_conn_param param = parameters(endpoint, lane);
	errno = 0;
	/* Some drivers make the TCP connection before the call returns. */
	run_enter(endpoint->run, "rdma_connect", STEP_LIMIT_MS);
	result = call_result(rdma_connect(endpoint->cm->ids[lane], &param));
	run_leave(endpoint->run);
	return result ? error_set(error, result, "%s: rdma_connect", endpoint->facts->device) : 0;
}

/* The kernel has moved the queue pair; the library that made it has to be told nothing. */
static int await_established(struct endpoint *endpoint, const char *name, struct error *error)
{
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, name);
	int result = await_event(endpoint, RDMA_CM_EVENT_ESTABLISHED, NULL);
	result = step_end(endpoint, step, name, result, error);
	return result ? result
	              : transition_end(endpoint->run, transition_begin(endpoint->run, endpoint->side, "RTS"), 0);
}

int cm_connect(struct endpoint *endpoint, const struct endpoint_facts *other, struct error *error)
{
	int result = 0;
	for (uint32_t lane = 0; lane < endpoint->qp_count && !result; lane++) {
		result = begin_connect(endpoint, lane, other, error);
		result = result ? result : await_established(endpoint, "rdma_connect", error);
	}
	return result;
}

static int accept_one(struct endpoint *endpoint, uint32_t lane, struct error *error)
{
	struct cm *cm = endpoint->cm;
	struct resource_step *step = resource_begin(endpoint->run, endpoint->side, "rdma_get_request");
	int result = await_event(endpoint, RDMA_CM_EVENT_CONNECT_REQUEST, &cm->ids[lane]);
	result = step_end(endpoint, step, "waiting for the iWARP connection", result, error);
	if (result) {
		cm->ids[lane] = NULL;
		return result;
	}
	struct rdma_conn_param param = parameters(endpoint, lane);
	errno = 0;
	result = call_result(rdma_accept(cm->ids[lane], &param));
	return result ? error_set(error, result, "%s: rdma_accept", endpoint->facts->device) : 0;
}

int cm_accept(struct endpoint *endpoint, struct error *error)
{
	int result = 0;
	for (uint32_t lane = 0; lane < endpoint->qp_count && !result; lane++) {
		result = accept_one(endpoint, lane, error);
		result = result ? result : await_established(endpoint, "rdma_accept", error);
	}
	return result;
}

int cm_connect_pair(struct endpoint *initiator, struct endpoint *target, struct error *error)
{
	int result = cm_listen(target, NULL, error);
	for (uint32_t lane = 0; lane < target->qp_count && !result; lane++) {
		result = begin_connect(initiator, lane, target->facts, error);
		result = result ? result : accept_one(target, lane, error);
		result = result ? result : await_established(initiator, "rdma_connect", error);
		result = result ? result : await_established(target, "rdma_accept", error);
	}
	return result;
}

void cm_close(struct endpoint *endpoint)
{
	struct cm *cm = endpoint->cm;
	if (!cm)
		return;
	run_enter(endpoint->run, "rdma_disconnect", STEP_LIMIT_MS);
	for (size_t lane = 0; lane < ARRAY_SIZE(cm->ids); lane++) {
		if (!cm->ids[lane])
			continue;
		rdma_disconnect(cm->ids[lane]);
		rdma_destroy_id(cm->ids[lane]);
	}
	if (cm->listener)
		rdma_destroy_id(cm->listener);
	if (cm->channel)
		rdma_destroy_event_channel(cm->channel);
	run_leave(endpoint->run);
	free(cm);
	endpoint->cm = NULL;
}
