/* SPDX-License-Identifier: MIT */
/*
 * The control connection, as either end hears it: messages of somebody who need not be a probe. An input is a list of
 * lines, each of them a message; a line that begins with "#" is sent as bare bytes, without a length before it.
 *
 * They are read three times: as what may be read at any place, by the target's session up to its device, which there is
 * not, and as an initiator takes them, with a verdict upon what it was told.
 */
#include "base/cleanup.h"
#include "probe/channel.h"
#include "probe/layout.h"
#include "probe/session.h"
#include "probe/target.h"
#include "verdict/verdict.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(int fd, const void *bytes, size_t size)
{
	if (size && send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* the buffer is full: the rest is cut off, as on a broken connection */
}

static void say(int fd, const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;
		uint32_t head = htonl((uint32_t)length);
		if (length && *data == '#') {
			put(fd, data + 1, length - 1);
		} else {
			put(fd, &head, sizeof(head));
			put(fd, data, length);
		}
		size -= length + (end ? 1 : 0);
		data += length + (end ? 1 : 0);
	}
	shutdown(fd, SHUT_WR);
}

/* What a target makes of a hello that it accepts. */
static void take_hello(const struct hello_message *hello)
{
	struct probe_request request = {
		.count = hello->count, .batch = hello->batch, .qps = hello->qps, .signal_every = hello->signal_every
	};
	struct layout layout;
	memcpy(&request.sizes, &hello->sizes, sizeof(request.sizes));
	if (layout_make(&layout, &request, (uint64_t)hello->seed.value, GRANT_LIMIT))
		return;
	uint32_t last = layout_total(&layout) - 1;
	const struct series *series = layout_series(&layout, last);
	if (layout.bytes > GRANT_LIMIT || layout_offset(&layout, last) + series->bytes > layout.bytes ||
	        layout_lane(&layout, last) >= PROBE_QPS_LIMIT)
		abort(); /* the peer would write outside */
}

/* Every message as each of the kinds that are read anywhere. */
static void hear(struct channel *channel, struct arena *arena)
{
	static const struct record *const records[] = { &hello_record, &offer_record, &clock_message_record,
		&posted_record, &ok_record, &evidence_message_record, &error_message_record, &plain_record };
	struct incoming incoming;
	struct error error = { 0 };
	while (!channel_receive(channel, &incoming, run_now(channel->run) + 1000000000, &error)) {
		for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
			void *message = arena_alloc(arena, records[i]->size);
			if (message && !channel_read(channel, &incoming, records[i], message, &error) &&
			        records[i] == &hello_record && !hello_check(message, &error))
				take_hello(message);
		}
		message_free(&incoming);
	}
	if (!error.code || !*error.text)
		abort(); /* it ends with a reason */
}

/* The initiator asks for the landings and the evidence of the other end, and judges them. */
static void believe(struct channel *channel, struct arena *arena)
{
	struct evidence_message answer = { 0 };
	struct error error = { 0 };
	struct probe_run *run = channel->run;
	struct evidence *evidence = run_evidence(run);
	struct layout layout;
	if (layout_make(&layout, &run->document.request, 1, GRANT_LIMIT))
		abort();
	channel->finishing = true; /* others are passed over */
	if (channel_expect(channel, "evidence", &evidence_message_record, &answer, run_now(run) + 1000000000, &error))
		return;
	struct operation *operation = list_add(arena, &answer.evidence.operations);
	if (operation)
		*operation = (struct operation){ .wr_id = num(1), .bytes = num(64) };
	*evidence = answer.evidence;
	landings_apply(&answer.landings, &layout, run);
	verdict_judge(&run->document.request, evidence, &run->report, arena, &run->document.verdict);
	if (!run->document.verdict.summary)
		abort();
}

static void target(struct channel *channel, struct arena *arena)
{
	(void)arena;
	session_target(channel->run, channel->fd);
}

/* A connection on which `data` has come, and nothing more will. */
static void connection(const uint8_t *data, size_t size, void (*use)(struct channel *, struct arena *))
{
	enum { ROOM = 8 << 20 }; /* of what is never read: the answers */
	struct probe_settings settings;
	struct survey survey = { 0 };
	struct channel channel;
	int pair[2], room = ROOM;
	autocall(arena_freep) struct arena *arena = arena_new(16 << 20);
	settings_init(&settings);
	settings.device = (struct device_choice){ .name = "no-such-device" };
	if (settings_sizes(&settings, arena, "64", NULL))
		abort();
	struct probe_run *run = run_new(arena, &settings, &survey);
	if (!run || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || channel_open(&channel, run, pair[0]))
		abort();
	if (setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	say(pair[1], data, size);
	use(&channel, arena);
	channel_close(&channel);
	close(pair[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	connection(data, size, hear);
	connection(data, size, target);
	connection(data, size, believe);
	return 0;
}
