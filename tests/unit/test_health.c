/* SPDX-License-Identifier: MIT */
/* Names of interrupts, and messages that are cut or lie about their lengths. */
#include "host_fixture.h"

#include "base/cleanup.h"
#include "origin/umad.h"
#include "source/dcb.h"
#include "source/devlink.h"
#include "source/ethtool.h"
#include "source/irq.h"

#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/genetlink.h>
#include <errno.h>
#include <string.h>

static const char interrupts[] =
        "            CPU0       CPU1       \n"
        "   0:         12          0   IO-APIC    2-edge      timer\n"
        "  45:          7          0  IR-PCI-MSI 524288-edge      mlx5_comp0@pci:0000:3b:00.0\n"
        "  46:          7          0   PCI-MSI 1048576-edge      eth0-TxRx-0\n"
        "  47:          1          2  ITS-MSI 524289 Edge      mlx5_async0@pci:0000:3b:00.0\n"
        "  48:          1          2  IR-PCI-MSI 49152-edge\n"
        " NMI:          0          0   Non-maskable interrupts\n";

static void test_names(void **state)
{
	(void)state;
	autocall(irq_lines_free) struct irq_lines lines;
	assert_int_equal(irq_lines_parse(interrupts, &lines), 0);
	assert_int_equal(lines.count, 5);
	assert_string_equal(irq_lines_name(&lines, 45, host->arena), "mlx5_comp0@pci:0000:3b:00.0");
	assert_string_equal(irq_lines_name(&lines, 46, host->arena), "eth0-TxRx-0");
	assert_string_equal(irq_lines_name(&lines, 47, host->arena), "mlx5_async0@pci:0000:3b:00.0");
	assert_null(irq_lines_name(&lines, 48, host->arena)); /* nobody asked for it */
	assert_null(irq_lines_name(&lines, 4, host->arena));
	assert_null(irq_lines_name(&lines, 99, host->arena));
}

static void test_completions(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum flag completion;
	} names[] = {
		{ "mlx5_comp12@pci:0000:3b:00.0", FLAG_YES },
		{ "mlx5_async0@pci:0000:3b:00.0", FLAG_NO },
		{ "virtio0-input.0", FLAG_YES },
		{ "virtio0-config", FLAG_NO },
		{ "irdma-ens1-CEQ-3", FLAG_YES },
		{ "irdma-ens1-AEQCEQ-0-aeq", FLAG_NO },
		{ "mlx4-17@0000:05:00.0", FLAG_YES },
		{ "mlx4-async@pci:0000:05:00.0", FLAG_NO },
		{ "efa-comp2@pci:0000:05:00.0", FLAG_YES },
		{ "efa-mgmnt@pci:0000:05:00.0", FLAG_NO },
		{ "mana_q0@pci:7870:00:00.0", FLAG_YES },
		{ "mana_hwc@pci:7870:00:00.0", FLAG_NO },
		{ "hfi1_0 kctxt1", FLAG_YES },
		{ "bnxt_re-nq-1@pci:0000:17:00.0", FLAG_YES },
		{ "bnxt_re-creq@pci:0000:17:00.0", FLAG_NO },
		{ "ice-ens1f0:misc", FLAG_NO },
		{ "iavf-0000:3b:02.0:mbx", FLAG_NO },
		{ "ens1f4-FWeventq", FLAG_NO },
		{ "ens1f4-Rx0", FLAG_YES },
		{ "hfi1_0", FLAG_UNKNOWN },
		{ "pciehp", FLAG_UNKNOWN },
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(irq_is_completion(names[i].name), names[i].completion);
}

