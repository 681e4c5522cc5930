/* SPDX-License-Identifier: MIT */
/*
 * Reading netlink replies of any size, without a kernel that sends them: the system calls are those of this file. A
 * dump of two messages is answered, one of them too long for the room that RDMA messages get at first.
 */
#include "unit.h"

#include "base/cleanup.h"
#include "origin/netlink.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SHORT = 100, LONG = 5000, NEVER = 100000 };

static struct {
	uint32_t sequence; /* of the dump that is under way */
	size_t sent;       /* requests */
	size_t first_room; /* what the first reader had room for, in bytes */
	size_t length;     /* of the second message */
	int next;          /* message of the dump */
} kernel;

int socket(int domain, int type, int protocol)
{
	(void)type, (void)protocol;
	assert_int_equal(domain, AF_NETLINK);
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	(void)fd, (void)address, (void)length;
	return 0;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	(void)fd, (void)level, (void)name, (void)value, (void)length;
	return 0;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	(void)fd, (void)flags;
	const struct nlmsghdr *request = message->msg_iov->iov_base;
	kernel.sequence = request->nlmsg_seq;
	kernel.sent++;
	kernel.next = 0;
	return (ssize_t)message->msg_iov->iov_len;
}

/* One message a datagram, as RDMA dumps are: 1, 2, and that it was the last. */
int recvmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout)
{
	(void)fd, (void)count, (void)flags, (void)timeout;
	struct iovec *part = messages->msg_hdr.msg_iov;
	size_t length = kernel.next == 0 ? SHORT : kernel.next == 1 ? kernel.length : NLMSG_LENGTH(sizeof(int));
	struct nlmsghdr *reply = part->iov_base;
	if (!kernel.first_room)
		kernel.first_room = part->iov_len;
	memset(reply, 0, length < part->iov_len ? length : part->iov_len);
	*reply = (struct nlmsghdr){ .nlmsg_len = (uint32_t)length,
		.nlmsg_type = kernel.next < 2 ? (uint16_t)(NLMSG_MIN_TYPE + kernel.next) : NLMSG_DONE,
		.nlmsg_flags = NLM_F_MULTI,
		.nlmsg_seq = kernel.sequence };
	messages->msg_hdr.msg_flags = length > part->iov_len ? MSG_TRUNC : 0;
	messages->msg_len = (unsigned int)(length < part->iov_len ? length : part->iov_len);
	kernel.next++;
	return 1;
}

static void dump(struct nl_socket *nl, int protocol, struct nl_request *request, size_t length)
{
	static struct nlmsghdr message;
	message = (struct nlmsghdr){ .nlmsg_len = sizeof(message), .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP };
	memset(&kernel, 0, sizeof(kernel));
	kernel.length = length;
	*request = (struct nl_request){ .name = "dev", .message = &message };
	(void)nl_exchange(nl, protocol, request, 1);
}

static void assert_both_messages(const struct nl_request *request, size_t length)
{
	const struct nlmsghdr *first = (const struct nlmsghdr *)request->reply;
	assert_int_equal(request->error, 0);
	assert_int_equal(request->length, NLMSG_ALIGN(SHORT) + NLMSG_ALIGN(length));
	assert_int_equal(first->nlmsg_len, SHORT);
	const struct nlmsghdr *second = (const struct nlmsghdr *)(request->reply + NLMSG_ALIGN(SHORT));
	assert_int_equal(second->nlmsg_len, length);
	assert_int_equal(second->nlmsg_type, NLMSG_MIN_TYPE + 1);
}

/* The kernel clears as much memory for each message as the reader has room for. */
static void a_device_a_message_gets_little_room(void **state)
{
	(void)state;
	struct nl_request request;
	autocall(nl_socket_close) struct nl_socket nl = NL_SOCKET_CLOSED;
	dump(&nl, NETLINK_RDMA, &request, SHORT);
	assert_both_messages(&request, SHORT);
	assert_int_equal(kernel.first_room, 4096);
	assert_int_equal(kernel.sent, 1);
	nl_requests_free(&request, 1);
}

static void many_links_a_message_get_much(void **state)
{
	(void)state;
	struct nl_request request;
	autocall(nl_socket_close) struct nl_socket nl = NL_SOCKET_CLOSED;
	dump(&nl, NETLINK_ROUTE, &request, LONG);
	assert_both_messages(&request, LONG);
	assert_int_equal(kernel.first_room, 32768);
	assert_int_equal(kernel.sent, 1);
	nl_requests_free(&request, 1);
}

static void a_message_cut_off_is_asked_for_again_with_more_room(void **state)
{
	(void)state;
	struct nl_request request;
	autocall(nl_socket_close) struct nl_socket nl = NL_SOCKET_CLOSED;
	dump(&nl, NETLINK_RDMA, &request, LONG);
	assert_both_messages(&request, LONG);
	assert_int_equal(kernel.sent, 2);
	nl_requests_free(&request, 1);
	dump(&nl, NETLINK_RDMA, &request, LONG); /* it has learned */
	assert_both_messages(&request, LONG);
	assert_int_equal(kernel.sent, 1);
	nl_requests_free(&request, 1);
}

static void what_no_room_is_enough_for_is_an_error(void **state)
{
	(void)state;
	struct nl_request request;
	autocall(nl_socket_close) struct nl_socket nl = NL_SOCKET_CLOSED;
	dump(&nl, NETLINK_RDMA, &request, NEVER);
	assert_int_equal(request.error, -EMSGSIZE);
	nl_requests_free(&request, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_a_message_gets_little_room),
		cmocka_unit_test(many_links_a_message_get_much),
		cmocka_unit_test(a_message_cut_off_is_asked_for_again_with_more_room),
		cmocka_unit_test(what_no_room_is_enough_for_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
