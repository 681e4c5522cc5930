/* SPDX-License-Identifier: MIT */
/* mlx5 queues and contexts as bytes: send queue, completion queue, QPC, CQC, the raw container, and what follows. */
#include "unit.h"

#include "probe/inspection.h"
#include "probe/mlx5_context.h"
#include "probe/mlx5_ring.h"

#include <endian.h>
#include <errno.h>

enum { BLOCKS = 8, QPN = 0x123456 };

static unsigned char memory[BLOCKS * MLX5_BLOCK_BYTES];
static struct mlx5_send_queue sends;

static void put32(unsigned char *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(unsigned char *at, uint64_t value)
{
	put32(at, (uint32_t)(value >> 32));
	put32(at + 4, (uint32_t)value);
}

/* Segment `number` of the entry at `index`, with the wrap written out. */
static unsigned char *at_segment(uint16_t index, unsigned int number)
{
	return memory + ((index % BLOCKS) * 64 + number * 16) % sizeof(memory);
}

static int set_up(void **state)
{
	(void)state;
	const char *reason;
	memset(memory, 0xa5, sizeof(memory));
	return mlx5_send_queue_open(&sends, memory, sizeof(memory), BLOCKS, 64, &reason);
}

static void put_control(uint16_t index, uint8_t opcode, uint8_t segments, uint8_t flags)
{
	unsigned char *control = at_segment(index, 0);
	memset(control, 0, 16);
	put32(control, (uint32_t)index << 8 | opcode);
	put32(control + 4, (uint32_t)QPN << 8 | segments);
	control[11] = flags;
}

static void put_remote(uint16_t index)
{
	unsigned char *remote = at_segment(index, 1);
	put64(remote, UINT64_C(0x7f0011223344));
	put32(remote + 8, 0xabcd);
}

static void put_data(uint16_t index, unsigned int number, uint32_t bytes)
{
	unsigned char *data = at_segment(index, number);
	put32(data, bytes);
	put32(data + 4, 0x777);
	put64(data + 8, UINT64_C(0x7fffaabbccdd));
}

/* ---- send queue ---- */

static void write_request(void **state)
{
	(void)state;
	struct mlx5_wqe wqe;
	put_control(3, 0x08, 3, 0x08);
	put_remote(3);
	put_data(3, 2, 4096);
	assert_int_equal(mlx5_wqe_read(&sends, 3, &wqe), 0);
	assert_int_equal(wqe.opcode, 0x08);
	assert_int_equal(wqe.index, 3);
	assert_int_equal(wqe.next, 4);
	assert_int_equal(wqe.qpn, QPN);
	assert_int_equal(wqe.segments, 3);
	assert_true(wqe.signaled && !wqe.solicited && !wqe.fenced);
	assert_true(wqe.has_remote && wqe.has_data && !wqe.is_inline);
	assert_int_equal(wqe.remote_address, UINT64_C(0x7f0011223344));
	assert_int_equal(wqe.rkey, 0xabcd);
	assert_int_equal(wqe.bytes, 4096);
	assert_int_equal(wqe.address, UINT64_C(0x7fffaabbccdd));
	assert_int_equal(wqe.lkey, 0x777);
}

static void flags_of_control(void **state)
{
	(void)state;
	struct mlx5_wqe wqe;
	put_control(0, 0x0a, 2, 0x82);
	put_data(0, 1, 7);
	assert_int_equal(mlx5_wqe_read(&sends, 0, &wqe), 0);
	assert_true(!wqe.signaled && wqe.solicited && wqe.fenced);
	assert_false(wqe.has_remote);
	assert_int_equal(wqe.bytes, 7);
	/* "completion on error" alone asks for none */
	put_control(0, 0x0a, 2, 0x04);
	assert_int_equal(mlx5_wqe_read(&sends, 0, &wqe), 0);
	assert_false(wqe.signaled);
}

/* An entry of nine segments that begins in the last block goes on at the start of the queue. */
static void wrap_within_entry(void **state)
{
	(void)state;
	struct mlx5_wqe wqe;
	uint16_t index = 0xffff; /* masked: block 7; the counter itself wraps behind it as well */
	put_control(index, 0x09, 9, 0x08);
	put_remote(index);
	for (unsigned int i = 2; i < 9; i++)
		put_data(index, i, 100);
	assert_int_equal(mlx5_wqe_read(&sends, index, &wqe), 0);
	assert_int_equal(wqe.index, 0xffff);
	assert_int_equal(wqe.next, 2);
	assert_int_equal(wqe.bytes, 700);
	put_data(index, 5, 101); /* at the second segment of block 0 */
	assert_ptr_equal(at_segment(index, 5), memory + 16);
	assert_int_equal(mlx5_wqe_read(&sends, index, &wqe), 0);
	assert_int_equal(wqe.bytes, 701);
}

static void inline_request(void **state)
{
	(void)state;
	struct mlx5_wqe wqe;
	/* count and 20 bytes of payload: two segments; then an ordinary one */
	put_control(2, 0x08, 5, 0x08);
	put_remote(2);
	put32(at_segment(2, 2), UINT32_C(0x80000000) | 20);
	put_data(2, 4, 30);
	assert_int_equal(mlx5_wqe_read(&sends, 2, &wqe), 0);
	assert_true(wqe.is_inline);
	assert_int_equal(wqe.bytes, 50);
	assert_int_equal(wqe.address, 0);
	assert_int_equal(wqe.next, 4);
}

/* What libmlx5 writes for an empty message: no data segment. */
static void empty_request(void **state)
{
	(void)state;
	struct mlx5_wqe wqe;
	put_control(1, 0x08, 2, 0x08);
	put_remote(1);
	assert_int_equal(mlx5_wqe_read(&sends, 1, &wqe), 0);
	assert_false(wqe.has_data);
	assert_int_equal(wqe.bytes, 0);
}

static void not_an_entry(void **state)
{
	(void)state;
	struct mlx5_wqe wqe;
	put_control(4, 0x08, 3, 0x08);
	assert_int_equal(mlx5_wqe_read(&sends, (uint16_t)(4 + BLOCKS), &wqe), -EPROTO); /* of the round before */
	put_control(4, 0x08, 0, 0x08);
	assert_int_equal(mlx5_wqe_read(&sends, 4, &wqe), -EPROTO);
	put_control(4, 0x08, 33, 0x08); /* longer than the queue */
	assert_int_equal(mlx5_wqe_read(&sends, 4, &wqe), -EPROTO);
	memset(memory, 0, sizeof(memory));
	assert_int_equal(mlx5_wqe_read(&sends, 0, &wqe), -EPROTO);
	/* an inline count beyond the entry ends it, and is not followed */
	put_control(4, 0x08, 3, 0x08);
	put32(at_segment(4, 2), UINT32_MAX);
	assert_int_equal(mlx5_wqe_read(&sends, 4, &wqe), 0);
}

static void impossible_queues(void **state)
{
	(void)state;
	const char *reason;
	struct mlx5_send_queue queue;
	struct mlx5_completion_queue completions;
	assert_int_equal(mlx5_send_queue_open(&queue, NULL, 512, 8, 64, &reason), -EPROTO);
	assert_int_equal(mlx5_send_queue_open(&queue, memory, 511, 8, 64, &reason), -EPROTO);
	assert_int_equal(mlx5_send_queue_open(&queue, memory, 512, 7, 64, &reason), -EPROTO);
	assert_int_equal(mlx5_send_queue_open(&queue, memory, 512, 0, 64, &reason), -EPROTO);
	assert_int_equal(mlx5_send_queue_open(&queue, memory, 512, 8, 32, &reason), -EPROTO);
	assert_non_null(reason);
	/* its counters have 16 bits; nothing of the memory is read yet */
	assert_int_equal(mlx5_send_queue_open(&queue, memory, 65536 * 64, 65536, 64, &reason), 0);
	assert_int_equal(mlx5_send_queue_open(&queue, memory, 131072 * 64, 131072, 64, &reason), -EPROTO);
	assert_int_equal(mlx5_completion_queue_open(&completions, memory, 511, 8, 64, &reason), -EPROTO);
	assert_int_equal(mlx5_completion_queue_open(&completions, memory, 512, 8, 128, &reason), -EPROTO);
	assert_int_equal(mlx5_completion_queue_open(&completions, memory, 512, 6, 64, &reason), -EPROTO);
	assert_int_equal(mlx5_completion_queue_open(&completions, memory, 512, 8, 60, &reason), -EPROTO);
	assert_int_equal(mlx5_completion_queue_open(&completions, NULL, 512, 8, 64, &reason), -EPROTO);
}

static void records(void **state)
{
	(void)state;
	uint32_t record[2] = { htobe32(0x1234), htobe32(0xdeadbeef) };
	assert_int_equal(mlx5_send_record(record), 0xbeef);
	record[0] = htobe32(0x7f000005);
	assert_int_equal(mlx5_consumer_record(record), 5);
}

/* ---- completion queue ---- */

enum { ENTRIES = 4 };
static unsigned char cqes[ENTRIES * 128];
static struct mlx5_completion_queue completions;

static void open_completions(uint32_t bytes)
{
	const char *reason;
	memset(cqes, 0, sizeof(cqes));
	assert_int_equal(
	        mlx5_completion_queue_open(&completions, cqes, (size_t)ENTRIES * bytes, ENTRIES, bytes, &reason), 0);
	/* libmlx5 marks a new queue as invalid */
	for (uint32_t i = 0; i < ENTRIES; i++)
		cqes[i * bytes + bytes - 1] = 0xf1;
}

static unsigned char *cqe_of(uint32_t index)
{
	return cqes + (size_t)(index % ENTRIES) * completions.entry_bytes + completions.entry_bytes - 64;
}

static void put_cqe(uint32_t index, uint8_t opcode, uint8_t format)
{
	unsigned char *cqe = cqe_of(index);
	put32(cqe + 44, 3000);
	put32(cqe + 56, (uint32_t)0x08 << 24 | QPN);
	cqe[60] = 0x12;
	cqe[61] = 0x34;
	cqe[63] = (unsigned char)((uint32_t)opcode << 4 | (uint32_t)format << 2 | (index / ENTRIES & 1));
}

static void check_rounds(uint32_t bytes)
{
	struct mlx5_completion completion;
	open_completions(bytes);
	assert_false(mlx5_cqe_present(&completions, 0));
	assert_int_equal(mlx5_cqe_read(&completions, 0, &completion), -EAGAIN);
	/* even and odd rounds, and the counter's own end */
	static const uint32_t starts[] = { 0, ENTRIES, 2 * ENTRIES, 0xfffffc, 0xfffff8 };
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		for (uint32_t k = 0; k < ENTRIES; k++) {
			uint32_t index = starts[i] + k;
			put_cqe(index, 0, 0);
			assert_true(mlx5_cqe_present(&completions, index));
			/* the same bytes are not there for the rounds before and behind */
			assert_false(mlx5_cqe_present(&completions, index + ENTRIES));
			assert_int_equal(mlx5_cqe_read(&completions, index, &completion), 0);
			assert_true(completion.known && !completion.failed);
			assert_int_equal(completion.qpn, QPN);
			assert_int_equal(completion.block, 0x1234);
			assert_int_equal(completion.bytes, 3000);
		}
}

static void entries_of_64(void **state)
{
	(void)state;
	check_rounds(64);
}

static void entries_of_128(void **state)
{
	(void)state;
	check_rounds(128);
	/* the first half does not count */
	open_completions(128);
	cqes[63] = 0;
	assert_false(mlx5_cqe_present(&completions, 0));
}

static void looks_do_not_consume(void **state)
{
	(void)state;
	open_completions(64);
	put_cqe(0, 0, 0);
	unsigned char copy[sizeof(cqes)];
	memcpy(copy, cqes, sizeof(copy));
	struct mlx5_completion completion;
	assert_int_equal(mlx5_cqe_read(&completions, 0, &completion), 0);
	assert_int_equal(mlx5_cqe_read(&completions, 0, &completion), 0);
	assert_memory_equal(copy, cqes, sizeof(copy));
}

static void invalid_opcode(void **state)
{
	(void)state;
	open_completions(64);
	for (uint32_t round = 0; round < 2; round++) {
		cqe_of(1)[63] = (unsigned char)(0xf0 | round);
		assert_false(mlx5_cqe_present(&completions, 1 + round * ENTRIES));
	}
	struct mlx5_completion completion;
	put_cqe(1, 7, 0);
	assert_int_equal(mlx5_cqe_read(&completions, 1, &completion), 0);
	assert_false(completion.known);
}

static void error_entries(void **state)
{
	(void)state;
	struct mlx5_completion completion;
	open_completions(128);
	for (uint8_t opcode = 13; opcode <= 14; opcode++) {
		put_cqe(2, opcode, 0);
		cqe_of(2)[54] = 0x81;
		cqe_of(2)[55] = 0x15;
		assert_int_equal(mlx5_cqe_read(&completions, 2, &completion), 0);
		assert_true(completion.failed && completion.known);
		assert_int_equal(completion.syndrome, 0x15);
		assert_int_equal(completion.vendor_err, 0x81);
	}
	put_cqe(2, 0, 0); /* the same bytes are part of the time stamp of another */
	assert_int_equal(mlx5_cqe_read(&completions, 2, &completion), 0);
	assert_int_equal(completion.syndrome, 0);
	assert_int_equal(completion.vendor_err, 0);
}

static void formats(void **state)
{
	(void)state;
	static const struct {
		uint8_t format, room;
		bool compressed;
	} table[] = { { 0, 0, false }, { 1, 32, false }, { 2, 64, false }, { 3, 0, true } };
	struct mlx5_completion completion;
	open_completions(64);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		put_cqe(0, 0, table[i].format);
		assert_int_equal(mlx5_cqe_read(&completions, 0, &completion), 0);
		assert_int_equal(completion.scattered, table[i].room);
		assert_int_equal(completion.compressed, table[i].compressed);
	}
}

