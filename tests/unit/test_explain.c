/* SPDX-License-Identifier: MIT */
/* The tables of codes: complete, short, with a source each, and found by every way to write them. */
#include "unit.h"

#include "verdict/explain.h"
#include "verdict/explain_log.h"
#include "verdict/explain_query.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>

static int sentences(const char *text)
{
	int count = 0;
	for (const char *c = text; c && *c; c++)
		count += *c == '.' && (c[1] == ' ' || c[1] == '\0');
	return count;
}

static void check_text(const struct explanation *text)
{
	assert_non_null(text->meaning);
	assert_non_null(text->source);
	assert_true(strlen(text->source) > 3);
	int count = sentences(text->meaning) + sentences(text->next);
	if (count < 1 || count > 3)
		fail_msg("%d sentences: %s %s", count, text->meaning, text->next ? text->next : "");
	assert_int_equal(
	        text->layers & (LAYER_BIT(LAYER_UNKNOWN) | LAYER_BIT(LAYER_NONE) | LAYER_BIT(LAYER_UNDETERMINED)), 0);
	assert_true(text->layers < LAYER_BIT(LAYER_COUNT));
}

static void test_texts(void **state)
{
	(void)state;
	size_t count;
	const struct wc_explanation *wc = explain_wc_table(&count);
	for (size_t i = 0; i < count; i++)
		check_text(&wc[i].text);
	const struct vendor_explanation *vendor = explain_vendor_table(&count);
	for (size_t i = 0; i < count; i++)
		check_text(&vendor[i].text);
	const struct errno_explanation *error = explain_errno_table(&count);
	for (size_t i = 0; i < count; i++)
		check_text(&error[i].text);
	const struct event_explanation *event = explain_event_table(&count);
	for (size_t i = 0; i < count; i++)
		check_text(&event[i].text);
	const struct counter_explanation *counter = explain_counter_table(&count);
	for (size_t i = 0; i < count; i++)
		check_text(&counter[i].text);
	for (int kind = 0; kind < WORD_KIND_COUNT; kind++) {
		const struct word_explanation *word = explain_word_table((enum word_kind)kind, &count);
		for (size_t i = 0; i < count; i++)
			check_text(&word[i].text);
	}
}

/* The numbers are those of the header that this was built with. */
static void test_wc_numbers(void **state)
{
	(void)state;
	static const struct {
		int status;
		const char *name;
	} wanted[] = {
#define STATUS(name) { name, #name }
		STATUS(IBV_WC_SUCCESS),
		STATUS(IBV_WC_LOC_LEN_ERR),
		STATUS(IBV_WC_LOC_QP_OP_ERR),
		STATUS(IBV_WC_LOC_EEC_OP_ERR),
		STATUS(IBV_WC_LOC_PROT_ERR),
		STATUS(IBV_WC_WR_FLUSH_ERR),
		STATUS(IBV_WC_MW_BIND_ERR),
		STATUS(IBV_WC_BAD_RESP_ERR),
		STATUS(IBV_WC_LOC_ACCESS_ERR),
		STATUS(IBV_WC_REM_INV_REQ_ERR),
		STATUS(IBV_WC_REM_ACCESS_ERR),
		STATUS(IBV_WC_REM_OP_ERR),
		STATUS(IBV_WC_RETRY_EXC_ERR),
		STATUS(IBV_WC_RNR_RETRY_EXC_ERR),
		STATUS(IBV_WC_LOC_RDD_VIOL_ERR),
		STATUS(IBV_WC_REM_INV_RD_REQ_ERR),
		STATUS(IBV_WC_REM_ABORT_ERR),
		STATUS(IBV_WC_INV_EECN_ERR),
		STATUS(IBV_WC_INV_EEC_STATE_ERR),
		STATUS(IBV_WC_FATAL_ERR),
		STATUS(IBV_WC_RESP_TIMEOUT_ERR),
		STATUS(IBV_WC_GENERAL_ERR),
		STATUS(IBV_WC_TM_ERR),
		STATUS(IBV_WC_TM_RNDV_INCOMPLETE),
	};
	size_t count;
	explain_wc_table(&count);
	assert_int_equal(count, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < count; i++) {
		const struct wc_explanation *found = explain_wc(wanted[i].status);
		assert_non_null(found);
		assert_int_equal(found->status, wanted[i].status);
		assert_string_equal(found->name, wanted[i].name);
		assert_ptr_equal(explain_wc_name(wanted[i].name), found);
		assert_ptr_equal(explain_wc_name(wanted[i].name + 7), found);
	}
	assert_null(explain_wc(-1));
	assert_null(explain_wc((int64_t)count));
	assert_null(explain_wc(INT64_MAX));
}

