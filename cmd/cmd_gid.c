/* SPDX-License-Identifier: MIT */
#include "cmd_gid.h"

#include "base/cleanup.h"
#include "check/gid.h"
#include "gid/address.h"
#include "gid/choose.h"
#include "gid/diff.h"
#include "gid/elsewhere.h"
#include "gid/judge.h"
#include "gid/settings.h"
#include "render/gid_text.h"
#include "json/json.h"
#include "source/collect.h"
#include "redacted.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

enum { OPTION_ALL = 256, OPTION_EXPLAIN, OPTION_TO, OPTION_DIFF, OPTION_WATCH };

static const struct option_help gid_options[] = {
	{ OPTION_ALL, "all", NULL, "show empty slots as well" },
	{ OPTION_EXPLAIN, "explain", NULL, "which index each consumer takes, and why not the others" },
	{ OPTION_TO, "to", "ADDRESS", "which device, port and index reach this peer" },
	{ OPTION_DIFF, "diff", "FILE", "what changed since an earlier 'rdmadiag gid --json'" },
	{ OPTION_WATCH, "watch", NULL, "follow changes, a line each (JSON lines with -j)" },
	{ 0 },
};

/* ---- one look ---- */

/* In the worker, again after each restart: begins anew with what lies in memory from before the fork. */
struct reading {
	const struct gid_request *request;
	struct gid_look *look;
};

/* A netdev whose device only the GID tables tell may be meant, too. */
static int find_devices(
        struct origin *origin, struct host *host, const struct gid_request *request, struct device_list *devices)
{
	int result = collect_find_devices(host, request->device, devices);
	if (result || devices->count || !host_netdev_called(host, request->device))
		return result;
	result = gid_elsewhere(origin, host, request->source);
	return result ? result : collect_find_devices(host, request->device, devices);
}

/*
 * A snapshot without them, as one of a described machine, leaves open what is set there: then the variables of this
 * process are a question, "and if it were set?", and the answer says so. Files of this host are another machine's.
 */
static int read_settings(struct origin *origin, struct host *host, struct gid_settings *settings)
{
	*settings = (struct gid_settings){ 0 };
	struct error error = { 0 };
	int unknown = origin_settings(origin, host->arena, settings, &error);
	if (unknown != -ENOENT) {
		if (unknown)
			report_missing(&host->report, "choices", "host", unknown, "%s", error.text);
		return 0;
	}
	int result = gid_settings_of_variables(host->arena, environ, settings);
	if (settings->variables.count)
		report_missing(&host->report, "choices", "host", 0,
		        "the snapshot does not say what its consumers are told: the variables of this process count "
		        "instead");
	return result;
}

static int read_more(struct origin *origin, struct host *host, void *data)
{
	struct reading *reading = data;
	struct gid_look *look = reading->look;
	struct gid_read_options options = { .source = reading->request->source, .port = reading->request->port };
	*look->document = (struct gid_document){ 0 };
	struct device_list devices;
	if (reading->request->device) {
		int found = find_devices(origin, host, reading->request, &devices);
		if (found || !devices.count)
			return found; /* gid_look() says that there is none */
		options.devices = &devices;
	}
	int result = gid_read(origin, host, &options, look->document);
	if (!result && look->path)
		result = gid_path_read(origin, host, look->path);
	return !result && look->settings ? read_settings(origin, host, look->settings) : result;
}

/* ---- what belongs to this document ---- */

static bool has_key(const struct record *record, const char *key)
{
	for (size_t i = 0; i < record->count; i++)
		if (!strcmp(record->fields[i].key, key) ||
		        (record->fields[i].record && has_key(record->fields[i].record, key)))
			return true;
	return false;
}

/*
 * Facts of topo that no field of this document shows, such as the MTUs, are not missing here; without ports there are
 * no tables, though.
 */
static void drop_unrelated(struct report *report)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < report->not_collected.count; i++) {
		struct not_collected *entry = report->not_collected.items[i];
		if (!strcmp(entry->what, "netdevs") || !strcmp(entry->what, "ports") ||
		        has_key(&gid_record, entry->what) || !has_key(&topo_record, entry->what))
			report->not_collected.items[kept++] = entry;
	}
	report->not_collected.count = kept;
}

/*
 * The whole host is collected, also for one device: whose address an entry has, and which other netdevs are in its
 * subnet, is not told by the device alone.
 */