/* ---- contexts ---- */

static void put_bits(unsigned char *image, unsigned int bit, unsigned int width, uint32_t value)
{
	for (unsigned int i = 0; i < width; i++) {
		unsigned int at = bit + width - 1 - i;
		unsigned char mask = (unsigned char)(0x80 >> at % 8);
		image[at / 8] = (unsigned char)(value >> i & 1 ? image[at / 8] | mask : image[at / 8] & ~mask);
	}
}

enum { CQN = 0x000701, PEER = 0x654321, CONTEXT_BYTES = 0xe8, PADDING = 0x28 };

static void put_qpc(unsigned char *image)
{
	put_bits(image, 0x000, 4, 3);
	put_bits(image, 0x004, 4, 2);
	put_bits(image, 0x0a8, 24, PEER);
	put_bits(image, 0x38d, 3, 6);
	put_bits(image, 0x390, 3, 7);
	put_bits(image, 0x395, 3, 5);
	put_bits(image, 0x398, 3, 4);
	put_bits(image, 0x3c8, 24, 0xfffffe);
	put_bits(image, 0x3e8, 24, CQN);
	put_bits(image, 0x448, 24, 0xabcdef);
	put_bits(image, 0x4a8, 24, 0x010203);
	put_bits(image, 0x5a0, 16, 0x1111);
	put_bits(image, 0x5b0, 16, 0x2222);
}

