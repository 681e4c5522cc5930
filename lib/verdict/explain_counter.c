/* SPDX-License-Identifier: MIT */
/*
 * What counters count. All of them are of a port or a device, so another program's traffic moves them as well: without
 * a quiet baseline a change is consistent with a cause, and proves none.
 */
#include "verdict/explain.h"

#include "base/cleanup.h"

#include <string.h>

#define L(layer) LAYER_BIT(LAYER_##layer)
#define MLX5 "kernel, drivers/infiniband/hw/mlx5/counters.c"
#define RXE "kernel, drivers/infiniband/sw/rxe/rxe_hw_counters.c"
#define BNXT "kernel, drivers/infiniband/hw/bnxt_re/hw_counters.c"
#define IB "kernel, Documentation/ABI/stable/sysfs-class-infiniband; IBTA specification vol. 1, 16.1.3"
#define ETHTOOL "kernel, Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst"
#define LOSS (L(NETWORK) | L(CONFIGURATION))
#define NO_ANSWER (L(NETWORK) | L(CONFIGURATION) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION))
#define WHOSE_KEY (L(APPLICATION) | L(REMOTE_APPLICATION))

static const struct counter_explanation counter_table[] = {
	/* mlx5, the side that sends requests */
	{ "local_ack_timeout_err", COUNTER_RETRY,
	        { "An ACK timer ran out: packets, or the answers to them, did not arrive in time.", NO_ANSWER,
	                "Compare out_of_sequence and duplicate_request of the peer.", MLX5 } },
	{ "req_transport_retries_exceeded", COUNTER_RETRY,
	        { "A queue pair used up its retries (status 12).", NO_ANSWER, "See wc:12.", MLX5 } },
	{ "packet_seq_err", COUNTER_RETRY,
	        { "The peer asked for packets again: something was missing on the way there. Adaptive routing can "
	          "cause it without loss.",
	                LOSS, "Compare out_of_sequence of the peer; look at drops and pause on the switches.", MLX5 } },
	{ "implied_nak_seq_err", COUNTER_RETRY,
	        { "An answer was skipped: something was missing on the way back.", LOSS,
	                "Look at drops on the way from the peer.", MLX5 } },
	{ "rnr_nak_retry_err", COUNTER_NOT_READY,
	        { "The peer said that it had no receive ready.", L(REMOTE_APPLICATION),
	                "See whether the peer posts receives early enough.", MLX5 } },
	{ "req_rnr_retries_exceeded", COUNTER_NOT_READY,
	        { "A queue pair used up its RNR retries (status 13).", L(REMOTE_APPLICATION), "See wc:13.", MLX5 } },
	{ "req_remote_access_errors", COUNTER_REFUSED,
	        { "The peer refused a key, a range or a right (status 10).", WHOSE_KEY, "See wc:10.", MLX5 } },
	{ "req_remote_invalid_request", COUNTER_REFUSED,
	        { "The peer refused a request as invalid (status 9).", WHOSE_KEY, "See wc:9.", MLX5 } },
	{ "req_cqe_error", COUNTER_OTHER,
	        { "Completions with an error were written for requests of this side.", 0, "Look at their status.",
	                MLX5 } },
	{ "req_cqe_flush_error", COUNTER_FLUSH,
	        { "Requests were flushed: the consequence of an earlier error.", 0, "Look for the first error.",
	                MLX5 } },
	/* mlx5, the side that answers */
	{ "out_of_sequence", COUNTER_RETRY,
	        { "Packets came out of order here: some were lost on the way, or adaptive routing reordered them.",
	                LOSS, "Compare packet_seq_err of the sender.", MLX5 } },
	{ "duplicate_request", COUNTER_RETRY,
	        { "A request came twice: the answer was lost on the way back, or the sender's timeout is short.", LOSS,
	                "Compare the sender's timeout and implied_nak_seq_err.", MLX5 } },
	{ "out_of_buffer", COUNTER_NOT_READY,
	        { "Messages came while no receive was posted here.", L(REMOTE_APPLICATION) | L(APPLICATION),
	                "Post receives earlier, or more of them.", MLX5 } },
	{ "resp_remote_access_errors", COUNTER_REFUSED,
	        { "This side refused a key, a range or a right.", WHOSE_KEY, "See wc:10.", MLX5 } },
	{ "resp_local_length_error", COUNTER_REFUSED,
	        { "A message was longer than the receive for it.", WHOSE_KEY, "Compare lengths.", MLX5 } },
	{ "resp_cqe_error", COUNTER_OTHER,
	        { "Completions with an error were written for receives of this side.", 0, "Look at their status.",
	                MLX5 } },
	{ "resp_cqe_flush_error", COUNTER_FLUSH,
	        { "Receives were flushed: the consequence of an earlier error.", 0, "Look for the first error.",
	                MLX5 } },
	{ "rx_write_requests", COUNTER_TRAFFIC, { "RDMA writes that came in.", 0, NULL, MLX5 } },
	{ "rx_read_requests", COUNTER_TRAFFIC, { "RDMA reads that came in.", 0, NULL, MLX5 } },
	{ "rx_atomic_requests", COUNTER_TRAFFIC, { "Atomic operations that came in.", 0, NULL, MLX5 } },
	{ "rx_dct_connect", COUNTER_TRAFFIC, { "Connections of dynamic transport that came in.", 0, NULL, MLX5 } },
	/* mlx5, congestion control and lossy fabric */
	{ "np_ecn_marked_roce_packets", COUNTER_CONGESTION,
	        { "Packets came in that a switch had marked as congested.", L(NETWORK),
	                "See which port of the fabric is congested.", MLX5 } },
	{ "np_cnp_sent", COUNTER_CONGESTION,
	        { "This side told a sender to slow down.", L(NETWORK), "See which port of the fabric is congested.",
	                MLX5 } },
	{ "rp_cnp_handled", COUNTER_CONGESTION,
	        { "This side was told to slow down, and did.", L(NETWORK), "See which port of the fabric is congested.",
	                MLX5 } },
	{ "rp_cnp_ignored", COUNTER_CONGESTION,
	        { "This side was told to slow down, and ignored it.", L(CONFIGURATION) | L(NETWORK),
	                "Compare the congestion control settings of both ends.", MLX5 } },
	{ "roce_adp_retrans", COUNTER_RETRY,
	        { "Adaptive retransmission sent something again, sooner than the timeout asks.", LOSS,
	                "Look at drops on the way.", MLX5 } },
	{ "roce_adp_retrans_to", COUNTER_RETRY,
	        { "Adaptive retransmission ran into its timeout.", LOSS, "Look at drops on the way.", MLX5 } },
	{ "roce_slow_restart", COUNTER_CONGESTION,
	        { "A queue pair started again slowly after loss.", LOSS, "Look at drops on the way.", MLX5 } },
	{ "roce_slow_restart_cnps", COUNTER_CONGESTION,
	        { "Congestion notices that slow restart made.", LOSS, "Look at drops on the way.", MLX5 } },
	{ "roce_slow_restart_trans", COUNTER_CONGESTION,
	        { "Times that a queue pair changed to slow restart.", LOSS, "Look at drops on the way.", MLX5 } },
	{ "rx_icrc_encapsulated", COUNTER_LINK,
	        { "RoCE packets came in whose invariant checksum was wrong.", L(NETWORK) | L(REMOTE_DEVICE),
	                "Look for a box on the way that rewrites packets.", MLX5 } },
	/* rxe */
	{ "sent_pkts", COUNTER_TRAFFIC, { "RoCE packets given to the host's network stack.", 0, NULL, RXE } },
	{ "rcvd_pkts", COUNTER_TRAFFIC, { "RoCE packets taken from the host's network stack.", 0, NULL, RXE } },
	{ "out_of_seq_request", COUNTER_RETRY,
	        { "Requests came out of order here: some were lost on the way.", LOSS,
	                "Look for packet filters and drops.", RXE } },
	{ "rcvd_rnr_err", COUNTER_NOT_READY,
	        { "The peer said that it had no receive ready.", L(REMOTE_APPLICATION),
	                "See whether the peer posts receives early enough.", RXE } },
	{ "send_rnr_err", COUNTER_NOT_READY,
	        { "Messages came while no receive was posted here.", L(REMOTE_APPLICATION) | L(APPLICATION),
	                "Post receives earlier, or more of them.", RXE } },
	{ "rcvd_seq_err", COUNTER_RETRY,
	        { "The peer asked for packets again: something was missing on the way there.", LOSS,
	                "Look for packet filters and drops.", RXE } },
	{ "ack_deferred", COUNTER_TRAFFIC, { "Answers that were worked on later.", 0, NULL, RXE } },
	{ "retry_exceeded_err", COUNTER_RETRY,
	        { "A queue pair used up its retries (status 12).", NO_ANSWER, "See wc:12.", RXE } },
	{ "retry_rnr_exceeded_err", COUNTER_NOT_READY,
	        { "A queue pair used up its RNR retries (status 13).", L(REMOTE_APPLICATION), "See wc:13.", RXE } },
	{ "completer_retry_err", COUNTER_RETRY,
	        { "Something was sent again because no answer came in time.", NO_ANSWER,
	                "Look for packet filters on UDP port 4791, then drops.", RXE } },
	{ "send_err", COUNTER_LOCAL_SEND,
	        { "The host's network stack did not take a packet: a local packet filter, a queueing discipline or the "
	          "netdev refused it. rxe tries it again for ever.",
	                L(CONFIGURATION) | L(KERNEL),
	                "Look at the output chains of the packet filter and `tc -s qdisc`.", RXE } },
	{ "rdma_sends", COUNTER_TRAFFIC, { "Send operations that were carried out.", 0, NULL, RXE } },
	{ "rdma_recvs", COUNTER_TRAFFIC, { "Receive operations that were carried out.", 0, NULL, RXE } },
	/* bnxt_re */
	{ "to_retransmits", COUNTER_RETRY,
	        { "Something was sent again because no answer came in time.", NO_ANSWER,
	                "Compare dup_req and oos_drop_count of the peer.", BNXT } },
	{ "seq_err_naks_rcvd", COUNTER_RETRY,
	        { "The peer asked for packets again: something was missing on the way there.", LOSS,
	                "Compare oos_drop_count of the peer; look at drops and pause on the switches.", BNXT } },
	{ "max_retry_exceeded", COUNTER_RETRY,
	        { "A queue pair used up its retries (status 12).", NO_ANSWER, "See wc:12.", BNXT } },
	{ "missing_resp", COUNTER_RETRY,
	        { "An answer was skipped: something was missing on the way back.", LOSS,
	                "Look at drops on the way from the peer.", BNXT } },
	{ "dup_req", COUNTER_RETRY,
	        { "A request came twice: the answer was lost on the way back, or the sender's timeout is short.", LOSS,
	                "Compare the sender's timeout and missing_resp.", BNXT } },
	{ "oos_drop_count", COUNTER_RETRY,
	        { "Packets came out of order here: some were lost on the way, or adaptive routing reordered them.",
	                LOSS, "Compare seq_err_naks_rcvd of the sender.", BNXT } },
	{ "rnr_naks_rcvd", COUNTER_NOT_READY,
	        { "The peer said that it had no receive ready.", L(REMOTE_APPLICATION),
	                "See whether the peer posts receives early enough.", BNXT } },
	{ "rx_out_of_buffer", COUNTER_NOT_READY,
	        { "Messages came while no receive was posted here.", L(REMOTE_APPLICATION) | L(APPLICATION),
	                "Post receives earlier, or more of them.", BNXT } },
	{ "remote_access_err", COUNTER_REFUSED,
	        { "The peer refused a key, a range or a right (status 10).", WHOSE_KEY, "See wc:10.", BNXT } },
	{ "remote_invalid_req_err", COUNTER_REFUSED,
	        { "The peer refused a request as invalid (status 9).", WHOSE_KEY, "See wc:9.", BNXT } },
	{ "rx_roce_discards", COUNTER_LINK,
	        { "RoCE packets came in and were thrown away for want of buffers in the adapter.",
	                L(DEVICE) | L(PLATFORM) | L(CONFIGURATION), "Look at PCIe speed and at priority flow control.",
	                BNXT } },
	{ "rx_roce_errors", COUNTER_LINK,
	        { "RoCE packets came in damaged.", L(NETWORK) | L(REMOTE_DEVICE),
	                "Check cable and module, then look for a box on the way that rewrites packets.", BNXT } },
	{ "rx_ecn_marked_pkts", COUNTER_CONGESTION,
	        { "Packets came in that a switch had marked as congested.", L(NETWORK),
	                "See which port of the fabric is congested.", BNXT } },
	{ "tx_cnp_pkts", COUNTER_CONGESTION,
	        { "This side told a sender to slow down.", L(NETWORK), "See which port of the fabric is congested.",
	                BNXT } },
	{ "rx_cnp_pkts", COUNTER_CONGESTION,
	        { "This side was told to slow down.", L(NETWORK), "See which port of the fabric is congested.",
	                BNXT } },
	/* any InfiniBand or RoCE port */
	{ "port_xmit_packets", COUNTER_TRAFFIC, { "Packets sent by the port.", 0, NULL, IB } },
	{ "port_rcv_packets", COUNTER_TRAFFIC, { "Packets received by the port.", 0, NULL, IB } },
	{ "port_xmit_data", COUNTER_TRAFFIC, { "Data sent by the port, in units of four bytes.", 0, NULL, IB } },
	{ "port_rcv_data", COUNTER_TRAFFIC, { "Data received by the port, in units of four bytes.", 0, NULL, IB } },
	{ "unicast_xmit_packets", COUNTER_TRAFFIC, { "Unicast packets sent by the port.", 0, NULL, IB } },
	{ "unicast_rcv_packets", COUNTER_TRAFFIC, { "Unicast packets received by the port.", 0, NULL, IB } },
	{ "multicast_xmit_packets", COUNTER_TRAFFIC, { "Multicast packets sent by the port.", 0, NULL, IB } },
	{ "multicast_rcv_packets", COUNTER_TRAFFIC, { "Multicast packets received by the port.", 0, NULL, IB } },
	{ "port_xmit_wait", COUNTER_CONGESTION,
	        { "The port had something to send and was not allowed to.", L(NETWORK),
	                "Look at congestion behind the port.", IB } },
	{ "port_xmit_discards", COUNTER_LINK,
	        { "The port threw away packets that it was to send.", L(NETWORK) | L(DEVICE) | L(CONFIGURATION),
	                "See whether the link was down, or the way behind it blocked.", IB } },
	{ "port_rcv_errors", COUNTER_LINK,
	        { "The port received damaged packets.", L(NETWORK),
	                "Check cable, module and the other end of the link.", IB } },
	{ "port_rcv_remote_physical_errors", COUNTER_LINK,
	        { "Packets came in that were already marked as bad.", L(NETWORK), "Look at links further away.", IB } },
	{ "port_rcv_switch_relay_errors", COUNTER_LINK,
	        { "A switch could not forward a packet.", L(NETWORK) | L(CONFIGURATION),
	                "Look at the routing of the fabric.", IB } },
	{ "port_rcv_constraint_errors", COUNTER_LINK,
	        { "Packets were refused by a rule of the port.", L(CONFIGURATION), "Look at partitions.", IB } },
	{ "port_xmit_constraint_errors", COUNTER_LINK,
	        { "Packets were not sent because of a rule of the port.", L(CONFIGURATION), "Look at partitions.",
	                IB } },
	{ "symbol_error", COUNTER_LINK,
	        { "The link saw damaged symbols.", L(NETWORK), "Check cable and module.", IB } },
	{ "link_error_recovery", COUNTER_LINK,
	        { "The link was repaired without going down.", L(NETWORK), "Check cable and module.", IB } },
	{ "link_downed", COUNTER_LINK,
	        { "The link went down.", L(NETWORK) | L(CONFIGURATION) | L(DEVICE),
	                "See whether an administrator took it down, then cable, module and switch port.", IB } },
	{ "local_link_integrity_errors", COUNTER_LINK,
	        { "The link had more errors than its threshold allows.", L(NETWORK), "Check cable and module.", IB } },
	{ "excessive_buffer_overrun_errors", COUNTER_LINK,
	        { "The other end of the link sent more than its credits allow.", L(NETWORK), "Check the other end.",
	                IB } },
	{ "VL15_dropped", COUNTER_LINK,
	        { "Management packets were dropped for want of buffers.", L(NETWORK), "Look at the subnet manager.",
	                IB } },
	/* Ethernet port behind RoCE, from ethtool -S */
	{ "tx_packets_phy", COUNTER_TRAFFIC, { "Packets that went out to the wire.", 0, NULL, ETHTOOL } },
	{ "rx_packets_phy", COUNTER_TRAFFIC, { "Packets that came in from the wire.", 0, NULL, ETHTOOL } },
	{ "tx_bytes_phy", COUNTER_TRAFFIC, { "Bytes that went out to the wire.", 0, NULL, ETHTOOL } },
	{ "rx_bytes_phy", COUNTER_TRAFFIC, { "Bytes that came in from the wire.", 0, NULL, ETHTOOL } },
	{ "rx_discards_phy", COUNTER_LINK,
	        { "Packets came in and were thrown away for want of buffers in the adapter.",
	                L(DEVICE) | L(PLATFORM) | L(CONFIGURATION), "Look at PCIe speed and at priority flow control.",
	                ETHTOOL } },
	{ "tx_discards_phy", COUNTER_LINK,
	        { "Packets were thrown away on the way out for want of buffers.",
	                L(NETWORK) | L(DEVICE) | L(CONFIGURATION),
	                "See whether pause frames of the other end hold the port back.", ETHTOOL } },
	{ "rx_crc_errors_phy", COUNTER_LINK,
	        { "Frames came in with a wrong checksum: the link damages them.", L(NETWORK) | L(DEVICE),
	                "Check cable, module and the other end of the link.", ETHTOOL } },
	{ "rx_symbol_err_phy", COUNTER_LINK,
	        { "The link saw damaged symbols.", L(NETWORK) | L(DEVICE), "Check cable and module.", ETHTOOL } },
	{ "link_down_events_phy", COUNTER_LINK,
	        { "The link went down.", L(NETWORK) | L(CONFIGURATION) | L(DEVICE),
	                "See whether an administrator took it down, then cable, module and switch port.", ETHTOOL } },
	{ "tx_pause_storm_error_events", COUNTER_CONGESTION,
	        { "This port paused the other end for so long that the adapter stopped doing so: its receive path "
	          "stands still.",
	                L(PLATFORM) | L(DEVICE), "Look at PCIe, IOMMU and memory of the host.", ETHTOOL } },
	{ "rx_pause_ctrl_phy", COUNTER_CONGESTION,
	        { "The other end of the link told this port to pause: the switch or the peer throttles it.", L(NETWORK),
	                "Look at pause counters along the way.", ETHTOOL } },
	{ "tx_pause_ctrl_phy", COUNTER_CONGESTION,
	        { "This port told the other end of the link to pause: its receive path is slow.",
	                L(PLATFORM) | L(DEVICE), "Look at PCIe, IOMMU and memory of the host.", ETHTOOL } },
	{ "rx_pause", COUNTER_CONGESTION,
	        { "The other end of the link told this port to pause: the switch or the peer throttles it.", L(NETWORK),
	                "Look at pause counters along the way.", ETHTOOL } },
	{ "tx_pause", COUNTER_CONGESTION,
	        { "This port told the other end of the link to pause: its receive path is slow.",
	                L(PLATFORM) | L(DEVICE), "Look at PCIe, IOMMU and memory of the host.", ETHTOOL } },
};