int gid_look(struct origin *origin, const struct gid_request *request, struct gid_look *look, struct error *error)
{
	*look = (struct gid_look){ .host = host_new() };
	if (look->host)
		look->document = arena_new_object(look->host->arena, struct gid_document);
	if (request->to && look->document)
		look->path = arena_new_object(look->host->arena, struct gid_path);
	if (request->explain && look->document)
		look->settings = arena_new_object(look->host->arena, struct gid_settings);
	if (!look->document || (request->to && !look->path) || (request->explain && !look->settings)) {
		look->document = NULL; /* there is nothing to go on with */
		return error_set(error, -ENOMEM, "GID tables");
	}
	if (look->path)
		gid_path_parse(look->host->arena, request->to, look->path);
	struct reading reading = { .request = request, .look = look };
	struct collect_options options = {
		.brief = true,
		.uverbs = request->explain || request->to,
		.expect_verbs = request->source != GID_SOURCE_SYSFS,
		.more = read_more,
		.data = &reading,
	};
	int result = collect_host(origin, look->host, &options, error);
	if (!result && request->device && !collect_find_device(look->host, request->device))
		result = collect_unknown_device(look->host, request->device, error);
	drop_unrelated(&look->host->report);
	int judged = gid_judge(look->host, look->document);
	list_each(device, &look->host->devices)
		if (!judged)
			judged = strings_add(look->host->arena, &look->document->devices, device->name);
	gid_tell_hidden_vlans(look->host, look->document);
	return result ? result : judged;
}

void gid_look_free(struct gid_look *look)
{
	host_free(look->host);
	look->host = NULL;
}

static void gid_look_freep(struct gid_look *look)
{
	gid_look_free(look);
}

/* ---- an earlier document ---- */

static void freep_json(json_object **object)
{
	json_object_put(*object);
}

static int read_earlier(const char *path, struct arena *arena, struct gid_document *document, struct error *error)
{
	autocall(freep_json) json_object *object = NULL;
	int result = json_read_file(path, &gid_record, arena, document, &object, error);
	if (result)
		return result;
	json_object *schema = NULL;
	if (!json_object_object_get_ex(object, "schema", &schema) || !json_object_is_type(schema, json_type_string) ||
	        strcmp(json_object_get_string(schema), "rdmadiag.gid") != 0)
		return error_say(error, -EINVAL, "%s: not a document of 'rdmadiag gid --json'", path);
	json_object *version = NULL;
	json_object_object_get_ex(object, "version", &version);
	if (json_object_get_int64(version) > DOCUMENT_VERSION)
		return error_say(error, -EPROTONOSUPPORT,
		        "%s: version %" PRId64 " of the document is not known, only %d", path,
		        json_object_get_int64(version), DOCUMENT_VERSION);
	return 0;
}

static int compare(const struct gid_request *request, struct gid_look *look, struct error *error)
{
	struct gid_document before = { 0 };
	int result = read_earlier(request->diff, look->host->arena, &before, error);
	if (result)
		return result;
	struct device_list devices = { 0 };
	struct strings only = { 0 };
	if (request->device)
		result = collect_find_devices(look->host, request->device, &devices);
	for (uint32_t i = 0; !result && i < devices.count; i++)
		result = strings_add(look->host->arena, &only, devices.items[i]->name);
	if (!result)
		result = gid_diff(
		        look->host->arena, &before, look->document, request->device ? &only : NULL, request->port);
	return result ? error_set(error, result, "%s", request->diff) : 0;
}

/* ---- the command ---- */

static int deepen(const struct gid_request *request, struct gid_look *look)
{
	int result = 0;
	check_gid(look->host, look->document);
	struct gid_environment environment;
	if (!request->explain)
		result = gid_advise(look->host, look->document);
	else
		result = gid_settings_environment(look->host->arena, look->settings, &environment);
	if (request->explain && !result)
		result = gid_explain(look->host, &environment, look->document);
	if (!result && look->path) {
		look->document->to = gid_path_choose(look->host, look->document, look->path);
		result = look->document->to ? 0 : -ENOMEM;
	}
	if (!result && request->all)
		result = gid_show_empty(look->host->arena, look->document);
	return result;
}

static int print(const struct gid_request *request, const struct common_options *common, struct gid_look *look)
{
	struct host *host = look->host;
	report_exhaustion(&host->report);
	if (common->json)
		return print_document(
		        "rdmadiag.gid", common, host->origin, &host->facts, &gid_record, look->document, &host->report);
	struct gid_print_options options = {
		.color = use_color(common),
		.table = !request->to && !request->diff,
		.choices = request->explain,
		.changes = request->diff != NULL,
	};
	return gid_print(stdout, look->document, &host->report, &options);
}

static bool has_gid(const struct gid_document *document)
{
	list_each(table, &document->tables)
		if (!table->used.known || table->used.value)
			return true;
	return false;
}

/* A port that has no GID at all cannot be used by anybody: that nothing was found is told by the status too. */
static int status_of(const struct gid_request *request, int collected, const struct gid_look *look)
{
	if (collected == -EINTR)
		return EXIT_INTERRUPTED;
	if (collected)
		return EXIT_NOTHING;
	if (look->document->to && look->document->to->unknown)
		return EXIT_NOTHING;
	if (request->diff)
		return look->document->changes.count || look->document->resized.count ? EXIT_FOUND
		       : look->document->uncompared.count                             ? EXIT_NOTHING
		                                                                      : EXIT_DONE;
	return look->document->tables.count && has_gid(look->document) ? EXIT_DONE : EXIT_NOTHING;
}

