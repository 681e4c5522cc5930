/* SPDX-License-Identifier: MIT */
#include "probe/message.h"

#include "probe/layout.h"
#include "probe/settings.h"

#include <errno.h>

#define TYPE(message) FIELD(TEXT, struct message, type, "kind of message")

static const struct field landing_fields[] = {
	FIELD(NUMBER, struct landing, serial, "number of the request, from 0"),
	FIELD(NUMBER, struct landing, landed_ns, "when all of it was seen"),
	FIELD(NUMBER, struct landing, not_before_ns, "when it was not there yet"),
	FIELD_OF_NAMES(struct landing, payload, payload_names, "right, untouched or wrong"),
};
static RECORD(landing_record, landing, landing_fields);

static const struct field hello_fields[] = {
	TYPE(hello_message),
	FIELD(NUMBER, struct hello_message, protocol, "version of the protocol"),
	FIELD(TEXT, struct hello_message, tool_version, "version of the program"),
	FIELD_OF_NAMES(struct hello_message, op, operation_names, "operation"),
	FIELD(NUMBERS, struct hello_message, sizes, "sizes in bytes"),
	FIELD(NUMBER, struct hello_message, count, "requests of each size"),
	FIELD(NUMBER, struct hello_message, timeout_ms, "deadline of a completion"),
	FIELD(NUMBER, struct hello_message, batch, "requests of a chain"),
	FIELD(NUMBER, struct hello_message, qps, "queue pairs"),
	FIELD(NUMBER, struct hello_message, signal_every, "every how many requests one is signaled"),
	FIELD(TEXT, struct hello_message, drill, "failure made on purpose"),
	FIELD(NUMBER, struct hello_message, seed, "seed of the payload"),
	FIELD_OF(INLINE, struct hello_message, endpoint, endpoint_record, "the initiator's end"),
};
RECORD(hello_record, hello_message, hello_fields);

static const struct field offer_fields[] = {
	TYPE(offer_message),
	FIELD_OF(INLINE, struct offer_message, endpoint, endpoint_record, "the target's end"),
};
RECORD(offer_record, offer_message, offer_fields);

static const struct field clock_fields[] = {
	TYPE(clock_message),
	FIELD(NUMBER, struct clock_message, round, "number of the round"),
	FIELD(NUMBER, struct clock_message, time_ns, "the target's clock"),
};
RECORD(clock_message_record, clock_message, clock_fields);

static const struct field posted_fields[] = {
	TYPE(posted_message),
	FIELD(NUMBER, struct posted_message, posted, "requests posted"),
	FIELD_OF(RECORD, struct posted_message, report, peer_report_record, "what became of them"),
};
RECORD(posted_record, posted_message, posted_fields);

static const struct field ok_fields[] = {
	TYPE(ok_message),
	FIELD(FLAG, struct ok_message, verified, "all of it is right"),
	FIELD_OF(RECORDS, struct ok_message, landings, landing_record, "what became of each request"),
};
RECORD(ok_record, ok_message, ok_fields);

static const struct field evidence_message_fields[] = {
	TYPE(evidence_message),
	FIELD_OF(INLINE, struct evidence_message, evidence, evidence_record, "what the target recorded"),
	FIELD_OF(RECORDS, struct evidence_message, landings, landing_record, "what became of each request"),
};
RECORD(evidence_message_record, evidence_message, evidence_message_fields);

static const struct field error_fields[] = {
	TYPE(error_message),
	FIELD(TEXT, struct error_message, step, "what failed"),
	FIELD_AS(NUMBER, struct error_message, error, "errno", "positive errno"),
	FIELD(TEXT, struct error_message, text, "in words"),
};
RECORD(error_message_record, error_message, error_fields);

static const struct field stream_fields[] = {
	TYPE(stream_message),
	FIELD(NUMBER, struct stream_message, bytes, "payload that follows"),
	FIELD(NUMBER, struct stream_message, serial, "number of the payload"),
};
RECORD(stream_record, stream_message, stream_fields);

static const struct field streamed_fields[] = {
	TYPE(streamed_message),
	FIELD(NUMBER, struct streamed_message, received_ns, "when all of it was there"),
	FIELD(FLAG, struct streamed_message, verified, "it is right"),
};
RECORD(streamed_record, streamed_message, streamed_fields);

static const struct field plain_fields[] = { TYPE(plain_message) };
RECORD(plain_record, plain_message, plain_fields);

static bool within(struct num value, int64_t least, int64_t most)
{
	return value.known && value.value >= least && value.value <= most;
}

static bool has_queue_pairs(const struct endpoint_facts *end, int64_t count)
{
	list_each(pair, &end->queue_pairs)
		if (!within(pair->qpn, 0, 0xffffff) || !within(pair->psn, 0, 0xffffff))
			return false;
	return end->queue_pairs.count == count;
}

static bool has_end(const struct endpoint_facts *end)
{
	/* No GID is a fault of its configuration, which the kernel at either end will find. */
	return within(end->qpn, 0, 0xffffff) && within(end->psn, 0, 0xffffff) && within(end->active_mtu, 256, 4096);
}

int hello_check(const struct hello_message *hello, struct error *error)
{
	if (!num_is(hello->protocol, PROTOCOL_VERSION))
		return error_say(error, -EPROTONOSUPPORT, "this end speaks version %d of the protocol, the other %lld",
		        PROTOCOL_VERSION, (long long)hello->protocol.value);
	bool counts = within(hello->count, 1, PROBE_COUNT_LIMIT) &&
	              within(hello->timeout_ms, PROBE_TIMEOUT_MIN_MS, PROBE_TIMEOUT_MAX_MS) && hello->seed.known;
	counts = counts && within(hello->batch, 1, PROBE_BATCH_LIMIT) && within(hello->qps, 1, PROBE_QPS_LIMIT) &&
	         within(hello->signal_every, 1, PROBE_BATCH_LIMIT);
	bool sizes = hello->sizes.count > 0 && hello->sizes.count <= LAYOUT_SERIES_LIMIT;
	for (uint32_t i = 0; sizes && i < hello->sizes.count; i++)
		sizes = within(*hello->sizes.items[i], 1, PROBE_SIZE_LIMIT);
	if (!counts || !sizes || !hello->op)
		return error_say(error, -EPROTO, "the hello asks for something that no probe does");
	if (!has_end(&hello->endpoint) || !has_queue_pairs(&hello->endpoint, hello->qps.value))
		return error_say(error, -EPROTO, "the hello does not describe a queue pair");
	return 0;
}
