/* SPDX-License-Identifier: MIT */
#include "probe/mlx5_ring.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* Bytes in a control segment, and which segments follow it (mlx5dv.h; order of an RC request: providers/mlx5/qp.c). */
enum {
	CONTROL_OPCODE = 0, /* [7:0] opcode, [23:8] index */
	CONTROL_QPN = 4,    /* [31:8] queue pair, [5:0] segments */
	CONTROL_FLAGS = 11, /* fm_ce_se */
	FLAG_SOLICITED = 0x02,
	FLAG_SIGNALED = 0x08, /* with 0x04 as a field of two bits: 2 is "always" */
	FLAG_FENCE = 0x80,
	SEGMENTS_MASK = 0x3f,
	FIRST_AFTER_CONTROL = 1,
};
#define INLINE_BIT UINT32_C(0x80000000)

enum { OP_WRITE_WQE = 0x08, OP_WRITE_IMM_WQE = 0x09, OP_SEND_WQE = 0x0a, OP_SEND_IMM_WQE = 0x0b, OP_READ_WQE = 0x10 };

static uint32_t load32(const unsigned char *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static uint64_t load64(const unsigned char *at)
{
	return (uint64_t)load32(at) << 32 | load32(at + 4);
}

static bool is_power_of_two(uint32_t value)
{
	return value && !(value & (value - 1));
}

/* ---- send queue ---- */

int mlx5_send_queue_open(struct mlx5_send_queue *queue, const void *buffer, size_t length, uint32_t blocks,
        uint32_t stride, const char **reason)
{
	*queue = (struct mlx5_send_queue){ 0 };
	*reason = NULL;
	if (!buffer)
		*reason = "there is none";
	else if (stride != MLX5_BLOCK_BYTES)
		*reason = "its blocks do not have 64 bytes";
	else if (!is_power_of_two(blocks) || blocks > 1 << 16)
		*reason = "the number of its blocks makes no sense";
	else if (length < (size_t)blocks * stride)
		*reason = "it is longer than its memory";
	if (*reason)
		return -EPROTO;
	*queue = (struct mlx5_send_queue){ .buffer = buffer, .blocks = blocks };
	return 0;
}

/* Segments wrap at the end of the queue, within an entry too; a segment itself never straddles it. */
static const unsigned char *segment(const struct mlx5_send_queue *queue, uint16_t index, uint32_t number)
{
	size_t size = (size_t)queue->blocks * MLX5_BLOCK_BYTES;
	size_t offset = (size_t)(index & (queue->blocks - 1)) * MLX5_BLOCK_BYTES + (size_t)number * MLX5_SEGMENT_BYTES;
	return queue->buffer + (offset & (size - 1));
}

static bool has_remote(uint8_t opcode)
{
	return opcode == OP_WRITE_WQE || opcode == OP_WRITE_IMM_WQE || opcode == OP_READ_WQE;
}

static bool is_plain(uint8_t opcode)
{
	return has_remote(opcode) || opcode == OP_SEND_WQE || opcode == OP_SEND_IMM_WQE;
}

/* Sums up the data segments from `number` on. */
static void read_data(const struct mlx5_send_queue *queue, uint16_t index, uint32_t number, struct mlx5_wqe *wqe)
{
	while (number < wqe->segments) {
		const unsigned char *data = segment(queue, index, number);
		uint32_t count = load32(data);
		bool in_place = count & INLINE_BIT;
		if (!wqe->has_data) {
			wqe->is_inline = in_place;
			wqe->lkey = in_place ? 0 : load32(data + 4);
			wqe->address = in_place ? 0 : load64(data + 8);
		}
		wqe->has_data = true;
		count &= ~INLINE_BIT;
		wqe->bytes += count;
		/* An inline segment is as long as its payload and the count before it. */
		number += in_place ? (count + 4 + MLX5_SEGMENT_BYTES - 1) / MLX5_SEGMENT_BYTES : 1;
	}
}

int mlx5_wqe_read(const struct mlx5_send_queue *queue, uint16_t index, struct mlx5_wqe *wqe)
{
	const unsigned char *control = segment(queue, index, 0);
	uint32_t opcode = load32(control + CONTROL_OPCODE), qpn = load32(control + CONTROL_QPN);
	uint8_t flags = control[CONTROL_FLAGS];
	*wqe = (struct mlx5_wqe){
		.opcode = opcode & 0xff,
		.index = (uint16_t)(opcode >> 8),
		.qpn = qpn >> 8,
		.segments = qpn & SEGMENTS_MASK,
		.signaled = flags & FLAG_SIGNALED,
		.solicited = flags & FLAG_SOLICITED,
		.fenced = flags & FLAG_FENCE,
	};
	if (!wqe->segments || wqe->segments * MLX5_SEGMENT_BYTES > queue->blocks * MLX5_BLOCK_BYTES)
		return -EPROTO;
	wqe->next = (uint16_t)(index + (wqe->segments * MLX5_SEGMENT_BYTES + MLX5_BLOCK_BYTES - 1) / MLX5_BLOCK_BYTES);
	if (wqe->index != index)
		return -EPROTO;
	if (!is_plain(wqe->opcode))
		return 0;
	wqe->has_remote = has_remote(wqe->opcode) && wqe->segments > FIRST_AFTER_CONTROL;
	if (wqe->has_remote) {
		const unsigned char *remote = segment(queue, index, FIRST_AFTER_CONTROL);
		wqe->remote_address = load64(remote);
		wqe->rkey = load32(remote + 8);
	}
	read_data(queue, index, FIRST_AFTER_CONTROL + wqe->has_remote, wqe);
	return 0;
}

uint16_t mlx5_send_record(const uint32_t *record)
{
	/* MLX5_RCV_DBR is 0, MLX5_SND_DBR is 1. */
	return (uint16_t)be32toh(__atomic_load_n(&record[1], __ATOMIC_RELAXED));
}

/* ---- completion queue ---- */

enum {
	CQE_BYTES = 64,
	CQE_COUNT = 44,
	CQE_VENDOR_ERR = 54, /* struct mlx5_err_cqe */
	CQE_SYNDROME = 55,
	CQE_QPN = 56, /* [23:0] */
	CQE_COUNTER = 60,
	CQE_OWNER = 63, /* [7:4] opcode, [3:2] format, [1] solicited, [0] owner */
	OPCODE_INVALID = 15,
	FORMAT_SCATTER_32 = 1,
	FORMAT_SCATTER_64 = 2,
	FORMAT_COMPRESSED = 3,
};

int mlx5_completion_queue_open(struct mlx5_completion_queue *queue, const void *buffer, size_t length, uint32_t entries,
        uint32_t entry_bytes, const char **reason)
{
	*queue = (struct mlx5_completion_queue){ 0 };
	*reason = NULL;
	if (!buffer)
		*reason = "there is none";
	else if (entry_bytes != CQE_BYTES && entry_bytes != 2 * CQE_BYTES)
		*reason = "its entries have neither 64 nor 128 bytes";
	else if (!is_power_of_two(entries) || entries > 1 << 22)
		*reason = "the number of its entries makes no sense";
	else if (length < (size_t)entries * entry_bytes)
		*reason = "it is longer than its memory";
	if (*reason)
		return -EPROTO;
	*queue = (struct mlx5_completion_queue){ .buffer = buffer, .entries = entries, .entry_bytes = entry_bytes };
	return 0;
}

/* The 64 bytes that matter are the second half of an entry of 128. */
static const unsigned char *entry(const struct mlx5_completion_queue *queue, uint32_t index)
{
	const unsigned char *slot = queue->buffer + (size_t)(index & (queue->entries - 1)) * queue->entry_bytes;
	return slot + (queue->entry_bytes - CQE_BYTES);
}

/*
 * The owner bit flips with every round through the queue, so that an entry of the last round is told from a new one.
 * The adapter writes this byte last; what was written before it is read after it.
 */
static bool is_owned(const struct mlx5_completion_queue *queue, uint32_t index, uint8_t *owner)
{
	*owner = __atomic_load_n(entry(queue, index) + CQE_OWNER, __ATOMIC_ACQUIRE);
	return *owner >> 4 != OPCODE_INVALID && (*owner & 1) == !!(index & queue->entries);
}

bool mlx5_cqe_present(const struct mlx5_completion_queue *queue, uint32_t index)
{
	uint8_t owner;
	return is_owned(queue, index, &owner);
}

bool mlx5_cqe_compressed(const struct mlx5_completion_queue *queue, uint32_t index)
{
	uint8_t owner;
	return is_owned(queue, index, &owner) && (owner >> 2 & 3) == FORMAT_COMPRESSED;
}

static bool is_known(uint8_t opcode)
{
	/* MLX5_CQE_*: 0 to 5, 13, 14; 6 is for signatures */
	return opcode <= 6 || opcode == MLX5_OPCODE_REQUESTER_ERROR || opcode == MLX5_OPCODE_RESPONDER_ERROR;
}

static uint8_t scatter_room(uint8_t format)
{
	return format == FORMAT_SCATTER_32 ? 32 : format == FORMAT_SCATTER_64 ? 64 : 0;
}

int mlx5_cqe_read(const struct mlx5_completion_queue *queue, uint32_t index, struct mlx5_completion *completion)
{
	const unsigned char *cqe = entry(queue, index);
	uint8_t owner;
	if (!is_owned(queue, index, &owner))
		return -EAGAIN;
	uint8_t opcode = owner >> 4, format = owner >> 2 & 3;
	*completion = (struct mlx5_completion){
		.opcode = opcode,
		.known = is_known(opcode),
		.failed = opcode == MLX5_OPCODE_REQUESTER_ERROR || opcode == MLX5_OPCODE_RESPONDER_ERROR,
		.solicited = owner & 2,
		.scattered = scatter_room(format),
		.compressed = format == FORMAT_COMPRESSED,
		.qpn = load32(cqe + CQE_QPN) & 0xffffff,
		.block = (uint16_t)(cqe[CQE_COUNTER] << 8 | cqe[CQE_COUNTER + 1]),
		.bytes = load32(cqe + CQE_COUNT),
	};
	if (completion->failed) {
		completion->syndrome = cqe[CQE_SYNDROME];
		completion->vendor_err = cqe[CQE_VENDOR_ERR];
	}
	return 0;
}

uint32_t mlx5_consumer_record(const uint32_t *record)
{
	return be32toh(__atomic_load_n(&record[0], __ATOMIC_RELAXED)) & 0xffffff;
}
