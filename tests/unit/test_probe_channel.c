/* SPDX-License-Identifier: MIT */
/* The control connection against an other end that nobody needs to trust. */
#include "unit.h"

#include "probe/channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct ends {
	struct arena *arena;
	struct probe_settings settings;
	struct survey survey;
	struct probe_run *run;
	struct channel channel;
	int other;
};

static int set_up(void **state)
{
	struct arena *arena = test_arena();
	struct ends *ends = arena_new_object(arena, struct ends);
	int pair[2];
	ends->arena = arena;
	settings_init(&ends->settings);
	ends->run = run_new(arena, &ends->settings, &ends->survey);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(channel_open(&ends->channel, ends->run, pair[0]), 0);
	ends->other = pair[1];
	*state = ends;
	return 0;
}

static int tear_down(void **state)
{
	struct ends *ends = *state;
	channel_close(&ends->channel);
	if (ends->other >= 0)
		close(ends->other);
	arena_free(ends->arena);
	return 0;
}

static int64_t soon(const struct ends *ends)
{
	return run_now(ends->run) + 100000000;
}

static void say_bytes(const struct ends *ends, uint32_t length, const char *text)
{
	uint32_t head = htonl(length);
	assert_int_equal(write(ends->other, &head, sizeof(head)), sizeof(head));
	assert_int_equal(write(ends->other, text, strlen(text)), strlen(text));
}

static void say(const struct ends *ends, const char *text)
{
	say_bytes(ends, (uint32_t)strlen(text), text);
}

static int hear(struct ends *ends, struct error *error)
{
	struct incoming incoming;
	int result = channel_receive(&ends->channel, &incoming, soon(ends), error);
	message_free(&incoming);
	return result;
}

static void a_message_comes_back_as_it_was(void **state)
{
	struct ends *ends = *state;
	struct error error = { 0 };
	struct channel other;
	struct hello_message hello = { .type = "hello",
		.protocol = num(PROTOCOL_VERSION),
		.op = OP_READ,
		.count = num(3),
		.timeout_ms = num(1000),
		.batch = num(4),
		.qps = num(1),
		.signal_every = num(2),
		.seed = num(INT64_C(1) << 61) },
	                     back = { 0 };
	*list_add(ends->arena, &hello.sizes) = num(64);
	hello.endpoint = (struct endpoint_facts){ .gid = "::1",
		.qpn = num(0xffffff),
		.psn = num(0),
		.active_mtu = num(4096),
		.buffer_address = num(INT64_C(0x7fffffffffff)) };
	struct queue_pair_facts *pair = list_add(ends->arena, &hello.endpoint.queue_pairs);
	*pair = (struct queue_pair_facts){ .qpn = num(0xffffff), .psn = num(0) };
	channel_open(&other, ends->run, dup(ends->other));
	assert_int_equal(channel_send(&other, &hello_record, &hello, soon(ends), &error), 0);
	channel_close(&other);
	assert_int_equal(channel_expect(&ends->channel, "hello", &hello_record, &back, soon(ends), &error), 0);
	assert_int_equal(back.op, OP_READ);
	assert_int_equal(back.seed.value, INT64_C(1) << 61);
	assert_int_equal(back.sizes.items[0]->value, 64);
	assert_string_equal(back.endpoint.gid, "::1");
	assert_int_equal(back.endpoint.buffer_address.value, INT64_C(0x7fffffffffff));
	assert_int_equal(hello_check(&back, &error), 0);
}

static void garbage_is_refused(void **state)
{
	static const char *const wrong[] = { "hello", "{", "[]", "{}", "{\"type\":7}", "{\"type\":\"ready\"} x",
		"\"ready\"", "{\"type\":\"\xff\"}" };
	struct ends *ends = *state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct error error = { 0 };
		say(ends, wrong[i]);
		assert_int_equal(hear(ends, &error), -EPROTO);
		assert_true(error.text[0]);
	}
}

static void too_long_is_refused_before_it_is_read(void **state)
{
	struct ends *ends = *state;
	struct error error = { 0 };
	say_bytes(ends, MESSAGE_LIMIT + 1, "{");
	assert_int_equal(hear(ends, &error), -EPROTO);
	assert_int_equal(hear(ends, &error), -ECONNRESET); /* out of step: nothing more is read from it */
}

static void nothing_at_all_is_refused(void **state)
{
	struct ends *ends = *state;
	struct error error = { 0 };
	say_bytes(ends, 0, "");
	assert_int_equal(hear(ends, &error), -EPROTO);
}

static void half_a_message_times_out(void **state)
{
	struct ends *ends = *state;
	struct error error = { 0 };
	say_bytes(ends, 100, "{\"type\":");
	assert_int_equal(hear(ends, &error), -ETIMEDOUT);
}

static void silence_times_out(void **state)
{
	struct error error = { 0 };
	assert_int_equal(hear(*state, &error), -ETIMEDOUT);
}

static void an_end_in_the_middle_is_told_apart(void **state)
{
	struct ends *ends = *state;
	struct error error = { 0 };
	say_bytes(ends, 100, "{\"type\":");
	close(ends->other);
	ends->other = -1;
	assert_int_equal(hear(ends, &error), -ECONNRESET);
	assert_true(ends->channel.closed);
	struct plain_message bye = { .type = "bye" };
	assert_int_equal(channel_send(&ends->channel, &plain_record, &bye, soon(ends), &error), -ECONNRESET);
}