/* Bytes of a directed route SMP: InfiniBand Architecture Specification, volume 1, 14.2.1.2. */
static void test_management_datagram(void **state)
{
	(void)state;
	const struct mad_request request = { .node = "umad0", .attribute = 0x18, .modifier = 0x30001 };
	unsigned char mad[MAD_SIZE];
	umad_build(&request, mad);
	const unsigned char header[] = { 1, 0x81, 1, 1, 0, 0, 0, 0 };
	const unsigned char attribute[] = { 0, 0x18, 0, 0, 0, 3, 0, 1 };
	const unsigned char lids[] = { 0xff, 0xff, 0xff, 0xff };
	assert_memory_equal(mad, header, sizeof(header));
	assert_memory_equal(mad + 16, attribute, sizeof(attribute));
	assert_memory_equal(mad + 32, lids, sizeof(lids));

	assert_int_equal(umad_check(&request, mad), -EPROTO); /* the request itself */
	mad[3] = 0x81;
	assert_int_equal(umad_check(&request, mad), 0);
	mad[4] = 0x80; /* on its way back */
	assert_int_equal(umad_check(&request, mad), 0);
	mad[5] = 0x0c; /* attribute not supported */
	assert_int_equal(umad_check(&request, mad), -EOPNOTSUPP);
	mad[5] = 0;
	mad[17] = 0x17;
	assert_int_equal(umad_check(&request, mad), -EPROTO);
}

static struct nlmsghdr *begin(void *buffer)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	mnl_nlmsg_put_extra_header(message, sizeof(struct genlmsghdr));
	return message;
}

/* Numbers of attributes as in linux/ethtool_netlink.h. */
static void test_wire(void **state)
{
	(void)state;
	_Alignas(struct nlmsghdr) unsigned char buffer[256];
	struct netdev_health health = { 0 };
	struct nlmsghdr *message = begin(buffer);
	mnl_attr_put_u8(message, 2, 0);
	mnl_attr_put_u8(message, 3, 1);
	struct nlattr *stats = mnl_attr_nest_start(message, 5);
	mnl_attr_put_u64(message, 2, 41);
	mnl_attr_put_u64(message, 3, 42);
	mnl_attr_nest_end(message, stats);
	assert_int_equal(ethtool_parse_pause(buffer, message->nlmsg_len, host->arena, &health), 0);
	assert_int_equal(health.pause->autonegotiated, FLAG_NO);
	assert_int_equal(health.pause->receive, FLAG_YES);
	assert_int_equal(health.pause->transmit, FLAG_UNKNOWN);
	assert_true(num_is(health.pause->frames_sent, 41) && num_is(health.pause->frames_received, 42));

	message = begin(buffer);
	mnl_attr_put_u32(message, 4, 50);
	stats = mnl_attr_nest_start(message, 5);
	uint64_t lanes[] = { 7, 3, 4 };
	mnl_attr_put(message, 2, sizeof(lanes), lanes);
	mnl_attr_put_u64(message, 3, (uint64_t)INT64_MAX + 1);
	mnl_attr_nest_end(message, stats);
	assert_int_equal(ethtool_parse_fec(buffer, message->nlmsg_len, host->arena, &health), 0);
	assert_string_equal(health.fec->active, "rs");
	assert_true(num_is(health.fec->corrected_blocks, 7));
	assert_false(health.fec->uncorrectable_blocks.known);

	message = begin(buffer);
	mnl_attr_put_u8(message, 3, 3); /* a mode of a later kernel */
	assert_int_equal(ethtool_parse_module(buffer, message->nlmsg_len, host->arena, &health), 0);
	assert_null(health.module_power);
	message = begin(buffer);
	mnl_attr_put_u8(message, 3, 2);
	assert_int_equal(ethtool_parse_module(buffer, message->nlmsg_len, host->arena, &health), 0);
	assert_string_equal(health.module_power, "high");

	static const struct {
		uint8_t state;
		const char *word;
	} states[] = { { 0, "autonegotiation" }, { 4, "no cable" }, { 10, "module" }, { 11, NULL } };
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		struct netdev_health down = { 0 };
		message = begin(buffer);
		mnl_attr_put_u8(message, 5, states[i].state);
		assert_int_equal(ethtool_parse_linkstate(buffer, message->nlmsg_len, host->arena, &down), 0);
		assert_int_equal(!down.link_problem, !states[i].word);
		if (states[i].word)
			assert_string_equal(down.link_problem, states[i].word);
	}
}

