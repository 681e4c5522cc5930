/* SPDX-License-Identifier: MIT */
/*
 * The context of a queue pair (QPC) and of a completion queue (CQC) as the firmware returns them, and the container in
 * which rdma netlink hands them over. Pure functions over bytes; every length is checked.
 *
 * The meaning of the fields comes from headers and published dumps; no hardware has confirmed it. So what these
 * functions return is a hint until it was checked: see inspection.h.
 */
#ifndef RDMADIAG_PROBE_MLX5_CONTEXT_H
#define RDMADIAG_PROBE_MLX5_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

/* Where the context begins in the output of QUERY_QP and QUERY_CQ, and how long that output is. */
enum { MLX5_QPC_OFFSET = 0x18, MLX5_CQC_OFFSET = 0x10, MLX5_QUERY_BYTES = 272, MLX5_QUERY_INPUT_BYTES = 16 };

enum mlx5_qpc_state {
	MLX5_QPC_RESET,
	MLX5_QPC_INIT,
	MLX5_QPC_RTR,
	MLX5_QPC_RTS,
	MLX5_QPC_SQE,
	MLX5_QPC_SQD,
	MLX5_QPC_ERR
};

struct mlx5_qpc {
	uint32_t state; /* enum mlx5_qpc_state, or another number */
	uint32_t lag_port;
	uint32_t remote_qpn, send_cqn;
	uint32_t retry_limit, rnr_retry_limit, retries_left, rnr_retries_left;
	uint32_t next_send_psn, last_acked_psn, next_receive_psn; /* 24 bits */
	uint32_t executed, taken;                                 /* blocks of 64 bytes, 16 bits */
};

struct mlx5_cqc {
	uint32_t status; /* 0: ok, 9: overflow, 10: write failed */
	uint32_t arm;    /* 6: armed for solicited ones, 9: armed, 10: fired */
	uint32_t log_entries;
	uint32_t notified, consumed, produced; /* 24 bits */
};

/* The command itself: `opcode` is that of QUERY_QP or QUERY_CQ, `number` the object's. */
enum { MLX5_QUERY_QP = 0x50b, MLX5_QUERY_CQ = 0x402 };
void mlx5_query_input(unsigned char input[MLX5_QUERY_INPUT_BYTES], uint16_t opcode, uint32_t number);

/* A bare context. 0, or -EMSGSIZE when it is shorter than the fields reach. */
int mlx5_qpc_decode(const void *image, size_t length, struct mlx5_qpc *qpc);
int mlx5_cqc_decode(const void *image, size_t length, struct mlx5_cqc *cqc);
/* The whole output of a query: -EREMOTEIO where the firmware reports a failure in it. */
int mlx5_qp_output(const void *output, size_t length, struct mlx5_qpc *qpc);
int mlx5_cq_output(const void *output, size_t length, struct mlx5_cqc *cqc);

/*
 * A resource dump (RDMA_NLDEV_ATTR_RES_RAW): finds the object's segment by its number. Whether the context begins there
 * at once or behind the header of a command's output is not documented, so both are tried, and only what is known
 * otherwise tells which one it is: the peer's number and that of the send CQ, or the size of the CQ. 0; -ENOENT: no
 * segment of this number is long enough; -EPROTO: neither place fits, or both do.
 */
int mlx5_raw_qpc(
        const void *raw, size_t length, uint32_t qpn, uint32_t remote_qpn, uint32_t send_cqn, struct mlx5_qpc *qpc);
int mlx5_raw_cqc(const void *raw, size_t length, uint32_t cqn, uint32_t log_entries, struct mlx5_cqc *cqc);

#endif
