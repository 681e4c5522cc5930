/* SPDX-License-Identifier: MIT */
/* Field tables: every field written, unknown as null, read back the same, wrong input named by its path. */
#include "base/utf8.h"
#include "unit.h"

#include "model/evidence.h"
#include "model/gid.h"
#include "model/host.h"
#include "json/json.h"

#include <errno.h>

static char *compact(const struct record *record, const void *data)
{
	json_object *object = record_to_json(record, data);
	assert_non_null(object);
	char *text = json_text(object, false);
	json_object_put(object);
	return text;
}

static json_object *parse(const char *text)
{
	struct error error = { 0 };
	json_object *object = json_parse(text, strlen(text), "test", &error);
	if (!object)
		fail_msg("%s", error.text);
	return object;
}

static void an_empty_model_is_all_unknown(void **state)
{
	(void)state;
	struct verdict verdict = { 0 };
	char *text = compact(&verdict_record, &verdict);
	assert_string_equal(text, "{\"outcome\":null,\"layer\":null,\"candidates\":[],\"confidence\":null,"
	                          "\"summary\":null,\"because\":[],\"not_observed\":[],\"next_steps\":[]}\n");
	free(text);
}

/* A number of a later version, or of a peer, has no name here. */
static void numbers_without_a_name_are_unknown(void **state)
{
	(void)state;
	static const char *const names[] = { "none", "one", "behind the last" };
	static const struct field fields[] = { { .key = "x", .type = FIELD_ENUM, .names = names, .names_count = 2 } };
	static const struct record record = { .fields = fields, .count = 1, .size = sizeof(int) };
	static const struct {
		int value;
		const char *expected;
	} values[] = { { 0, "{\"x\":\"none\"}\n" }, { 1, "{\"x\":\"one\"}\n" }, { 2, "{\"x\":null}\n" },
		{ -1, "{\"x\":null}\n" } };
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		char *text = compact(&record, &values[i].value);
		assert_string_equal(text, values[i].expected);
		free(text);
	}
}

static void rates_keep_their_fraction(void **state)
{
	(void)state;
	static const struct {
		int64_t mbps;
		const char *expected;
	} rates[] = { { 2500, "\"rate_gbps\":2.5," }, { 100000, "\"rate_gbps\":100," },
		{ 14062, "\"rate_gbps\":14.062," }, { 0, "\"rate_gbps\":0," } };
	struct arena *arena = test_arena();
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		struct host host = { .arena = arena };
		struct rdma_device *device = list_add(arena, &host.devices);
		struct port *port = list_add(arena, &device->ports);
		port->rate_mbps = num(rates[i].mbps);
		char *text = compact(&topo_record, &host);
		assert_non_null(strstr(text, rates[i].expected));

		json_object *object = parse(text);
		struct host back = { 0 };
		assert_int_equal(record_from_json(&topo_record, object, arena, &back, NULL), 0);
		assert_true(num_is(back.devices.items[0]->ports.items[0]->rate_mbps, rates[i].mbps));
		json_object_put(object);
		free(text);
	}
	arena_free(arena);
}

static void a_document_reads_back_as_it_was_written(void **state)
{
	(void)state;
	static const char written[] =
	        "{\"request\":{\"op\":\"write\",\"sizes\":[64,4096],\"inline\":false},"
	        "\"evidence\":{\"local\":{\"role\":\"initiator\",\"qpn\":17,\"gid_type\":\"RoCE v2\"},"
	        "\"clock\":{\"offset_ns\":-5,\"error_ns\":3},"
	        "\"operations\":[{\"wr_id\":9223372036854775807,\"signaled\":true,\"wc_status\":12}],"
	        "\"buffer\":{\"pages\":2,\"pages_on_node\":{\"0\":1,\"1\":1}}},"
	        "\"verdict\":{\"outcome\":\"not-run\",\"layer\":\"undetermined\",\"candidates\":[\"network\"]}}";
	struct arena *arena = test_arena();
	struct probe_document first = { 0 }, second = { 0 };
	json_object *object = parse(written);
	assert_int_equal(record_from_json(&probe_record, object, arena, &first, NULL), 0);
	json_object_put(object);
	assert_int_equal(first.request.op, OP_WRITE);
	assert_true(num_is(*first.request.sizes.items[1], 4096));
	assert_int_equal(first.request.inline_data, FLAG_NO);
	assert_true(num_is(first.evidence.clock->offset_ns, -5));
	assert_null(first.evidence.tcp);
	assert_true(num_is(first.evidence.operations.items[0]->wr_id, INT64_MAX));
	assert_false(first.evidence.operations.items[0]->vendor_err.known);
	assert_int_equal(first.verdict.layer, LAYER_UNDETERMINED);

	char *once = compact(&probe_record, &first);
	object = parse(once);
	assert_int_equal(record_from_json(&probe_record, object, arena, &second, NULL), 0);
	char *twice = compact(&probe_record, &second);
	assert_string_equal(once, twice);
	json_object_put(object);
	free(once);
	free(twice);
	arena_free(arena);
}

