/* SPDX-License-Identifier: MIT */
/* The probe's text: where a request stopped, the same text every time, and nothing that a peer could smuggle in. */
#include "any_record.h"
#include "unit.h"

#include "base/duration.h"
#include "render/probe_text.h"
#include "render/trace.h"
#include "verdict/verdict.h"

#include <errno.h>
#include <stdio.h>

static char *print(const struct probe_document *document, struct probe_print_options options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	assert_int_equal(probe_print(stream, document, &options), 0);
	fclose(stream);
	return text;
}

/* The line of a stage. */
static const char *line_of(const char *text, const char *stage, char out[static 256])
{
	const char *found = strstr(text, stage);
	assert_non_null(found);
	while (found > text && found[-1] != '\n')
		found--;
	snprintf(out, 256, "%.*s", (int)strcspn(found, "\n"), found);
	return out;
}

static struct probe_document *document_with(struct arena *arena, struct operation **operation)
{
	struct probe_document *document = arena_new_object(arena, struct probe_document);
	document->verdict = (struct verdict){ .outcome = OUTCOME_STALLED,
		.layer = LAYER_UNDETERMINED,
		.confidence = CONFIDENCE_NONE,
		.summary = "no completion came" };
	strings_add(arena, &document->verdict.candidates, "network");
	document->evidence.observers = (struct observers){ "mlx5dv", "mlx5dv", "devx", "peer" };
	*operation = list_add(arena, &document->evidence.operations);
	**operation = (struct operation){ .wr_id = num(1),
		.qpn = num(100),
		.opcode = OP_WRITE,
		.bytes = num(64),
		.is_signaled = FLAG_YES,
		.post_call_ns = num(1000000),
		.post_return_ns = num(1002000),
		.post_errno = num(0),
		.wqe_posted_ns = num(1003000),
		.doorbell_recorded = FLAG_YES };
	return document;
}

static void test_stop(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	char line[256];
	operation->device_saw_doorbell = operation->device_executed = FLAG_YES;
	operation->acknowledged = FLAG_NO;
	char *text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(text, "Verdict: stalled, layer undetermined\n"));
	assert_non_null(strstr(line_of(text, "acknowledged", line), "not reached  <== stopped here"));
	assert_null(strstr(line_of(text, "executed", line), "stopped"));
	assert_non_null(strstr(line_of(text, "published", line), "+1.00 us"));
	free(text);
	/* Nobody asked the device: the place is not known. */
	document->evidence.observers.device = NULL;
	operation->device_saw_doorbell = operation->device_executed = operation->acknowledged = FLAG_UNKNOWN;
	text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(line_of(text, "taken", line), "not observable here  <== stopped here or further down"));
	free(text);
	arena_free(arena);
}

/* A record that leaves out what it compares is printed too, and nothing that is not known as a number. */
static void test_placements(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	struct placement_comparison *differs = list_add(arena, &document->evidence.placement_comparisons);
	struct placement_comparison *same = list_add(arena, &document->evidence.placement_comparisons);
	struct placement_comparison *unknown = list_add(arena, &document->evidence.placement_comparisons);
	*differs = (struct placement_comparison){ .metric = "latency",
		.bytes = num(4096),
		.node = num(1),
		.base_node = num(0),
		.registration = "pinned",
		.difference_ppm = num(123456),
		.noise_ppm = num(20000),
		.differs = FLAG_YES };
	*same = *differs;
	same->metric = "bandwidth";
	same->difference_ppm = num(-4000);
	same->differs = FLAG_NO;
	*unknown = (struct placement_comparison){ .node = num(3), .differs = FLAG_NO };
	char line[256], *text = print(document, (struct probe_print_options){ 0 });
	assert_string_equal(line_of(text, "  latency", line),
	        "  latency    4096 bytes, node 1 pinned against node 0: differs "
	        "(+12.3 %; runs of one place spread by 2.0 %)");
	assert_string_equal(line_of(text, "  bandwidth", line),
	        "  bandwidth  4096 bytes, node 1 pinned against node 0: no difference above the noise "
	        "(-0.4 %; runs of one place spread by 2.0 %)");
	assert_non_null(strstr(line_of(text, "node 3", line), "no difference above the noise"));
	assert_null(strchr(line, '('));
	assert_null(strchr(line, '0'));
	differs->differs = FLAG_UNKNOWN;
	free(text);
	text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(line_of(text, "  latency", line), "against node 0: not measured"));
	free(text);
	arena_free(arena);
}