static void check_qpc(const struct mlx5_qpc *qpc)
{
	assert_int_equal(qpc->state, MLX5_QPC_RTS);
	assert_int_equal(qpc->lag_port, 2);
	assert_int_equal(qpc->remote_qpn, PEER);
	assert_int_equal(qpc->retry_limit, 6);
	assert_int_equal(qpc->rnr_retry_limit, 7);
	assert_int_equal(qpc->rnr_retries_left, 5);
	assert_int_equal(qpc->retries_left, 4);
	assert_int_equal(qpc->next_send_psn, 0xfffffe);
	assert_int_equal(qpc->send_cqn, CQN);
	assert_int_equal(qpc->last_acked_psn, 0xabcdef);
	assert_int_equal(qpc->next_receive_psn, 0x010203);
	assert_int_equal(qpc->executed, 0x1111);
	assert_int_equal(qpc->taken, 0x2222);
}

/* As bytes: what the offsets above come to, so that a mistake in put_bits() is not shared. */
/* Mini CQEs: seen, of this round only, in both sizes; other formats are none. */
static void compressed_blocks(void **state)
{
	(void)state;
	for (uint32_t size = 64; size <= 128; size *= 2) {
		open_completions(size);
		assert_false(mlx5_cqe_compressed(&completions, 0));
		for (uint8_t format = 0; format < 4; format++) {
			put_cqe(0, 0, format);
			assert_true(mlx5_cqe_present(&completions, 0));
			assert_int_equal(mlx5_cqe_compressed(&completions, 0), format == 3);
			assert_false(mlx5_cqe_compressed(&completions, completions.entries));
		}
	}
}

