/* SPDX-License-Identifier: MIT */
/*
 * The ways in which programs send, receive and wait on what the device hands out: an rdma netlink socket, and the file
 * of asynchronous events. Prints TAP.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

enum { BUFFERS = 8, BUFFER_SIZE = 16384, SOON_MS = 2000 };

static int tests, failures;

static void ok(bool good, const char *name)
{
	failures += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", ++tests, name);
}

/* ---- does a descriptor become readable within `ms` ---- */

static bool by_poll(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents == POLLIN;
}

static bool by_ppoll(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	return ppoll(&p, 1, &t, NULL) == 1 && p.revents == POLLIN;
}

static bool by_select(int fd, int ms)
{
	struct timeval t = { ms / 1000, ms % 1000 * 1000L };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &t) == 1 && FD_ISSET(fd, &set);
}

static bool by_epoll(int fd, int ms)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };
	int set = epoll_create1(EPOLL_CLOEXEC), n;

	n = epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) ? -1 : epoll_wait(set, &e, 1, ms);
	close(set);
	return n == 1 && e.data.fd == fd && e.events == EPOLLIN;
}

static const struct {
	const char *name;
	bool (*readable)(int fd, int ms);
} ways[] = { { "poll", by_poll }, { "ppoll", by_ppoll }, { "select", by_select }, { "epoll", by_epoll } };

static void waits(int fd, bool wanted, const char *what)
{
	char name[128];

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		snprintf(name, sizeof(name), "%s: %s says %sreadable", what, ways[i].name, wanted ? "" : "not ");
		ok(ways[i].readable(fd, wanted ? SOON_MS : 20) == wanted, name);
	}
}

/* ---- rdma netlink ---- */

static struct nlmsghdr request(int command, unsigned int flags, uint32_t seq)
{
	return (struct nlmsghdr){ .nlmsg_len = sizeof(struct nlmsghdr),
		.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
		.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
		.nlmsg_seq = seq };
}

static struct nlmsghdr *next(struct nlmsghdr *h, unsigned int *left)
{
	unsigned int size = NLMSG_ALIGN(h->nlmsg_len);

	size = size < *left ? size : *left;
	*left -= size;
	return (void *)((char *)h + size);
}

/* Which of the sequence numbers 1 to 3 are answered in what lies in the buffers. */
static unsigned int answered(char (*buffers)[BUFFER_SIZE], const struct mmsghdr *messages, int count)
{
	unsigned int seen = 0;

	for (int i = 0; i < count; i++) {
		unsigned int left = messages[i].msg_len;

		for (struct nlmsghdr *h = (void *)buffers[i]; NLMSG_OK(h, left); h = next(h, &left))
			if (h->nlmsg_seq < 4 && h->nlmsg_type != NLMSG_ERROR)
				seen |= 1u << h->nlmsg_seq;
	}
	return seen;
}

static void netlink_in_batches(void)
{
	static _Alignas(16) char buffers[BUFFERS][BUFFER_SIZE];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA), n;
	struct nlmsghdr heads[3] = { request(RDMA_NLDEV_CMD_SYS_GET, 0, 1), request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, 2),
		request(RDMA_NLDEV_CMD_SYS_GET, 0, 3) };
	struct iovec out[3], in[BUFFERS];
	struct mmsghdr messages[BUFFERS] = { 0 };
	unsigned int seen = 0;

	ok(fd >= 0, "a socket of NETLINK_RDMA");
	waits(fd, false, "netlink without a request");
	for (int i = 0; i < 3; i++) {
		out[i] = (struct iovec){ &heads[i], sizeof(heads[i]) };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &out[i], .msg_iovlen = 1 };
	}
	ok(sendmmsg(fd, messages, 3, 0) == 3, "sendmmsg: three requests");
	ok(messages[0].msg_len == sizeof(heads[0]), "sendmmsg: says how long each was");
	waits(fd, true, "netlink with answers");
	while (by_poll(fd, 200)) {
		for (int i = 0; i < BUFFERS; i++) {
			in[i] = (struct iovec){ buffers[i], BUFFER_SIZE };
			messages[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &in[i], .msg_iovlen = 1 } };
		}
		n = recvmmsg(fd, messages, BUFFERS, MSG_DONTWAIT, NULL);
		if (n <= 0)
			break;
		seen |= answered(buffers, messages, n);
	}
	ok(seen == 0xe, "recvmmsg: all three are answered");
	ok(recvmmsg(fd, messages, 1, MSG_DONTWAIT, NULL) < 0 && errno == EAGAIN, "recvmmsg: EAGAIN without more");
	close(fd);
}

/* ---- asynchronous events ---- */

static void events(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	int (*fault)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mlx5emu_fault");
	struct ibv_async_event event;

	ok(ctx && fault, "a device");
	if (!ctx || !fault)
		return;
	waits(ctx->async_fd, false, "no event");
	fcntl(ctx->async_fd, F_SETFL, fcntl(ctx->async_fd, F_GETFL) | O_NONBLOCK);
	ok(ibv_get_async_event(ctx, &event) < 0 && errno == EAGAIN, "no event: EAGAIN");
	fault("port-down");
	waits(ctx->async_fd, true, "a port that goes down");
	ok(!ibv_get_async_event(ctx, &event) && event.event_type == IBV_EVENT_PORT_ERR, "PORT_ERR is read");
	ibv_ack_async_event(&event);
	waits(ctx->async_fd, false, "no event any more");
	ibv_close_device(ctx);
	ibv_free_device_list(list);
}

int main(void)
{
	netlink_in_batches();
	events();
	printf("1..%d\n", tests);
	return failures != 0;
}