/* Beside RDMA's of the same size; what was not measured is no time. */
static void test_tcp(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	struct evidence *evidence = &document->evidence;
	*(struct statistic *)list_add(arena, &evidence->statistics.stages) =
	        (struct statistic){ .stage = "total", .bytes = num(64), .median_ns = num(2500) };
	struct tcp_transfer *small = list_add(arena, &evidence->tcp_transfers);
	struct tcp_transfer *large = list_add(arena, &evidence->tcp_transfers);
	*small = (struct tcp_transfer){ .bytes = num(64),
		.to_peer = FLAG_YES,
		.returned_ns = num(9000),
		.received_ns = num(40000),
		.verified = FLAG_YES };
	*large = (struct tcp_transfer){ .bytes = num(4096), .to_peer = FLAG_YES, .verified = FLAG_NO };
	char line[256], *text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(text, "The same bytes over TCP to the peer"));
	assert_non_null(strstr(text, "by the offset of the clocks"));
	assert_string_equal(line_of(text, "2.50 us |", line),
	        "          64          2.50 us |          9.00 us          40.0 us                -");
	assert_string_equal(line_of(text, "wrong bytes", line),
	        "        4096                - |                -                -                -  wrong bytes");
	free(text);
	small->to_peer = large->to_peer = FLAG_NO;
	text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(text, "inside this host (medians; no network is in it)"));
	assert_null(strstr(text, "by the offset of the clocks"));
	free(text);
	arena_free(arena);
}

static void test_success(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	char line[256];
	operation->wc_status = num(0);
	operation->cqe_consumed_ns = num(1020000);
	char *text = print(document, (struct probe_print_options){ 0 });
	assert_null(strstr(text, "stopped"));
	assert_non_null(strstr(line_of(text, "executed", line), "follows"));
	/* A completion does not say that the bytes are right. */
	assert_non_null(strstr(line_of(text, "landed", line), "not observable"));
	free(text);
	operation->payload_verified = FLAG_NO;
	text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(line_of(text, "landed", line), "wrong bytes"));
	free(text);
	operation->wc_status = num(12);
	text = print(document, (struct probe_print_options){ 0 });
	/* It was sent, or its retries could not have been used up. */
	assert_non_null(strstr(line_of(text, "executed", line), "follows"));
	assert_non_null(
	        strstr(line_of(text, "acknowledged", line), "not reached  no answer in all tries  <== stopped here"));
	assert_null(strstr(text, "or further down"));
	/* It completed, which is no progress. */
	assert_non_null(strstr(line_of(text, "consumed", line), "with an error"));
	assert_non_null(strstr(line_of(text, "succeeded", line), "IBV_WC_RETRY_EXC_ERR"));
	free(text);
	/* The bytes are there: what is missing is the way back. */
	operation->payload_verified = FLAG_YES;
	text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(line_of(text, "acknowledged", line), "<== stopped here"));
	assert_null(strstr(line_of(text, "succeeded", line), "stopped"));
	free(text);
	/* An error of this end says nothing of an answer. */
	operation->payload_verified = FLAG_UNKNOWN;
	operation->wc_status = num(4);
	text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(
	        strstr(line_of(text, "taken", line), "<== stopped between here and the completion with an error"));
	assert_non_null(strstr(line_of(text, "acknowledged", line), "not observable here"));
	free(text);
	arena_free(arena);
}

