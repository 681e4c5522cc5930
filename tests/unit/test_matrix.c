/* SPDX-License-Identifier: MIT */
/* How near functions are, which classes are neighbours, and what follows from the answers of libcuda. */
#include "host_fixture.h"

#include "model/gpu.h"
#include "source/matrix.h"
#include "source/neighbours.h"

#include <string.h>

static struct pci_hop *hop(const char *address, enum pci_kind kind)
{
	struct pci_hop *added = list_add(host->arena, &host->pci_hops);
	added->address = address;
	added->kind = (int)kind;
	return added;
}

static struct pci_function *function(const char *root, int node, struct pci_hop **hops, size_t count)
{
	struct pci_function *added = list_add(host->arena, &host->pci_functions);
	added->sysfs_path = root;
	added->numa_node = node < 0 ? (struct num){ 0 } : num(node);
	for (size_t i = 0; i < count; i++)
		list_add_existing(host->arena, &added->path, hops[i]);
	return added;
}

static void test_below_one_switch(void **state)
{
	(void)state;
	struct pci_hop *root = hop("r", PCI_ROOT_PORT), *up = hop("u", PCI_SWITCH_UPSTREAM),
	               *down0 = hop("d0", PCI_SWITCH_DOWNSTREAM), *down1 = hop("d1", PCI_SWITCH_DOWNSTREAM),
	               *up2 = hop("u2", PCI_SWITCH_UPSTREAM), *down2 = hop("d2", PCI_SWITCH_DOWNSTREAM);
	struct pci_hop *first[] = { root, up, down0, hop("a", PCI_ENDPOINT) };
	struct pci_hop *second[] = { root, up, down1, hop("b", PCI_ENDPOINT) };
	struct pci_hop *third[] = { root, up, down1, up2, down2, hop("c", PCI_ENDPOINT) };
	struct pci_function *a = function("sys/devices/pci0000:00/r", 0, first, 4);
	struct pci_function *b = function("sys/devices/pci0000:00/r", 0, second, 4);
	struct pci_function *c = function("sys/devices/pci0000:00/r", 0, third, 6);
	assert_int_equal(matrix_relation(a, a), WORD_SELF);
	assert_int_equal(matrix_relation(a, b), WORD_PIX);
	assert_int_equal(matrix_relation(b, a), WORD_PIX);
	assert_int_equal(matrix_relation(a, c), WORD_PXB);
	assert_int_equal(matrix_relation(c, a), WORD_PXB);
}

static void test_below_no_common_bridge(void **state)
{
	(void)state;
	struct pci_hop *first[] = { hop("0000:00:01.0", PCI_ROOT_PORT), hop("a", PCI_ENDPOINT) };
	struct pci_hop *second[] = { hop("0000:00:02.0", PCI_ROOT_PORT), hop("b", PCI_ENDPOINT) };
	struct pci_function *a = function("sys/devices/pci0000:00/0000:00:01.0/x", 0, first, 2);
	struct pci_function *same = function("sys/devices/pci0000:00/0000:00:02.0/x", -1, second, 2);
	struct pci_function *node = function("sys/devices/pci0000:40/0000:00:02.0/x", 0, second, 2);
	struct pci_function *far = function("sys/devices/pci0000:80/0000:00:02.0/x", 1, second, 2);
	struct pci_function *unknown = function("sys/devices/pci0000:c0/0000:00:02.0/x", -1, second, 2);
	assert_int_equal(matrix_relation(a, same), WORD_PHB);
	assert_int_equal(matrix_relation(a, node), WORD_NODE);
	assert_int_equal(matrix_relation(a, far), WORD_SYS);
	assert_int_equal(matrix_relation(a, unknown), WORD_UNKNOWN);
}

