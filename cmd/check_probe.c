/* SPDX-License-Identifier: MIT */
#include "check_probe.h"

#include "base/cleanup.h"
#include "check/add.h"
#include "model/evidence.h"
#include "render/json.h"
#include "report/staging.h"
#include "run_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What is said of an outcome, and the finding that says it. */
static const struct {
	const char *id, *words;
} sayings[OUTCOME_COUNT] = {
	[OUTCOME_DEGRADED] = { "probe-degraded", "was degraded" },
	[OUTCOME_CORRUPT] = { "probe-corrupt", "found corrupt data" },
	[OUTCOME_FAILED] = { "probe-failed", "failed" },
	[OUTCOME_STALLED] = { "probe-failed", "stalled" },
	[OUTCOME_NOT_RUN] = { "probe-failed", "could not be set up" },
};

/* `status`: of the probe. One that did not begin, since the device cannot be opened, is EXIT_NOTHING. */
static void take_verdict(struct host *host, const char *subject, int status, const struct probe_document *document)
{
	struct report *report = &host->report;
	const struct verdict *verdict = &document->verdict;
	const char *summary = verdict->summary ? verdict->summary : "it gave no verdict";
	if (verdict->outcome == OUTCOME_OK) {
		check_add(report, "probe-ok", subject, "a loopback probe worked: %s", summary);
		return;
	}
	if (status != EXIT_FOUND || !sayings[verdict->outcome].id) {
		struct resource_step failed = { .error = num(0) };
		list_each(step, &document->evidence.resources)
			if (step->error.known && step->error.value)
				failed = *step;
		report_missing(report, "probe", subject, (int)-failed.error.value, "%s%s%s", summary,
		        failed.detail ? ", " : "", failed.detail ? failed.detail : "");
		return;
	}
	const char *layer = layer_names[verdict->layer], *confidence = confidence_names[verdict->confidence];
	struct finding *finding = check_add(report, sayings[verdict->outcome].id, subject,
	        "a loopback probe %s, layer %s (%s): %s", sayings[verdict->outcome].words, layer ? layer : "unknown",
	        confidence ? confidence : "none", summary);
	list_each(because, &verdict->because)
		report_evidence(report, finding, "probe", "because", "%s", because);
	report_advice(finding, arena_printf(report->arena, "rdmadiag probe -d %s shows every stage.", subject));
}

/* 0, or -EINTR. */
static int probe_port(struct host *host, const struct staging *staging, const char *subject)
{
	char output[PATH_MAX], errors[PATH_MAX];
	staging_path(staging, "probe.json", output);
	staging_path(staging, "probe.stderr", errors);
	struct command_run run = {
		.command = &probe_command, .arguments = { "-j", "-d", subject }, .output = output, .errors = errors
	};
	struct common_options common = { .color = COLOR_NEVER };
	int status = run_command_in_process(&run, &common);
	if (status == -EINTR)
		return status;
	if (status < 0) {
		report_missing(&host->report, "probe", subject, status, "%s",
		        status == -ETIMEDOUT ? "the probe did not end in a minute" : strerror(-status));
		return 0;
	}
	struct error error = { 0 };
	struct probe_document document = { 0 };
	json_object *object;
	int result = json_read_file(output, &probe_record, host->arena, &document, &object, &error);
	json_object_put(object);
	if (result)
		report_missing(&host->report, "probe", subject, result, "the probe left no document");
	else
		take_verdict(host, subject, status, &document);
	return 0;
}

static bool is_up(const struct port *port)
{
	return port->state && !strcmp(port->state, "ACTIVE");
}

int check_probe_ports(struct host *host, struct error *error)
{
	struct staging staging;
	int result = staging_new(&staging, error);
	if (result)
		return result;
	list_each(device, &host->devices) {
		for (uint32_t i = 0; i < device->ports.count && !result; i++) {
			char subject[96];
			const struct port *port = device->ports.items[i];
			snprintf(subject, sizeof(subject), "%s/%" PRId64, device->name, port->number.value);
			if (is_up(port))
				result = probe_port(host, &staging, subject);
			else
				report_missing(&host->report, "probe", subject, 0, "not probed: the port is %s",
				        port->state ? port->state : "in no known state");
		}
	}
	staging_remove(&staging);
	return result;
}
