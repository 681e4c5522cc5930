/* SPDX-License-Identifier: MIT */
/* Work completions, vendor codes and events; explain_errno.c and explain_counter.c have the other tables. */
#include "verdict/explain.h"

#include "base/cleanup.h"

#include <string.h>
#include <strings.h>

#define L(layer) LAYER_BIT(LAYER_##layer)
#define VERBS_H "verbs.h, enum ibv_wc_status; IBTA specification vol. 1, 11.6.2"

/* Numbers and names are those of enum ibv_wc_status in rdma-core's verbs.h. */
static const struct wc_explanation wc_table[] = {
	{ 0, "IBV_WC_SUCCESS",
	        { "The operation is complete and the source buffer may be used again. For a write this says that the "
	          "peer's adapter acknowledged it, not that the peer's program has used the data.",
	                0, NULL, "ibv_poll_cq(3); IBTA specification vol. 1, 11.6.2" } },
	{ 1, "IBV_WC_LOC_LEN_ERR",
	        { "The work request is longer than the port or the queue pair allows, or a message did not fit into "
	          "the receive that was posted for it.",
	                L(APPLICATION) | L(CONFIGURATION),
	                "Compare the length with max_msg_sz of the port, with the receive, and the path MTU with the "
	                "active MTU of both ports.",
	                VERBS_H } },
	{ 2, "IBV_WC_LOC_QP_OP_ERR",
	        { "The adapter found the work request itself inconsistent: an operation that the queue pair does not "
	          "allow, or a malformed queue entry.",
	                L(APPLICATION) | L(PROVIDER) | L(DEVICE),
	                "Look at opcode, flags and number of segments of the request, then at the provider's version.",
	                VERBS_H } },
	{ 3, "IBV_WC_LOC_EEC_OP_ERR",
	        { "Local error of an end-to-end context, which only the reliable datagram service has. It does not "
	          "belong to a reliable connection.",
	                L(DEVICE) | L(PROVIDER), "Report it with provider and firmware version.", VERBS_H } },
	{ 4, "IBV_WC_LOC_PROT_ERR",
	        { "The adapter could not use the local buffer: the key does not cover it, or the DMA access failed. "
	          "The network is not involved.",
	                L(APPLICATION) | L(PLATFORM) | L(DEVICE) | L(KERNEL),
	                "Check local key, address and length; where they are right, look at IOMMU, ACS and the kernel "
	                "log.",
	                VERBS_H } },
	{ 5, "IBV_WC_WR_FLUSH_ERR",
	        { "The queue pair was already in the error state and the request was cleaned up. It is the consequence "
	          "of something earlier and says nothing about the cause.",
	                0, "Find the first completion that failed with another status, or the asynchronous event.",
	                VERBS_H } },
	{ 6, "IBV_WC_MW_BIND_ERR",
	        { "A memory window could not be bound: the region, its rights or the range do not allow it. It "
	          "does not belong to a write, a send or a read.",
	                L(APPLICATION) | L(PROVIDER) | L(DEVICE),
	                "Compare the bind request with the region and its access flags.", VERBS_H } },
	{ 7, "IBV_WC_BAD_RESP_ERR",
	        { "The peer's adapter answered with a packet that does not belong to the request.",
	                L(REMOTE_DEVICE) | L(DEVICE) | L(NETWORK) | L(REMOTE_APPLICATION),
	                "Check that both ends agree on queue pair numbers and PSNs, then firmware versions.",
	                VERBS_H } },
	{ 8, "IBV_WC_LOC_ACCESS_ERR",
	        { "The adapter refused an access to a local buffer while it carried out a request of the peer.",
	                L(APPLICATION) | L(REMOTE_APPLICATION) | L(PLATFORM),
	                "Compare the access flags of the local region with what the peer does.", VERBS_H } },
	{ 9, "IBV_WC_REM_INV_REQ_ERR",
	        { "The peer's adapter refused the request as invalid: an operation that its queue pair does not allow, "
	          "or a length that does not fit its receive. The request did reach the peer.",
	                L(APPLICATION) | L(REMOTE_APPLICATION),
	                "Compare opcode and length with the peer's queue pair rights, its receive and its buffer.",
	                VERBS_H } },
	{ 10, "IBV_WC_REM_ACCESS_ERR",
	        { "The peer's adapter refused the remote key, the address range or the right. The request did reach "
	          "the peer, so posting and the way there work.",
	                L(APPLICATION) | L(REMOTE_APPLICATION),
	                "Compare key, address and length with what the peer gave out, and its access flags.",
	                VERBS_H } },
	{ 11, "IBV_WC_REM_OP_ERR",
	        { "The peer's adapter accepted the request and could not finish it, for example because the access to "
	          "its own memory failed.",
	                L(PLATFORM) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION),
	                "Look at completions, events and the kernel log of the peer.", VERBS_H } },
	{ 12, "IBV_WC_RETRY_EXC_ERR",
	        { "The request was sent again until the retries were used up, and no acknowledgement came. It does not "
	          "say where the packets or their answers were lost.",
	                L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION),
	                "Look at the peer's queue pair state, then compare the wire counters of both ends.",
	                VERBS_H } },
	{ 13, "IBV_WC_RNR_RETRY_EXC_ERR",
	        { "The peer answered that it had no receive ready until the RNR retries were used up.",
	                L(REMOTE_APPLICATION) | L(REMOTE_DEVICE),
	                "See whether the peer posts receives early enough; a plain write needs none.", VERBS_H } },
	{ 14, "IBV_WC_LOC_RDD_VIOL_ERR",
	        { "Reliable datagram domains do not match. It does not belong to a reliable connection.",
	                L(DEVICE) | L(PROVIDER), "Report it with provider and firmware version.", VERBS_H } },
	{ 15, "IBV_WC_REM_INV_RD_REQ_ERR",
	        { "The peer refused a reliable datagram request. It does not belong to a reliable connection.",
	                L(DEVICE) | L(PROVIDER), "Report it with provider and firmware version.", VERBS_H } },
	{ 16, "IBV_WC_REM_ABORT_ERR",
	        { "The peer gave up the operation.", L(REMOTE_APPLICATION) | L(REMOTE_DEVICE),
	                "Look at the peer's program and events.", VERBS_H } },
	{ 17, "IBV_WC_INV_EECN_ERR",
	        { "Invalid number of an end-to-end context. It does not belong to a reliable connection.",
	                L(DEVICE) | L(PROVIDER), "Report it with provider and firmware version.", VERBS_H } },
	{ 18, "IBV_WC_INV_EEC_STATE_ERR",
	        { "End-to-end context in the wrong state. It does not belong to a reliable connection.",
	                L(DEVICE) | L(PROVIDER), "Report it with provider and firmware version.", VERBS_H } },
	{ 19, "IBV_WC_FATAL_ERR",
	        { "The provider reports a fatal error; some providers give this status to everything they cannot "
	          "translate.",
	                L(DEVICE) | L(PROVIDER) | L(PLATFORM) | L(KERNEL),
	                "Look at asynchronous events, vendor_err and the kernel log.", VERBS_H } },
	{ 20, "IBV_WC_RESP_TIMEOUT_ERR",
	        { "An answer that was waited for did not come in time.",
	                L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION),
	                "Treat it as exceeded retries: peer's state first, then counters of both ends.", VERBS_H } },
	{ 21, "IBV_WC_GENERAL_ERR",
	        { "The provider has no better status for this error, whatever it was: some give it to exceeded retries "
	          "as well.",
	                L(CONFIGURATION) | L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(PLATFORM) | L(DEVICE) |
	                        L(NETWORK) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION),
	                "Look at vendor_err, asynchronous events and the kernel log.", VERBS_H } },
	{ 22, "IBV_WC_TM_ERR",
	        { "A tag matching operation failed.", L(APPLICATION) | L(DEVICE),
	                "Only programs that use tag matching receive queues can see it.", VERBS_H } },
	{ 23, "IBV_WC_TM_RNDV_INCOMPLETE",
	        { "A tag matching rendezvous has to be finished by software. It is a notice, not an error.", 0,
	                "Only programs that use tag matching receive queues can see it.", VERBS_H } },
};

