/* SPDX-License-Identifier: MIT */
/* What the operator asked of a probe, from words to numbers within sane limits. */
#ifndef RDMADIAG_PROBE_SETTINGS_H
#define RDMADIAG_PROBE_SETTINGS_H

#include "base/arena.h"
#include "base/error.h"
#include "model/evidence.h"
#include "probe/deviation.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	PROBE_PORT = 18517,     /* of the control connection; any free TCP port does, see --listen and --peer */
	PROBE_SIZES_LIMIT = 16, /* sizes in one run */
	PROBE_COUNT_LIMIT = 1000000,
	PROBE_QPS_LIMIT = 64,
	PROBE_BATCH_LIMIT = 256, /* requests of a chain, and unsignaled ones behind each other */
	PROBE_DEPTH_LIMIT = 16384,
	PROBE_SGES_LIMIT = 16,
	PROBE_TIMEOUT_MIN_MS = 50, /* below that the QP's own retries cannot end first */
	PROBE_TIMEOUT_MAX_MS = 600000,
	PROBE_DEFAULT_TIMEOUT_MS = 5000,
	PROBE_HOST_SIZE = 256,
};
#define PROBE_SIZE_LIMIT (INT64_C(1) << 31) /* IBTA: a message has at most 2^31 bytes */

/* "DEV[/PORT]"; a netdev's name stands for the RDMA device of that netdev. */
struct device_choice {
	char name[64]; /* "": not asked for */
	struct num port;
};

struct probe_settings {
	struct probe_request request; /* as it stands in the document; its texts live in the arena */
	struct deviation deviation;   /* see --drill */
	struct device_choice device, target;
	char host[PROBE_HOST_SIZE]; /* of --peer, or the address of --listen; "": any */
	uint16_t tcp_port;          /* 0: any (--listen only) */
	bool listens;
	bool keep; /* serve one peer after another until interrupted */
};

/* Nothing asked for: one write of each default size in loopback. */
void settings_init(struct probe_settings *settings);

/*
 * Each takes the argument of one option. 0, or -EINVAL with `error` that says what is wrong with the value (the caller
 * puts the option's name before it); -ENOMEM.
 */
int settings_device(struct device_choice *choice, const char *text, struct error *error);
int settings_sizes(struct probe_settings *settings, struct arena *arena, const char *text, struct error *error);
int settings_operation(struct probe_settings *settings, const char *text, struct error *error);
/* One of `words`, which ends with NULL. */
/* The same of milliseconds: who writes a unit is told so. */
int settings_milliseconds(const char *text, int64_t least, int64_t most, struct num *value, struct error *error);
int settings_word(const char *text, const char *const *words, const char **word, struct error *error);
int settings_buffer_node(struct probe_settings *settings, struct arena *arena, const char *text, struct error *error);
/* A whole number within limits. */
int settings_number(const char *text, int64_t least, int64_t most, struct num *value, struct error *error);
/* HOST[:PORT], with IPv6 addresses in brackets when a port follows. */
int settings_peer(struct probe_settings *settings, struct arena *arena, const char *text, struct error *error);
/* [ADDR][:PORT]; NULL: every address, the usual port. */
int settings_listen(struct probe_settings *settings, const char *text, struct error *error);

/* What does not go together, once all options are known. */
int settings_check(const struct probe_settings *settings, struct error *error);

#endif
