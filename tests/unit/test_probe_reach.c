/* SPDX-License-Identifier: MIT */
/* Echo requests and their replies, and the names of the peer. */
#include "unit.h"

#include "probe/channel.h"
#include "probe/reach.h"

#include <errno.h>
#include <string.h>

/* RFC 1071: over the whole message the sum of a right checksum is all ones. */
static uint32_t sum_of(const unsigned char *packet, size_t size)
{
	uint32_t sum = 0;
	for (size_t i = 0; i + 1 < size; i += 2)
		sum += (uint32_t)(packet[i] << 8 | packet[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void requests_have_a_checksum(void **state)
{
	(void)state;
	unsigned char packet[64];
	for (uint16_t id = 1; id < 60000; id = (uint16_t)(id * 7 + 1)) {
		echo_fill(packet, sizeof(packet), false, id, 2);
		assert_int_equal(packet[0], 8);
		assert_int_equal(sum_of(packet, sizeof(packet)), 0xffff);
	}
	echo_fill(packet, sizeof(packet), true, 1, 1);
	assert_int_equal(packet[0], 128);
}

static void replies_are_ours(void **state)
{
	(void)state;
	unsigned char packet[64 + 20] = { 0x45 };
	echo_fill(packet + 20, 64, false, 77, 3);
	assert_false(echo_is_reply(packet + 20, 64, false, false, 77, 3)); /* a request, our own */
	packet[20] = 0;
	assert_true(echo_is_reply(packet + 20, 64, false, false, 77, 3));
	assert_true(echo_is_reply(packet + 20, 64, false, false, 0, 3));
	assert_true(echo_is_reply(packet, sizeof(packet), false, true, 77, 3));
	assert_false(echo_is_reply(packet + 20, 64, false, false, 78, 3));
	assert_false(echo_is_reply(packet + 20, 64, false, false, 77, 4));
	packet[20] = 129;
	assert_true(echo_is_reply(packet + 20, 64, true, true, 77, 3));
	for (size_t size = 0; size < 28; size++)
		assert_false(echo_is_reply(packet, size, false, true, 77, 3));
	packet[0] = 0x4f; /* options longer than the packet */
	assert_false(echo_is_reply(packet, 30, false, true, 77, 3));
}

static void numbers_are_no_names(void **state)
{
	(void)state;
	assert_true(channel_is_address("192.0.2.1"));
	assert_true(channel_is_address("2001:db8::1"));
	assert_false(channel_is_address("localhost"));
	assert_false(channel_is_address("300.0.0.1.example"));
	struct addrinfo *list = NULL;
	struct error error = { 0 };
	assert_int_equal(channel_resolve("192.0.2.1", 18517, &list, &error), 0);
	freeaddrinfo(list);
	/* RFC 6761: never resolves, whatever the name servers are. */
	int result = channel_resolve("nosuch.invalid", 18517, &list, &error);
	assert_true(result == -ENOENT || result == -EAGAIN || result == -EIO);
	assert_non_null(strstr(error.text, "nosuch.invalid"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_have_a_checksum),
		cmocka_unit_test(replies_are_ours),
		cmocka_unit_test(numbers_are_no_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
