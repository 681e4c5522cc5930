/* SPDX-License-Identifier: MIT */
/* The words of a probe's verdict and of its trace: layers, stages, outcomes and confidence. */
#include "verdict/explain.h"

#include "base/cleanup.h"

#include <strings.h>

#define L(layer) LAYER_BIT(LAYER_##layer)
#define PROBE "rdmadiag-probe(8)"

static const struct word_explanation layer_table[] = {
	{ "none", { "No layer failed: the probe ended well. This is said of one short operation on one path, not of "
	            "load.",
	                  0, "Where the trouble is with load, look at check --interval.", PROBE } },
	{ "configuration", { "What somebody set on the hosts or switches: GIDs, MTUs, keys, rights, filters, addresses "
	                     "and routes. Settings of both ends, GID tables and packet filters speak of it.",
	                           0, "Look at gid --explain, topo and check on both hosts.",
	                           PROBE "; lib/verdict/rules_setup.c and rules_filter.c" } },
	{ "application", { "The program that posts and polls on this host: in a probe, rdmadiag itself or what a drill "
	                   "has it do. Completions that lie in the completion queue while nobody takes them speak of "
	                   "it, and errors of work requests.",
	                         0, "Compare the times of completed and consumed, and look for the poller.",
	                         PROBE "; lib/verdict/rules_caller.c and rules_arrival.c" } },
	{ "provider", { "The library of the adapter's vendor below libibverbs, which writes the queues and rings the "
	                "doorbell. A request that was posted and is not in the send queue speaks of it.",
	                      0, "Compare versions of rdma-core and firmware with a node that works.",
	                      PROBE "; lib/verdict/rules_stall.c" } },
	{ "kernel", { "The RDMA core and the driver of this host, and all of the device where that is software (rxe, "
	              "siw). The errno and the time of set-up steps speak of it, and events that do not arrive while "
	              "the completion is there.",
	                    0, "Look at the kernel log, and at the errno with explain errno:STEP:NUMBER.",
	                    PROBE "; lib/verdict/rules_setup.c and rules_stuck.c" } },
	{ "platform",
	        { "What lies between adapter, memory and CPU: PCIe, IOMMU, NUMA and interrupts. Error counters of "
	          "PCIe, a link that trained down, and where the buffer lies speak of it; that the device took a "
	          "request and no completion came leaves it open.",
	                0, "Look at check, at the kernel log for AER and IOMMU faults, and at probe --buffer-node all.",
	                PROBE "; lib/verdict/rules_stall.c" } },
	{ "device", { "The adapter of this host and its firmware. What it tells of its own queue (device_saw_doorbell, "
	              "device_executed), its events and its local errors speak of it; nothing of its inside is ever "
	              "confirmed.",
	                    0, "Look at the kernel log and at devlink health, and try another adapter.",
	                    PROBE "; lib/verdict/rules_stall.c" } },
	{ "network", { "Cables, switches and the way between both ports, both directions. Retries, sequence errors, "
	               "congestion and link counters of both ends speak of it, and packets that one end sent and the "
	               "other did not see.",
	                     0,
	                     "Compare counters of both ends before and after a probe, and the drop and pause counters "
	                     "of the switches.",
	                     PROBE "; lib/verdict/rules_wire.c" } },
	{ "remote-device",
	        { "The adapter of the peer, its firmware and its port. Its port state, a request that it took and "
	          "could not finish (status 11), the state of its queue pair and its counters speak of it.",
	                0, "Look at check on the peer, and at its kernel log.",
	                PROBE "; lib/verdict/rules_target.c" } },
	{ "remote-application", { "The program at the peer: receives that are not posted, memory that is not "
	                          "registered or not given free, a process that ended. RNR retries (status 13), a "
	                          "closed control connection and data that landed and were not used speak of it.",
	                                0, "See whether the peer's program runs and posts receives in time.",
	                                PROBE "; lib/verdict/rules_target.c" } },
	{ "undetermined", { "The evidence leaves several layers open, and they are listed as candidates. That is an "
	                    "answer: nothing that was observed tells them apart.",
	                          0, "The verdict's next steps name the observation that would.", PROBE } },
};

