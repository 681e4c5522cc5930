/* SPDX-License-Identifier: MIT */
/*
 * Interposed socket functions: a NETLINK_RDMA socket is one end of a socket pair, and requests are answered into the
 * other end while they are sent. The kernel's other netlink families are not touched.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"

static struct fd_info *serving; /* with the lock held */

static struct fd_info *netlink_fd(int fd)
{
	struct fd_info *f = fd_lookup(fd);

	return f && f->kind == FD_NETLINK ? f : NULL;
}

/* The first socket of a process gets its pid, as in the kernel; the others something unique. */
static uint32_t choose_portid(void)
{
	static uint32_t next;
	static pid_t owner;

	if (owner != getpid()) {
		owner = getpid();
		next = 0;
	}
	return next++ ? (uint32_t)(0x80000000u | (uint32_t)getpid() << 8 | (next & 0xff)) : (uint32_t)getpid();
}

static int open_netlink(int type)
{
	int pair[2], size = 4 << 20;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | (type & (SOCK_CLOEXEC | SOCK_NONBLOCK)), 0, pair))
		return -1;
	if (pair[0] >= MAX_FDS) {
		real.close(pair[0]);
		real.close(pair[1]);
		errno = EMFILE;
		return -1;
	}
	real.setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	fd_remember(pair[0], &(struct fd_info){ .kind = FD_NETLINK, .peer = pair[1], .portid = choose_portid() });
	fd_lookup(pair[0])->queue_end = &fd_lookup(pair[0])->queue;
	return pair[0];
}

EXPORT int socket(int domain, int type, int protocol)
{
	resolve_real();
	if (domain != AF_NETLINK || protocol != NETLINK_RDMA || emu_init())
		return real.socket(domain, type, protocol);
	if (!emu.netlink) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return open_netlink(type);
}

void netlink_closed(struct fd_info *f)
{
	while (f->queue) {
		struct reply *r = f->queue;

		f->queue = r->next;
		free(r);
	}
	real.close(f->peer);
}

static bool push(struct fd_info *f, const void *msg, size_t len)
{
	return real.sendto(f->peer, msg, len, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) == (ssize_t)len;
}

/* Answers that did not fit wait in the process, so that a long dump needs no reader while it is made. */
void netlink_reply(const void *msg, size_t len)
{
	struct fd_info *f = serving;
	struct reply *r;

	if (!f->queue && push(f, msg, len))
		return;
	r = malloc(sizeof(*r) + len);
	if (!r)
		return;
	r->next = NULL;
	r->len = len;
	memcpy(r->bytes, msg, len);
	*f->queue_end = r;
	f->queue_end = &r->next;
}

static void refill(struct fd_info *f)
{
	emu_lock();
	while (f->queue && push(f, f->queue->bytes, f->queue->len)) {
		struct reply *r = f->queue;

		f->queue = r->next;
		if (!f->queue)
			f->queue_end = &f->queue;
		free(r);
	}
	emu_unlock();
}

static ssize_t request(struct fd_info *f, const void *buf, size_t len)
{
	emu_lock();
	serving = f;
	netlink_input(buf, len, f->portid);
	serving = NULL;
	emu_unlock();
	return (ssize_t)len;
}

EXPORT int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct fd_info *f = netlink_fd(fd);
	struct sockaddr_nl nl;

	if (!f)
		return real.bind(fd, addr, len);
	if (len < sizeof(nl)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(&nl, addr, sizeof(nl));
	if (nl.nl_pid)
		f->portid = nl.nl_pid;
	return 0;
}

EXPORT int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	return netlink_fd(fd) ? 0 : real.connect(fd, addr, len);
}

EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	return netlink_fd(fd) && level != SOL_SOCKET ? 0 : real.setsockopt(fd, level, option, value, len);
}

EXPORT int getsockopt(int fd, int level, int option, void *value, socklen_t *len)
{
	struct fd_info *f = netlink_fd(fd);

	if (f && level == SOL_SOCKET && (option == SO_PROTOCOL || option == SO_DOMAIN) && *len >= sizeof(int)) {
		*(int *)value = option == SO_PROTOCOL ? NETLINK_RDMA : AF_NETLINK;
		return 0;
	}
	return real.getsockopt(fd, level, option, value, len);
}

static void fill_address(struct sockaddr *addr, socklen_t *len, uint32_t portid)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_pid = portid };

	if (!addr || !len)
		return;
	memcpy(addr, &nl, *len < sizeof(nl) ? *len : sizeof(nl));
	*len = sizeof(nl);
}

