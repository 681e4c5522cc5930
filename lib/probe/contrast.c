/* SPDX-License-Identifier: MIT */
#include "probe/contrast.h"

#include "base/cleanup.h"
#include "probe/statistics.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { TRANSFERS_LIMIT = 100, LIMIT_MS = 5000 };

struct contrast {
	struct probe_run *run;
	struct channel *peer; /* NULL: both ends are here */
	int ends[2];          /* sender, receiver */
	unsigned char *source, *target;
};

/* One transfer; times since its first send(). */
struct times {
	int64_t returned, acknowledged;
	struct num received;
	bool verified;
};

static int connect_ends(int listening, int ends[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int one = 1;
	if (bind(listening, (struct sockaddr *)&address, length) || listen(listening, 1) ||
	        getsockname(listening, (struct sockaddr *)&address, &length))
		return -errno;
	ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ends[0] < 0 || connect(ends[0], (struct sockaddr *)&address, length))
		return -errno;
	ends[1] = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (ends[1] < 0)
		return -errno;
	setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 0;
}

/* Sends what the socket takes. 0 or negative errno. */
static int send_some(const struct contrast *contrast, size_t bytes, size_t *sent)
{
	ssize_t count = send(contrast->ends[0], contrast->source + *sent, bytes - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (count < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	*sent += (size_t)count;
	return 0;
}

static int receive_some(const struct contrast *contrast, size_t bytes, size_t *received)
{
	ssize_t count = recv(contrast->ends[1], contrast->target + *received, bytes - *received, 0);
	if (!count)
		return -ECONNRESET;
	if (count < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	*received += (size_t)count;
	return 0;
}

static int await_acknowledgement(const struct contrast *contrast, int64_t start, int64_t deadline, int64_t *took)
{
	int queued = 1, fd = contrast->peer ? contrast->peer->fd : contrast->ends[0];
	while (queued) {
		/* Bytes that the peer's TCP has not acknowledged (tcp(7)). */
		if (ioctl(fd, SIOCOUTQ, &queued))
			return -errno;
		*took = run_now(contrast->run) - start;
		if (run_now(contrast->run) > deadline)
			return -ETIMEDOUT;
	}
	return 0;
}

/* The times of the sender, whose clock is not the receiver's. */
static int transfer_to_peer(const struct contrast *contrast, size_t bytes, uint32_t serial, struct times *times)
{
	struct probe_run *run = contrast->run;
	struct channel *channel = contrast->peer;
	struct error error = { 0 };
	int64_t deadline = run_now(run) + LIMIT_MS * INT64_C(1000000);
	struct stream_message stream = { .type = "stream", .bytes = num((int64_t)bytes), .serial = num(serial) };
	struct streamed_message streamed = { 0 };
	int result = channel_send(channel, &stream_record, &stream, deadline, &error);
	int64_t start = run_now(run);
	result = result ? result : channel_send_bytes(channel, contrast->source, bytes, deadline);
	times->returned = run_now(run) - start;
	result = result ? result : await_acknowledgement(contrast, start, deadline, &times->acknowledged);
	result = result ? result : channel_expect(channel, "streamed", &streamed_record, &streamed, deadline, &error);
	const struct clock_offset *clock = run_evidence(run)->clock;
	if (clock && streamed.received_ns.known)
		times->received = num(streamed.received_ns.value - clock->offset_ns.value - start);
	times->verified = streamed.verified == FLAG_YES;
	return result;
}

int contrast_answer(struct channel *channel, const struct layout *layout, const struct incoming *incoming,
        int64_t deadline_ns, struct error *error)
{
	struct stream_message stream = { 0 };
	int result = channel_read(channel, incoming, &stream_record, &stream, error);
	if (result)
		return result;
	/* No more than a peer may write into the buffer that it was granted. */
	bool sane = stream.bytes.known && stream.bytes.value > 0 &&
	            stream.bytes.value <= (int64_t)layout_largest(layout) && stream.serial.known &&
	            stream.serial.value >= 0 && stream.serial.value < TRANSFERS_LIMIT;
	if (!sane)
		return error_say(error, -EPROTO, "the peer announces a stream that no probe sends");
	size_t bytes = (size_t)stream.bytes.value;
	autofree unsigned char *memory = malloc(bytes);
	if (!memory)
		return error_set(error, -ENOMEM, "%zu byte%s over TCP", bytes, plural((int64_t)bytes));
	result = channel_receive_bytes(channel, memory, bytes, deadline_ns);
	if (result)
		return error_set(error, result, "%zu byte%s over TCP", bytes, plural((int64_t)bytes));
	struct streamed_message streamed = { .type = "streamed", .received_ns = num(run_now(channel->run)) };
	streamed.verified =
	        flag(payload_check(memory, bytes, layout->seed, (uint32_t)stream.serial.value) == PAYLOAD_RIGHT);
	return channel_send(channel, &streamed_record, &streamed, deadline_ns, error);
}

static int transfer_here(const struct contrast *contrast, size_t bytes, struct times *times)
{
	int64_t start = run_now(contrast->run), deadline = start + LIMIT_MS * INT64_C(1000000);
	size_t sent = 0, received = 0;
	int result = 0;
	while (!result && received < bytes) {
		if (sent < bytes) {
			result = send_some(contrast, bytes, &sent);
			times->returned = run_now(contrast->run) - start;
		}
		result = result ? result : receive_some(contrast, bytes, &received);
		if (run_stopped(contrast->run))
			return -EINTR;
		if (run_now(contrast->run) > deadline)
			return -ETIMEDOUT;
	}
	times->received = num(run_now(contrast->run) - start);
	return result ? result : await_acknowledgement(contrast, start, deadline, &times->acknowledged);
}

static int by_value(const void *a, const void *b)
{
	int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
	return (one > other) - (one < other);
}

static struct num median(int64_t *values, uint32_t count)
{
	if (!count)
		return (struct num){ 0 };
	qsort(values, count, sizeof(*values), by_value);
	return num(percentile(values, count, 50));
}

static int run_one(const struct contrast *contrast, const struct layout *layout, size_t bytes, uint32_t serial,
        struct times *times)
{
	payload_fill(contrast->source, bytes, layout->seed, serial);
	if (contrast->peer)
		return transfer_to_peer(contrast, bytes, serial, times);
	int result = transfer_here(contrast, bytes, times);
	times->verified = payload_check(contrast->target, bytes, layout->seed, serial) == PAYLOAD_RIGHT;
	return result;
}

static int run_size(const struct contrast *contrast, const struct layout *layout, uint32_t series)
{
	enum { RETURNED, RECEIVED, ACKNOWLEDGED, KINDS };
	int64_t values[KINDS][TRANSFERS_LIMIT];
	size_t bytes = layout->series[series].bytes;
	uint32_t count = layout->count < TRANSFERS_LIMIT ? layout->count : TRANSFERS_LIMIT, received = 0;
	bool verified = true;
	for (uint32_t i = 0; i < count; i++) {
		struct times times = { 0 };
		int result = run_stopped(contrast->run) ? -EINTR : run_one(contrast, layout, bytes, i, &times);
		if (result)
			return result;
		verified &= times.verified;
		values[RETURNED][i] = times.returned;
		values[ACKNOWLEDGED][i] = times.acknowledged;
		if (times.received.known)
			values[RECEIVED][received++] = times.received.value;
	}
	struct tcp_transfer *kept = list_add(contrast->run->arena, &run_evidence(contrast->run)->tcp_transfers);
	if (!kept)
		return -ENOMEM;
	*kept = (struct tcp_transfer){ .bytes = num((int64_t)bytes),
		.samples = num(count),
		.to_peer = flag(contrast->peer != NULL),
		.returned_ns = median(values[RETURNED], count),
		.received_ns = median(values[RECEIVED], received),
		.acknowledged_ns = median(values[ACKNOWLEDGED], count),
		.verified = flag(verified) };
	return 0;
}

static int run_all(struct contrast *contrast, const struct layout *layout)
{
	autoclose int listening = contrast->peer ? -1 : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t largest = layout_largest(layout);
	contrast->source = malloc(largest);
	contrast->target = malloc(largest);
	if (!contrast->source || !contrast->target)
		return -ENOMEM;
	int result = contrast->peer ? 0 : listening < 0 ? -errno : connect_ends(listening, contrast->ends);
	for (uint32_t i = 0; i < layout->series_count && !result; i++) {
		run_enter(contrast->run, "the same bytes over TCP", LIMIT_MS * TRANSFERS_LIMIT);
		result = run_size(contrast, layout, i);
		run_leave(contrast->run);
	}
	return result;
}

void contrast_run(struct probe_run *run, const struct layout *layout, struct channel *peer)
{
	struct contrast contrast = { .run = run, .peer = peer, .ends = { -1, -1 } };
	int result = run_all(&contrast, layout);
	if (result)
		report_missing(&run->report, "tcp_transfers", "host", result, NULL);
	for (int i = 0; i < 2; i++)
		if (contrast.ends[i] >= 0)
			close(contrast.ends[i]);
	free(contrast.source);
	free(contrast.target);
}
