/* SPDX-License-Identifier: MIT */
/* Values of sysfs and procfs, whole files of procfs, kernel messages and configuration files, each by its own parser.
 */
#include "base/cleanup.h"
#include "base/text.h"
#include "base/utf8.h"
#include "gid/address.h"
#include "gid/nccl_conf.h"
#include "gid/path.h"
#include "probe/mappings.h"
#include "report/kernel_log.h"
#include "source/collect.h"
#include "source/cuda.h"
#include "source/irq.h"
#include "source/net_sysfs.h"
#include "source/numa.h"
#include "source/pci.h"
#include "source/rdma_words.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void values(const char *text)
{
	const char *address;
	size_t length = pci_address_in_path(text, 1, &address);
	if (length && (address < text || address + length > text + strlen(text)))
		abort();
	struct num numbers[] = { numa_memory_bytes(text), pci_speed_mtps(text), rdma_rate_mbps(text) };
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i].known && numbers[i].value < 0)
			abort();
}

static void files(const char *text)
{
	autocall(host_freep) struct host *host = host_new();
	struct mappings mappings = { 0 };
	struct irq_lines lines = { 0 };
	struct strings settings = { 0 };
	struct gid_path path = { 0 };
	struct aer_facts aer = { .correctable = { 0 } };
	char errors[AER_TEXT_SIZE];
	if (!host)
		return;
	struct netdev *bond = list_add(host->arena, &host->netdevs);
	struct pci_function function = { 0 };
	bond->name = "bond0";
	net_bonding_parse(text, strlen(text), host, bond);
	pci_parse_uevent(text, host->arena, &function);
	pci_parse_aer(text, AER_FATAL, host->arena, &aer);
	aer_text(&aer, errors);
	cuda_pci_address(host->arena, text);
	kernel_log_is_related(host, text);
	nccl_conf_parse(host->arena, text, &settings);
	path.arena = host->arena;
	gid_path_parse(host->arena, text, &path);
	mappings_parse(text, &mappings);
	if (mappings.count > MAPPINGS_LIMIT)
		abort();
	if (!irq_lines_parse(text, &lines)) {
		for (size_t i = 0; i < lines.count; i++)
			irq_lines_name(&lines, lines.items[i].number, host->arena);
		irq_lines_free(&lines);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	if (!text)
		return 0;
	int64_t number;
	uint64_t guid;
	uint8_t gid[16];
	struct cpuset set;
	parse_number(text, 0, &number);
	parse_guid(text, &guid);
	parse_gid(text, gid);
	if (!cpuset_parse(text, &set))
		cpuset_free(&set);
	natural_compare(text, text + strlen(text) / 2);
	char *clean = utf8_clean(text), *twice = clean ? utf8_clean(clean) : NULL;
	if (clean && twice && strcmp(clean, twice))
		abort(); /* clean text stays as it is */
	free(clean);
	free(twice);
	values(text);
	files(text);
	free(trim_end(text));
	return 0;
}
