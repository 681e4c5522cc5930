/* SPDX-License-Identifier: MIT */
/* What of the two ends' settings cannot work together: GIDs, MTU, rights. */
#include "verdict/judge.h"

#include <stdarg.h>
#include <string.h>

/* A conflict is a fact also when there is no memory left to describe it. */
__attribute__((format(printf, 3, 4))) static const char *describe(
        const struct judge *judge, const char *otherwise, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = arena_vprintf(judge->arena, format, args);
	va_end(args);
	return text ? text : otherwise;
}

enum gid_kind gid_kind(const char *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	uint8_t bytes[16];
	if (!gid || parse_gid(gid, bytes))
		return KIND_UNKNOWN;
	if (gid_is_zero(bytes))
		return KIND_EMPTY;
	if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80)
		return KIND_LINK_LOCAL;
	return !memcmp(bytes, mapped, sizeof(mapped)) ? KIND_IPV4 : KIND_IPV6;
}

bool has_empty_gid(const struct endpoint_facts *end)
{
	return gid_kind(end->gid) == KIND_EMPTY || (!end->gid && end->gid_empty == FLAG_YES);
}

static bool is_infiniband(const struct endpoint_facts *end)
{
	return text_is(end->link_layer, "InfiniBand");
}

/* "IB/RoCE v1" is sysfs's word for what is "RoCE v1" on Ethernet. */
static const char *type_word(const char *type)
{
	return strncmp(type, "IB/", 3) ? type : type + 3;
}

const char *address_conflict(const struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	/* Inside an InfiniBand subnet packets go by LID; the GID's scope says nothing. */
	if (is_infiniband(local) || is_infiniband(remote))
		return num_is(local->lid, 0)    ? "the local port has no LID: no subnet manager has configured it"
		       : num_is(remote->lid, 0) ? "the peer's port has no LID: no subnet manager has configured it"
		                                : NULL;
	enum gid_kind here = gid_kind(local->gid), there = gid_kind(remote->gid);
	if (has_empty_gid(local) || has_empty_gid(remote))
		return has_empty_gid(local) ? "the local GID is empty" : "the peer's GID is empty";
	if (here == KIND_UNKNOWN || there == KIND_UNKNOWN || here == there)
		return NULL;
	if (here == KIND_LINK_LOCAL || there == KIND_LINK_LOCAL)
		return here == KIND_LINK_LOCAL ? "the local GID is link-local and the peer's is not"
		                               : "the peer's GID is link-local and the local one is not";
	return here == KIND_IPV4 ? "the local GID is IPv4 and the peer's is IPv6"
	                         : "the local GID is IPv6 and the peer's is IPv4";
}

bool needs_router(const struct endpoint_facts *end)
{
	return !is_infiniband(end) && end->gid_type && !strcmp(type_word(end->gid_type), "RoCE v1") &&
	       end->route_gateway;
}

const char *gid_conflict(const struct judge *judge)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	bool ethernet = !is_infiniband(local) && !is_infiniband(remote);
	bool typed = ethernet && local->gid_type && remote->gid_type;
	if (typed && strcmp(type_word(local->gid_type), type_word(remote->gid_type)) != 0)
		return describe(judge, "the GID types differ", "the GID types differ: %s here, %s there",
		        local->gid_type, remote->gid_type);
	const struct endpoint_facts *routed = needs_router(local) ? local : needs_router(remote) ? remote : NULL;
	if (ethernet && routed)
		return describe(judge, "RoCE v1 does not pass routers",
		        "the %s GID is of RoCE v1, which routers do not pass on, and the way to the other end goes by "
		        "the gateway %s",
		        routed == local ? "local" : "peer's", routed->route_gateway);
	return address_conflict(judge);
}

/* Smaller of two numbers of which either may be unknown. */
static struct num smaller(struct num a, struct num b)
{
	if (!a.known || !b.known)
		return a.known ? a : b;
	return a.value < b.value ? a : b;
}

