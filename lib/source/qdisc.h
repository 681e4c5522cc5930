/* SPDX-License-Identifier: MIT */
/* Queueing disciplines of netdevs (linux/pkt_sched.h): what delays, damages or drops packets on purpose. */
#ifndef RDMADIAG_SOURCE_QDISC_H
#define RDMADIAG_SOURCE_QDISC_H

#include "base/error.h"
#include "model/health.h"
#include "origin/netlink.h"

#include <libmnl/libmnl.h>

enum { QDISC_TEXT_SIZE = 160 };

struct qdisc {
	int ifindex;
	uint32_t handle;
	const char *kind; /* as long as the message is there */
	struct num drops; /* since it was made */
	/* Of netem: shares of all packets, and by how much each is held back. */
	double loss_percent, duplicate_percent, corrupt_percent, reorder_percent;
	bool loss_model; /* a chain of states instead of one share */
	int64_t delay_ns;
};

/* Of RTM_NEWQDISC; 0 or -EBADMSG. */
int qdisc_parse(const struct nlmsghdr *message, struct qdisc *qdisc);
/* Does it drop only when the queue of the netdev is full? */
bool qdisc_is_plain(const struct qdisc *qdisc);
/* Does it hold back or drop packets by what it is set to? */
bool qdisc_limits(const struct qdisc *qdisc);
/* "netem on eth0: delay 60.0 ms, loss 5 %", "queueing discipline tbf on eth0" */
void qdisc_describe(const struct qdisc *qdisc, const char *netdev, char text[static QDISC_TEXT_SIZE]);

/* Dump of those of all netdevs on a socket of NETLINK_ROUTE, which is opened where it is not, to be freed with
 * nl_requests_free(). 0 or negative errno. */
int qdisc_dump(struct nl_socket *socket, struct nl_request *request);
/* Adds those that limit. 0 or negative errno with `error`. */
int qdisc_read(struct nl_socket *socket, struct arena *arena, struct filter_answer *answer, struct error *error);

#endif
