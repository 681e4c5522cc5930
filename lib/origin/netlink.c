/* SPDX-License-Identifier: MIT */
#include "origin/netlink.h"
#include "base/cleanup.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	/* The kernel fills a dump's messages up to 32 KiB where the reader's buffer has room
	   (net/netlink/af_netlink.c). */
	MESSAGE_SIZE = 32 << 10,
	/* It clears as much for each of them. RDMA dumps tell one device a message, of at most one page
	   (NLMSG_GOODSIZE, not more than 8 KiB): 256 devices would have it clear 8 MiB. */
	RDMA_MESSAGE_SIZE = 4 << 10,
	VECTOR = 32,
	DUMP_VECTOR = 4, /* a dump's messages are large: memory that was touched is used again */
	/*
	 * What one queued reply may take of the receive buffer: a page-sized message (NLMSG_DEFAULT_SIZE) in a buffer
	 * rounded up to the next power of two, and the kernel's own header.
	 */
	REPLY_COST = 9 << 10,
	RECEIVE_BUFFER = 4 << 20,
	WINDOW_LIMIT = 256,
	TRIES = 5,
};

static void size_receive_buffer(struct nl_socket *nl)
{
	int wanted = RECEIVE_BUFFER, got = 0;
	if (setsockopt(nl->fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)))
		(void)setsockopt(nl->fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
	socklen_t length = sizeof(got);
	if (getsockopt(nl->fd, SOL_SOCKET, SO_RCVBUF, &got, &length) || got < REPLY_COST)
		got = REPLY_COST;
	nl->window = (size_t)(got / REPLY_COST);
	if (nl->window > WINDOW_LIMIT)
		nl->window = WINDOW_LIMIT;
}