static struct num path_mtu(const struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	return evidence->local.path_mtu.known ? evidence->local.path_mtu : evidence->remote.path_mtu;
}

static const char *path_conflict(
        const struct judge *judge, struct num path, const struct endpoint_facts *ends[2], const char *const words[2])
{
	/* RoCE v2 over IPv4: IP 20, UDP 8, BTH 12, RETH 16, ICRC 4 bytes above the payload of a packet. */
	enum { HEADERS = 60 };
	struct num active = smaller(ends[0]->active_mtu, ends[1]->active_mtu);
	if (!path.known)
		return NULL;
	if (active.known && path.value > active.value)
		return describe(judge, "the path MTU is too large",
		        "the path MTU is %lld, and the active MTU of the %s port is %lld", (long long)path.value,
		        words[!num_is(ends[0]->active_mtu, active.value)], (long long)active.value);
	struct num frame = smaller(ends[0]->netdev_mtu, ends[1]->netdev_mtu);
	if (frame.known && !is_infiniband(ends[0]) && difference(frame.value, path.value) < HEADERS)
		return describe(judge, "the path MTU is too large",
		        "the path MTU is %lld, and the MTU of the %s netdev is %lld", (long long)path.value,
		        words[!num_is(ends[0]->netdev_mtu, frame.value)], (long long)frame.value);
	return NULL;
}

static const char *const end_words[] = { "local", "peer's" };

const char *mtu_conflict(const struct judge *judge)
{
	const struct endpoint_facts *ends[] = { &judge->evidence->local, &judge->evidence->remote };
	return path_conflict(judge, path_mtu(judge), ends, end_words);
}

const char *own_mtu_conflict(const struct judge *judge, int side)
{
	const struct endpoint_facts *end = endpoint(judge, side), *ends[] = { end, end };
	const char *word = end_words[side == SIDE_REMOTE], *words[] = { word, word };
	return path_conflict(judge, end->path_mtu, ends, words);
}

/* Requests that are not listed one by one are counted by their size. */
static bool passed_unlisted(const struct judge *judge, int64_t bytes)
{
	list_each(statistic, &judge->evidence->statistics.stages)
		if (text_is(statistic->stage, "total") && statistic->bytes.known && statistic->bytes.value >= bytes &&
		        statistic->samples.known && statistic->samples.value > 0)
			return true;
	list_each(payload, &judge->evidence->payloads)
		if (payload->bytes.known && payload->bytes.value >= bytes && payload->right.known &&
		        payload->right.value > 0)
			return true;
	return false;
}

/* A longer message has more packets, but no larger ones. */
static bool has_passed(const struct judge *judge, int64_t bytes)
{
	list_each(other, &judge->evidence->operations)
		if (is_success(other) && other->bytes.known && other->bytes.value >= bytes)
			return true;
	return passed_unlisted(judge, bytes);
}

/*
 * A packet of this many bytes finds no MTU too small for it: 256 is the smallest that RDMA has; over Ethernet no link
 * that may carry IPv6 has one below 1280 (RFC 8200), unless somebody set one by hand that the record shows.
 */
static int64_t fits_everywhere(const struct judge *judge)
{
	enum { SMALLEST_RDMA = 256, SMALLEST_ETHERNET = 1280, HEADERS = 80 };
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	struct num frame = smaller(local->netdev_mtu, remote->netdev_mtu);
	bool ethernet = text_is(local->link_layer, "Ethernet");
	return ethernet && (!frame.known || frame.value >= SMALLEST_ETHERNET) ? SMALLEST_ETHERNET - HEADERS
	                                                                      : SMALLEST_RDMA;
}