static void test_event_numbers(void **state)
{
	(void)state;
	static const struct {
		int number;
		const char *name;
	} wanted[] = {
#define EVENT(name) { name, #name }
		EVENT(IBV_EVENT_CQ_ERR),
		EVENT(IBV_EVENT_QP_FATAL),
		EVENT(IBV_EVENT_QP_REQ_ERR),
		EVENT(IBV_EVENT_QP_ACCESS_ERR),
		EVENT(IBV_EVENT_COMM_EST),
		EVENT(IBV_EVENT_SQ_DRAINED),
		EVENT(IBV_EVENT_PATH_MIG),
		EVENT(IBV_EVENT_PATH_MIG_ERR),
		EVENT(IBV_EVENT_DEVICE_FATAL),
		EVENT(IBV_EVENT_PORT_ACTIVE),
		EVENT(IBV_EVENT_PORT_ERR),
		EVENT(IBV_EVENT_LID_CHANGE),
		EVENT(IBV_EVENT_PKEY_CHANGE),
		EVENT(IBV_EVENT_SM_CHANGE),
		EVENT(IBV_EVENT_SRQ_ERR),
		EVENT(IBV_EVENT_SRQ_LIMIT_REACHED),
		EVENT(IBV_EVENT_QP_LAST_WQE_REACHED),
		EVENT(IBV_EVENT_CLIENT_REREGISTER),
		EVENT(IBV_EVENT_GID_CHANGE),
		EVENT(IBV_EVENT_WQ_FATAL),
	};
	size_t count;
	explain_event_table(&count);
	assert_int_equal(count, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < count; i++) {
		assert_non_null(explain_event(wanted[i].name));
		assert_ptr_equal(explain_event_number(wanted[i].number), explain_event(wanted[i].name));
	}
	assert_null(explain_event_number(-1));
	assert_null(explain_event_number((int64_t)count));
}

/* Messages of other programs, and what each may be about; none where that is left open. */
static void test_log(void **state)
{
	(void)state;
	static const struct {
		const char *line, *queries;
	} cases[] = {
		{ "Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81)", "wc:IBV_WC_RETRY_EXC_ERR" },
		{ "RNR retry counter exceeded", "wc:IBV_WC_RNR_RETRY_EXC_ERR" },
		{ "got completion with status=12 opcode=0 len=0 vendor err 129", "wc:IBV_WC_RETRY_EXC_ERR" },
		{ "Failed status 0xc: wr_id 0", "wc:IBV_WC_RETRY_EXC_ERR" },
		{ "RECV failed with status WR flushed (5)", "wc:IBV_WC_WR_FLUSH_ERR" },
		{ "local protection error", "wc:IBV_WC_LOC_PROT_ERR" },
		{ "mlx5_0:1 async event: port error", "event:PORT_ERR" },
		{ "CQ error on CQN 0x42", "event:CQ_ERR" },
		{ "status 0", "" },
		{ "status 99", "" },
		{ "error", "" },
		{ "general protection fault", "" },
		{ "retry later", "" },
		{ "", "" },
		{ "   ", "" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arena *arena = arena_new(1 << 16);
		struct strings queries = { 0 };
		char joined[200] = "";
		explain_log(arena, cases[i].line, &queries);
		for (uint32_t j = 0; j < queries.count; j++)
			snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s", j ? " " : "",
			        queries.items[j]);
		assert_string_equal(joined, cases[i].queries);
		arena_free(arena);
	}
}

