/* SPDX-License-Identifier: MIT */
/* The control connection: whole messages with a deadline for each, over a TCP socket that nobody needs to trust. */
#ifndef RDMADIAG_PROBE_CHANNEL_H
#define RDMADIAG_PROBE_CHANNEL_H

#include "base/error.h"
#include "probe/message.h"
#include "probe/run.h"

#include <json-c/json.h>
#include <netdb.h>
#include <stdbool.h>

struct channel {
	int fd; /* -1: none; non-blocking */
	struct probe_run *run;
	bool closed;    /* the other end closed it, or it broke */
	bool left;      /* the other end closed it */
	bool finishing; /* go on though somebody asked for an end or the other end complained: only evidence is wanted
	                 */
};

/* A message that came in: its object, until message_free(). */
struct incoming {
	json_object *object;
	const char *type; /* in the object */
};
void message_free(struct incoming *incoming);

/*
 * All of these take a time of the run as their deadline. 0, or a negative errno with `error`: -ETIMEDOUT, -ECONNRESET
 * when the other end is gone, -EPROTO or -EMSGSIZE for what is no message, -EINTR when somebody asked for an end.
 */
int channel_send(struct channel *channel, const struct record *record, const void *message, int64_t deadline_ns,
        struct error *error);
int channel_receive(struct channel *channel, struct incoming *incoming, int64_t deadline_ns, struct error *error);
/* Bytes that are no message; both ends know how many. */
int channel_send_bytes(struct channel *channel, const void *bytes, size_t length, int64_t deadline_ns);
int channel_receive_bytes(struct channel *channel, void *bytes, size_t length, int64_t deadline_ns);
/* Is something there to be read? */
bool channel_is_readable(const struct channel *channel, int wait_ms);

/* Reads a message into `data` of its record; texts go into the run's arena. */
int channel_read(struct channel *channel, const struct incoming *incoming, const struct record *record, void *data,
        struct error *error);
/*
 * Receives a message of `type` and reads it; what the other end says with "error" becomes the error here, with its
 * errno. Leftover "pong" and "alive" are skipped.
 */
int channel_expect(struct channel *channel, const char *type, const struct record *record, void *data,
        int64_t deadline_ns, struct error *error);
/* Tells the other end what went wrong; it may be gone. */
void channel_complain(struct channel *channel, const char *step, const struct error *error);
/* Tells a peer that waits at this socket that the listener serves another one. Never waits. */
void channel_turn_away(int fd);

/* The addresses of HOST, for freeaddrinfo(3). 0, or -ENOENT, -EAGAIN … with `error` where the name is not known. */
int channel_resolve(const char *host, uint16_t port, struct addrinfo **list, struct error *error);
/* Is it an address as numbers, for which nobody has to be asked? */
bool channel_is_address(const char *host);
/* Connects to the first of these addresses that answers. */
int channel_connect(struct channel *channel, struct probe_run *run, const struct addrinfo *list, int64_t deadline_ns,
        struct error *error);
/* Takes a connected socket. */
int channel_open(struct channel *channel, struct probe_run *run, int fd);
void channel_close(struct channel *channel);
/* Small segments, so that the exchange passes where large packets are lost, and the probe can find that out. */
void channel_keep_small(int fd);
/* The connection's own address as a GID (16 bytes). 0 or negative errno. */
int channel_local_gid(const struct channel *channel, uint8_t gid[static 16]);
/* What the kernel knows about the connection, into the evidence. */
void channel_describe(const struct channel *channel);

#endif
