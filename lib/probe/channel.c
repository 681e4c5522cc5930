/* SPDX-License-Identifier: MIT */
#include "probe/channel.h"

#include "base/cleanup.h"
#include "json/json.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { SLICE_MS = 20, LENGTH_SIZE = 4 };

void message_free(struct incoming *incoming)
{
	json_object_put(incoming->object);
	*incoming = (struct incoming){ 0 };
}

/* ---- bytes ---- */

/* Waits for `events` until the deadline. 0, -ETIMEDOUT or -EINTR. */
static int wait_for(const struct channel *channel, short events, int64_t deadline_ns)
{
	for (;;) {
		int64_t left_ms = (deadline_ns - run_now(channel->run)) / 1000000;
		struct pollfd entry = { .fd = channel->fd, .events = events };
		int wait = left_ms < 0 ? 0 : left_ms < SLICE_MS ? (int)left_ms : SLICE_MS;
		int ready = poll(&entry, 1, wait);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (run_stopped(channel->run) && !channel->finishing)
			return -EINTR;
		if (run_now(channel->run) >= deadline_ns)
			return -ETIMEDOUT;
	}
}

static int broken(struct channel *channel, int result)
{
	channel->closed = true;
	channel->left |= result == -EPIPE || result == -ECONNRESET;
	return result == -EPIPE ? -ECONNRESET : result;
}