static int open_socket(struct nl_socket *nl, int protocol)
{
	if (nl->fd >= 0)
		return 0;
	nl->message_size = protocol == NETLINK_RDMA ? RDMA_MESSAGE_SIZE : MESSAGE_SIZE;
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (nl->fd < 0)
		return -errno;
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	if (bind(nl->fd, (struct sockaddr *)&address, sizeof(address))) {
		int error = -errno;
		nl_socket_close(nl);
		return error;
	}
	/* Mapped, so that only what replies fill is ever touched. */
	nl->buffer = mmap(NULL, (size_t)VECTOR * MESSAGE_SIZE, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (nl->buffer == MAP_FAILED) {
		nl->buffer = NULL;
		nl_socket_close(nl);
		return -ENOMEM;
	}
	size_receive_buffer(nl);
	return 0;
}

void nl_socket_close(struct nl_socket *nl)
{
	if (nl->fd >= 0)
		close(nl->fd);
	if (nl->buffer)
		munmap(nl->buffer, (size_t)VECTOR * MESSAGE_SIZE);
	*nl = NL_SOCKET_CLOSED;
}

/* Requests under way on the socket: their sequence numbers are consecutive. */
struct exchange {
	struct nl_socket *socket;
	struct nl_request **requests;
	size_t count, open;
	uint32_t first;
	size_t room; /* of a dump's reply */
	bool dump, interrupted;
	bool answered[WINDOW_LIMIT];
};

static void finish(struct exchange *exchange, size_t index, int error)
{
	if (exchange->answered[index])
		return;
	exchange->answered[index] = true;
	exchange->open--;
	exchange->requests[index]->error = error;
}

/* Room for one more message: a dump's reply grows by doubling, others have one message. */
static int make_room(struct exchange *exchange, struct nl_request *request, size_t size)
{
	size_t wanted = request->length + size;
	if (exchange->dump && wanted <= exchange->room)
		return 0;
	if (exchange->dump && wanted < exchange->room * 2)
		wanted = exchange->room * 2;
	if (exchange->dump && wanted < MESSAGE_SIZE)
		wanted = MESSAGE_SIZE;
	unsigned char *reply = realloc(request->reply, wanted);
	if (!reply)
		return -ENOMEM;
	request->reply = reply;
	exchange->room = wanted;
	return 0;
}

static int store(struct exchange *exchange, struct nl_request *request, const struct nlmsghdr *message)
{
	size_t size = NLMSG_ALIGN(message->nlmsg_len);
	int result = make_room(exchange, request, size);
	if (result)
		return result;
	unsigned char *end = mempcpy(request->reply + request->length, message, message->nlmsg_len);
	memset(end, 0, size - message->nlmsg_len);
	request->length += size;
	return 0;
}

static void take_message(struct exchange *exchange, const struct nlmsghdr *message)
{
	size_t index = message->nlmsg_seq - exchange->first;
	if (index >= exchange->count || exchange->answered[index])
		return; /* of an earlier exchange */
	exchange->interrupted |= message->nlmsg_flags & NLM_F_DUMP_INTR;
	size_t payload = message->nlmsg_len - NLMSG_HDRLEN;
	if (message->nlmsg_type == NLMSG_ERROR || message->nlmsg_type == NLMSG_DONE) {
		int error = 0;
		if (payload >= sizeof(error))
			memcpy(&error, NLMSG_DATA(message), sizeof(error));
		finish(exchange, index, error < 0 ? error : 0);
		return;
	}
	if (message->nlmsg_type < NLMSG_MIN_TYPE)
		return;
	int result = store(exchange, exchange->requests[index], message);
	if (result || !exchange->dump)
		finish(exchange, index, result);
}

static void take_datagram(struct exchange *exchange, const unsigned char *data, size_t length)
{
	while (length >= NLMSG_HDRLEN) {
		const struct nlmsghdr *message = (const struct nlmsghdr *)data;
		if (message->nlmsg_len < NLMSG_HDRLEN || message->nlmsg_len > length)
			return;
		take_message(exchange, message);
		size_t step = NLMSG_ALIGN(message->nlmsg_len);
		if (step >= length)
			return;
		data += step;
		length -= step;
	}
}

static bool is_from_kernel(const struct sockaddr_nl *sender)
{
	return sender->nl_family != AF_NETLINK || !sender->nl_pid;
}

/* After a message that was cut off: -ENOBUFS, it is asked for again, or -EMSGSIZE where it cannot be read at all. */
static int longer_messages(struct nl_socket *nl)
{
	if (nl->message_size == MESSAGE_SIZE)
		return -EMSGSIZE;
	nl->message_size = MESSAGE_SIZE;
	return -ENOBUFS;
}

/*
 * One round of reading. The kernel answers within sendmsg(), so nothing is waited for where a request is no dump. 0,
 * or a negative errno: -EAGAIN when nothing was there, -ENOBUFS when replies were lost.
 */
static int receive(struct exchange *exchange)
{
	struct nl_socket *nl = exchange->socket;
	struct sockaddr_nl senders[VECTOR];
	struct mmsghdr messages[VECTOR];
	struct iovec parts[VECTOR];
	/* The last call finds what is missing, not that nothing is left. */
	size_t limit = exchange->dump ? DUMP_VECTOR : exchange->open < VECTOR ? exchange->open : VECTOR;
	for (size_t i = 0; i < limit; i++) {
		senders[i] = (struct sockaddr_nl){ 0 };
		parts[i] = (struct iovec){ nl->buffer + i * nl->message_size, nl->message_size };
		messages[i] = (struct mmsghdr){ .msg_hdr = { .msg_name = &senders[i],
			                                .msg_namelen = sizeof(senders[i]),
			                                .msg_iov = &parts[i],
			                                .msg_iovlen = 1 } };
	}
	int got;
	do
		got = recvmmsg(
		        nl->fd, messages, (unsigned int)limit, exchange->dump ? MSG_WAITFORONE : MSG_DONTWAIT, NULL);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	for (int i = 0; i < got; i++) {
		if (messages[i].msg_hdr.msg_flags & MSG_TRUNC)
			return longer_messages(nl);
		if (is_from_kernel(&senders[i]))
			take_datagram(exchange, parts[i].iov_base, messages[i].msg_len);
	}
	return got ? 0 : -EAGAIN;
}

static int send_all(struct exchange *exchange)
{
	struct iovec parts[WINDOW_LIMIT];
	for (size_t i = 0; i < exchange->count; i++) {
		struct nlmsghdr *message = exchange->requests[i]->message;
		message->nlmsg_seq = exchange->first + (uint32_t)i;
		message->nlmsg_pid = 0;
		/* Messages of one datagram begin at multiples of four; all of ours end at one. */
		parts[i] = (struct iovec){ message, NLMSG_ALIGN(message->nlmsg_len) };
	}
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr header = {
		.msg_name = &kernel, .msg_namelen = sizeof(kernel), .msg_iov = parts, .msg_iovlen = exchange->count
	};
	ssize_t sent;
	do
		sent = sendmsg(exchange->socket->fd, &header, 0);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

static bool is_dump(const struct nl_request *request)
{
	return (request->message->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

/* Sends requests that are all dumps (then one) or all not, and reads until each has its answer. */
static int run(struct nl_socket *nl, struct nl_request **requests, size_t count, bool *interrupted)
{
	struct exchange exchange = { .socket = nl, .requests = requests, .count = count, .open = count };
	exchange.dump = is_dump(requests[0]);
	exchange.first = nl->sequence + 1;
	nl->sequence += (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		nl_requests_free(requests[i], 1);
		requests[i]->error = -EAGAIN;
	}
	int result = send_all(&exchange);
	while (!result && exchange.open)
		result = receive(&exchange);
	*interrupted = exchange.interrupted;
	if (result)
		for (size_t i = 0; i < count; i++)
			finish(&exchange, i, result);
	return result;
}

static bool is_lost(const struct nl_request *request)
{
	return request->error == -ENOBUFS || request->error == -EAGAIN || request->error == -EINTR;
}

static void run_dump(struct nl_socket *nl, struct nl_request *request)
{
	for (int i = 0; i < TRIES; i++) {
		bool interrupted = false;
		run(nl, &request, 1, &interrupted);
		if (!is_lost(request) && request->error != -EBUSY && !interrupted)
			return;
	}
}

/* Replies that did not fit into the receive buffer are asked for again, alone. */
static void run_batch(struct nl_socket *nl, struct nl_request **requests, size_t count)
{
	bool interrupted;
	run(nl, requests, count, &interrupted);
	for (size_t i = 0; i < count; i++)
		for (int try = 0; try < TRIES && is_lost(requests[i]); try++)
			run(nl, &requests[i], 1, &interrupted);
}

int nl_exchange(struct nl_socket *nl, int protocol, struct nl_request *requests, size_t count)
{
	struct nl_request *batch[WINDOW_LIMIT];
	size_t waiting = 0;
	int result = open_socket(nl, protocol);
	if (result) {
		for (size_t i = 0; i < count; i++)
			requests[i].error = result;
		return result;
	}
	for (size_t i = 0; i < count; i++) {
		if (is_dump(&requests[i])) {
			run_dump(nl, &requests[i]);
			continue;
		}
		batch[waiting++] = &requests[i];
		if (waiting == nl->window) {
			run_batch(nl, batch, waiting);
			waiting = 0;
		}
	}
	if (waiting)
		run_batch(nl, batch, waiting);
	int error = requests[0].error;
	for (size_t i = 0; i < count; i++)
		if (!requests[i].error)
			return 0;
	return error;
}
