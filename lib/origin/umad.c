/* SPDX-License-Identifier: MIT */
/*
 * The interface is the kernel's (rdma/ib_user_mad.h, Documentation/infiniband/user_mad.rst), the format of a directed
 * route SMP that of the InfiniBand Architecture Specification, volume 1, 14.2.1.2.
 */
#include "origin/umad.h"
#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	DIRECTED_ROUTE = 0x81, /* management class */
	METHOD_GET = 1,
	METHOD_GET_RESPONSE = 0x81,
	TIMEOUT_MS = 500,
	TRANSACTION = 0x7264, /* any number: one request is under way at a time */
};

/* Offsets. */
enum {
	BASE_VERSION,
	CLASS,
	CLASS_VERSION,
	METHOD,
	STATUS,
	TRANSACTION_LOW = 14,
	ATTRIBUTE = 16,
	MODIFIER = 20,
	FROM_LID = 32,
	TO_LID = 34
};

static void put16(unsigned char *at, unsigned int value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

static unsigned int get16(const unsigned char *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

void umad_build(const struct mad_request *request, unsigned char mad[static MAD_SIZE])
{
	memset(mad, 0, MAD_SIZE);
	mad[BASE_VERSION] = mad[CLASS_VERSION] = 1;
	mad[CLASS] = DIRECTED_ROUTE;
	mad[METHOD] = METHOD_GET;
	put16(mad + TRANSACTION_LOW, TRANSACTION);
	put16(mad + ATTRIBUTE, request->attribute);
	put16(mad + MODIFIER, request->modifier >> 16);
	put16(mad + MODIFIER + 2, request->modifier & 0xffff);
	put16(mad + FROM_LID, 0xffff); /* permissive: no part of the way goes by LID */
	put16(mad + TO_LID, 0xffff);
}

int umad_check(const struct mad_request *request, const unsigned char mad[static MAD_SIZE])
{
	if (mad[CLASS] != DIRECTED_ROUTE || mad[METHOD] != METHOD_GET_RESPONSE ||
	        get16(mad + ATTRIBUTE) != request->attribute)
		return -EPROTO;
	return get16(mad + STATUS) & 0x7fff ? -EOPNOTSUPP : 0; /* the first bit is the direction */
}

/* What the kernel writes and reads with IB_USER_MAD_ENABLE_PKEY. */
struct packet {
	struct ib_user_mad_hdr header;
	unsigned char mad[MAD_SIZE];
};

static int send_request(int fd, const struct mad_request *request, uint32_t agent)
{
	struct packet packet = { .header = { .id = agent, .timeout_ms = TIMEOUT_MS, .retries = 2 } };
	packet.header.lid = htons(0xffff);
	packet.header.length = MAD_SIZE;
	umad_build(request, packet.mad);
	ssize_t sent = write(fd, &packet, sizeof(packet));
	return sent == sizeof(packet) ? 0 : sent < 0 ? -errno : -EIO;
}

static int receive_reply(int fd, struct mad_request *request)
{
	enum { ALL_TRIES_MS = TIMEOUT_MS * 4 };
	struct packet packet;
	struct pollfd waiting = { .fd = fd, .events = POLLIN };
	int ready = poll(&waiting, 1, ALL_TRIES_MS);
	if (ready <= 0)
		return ready ? -errno : -ETIMEDOUT;
	ssize_t got = read(fd, &packet, sizeof(packet));
	if (got < 0)
		return -errno;
	if ((size_t)got >= sizeof(packet.header) && packet.header.status) /* of the request that came back */
		return -(int)packet.header.status;
	if ((size_t)got != sizeof(packet))
		return -EPROTO;
	memcpy(request->reply, packet.mad, MAD_SIZE);
	return 0;
}

int umad_exchange(struct mad_request *request)
{
	char path[80];
	struct ib_user_mad_reg_req agent = { .qpn = 0, .mgmt_class = DIRECTED_ROUTE, .mgmt_class_version = 1 };
	snprintf(path, sizeof(path), "/dev/infiniband/%s", request->node);
	autoclose int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || ioctl(fd, IB_USER_MAD_ENABLE_PKEY) || ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &agent))
		return -errno;
	int result = send_request(fd, request, agent.id);
	return result ? result : receive_reply(fd, request);
}