int channel_send_bytes(struct channel *channel, const void *bytes, size_t length, int64_t deadline_ns)
{
	const char *at = bytes;
	while (length) {
		ssize_t sent = send(channel->fd, at, length, MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return broken(channel, -errno);
		int result = sent < 0 ? wait_for(channel, POLLOUT, deadline_ns) : 0;
		if (result)
			return result;
		at += sent < 0 ? 0 : sent;
		length -= sent < 0 ? 0 : (size_t)sent;
	}
	return 0;
}

int channel_receive_bytes(struct channel *channel, void *bytes, size_t length, int64_t deadline_ns)
{
	char *at = bytes;
	while (length) {
		ssize_t got = recv(channel->fd, at, length, 0);
		if (!got)
			return broken(channel, -ECONNRESET);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return broken(channel, -errno);
		int result = got < 0 ? wait_for(channel, POLLIN, deadline_ns) : 0;
		if (result)
			return result;
		at += got < 0 ? 0 : got;
		length -= got < 0 ? 0 : (size_t)got;
	}
	return 0;
}

bool channel_is_readable(const struct channel *channel, int wait_ms)
{
	struct pollfd entry = { .fd = channel->fd, .events = POLLIN };
	int ready = poll(&entry, 1, wait_ms);
	return ready > 0 || (ready < 0 && errno != EINTR);
}

/* ---- messages ---- */

static int explain_loss(int result, const char *doing, struct error *error)
{
	if (result == -ECONNRESET)
		return error_say(error, result, "control connection: the other end closed it while %s", doing);
	return error_set(error, result, "control connection: %s", doing);
}

int channel_send(struct channel *channel, const struct record *record, const void *message, int64_t deadline_ns,
        struct error *error)
{
	if (channel->fd < 0 || channel->closed)
		return explain_loss(-ECONNRESET, "sending", error);
	json_object *object = record_to_json(record, message);
	autofree char *text = object ? json_text(object, false) : NULL;
	json_object_put(object);
	size_t length = text ? strlen(text) : 0;
	if (!length || length > MESSAGE_LIMIT)
		return error_set(error, text ? -EMSGSIZE : -ENOMEM, "control connection: message");
	uint32_t head = htonl((uint32_t)length);
	int result = channel_send_bytes(channel, &head, LENGTH_SIZE, deadline_ns);
	result = result ? result : channel_send_bytes(channel, text, length, deadline_ns);
	return result ? explain_loss(result, "sending", error) : 0;
}

static int parse_message(struct incoming *incoming, const char *text, size_t length, struct error *error)
{
	incoming->object = json_parse(text, length, "control connection", error);
	json_object *type;
	if (!incoming->object)
		return -EPROTO;
	if (!json_object_is_type(incoming->object, json_type_object) ||
	        !json_object_object_get_ex(incoming->object, "type", &type) ||
	        !json_object_is_type(type, json_type_string)) {
		message_free(incoming);
		return error_say(error, -EPROTO, "control connection: a message without a type");
	}
	incoming->type = json_object_get_string(type);
	return 0;
}

int channel_receive(struct channel *channel, struct incoming *incoming, int64_t deadline_ns, struct error *error)
{
	*incoming = (struct incoming){ 0 };
	if (channel->fd < 0 || channel->closed)
		return explain_loss(-ECONNRESET, "waiting for a message", error);
	uint32_t head;
	int result = channel_receive_bytes(channel, &head, LENGTH_SIZE, deadline_ns);
	if (result)
		return explain_loss(result, "waiting for a message", error);
	size_t length = ntohl(head);
	if (!length || length > MESSAGE_LIMIT) {
		channel->closed = true; /* where the next message begins is not known any more */
		return error_say(error, -EPROTO,
		        "control connection: %zu bytes announced, at most %d are taken: is the other end rdmadiag?",
		        length, MESSAGE_LIMIT);
	}
	autofree char *text = malloc(length + 1);
	if (!text)
		return error_set(error, -ENOMEM, "control connection");
	result = channel_receive_bytes(channel, text, length, deadline_ns);
	if (result)
		return explain_loss(result, "waiting for the rest of a message", error);
	text[length] = '\0';
	return parse_message(incoming, text, length, error);
}

int channel_read(struct channel *channel, const struct incoming *incoming, const struct record *record, void *data,
        struct error *error)
{
	struct error inner = { 0 };
	if (!record_from_json(record, incoming->object, channel->run->arena, data, &inner))
		return 0;
	return error_say(error, -EPROTO, "control connection: message \"%.32s\": %.200s", incoming->type, inner.text);
}

static int read_refusal(struct channel *channel, const struct incoming *incoming, struct error *error)
{
	struct error_message message = { 0 };
	int result = channel_read(channel, incoming, &error_message_record, &message, error);
	if (result)
		return result;
	int64_t code = message.error.known && message.error.value > 0 && message.error.value < 4096
	                       ? message.error.value
	                       : EPROTO;
	return error_say(error, (int)-code, "the other end: %.280s", message.text ? message.text : strerror((int)code));
}

int channel_expect(struct channel *channel, const char *type, const struct record *record, void *data,
        int64_t deadline_ns, struct error *error)
{
	for (;;) {
		struct incoming incoming;
		int result = channel_receive(channel, &incoming, deadline_ns, error);
		if (result || !incoming.type)
			return result;
		bool skip = false;
		if (!strcmp(incoming.type, type))
			result = channel_read(channel, &incoming, record, data, error);
		else if (channel->finishing || !strcmp(incoming.type, "pong") || !strcmp(incoming.type, "alive"))
			skip = true;
		else if (!strcmp(incoming.type, "error"))
			result = read_refusal(channel, &incoming, error);
		else
			result = error_say(error, -EPROTO, "control connection: \"%.32s\" came instead of \"%s\"",
			        incoming.type, type);
		message_free(&incoming);
		if (!skip)
			return result;
	}
}

void channel_complain(struct channel *channel, const char *step, const struct error *error)
{
	enum { PATIENCE_NS = 200000000 };
	struct error_message message = {
		.type = "error", .step = step, .error = num(-error->code), .text = error->text
	};
	struct error ignored;
	channel_send(channel, &error_message_record, &message, run_now(channel->run) + PATIENCE_NS, &ignored);
}

void channel_turn_away(int fd)
{
	struct error_message message = {
		.type = "error", .step = "hello", .error = num(EBUSY), .text = "it serves another peer at the moment"
	};
	json_object *object = record_to_json(&error_message_record, &message);
	autofree char *text = object ? json_text(object, false) : NULL;
	json_object_put(object);
	char unread[LENGTH_SIZE + HELLO_LIMIT];
	uint32_t head = text ? htonl((uint32_t)strlen(text)) : 0;
	/* Closing a socket with something unread in it resets the connection, and this message with it. */
	while (recv(fd, unread, sizeof(unread), MSG_DONTWAIT) > 0)
		continue;
	if (text && send(fd, &head, LENGTH_SIZE, MSG_NOSIGNAL | MSG_DONTWAIT) == LENGTH_SIZE)
		(void)!send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- the socket ---- */

int channel_open(struct channel *channel, struct probe_run *run, int fd)
{
	*channel = (struct channel){ .fd = fd, .run = run };
	int flags = fcntl(fd, F_GETFL), one = 1;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	/* Small messages that each wait for an answer; fails on what is no TCP socket, which does no harm. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	channel_keep_small(fd);
	return 0;
}

void channel_keep_small(int fd)
{
	enum { SEGMENT = 536 }; /* what every host takes (RFC 1122, 4.2.2.6) */
	int segment = SEGMENT;
	setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment));
}

