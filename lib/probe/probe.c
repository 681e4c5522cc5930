/* SPDX-License-Identifier: MIT */
#include "probe/probe.h"

#include "probe/session.h"
#include "probe/watcher.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int run_child(struct probe_run *run, int fd)
{
	(void)fd;
	return run->document.request.mode == MODE_PEER ? session_initiator(run) : session_local(run);
}

int probe_run(struct probe_run *run)
{
	return watcher_run(run, run_child, -1);
}

/* ---- listening ---- */

enum { WAITING_PEERS = 8 };

static int bind_to(const struct addrinfo *address, int *fd)
{
	int one = 1, zero = 0;
	*fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);
	if (*fd < 0)
		return -errno;
	setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (address->ai_family == AF_INET6)
		setsockopt(*fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!bind(*fd, address->ai_addr, address->ai_addrlen) && !listen(*fd, WAITING_PEERS))
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

static void describe_socket(int fd, char *text, size_t size)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
	if (!getsockname(fd, (struct sockaddr *)&address, &length))
		getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port, sizeof(port),
		        NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(text, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

int probe_listen(const struct probe_settings *settings, int *fd, char *address, size_t size, struct error *error)
{
	char service[8];
	snprintf(service, sizeof(service), "%u", settings->tcp_port);
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV }, *list;
	const char *host = settings->host[0] ? settings->host : NULL;
	int code = getaddrinfo(host, service, &hints, &list);
	if (code)
		return error_say(error, -EADDRNOTAVAIL, "%s: %s", settings->host, gai_strerror(code));
	/* Every address: one socket for both families, unless this kernel has no IPv6. */
	int result = host ? -EAFNOSUPPORT : bind_first(list, AF_INET6, fd);
	if (result && result != -EADDRINUSE)
		result = bind_first(list, AF_UNSPEC, fd);
	freeaddrinfo(list);
	if (result)
		return error_set(
		        error, result, "listening on %s port %u", host ? host : "any address,", settings->tcp_port);
	describe_socket(*fd, address, size);
	return 0;
}

int probe_accept(int listening, int *fd)
{
	for (;;) {
		int result = watcher_wait_readable(listening);
		if (result)
			return result;
		*fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
		if (*fd >= 0)
			return 0;
		/* The peer may be gone again (accept(2)). */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED && errno != EPROTO)
			return -errno;
	}
}

int probe_serve(struct probe_run *run, int fd)
{
	int result = watcher_run(run, session_target, fd);
	close(fd);
	return result;
}

static bool was_connected(const struct evidence *evidence)
{
	list_each(step, &evidence->control)
		if (step->step && !strcmp(step->step, "connect") && !num_is(step->error, 0))
			return false;
	return true;
}

bool probe_began(const struct evidence *evidence)
{
	list_each(step, &evidence->resources)
		if (step->side == SIDE_LOCAL && step->step && !strcmp(step->step, "ibv_open_device") &&
		        num_is(step->error, 0))
			return was_connected(evidence);
	return false;
}