/* Functions on the root bus itself, and below an endpoint that opens a domain of its own (VMD). */
static void test_root_bus(void **state)
{
	(void)state;
	struct pci_hop *vmd = hop("0000:00:05.5", PCI_ENDPOINT);
	struct pci_hop *first[] = { vmd, hop("10000:00:02.0", PCI_ROOT_PORT), hop("a", PCI_ENDPOINT) };
	struct pci_hop *second[] = { vmd, hop("10000:00:03.0", PCI_ROOT_PORT), hop("b", PCI_ENDPOINT) };
	struct pci_hop *third[] = { hop("0000:00:06.0", PCI_ENDPOINT) };
	struct pci_function *a = function("sys/devices/pci0000:00/0000:00:05.5/pci10000:00/x", 0, first, 3);
	struct pci_function *b = function("sys/devices/pci0000:00/0000:00:05.5/pci10000:00/y", 0, second, 3);
	struct pci_function *c = function("sys/devices/pci0000:00/0000:00:06.0", 0, third, 1);
	assert_int_equal(matrix_relation(a, b), WORD_PHB);
	assert_int_equal(matrix_relation(a, c), WORD_PHB);
	assert_int_equal(matrix_relation(c, function(NULL, -1, third, 1)), WORD_UNKNOWN);
}

static void test_kinds(void **state)
{
	(void)state;
	assert_int_equal(neighbour_kind_of(num(0x030200), num(0x10de)), NEIGHBOUR_GPU);
	assert_int_equal(neighbour_kind_of(num(0x030000), num(0x10de)), NEIGHBOUR_GPU);
	assert_int_equal(neighbour_kind_of(num(0x038000), num(0x1002)), NEIGHBOUR_GPU);
	assert_int_equal(neighbour_kind_of(num(0x120000), num(0x1da3)), NEIGHBOUR_GPU);
	assert_int_equal(neighbour_kind_of(num(0x030000), num(0x1a03)), NEIGHBOUR_UNKNOWN);
	assert_int_equal(neighbour_kind_of(num(0x010802), num(0x144d)), NEIGHBOUR_NVME);
	assert_int_equal(neighbour_kind_of(num(0x010600), num(0x8086)), NEIGHBOUR_UNKNOWN);
	assert_int_equal(neighbour_kind_of(num(0x068000), num(0x10de)), NEIGHBOUR_UNKNOWN); /* NVSwitch */
	assert_int_equal(neighbour_kind_of(num(0x020000), num(0x15b3)), NEIGHBOUR_UNKNOWN);
	assert_int_equal(neighbour_kind_of((struct num){ 0 }, num(0x10de)), NEIGHBOUR_UNKNOWN);
}

static struct gpu_facts explained(enum flag rdma, struct num flush, struct num ordering)
{
	struct gpu_facts gpu = { .rdma_supported = rdma, .flush_code = flush, .ordering_code = ordering };
	gpu_explain(host->arena, &gpu);
	return gpu;
}

static void test_readers(void **state)
{
	(void)state;
	struct gpu_facts gpu = explained(FLAG_YES, num(GPU_FLUSH_HOST), num(GPU_ORDER_ALL));
	assert_string_equal(gpu.ordering, "all-devices");
	assert_non_null(strstr(gpu.reader, "no flush needed"));
	gpu = explained(FLAG_YES, num(GPU_FLUSH_HOST | GPU_FLUSH_MEMOPS), num(GPU_ORDER_OWNER));
	assert_int_equal(gpu.flush_options.count, 2);
	assert_non_null(strstr(gpu.reader, "this GPU needs no flush"));
	assert_non_null(strstr(gpu.reader, "cuFlushGPUDirectRDMAWrites"));
	gpu = explained(FLAG_YES, num(GPU_FLUSH_MEMOPS), num(GPU_ORDER_NONE));
	assert_string_equal(gpu.ordering, "none");
	assert_non_null(strstr(gpu.reader, "before this GPU reads"));
	assert_null(strstr(gpu.reader, "cuFlushGPUDirectRDMAWrites"));
	assert_int_equal(gpu.flush_options.count, 1);
	gpu = explained(FLAG_NO, num(0), num(0));
	assert_int_equal(gpu.flush_options.count, 0);
	assert_non_null(strstr(gpu.reader, "cannot write"));
	gpu = explained(FLAG_YES, (struct num){ 0 }, (struct num){ 0 });
	assert_null(gpu.ordering);
	assert_null(gpu.reader);
	gpu = explained(FLAG_YES, num(1), num(150)); /* a value of a later CUDA */
	assert_null(gpu.ordering);
	assert_null(gpu.reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_below_one_switch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_below_no_common_bridge, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_root_bus, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kinds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_readers, set_up, tear_down),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
