/* SPDX-License-Identifier: MIT */
#include "check_probe.h"

#include "base/cleanup.h"
#include "check/add.h"
#include "model/evidence.h"
#include "json/json.h"
#include "probe_output.h"
#include "probe_ports.h"
#include "recorded_probes.h"
#include "run_command.h"

#include <errno.h>
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

static void tell_not_run(struct report *report, const char *subject, const struct probe_document *document)
{
	const struct verdict *verdict = &document->verdict;
	struct resource_step failed = { .error = num(0) };
	list_each(step, &document->evidence.resources)
		if (step->error.known && step->error.value)
			failed = *step;
	report_missing(report, "probe", subject, (int)-failed.error.value, "%s%s%s",
	        verdict->summary ? verdict->summary : "it gave no verdict", failed.detail ? ", " : "",
	        failed.detail ? failed.detail : "");
}

/*
 * `status`: of the probe. One that did not begin, since the device cannot be opened, is EXIT_NOTHING. `from`: where its
 * stages are to be seen, as an option. False: there was none.
 */
static bool take_verdict(
        struct report *report, const char *subject, int status, const struct probe_document *document, const char *from)
{
	const struct verdict *verdict = &document->verdict;
	const char *summary = verdict->summary ? verdict->summary : "it gave no verdict";
	if (verdict->outcome == OUTCOME_OK) {
		check_add(report, "probe-ok", subject, "a loopback probe worked: %s", summary);
		return true;
	}
	if (status != EXIT_FOUND || !sayings[verdict->outcome].id) {
		tell_not_run(report, subject, document);
		return false;
	}
	struct finding *finding =
	        check_add(report, sayings[verdict->outcome].id, subject, "a loopback probe %s, %s: %s",
	                sayings[verdict->outcome].words, layer_words(report->arena, verdict), summary);
	list_each(because, &verdict->because)
		report_evidence(report, finding, "probe", "because", "%s", because);
	report_advice(finding, arena_printf(report->arena, "rdmadiag probe%s -d %s shows every stage.", from, subject));
	return true;
}

/* ---- of this host ---- */

struct probing {
	struct host *host;
	struct ports_probed *probed;
};

static void take_document(struct probing *probing, const char *subject, int status, const char *text, size_t length)
{
	struct host *host = probing->host;
	struct error error = { 0 };
	struct probe_document document = { 0 };
	json_object *object;
	int result =
	        json_read_text(text, length, "its document", &probe_record, host->arena, &document, &object, &error);
	json_object_put(object);
	if (result)
		report_missing(&host->report, "probe", subject, result, "the probe left no document (%s)", error.text);
	else
		probing->probed->done += take_verdict(&host->report, subject, status, &document, "");
}

/* 0, or -EINTR. */
static int probe_port(void *data, const char *subject, const struct port *port)
{
	struct probing *probing = data;
	struct report *report = &probing->host->report;
	autofree char *text = NULL;
	size_t length;
	if (!port_is_active(port)) {
		report_missing(report, "probe", subject, 0, "not probed: the port is %s",
		        port->state ? port->state : "in no known state");
		return 0;
	}
	probing->probed->up++;
	struct command_run run = { .command = &probe_command, .arguments = { "-j", "-d", subject } };
	struct common_options common = { .color = COLOR_NEVER };
	int status = run_command_in_memory(&run, &common, &text, &length);
	if (status == -EINTR)
		return status;
	if (status < 0)
		report_missing(report, "probe", subject, status, "%s",
		        status == -ETIMEDOUT ? "the probe did not end in a minute"
		        : status == -EIO     ? "the probe died before it was done"
		                             : strerror(-status));
	else
		take_document(probing, subject, status, text, length);
	return 0;
}

int check_probe_ports(struct host *host, struct ports_probed *probed)
{
	struct probing probing = { .host = host, .probed = probed };
	return each_port(host, probe_port, &probing);
}

/* ---- of a report ---- */

void check_recorded_probes(struct host *host, struct origin *origin, const char *directory, const char *report,
        struct ports_probed *probed)
{
	const struct recorded_place place = { .origin = origin, .directory = directory };
	struct recorded_probes probes;
	struct error error = { 0 };
	const char *from = arena_printf(host->arena, " --from %s", report);
	if (recorded_probes_read(&place, host->arena, &probes, &error))
		report_missing(&host->report, "probe", "host", error.code, "%s", error.text);
	list_each(probe, &probes) {
		probed->up++;
		probed->done += take_verdict(&host->report, probe->subject, probe_status(&probe->document),
		        &probe->document, from ? from : "");
	}
}
