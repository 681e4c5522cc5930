/* SPDX-License-Identifier: MIT */
/*
 * Asking the adapter without one: /dev/infiniband/umad0 is one end of a socket that keeps packets apart, and the other
 * end is the kernel. Its answers lie there before they are asked for.
 */
#include "unit.h"

#include "origin/umad.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AGENT = 5 };

/* What is read and written once P_Keys are enabled: Documentation/infiniband/user_mad.rst. */
struct packet {
	struct ib_user_mad_hdr header;
	unsigned char mad[MAD_SIZE];
};

static struct {
	int device, kernel;    /* ends */
	int open_error;        /* of the node */
	unsigned long refused; /* an ioctl */
	struct ib_user_mad_reg_req agent;
	bool with_pkeys; /* before the agent was registered, as the kernel wants it */
	int waited_ms;
} umad;

int open(const char *path, int flags, ...)
{
	va_list args;
	va_start(args, flags);
	unsigned int mode = flags & O_CREAT ? va_arg(args, unsigned int) : 0;
	va_end(args);
	if (strncmp(path, "/dev/infiniband/", 16) != 0)
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	assert_string_equal(path, "/dev/infiniband/umad0");
	assert_int_equal(flags & O_ACCMODE, O_RDWR);
	errno = umad.open_error;
	return umad.open_error ? -1 : dup(umad.device);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	va_start(args, request);
	void *argument = va_arg(args, void *);
	va_end(args);
	if (request != IB_USER_MAD_ENABLE_PKEY && request != IB_USER_MAD_REGISTER_AGENT)
		return (int)syscall(SYS_ioctl, fd, request, argument);
	errno = EPERM;
	if (request == umad.refused)
		return -1;
	if (request == IB_USER_MAD_ENABLE_PKEY) {
		umad.with_pkeys = !umad.agent.mgmt_class;
		return 0;
	}
	struct ib_user_mad_reg_req *agent = argument;
	umad.agent = *agent;
	agent->id = AGENT;
	return 0;
}

/* Nothing is worth waiting for: what is not there now does not come. */
int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	umad.waited_ms = timeout;
	return (int)syscall(SYS_poll, fds, count, 0);
}

static int set_up(void **state)
{
	(void)state;
	int ends[2];
	memset(&umad, 0, sizeof(umad));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	umad.device = ends[0];
	umad.kernel = ends[1];
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(umad.kernel);
	return close(umad.device);
}

static struct mad_request request = { .node = "umad0", .attribute = 0x17, .modifier = 0x10002 };

static void answer(uint32_t status, size_t length)
{
	struct packet packet = { .header = { .id = AGENT, .status = status, .length = MAD_SIZE } };
	umad_build(&request, packet.mad);
	packet.mad[3] = 0x81;  /* SubnGetResp */
	packet.mad[64] = 0x12; /* the attribute's own bytes begin here */
	packet.mad[MAD_SIZE - 1] = 0x34;
	assert_int_equal(write(umad.kernel, &packet, length), length);
}

/* Is the socket's other end held by nothing but this test? Then the node was closed. */
static void assert_closed(void)
{
	char byte;
	close(umad.device);
	while (recv(umad.kernel, &byte, 1, MSG_DONTWAIT) > 0)
		continue;
	assert_int_equal(recv(umad.kernel, &byte, 1, MSG_DONTWAIT), 0);
	umad.device = dup(umad.kernel);
}

static void asks_and_takes_the_answer(void **state)
{
	(void)state;
	struct packet sent = { 0 };
	unsigned char expected[MAD_SIZE];
	answer(0, sizeof(struct packet));
	assert_int_equal(umad_exchange(&request), 0);
	assert_int_equal(request.reply[64], 0x12);
	assert_int_equal(request.reply[MAD_SIZE - 1], 0x34);
	assert_int_equal(umad_check(&request, request.reply), 0);

	assert_true(umad.with_pkeys);
	assert_int_equal(umad.agent.qpn, 0); /* subnet management goes by queue pair 0 */
	assert_int_equal(umad.agent.mgmt_class, 0x81);
	assert_int_equal(umad.agent.mgmt_class_version, 1);
	assert_int_equal(umad.agent.method_mask[0] | umad.agent.method_mask[1], 0); /* nothing that comes unasked */
	assert_int_equal(read(umad.kernel, &sent, sizeof(sent)), sizeof(sent));
	assert_int_equal(sent.header.id, AGENT);
	assert_int_equal(sent.header.qpn, 0);
	assert_int_equal(ntohs(sent.header.lid), 0xffff);
	umad_build(&request, expected);
	assert_memory_equal(sent.mad, expected, MAD_SIZE);
	assert_closed();
}

/* The kernel tries so often, and says ETIMEDOUT afterwards: whoever stops waiting before that misses its word. */
static void waits_for_all_tries(void **state)
{
	(void)state;
	struct packet sent = { 0 };
	assert_int_equal(umad_exchange(&request), -ETIMEDOUT);
	assert_int_equal(read(umad.kernel, &sent, sizeof(sent)), sizeof(sent));
	assert_true(sent.header.timeout_ms > 0);
	assert_true((uint32_t)umad.waited_ms > sent.header.timeout_ms * (sent.header.retries + 1));
	assert_closed();
}

/* The request comes back with a number of its own where nothing answered. */
static void request_that_came_back(void **state)
{
	(void)state;
	answer(ETIMEDOUT, sizeof(struct packet));
	assert_int_equal(umad_exchange(&request), -ETIMEDOUT);
	assert_closed();
}

static void answers_that_are_cut(void **state)
{
	(void)state;
	const size_t lengths[] = { sizeof(struct packet) - 1, sizeof(struct ib_user_mad_hdr), 4, 0 };
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		answer(0, lengths[i]);
		assert_int_equal(umad_exchange(&request), -EPROTO);
	}
	assert_closed();
}

static void nodes_that_refuse(void **state)
{
	(void)state;
	umad.open_error = EACCES;
	assert_int_equal(umad_exchange(&request), -EACCES);
	umad.open_error = 0;
	umad.refused = IB_USER_MAD_ENABLE_PKEY;
	assert_int_equal(umad_exchange(&request), -EPERM);
	umad.refused = IB_USER_MAD_REGISTER_AGENT;
	assert_int_equal(umad_exchange(&request), -EPERM);
	assert_closed();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(asks_and_takes_the_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(waits_for_all_tries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(request_that_came_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_that_are_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nodes_that_refuse, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
