/* SPDX-License-Identifier: MIT */
#include "probe_output.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "probe/probe.h"
#include "json/json.h"
#include "render/probe_text.h"
#include "render/report_text.h"
#include "render/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Who asked for a comparison learns why there is none, or only a part. */
static void print_not_compared(const struct probe_document *document)
{
	const char *node = document->request.buffer_node;
	if (!node || strcmp(node, "all") != 0)
		return;
	list_each(missing, &document->report->not_collected)
		if (!strncmp(missing->what, "placements", strlen("placements")))
			printf("\nNot compared: %s\n", missing->reason);
}

void probe_output_print(const struct probe_document *document, const struct common_options *common, const char *origin,
        const struct host_facts *facts)
{
	if (common->json) {
		print_document("rdmadiag.probe", common, origin, facts, &probe_record, document, document->report);
		return;
	}
	struct probe_print_options options = { .color = use_color(common), .unicode = probe_print_unicode() };
	probe_print(stdout, document, &options);
	print_not_compared(document);
	if (!document->report->findings.count)
		return;
	putchar('\n');
	(void)report_print_findings(document->report, stdout, options.color);
}

/* A set-up step that fails on an opened device is a failed probe. */
int probe_status(const struct probe_document *document)
{
	switch (document->verdict.outcome) {
	case OUTCOME_OK:
		return EXIT_DONE;
	case OUTCOME_NOT_RUN:
		return probe_began(&document->evidence) ? EXIT_FOUND : EXIT_NOTHING;
	default:
		return EXIT_FOUND;
	}
}

int probe_output_trace(const struct probe_document *document, const char *path)
{
	if (!path)
		return 0;
	struct error error = { 0 };
	json_object *object = trace_document(document);
	autofree char *text = object ? json_text(object, false) : NULL;
	json_object_put(object);
	int result = text ? file_write(path, text, strlen(text), &error) : error_set(&error, -ENOMEM, "%s", path);
	if (!result)
		return 0;
	complain("%s", error.text);
	return -1;
}

/* ---- stages ---- */

int probe_explain_stages(void)
{
	static const struct {
		const char *stage, *means, *tcp;
	} stages[] = {
		{ "submitted", "post returned; the source still belongs to the device, unless the data are inline",
		        "send() returned: the kernel has copied the bytes, the buffer is free" },
		{ "published", "the request is in the send queue, the doorbell record counts it; nothing was copied",
		        "the copy waits in the socket's send buffer" },
		{ "taken", "the device saw the doorbell, and may read the source from now on",
		        "the kernel hands a segment to the adapter, from its own copy" },
		{ "executed", "the device has sent the request; it may still need the source to send it again",
		        "the segment was sent; the kernel's copy is kept for retransmission" },
		{ "acknowledged", "the peer's device has it; its program knows nothing of that",
		        "the peer's kernel has it; its program knows nothing of that" },
		{ "landed", "all bytes are in the peer's memory, put there by its device; a write tells nobody",
		        "the bytes are in the peer's socket buffer, and are copied once more by recv()" },
		{ "completed", "the completion is in the queue's memory; the source is free once it has been taken",
		        "nothing like it: the program is not told" },
		{ "consumed", "poll returned the completion: a source may be written to, a read's data may be used",
		        "nothing like it" },
		{ "succeeded", "its status is success: for a reliable connection the peer's device acknowledged it",
		        "success of send() says only that the kernel took the bytes" },
		{ "used", "the peer's program said that it has seen the data: only a message of its own can say so",
		        "the same: only an answer of the peer's program says so" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(stages); i++)
		printf("%s\n    %s\n    TCP: %s\n", stages[i].stage, stages[i].means, stages[i].tcp);
	return EXIT_DONE;
}

/* ---- progress ---- */

static bool shown;

void probe_progress(const struct probe_run *run)
{
	enum { QUIET_NS = 1000000000, EVERY_NS = 200000000 };
	static int64_t last;
	int64_t now = run_now(run);
	const struct evidence *evidence = &run->document.evidence;
	if (now < QUIET_NS || now - last < EVERY_NS || !evidence->operations_posted.known || !isatty(STDERR_FILENO))
		return;
	int64_t total = run->document.request.count.value * run->document.request.sizes.count;
	last = now;
	shown = true;
	fprintf(stderr, "\r%" PRId64 " of %" PRId64 " requests, %" PRId64 " s \033[K",
	        evidence->operations_completed.value + evidence->operations_reclaimed.value, total, now / 1000000000);
}

void probe_progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
