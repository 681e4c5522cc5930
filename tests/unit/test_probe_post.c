/* SPDX-License-Identifier: MIT */
/* A chain of requests that a queue takes in part: how many it took, and the chain as it was. */
#include "unit.h"

#include "probe/post.h"

#include <errno.h>

enum { CHAIN = 8, BYTES = 16 };

static struct post_chain chain;
static uint32_t room;        /* of the queue that is played here */
static bool names_the_first; /* a provider may leave it at that */

/* As ibv_post_send(3) has it: those before the refused one are in the queue. */
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
	(void)qp;
	for (; request; request = request->next) {
		if (!room) {
			*bad = names_the_first ? request : NULL;
			return ENOMEM;
		}
		room--;
	}
	return 0;
}

static struct ibv_context context = { .ops.post_send = post_send };
static struct ibv_qp qp = { .context = &context };

static int set_up(void **state)
{
	static unsigned char memory[BYTES];
	(void)state;
	assert_int_equal(post_init(&chain, CHAIN, 1), 0);
	for (uint32_t i = 0; i < CHAIN; i++)
		assert_non_null(post_add(&chain, OP_WRITE, memory, BYTES, 1));
	names_the_first = true;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	post_free(&chain);
	return 0;
}

static void is_taken(uint32_t from, uint32_t count, int error, uint32_t wanted)
{
	uint32_t taken = UINT32_MAX;
	assert_int_equal(post_requests(&chain, from, count, &qp, false, &taken), error);
	assert_int_equal(taken, wanted);
}

static void test_whole(void **state)
{
	(void)state;
	room = CHAIN;
	is_taken(0, CHAIN, 0, CHAIN);
	assert_int_equal(room, 0);
}

/* Only so many are posted, and the rest still hangs behind them. */
static void test_piece(void **state)
{
	(void)state;
	room = CHAIN;
	is_taken(2, 3, 0, 3);
	assert_int_equal(room, CHAIN - 3);
	assert_ptr_equal(chain.requests[4].next, &chain.requests[5]);
}

static void test_in_part(void **state)
{
	(void)state;
	for (uint32_t fits = 0; fits < 3; fits++) {
		room = fits;
		is_taken(2, 3, ENOMEM, fits);
		assert_ptr_equal(chain.requests[4].next, &chain.requests[5]);
	}
}

static void test_refused_without_a_place(void **state)
{
	(void)state;
	names_the_first = false;
	room = 0;
	is_taken(0, CHAIN, ENOMEM, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_piece, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_in_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused_without_a_place, set_up, tear_down),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