void channel_close(struct channel *channel)
{
	if (channel->fd >= 0)
		close(channel->fd);
	channel->fd = -1;
}

static int connect_to(
        struct channel *channel, struct probe_run *run, const struct addrinfo *address, int64_t deadline_ns)
{
	int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
	if (fd < 0)
		return -errno;
	int result = channel_open(channel, run, fd);
	if (!result && connect(fd, address->ai_addr, address->ai_addrlen) && errno != EINPROGRESS)
		result = -errno;
	result = result ? result : wait_for(channel, POLLOUT, deadline_ns);
	int error = 0;
	socklen_t size = sizeof(error);
	if (!result && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
		result = -error;
	if (result)
		channel_close(channel);
	return result;
}

/* There is no errno for a name; these come closest, and no connect(2) gives them. */
static int resolver_errno(int code)
{
	switch (code) {
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_SYSTEM:
		return errno ? -errno : -EIO;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_FAIL:
		return -EIO;
	default:
		return -ENOENT;
	}
}

int channel_resolve(const char *host, uint16_t port, struct addrinfo **list, struct error *error)
{
	char service[8];
	snprintf(service, sizeof(service), "%u", port);
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG };
	int code = getaddrinfo(host, service, &hints, list);
	if (code == EAI_ADDRFAMILY || code == EAI_NONAME) {
		hints.ai_flags = AI_NUMERICSERV; /* addresses of a family that only loopback has here */
		code = getaddrinfo(host, service, &hints, list);
	}
	if (code == EAI_SYSTEM)
		return error_set(error, resolver_errno(code), "%s", host);
	return code ? error_say(error, resolver_errno(code), "%s: %s", host, gai_strerror(code)) : 0;
}

bool channel_is_address(const char *host)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *list;
	bool is_address = !getaddrinfo(host, NULL, &hints, &list);
	if (is_address)
		freeaddrinfo(list);
	return is_address;
}

int channel_connect(struct channel *channel, struct probe_run *run, const struct addrinfo *list, int64_t deadline_ns,
        struct error *error)
{
	*channel = (struct channel){ .fd = -1, .run = run };
	int result = -EADDRNOTAVAIL;
	for (const struct addrinfo *address = list; address; address = address->ai_next) {
		result = connect_to(channel, run, address, deadline_ns);
		if (!result || result == -EINTR)
			break;
	}
	const struct probe_settings *settings = run->settings;
	return result ? error_set(error, result, "%s, TCP port %u", settings->host, settings->tcp_port) : 0;
}

/* ---- facts ---- */

int channel_local_gid(const struct channel *channel, uint8_t gid[static 16])
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = { 0 };
	socklen_t size = sizeof(address);
	if (getsockname(channel->fd, &address.any, &size))
		return -errno;
	if (address.any.sa_family == AF_INET6) {
		memcpy(gid, &address.v6.sin6_addr, 16);
		return 0;
	}
	if (address.any.sa_family != AF_INET)
		return -EAFNOSUPPORT;
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, &address.v4.sin_addr, 4);
	return 0;
}

static const char *address_text(struct arena *arena, int fd, int (*name)(int, struct sockaddr *, socklen_t *))
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	char host[INET6_ADDRSTRLEN + 16], port[8];
	if (name(fd, (struct sockaddr *)&address, &size) ||
	        getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port, sizeof(port),
	                NI_NUMERICHOST | NI_NUMERICSERV))
		return NULL;
	return arena_printf(arena, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

void channel_describe(const struct channel *channel)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);
	struct probe_run *run = channel->run;
	struct tcp_facts *facts = arena_new_object(run->arena, struct tcp_facts);
	if (!facts || channel->fd < 0)
		return;
	facts->local = address_text(run->arena, channel->fd, getsockname);
	facts->remote = address_text(run->arena, channel->fd, getpeername);
	if (!getsockopt(channel->fd, IPPROTO_TCP, TCP_INFO, &info, &size)) {
		facts->retransmits = num(info.tcpi_total_retrans);
		facts->unacked = num(info.tcpi_unacked);
		facts->rtt_us = num(info.tcpi_rtt);
	}
	run_evidence(run)->tcp = facts;
}
