/* SPDX-License-Identifier: MIT */
/* Faults: how they are written, when they strike, and who is guilty. */
#ifndef MLX5EMU_FAULT_H
#define MLX5EMU_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum fault_kind {
	F_DOORBELL_LOST,
	F_NO_FETCH,
	F_NO_EXECUTE,
	F_LATE,
	F_DROP,
	F_DELAY,
	F_DUPLICATE,
	F_NO_ACK,
	F_NO_CQE,
	F_LATE_CQE,
	F_ERROR,
	F_CORRUPT,
	F_GARBLED_CQE,
	F_MISPLACED_CQE,
	F_CQE_TWICE,
	F_INTERRUPT_LOST,
	F_CQ_OVERRUN,
	F_PORT_DOWN,
	F_MEMBER_DOWN,
	F_DEVICE_FATAL,
	F_FW_HANG,
	F_COMMAND_FAIL,
	F_BLOCK_OPEN,
	F_BLOCK_IOCTL,
	F_BLOCK_SYSFS,
	F_BLOCK_NETLINK,
	F_NETLINK_FAIL,
	F_DEVX_FAIL,
	F_FROZEN_QPC,
	F_KINDS
};

enum fault_dir { DIR_ANY, DIR_REQUEST, DIR_RESPONSE };
enum fault_side { SIDE_ANY, SIDE_REQUESTER, SIDE_RESPONDER };

struct fault_info {
	const char *name;
	const char *args;   /* for help */
	const char *guilty; /* contract layer */
	const char *text;
	uint64_t default_arg[2];
	uint64_t default_count; /* 0: every time */
};
extern const struct fault_info fault_table[F_KINDS];

struct fault {
	enum fault_kind kind;
	char spec[128];
	uint64_t arg[2];
	enum fault_dir dir;
	char target[128]; /* a command, a netlink operation, a sysfs path pattern; corrupt: where */
	/* selectors; 0 or empty: any */
	char device[32], op[16], guilty[24];
	enum fault_side side;
	uint32_t port, qpn, member;
	uint64_t after, count, min_bytes, max_bytes, from_ms, until_ms, for_ms;
	double probability;
	/* run time */
	uint64_t seen, hits;
};

/* What a fault may be selected by, at the place where it could strike. */
struct fault_site {
	const char *device, *op, *target;
	uint32_t port, qpn, bytes, member;
	enum fault_side side;
	enum fault_dir dir;
	bool loopback; /* the packet does not leave its port */
};

int fault_parse(const char *spec, struct fault *f); /* 0 or -EINVAL */
const char *fault_problem(void);                    /* in words, once it failed */
void fault_help(FILE *out);

int fault_add(const char *spec);
void fault_clear(void);
void fault_init(void); /* $MLX5EMU_FAULTS, one a line, and $MLX5EMU_SEED */
void fault_reseed(void);
bool fault_any(enum fault_kind kind);
/* Strikes now? The hit is counted and written to the ground truth. The pointer is valid until faults change. */
const struct fault *fault_hit(enum fault_kind kind, const struct fault_site *site);
uint64_t fault_random(void);
uint32_t fault_run(void); /* which `run` this process belongs to */

#endif