EXPORT int getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
	struct fd_info *f = netlink_fd(fd);

	if (!f)
		return real.getsockname(fd, addr, len);
	fill_address(addr, len, f->portid);
	return 0;
}

EXPORT ssize_t sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *addr, socklen_t len)
{
	struct fd_info *f = netlink_fd(fd);

	return f ? request(f, buf, n) : real.sendto(fd, buf, n, flags, addr, len);
}

EXPORT ssize_t send(int fd, const void *buf, size_t n, int flags)
{
	return sendto(fd, buf, n, flags, NULL, 0);
}

static ssize_t request_iov(struct fd_info *f, const struct msghdr *m)
{
	size_t n = 0, at = 0;
	ssize_t sent;
	uint8_t *buf;

	for (size_t i = 0; i < m->msg_iovlen; i++)
		n += m->msg_iov[i].iov_len;
	buf = malloc(n ? n : 1);
	if (!buf) {
		errno = ENOMEM;
		return -1;
	}
	for (size_t i = 0; i < m->msg_iovlen; at += m->msg_iov[i++].iov_len)
		memcpy(buf + at, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
	sent = request(f, buf, n);
	free(buf);
	return sent;
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct fd_info *f = netlink_fd(fd);

	return f ? request_iov(f, m) : real.sendmsg(fd, m, flags);
}

EXPORT int sendmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags)
{
	struct fd_info *f = netlink_fd(fd);

	if (!f)
		return real.sendmmsg(fd, v, n, flags);
	for (unsigned int i = 0; i < n; i++) {
		ssize_t sent = request_iov(f, &v[i].msg_hdr);

		if (sent < 0)
			return i ? (int)i : -1;
		v[i].msg_len = (unsigned int)sent;
	}
	return (int)n;
}

/* The answer comes from the kernel: port 0. */
static ssize_t receive(struct fd_info *f, int fd, struct msghdr *m, int flags)
{
	void *name = m->msg_name;
	socklen_t room = m->msg_namelen;
	ssize_t n;

	refill(f);
	m->msg_name = NULL;
	m->msg_namelen = 0;
	n = real.recvmsg(fd, m, flags);
	m->msg_name = name;
	m->msg_namelen = room;
	if (name && n >= 0)
		fill_address(name, &m->msg_namelen, 0);
	return n;
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct fd_info *f = netlink_fd(fd);

	return f ? receive(f, fd, m, flags) : real.recvmsg(fd, m, flags);
}

EXPORT int recvmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags, struct timespec *timeout)
{
	struct fd_info *f = netlink_fd(fd);
	unsigned int got = 0;

	if (!f)
		return real.recvmmsg(fd, v, n, flags, timeout);
	while (got < n) {
		ssize_t len =
		        receive(f, fd, &v[got].msg_hdr, got && flags & MSG_WAITFORONE ? flags | MSG_DONTWAIT : flags);

		if (len < 0)
			return got ? (int)got : -1;
		v[got++].msg_len = (unsigned int)len;
	}
	return (int)got;
}

EXPORT ssize_t recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *addr, socklen_t *len)
{
	struct fd_info *f = netlink_fd(fd);
	ssize_t got;

	if (!f)
		return real.recvfrom(fd, buf, n, flags, addr, len);
	refill(f);
	got = real.recvfrom(fd, buf, n, flags, NULL, NULL);
	if (got >= 0)
		fill_address(addr, len, 0);
	return got;
}

EXPORT ssize_t recv(int fd, void *buf, size_t n, int flags)
{
	return recvfrom(fd, buf, n, flags, NULL, NULL);
}

EXPORT ssize_t read(int fd, void *buf, size_t n)
{
	struct fd_info *f = netlink_fd(fd);

	if (f)
		refill(f);
	return real.read(fd, buf, n);
}

/* With -D_FORTIFY_SOURCE. */
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *addr, socklen_t *len);
ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);

EXPORT ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags)
{
	return recv(fd, buf, n < room ? n : room, flags);
}

EXPORT ssize_t __recvfrom_chk(
        int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *addr, socklen_t *len)
{
	return recvfrom(fd, buf, n < room ? n : room, flags, addr, len);
}

EXPORT ssize_t __read_chk(int fd, void *buf, size_t n, size_t room)
{
	return read(fd, buf, n < room ? n : room);
}