static void qpc_bytes(void **state)
{
	(void)state;
	unsigned char image[CONTEXT_BYTES] = { 0 };
	image[0x00] = 0x30;
	image[0x15] = 0x65, image[0x16] = 0x43, image[0x17] = 0x21; /* remote_qpn */
	image[0xb4] = 0x12, image[0xb5] = 0x34;                     /* hw_sq */
	image[0xb6] = 0x56, image[0xb7] = 0x78;                     /* sw_sq */
	image[0x79] = 0x01, image[0x7a] = 0x02, image[0x7b] = 0x03; /* next_send_psn */
	image[0x89] = 0x04, image[0x8a] = 0x05, image[0x8b] = 0x06; /* last_acked_psn */
	struct mlx5_qpc qpc;
	assert_int_equal(mlx5_qpc_decode(image, sizeof(image), &qpc), 0);
	assert_int_equal(qpc.state, MLX5_QPC_RTS);
	assert_int_equal(qpc.remote_qpn, PEER);
	assert_int_equal(qpc.executed, 0x1234);
	assert_int_equal(qpc.taken, 0x5678);
	assert_int_equal(qpc.next_send_psn, 0x010203);
	assert_int_equal(qpc.last_acked_psn, 0x040506);
}

static void qpc_fields(void **state)
{
	(void)state;
	unsigned char output[MLX5_QUERY_BYTES] = { 0 };
	struct mlx5_qpc qpc;
	put_qpc(output + MLX5_QPC_OFFSET);
	assert_int_equal(mlx5_qp_output(output, sizeof(output), &qpc), 0);
	check_qpc(&qpc);
	/* all other bits are no part of any field */
	for (size_t i = MLX5_QPC_OFFSET; i < sizeof(output); i++)
		output[i] = (unsigned char)~output[i];
	assert_int_equal(mlx5_qp_output(output, sizeof(output), &qpc), 0);
	assert_int_equal(qpc.taken, 0xdddd);
	assert_int_equal(qpc.retries_left, 3);
	for (size_t length = 0; length < MLX5_QPC_OFFSET + 0xb8; length++)
		assert_int_equal(mlx5_qp_output(output, length, &qpc), -EMSGSIZE);
	output[0] = 5;
	assert_int_equal(mlx5_qp_output(output, sizeof(output), &qpc), -EREMOTEIO);
}

