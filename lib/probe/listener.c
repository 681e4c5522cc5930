/* SPDX-License-Identifier: MIT */
#include "probe/listener.h"

#include "base/clock.h"
#include "gid/address.h"
#include "probe/channel.h"
#include "probe/message.h"
#include "probe/watcher.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BACKLOG = 16,
	HELLO_MS = 5000,
	BUSY_MS = 7000, /* a waiting initiator gives up after 10 s: sooner it hears that it is not alone */
	PARTIAL_MS = 20,
};

/* ---- the socket ---- */

static int bind_to(const struct addrinfo *address, int *fd)
{
	int one = 1, zero = 0;
	*fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);
	if (*fd < 0)
		return -errno;
	setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	channel_keep_small(*fd); /* for the peers' segments too: it is told to them when they connect */
	if (address->ai_family == AF_INET6)
		setsockopt(*fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!bind(*fd, address->ai_addr, address->ai_addrlen) && !listen(*fd, BACKLOG))
		return 0;
	int result = -errno;
	close(*fd);
	*fd = -1;
	return result;
}

static int bind_first(const struct addrinfo *list, int family, int *fd)
{
	int result = -EADDRNOTAVAIL;
	for (const struct addrinfo *address = list; address && result; address = address->ai_next)
		if (family == AF_UNSPEC || address->ai_family == family)
			result = bind_to(address, fd);
	return result;
}

int listener_open(struct listener *listener, const struct probe_settings *settings, struct error *error)
{
	char service[8];
	*listener = (struct listener){ .fd = -1 };
	snprintf(service, sizeof(service), "%u", settings->tcp_port);
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV }, *list;
	const char *host = settings->host[0] ? settings->host : NULL;
	int code = getaddrinfo(host, service, &hints, &list);
	if (code)
		return error_say(error, -EADDRNOTAVAIL,
		        "--listen=%s: no address of this host: %s (-d names the device)", settings->host,
		        gai_strerror(code));
	/* Every address: one socket for both families, unless this kernel has no IPv6. */
	int result = host ? -EAFNOSUPPORT : bind_first(list, AF_INET6, &listener->fd);
	if (result && result != -EADDRINUSE)
		result = bind_first(list, AF_UNSPEC, &listener->fd);
	freeaddrinfo(list);
	if (result == -EADDRINUSE)
		return error_say(error, result,
		        "--listen: TCP port %u is in use, by another listener? --listen=%s:PORT takes another port",
		        settings->tcp_port, settings->host);
	return result ? error_set(
	                        error, result, "--listen: %s port %u", host ? host : "any address,", settings->tcp_port)
	              : 0;
}

/* Out of the room; the socket is the caller's. */
static int take_out(struct listener *listener, size_t index)
{
	int fd = listener->room[index].fd;
	listener->count--;
	memmove(&listener->room[index], &listener->room[index + 1],
	        (listener->count - index) * sizeof(listener->room[0]));
	return fd;
}

static void dismiss(struct listener *listener, size_t index)
{
	close(take_out(listener, index));
}

void listener_close(struct listener *listener)
{
	while (listener->count)
		dismiss(listener, listener->count - 1);
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
}

/* ---- where it listens ---- */

union socket_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_storage storage;
};

