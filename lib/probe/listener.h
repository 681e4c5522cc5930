/* SPDX-License-Identifier: MIT */
/*
 * The socket that peers connect to, and the room where they wait to be served.
 *
 * One peer is served at a time. The others wait side by side: who says nothing, or goes away again, costs the others no
 * time. A connection is handed out once its whole first message lies in the socket.
 */
#ifndef RDMADIAG_PROBE_LISTENER_H
#define RDMADIAG_PROBE_LISTENER_H

#include "base/error.h"
#include "probe/settings.h"
#include "probe/survey.h"

#include <stddef.h>
#include <stdint.h>

enum { LISTENER_ROOM = 16, LISTENER_NAME_SIZE = 64 };

struct waiting_peer {
	int fd;
	int64_t since_ms;
	char name[LISTENER_NAME_SIZE]; /* address and port */
};

struct listener {
	int fd; /* -1: closed */
	struct waiting_peer room[LISTENER_ROOM];
	size_t count; /* of those in the room, in the order in which they came */
};

/* Binds to the address and port of `settings`. 0, or a negative errno with `error`; listener_close() after either. */
int listener_open(struct listener *listener, const struct probe_settings *settings, struct error *error);
void listener_close(struct listener *listener);
/*
 * Where peers of the device reach the listener: its own address, or where it listens on every address those of the
 * port's netdevs. `port` may be unknown.
 */
void listener_describe(const struct listener *listener, const struct survey *survey, const char *device,
        struct num port, char *text, size_t size);
/*
 * Waits for the next peer, without a deadline. 0 with its socket; -EAGAIN with `error` that says who was sent away and
 * why, then it is called again; -EINTR after a watched signal, or another negative errno.
 */
int listener_next(struct listener *listener, int *fd, struct error *error);
/*
 * While a peer is served: lets others in, and tells those that have waited for long that the listener is busy. Never
 * waits.
 */
void listener_look(struct listener *listener);

#endif
