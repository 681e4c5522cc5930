/* SPDX-License-Identifier: MIT */
/*
 * The messages of the control connection: JSON objects with a "type", each behind its length as four bytes, the highest
 * first. Both ends read them through field tables, so what comes from the network has the right types or is refused.
 *
 *	initiator           target
 *	hello          →                its end point, and what it is going to do
 *	               ←    offer       the target's end point
 *	               ←    ready       the target's queue pair is in RTS
 *	ping           →                a few rounds, for the offset of the clocks
 *	               ←    pong
 *	alive          →                once a second during long runs
 *	done           →                the last request has succeeded
 *	               ←    ok          the payload, as the target found it
 *	ask            →                also after a failure
 *	               ←    evidence    all that the target recorded
 *	stream         →                with --tcp: so many bytes of payload follow as they are
 *	               ←    streamed    when they were all there, and whether they are right
 *	bye            →
 *
 * Either may send "error" and say what went wrong; after that the target still answers "ask".
 */
#ifndef RDMADIAG_PROBE_MESSAGE_H
#define RDMADIAG_PROBE_MESSAGE_H

#include "model/evidence.h"
#include "probe/target.h"

enum {
	PROTOCOL_VERSION = 2,
	MESSAGE_LIMIT = 512 << 10, /* bytes of one message */
	HELLO_LIMIT = 32 << 10,    /* of the first one */
};

struct hello_message {
	const char *type;
	struct num protocol;
	const char *tool_version;
	int op; /* enum operation_code */
	LIST(struct num) sizes;
	struct num count, timeout_ms;
	struct num batch, qps, signal_every; /* how the requests are shared out, see layout.h */
	const char *drill;                   /* a mistake that the target has a part in; NULL: none */
	struct num seed;                     /* of the payload */
	struct endpoint_facts endpoint;
};

struct offer_message {
	const char *type;
	struct endpoint_facts endpoint;
};

struct clock_message { /* ping and pong */
	const char *type;
	struct num round;
	struct num time_ns; /* of the target's run; pong only */
};

struct posted_message { /* done and ask */
	const char *type;
	struct num posted;          /* requests that were posted */
	struct peer_report *report; /* ask only: what became of them */
};

struct ok_message {
	const char *type;
	enum flag verified; /* all that can be compared is right */
	struct landings landings;
};

struct evidence_message {
	const char *type;
	struct evidence evidence;
	struct landings landings;
};

struct error_message {
	const char *type;
	const char *step;
	struct num error; /* "errno" */
	const char *text;
};

struct stream_message {
	const char *type;
	struct num bytes;  /* behind this message */
	struct num serial; /* of the payload */
};

struct streamed_message {
	const char *type;
	struct num received_ns; /* on the target's clock */
	enum flag verified;
};

struct plain_message { /* ready, alive, bye; and the head of each other */
	const char *type;
};

extern const struct record hello_record, offer_record, clock_message_record, posted_record, ok_record,
        evidence_message_record, error_message_record, stream_record, streamed_record, plain_record;

/* Is what an initiator asks for within the limits? 0, or a negative errno with `error`. */
int hello_check(const struct hello_message *hello, struct error *error);

#endif