static void format_socket(const union socket_address *address, socklen_t length, char *text, size_t size)
{
	char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
	getnameinfo(&address->any, length, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(text, size, strchr(host, ':') ? "[%.46s]:%.5s" : "%.46s:%.5s", host, port);
}

static bool is_any(const union socket_address *address)
{
	return address->any.sa_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr)
	                                          : address->v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

/* Those of one netdev that other hosts can name without saying on which link. */
static void add_addresses(const struct netdev *netdev, uint16_t port, char *text, size_t size)
{
	list_each(address, &netdev->addresses) {
		uint8_t gid[16];
		char ip[IP_TEXT_SIZE];
		size_t used = strlen(text);
		gid_from_address(address, gid);
		if (gid_is_link_local(gid, true) || used + IP_TEXT_SIZE + 16 > size)
			continue;
		gid_format_ip(gid, ip);
		snprintf(text + used, size - used, strchr(ip, ':') ? "%s[%s]:%u" : "%s%s:%u", used ? ", " : "", ip,
		        port);
	}
}

void listener_describe(const struct listener *listener, const struct survey *survey, const char *device,
        struct num port, char *text, size_t size)
{
	union socket_address address = { 0 };
	socklen_t length = sizeof(address);
	const struct rdma_device *found = survey->host ? host_device(survey->host, device) : NULL;
	text[0] = '\0';
	if (getsockname(listener->fd, &address.any, &length))
		return;
	uint16_t tcp_port = ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
	if (found && is_any(&address))
		list_each(candidate, &found->ports)
			if (!port.known || num_is(candidate->number, port.value))
				list_each(reference, &candidate->netdevs) {
					const struct netdev *netdev =
					        host_netdev_by_name(survey->host, reference->name);
					if (netdev)
						add_addresses(netdev, tcp_port, text, size);
				}
	size_t used = strlen(text);
	if (used)
		snprintf(text + used, size - used, " and every other address of this host");
	else
		format_socket(&address, length, text, size);
}

/* ---- the room ---- */

/* A full room loses the one that has been silent for longest; its socket gets its place. */
static bool let_in(struct listener *listener)
{
	union socket_address address = { 0 };
	socklen_t length = sizeof(address);
	int fd = accept4(listener->fd, &address.any, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return errno == ECONNABORTED; /* it is gone again */
	if (listener->count == LISTENER_ROOM)
		dismiss(listener, 0);
	struct waiting_peer *peer = &listener->room[listener->count++];
	*peer = (struct waiting_peer){ .fd = fd, .since_ms = clock_ms() };
	format_socket(&address, length, peer->name, sizeof(peer->name));
	return true;
}

static void let_all_in(struct listener *listener)
{
	for (int i = 0; i < LISTENER_ROOM && let_in(listener); i++)
		continue;
}

enum greeting { GREETING_NONE, GREETING_PART, GREETING_WHOLE, GREETING_NONSENSE, GREETING_GONE };

/* What of its first message has come, without taking anything out of the socket. */
static enum greeting greeting_of(const struct waiting_peer *peer, size_t *announced)
{
	struct pollfd entry = { .fd = peer->fd, .events = POLLRDHUP };
	if (poll(&entry, 1, 0) > 0)
		return GREETING_GONE;
	uint32_t head;
	ssize_t got = recv(peer->fd, &head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	if (got < (ssize_t)sizeof(head))
		return got > 0 ? GREETING_PART : GREETING_NONE;
	*announced = ntohl(head);
	if (!*announced || *announced > HELLO_LIMIT)
		return GREETING_NONSENSE;
	int there = 0;
	if (ioctl(peer->fd, FIONREAD, &there))
		return GREETING_GONE;
	return (size_t)there >= sizeof(head) + *announced ? GREETING_WHOLE : GREETING_PART;
}

/* -EAGAIN: this one was sent away, 0: it goes on waiting, 1: it is the next. */
static int attend(struct listener *listener, size_t index, struct error *error)
{
	struct waiting_peer *peer = &listener->room[index];
	size_t announced = 0;
	enum greeting greeting = greeting_of(peer, &announced);
	if (greeting == GREETING_WHOLE)
		return 1;
	int64_t waited = clock_ms() - peer->since_ms;
	if (greeting == GREETING_GONE)
		error_say(error, -EAGAIN, "%s went away again before it was served", peer->name);
	else if (greeting == GREETING_NONSENSE)
		error_say(error, -EAGAIN, "%s: %zu bytes announced, at most %d are taken: it is no rdmadiag probe",
		        peer->name, announced, HELLO_LIMIT);
	else if (waited >= HELLO_MS)
		error_say(error, -EAGAIN, "%s did not introduce itself within %d s: timed out", peer->name,
		        HELLO_MS / 1000);
	else
		return 0;
	dismiss(listener, index);
	return -EAGAIN;
}

/* Sleeps until there may be something new. */
static int await_news(const struct listener *listener)
{
	struct pollfd entries[LISTENER_ROOM + 1] = { { .fd = listener->fd, .events = POLLIN } };
	int64_t timeout_ms = -1, now = clock_ms();
	for (size_t i = 0; i < listener->count; i++) {
		size_t announced;
		bool partly = greeting_of(&listener->room[i], &announced) == GREETING_PART;
		int64_t left = listener->room[i].since_ms + HELLO_MS - now;
		/* What lies in the socket already would wake it at once. */
		entries[i + 1] = (struct pollfd){ .fd = listener->room[i].fd,
			.events = (short)(partly ? POLLRDHUP : POLLIN | POLLRDHUP) };
		left = partly && left > PARTIAL_MS ? PARTIAL_MS : left > 0 ? left : 0;
		timeout_ms = timeout_ms < 0 || left < timeout_ms ? left : timeout_ms;
	}
	return watcher_wait(entries, listener->count + 1, (int)timeout_ms);
}

int listener_next(struct listener *listener, int *fd, struct error *error)
{
	for (;;) {
		let_all_in(listener);
		for (size_t i = 0; i < listener->count; i++) {
			int result = attend(listener, i, error);
			if (result < 0)
				return result;
			if (!result)
				continue;
			*fd = take_out(listener, i);
			return 0;
		}
		int result = await_news(listener);
		if (result < 0)
			return result;
	}
}

/* ---- while another one is served ---- */

void listener_look(struct listener *listener)
{
	let_all_in(listener);
	for (size_t i = 0; i < listener->count;) {
		struct waiting_peer *peer = &listener->room[i];
		size_t announced;
		enum greeting greeting = greeting_of(peer, &announced);
		bool late = clock_ms() - peer->since_ms >= (greeting == GREETING_WHOLE ? BUSY_MS : HELLO_MS);
		if (!late && greeting != GREETING_GONE && greeting != GREETING_NONSENSE) {
			i++;
			continue;
		}
		if (late && greeting == GREETING_WHOLE)
			channel_turn_away(peer->fd);
		/* The process that serves has a copy of the socket. */
		shutdown(peer->fd, SHUT_RDWR);
		dismiss(listener, i);
	}
}