/* The peer's clock: shown on the local one, with the error of the comparison. */
static void test_clock(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	char line[256];
	operation->remote_landed_ns = num(5001010000);
	document->evidence.clock = arena_new_object(arena, struct clock_offset);
	*document->evidence.clock = (struct clock_offset){ num(5000000000), num(25000) };
	char *text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(line_of(text, "landed", line), "1.01 ms"));
	assert_non_null(strstr(line, "(+-25.0 us)"));
	free(text);
	document->evidence.clock = NULL;
	text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(line_of(text, "landed", line), "yes"));
	free(text);
	arena_free(arena);
}

static void test_hostile(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	document->verdict.summary = "a\033[31mb\r\nc\xc3\xa4%s%n";
	document->evidence.local.device = "\033]0;title\a";
	operation->post_call_ns = num(INT64_MIN);
	operation->post_return_ns = num(INT64_MAX);
	char *text = print(document, (struct probe_print_options){ 0 });
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\r'));
	assert_non_null(strstr(text, "a?[31mb??c??%s%n\n"));
	for (const char *c = text; *c; c++)
		assert_true((unsigned char)*c < 0x80);
	free(text);
	arena_free(arena);
}

static void test_options(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	char *plain = print(document, (struct probe_print_options){ 0 }),
	     *again = print(document, (struct probe_print_options){ 0 });
	char *color = print(document, (struct probe_print_options){ .color = true });
	char *unicode = print(document, (struct probe_print_options){ .unicode = true });
	assert_string_equal(plain, again);
	assert_null(strchr(plain, '\033'));
	assert_non_null(strchr(color, '\033'));
	assert_non_null(strstr(unicode, "\xe2\x97\x8f"));
	free(plain), free(again), free(color), free(unicode);
	FILE *full = fopen("/dev/full", "w");
	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(probe_print(full, document, &(struct probe_print_options){ 0 }), -EIO);
	fclose(full);
	arena_free(arena);
}

static void test_events(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	char line[256], *text = print(document, (struct probe_print_options){ .verbose = true });
	assert_null(strstr(text, "Asynchronous events"));
	free(text);
	struct async_event *event = list_add(arena, &document->evidence.async_events);
	*event = (struct async_event){ .side = SIDE_REMOTE, .event = "PORT_ERR", .t_ns = num(2500000) };
	event = list_add(arena, &document->evidence.async_events);
	*event = (struct async_event){ .side = SIDE_LOCAL, .event = "NO_SUCH" };
	text = print(document, (struct probe_print_options){ .verbose = true });
	assert_non_null(strstr(text, "\nAsynchronous events:\n"));
	assert_non_null(strstr(line_of(text, "  PORT_ERR  The port went down.", line), "remote      2.50 ms  "));
	assert_non_null(strstr(line_of(text, "  NO_SUCH  not in this program's tables", line), "local             -"));
	free(text);
	arena_free(arena);
}

static void test_statistics(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	static const char *const stages[] = { "post", "span", "cqe" };
	for (size_t i = 0; i < 3; i++) {
		struct statistic *statistic = list_add(arena, &document->evidence.statistics.stages);
		*statistic = (struct statistic){ .stage = stages[i],
			.bytes = num(64),
			.samples = num(1),
			.min_ns = num(850),
			.median_ns = num(900),
			.p99_ns = num(950) };
	}
	char line[256], *text = print(document, (struct probe_print_options){ .verbose = false });
	assert_null(strstr(text, "samples")); /* of one request the ladder says the same */
	free(text);
	document->evidence.statistics.stages.items[0]->samples = num(10);
	text = print(document, (struct probe_print_options){ .verbose = false });
	const char *table = strstr(text, "samples");
	assert_non_null(table);
	line_of(table, "submitted", line);
	assert_non_null(strstr(line, " 64       10     850 ns     900 ns          -          -"));
	assert_non_null(strstr(table, "completed"));
	assert_null(strstr(table, "span"));
	free(text);
	/* There is a 99th percentile of a hundred. */
	document->evidence.statistics.stages.items[0]->samples = num(100);
	text = print(document, (struct probe_print_options){ .verbose = false });
	line_of(strstr(text, "samples"), "submitted", line);
	assert_non_null(strstr(line, " 64      100     850 ns     900 ns     950 ns          -"));
	free(text);
	arena_free(arena);
}