const struct wc_explanation *explain_wc(int64_t status)
{
	/* The index is the number. */
	return status >= 0 && status < (int64_t)ARRAY_SIZE(wc_table) ? &wc_table[status] : NULL;
}

const struct wc_explanation *explain_wc_name(const char *name)
{
	static const char prefix[] = "IBV_WC_";
	if (!strncasecmp(name, prefix, sizeof(prefix) - 1))
		name += sizeof(prefix) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(wc_table); i++)
		if (!strcasecmp(wc_table[i].name + sizeof(prefix) - 1, name))
			return &wc_table[i];
	return NULL;
}

/*
 * Only values that were met together with a status on real adapters; there is no public list. The text repeats what the
 * status says and adds nothing to it, because nobody but the vendor can.
 */
#define SEEN "seen in public reports; the vendor publishes no list"
#define MLX5_SYNDROME "error CQE of mlx5 (mlx5dv.h, struct mlx5_err_cqe); " SEEN
static const struct vendor_explanation vendor_table[] = {
	{ "mlx5", 0x51, 4,
	        { "Comes with local protection errors: the adapter could not read the local buffer by its key, or the "
	          "DMA read failed.",
	                L(APPLICATION) | L(PLATFORM) | L(DEVICE), "See wc:4.", MLX5_SYNDROME } },
	{ "mlx5", 0x52, 4,
	        { "Comes with local protection errors, as 0x51.", L(APPLICATION) | L(PLATFORM) | L(DEVICE), "See wc:4.",
	                MLX5_SYNDROME } },
	{ "mlx5", 0x53, 4,
	        { "Comes with local protection errors, as 0x51.", L(APPLICATION) | L(PLATFORM) | L(DEVICE), "See wc:4.",
	                MLX5_SYNDROME } },
	{ "mlx5", 0x61, 2,
	        { "Comes with local queue pair operation errors.", L(APPLICATION) | L(PROVIDER) | L(DEVICE),
	                "See wc:2.", MLX5_SYNDROME } },
	{ "mlx5", 0x81, 12,
	        { "Comes with exceeded transport retries: no acknowledgement came.",
	                L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION), "See wc:12.",
	                MLX5_SYNDROME } },
	{ "mlx5", 0x88, 10,
	        { "Comes with remote access errors: the peer's adapter refused key, range or right.",
	                L(APPLICATION) | L(REMOTE_APPLICATION), "See wc:10.", MLX5_SYNDROME } },
	{ "mlx5", 0x89, 11,
	        { "Comes with remote operation errors: the peer's adapter could not finish the request.",
	                L(PLATFORM) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION), "See wc:11.", MLX5_SYNDROME } },
	{ "mlx5", 0x8a, 9,
	        { "Comes with remote invalid requests: the peer's adapter refused operation or length.",
	                L(APPLICATION) | L(REMOTE_APPLICATION), "See wc:9.", MLX5_SYNDROME } },
	{ "mlx5", 0x8e, 1,
	        { "Comes with local length errors.", L(APPLICATION) | L(CONFIGURATION), "See wc:1.", MLX5_SYNDROME } },
	{ "mlx5", 0xf9, 5,
	        { "Comes with flushed requests: a consequence of an earlier error, not a cause.", 0, "See wc:5.",
	                MLX5_SYNDROME } },
	{ "bnxt_re", 0x0a, 12,
	        { "Seen together with exceeded transport retries. What the number itself means is not published.", 0,
	                "Go by the status.", SEEN } },
	{ "efa", 0x01, 5,
	        { "Seen together with flushed requests. What the number itself means is not known here.", 0,
	                "Go by the status.", SEEN } },
};

