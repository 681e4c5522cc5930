/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "check/topo.h"
#include "cmd.h"
#include "render/topo_matrix.h"
#include "render/topo_text.h"
#include "source/collect.h"
#include "source/join.h"
#include "source/matrix.h"
#include "source/verbs.h"

#include <errno.h>
#include <stdio.h>

enum { NO_VERBS = 256, VFS, MATRIX };

static const struct option_help options[] = {
	{ NO_VERBS, "no-verbs", NULL, "do not open devices; what only verbs know, such as MTUs, is unknown" },
	{ VFS, "vfs", NULL, "show virtual functions, not only their count" },
	{ MATRIX, "matrix", NULL, "how near adapters, GPUs and NVMe controllers are to each other" },
	{ 0 },
};

/* Nothing of a device was found, or not the device that was asked for. */
static int print_nothing(const struct common_options *common, struct host *host, const struct error *error)
{
	complain("%s", error->text);
	if (!common->json)
		return EXIT_NOTHING;
	int printed = -ENOMEM;
	if (host) {
		host->devices.count = 0;
		report_missing(&host->report, "devices", "host", error->code, "%s", error->text);
		printed = print_document(
		        "rdmadiag.topo", common, host->origin, &host->facts, &topo_record, host, &host->report);
	}
	if (printed)
		print_empty_document("rdmadiag.topo", common, &topo_record, error);
	return EXIT_NOTHING;
}

static int print_host(const struct common_options *common, struct host *host, const struct topo_text_options *text)
{
	if (!common->json && host->matrix)
		return topo_matrix_print(host, text->color, stdout);
	if (common->json)
		return print_document(
		        "rdmadiag.topo", common, host->origin, &host->facts, &topo_record, host, &host->report);
	return topo_print(host, text, stdout);
}

static int show(
        const struct common_options *common, const struct collect_options *wanted, struct topo_text_options *text)
{
	struct error error = { 0 };
	autocall(origin_closep) struct origin *origin = open_origin_for(common, "rdmadiag.topo", &topo_record);
	if (!origin)
		return EXIT_NOTHING;
	autocall(host_freep) struct host *host = host_new();
	if (!host) {
		error_set(&error, -ENOMEM, "this host");
		return print_nothing(common, NULL, &error);
	}
	int result = collect_host(origin, host, wanted, &error);
	if (result && result != -EINTR)
		return print_nothing(common, host, &error);
	check_topo(host, &host->report);
	const struct rdma_device *device = wanted->device ? collect_find_device(host, wanted->device) : NULL;
	if (device)
		join_select(host, device);
	text->color = use_color(common);
	if (wanted->neighbours && matrix_build(host, text->virtual_functions))
		complain("no memory for the matrix");
	int printed = print_host(common, host, text);
	if (printed) {
		error_set(&error, printed, "printing the document");
		return print_nothing(common, NULL, &error);
	}
	if (result == -EINTR)
		complain("interrupted: what was known by then is shown");
	return result == -EINTR ? EXIT_INTERRUPTED : EXIT_DONE;
}

static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	struct collect_options wanted = { .verbs = VERBS_PORTS };
	struct topo_text_options text = { 0 };
	int option;
	while ((option = command_getopt(command, argc, argv, common)) >= 0) {
		if (option == NO_VERBS)
			wanted.verbs = 0;
		else if (option == VFS)
			text.virtual_functions = true;
		else if (option == MATRIX)
			wanted.neighbours = true;
	}
	if (option != OPTION_END)
		return option_status(option);
	if (argc - optind > 1)
		return usage_error(command, "more than one device");
	wanted.device = argv[optind];
	return finish_output(show(common, &wanted, &text));
}

const struct command topo_command = {
	.name = "topo",
	.arguments = "[DEV]",
	.summary = "Shows RDMA devices with their netdevs, bond members, PCI path, NUMA node and CPUs.",
	.options = options,
	.run = run,
};