/* Of one priority: rx_prio3_pause, tx_prio0_pause_duration … */
static const struct counter_explanation priority_pauses[] = {
	{ "rx_prio", COUNTER_CONGESTION,
	        { "The other end of the link told this port to pause this priority: the switch or the peer throttles "
	          "it.",
	                L(NETWORK), "Look at pause counters along the way.", ETHTOOL } },
	{ "tx_prio", COUNTER_CONGESTION,
	        { "This port told the other end of the link to pause this priority: its receive path is slow.",
	                L(PLATFORM) | L(DEVICE), "Look at PCIe, IOMMU and memory of the host.", ETHTOOL } },
};

static bool is_priority_pause(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);
	bool digit = !strncmp(name, prefix, length) && name[length] >= '0' && name[length] <= '7';
	return digit && !strncmp(name + length + 1, "_pause", strlen("_pause"));
}

/* The probe's own names for what a rule or a queueing discipline of the host dropped: "nft inet filter input rule 4".
 */
static const struct counter_explanation filter_counters[] = {
	{ "nft ", COUNTER_FILTER,
	        { "Packets that this rule of the host's packet filter dropped.", L(CONFIGURATION),
	                "Look at the rule: nft -a list ruleset.", "kernel, uapi/linux/netfilter/nf_tables.h" } },
	{ "qdisc ", COUNTER_FILTER,
	        { "Packets that this queueing discipline of the host dropped.", L(CONFIGURATION),
	                "Look at it: tc -s qdisc.", "kernel, uapi/linux/pkt_sched.h" } },
};

const struct counter_explanation *explain_counter(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(filter_counters); i++)
		if (!strncmp(filter_counters[i].name, name, strlen(filter_counters[i].name)))
			return &filter_counters[i];
	for (size_t i = 0; name && i < ARRAY_SIZE(priority_pauses); i++)
		if (is_priority_pause(name, priority_pauses[i].name))
			return &priority_pauses[i];
	for (size_t i = 0; name && i < ARRAY_SIZE(counter_table); i++)
		if (!strcmp(counter_table[i].name, name))
			return &counter_table[i];
	return NULL;
}

const struct counter_explanation *explain_counter_table(size_t *count)
{
	*count = ARRAY_SIZE(counter_table);
	return counter_table;
}