static bool port_exists(const struct gid_request *request, const struct gid_look *look)
{
	return !request->port || look->document->tables.count;
}

static int print_nothing(const struct common_options *common, const struct error *error)
{
	complain("%s", error->text);
	if (common->json)
		print_empty_document("rdmadiag.gid", common, &gid_record, error);
	return EXIT_NOTHING;
}

static void complain_of_nothing(const struct gid_look *look)
{
	const struct gid_route *to = look->document->to;
	const struct rdma_device *unread = NULL;
	list_each(device, &look->host->devices)
		if (!device->ports.count)
			unread = device;
	if (to && to->unknown)
		complain("--to %s: %s", to->address, to->reason ? to->reason : "not known");
	else if (unread)
		complain("whether a port has a GID is not known: the ports of %s could not be read", unread->name);
	else
		complain("no port has a GID in this network namespace");
}

static void complain_of_uncompared(const struct gid_look *look)
{
	const struct strings *labels = &look->document->uncompared;
	for (uint32_t i = 0; i < labels->count; i++)
		complain("%s: not compared, its GID table was not read", labels->items[i]);
}

static int show(struct origin *origin, const struct gid_request *request, const struct common_options *common)
{
	struct error error = { 0 };
	autocall(gid_look_freep) struct gid_look look = { 0 };
	int collected = gid_look(origin, request, &look, &error);
	if (!look.document)
		return print_nothing(common, &error);
	if (!collected && !port_exists(request, &look))
		collected = collect_unknown_port(collect_find_device(look.host, request->device), request->device,
		        request->port, -ENODEV, &error);
	if (!collected && request->diff)
		collected = compare(request, &look, &error);
	if (collected)
		complain("%s", collected == -EINTR ? "interrupted" : error.text);
	int result = deepen(request, &look);
	if (!result && (common->json || !collected || collected == -EINTR))
		result = print(request, common, &look);
	if (result && !ferror(stdout)) {
		error_set(&error, result, "GID tables");
		return print_nothing(common, &error);
	}
	if (!collected)
		tell_redacted(origin, common);
	int status = status_of(request, collected, &look);
	bool told = !common->json && look.document->to; /* as the answer */
	complain_of_uncompared(&look);
	if (status == EXIT_NOTHING && !collected && !told && !look.document->uncompared.count)
		complain_of_nothing(&look);
	return status;
}

static int check_request(
        const struct command *command, const struct gid_request *request, const struct common_options *common)
{
	if (request->to && !gid_path_is_address(request->to))
		return usage_error(command,
		        "--to: '%s' is no IPv4 or IPv6 address, nor a GID of a RoCE port (names of hosts are not "
		        "resolved)",
		        request->to);
	if (request->watch && common->from)
		return usage_error(command, "--watch follows this host: a snapshot (--from) does not change");
	if (request->watch && (request->to || request->diff || request->explain || request->all))
		return usage_error(command, "--watch goes with a device only, and with no other option of gid");
	if (request->all && !common->json && (request->to || request->diff))
		complain("--all is left aside: the table and --json show empty slots, %s shows no table",
		        request->to ? "--to" : "--diff");
	return 0;
}

static int run(const struct command *command, int argc, char **argv, struct common_options *common)
{
	struct gid_request request = { 0 };
	for (int option; (option = command_getopt(command, argc, argv, common)) != OPTION_END;) {
		switch (option) {
		case OPTION_ALL:
			request.all = true;
			break;
		case OPTION_EXPLAIN:
			request.explain = true;
			break;
		case OPTION_TO:
			request.to = optarg;
			break;
		case OPTION_DIFF:
			request.diff = optarg;
			break;
		case OPTION_WATCH:
			request.watch = true;
			break;
		default:
			return option_status(option);
		}
	}
	if (argc - optind > 1)
		return usage_error(command, "one device at most");
	request.device = argv[optind];
	int wrong = request.device ? split_port(command, argv[optind], &request.port) : 0;
	if (!wrong)
		wrong = check_request(command, &request, common);
	if (wrong)
		return wrong;
	autocall(origin_closep) struct origin *origin = open_origin_for(common, "rdmadiag.gid", &gid_record);
	if (!origin)
		return EXIT_NOTHING;
	return request.watch ? gid_watch(origin, &request, common) : show(origin, &request, common);
}

const struct command gid_command = {
	.name = "gid",
	.arguments = "[DEV[/PORT]]",
	.summary = "Shows the GID tables: type, netdev, IP and VLAN of each entry, and what is wrong with it.",
	.options = gid_options,
	.run = run,
};
