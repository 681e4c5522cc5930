/* SPDX-License-Identifier: MIT */
/* PCI addresses in paths, configuration space, and the texts of sysfs. */
#include "unit.h"

#include "render/places.h"
#include "source/pci.h"

static struct arena *arena;

static int set_up(void **state)
{
	(void)state;
	arena = arena_new(1 << 20);
	return !arena;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static bool is_address(const char *text)
{
	return pci_is_address(text, strlen(text));
}

static void addresses(void **state)
{
	(void)state;
	assert_true(is_address("0000:81:00.0"));
	assert_true(is_address("10000:e1:00.0")); /* behind VMD */
	assert_true(is_address("000a:11:00.1"));
	assert_true(is_address("df9f0001:00:02.7"));
	assert_false(is_address("000:81:00.0"));
	assert_false(is_address("123456789:81:00.0"));
	assert_false(is_address("0000:81:00.8"));
	assert_false(is_address("0000:81:00"));
	assert_false(is_address("pci0000:80"));
	assert_false(is_address("mlx5_core.sf.2"));
	assert_false(is_address(""));
}

static void path_of_vmbus_function(void **state)
{
	(void)state;
	const char *path =
	        "sys/devices/LNXSYSTM:00/VMBUS:00/47505500-0001-0000-3130-444531444234/pci5cf8:00/5cf8:00:02.0/net";
	const char *address;
	size_t length = pci_address_in_path(path, 0, &address);
	assert_int_equal(length, strlen("5cf8:00:02.0"));
	assert_memory_equal(address, "5cf8:00:02.0", length);
	assert_int_equal(pci_address_in_path(path, 1, &address), 0);
}

static void path_with_switch(void **state)
{
	(void)state;
	const char *path = "sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0/0000:18:02.0/0000:19:00.0/mlx5_core.sf.2";
	const char *address;
	size_t length = pci_address_in_path(path, 3, &address);
	assert_memory_equal(address, "0000:19:00.0", length);
	assert_int_equal(pci_address_in_path(path, 4, &address), 0);
	assert_int_equal(pci_address_in_path("", 0, &address), 0);
}

static void speeds(void **state)
{
	(void)state;
	assert_int_equal(pci_speed_mtps("8.0 GT/s PCIe").value, 8000);
	assert_int_equal(pci_speed_mtps("2.5 GT/s PCIe").value, 2500);
	assert_int_equal(pci_speed_mtps("8 GT/s").value, 8000);
	assert_int_equal(pci_speed_mtps("32.0 GT/s PCIe").value, 32000);
	assert_false(pci_speed_mtps("Unknown").known);
	assert_false(pci_speed_mtps("Unknown speed").known);
	assert_false(pci_speed_mtps("8").known);
	assert_false(pci_speed_mtps(NULL).known);
}

static void put16(uint8_t *config, size_t at, unsigned int value)
{
	config[at] = (uint8_t)value;
	config[at + 1] = (uint8_t)(value >> 8);
}

/* A root port: PCIe capability at 0x40, able of 16 GT/s x16, running 8 GT/s x8, ACS at 0x100. */
static void fill_config(uint8_t config[static 4096])
{
	memset(config, 0, 4096);
	config[0x0e] = 1;
	put16(config, 0x06, 0x10);
	config[0x34] = 0x40;
	config[0x40] = 0x10;
	put16(config, 0x42, 0x0042);
	put16(config, 0x4c, 16 << 4 | 4);
	put16(config, 0x52, 8 << 4 | 3);
	put16(config, 0x100, 0x000d);
	put16(config, 0x102, 0x0001);
	put16(config, 0x106, 0x1d);
}

static void configuration_space(void **state)
{
	(void)state;
	uint8_t config[4096];
	struct pci_hop hop = { 0 };
	bool capabilities;
	fill_config(config);
	pci_parse_config(config, sizeof(config), arena, &hop, &capabilities);
	assert_true(capabilities);
	assert_int_equal(hop.kind, PCI_ROOT_PORT);
	assert_int_equal(hop.max_speed_mtps.value, 16000);
	assert_int_equal(hop.max_width.value, 16);
	assert_int_equal(hop.speed_mtps.value, 8000);
	assert_int_equal(hop.width.value, 8);
	assert_string_equal(hop.acs, "source-validation request-redirect completion-redirect upstream-forwarding");
}

static void configuration_space_of_a_user(void **state)
{
	(void)state;
	uint8_t config[4096];
	struct pci_hop hop = { 0 };
	bool capabilities;
	fill_config(config);
	pci_parse_config(config, 64, arena, &hop, &capabilities);
	assert_false(capabilities);
	assert_int_equal(hop.kind, PCI_BRIDGE);
	assert_false(hop.speed_mtps.known);
	assert_null(hop.acs);
}

/* A link that is down or a VF has zeros there: unknown, not zero. */
static void no_link(void **state)
{
	(void)state;
	uint8_t config[4096];
	struct pci_hop hop = { 0 };
	bool capabilities;
	fill_config(config);
	put16(config, 0x4c, 0);
	put16(config, 0x52, 0);
	put16(config, 0x106, 0);
	pci_parse_config(config, sizeof(config), arena, &hop, &capabilities);
	assert_false(hop.speed_mtps.known || hop.width.known || hop.max_speed_mtps.known || hop.max_width.known);
	assert_string_equal(hop.acs, "none");
}

/* Lists that go in circles or out of the buffer, random bytes, every length. */
static void an_adapter_that_does_not_answer(void **state)
{
	(void)state;
	uint8_t config[4096];
	struct pci_hop hop = { 0 };
	bool capabilities;
	memset(config, 0xff, sizeof(config));
	pci_parse_config(config, sizeof(config), arena, &hop, &capabilities);
	assert_true(hop.silent);
	assert_false(hop.width.known || hop.speed_mtps.known || hop.max_width.known);
	assert_null(hop.acs);

	/* The ids of a virtual function read as ones, the rest does not. */
	fill_config(config);
	memset(config, 0xff, 4);
	hop = (struct pci_hop){ 0 };
	pci_parse_config(config, sizeof(config), arena, &hop, &capabilities);
	assert_false(hop.silent);
	assert_true(hop.max_width.known);
}

static void hostile_configuration_space(void **state)
{
	(void)state;
	bool capabilities;
	srand(1);
	for (int round = 0; round < 2000; round++) {
		size_t length = (size_t)(rand() % 4097);
		uint8_t *config = malloc(length + 1); /* exact, so that sanitizers see one byte too far */
		for (size_t i = 0; i < length; i++)
			config[i] = (uint8_t)rand();
		if (length > 0x34)
			config[0x06] |= 0x10;
		struct pci_hop hop = { 0 };
		pci_parse_config(config, length, arena, &hop, &capabilities);
		free(config);
	}
}

static void uevents(void **state)
{
	(void)state;
	struct pci_function function = { 0 };
	pci_parse_uevent(
	        "DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:101D\nPCI_SUBSYS_ID=15B3:0016\n", arena, &function);
	assert_string_equal(function.driver, "mlx5_core");
	assert_int_equal(function.class_code.value, 0x020000);
	assert_int_equal(function.vendor.value, 0x15b3);
	assert_int_equal(function.device.value, 0x101d);
	struct pci_function unbound = { 0 };
	pci_parse_uevent("PCI_CLASS=20700\nPCI_ID=15B3:1017", arena, &unbound);
	assert_null(unbound.driver);
	assert_int_equal(unbound.class_code.value, 0x020700);
}

/* What is not zero, by the kernel's name; its first releases had names with blanks. */
static void aer_kinds(void **state)
{
	(void)state;
	struct aer_facts aer = { .fatal = { 0 } };
	char text[AER_TEXT_SIZE];
	aer.correctable =
	        pci_parse_aer("Receiver Error        2\nBadTLP 0\nBadDLLP 1\nodd\n\n 4\nTOTAL_ERR_COR 3\nTimeout 7\n",
	                AER_CORRECTABLE, arena, &aer);
	aer.nonfatal = pci_parse_aer("CmpltTO 5\nUnsupReq -1\nTOTAL_ERR_NONFATAL 5", AER_NONFATAL, arena, &aer);
	aer_text(&aer, text);
	assert_string_equal(text, "3 correctable, 5 non-fatal, ? fatal (Receiver Error 2, BadDLLP 1, CmpltTO 5)");
	assert_int_equal(aer.kinds.items[2]->severity, AER_NONFATAL);
	for (int i = 0; i < 20; i++)
		pci_parse_aer("CmpltAbrt 9223372036854775807", AER_FATAL, arena, &aer);
	aer_text(&aer, text);
	assert_non_null(strstr(text, "CmpltAbrt 9223372036854775807, …)"));
}

static struct num aer_total(const char *text)
{
	struct aer_facts aer = { .fatal = { 0 } };
	return pci_parse_aer(text, AER_CORRECTABLE, arena, &aer);
}

static void aer_totals(void **state)
{
	(void)state;
	assert_int_equal(aer_total("RxErr 2\nBadTLP 1\nTOTAL_ERR_COR 3\n").value, 3);
	assert_false(aer_total("RxErr 2\n").known);
	assert_false(aer_total("").known);
	assert_false(aer_total("TOTAL_ERR_COR -2\n").known);
	assert_false(aer_total("TOTAL_ERR_COR 18446744073709551615\n").known);
}

/* ---- links in words ---- */

static const char *link_text(struct num width, struct num most, struct num most_above)
{
	static char text[PLACE_LINK_SIZE];
	const struct pci_hop hop = { .width = width, .max_width = most, .speed_mtps = num(16000) };
	const struct pci_hop above = { .max_width = most_above };
	place_link(&hop, &above, text);
	return text;
}

static void a_link_is_measured_by_what_both_ends_can(void **state)
{
	const struct num unknown = { 0 };
	(void)state;
	assert_string_equal(link_text(num(16), num(16), num(16)), "x16 16 GT/s");
	assert_string_equal(link_text(num(8), num(16), num(16)), "x8 of x16 16 GT/s");
	assert_string_equal(link_text(num(8), num(16), num(8)), "x8 16 GT/s");
	/* a port above that is a bridge of a virtual machine tells nothing: then the function's own limit counts */
	assert_string_equal(link_text(num(8), num(16), unknown), "x8 of x16 16 GT/s");
	assert_string_equal(link_text(num(8), unknown, num(16)), "x8 of x16 16 GT/s");
	assert_string_equal(link_text(num(8), unknown, unknown), "x8 16 GT/s");
	assert_string_equal(link_text(unknown, num(16), num(16)), "16 GT/s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(path_of_vmbus_function),
		cmocka_unit_test(path_with_switch),
		cmocka_unit_test(speeds),
		cmocka_unit_test(configuration_space),
		cmocka_unit_test(configuration_space_of_a_user),
		cmocka_unit_test(no_link),
		cmocka_unit_test(an_adapter_that_does_not_answer),
		cmocka_unit_test(hostile_configuration_space),
		cmocka_unit_test(uevents),
		cmocka_unit_test(aer_totals),
		cmocka_unit_test(aer_kinds),
		cmocka_unit_test(a_link_is_measured_by_what_both_ends_can),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