static void wrong_values_are_named_by_their_path(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{ "[]", "document: an object expected, found array" },
		{ "{\"evidence\":3}", "evidence: an object expected, found int" },
		{ "{\"evidence\":{\"operations\":[{},{\"bytes\":\"x\"}]}}",
		        "evidence.operations[1].bytes: a whole number expected, found string" },
		{ "{\"evidence\":{\"operations\":[{\"bytes\":1.5}]}}",
		        "evidence.operations[0].bytes: a whole number expected, found double" },
		{ "{\"evidence\":{\"operations\":[{\"bytes\":18446744073709551615}]}}",
		        "evidence.operations[0].bytes: a number in range expected, found int" },
		{ "{\"evidence\":{\"operations\":[null]}}", "evidence.operations[0]: an object expected, found null" },
		{ "{\"verdict\":{\"layer\":\"moon\"}}", "verdict.layer: unknown word \"moon\"" },
		{ "{\"verdict\":{\"because\":[7]}}", "verdict.because[0]: a string expected, found int" },
		{ "{\"evidence\":{\"buffer\":{\"pages_on_node\":{\"x\":1}}}}",
		        "evidence.buffer.pages_on_node.x: a number as key expected, found int" },
	};
	struct arena *arena = test_arena();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		json_object *object = parse(wrong[i].text);
		struct probe_document document = { 0 };
		struct error error = { 0 };
		assert_int_equal(record_from_json(&probe_record, object, arena, &document, &error), -EINVAL);
		assert_string_equal(error.text, wrong[i].message);
		json_object_put(object);
	}
	arena_free(arena);
}

static void what_does_not_fit_is_unknown(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct report report = { .arena = arena };
	struct error error = { 0 };
	struct probe_document document = { 0 };
	json_object *object =
	        parse("{\"request\":{\"op\":\"fetch-add\",\"count\":3},\"evidence\":{\"statistics\":[],"
	              "\"counters\":[null,{\"name\":\"a\",\"before\":18446744073709551615,\"after\":7},5],"
	              "\"operations\":[{\"bytes\":\"x\",\"wc_status\":12}],\"tcp\":true},"
	              "\"verdict\":{\"layer\":\"moon\"}}");
	assert_int_equal(
	        record_from_foreign_json(&recorded_probe_record, object, arena, &document, &report, &error), 0);
	const struct evidence *evidence = &document.evidence;
	assert_int_equal(document.request.op, OP_UNKNOWN);
	assert_int_equal(document.request.count.value, 3);
	assert_int_equal(evidence->counters.count, 1);
	assert_false(evidence->counters.items[0]->before.known);
	assert_int_equal(evidence->counters.items[0]->after.value, 7);
	assert_false(evidence->operations.items[0]->bytes.known);
	assert_int_equal(evidence->operations.items[0]->wc_status.value, 12);
	assert_null(evidence->tcp);
	static const char *const paths[] = { "request.op", "evidence.statistics", "evidence.counters[0]",
		"evidence.counters[1].before", "evidence.counters[2]", "evidence.operations[0].bytes", "evidence.tcp" };
	assert_int_equal(report.not_collected.count, sizeof(paths) / sizeof(*paths));
	for (uint32_t i = 0; i < report.not_collected.count; i++) {
		bool listed = false;
		for (size_t j = 0; j < sizeof(paths) / sizeof(*paths); j++)
			listed |= !strcmp(report.not_collected.items[i]->what, paths[j]);
		if (!listed)
			fail_msg("%s is listed", report.not_collected.items[i]->what);
	}
	json_object_put(object);
	object = parse("[]");
	assert_int_equal(
	        record_from_foreign_json(&recorded_probe_record, object, arena, &document, &report, &error), -EINVAL);
	json_object_put(object);
	arena_free(arena);
}

static void foreign_bytes_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[] = { "", "{", "{\"a\":1} x", "null", "{\"a\":\"\xff\"}",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct error error = { 0 };
		json_object *object = json_parse(wrong[i], strlen(wrong[i]), "file.json", &error);
		if (object)
			fail_msg("accepted: %s", wrong[i]);
		assert_int_equal(error.code, -EINVAL);
		assert_non_null(strstr(error.text, "file.json: not valid JSON"));
	}
}

