/* SPDX-License-Identifier: MIT */
#include "report/siphash.h"

static uint64_t rotate(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

static uint64_t little_endian(const uint8_t *bytes, size_t length)
{
	uint64_t value = 0;
	for (size_t i = 0; i < length; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

static void mix(uint64_t state[static 4], int rounds)
{
	while (rounds--) {
		state[0] += state[1];
		state[2] += state[3];
		state[1] = rotate(state[1], 13) ^ state[0];
		state[3] = rotate(state[3], 16) ^ state[2];
		state[0] = rotate(state[0], 32);
		state[2] += state[1];
		state[0] += state[3];
		state[1] = rotate(state[1], 17) ^ state[2];
		state[3] = rotate(state[3], 21) ^ state[0];
		state[2] = rotate(state[2], 32);
	}
}

static void absorb(uint64_t state[static 4], uint64_t word)
{
	state[3] ^= word;
	mix(state, 2);
	state[0] ^= word;
}

uint64_t siphash(const uint8_t key[static SIPHASH_KEY_SIZE], const void *message, size_t length)
{
	const uint8_t *bytes = message;
	uint64_t first = little_endian(key, 8), second = little_endian(key + 8, 8);
	/* The constants are the text "somepseudorandomlygeneratedbytes". */
	uint64_t state[4] = { first ^ UINT64_C(0x736f6d6570736575), second ^ UINT64_C(0x646f72616e646f6d),
		first ^ UINT64_C(0x6c7967656e657261), second ^ UINT64_C(0x7465646279746573) };
	size_t whole = length & ~(size_t)7;
	for (size_t i = 0; i < whole; i += 8)
		absorb(state, little_endian(bytes + i, 8));
	absorb(state, (uint64_t)length << 56 | little_endian(bytes + whole, length - whole));
	state[2] ^= 0xff;
	mix(state, 4);
	return state[0] ^ state[1] ^ state[2] ^ state[3];
}