/* Of several requests the text says why it shows this one; of times, what they are counted from. */
static void test_choice(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *first, *second;
	struct probe_document *document = document_with(arena, &first);
	char *text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(text, "QP 100\n"));
	assert_non_null(strstr(text, "since start  after the stage before\n"));
	free(text);
	second = list_add(arena, &document->evidence.operations);
	*second = *first;
	second->wr_id = num(2);
	text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(text, "wr_id 1, QP 100 (the first that did not end; -j has the others)\n"));
	free(text);
	first->wc_status = second->wc_status = num(0);
	first->cqe_consumed_ns = num(1004000);
	second->cqe_consumed_ns = num(1005000);
	text = print(document, (struct probe_print_options){ 0 });
	assert_non_null(strstr(text, "wr_id 2, QP 100 (the slowest; -j has the others)\n"));
	free(text);
	arena_free(arena);
}

/* What the verdict has told of a counter is not told again. */
static void test_told(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct operation *operation;
	struct probe_document *document = document_with(arena, &operation);
	static const char *const names[] = { "out_of_sequence", "out_of_buffer" };
	for (size_t i = 0; i < 2; i++) {
		struct counter_change *counter = list_add(arena, &document->evidence.counters);
		*counter = (struct counter_change){
			.side = SIDE_LOCAL, .name = names[i], .before = num(1), .after = num(3)
		};
	}
	strings_add(arena, &document->verdict.because, "local counter out_of_sequence rose by 2");
	document->request.drill = "rnr";
	char line[256], *text = print(document, (struct probe_print_options){ 0 });
	const char *table = strstr(text, "Counters that changed beside those above");
	assert_non_null(table);
	assert_non_null(strstr(line_of(table, "out_of_buffer", line), "local   out_of_buffer +2"));
	assert_null(strstr(table, "out_of_sequence"));
	assert_non_null(strstr(text, "\n  this was the drill rnr: "));
	free(text);
	arena_free(arena);
}

static void test_empty(void **state)
{
	(void)state;
	struct probe_document document = { 0 };
	char *text = print(&document, (struct probe_print_options){ .verbose = true });
	assert_non_null(strstr(text, "Verdict: unknown"));
	free(text);
}

/* Documents of others lack anything: whatever is unknown, it is printed, and nothing of a peer reaches the terminal. */
static void test_any(void **state)
{
	(void)state;
	enum { RUNS = 1500 };
	uint64_t seed = 1;
	for (int i = 0; i < RUNS; i++) {
		struct arena *arena = test_arena();
		struct probe_document *document = arena_new_object(arena, struct probe_document);
		any_record(&seed, arena, &recorded_probe_record, document);
		struct report report = { .arena = arena };
		verdict_judge(&document->request, &document->evidence, &report, arena, &document->verdict);
		document->report = &report;
		char *text = print(document, (struct probe_print_options){ .verbose = i % 2, .unicode = i % 3 == 0 });
		assert_false(strchr(text, '\x1b') || strstr(text, "\xc2\x9b") || strstr(text, "\xe2\x80\xae"));
		free(text);
		json_object *trace = trace_document(document);
		assert_non_null(trace);
		json_object_put(trace);
		arena_free(arena);
	}
}

static void test_duration(void **state)
{
	(void)state;
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = { { 0, "0 ns" }, { 999, "999 ns" }, { 1000, "1.00 us" }, { -1500, "-1.50 us" },
		{ 999499, "999 us" }, { 999500, "1.00 ms" }, { 12345678, "12.3 ms" }, { 655360000, "655 ms" },
		{ INT64_C(2050000000), "2.05 s" }, { INT64_C(240000000000), "240 s" } };
	char text[DURATION_TEXT_SIZE];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(format_duration(cases[i].ns, text), cases[i].text);
	assert_string_equal(format_duration(INT64_MIN, text), "-9223372037 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_placements),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_success),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_duration),
	};
	return cmocka_run_group_tests_name("probe text", tests, NULL, NULL);
}