/* What is short of an end is told from what is whole, though no line end follows it, and from nothing at all. */
static void the_end_of_the_text_is_told(void **state)
{
	(void)state;
	static const char *const wrong[][2] = {
		{ "", "it is empty" },
		{ " \n", "it is empty" },
		{ "null", "not an object" },
		{ "nul", "null expected" },
		{ "-", "number expected" },
		{ "{\"a\":1", "ends in the middle" },
		{ "\"a", "ends in the middle" },
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct error error = { 0 };
		assert_null(json_parse(wrong[i][0], strlen(wrong[i][0]), "file.json", &error));
		if (!strstr(error.text, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], error.text);
	}
	json_object *number = json_parse("1", 1, "file.json", NULL);
	assert_int_equal(json_object_get_int(number), 1);
	json_object_put(number);
}

static void the_text_need_not_end_with_a_nul(void **state)
{
	(void)state;
	char *text = malloc(3);
	memcpy(text, "{}\n", 3);
	json_object *object = json_parse(text, 3, "test", NULL);
	assert_non_null(object);
	json_object_put(object);
	free(text);
	struct error error = { 0 };
	assert_null(json_parse("{}\0{}", 5, "test", &error)); /* a NUL is no blank */
}

/* Names from sysfs may hold any byte; JSON may not. */
static void invalid_utf8_becomes_a_replacement(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to;
	} texts[] = { { "ib\xff"
		        "0",
		              "ib\xef\xbf\xbd"
		              "0" },
		{ "\xc3\xa9", "\xc3\xa9" }, { "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf0\x9f\x98", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" } };
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *clean = utf8_clean(texts[i].from);
		assert_string_equal(clean, texts[i].to);
		free(clean);
	}
}

static void the_envelope_surrounds_the_document(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct report report = { .arena = arena };
	struct gid_document document = { 0 };
	struct finding *finding =
	        report_finding(&report, "gid-stale", SEVERITY_WARNING, "mlx5_0/1/gid/3", "%s", "gone");
	report_evidence(&report, finding, "RTM_GETADDR", "address", "%d", 1);
	report_advice(finding, "use 5");
	report_missing(&report, "rate_gbps", "mlx5_0/1", -EINVAL, NULL);
	report_missing(&report, "rate_gbps", "mlx5_0/1", -EINVAL, "a second time");
	json_object *object = document_to_json("rdmadiag.gid", "live", NULL, &gid_record, &document, &report);
	char *text = json_text(object, false);
	assert_string_equal(text,
	        "{\"schema\":\"rdmadiag.gid\",\"version\":1,\"tool_version\":\"" RDMADIAG_VERSION
	        "\",\"origin\":\"live\",\"host\":null,\"tables\":[],\"entries\":[],\"choices\":[],\"to\":null,"
	        "\"changes\":[],\"resized\":[],"
	        "\"findings\":[{\"id\":\"gid-stale\",\"severity\":\"warning\",\"subject\":\"mlx5_0/1/gid/3\","
	        "\"message\":\"gone\",\"evidence\":[{\"source\":\"RTM_GETADDR\",\"name\":\"address\",\"value\":\"1\"}],"
	        "\"advice\":\"use "
	        "5\"}],\"not_collected\":[{\"what\":\"rate_gbps\",\"subject\":\"mlx5_0/1\",\"errno\":22,"
	        "\"reason\":\"Invalid argument\"}]}\n");
	json_object_put(object);
	free(text);
	arena_free(arena);
}

static void every_record_has_a_schema(void **state)
{
	(void)state;
	static const struct record *const records[] = { &topo_record, &gid_record, &probe_record };
	for (size_t i = 0; i < 3; i++) {
		json_object *schema = record_schema("rdmadiag.test", records[i]), *required, *definitions;
		assert_true(json_object_object_get_ex(schema, "required", &required));
		assert_int_equal(json_object_array_length(required), 7 + records[i]->count);
		assert_true(json_object_object_get_ex(schema, "$defs", &definitions));
		assert_true(json_object_object_get_ex(definitions, "finding", NULL));
		json_object_put(schema);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_model_is_all_unknown),
		cmocka_unit_test(numbers_without_a_name_are_unknown),
		cmocka_unit_test(rates_keep_their_fraction),
		cmocka_unit_test(a_document_reads_back_as_it_was_written),
		cmocka_unit_test(wrong_values_are_named_by_their_path),
		cmocka_unit_test(what_does_not_fit_is_unknown),
		cmocka_unit_test(foreign_bytes_are_refused),
		cmocka_unit_test(the_end_of_the_text_is_told),
		cmocka_unit_test(the_text_need_not_end_with_a_nul),
		cmocka_unit_test(invalid_utf8_becomes_a_replacement),
		cmocka_unit_test(the_envelope_surrounds_the_document),
		cmocka_unit_test(every_record_has_a_schema),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
