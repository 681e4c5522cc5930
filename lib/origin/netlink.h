/* SPDX-License-Identifier: MIT */
/* The netlink sockets of the live origin: many requests in few system calls. */
#ifndef RDMADIAG_ORIGIN_NETLINK_H
#define RDMADIAG_ORIGIN_NETLINK_H

#include "origin/origin.h"

struct nl_socket {
	int fd;
	uint32_t sequence;
	size_t window;         /* replies that surely fit into the receive buffer */
	size_t message_size;   /* room for one message, in bytes */
	unsigned char *buffer; /* of the messages of one call; mapped */
};

#define NL_SOCKET_CLOSED ((struct nl_socket){ .fd = -1 })

/* See origin_netlink(). Opens the socket where it is not. */
int nl_exchange(struct nl_socket *socket, int protocol, struct nl_request *requests, size_t count);
void nl_socket_close(struct nl_socket *socket);

#endif
