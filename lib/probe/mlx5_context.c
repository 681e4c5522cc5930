/* SPDX-License-Identifier: MIT */
#include "probe/mlx5_context.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/*
 * Fields as bit offset and width, counted from the most significant bit of byte 0, as the kernel's
 * include/linux/mlx5/mlx5_ifc.h and rdma-core's providers/mlx5/mlx5_ifc.h count them. None of the offsets was confirmed
 * by this project on hardware.
 */
struct field {
	uint16_t bit, width;
};

/* struct mlx5_ifc_qpc_bits                                                 confirmed by hardware */
static const struct field qpc_state = { 0x000, 4 };           /* no */
static const struct field qpc_lag_port = { 0x004, 4 };        /* lag_tx_port_affinity; no */
static const struct field qpc_remote_qpn = { 0x0a8, 24 };     /* no; checked against the exchanged number */
static const struct field qpc_retry_count = { 0x38d, 3 };     /* no */
static const struct field qpc_rnr_retry = { 0x390, 3 };       /* no */
static const struct field qpc_cur_rnr_retry = { 0x395, 3 };   /* no */
static const struct field qpc_cur_retry = { 0x398, 3 };       /* cur_retry_count; no */
static const struct field qpc_next_send_psn = { 0x3c8, 24 };  /* no */
static const struct field qpc_send_cqn = { 0x3e8, 24 };       /* cqn_snd; no; checked against mlx5dv */
static const struct field qpc_last_acked_psn = { 0x448, 24 }; /* no */
static const struct field qpc_next_rcv_psn = { 0x4a8, 24 };   /* no */
/* hw_ and sw_sq_wqebb_counter; no. A published dump of a ConnectX-6 Dx (firmware 20.43) agrees in RTS. */
static const struct field qpc_executed = { 0x5a0, 16 };
static const struct field qpc_taken = { 0x5b0, 16 };
enum { QPC_BYTES = 0x5c0 / 8 }; /* as far as the fields above reach */

/* struct mlx5_ifc_cqc_bits */
static const struct field cqc_status = { 0x000, 4 };    /* no */
static const struct field cqc_arm = { 0x014, 4 };       /* st; no */
static const struct field cqc_log_size = { 0x063, 5 };  /* log_cq_size; no; checked against mlx5dv */
static const struct field cqc_notified = { 0x108, 24 }; /* last_notified_index; no */
static const struct field cqc_consumed = { 0x148, 24 }; /* consumer_counter; no */
static const struct field cqc_produced = { 0x168, 24 }; /* producer_counter; no */
enum { CQC_BYTES = 0x180 / 8 };

