/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "check/topo.h"
#include "cmd.h"
#include "gid/elsewhere.h"
#include "redacted.h"
#include "render/topo_matrix.h"
#include "render/topo_svg.h"
#include "render/topo_text.h"
#include "render/topo_tree.h"
#include "source/collect.h"
#include "source/join.h"
#include "source/matrix.h"
#include "source/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NO_VERBS = 256, VFS, MATRIX, TREE, SVG, HEALTH, CUDA };

static const struct option_help options[] = {
	{ NO_VERBS, "no-verbs", NULL, "do not open devices; what only verbs know, such as MTUs, is unknown" },
	{ VFS, "vfs", NULL, "show virtual functions, not only their count" },
	{ MATRIX, "matrix", NULL, "how near adapters, GPUs and NVMe controllers are to each other" },
	{ HEALTH, "health", NULL, "read interrupts, quality of service and the wire too" },
	{ CUDA, "cuda", NULL, "the matrix, and what libcuda (loaded only then) tells about readers of GPU memory" },
	{ TREE, "tree", NULL, "packages, nodes, PCI bridges and devices as a tree" },
	{ SVG, "svg", "FILE", "write a drawing of it to FILE, \"-\" for standard output" },
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

/* Which of the views beside the table. */
struct view {
	bool matrix, tree;
	const char *row; /* of the matrix, that is no RDMA device; NULL: none */
	bool selected;   /* a device was asked for */
	const char *svg; /* file, NULL: none */
};

static int print_host(const struct common_options *common, struct host *host, const struct view *view,
        const struct topo_text_options *text)
{
	if (common->json)
		return print_document(
		        "rdmadiag.topo", common, host->origin, &host->facts, &topo_record, host, &host->report);
	record_for_terminal(host->arena, &topo_record, host);
	if (view->tree || view->matrix) {
		int result = view->tree ? topo_tree_print(host, text->color, stdout) : 0;
		if (view->tree && view->matrix)
			fputc('\n', stdout);
		const struct topo_matrix_options matrix = {
			.color = text->color, .adapters_only = view->selected, .row = view->row
		};
		return !result && view->matrix ? topo_matrix_print(host, &matrix, stdout) : result;
	}
	return topo_print(host, text, stdout);
}

/* A drawing on standard output stands for the text. */
static int draw(struct host *host, const struct view *view, struct error *error)
{
	return view->svg && host->matrix ? topo_svg_write(host, view->svg, error) : 0;
}

static int unknown_row(const struct common_options *common, struct host *host, const char *name, struct error *error)
{
	const char *known = NULL;
	list_each(device, &host->matrix->devices)
		known = known ? arena_printf(host->arena, "%s, %s", known, device->name) : device->name;
	error_say(error, -ENODEV, "the matrix has no row '%s'; it has: %s", name, known ? known : "none");
	return print_nothing(common, host, error);
}

static int show(const struct common_options *common, const struct collect_options *wanted, int64_t port,
        const struct view *view, struct topo_text_options *text)
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
	if (result == -ENODEV && wanted->device && host->devices.count && topo_matrix_is_neighbour(wanted->device))
		error_say(&error, result, "'%s' is no RDMA device; topo --matrix %s says how near it is to them",
		        wanted->device, wanted->device);
	if (result && result != -EINTR)
		return print_nothing(common, host, &error);
	check_topo(host, &host->report);
	struct device_list devices;
	if (wanted->device && !collect_find_devices(host, wanted->device, &devices)) {
		if (port && !collect_has_port(&devices, port)) {
			collect_unknown_port(
			        devices.count == 1 ? devices.items[0] : NULL, wanted->device, port, -ENODEV, &error);
			return print_nothing(common, host, &error);
		}
		join_select(host, &devices, port);
	}
	text->color = use_color(common);
	if (wanted->neighbours && matrix_build(host, text->virtual_functions))
		complain("no memory for the matrix");
	if (view->row && !topo_matrix_row(host, view->row))
		return unknown_row(common, host, view->row, &error);
	int drawn = draw(host, view, &error);
	if (drawn)
		complain("%s", error.text);
	bool drawing_only = view->svg && (!strcmp(view->svg, "-") || (!view->tree && !view->matrix && !common->json));
	int printed = drawing_only ? 0 : print_host(common, host, view, text);
	if (printed) {
		error_set(&error, printed, "printing the document");
		return print_nothing(common, NULL, &error);
	}
	if (!drawing_only)
		tell_redacted(origin, common);
	if (result == -EINTR)
		complain("interrupted: what was known by then is shown");
	return result == -EINTR ? EXIT_INTERRUPTED : drawn ? EXIT_NOTHING : EXIT_DONE;
}

/* In the worker, again after each restart. */
static int read_elsewhere(struct origin *origin, struct host *host, void *data)
{
	const bool *opens = data;
	return gid_elsewhere(origin, host, *opens ? GID_SOURCE_BEST : GID_SOURCE_SYSFS);
}

static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	struct collect_options wanted = { .verbs = VERBS_PORTS };
	struct topo_text_options text = { 0 };
	struct view view = { 0 };
	int option;
	while ((option = command_getopt(command, argc, argv, common)) >= 0) {
		if (option == NO_VERBS)
			wanted.verbs = 0;
		else if (option == VFS)
			text.virtual_functions = true;
		else if (option == MATRIX)
			view.matrix = true;
		else if (option == TREE)
			view.tree = true;
		else if (option == CUDA)
			wanted.cuda = view.matrix = true;
		else if (option == HEALTH)
			wanted.health = true;
		else if (option == SVG)
			view.svg = optarg;
	}
	if (option != OPTION_END)
		return option_status(option);
	if (argc - optind > 1)
		return usage_error(command, "more than one device");
	if (view.tree && common->json)
		return usage_error(command, "--tree and --json: one of them");
	if (wanted.health && !common->json && (view.tree || view.matrix || view.svg))
		complain("--health is left aside: the table and --json show it, %s does not", view.tree ? "--tree"
		                                                                              : view.matrix
		                                                                                      ? "the matrix"
		                                                                                      : "a drawing");
	if (view.svg && !strcmp(view.svg, "-") && (common->json || view.tree || view.matrix))
		return usage_error(command, "--svg -: standard output is for one of them");
	view.row = argv[optind] && view.matrix && topo_matrix_is_neighbour(argv[optind]) ? argv[optind] : NULL;
	wanted.device = view.row ? NULL : argv[optind];
	view.selected = text.details = wanted.device != NULL;
	int64_t port = 0;
	int wrong = wanted.device ? split_port(command, argv[optind], &port) : 0;
	if (wrong)
		return wrong;
	bool opens = wanted.verbs != 0;
	wanted.more = read_elsewhere;
	wanted.data = &opens;
	wanted.neighbours = view.matrix || view.tree || view.svg;
	return show(common, &wanted, port, &view, &text);
}

const struct command topo_command = {
	.name = "topo",
	.arguments = "[DEV[/PORT]]",
	.summary = "Shows RDMA devices with their netdevs, bond members, PCI path, NUMA node and CPUs.",
	.options = options,
	.run = run,
};