static void put_cqc(unsigned char *image)
{
	put_bits(image, 0x000, 4, 9);
	put_bits(image, 0x014, 4, 10);
	put_bits(image, 0x063, 5, 6);
	put_bits(image, 0x108, 24, 0x111111);
	put_bits(image, 0x148, 24, 0x222222);
	put_bits(image, 0x168, 24, 0x333333);
}

static void check_cqc(const struct mlx5_cqc *cqc)
{
	assert_int_equal(cqc->status, 9);
	assert_int_equal(cqc->arm, 10);
	assert_int_equal(cqc->log_entries, 6);
	assert_int_equal(cqc->notified, 0x111111);
	assert_int_equal(cqc->consumed, 0x222222);
	assert_int_equal(cqc->produced, 0x333333);
}

static void cqc_fields(void **state)
{
	(void)state;
	unsigned char output[MLX5_QUERY_BYTES] = { 0 };
	struct mlx5_cqc cqc;
	put_cqc(output + MLX5_CQC_OFFSET);
	assert_int_equal(mlx5_cq_output(output, sizeof(output), &cqc), 0);
	check_cqc(&cqc);
	for (size_t length = 0; length < MLX5_CQC_OFFSET + 0x30; length++)
		assert_int_equal(mlx5_cq_output(output, length, &cqc), -EMSGSIZE);
}