static const struct word_explanation stage_table[] = {
	{ "submitted",
	        { "The post returned to the program without an error (post_return_ns). It says nothing of the device.",
	                L(APPLICATION) | L(PROVIDER), "A refusal has its errno: explain errno:ibv_post_send:NUMBER.",
	                PROBE } },
	{ "published", { "The request is in the send queue in memory and the doorbell record covers it (wqe_posted_ns, "
	                 "doorbell_recorded), seen by the observer of the rings that \"observers\" names as wqe.",
	                       L(PROVIDER),
	                       "A request that is submitted and not published stopped in the provider, or waits for "
	                       "its batch.",
	                       PROBE } },
	{ "taken",
	        { "The device knows of the request (device_saw_doorbell). Where its queue can be read, its own counter "
	          "speaks of it, elsewhere later stages.",
	                L(PROVIDER) | L(PLATFORM) | L(DEVICE),
	                "Published and not taken: look at PCIe errors, the IOMMU and the adapter's health.", PROBE } },
	{ "executed",
	        { "The device sent what the request asked for (device_executed). The queue pair's send PSN or the "
	          "device's counters speak of it.",
	                L(DEVICE) | L(PLATFORM) | L(NETWORK),
	                "Taken and not executed: the state of the queue pair, congestion and pause decide.", PROBE } },
	{ "acknowledged", { "The peer's adapter acknowledged the last packet (acknowledged). Retries and timeouts in "
	                    "the counters speak of what is missing.",
	                          L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION),
	                          "Executed and not acknowledged: compare the counters of both ends.", PROBE } },
	{ "landed", { "The whole payload was verified in the memory where it belongs (remote_landed_ns, observer "
	              "payload). The last byte alone proves nothing where PCIe may reorder writes.",
	                    L(NETWORK) | L(REMOTE_DEVICE),
	                    "Acknowledged and not landed: look at the peer's PCIe, IOMMU and memory.", PROBE } },
	{ "completed", { "The completion is in the memory of the completion queue (cqe_arrived_ns), seen by the "
	                 "observer that \"observers\" names as cqe.",
	                       L(DEVICE) | L(PLATFORM) | L(NETWORK) | L(REMOTE_DEVICE),
	                       "Landed and not completed: the way back, the device or its writes to memory.", PROBE } },
	{ "consumed",
	        { "Polling returned the completion to the program (cqe_consumed_ns).",
	                L(APPLICATION) | L(PROVIDER) | L(KERNEL),
	                "Completed and not consumed: nobody polls, or with --wait event no event came.", PROBE } },
	{ "succeeded", { "The completion has the status IBV_WC_SUCCESS (wc_status).", 0,
	                       "Another status: explain wc:NUMBER, and vendor:PROVIDER:CODE of vendor_err.", PROBE } },
	{ "used", { "The peer's program said that it has the data (control step ok). Success of a write alone never "
	            "says this.",
	                  L(REMOTE_APPLICATION), "Succeeded and not used: look at the program at the peer.", PROBE } },
};

/* Other words for a stage: what the document calls its evidence. */
static const struct {
	const char *alias, *stage;
} stage_aliases[] = {
	{ "post_return_ns", "submitted" },
	{ "wqe", "published" },
	{ "wqe_posted_ns", "published" },
	{ "doorbell_recorded", "published" },
	{ "doorbell", "published" },
	{ "device_saw_doorbell", "taken" },
	{ "device_executed", "executed" },
	{ "payload", "landed" },
	{ "remote_landed_ns", "landed" },
	{ "cqe", "completed" },
	{ "cqe_arrived_ns", "completed" },
	{ "cqe_consumed_ns", "consumed" },
	{ "wc_status", "succeeded" },
};

static const struct word_explanation outcome_table[] = {
	{ "ok", { "Every operation completed with success, and what was verified is right. Where one took 10 ms or "
	          "longer (100 ms with a software device), the first reason (because) says so.",
	                0, NULL, PROBE } },
	{ "degraded", { "The operations succeeded, and something on the way was not as it should be: retries, long "
	                "times (from a second on), a buffer on another node. From 10 ms on (100 ms with a "
	                "software device) a request that is not that late is only named among the reasons of ok.",
	                      0, "The reasons (because) name it.", PROBE } },
	{ "corrupt", { "A completion said success, and the bytes at the target are not those that were sent.", 0,
	                     "Make the probe again with another size and another buffer node, and keep the trace.",
	                     PROBE } },
	{ "failed", { "A step or an operation ended with an error.", 0,
	                    "Its errno, status and vendor code can be explained.", PROBE } },
	{ "stalled", { "Something did not happen before the deadline, and nothing said why.", 0,
	                     "The last stage that was reached bounds where it hangs: explain stage:NAME.", PROBE } },
	{ "not-run", { "The probe did not begin, since something it needs is not there.", 0,
	                     "not_collected and the resource steps say what.", PROBE } },
};

static const struct word_explanation confidence_table[] = {
	{ "confirmed", { "What was observed excludes every other layer.", 0, NULL, PROBE } },
	{ "likely", { "What was observed speaks for this layer, and the others are not excluded.", 0,
	                    "The candidates that are still possible stand beside it.", PROBE } },
	{ "none", { "No layer is named.", 0, "The candidates are what the evidence leaves open.", PROBE } },
};

static const struct {
	const struct word_explanation *words;
	size_t count;
} tables[] = {
	[WORD_LAYER] = { layer_table, ARRAY_SIZE(layer_table) },
	[WORD_STAGE] = { stage_table, ARRAY_SIZE(stage_table) },
	[WORD_OUTCOME] = { outcome_table, ARRAY_SIZE(outcome_table) },
	[WORD_CONFIDENCE] = { confidence_table, ARRAY_SIZE(confidence_table) },
};

const struct word_explanation *explain_word_table(enum word_kind kind, size_t *count)
{
	*count = tables[kind].count;
	return tables[kind].words;
}

const struct word_explanation *explain_word(enum word_kind kind, const char *word)
{
	for (size_t i = 0; kind == WORD_STAGE && i < ARRAY_SIZE(stage_aliases); i++)
		if (!strcasecmp(stage_aliases[i].alias, word))
			word = stage_aliases[i].stage;
	for (size_t i = 0; i < tables[kind].count; i++)
		if (!strcasecmp(tables[kind].words[i].name, word))
			return &tables[kind].words[i];
	return NULL;
}