/* A driver answers with what it has: what is missing or too short is not known, and the rest is. */
static void test_dcb_in_part(void **state)
{
	(void)state;
	_Alignas(struct nlmsghdr) unsigned char buffer[512] = { 0 };
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct qos_facts *qos = NULL;
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 3, .protocol = 26 };
	mnl_nlmsg_put_extra_header(message, sizeof(struct dcbmsg));
	struct nlattr *ieee = mnl_attr_nest_start(message, DCB_ATTR_IEEE);
	mnl_attr_put(message, DCB_ATTR_IEEE_PFC, 4, "\xff\xff\xff\xff");
	struct nlattr *table = mnl_attr_nest_start(message, DCB_ATTR_IEEE_APP_TABLE);
	mnl_attr_put(message, DCB_ATTR_IEEE_APP, sizeof(app), &app);
	mnl_attr_nest_end(message, table);
	mnl_attr_nest_end(message, ieee);
	assert_int_equal(dcb_parse(buffer, message->nlmsg_len, host->arena, &qos), 0);
	assert_non_null(qos);
	assert_string_equal(qos->trust, "dscp");
	assert_int_equal(qos->classes.count, 0);
	assert_int_equal(qos->priorities.items[3]->pfc, FLAG_UNKNOWN);
	assert_false(qos->priorities.items[3]->traffic_class.known);
	assert_false(qos->priorities.items[3]->pause_sent.known);

	/* without PFC at all */
	ieee->nla_len = (uint16_t)(ieee->nla_len - 8);
	memmove(mnl_attr_get_payload(ieee), (char *)mnl_attr_get_payload(ieee) + 8, ieee->nla_len - sizeof(*ieee));
	message->nlmsg_len -= 8;
	assert_int_equal(dcb_parse(buffer, message->nlmsg_len, host->arena, &qos), 0);
	assert_string_equal(qos->trust, "dscp");
	assert_int_equal(qos->priorities.items[3]->pfc, FLAG_UNKNOWN);
}

/* Any shorter message says less, or nothing, and never reads behind its end (seen by the sanitizers). */
static void test_cut(void **state)
{
	(void)state;
	_Alignas(struct nlmsghdr) unsigned char buffer[256];
	struct nlmsghdr *message = begin(buffer);
	struct nlattr *group = mnl_attr_nest_start(message, 4);
	mnl_attr_put_u32(message, 2, 1);
	struct nlattr *stat = mnl_attr_nest_start(message, 4);
	mnl_attr_put_u64(message, 4, 12);
	mnl_attr_nest_end(message, stat);
	mnl_attr_nest_end(message, group);
	struct netdev_health health = { 0 };
	assert_int_equal(ethtool_parse_stats(buffer, message->nlmsg_len, host->arena, &health), 0);
	assert_int_equal(health.counters.count, 1);
	assert_string_equal(health.counters.items[0]->name, "FrameCheckSequenceErrors");
	assert_int_equal(health.counters.items[0]->value.value, 12);
	uint32_t whole = message->nlmsg_len;
	for (uint32_t length = sizeof(*message); length < whole; length++) {
		struct netdev_health less = { 0 };
		struct health all = { 0 };
		struct qos_facts *qos = NULL;
		autofree unsigned char *copy = malloc(length);
		assert_non_null(copy);
		memcpy(copy, buffer, length);
		((struct nlmsghdr *)copy)->nlmsg_len = length;
		ethtool_parse_stats(copy, length, host->arena, &less);
		ethtool_parse_pause(copy, length, host->arena, &less);
		ethtool_parse_fec(copy, length, host->arena, &less);
		ethtool_parse_module(copy, length, host->arena, &less);
		ethtool_parse_linkstate(copy, length, host->arena, &less);
		dcb_parse(copy, length, host->arena, &qos);
		devlink_parse(copy, length, host->arena, &all);
		assert_int_equal(less.counters.count, 0);
		assert_null(qos);
		assert_int_equal(all.reporters.count, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_completions, set_up, tear_down),
		cmocka_unit_test(test_management_datagram),
		cmocka_unit_test_setup_teardown(test_wire, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_dcb_in_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