static void query_input(void **state)
{
	(void)state;
	unsigned char input[MLX5_QUERY_INPUT_BYTES];
	static const unsigned char wanted[] = { 5, 0x0b, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0x56, 0, 0, 0, 0 };
	memset(input, 0xff, sizeof(input));
	mlx5_query_input(input, MLX5_QUERY_QP, QPN);
	assert_memory_equal(input, wanted, sizeof(wanted));
}

/* ---- the raw container ---- */

static size_t put_segment(unsigned char *at, uint32_t bytes, uint32_t type, uint32_t index)
{
	put32(at, bytes / 4 << 16 | type);
	if (bytes >= 16) {
		put32(at + 4, 0);
		put32(at + 8, index);
		put32(at + 12, 0);
	}
	return bytes;
}

/* A note, the command with the same index, another object, the object itself, the end. */
static size_t put_dump(unsigned char *raw, uint32_t type, uint32_t index, size_t offset, void (*put)(unsigned char *))
{
	size_t at = put_segment(raw, 16, 0xfffe, 7);
	at += put_segment(raw + at, 20, 0xfffa, index);
	at += put_segment(raw + at, 16 + CONTEXT_BYTES + PADDING, type, index + 1);
	unsigned char *payload = raw + at + 16;
	at += put_segment(raw + at, 16 + CONTEXT_BYTES + PADDING, type, index);
	memset(payload, 0, CONTEXT_BYTES + PADDING);
	put(payload + offset);
	return at + put_segment(raw + at, 4, 0xfffb, 0);
}

static void raw_queue_pair(void **state)
{
	(void)state;
	static const size_t offsets[] = { 0, MLX5_QPC_OFFSET };
	for (size_t i = 0; i < 2; i++) {
		unsigned char raw[1024] = { 0 };
		struct mlx5_qpc qpc;
		size_t length = put_dump(raw, 0x1000, QPN, offsets[i], put_qpc);
		assert_int_equal(mlx5_raw_qpc(raw, length, QPN, PEER, CQN, &qpc), 0);
		check_qpc(&qpc);
		assert_int_equal(mlx5_raw_qpc(raw, length, QPN + 2, PEER, CQN, &qpc), -ENOENT);
		assert_int_equal(mlx5_raw_qpc(raw, length, QPN + 1, PEER, CQN, &qpc), -EPROTO);
		assert_int_equal(mlx5_raw_qpc(raw, length, QPN, PEER + 1, CQN, &qpc), -EPROTO);
		assert_int_equal(mlx5_raw_qpc(raw, length, QPN, PEER, CQN + 1, &qpc), -EPROTO);
	}
}

static void raw_completion_queue(void **state)
{
	(void)state;
	static const size_t offsets[] = { 0, MLX5_CQC_OFFSET };
	for (size_t i = 0; i < 2; i++) {
		unsigned char raw[1024] = { 0 };
		struct mlx5_cqc cqc;
		size_t length = put_dump(raw, 0x1001, CQN, offsets[i], put_cqc);
		assert_int_equal(mlx5_raw_cqc(raw, length, CQN, 6, &cqc), 0);
		check_cqc(&cqc);
		assert_int_equal(mlx5_raw_cqc(raw, length, CQN, 7, &cqc), -EPROTO);
		assert_int_equal(mlx5_raw_cqc(raw, length, CQN + 2, 6, &cqc), -ENOENT);
	}
}

/* Where both places fit nobody can tell which one it is. */
static void put_both(unsigned char *payload)
{
	put_qpc(payload);
	put_bits(payload + MLX5_QPC_OFFSET, 0x0a8, 24, PEER);
	put_bits(payload + MLX5_QPC_OFFSET, 0x3e8, 24, CQN);
}

static void raw_ambiguous(void **state)
{
	(void)state;
	unsigned char raw[1024] = { 0 };
	struct mlx5_qpc qpc;
	size_t length = put_dump(raw, 0x1000, QPN, 0, put_both);
	assert_int_equal(mlx5_raw_qpc(raw, length, QPN, PEER, CQN, &qpc), -EPROTO);
}