static uint32_t get(const unsigned char *image, struct field field)
{
	uint32_t value = 0;
	for (unsigned int bit = field.bit; bit < (unsigned int)field.bit + field.width; bit++)
		value = value << 1 | (image[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static uint32_t load32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void mlx5_query_input(unsigned char input[MLX5_QUERY_INPUT_BYTES], uint16_t opcode, uint32_t number)
{
	/* struct mlx5_ifc_query_qp_in_bits and query_cq_in_bits: opcode at 0, the object's number at bit 0x48 */
	memset(input, 0, MLX5_QUERY_INPUT_BYTES);
	input[0] = (unsigned char)(opcode >> 8);
	input[1] = (unsigned char)opcode;
	input[9] = (unsigned char)(number >> 16);
	input[10] = (unsigned char)(number >> 8);
	input[11] = (unsigned char)number;
}

int mlx5_qpc_decode(const void *image, size_t length, struct mlx5_qpc *qpc)
{
	if (length < QPC_BYTES)
		return -EMSGSIZE;
	*qpc = (struct mlx5_qpc){
		.state = get(image, qpc_state),
		.lag_port = get(image, qpc_lag_port),
		.remote_qpn = get(image, qpc_remote_qpn),
		.send_cqn = get(image, qpc_send_cqn),
		.retry_limit = get(image, qpc_retry_count),
		.rnr_retry_limit = get(image, qpc_rnr_retry),
		.retries_left = get(image, qpc_cur_retry),
		.rnr_retries_left = get(image, qpc_cur_rnr_retry),
		.next_send_psn = get(image, qpc_next_send_psn),
		.last_acked_psn = get(image, qpc_last_acked_psn),
		.next_receive_psn = get(image, qpc_next_rcv_psn),
		.executed = get(image, qpc_executed),
		.taken = get(image, qpc_taken),
	};
	return 0;
}

int mlx5_cqc_decode(const void *image, size_t length, struct mlx5_cqc *cqc)
{
	if (length < CQC_BYTES)
		return -EMSGSIZE;
	*cqc = (struct mlx5_cqc){
		.status = get(image, cqc_status),
		.arm = get(image, cqc_arm),
		.log_entries = get(image, cqc_log_size),
		.notified = get(image, cqc_notified),
		.consumed = get(image, cqc_consumed),
		.produced = get(image, cqc_produced),
	};
	return 0;
}

/* Each output begins with a status byte, 0 for success. */
static int check_output(const unsigned char *output, size_t length, size_t offset)
{
	if (length < offset)
		return -EMSGSIZE;
	return output[0] ? -EREMOTEIO : 0;
}

int mlx5_qp_output(const void *output, size_t length, struct mlx5_qpc *qpc)
{
	int result = check_output(output, length, MLX5_QPC_OFFSET);
	return result ? result
	              : mlx5_qpc_decode((const unsigned char *)output + MLX5_QPC_OFFSET, length - MLX5_QPC_OFFSET, qpc);
}

int mlx5_cq_output(const void *output, size_t length, struct mlx5_cqc *cqc)
{
	int result = check_output(output, length, MLX5_CQC_OFFSET);
	return result ? result
	              : mlx5_cqc_decode((const unsigned char *)output + MLX5_CQC_OFFSET, length - MLX5_CQC_OFFSET, cqc);
}

/* ---- resource dump ---- */

/*
 * struct mlx5_ifc_resource_dump_resource_segment_bits: length in dwords and type, 16 bits each, a reserved dword,
 * index1, index2, then the payload. Types from 0xfff9 on are the dump's own (error, command, end, notes); the type of a
 * resource differs between firmwares, so the index is matched instead. Confirmed by hardware: no.
 */
enum { SEGMENT_INDEX = 8, SEGMENT_PAYLOAD = 16, TYPES_OF_DUMP = 0xfff9 };

struct raw_payload {
	const unsigned char *bytes;
	size_t length;
};

static int find_payload(
        const unsigned char *raw, size_t length, uint32_t index, size_t least, struct raw_payload *found)
{
	for (size_t at = 0; length - at >= 4;) {
		uint32_t head = load32(raw + at);
		size_t size = (size_t)(head >> 16) * 4;
		if (!size || size > length - at)
			break;
		if (size >= SEGMENT_PAYLOAD + least && (head & 0xffff) < TYPES_OF_DUMP &&
		        load32(raw + at + SEGMENT_INDEX) == index) {
			*found = (struct raw_payload){ raw + at + SEGMENT_PAYLOAD, size - SEGMENT_PAYLOAD };
			return 0;
		}
		at += size;
	}
	return -ENOENT;
}

static bool qpc_at(
        const struct raw_payload *payload, size_t offset, uint32_t remote_qpn, uint32_t send_cqn, struct mlx5_qpc *qpc)
{
	return payload->length > offset && !mlx5_qpc_decode(payload->bytes + offset, payload->length - offset, qpc) &&
	       qpc->remote_qpn == remote_qpn && qpc->send_cqn == send_cqn;
}

int mlx5_raw_qpc(
        const void *raw, size_t length, uint32_t qpn, uint32_t remote_qpn, uint32_t send_cqn, struct mlx5_qpc *qpc)
{
	struct raw_payload payload;
	struct mlx5_qpc bare, behind;
	int result = find_payload(raw, length, qpn, QPC_BYTES, &payload);
	if (result)
		return result;
	bool is_bare = qpc_at(&payload, 0, remote_qpn, send_cqn, &bare);
	bool is_behind = qpc_at(&payload, MLX5_QPC_OFFSET, remote_qpn, send_cqn, &behind);
	if (is_bare == is_behind)
		return -EPROTO;
	*qpc = is_bare ? bare : behind;
	return 0;
}

static bool cqc_at(const struct raw_payload *payload, size_t offset, uint32_t log_entries, struct mlx5_cqc *cqc)
{
	return payload->length > offset && !mlx5_cqc_decode(payload->bytes + offset, payload->length - offset, cqc) &&
	       cqc->log_entries == log_entries;
}

int mlx5_raw_cqc(const void *raw, size_t length, uint32_t cqn, uint32_t log_entries, struct mlx5_cqc *cqc)
{
	struct raw_payload payload;
	struct mlx5_cqc bare, behind;
	int result = find_payload(raw, length, cqn, CQC_BYTES, &payload);
	if (result)
		return result;
	bool is_bare = cqc_at(&payload, 0, log_entries, &bare);
	bool is_behind = cqc_at(&payload, MLX5_CQC_OFFSET, log_entries, &behind);
	if (is_bare == is_behind)
		return -EPROTO;
	*cqc = is_bare ? bare : behind;
	return 0;
}
