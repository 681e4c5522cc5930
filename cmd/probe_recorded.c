/* SPDX-License-Identifier: MIT */
#include "probe_recorded.h"

#include "probe_output.h"
#include "recorded_probes.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "model/evidence.h"
#include "verdict/verdict.h"

#include <errno.h>
#include <string.h>

static int read_document(const char *path, struct arena *arena, struct recorded_probe *probe, struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;
	struct error wrong = { 0 };
	int result = file_read(path, &text, &length, error);
	if (result)
		return result;
	result = recorded_probe_parse(text, length, path, arena, probe, &wrong);
	if (!result)
		return 0;
	if (length && *text == '{')
		return error_say(error, result, "%s", wrong.text);
	return error_say(error, result, "%s; of a snapshot or report: rdmadiag probe --from %s", wrong.text, path);
}

static bool is_of(const struct recorded_probe *probe, const struct device_choice *choice)
{
	const struct endpoint_facts *local = &probe->document.evidence.local;
	return local->device && !strcmp(local->device, choice->name) &&
	       (!choice->port.known || num_is(local->port, choice->port.value));
}

/* "mlx5_0/1 (failed), mlx5_1/1 (ok)" */
static const char *list_probes(struct arena *arena, const struct recorded_probes *probes)
{
	const char *text = "";
	list_each(probe, probes) {
		const char *outcome = outcome_names[probe->document.verdict.outcome];
		text = arena_printf(
		        arena, "%s%s%s (%s)", text, *text ? ", " : "", probe->subject, outcome ? outcome : "unknown");
	}
	return text;
}

/* What `report --probe` left in its archive: the worst, or what -d names. */
static int read_recorded(const char *snapshot, const struct device_choice *choice, struct arena *arena,
        struct recorded_probe *found, struct error *error)
{
	autocall(origin_closep) struct origin *origin = origin_snapshot(snapshot, error);
	const struct recorded_place place = { .origin = origin };
	struct recorded_probes probes;
	struct error wrong = { 0 };
	if (!origin)
		return error->code;
	if (recorded_probes_read(&place, arena, &probes, &wrong))
		return error_say(error, wrong.code, "%s: %s", snapshot, wrong.text);
	if (!probes.count)
		return error_say(error, -ENOENT, "%s: holds no probe (report --probe); only a live host can be probed",
		        snapshot);
	const struct recorded_probe *taken = *choice->name ? NULL : probes.items[0];
	list_each(probe, &probes)
		if (!taken && is_of(probe, choice))
			taken = probe;
	if (!taken)
		return error_say(error, -ENODEV, "%s: holds no probe of '%s'; it has those of %s", snapshot,
		        choice->name, list_probes(arena, &probes));
	if (!*choice->name && probes.count > 1)
		complain("%s holds %u probes: %s; -d chooses, this is that of %s", snapshot, probes.count,
		        list_probes(arena, &probes), taken->subject);
	*found = *taken;
	return 0;
}

/* Where there is no document to judge, -j prints one that says so. */
static void print_unreadable(
        const struct probe_arguments *arguments, const struct common_options *common, const struct error *error)
{
	struct report report = { .arena = arguments->arena };
	struct probe_document document = { .report = &report };
	report_missing(&report, "evidence", "host", error->code, "%s", error->text);
	verdict_judge(&document.request, &document.evidence, &report, arguments->arena, &document.verdict);
	probe_output_print(&document, common, "snapshot", NULL);
}

int probe_judge_recorded(const struct probe_arguments *arguments, const struct common_options *common)
{
	struct recorded_probe probe = { 0 };
	struct error error = { 0 };
	int result = arguments->judge ? read_document(arguments->judge, arguments->arena, &probe, &error)
	                              : read_recorded(common->from, &arguments->settings.device, arguments->arena,
	                                        &probe, &error);
	if (result) {
		complain("%s", error.text);
		if (common->json)
			print_unreadable(arguments, common, &error);
		return EXIT_NOTHING;
	}
	probe_output_print(&probe.document, common, "snapshot", probe.facts);
	return probe_output_trace(&probe.document, arguments->trace) ? EXIT_NOTHING : probe_status(&probe.document);
}