/* Cut off anywhere: no answer, and no byte behind the end is read (each copy has exactly that length). */
static void raw_truncated(void **state)
{
	(void)state;
	unsigned char raw[1024] = { 0 };
	size_t whole = put_dump(raw, 0x1000, QPN, MLX5_QPC_OFFSET, put_qpc);
	size_t end_of_object = whole - 4;
	for (size_t length = 0; length <= whole; length++) {
		unsigned char *copy = malloc(length ? length : 1);
		assert_non_null(copy);
		memcpy(copy, raw, length);
		struct mlx5_qpc qpc;
		int result = mlx5_raw_qpc(copy, length, QPN, PEER, CQN, &qpc);
		assert_int_equal(result, length < end_of_object ? -ENOENT : 0);
		free(copy);
	}
	/* a length of 0 must not be followed for ever, one beyond the end not at all */
	struct mlx5_qpc qpc;
	put32(raw, 0xfffe);
	assert_int_equal(mlx5_raw_qpc(raw, whole, QPN, PEER, CQN, &qpc), -ENOENT);
	put32(raw, UINT32_C(0xfffffffe));
	assert_int_equal(mlx5_raw_qpc(raw, whole, QPN, PEER, CQN, &qpc), -ENOENT);
}

/* ---- what follows of the samples ---- */

enum { TIMEOUT = 14 };
#define ACK_NS (INT64_C(4096) << TIMEOUT)

static struct device_sample idle, first, second;
static struct evidence evidence;
static struct operation operation;

static const char *conclude(uint32_t end, bool calibrated)
{
	static struct device_sample *items[3];
	uint32_t count = 0;
	if (calibrated)
		items[count++] = &idle;
	items[count++] = &first;
	items[count++] = &second;
	memcpy(&evidence.device_samples, &(struct list){ .items = (void **)items, .count = count },
	        sizeof(evidence.device_samples));
	operation = (struct operation){ 0 };
	return inspection_conclude(&evidence, end, &operation);
}

static int set_up_samples(void **state)
{
	(void)state;
	evidence = (struct evidence){ .local.timeout = num(TIMEOUT) };
	idle = (struct device_sample){
		.moment = "idle",
		.source = "devx",
		.t_ns = num(1000),
		.qp_state = "RTS",
		.recorded = num(1),
		.taken = num(1),
		.executed = num(1),
		.next_psn = num(0),
		.acked_psn = num(0xffffff),
		.retries_left = num(6),
		.cq_status = num(0),
		.cq_produced = num(1),
		.cq_consumed = num(1),
		.cq_recorded = num(1),
	};
	first = idle;
	first.moment = "first";
	first.t_ns = num(1000000);
	first.recorded = first.taken = first.executed = num(2);
	first.next_psn = num(4);
	first.acked_psn = num(3);
	second = first;
	second.moment = "second";
	second.t_ns = num(1000000 + ACK_NS);
	return 0;
}

static void both(size_t offset, struct num value)
{
	memcpy((char *)&first + offset, &value, sizeof(value));
	memcpy((char *)&second + offset, &value, sizeof(value));
}
#define BOTH(member, value) both(offsetof(struct device_sample, member), num(value))

static void five_stalls(void **state)
{
	(void)state;
	assert_null(conclude(2, true)); /* executed and acknowledged */
	assert_int_equal(operation.device_saw_doorbell, FLAG_YES);
	assert_int_equal(operation.device_executed, FLAG_YES);
	assert_int_equal(operation.acknowledged, FLAG_YES);
	assert_int_equal(operation.cqe_written, FLAG_NO);
	BOTH(cq_produced, 2);
	assert_null(conclude(2, true));
	assert_int_equal(operation.cqe_written, FLAG_YES);
	BOTH(next_psn, 8); /* sent, not acknowledged */
	assert_null(conclude(2, true));
	assert_int_equal(operation.acknowledged, FLAG_NO);
	BOTH(next_psn, 4);
	BOTH(executed, 1);
	assert_null(conclude(2, true));
	assert_int_equal(operation.device_saw_doorbell, FLAG_YES);
	assert_int_equal(operation.device_executed, FLAG_NO);
	assert_int_equal(operation.acknowledged, FLAG_UNKNOWN);
	BOTH(taken, 1);
	assert_null(conclude(2, true));
	assert_int_equal(operation.device_saw_doorbell, FLAG_NO);
}