/* Kernel drivers and user-space providers that have entries, by how their names begin. */
static const struct {
	const char *prefix, *provider;
} providers[] = {
	{ "mlx5", "mlx5" },
	{ "bnxt", "bnxt_re" },
	{ "efa", "efa" },
};

const char *explain_provider(const char *driver)
{
	for (size_t i = 0; driver && i < ARRAY_SIZE(providers); i++)
		if (!strncasecmp(driver, providers[i].prefix, strlen(providers[i].prefix)))
			return providers[i].provider;
	return NULL;
}

const struct vendor_explanation *explain_vendor(const char *driver, int64_t code)
{
	const char *provider = explain_provider(driver);
	for (size_t i = 0; provider && i < ARRAY_SIZE(vendor_table); i++)
		if (!strcmp(vendor_table[i].provider, provider) && vendor_table[i].code == code)
			return &vendor_table[i];
	return NULL;
}

#define EVENTS "ibv_get_async_event(3)"
/* In the order of enum ibv_event_type: the index is the number. */
static const struct event_explanation event_table[] = {
	{ "CQ_ERR",
	        { "The completion queue is broken, in most cases because it overran: completions came faster than the "
	          "program took them. The queue cannot be used any more.",
	                L(APPLICATION) | L(PROVIDER) | L(DEVICE),
	                "Compare its size with the number of signaled requests that may be outstanding.", EVENTS } },
	{ "QP_FATAL", { "The adapter moved the queue pair to the error state and cannot say it by a completion.",
	                      L(DEVICE) | L(PLATFORM) | L(APPLICATION),
	                      "Look at the completions before it and at the kernel log.", EVENTS } },
	{ "QP_REQ_ERR", { "The responder side of the queue pair got a request that the transport does not allow.",
	                        L(REMOTE_APPLICATION) | L(APPLICATION), "Look at what the other end sent.", EVENTS } },
	{ "QP_ACCESS_ERR", { "The responder side of the queue pair refused an access: key, range or right. The other "
	                     "end sees status 10.",
	                           L(REMOTE_APPLICATION) | L(APPLICATION),
	                           "Compare the key and range that the other end used.", EVENTS } },
	{ "COMM_EST",
	        { "The first packet came in before the queue pair was told that the connection stands. It is a notice.",
	                0, NULL, EVENTS } },
	{ "SQ_DRAINED", { "The send queue has finished what was in it. It is a notice.", 0, NULL, EVENTS } },
	{ "PATH_MIG", { "The connection moved to its alternate path. It is a notice.", 0, NULL, EVENTS } },
	{ "PATH_MIG_ERR", { "The connection could not move to its alternate path.", L(CONFIGURATION) | L(NETWORK),
	                          "Check the alternate path of the queue pair.", EVENTS } },
	{ "DEVICE_FATAL",
	        { "The adapter stopped working or was removed. Everything on it fails from here on.",
	                L(DEVICE) | L(PLATFORM) | L(KERNEL) | L(CONFIGURATION),
	                "Read the kernel log for health, AER or hot-plug messages of the adapter.", EVENTS } },
	{ "PORT_ACTIVE", { "The port came up. It is a notice.", 0, NULL, EVENTS } },
	{ "PORT_ERR",
	        { "The port went down. Only the port that the queue pair uses matters.",
	                L(NETWORK) | L(CONFIGURATION) | L(DEVICE),
	                "See whether an administrator took it down, then cable, module and switch port.", EVENTS } },
	{ "LID_CHANGE", { "The subnet manager gave the port another LID; connections to the old one break.",
	                        L(CONFIGURATION) | L(NETWORK), "Look at the subnet manager's log.", EVENTS } },
	{ "PKEY_CHANGE", { "The partition table of the port changed.", L(CONFIGURATION),
	                         "Compare the partitions of both ends.", EVENTS } },
	{ "SM_CHANGE",
	        { "Another subnet manager took over. It is a notice.", 0, "Look at the subnet managers.", EVENTS } },
	{ "SRQ_ERR", { "A shared receive queue is broken.", L(APPLICATION) | L(DEVICE), "Look at the kernel log.",
	                     EVENTS } },
	{ "SRQ_LIMIT_REACHED", { "A shared receive queue runs low. It is a notice.", 0, "Post receives.", EVENTS } },
	{ "QP_LAST_WQE_REACHED",
	        { "The last receive of a queue pair in error is done. It is a notice.", 0, NULL, EVENTS } },
	{ "CLIENT_REREGISTER",
	        { "The subnet manager asks for registrations to be made again. It is a notice.", 0, NULL, EVENTS } },
	{ "GID_CHANGE", { "The GID table of the port changed: an address came, went or moved to another index.",
	                        L(CONFIGURATION),
	                        "Compare the GID table now with the index that is in use (rdmadiag gid).", EVENTS } },
	{ "WQ_FATAL", { "A work queue is broken.", L(DEVICE) | L(PROVIDER), "Look at the kernel log.", EVENTS } },
};

const struct event_explanation *explain_event(const char *name)
{
	static const char prefix[] = "IBV_EVENT_";
	if (!strncasecmp(name, prefix, sizeof(prefix) - 1))
		name += sizeof(prefix) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(event_table); i++)
		if (!strcasecmp(event_table[i].name, name))
			return &event_table[i];
	return NULL;
}

const struct event_explanation *explain_event_number(int64_t number)
{
	return number >= 0 && number < (int64_t)ARRAY_SIZE(event_table) ? &event_table[number] : NULL;
}

const struct wc_explanation *explain_wc_table(size_t *count)
{
	*count = ARRAY_SIZE(wc_table);
	return wc_table;
}

const struct vendor_explanation *explain_vendor_table(size_t *count)
{
	*count = ARRAY_SIZE(vendor_table);
	return vendor_table;
}

const struct event_explanation *explain_event_table(size_t *count)
{
	*count = ARRAY_SIZE(event_table);
	return event_table;
}
