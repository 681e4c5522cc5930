/* SPDX-License-Identifier: MIT */
/*
 * The queues of an mlx5 queue pair as they lie in the program's memory. Pure functions over (buffer, index): they only
 * load, and never consume. Everything the adapter reads or writes is big-endian.
 *
 * Layouts are those of infiniband/mlx5dv.h (struct mlx5_wqe_ctrl_seg, mlx5_wqe_raddr_seg, mlx5_wqe_data_seg,
 * mlx5_cqe64) and the use that rdma-core's provider makes of them (providers/mlx5/qp.c, cq.c).
 */
#ifndef RDMADIAG_PROBE_MLX5_RING_H
#define RDMADIAG_PROBE_MLX5_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MLX5_BLOCK_BYTES = 64, MLX5_SEGMENT_BYTES = 16 };

/* ---- send queue ---- */

struct mlx5_send_queue {
	const unsigned char *buffer; /* NULL: none */
	uint32_t blocks;             /* of 64 bytes (WQEBB), a power of two */
};

/* A work queue entry as it was written. What follows the control segment is known for RC operations only. */
struct mlx5_wqe {
	uint8_t opcode;    /* MLX5_OPCODE_* */
	uint16_t index;    /* the block it begins at, not masked */
	uint16_t next;     /* the block behind it */
	uint32_t qpn;      /* of 24 bits */
	uint32_t segments; /* of 16 bytes, the control segment included */
	bool signaled, solicited, fenced;
	bool has_remote; /* a remote address segment: RDMA write and read */
	uint64_t remote_address;
	uint32_t rkey;
	bool has_data;    /* one data segment at least */
	bool is_inline;   /* the first one holds the payload itself */
	uint32_t bytes;   /* of all data segments */
	uint64_t address; /* of the first one; 0: inline */
	uint32_t lkey;
};

/* 0, or -EPROTO with `reason` where `length` bytes at `buffer` cannot be a queue of `blocks` with this stride. */
int mlx5_send_queue_open(struct mlx5_send_queue *queue, const void *buffer, size_t length, uint32_t blocks,
        uint32_t stride, const char **reason);
/* The entry that begins at block `index` (any 16-bit number). -EPROTO: what lies there is none. */
int mlx5_wqe_read(const struct mlx5_send_queue *queue, uint16_t index, struct mlx5_wqe *wqe);
/* The send half of a queue pair's doorbell record: the block behind the last entry that was published. */
uint16_t mlx5_send_record(const uint32_t *record);

/* ---- completion queue ---- */

struct mlx5_completion_queue {
	const unsigned char *buffer; /* NULL: none */
	uint32_t entries;            /* a power of two */
	uint32_t entry_bytes;        /* 64 or 128 */
};

enum mlx5_cqe_opcode { MLX5_OPCODE_REQUESTER = 0, MLX5_OPCODE_REQUESTER_ERROR = 13, MLX5_OPCODE_RESPONDER_ERROR = 14 };

struct mlx5_completion {
	uint8_t opcode; /* enum mlx5_cqe_opcode and others */
	bool known;     /* the opcode is one that rdma-core knows */
	bool failed;    /* requester or responder error: the next two are valid */
	uint8_t syndrome, vendor_err;
	bool solicited;
	uint8_t scattered; /* payload in the entry: 0, 32 or 64 bytes of room */
	bool compressed;
	uint32_t qpn;   /* of 24 bits */
	uint16_t block; /* where the work queue entry begins, requester only */
	uint32_t bytes;
};

int mlx5_completion_queue_open(struct mlx5_completion_queue *queue, const void *buffer, size_t length, uint32_t entries,
        uint32_t entry_bytes, const char **reason);
/* Does the entry of consumer index `index` belong to the program, so that poll would take it? */
bool mlx5_cqe_present(const struct mlx5_completion_queue *queue, uint32_t index);
/*
 * Is the entry that is present there the first of a compressed block (mini CQEs)? Then the following slots are not laid
 * out as entries, and their owner bits say nothing. Queues are compressed by mlx5dv_create_cq() only.
 */
bool mlx5_cqe_compressed(const struct mlx5_completion_queue *queue, uint32_t index);
/* 0, or -EAGAIN when it is not there. */
int mlx5_cqe_read(const struct mlx5_completion_queue *queue, uint32_t index, struct mlx5_completion *completion);
/* The consumer index as ibv_poll_cq() left it, 24 bits. An empty poll rewrites it too. */
uint32_t mlx5_consumer_record(const uint32_t *record);

#endif