static void a_wish_to_stop_ends_the_wait(void **state)
{
	struct ends *ends = *state;
	struct error error = { 0 };
	ends->run->stop = 2;
	assert_int_equal(hear(ends, &error), -EINTR);
	ends->channel.finishing = true;
	assert_int_equal(hear(ends, &error), -ETIMEDOUT);
}

static void a_complaint_becomes_the_error(void **state)
{
	struct ends *ends = *state;
	struct error error = { 0 };
	struct plain_message ready = { 0 };
	say(ends, "{\"type\":\"pong\"}");
	say(ends, "{\"type\":\"error\",\"step\":\"RTR\",\"errno\":110,\"text\":\"rxe2: it did not work\"}");
	assert_int_equal(
	        channel_expect(&ends->channel, "ready", &plain_record, &ready, soon(ends), &error), -ETIMEDOUT);
	assert_non_null(strstr(error.text, "rxe2: it did not work"));
	/* An errno that is none. */
	say(ends, "{\"type\":\"error\",\"errno\":-5}");
	assert_int_equal(channel_expect(&ends->channel, "ready", &plain_record, &ready, soon(ends), &error), -EPROTO);
}

static void the_wrong_message_is_refused(void **state)
{
	struct ends *ends = *state;
	struct error error = { 0 };
	struct plain_message ready = { 0 };
	say(ends, "{\"type\":\"bye\"}");
	assert_int_equal(channel_expect(&ends->channel, "ready", &plain_record, &ready, soon(ends), &error), -EPROTO);
	/* Only evidence is wanted at the end: what lies before it is passed over. */
	struct evidence_message evidence = { 0 };
	ends->channel.finishing = true;
	say(ends, "{\"type\":\"error\",\"errno\":5}");
	say(ends, "{\"type\":\"evidence\",\"evidence\":{\"local\":{\"qp_state\":\"RTS\"}},\"landings\":[{\"serial\":1,"
	          "\"payload\":\"right\"}]}");
	assert_int_equal(
	        channel_expect(&ends->channel, "evidence", &evidence_message_record, &evidence, soon(ends), &error), 0);
	assert_string_equal(evidence.evidence.local.qp_state, "RTS");
	assert_int_equal(evidence.landings.items[0]->payload, PAYLOAD_RIGHT);
}

static void values_of_the_wrong_type_are_refused(void **state)
{
	struct ends *ends = *state;
	struct error error = { 0 };
	struct hello_message hello = { 0 };
	say(ends, "{\"type\":\"hello\",\"protocol\":\"one\"}");
	assert_int_equal(channel_expect(&ends->channel, "hello", &hello_record, &hello, soon(ends), &error), -EPROTO);
	assert_non_null(strstr(error.text, "protocol"));
}

static void a_hello_has_limits(void **state)
{
	(void)state;
	struct error error;
	struct num size = num(64), *sizes[] = { &size };
	struct queue_pair_facts pair = { .qpn = num(1), .psn = num(1) }, *pairs[] = { &pair };
	struct hello_message good = { .protocol = num(PROTOCOL_VERSION),
		.op = OP_WRITE,
		.count = num(1),
		.timeout_ms = num(1000),
		.batch = num(1),
		.qps = num(1),
		.signal_every = num(1),
		.seed = num(1) };
	good.sizes.items = sizes;
	good.sizes.count = 1;
	good.endpoint = (struct endpoint_facts){ .gid = "::1", .qpn = num(1), .psn = num(1), .active_mtu = num(1024) };
	good.endpoint.queue_pairs.items = pairs;
	good.endpoint.queue_pairs.count = 1;
	assert_int_equal(hello_check(&good, &error), 0);
	struct hello_message bad = good;
	bad.protocol = num(PROTOCOL_VERSION + 1);
	assert_int_equal(hello_check(&bad, &error), -EPROTONOSUPPORT);
	bad = good;
	bad.protocol = (struct num){ 0 };
	assert_int_equal(hello_check(&bad, &error), -EPROTONOSUPPORT);
	bad = good;
	bad.count = num(0);
	assert_int_equal(hello_check(&bad, &error), -EPROTO);
	bad = good;
	bad.timeout_ms = num(INT64_MAX);
	assert_int_equal(hello_check(&bad, &error), -EPROTO);
	bad = good;
	bad.sizes.count = 0;
	assert_int_equal(hello_check(&bad, &error), -EPROTO);
	bad = good;
	bad.endpoint.qpn = num(1 << 24);
	assert_int_equal(hello_check(&bad, &error), -EPROTO);
	bad = good;
	bad.op = OP_UNKNOWN;
	assert_int_equal(hello_check(&bad, &error), -EPROTO);
	bad = good;
	bad.qps = num(2); /* more than are described */
	assert_int_equal(hello_check(&bad, &error), -EPROTO);
	bad = good;
	bad.batch = num(PROBE_BATCH_LIMIT + 1);
	assert_int_equal(hello_check(&bad, &error), -EPROTO);
	pair.psn = num(1 << 24);
	assert_int_equal(hello_check(&good, &error), -EPROTO);
	pair.psn = num(1);
	size = num(-1);
	assert_int_equal(hello_check(&good, &error), -EPROTO);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_comes_back_as_it_was),
		TEST(garbage_is_refused),
		TEST(too_long_is_refused_before_it_is_read),
		TEST(nothing_at_all_is_refused),
		TEST(half_a_message_times_out),
		TEST(silence_times_out),
		TEST(an_end_in_the_middle_is_told_apart),
		TEST(a_wish_to_stop_ends_the_wait),
		TEST(a_complaint_becomes_the_error),
		TEST(the_wrong_message_is_refused),
		TEST(values_of_the_wrong_type_are_refused),
		cmocka_unit_test(a_hello_has_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
