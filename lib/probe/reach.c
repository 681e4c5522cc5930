/* SPDX-License-Identifier: MIT */
#include "probe/reach.h"

#include "base/cleanup.h"
#include "gid/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	WAIT_MS = 500,
	SMALL_BYTES = 64,  /* of an echo request */
	ROCE_HEADERS = 60, /* RoCE v2 over IPv4: IP 20, UDP 8, BTH 12, RETH 16, ICRC 4; 20 more over IPv6 */
	SEQUENCES = 2,
	IPV4_HEADER = 20,
	IPV6_HEADER = 40,
	PACKET_LIMIT = 9216,
};

struct pair {
	bool ipv6;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} from, to;
	socklen_t length;
};

/* ---- packets ---- */

static uint16_t checksum(const unsigned char *bytes, size_t size)
{
	uint32_t sum = 0;
	for (size_t i = 0; i < size; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void put16(unsigned char *at, uint16_t value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

static uint16_t get16(const unsigned char *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* RFC 792 and RFC 4443: type, code, checksum, identifier, sequence number. The kernel fills what IPv6 needs. */
enum { ECHO_REQUEST = 8, ECHO_REPLY = 0, ECHO6_REQUEST = 128, ECHO6_REPLY = 129 };

void echo_fill(unsigned char *packet, size_t size, bool ipv6, uint16_t id, uint16_t sequence)
{
	memset(packet, 0, size);
	packet[0] = ipv6 ? ECHO6_REQUEST : ECHO_REQUEST;
	put16(packet + 4, id);
	put16(packet + 6, sequence);
	put16(packet + 2, checksum(packet, size));
}

bool echo_is_reply(const unsigned char *packet, size_t size, bool ipv6, bool raw, uint16_t id, uint16_t sequence)
{
	size_t skip = raw && !ipv6 && size ? (size_t)(packet[0] & 15) * 4 : 0;
	if (size < skip + ECHO_HEADER)
		return false;
	packet += skip;
	return packet[0] == (ipv6 ? ECHO6_REPLY : ECHO_REPLY) && get16(packet + 6) == sequence &&
	       (!id || get16(packet + 4) == id);
}

/* ---- sockets ---- */

static void close_socket(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define autosocket autocall(close_socket) int

/* Connected or refused, the other host answered; a time is not kept, for it says nothing about RDMA. */
static struct num try_tcp(const struct pair *pair, uint16_t port)
{
	struct pair with_port = *pair;
	if (pair->ipv6)
		with_port.to.v6.sin6_port = htons(port);
	else
		with_port.to.v4.sin_port = htons(port);
	autosocket fd = socket(pair->to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, &pair->from.any, pair->length))
		return (struct num){ 0 };
	if (!connect(fd, &with_port.to.any, pair->length))
		return num(0);
	if (errno != EINPROGRESS)
		return num(errno);
	struct pollfd entry = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t size = sizeof(error);
	int ready = poll(&entry, 1, WAIT_MS);
	if (ready <= 0)
		return ready ? (struct num){ 0 } : num(ETIMEDOUT);
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? (struct num){ 0 } : num(error);
}

/* An ordinary user may ping where net.ipv4.ping_group_range lets it (icmp(7)), root always. */
static int ping_socket(const struct pair *pair, bool *raw)
{
	int protocol = pair->ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP, family = pair->to.any.sa_family;
	*raw = false;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
	if (fd < 0) {
		*raw = true;
		fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, protocol);
	}
	if (fd < 0)
		return -errno;
	/* Whole or not at all, whatever MTU the kernel has learnt for the path (ip(7)). */
	_Static_assert(IPV6_PMTUDISC_PROBE == IP_PMTUDISC_PROBE, "one value for both families");
	int whole = IP_PMTUDISC_PROBE;
	if (setsockopt(fd, pair->ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, pair->ipv6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER,
	            &whole, sizeof(whole)) ||
	        bind(fd, &pair->from.any, pair->length)) {
		int result = -errno;
		close(fd);
		return result;
	}
	return fd;
}

/* 1, or 0 when none came, or a negative errno when it may not wait for one. */
static int await_reply(int fd, const struct pair *pair, bool raw, uint16_t id, uint16_t sequence)
{
	unsigned char packet[PACKET_LIMIT];
	for (int waited = 0; waited < WAIT_MS; waited += 50) {
		struct pollfd entry = { .fd = fd, .events = POLLIN };
		int ready = poll(&entry, 1, 50);
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (ready <= 0)
			continue;
		ssize_t got = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);
		if (got > 0 && echo_is_reply(packet, (size_t)got, pair->ipv6, raw, raw ? id : 0, sequence))
			return 1;
	}
	return 0;
}

/* Yes, no, or unknown where this process may not ping. Asks twice: the first packet may have to wait for ARP. */
static enum flag ping(const struct pair *pair, size_t size, int *error)
{
	unsigned char packet[PACKET_LIMIT];
	uint16_t id = (uint16_t)getpid();
	bool raw;
	autosocket fd = ping_socket(pair, &raw);
	*error = fd < 0 ? fd : 0;
	if (fd < 0)
		return FLAG_UNKNOWN;
	for (unsigned int number = 1; number <= SEQUENCES; number++) {
		uint16_t sequence = (uint16_t)number;
		echo_fill(packet, size, pair->ipv6, id, sequence);
		/* Too long for the netdev (EMSGSIZE), or no way there: it does not pass. */
		bool sent = sendto(fd, packet, size, 0, &pair->to.any, pair->length) >= 0;
		int got = sent ? await_reply(fd, pair, raw, id, sequence) : 0;
		*error = got < 0 ? got : 0;
		if (got)
			return got < 0 ? FLAG_UNKNOWN : FLAG_YES;
	}
	return FLAG_NO;
}

/* ---- the check ---- */

static void fill_address(struct pair *pair, bool local, const uint8_t gid[static 16], unsigned int scope)
{
	if (pair->ipv6) {
		struct sockaddr_in6 *to = local ? &pair->from.v6 : &pair->to.v6;
		*to = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_scope_id = scope };
		memcpy(&to->sin6_addr, gid, 16);
		return;
	}
	struct sockaddr_in *to = local ? &pair->from.v4 : &pair->to.v4;
	*to = (struct sockaddr_in){ .sin_family = AF_INET };
	memcpy(&to->sin_addr, gid + 12, 4);
}

/* False where the GIDs are no pair of IP addresses. */
static bool make_pair(const struct endpoint_facts *local, const struct endpoint_facts *remote, struct pair *pair)
{
	uint8_t from[16], to[16];
	const char *link = local->link_layer;
	if (remote->cm_address || !link || strcmp(link, "Ethernet") != 0 ||
	        (local->netdev && !strcmp(local->netdev, "lo")) || !local->gid || !remote->gid ||
	        parse_gid(local->gid, from) || parse_gid(remote->gid, to) || gid_is_zero(from) || gid_is_zero(to) ||
	        gid_is_ipv4(from) != gid_is_ipv4(to))
		return false;
	*pair = (struct pair){ .ipv6 = !gid_is_ipv4(from) };
	pair->length = pair->ipv6 ? sizeof(pair->to.v6) : sizeof(pair->to.v4);
	/* A link-local address needs its link. */
	bool near = pair->ipv6 && gid_is_link_local(to, true);
	unsigned int scope = near && local->netdev ? if_nametoindex(local->netdev) : 0;
	fill_address(pair, true, from, scope);
	fill_address(pair, false, to, scope);
	return true;
}

/* As large as the packets of the queue pair. */
static size_t full_size(const struct endpoint_facts *local, const struct pair *pair)
{
	int64_t mtu = local->path_mtu.known ? local->path_mtu.value : local->active_mtu.value;
	int64_t size = mtu + ROCE_HEADERS + (pair->ipv6 ? 20 : 0) - (pair->ipv6 ? IPV6_HEADER : IPV4_HEADER);
	return size < SMALL_BYTES || size > PACKET_LIMIT ? 0 : (size_t)size;
}

void reach_check(struct probe_run *run, uint16_t port)
{
	enum { LIMIT_MS = 2 * SEQUENCES * WAIT_MS + WAIT_MS };
	const struct endpoint_facts *local = run_facts(run, SIDE_LOCAL), *remote = run_facts(run, SIDE_REMOTE);
	struct pair pair;
	struct reach_facts *facts = arena_new_object(run->arena, struct reach_facts);
	if (!facts || !make_pair(local, remote, &pair))
		return;
	run_enter(run, "reaching the peer over IP", LIMIT_MS + STEP_LIMIT_MS);
	int error;
	facts->tcp_errno = try_tcp(&pair, port);
	facts->ping = ping(&pair, SMALL_BYTES, &error);
	size_t full = full_size(local, &pair);
	if (facts->ping == FLAG_YES && full) {
		facts->full_ping = ping(&pair, full, &error);
		facts->full_ping_bytes = num((int64_t)full + (pair.ipv6 ? IPV6_HEADER : IPV4_HEADER));
	}
	run_leave(run);
	if (facts->ping == FLAG_UNKNOWN)
		report_missing(&run->report, "reachability.ping", "host", error, "this process may not ping: %s",
		        strerror(-error));
	run_evidence(run)->reachability = facts;
}