bool only_large_fails(const struct judge *judge, const struct operation *operation)
{
	struct num mtu = smaller(
	        path_mtu(judge), smaller(judge->evidence->local.active_mtu, judge->evidence->remote.active_mtu));
	bool arrived = payload_is_right(operation) || operation->remote_landed_ns.known;
	int64_t fits = fits_everywhere(judge);
	if (!operation->bytes.known || arrived ||
	        operation->bytes.value <= (mtu.known && mtu.value < fits ? mtu.value : fits))
		return false;
	bool packets = mtu.known && mtu.value < operation->bytes.value;
	if (has_passed(judge, packets ? mtu.value : operation->bytes.value))
		return false;
	list_each(other, &judge->evidence->operations)
		if (is_success(other) && other->bytes.known)
			return true;
	return false;
}

bool is_beyond_frame(const struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *local = &judge->evidence->local, *remote = &judge->evidence->remote;
	struct num packet = smaller(operation->bytes, path_mtu(judge));
	struct num frame = smaller(local->netdev_mtu, remote->netdev_mtu);
	bool arrived = payload_is_right(operation) || operation->remote_landed_ns.known;
	return operation->bytes.known && packet.known && frame.known && !arrived && !is_infiniband(local) &&
	       packet.value > frame.value && mtu_conflict(judge);
}

/* Of a request without bytes the peer's adapter does not look at the key (IBTA, C9-88). */
bool is_empty(const struct operation *operation)
{
	return num_is(operation->bytes, 0);
}

/* The right of the target that this operation needs; NULL: none, or nobody knows. */
const char *needed_right(int opcode)
{
	switch (opcode) {
	case OP_WRITE:
	case OP_WRITE_IMM:
		return "remote-write";
	case OP_READ:
		return "remote-read";
	default:
		return NULL;
	}
}

bool lacks_queue_right(const struct judge *judge, const struct operation *operation)
{
	const char *right = needed_right(operation->opcode), *given = judge->evidence->remote.qp_access;
	return right && given && !text_has(given, right);
}

const char *missing_right(const struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *target = &judge->evidence->remote;
	const char *right = needed_right(operation->opcode);
	if (!right)
		return NULL;
	if (target->mr_access && !text_has(target->mr_access, right) && !is_empty(operation))
		return describe(
		        judge, "the peer did not give a right", "the peer's buffer was registered without %s", right);
	if (lacks_queue_right(judge, operation))
		return describe(
		        judge, "the peer did not give a right", "the peer's queue pair was set up without %s", right);
	return NULL;
}

static bool both_differ(struct num a, struct num b)
{
	return a.known && b.known && a.value != b.value;
}

/* With several domains there are several keys, all of them right. */
bool has_one_domain(const struct judge *judge)
{
	return !judge->request->pds.known || judge->request->pds.value == 1;
}

/* A send goes where the peer's receive says: key and address do not matter. */
bool differs_in_key(const struct judge *judge, const struct operation *operation)
{
	return opcode_of(judge, operation) != OP_SEND && !is_empty(operation) && has_one_domain(judge) &&
	       both_differ(operation->rkey, judge->evidence->remote.rkey);
}

bool is_outside(const struct judge *judge, const struct operation *operation)
{
	const struct endpoint_facts *target = &judge->evidence->remote;
	if (opcode_of(judge, operation) == OP_SEND || is_empty(operation) || !operation->remote_address.known ||
	        !target->buffer_address.known)
		return false;
	int64_t offset = difference(operation->remote_address.value, target->buffer_address.value);
	if (offset < 0 || !operation->bytes.known || !target->buffer_bytes.known)
		return offset < 0;
	return offset > difference(target->buffer_bytes.value, operation->bytes.value);
}

/* Inline data lies in the queue entry; of no bytes nothing is read. A read has no data to be inline. */
bool uses_local_key(const struct operation *operation)
{
	return !is_empty(operation) && (operation->is_inline != FLAG_YES || operation->opcode == OP_READ);
}

bool differs_in_local_key(const struct judge *judge, const struct operation *operation)
{
	return uses_local_key(operation) && has_one_domain(judge) &&
	       both_differ(operation->lkey, judge->evidence->local.lkey);
}