/* Counters of 16 bits: a request that ends at block 1 is behind 65535. */
static void counters_wrap(void **state)
{
	(void)state;
	BOTH(taken, 1);
	BOTH(executed, 65535);
	assert_null(conclude(1, true));
	assert_int_equal(operation.device_saw_doorbell, FLAG_YES);
	assert_int_equal(operation.device_executed, FLAG_NO);
	BOTH(executed, 1);
	BOTH(next_psn, 0);
	BOTH(acked_psn, 0xffffff);
	assert_null(conclude(1, true));
	assert_int_equal(operation.acknowledged, FLAG_YES);
}

static void not_calibrated(void **state)
{
	(void)state;
	assert_non_null(conclude(2, false));
	assert_int_equal(operation.device_executed, FLAG_YES);
	assert_int_equal(operation.acknowledged, FLAG_UNKNOWN);
}

/* A device whose PSNs are further apart at rest is no device that waits for an acknowledgement. */
static void other_distance_at_rest(void **state)
{
	(void)state;
	idle.next_psn = num(1);
	BOTH(next_psn, 5);
	assert_null(conclude(2, true));
	assert_int_equal(operation.acknowledged, FLAG_YES);
	BOTH(next_psn, 4);
	assert_non_null(conclude(2, true));
	assert_int_equal(operation.acknowledged, FLAG_UNKNOWN);
}

static void expect_disbelief(void)
{
	assert_non_null(conclude(2, true));
	assert_int_equal(operation.device_saw_doorbell, FLAG_UNKNOWN);
	assert_int_equal(operation.device_executed, FLAG_UNKNOWN);
	assert_int_equal(operation.acknowledged, FLAG_UNKNOWN);
	assert_int_equal(operation.cqe_written, FLAG_UNKNOWN);
	set_up_samples(NULL);
}

static void disbelief(void **state)
{
	(void)state;
	second.qp_state = "ERR";
	expect_disbelief();
	first.qp_state = NULL;
	expect_disbelief();
	second.t_ns.value--;
	expect_disbelief();
	evidence.local.timeout = num(0);
	expect_disbelief();
	evidence.local.timeout = (struct num){ 0 };
	expect_disbelief();
	second.recorded = num(3);
	expect_disbelief();
	second.taken = num(3);
	expect_disbelief();
	second.executed = num(3);
	expect_disbelief();
	second.next_psn = num(5);
	expect_disbelief();
	second.acked_psn = num(2);
	expect_disbelief();
	second.retries_left = num(5);
	expect_disbelief();
	BOTH(retries_left, 5); /* it had retried before the first sample already */
	expect_disbelief();
	second.executed = (struct num){ 0 };
	expect_disbelief();
	second.moment = "other";
	expect_disbelief();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(write_request, set_up),
		cmocka_unit_test_setup(flags_of_control, set_up),
		cmocka_unit_test_setup(wrap_within_entry, set_up),
		cmocka_unit_test_setup(inline_request, set_up),
		cmocka_unit_test_setup(empty_request, set_up),
		cmocka_unit_test_setup(not_an_entry, set_up),
		cmocka_unit_test_setup(impossible_queues, set_up),
		cmocka_unit_test(records),
		cmocka_unit_test(entries_of_64),
		cmocka_unit_test(entries_of_128),
		cmocka_unit_test(looks_do_not_consume),
		cmocka_unit_test(invalid_opcode),
		cmocka_unit_test(error_entries),
		cmocka_unit_test(formats),
		cmocka_unit_test(compressed_blocks),
		cmocka_unit_test(qpc_bytes),
		cmocka_unit_test(qpc_fields),
		cmocka_unit_test(cqc_fields),
		cmocka_unit_test(query_input),
		cmocka_unit_test(raw_queue_pair),
		cmocka_unit_test(raw_completion_queue),
		cmocka_unit_test(raw_ambiguous),
		cmocka_unit_test(raw_truncated),
		cmocka_unit_test_setup(five_stalls, set_up_samples),
		cmocka_unit_test_setup(counters_wrap, set_up_samples),
		cmocka_unit_test_setup(not_calibrated, set_up_samples),
		cmocka_unit_test_setup(other_distance_at_rest, set_up_samples),
		cmocka_unit_test_setup(disbelief, set_up_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
