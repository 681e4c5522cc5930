/* SPDX-License-Identifier: MIT */
/*
 * The control connection, as either end hears it: messages of somebody who need not be a probe. An input is a list of
 * lines, each of them a message; a line that begins with "#" is sent as bare bytes, without a length before it.
 */
#include "base/cleanup.h"
#include "probe/channel.h"

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
			        records[i] == &hello_record)
				hello_check(message, &error);
		}
		message_free(&incoming);
	}
	if (!error.code || !*error.text)
		abort(); /* it ends with a reason */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_settings settings;
	struct survey survey = { 0 };
	struct channel channel;
	int pair[2];
	autocall(arena_freep) struct arena *arena = arena_new(16 << 20);
	settings_init(&settings);
	struct probe_run *run = run_new(arena, &settings, &survey);
	if (!run || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || channel_open(&channel, run, pair[0]))
		abort();
	say(pair[1], data, size);
	hear(&channel, arena);
	channel_close(&channel);
	close(pair[1]);
	return 0;
}