static void test_vendor(void **state)
{
	(void)state;
	assert_non_null(explain_vendor("mlx5_core", 0x81));
	assert_ptr_equal(explain_vendor("mlx5", 0x81), explain_vendor("mlx5_core", 0x81));
	assert_int_equal(explain_vendor("mlx5", 0x81)->status, IBV_WC_RETRY_EXC_ERR);
	/* One vendor's codes mean nothing with another; what was only seen speaks of no layer. */
	assert_null(explain_vendor("bnxt_en", 0x81));
	assert_null(explain_vendor("irdma", 0x81));
	assert_null(explain_vendor(NULL, 0x81));
	assert_null(explain_vendor("mlx5", 0x99));
	assert_null(explain_vendor("mlx5", INT64_C(0x100000081)));
	assert_int_equal(explain_vendor("bnxt_re", 0x0a)->text.layers, 0);
	assert_int_equal(explain_vendor("efa", 0x01)->text.layers, 0);
	/* A vendor code never opens or closes more than the status that it comes with. */
	size_t count;
	const struct vendor_explanation *vendor = explain_vendor_table(&count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(vendor[i].text.layers & ~explain_wc(vendor[i].status)->text.layers, 0);
}

static void test_unique(void **state)
{
	(void)state;
	size_t count;
	const struct errno_explanation *error = explain_errno_table(&count);
	for (size_t i = 0; i < count; i++)
		assert_ptr_equal(explain_errno(error[i].step, error[i].error), &error[i]);
	const struct counter_explanation *counter = explain_counter_table(&count);
	for (size_t i = 0; i < count; i++)
		assert_ptr_equal(explain_counter(counter[i].name), &counter[i]);
	const struct event_explanation *event = explain_event_table(&count);
	for (size_t i = 0; i < count; i++)
		assert_ptr_equal(explain_event(event[i].name), &event[i]);
	const struct vendor_explanation *vendor = explain_vendor_table(&count);
	for (size_t i = 0; i < count; i++)
		assert_ptr_equal(explain_vendor(vendor[i].provider, vendor[i].code), &vendor[i]);
}

static void test_query(void **state)
{
	(void)state;
	static const struct {
		const char *query;
		int result;
		const char *kind, *name;
	} cases[] = {
		{ "wc:12", 0, "wc", "IBV_WC_RETRY_EXC_ERR" },
		{ "wc:0xc", 0, "wc", "IBV_WC_RETRY_EXC_ERR" },
		{ "wc:retry_exc_err", 0, "wc", "IBV_WC_RETRY_EXC_ERR" },
		{ "RETRY_EXC_ERR", 0, "wc", "IBV_WC_RETRY_EXC_ERR" },
		{ "wc:99", -ENOENT, "wc", NULL },
		{ "vendor:mlx5:0x81", 0, "vendor", NULL },
		{ "vendor:mlx5_core:129", 0, "vendor", NULL },
		{ "vendor:irdma:1", -ENOENT, "vendor", NULL },
		{ "vendor:mlx5:0x99", -ENOENT, "vendor", NULL },
		{ "vendor:mlx5", -EINVAL, "vendor", NULL },
		{ "vendor:mlx5:", -EINVAL, "vendor", NULL },
		{ "vendor::1", -EINVAL, "vendor", NULL },
		{ "errno:RTR:110", 0, "errno", "ETIMEDOUT" },
		{ "errno:rtr:etimedout", 0, "errno", "ETIMEDOUT" },
		{ "errno:reg_mr:12", 0, "errno", "ENOMEM" },
		{ "errno:ibv_modify_qp RTR:61", 0, "errno", "ENODATA" },
		{ "errno:nothing:12", -ENOENT, "errno", "ENOMEM" },
		{ "errno:RTR:7", -ENOENT, "errno", "E2BIG" },
		{ "errno:RTR:99999999999999999999", -ENOENT, "errno", NULL },
		{ "errno:RTR", -EINVAL, "errno", NULL },
		{ "event:CQ_ERR", 0, "event", "CQ_ERR" },
		{ "IBV_EVENT_CQ_ERR", 0, "event", "CQ_ERR" },
		{ "counter:send_err", 0, "counter", "send_err" },
		{ "out_of_buffer", 0, "counter", "out_of_buffer" },
		{ "finding:probe-other-event", 0, "finding", "probe-other-event" },
		{ "probe-other-event", 0, "finding", "probe-other-event" },
		{ "finding:nothing", -ENOENT, "finding", NULL },
		{ "layer:network", 0, "layer", "network" },
		{ "Remote-Device", 0, "layer", "remote-device" },
		{ "device", 0, "layer", "device" },
		{ "stage:wqe", 0, "stage", "published" },
		{ "doorbell_recorded", 0, "stage", "published" },
		{ "cqe", 0, "stage", "completed" },
		{ "cqe_arrived_ns", 0, "stage", "completed" },
		{ "payload", 0, "stage", "landed" },
		{ "stalled", 0, "outcome", "stalled" },
		{ "likely", 0, "confidence", "likely" },
		{ "none", -EINVAL, NULL, NULL },
		{ "layer:none", 0, "layer", "none" },
		{ "layer:switch", -ENOENT, "layer", NULL },
		{ "stage:", -EINVAL, NULL, NULL },
		{ "12", -EINVAL, NULL, NULL },
		{ "ENOMEM", -EINVAL, NULL, NULL },
		{ "nothing", -ENOENT, NULL, NULL },
		{ "", -ENOENT, NULL, NULL },
		{ ":", -EINVAL, NULL, NULL },
		{ "nothing:12", -EINVAL, NULL, NULL },
	};
	struct arena *arena = test_arena();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error error = { 0 };
		struct explain_document document;
		int result = explain_query(cases[i].query, NULL, arena, &document, &error);
		if (result != cases[i].result)
			fail_msg("%s: %d, expected %d: %s", cases[i].query, result, cases[i].result, error.text);
		assert_string_equal(document.query, cases[i].query);
		if (cases[i].kind)
			assert_string_equal(document.kind, cases[i].kind);
		if (cases[i].name)
			assert_string_equal(document.name, cases[i].name);
		assert_int_equal(document.meaning != NULL, result == 0);
		assert_int_equal(error.text[0] != '\0', result != 0);
	}
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_wc_numbers),
		cmocka_unit_test(test_event_numbers),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_vendor),
		cmocka_unit_test(test_unique),
		cmocka_unit_test(test_query),
	};
	return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
